/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the data path (layer 5) share with each other; the other
 * layers see smc_data.h only.
 */
#ifndef SMC_CONN_H
#define SMC_CONN_H

#include "smc_data.h"
#include "smc_cursor.h"

/* conn->events */
#define SMC_CONN_EV_PEER	0	/* closing flags arrived */
#define SMC_CONN_EV_ABORT	1	/* the peer broke the protocol */
#define SMC_CONN_EV_URG		2	/* an urgent byte arrived */

/* conn->urg_state */
enum {
	SMC_URG_NONE,
	SMC_URG_VALID,		/* may be read with MSG_OOB */
	SMC_URG_READ,		/* was read, the stream has not passed it */
};

enum smc_close_event {
	SMC_EV_ESTABLISHED,	/* handshake succeeded */
	SMC_EV_CLOSE,		/* close(2) */
	SMC_EV_SHUT_RDWR,	/* shutdown(2) */
	SMC_EV_SHUT_WR,
	SMC_EV_RX_DONE,		/* D received */
	SMC_EV_RX_CLOSED,	/* C received */
	SMC_EV_RX_ABORT,	/* A received */
	SMC_EV_ABORT,		/* own decision: error, time limit */
	SMC_EV_KILL,		/* link group died */
	SMC_EV_MAX,
	SMC_EV_SET = SMC_EV_MAX,	/* socket layer; trace only */
};

/* what goes with a step */
#define SMC_ACT_DONE	BIT(0)	/* send D behind all data */
#define SMC_ACT_FIN	BIT(1)	/* send C behind all data (or A, see there) */
#define SMC_ACT_ABORT	BIT(2)	/* send A now */
#define SMC_ACT_ERR	BIT(3)	/* the application has to learn an error */
#define SMC_ACT_REFUSE	BIT(4)	/* the call fails with ENOTCONN */

#define SMC_CORK_TIME	(HZ / 5)

#define SMC_CDC_P_URGENT	(SMC_CDC_P_URG_PENDING | SMC_CDC_P_URG_PRESENT)

/* smc_tcp.c */
void smc_sock_tcp_release(struct smc_sock *smc);

/* smc_conn.c */
void smc_conn_schedule(struct smc_sock *smc, unsigned long delay);
void smc_conn_kick(struct smc_conn *conn);

/* smc_cdc.c */
int smc_cdc_next_msg(struct smc_member *m, struct smc_tx_msg *msg);
void smc_cdc_tx_failed(struct smc_member *m, const struct smc_tx_msg *msg);
void smc_cdc_switched(struct smc_member *m);
void smc_cdc_owe(struct smc_conn *conn);
bool smc_cdc_want(struct smc_conn *conn, u8 cflags);

/* smc_tx.c */
void smc_tx_write_space(struct smc_sock *smc);
unsigned long smc_tx_settle(struct smc_sock *smc);
void smc_tx_cork_timer(struct timer_list *t);

/* smc_rx.c */
bool smc_rx_update_due(const struct smc_conn *conn);
void smc_rx_urg_arrived(struct smc_sock *smc);
void smc_rx_urg_aside(struct smc_sock *smc);

/* smc_close.c */
enum smc_state smc_close_next(enum smc_state state, enum smc_close_event ev,
			      bool guard, u8 *act);
void smc_close_established(struct smc_sock *smc);
void smc_close_peer(struct smc_sock *smc);
void smc_close_kill(struct smc_sock *smc);
bool smc_close_finished(const struct smc_sock *smc);
unsigned long smc_close_orphan(struct smc_sock *smc);
void smc_close_tcp(struct smc_sock *smc);

static inline bool smc_rx_unread(const struct smc_conn *conn)
{
	return atomic64_read(&conn->rx_prod) != atomic64_read(&conn->rx_read);
}

/* all that was wanted at the end of the connection was handed to the link */
static inline bool smc_cdc_final_sent(const struct smc_conn *conn)
{
	if (READ_ONCE(conn->tx_closing) & ~READ_ONCE(conn->tx_cflags) &
	    SMC_CDC_C_ABORT)
		return false;
	return READ_ONCE(conn->tx_final);
}

static inline struct smc_conn *smc_conn_of(struct smc_member *m)
{
	return container_of(m, struct smc_conn, member);
}

#endif /* SMC_CONN_H */
