/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The SMC socket (layers 5 to 7 share it) and its connection.
 *
 * Locks, outer to inner:
 *   lock_sock(smc)  >  lock_sock(tcp)  >  slock of smc  >  member.tx_lock  >
 *   link's post_lock
 * Nobody sleeps for the network under lock_sock(smc), except the waits of
 * send, receive and lingering close, which release it while they sleep.
 *
 * Received control data comes in softirq: positions are taken over at once
 * (64-bit, readers tolerate any order), state changes are applied under the
 * socket's slock if no process owns it, else by release_cb of the owner.
 */
#ifndef SMC_SOCK_H
#define SMC_SOCK_H

#include <linux/atomic.h>
#include <linux/net.h>
#include <linux/workqueue.h>
#include <net/inet_sock.h>
#include <net/sock.h>

#include "smc_transport.h"

#define SMCPROTO_SMC		0	/* AF_SMC over IPv4 */
#define SMCPROTO_SMC6		1	/* AF_SMC over IPv6 */

/* sk_state; values are visible in sock_diag */
enum smc_state {
	SMC_ACTIVE		= 1,	/* TCP_ESTABLISHED */
	SMC_INIT		= 2,	/* new or handshake running */
	SMC_CLOSED		= 7,	/* TCP_CLOSE */
	SMC_LISTEN		= 10,	/* TCP_LISTEN */
	SMC_PEERCLOSEWAIT1	= 20,
	SMC_PEERCLOSEWAIT2	= 21,
	SMC_APPCLOSEWAIT1	= 22,
	SMC_APPCLOSEWAIT2	= 23,
	SMC_APPFINCLOSEWAIT	= 24,
	SMC_PEERFINCLOSEWAIT	= 25,
	SMC_PEERABORTWAIT	= 26,
	SMC_PROCESSABORT	= 27,
};

/* state of connect(2), while sk_state is SMC_INIT */
enum smc_connect_state {
	SMC_CONN_NONE,		/* never tried, or failed and reported */
	SMC_CONN_TCP,		/* TCP handshake runs */
	SMC_CONN_CLC,		/* SMC handshake runs in the worker */
	SMC_CONN_DONE,		/* connected (SMC or fallback) */
};

/**
 * struct smc_conn - data path state of a connection (layer 5)
 *
 * Positions are absolute byte counts (smc_cursor.h).
 *
 * @member: membership; member.tx_lock covers the tx_* group below except
 *	tx_prep (socket lock; read anywhere)
 * @tx_prep: end of what the application has written into the send ring
 * @tx_sent: end of what was given to the link; the producer position
 * @tx_done: end of what completed; send space = snd_size - (prep - done)
 * @peer_cons: peer's consumer position; window = peer_size - (sent - cons)
 * @tx_seq: last sequence number used
 * @tx_pflags: producer flags to be sent
 * @tx_cflags: connection flags to be sent; once set they stay
 * @tx_closing: D/C wanted once all prepared data has been sent
 * @tx_owed: a CDC without data has to go out (window update, answer, close)
 * @tx_final: C or A was sent: nothing may be written any more
 * @tx_signalled: a signalled message is outstanding (autocork, data path doc)
 * @tx_urg: position behind the urgent byte not yet announced with U, 0 none
 * @rx_prod: peer's producer position: readable up to here
 * @rx_cons: consumed by the application (socket lock)
 * @rx_confirmed: consumer position in the last CDC we sent
 * @rx_seq: last accepted sequence number
 * @rx_pflags: producer flags last received
 * @rx_cflags: all connection flags received, accumulated
 * @urg_state: receive side urgent state
 * @urg_pos: position behind the urgent byte
 * @urg_byte: copied aside
 */
struct smc_conn {
	struct smc_member member;

	atomic64_t tx_prep;
	atomic64_t tx_sent;
	atomic64_t tx_done;
	atomic64_t peer_cons;
	u16 tx_seq;
	u8 tx_pflags;
	u8 tx_cflags;
	u8 tx_closing;
	bool tx_owed;
	bool tx_final;
	bool killed;			/* group died or aborted, under tx_lock */
	unsigned int tx_signalled;
	u64 tx_urg;

	atomic64_t rx_prod;
	u64 rx_cons;
	atomic64_t rx_confirmed;
	u16 rx_seq;
	u8 rx_pflags;
	u8 rx_cflags;
	u8 urg_state;
	u8 urg_byte;
	u64 urg_pos;
	u32 rx_limit;			/* window update threshold, bytes */

	unsigned long events;		/* deferred to release_cb, atomic bits */
	int err;			/* first error, negative errno */
	bool joined;
	struct timer_list cork_timer;	/* bound on corked data */
	struct delayed_work close_work;	/* orphan life time, freeing */
};

/**
 * struct smc_sock - an SMC socket
 * @sk: first, also a struct inet_sock because inet_create() makes one
 * @tcp: internal TCP socket; set at creation, pointer stable until the last
 *	reference of @sk is gone (the socket may be shut down before)
 * @diag_id: ++smc_net.sk_gen under sk_lock when put at the head of sk_list
 * @conn: data path
 * @use_fallback: all calls go to @tcp; set once under lock_sock
 * @fallback_rsn: enum smc_reason, 0 none
 * @peer_diagnosis: code of the peer's Decline
 * @listen_smc: listener of a child that is not accepted yet
 */
struct smc_sock {
	union {
		struct sock sk;
		struct inet_sock isk;
	};
	struct socket *tcp;
	u64 diag_id;			/* grows with creation, sock_diag resumes by it */
	struct smc_conn conn;

	bool use_fallback;
	bool limit_hs;
	u8 connect_state;		/* enum smc_connect_state, socket lock */
	u32 fallback_rsn;
	u32 peer_diagnosis;
	int connect_err;		/* outcome of the attempt, once */
	struct work_struct connect_work;

	/* listener */
	struct smc_sock *listen_smc;
	struct list_head accept_q;	/* finished children, accept_lock */
	struct list_head accept_node;
	spinlock_t accept_lock;		/* BH; accept_q, accept_len, closing */
	unsigned int accept_len;
	atomic_t hs_running;		/* children in handshake */
	struct work_struct accept_work;
	int defer_accept;		/* seconds */

	/* child in handshake */
	struct work_struct hs_work;

	/* original callbacks of the TCP socket while ours are installed,
	 * written under its sk_callback_lock
	 */
	void (*tcp_state_change)(struct sock *sk);
	void (*tcp_data_ready)(struct sock *sk);
	void (*tcp_write_space)(struct sock *sk);
	void (*tcp_error_report)(struct sock *sk);
	const struct inet_connection_sock_af_ops *tcp_af_ops;
	struct inet_connection_sock_af_ops *own_af_ops;
};

struct smc6_sock {
	struct smc_sock smc;
	struct ipv6_pinfo pinet6;
};

static inline struct smc_sock *smc_sk(const struct sock *sk)
{
	return (struct smc_sock *)sk;
}

static inline struct smc_sock *smc_of_member(struct smc_member *m)
{
	return container_of(m, struct smc_sock, conn.member);
}

#endif /* SMC_SOCK_H */
