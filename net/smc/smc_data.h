/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the socket API (layer 7) and the handshake (layer 6) may call of the
 * data path (layer 5): smc_conn.c, smc_cdc.c, smc_tx.c, smc_rx.c, smc_close.c,
 * smc_splice.c.
 */
#ifndef SMC_DATA_H
#define SMC_DATA_H

#include "smc_sock.h"

/* smc_event.c: life of the data path state */
void smc_conn_init(struct smc_sock *smc);
void smc_conn_open(struct smc_sock *smc);
void smc_conn_established(struct smc_sock *smc);
void smc_conn_destroy(struct smc_sock *smc);	/* last step before sk_free */
void smc_conn_release_cb(struct sock *sk);	/* proto.release_cb */

/* smc_tx.c: socket lock held by the caller unless said otherwise */
int smc_tx_sendmsg(struct smc_sock *smc, struct msghdr *msg, size_t len);
void smc_tx_push(struct smc_sock *smc);		/* uncork, nodelay: any context */
u32 smc_tx_space(const struct smc_sock *smc);	/* lockless */
bool smc_tx_writable(const struct smc_sock *smc);	/* poll: useful space */
u32 smc_tx_unsent(const struct smc_sock *smc);	/* prepared - sent */
u32 smc_tx_unfinished(const struct smc_sock *smc);	/* prepared - done */

/* smc_rx.c */
int smc_rx_recvmsg(struct smc_sock *smc, struct msghdr *msg, size_t len,
		   int flags);
u32 smc_rx_avail(const struct smc_sock *smc);	/* poll; lockless */
u32 smc_rx_inq(const struct smc_sock *smc);	/* SIOCINQ; lockless */
int smc_rx_left(const struct smc_sock *smc);	/* TCP_INQ; lockless */
bool smc_rx_urgent(const struct smc_sock *smc);	/* EPOLLPRI */
bool smc_rx_atmark(const struct smc_sock *smc);	/* SIOCATMARK */

/* smc_splice.c */
ssize_t smc_splice_read(struct smc_sock *smc, loff_t *ppos,
			struct pipe_inode_info *pipe, size_t len,
			unsigned int flags, bool nonblock);

/* smc_close.c: socket lock held */
void smc_set_state(struct smc_sock *smc, enum smc_state state);
bool smc_close_over(const struct smc_sock *smc);
int smc_close_shutdown(struct smc_sock *smc, int how);	/* SHUT_RD/WR/RDWR */
void smc_close_active(struct smc_sock *smc, long linger);
void smc_close_abort(struct smc_sock *smc, int err);

/* smc_conn.c: workqueues of layers 5 and 6 */
#define SMC_HS_MAX	1024	/* server handshakes at a time; more clients get TCP */
extern struct workqueue_struct *smc_connect_wq;
extern struct workqueue_struct *smc_hs_wq;
int smc_wq_init(void);
void smc_wq_exit(void);

#endif /* SMC_DATA_H */
