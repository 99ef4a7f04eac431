/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The SMC socket (layers 5 to 7 share it) and its connection.
 *
 * Locks, outer to inner:
 *   lock_sock(smc)  >  lock_sock(tcp)  >  slock of smc  >  member.tx_lock  >
 *   link's post_lock
 * Nobody sleeps for the network under lock_sock(smc), except the waits of
 * send, receive and lingering close, which release it while they sleep.
 */
#ifndef SMC_SOCK_H
#define SMC_SOCK_H

#include <linux/atomic.h>
#include <linux/net.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <net/inet_connection_sock.h>
#include <net/inet_sock.h>
#include <net/sock.h>

#include "smc_transport.h"

struct smc_tcp_cbs;

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
	SMC_CONN_FAILED,	/* failed, no connect() call has told it yet */
	SMC_CONN_DONE,		/* connected (SMC or fallback) */
};

/* bits of smc_sock.hs_flags */
#define SMC_HS_STARTED		0	/* hs_work was queued */
#define SMC_HS_SILENT		1	/* no byte came in time */
#define SMC_HS_DEFERRED		2	/* it is over, data are waited for */

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
 * @peer_cons: peer's consumer position (written under slock);
 *	window = peer_size - (sent - cons)
 * @tx_seq: last sequence number used
 * @tx_signal_seq: sequence number of the last signalled message
 * @tx_signalled: that message has not completed (autocork, data path doc)
 * @tx_pflags: producer flags to be sent
 * @tx_cflags: connection flags sent; they stay in every later message
 * @tx_closing: D/C wanted once all prepared data has been sent, A at once
 * @tx_owed: a CDC without data has to go out (window update, answer)
 * @tx_final: C or A was sent: nothing may be written any more
 * @tx_mark: @tx_prep at the last look at an idle send ring (socket lock)
 * @tx_openers: writers that get a send ring; leave() waits for them (socket
 *	lock)
 * @tx_notify: run close_work when tx_final becomes true
 * @killed: group died, or given up: no message is built any more
 * @tx_urg: position behind the urgent byte not yet announced with U, 0 none
 * @tx_urg_sent: position behind the last one that was announced
 * @tx_undo: flags and mark before the last message, for tx_failed
 * @rx_prod: peer's producer position: readable up to here (slock)
 * @rx_cons: consumed by the application (socket lock)
 * @rx_read: published copy of @rx_cons, for everybody without the socket lock
 * @rx_confirmed: consumer position in the last CDC we sent (tx_lock)
 * @rx_seq: last accepted sequence number (slock, as the other rx_* below)
 * @rx_pflags: producer flags last received
 * @rx_cflags: all connection flags received, accumulated
 * @rx_applied: those of @rx_cflags that took effect on sk_state
 * @urg_state: receive side urgent state, SMC_URG_* (urg_*: owner of the socket
 *	with the slock; urg_new: slock)
 * @urg_pos: position behind the urgent byte
 * @urg_new: position behind one that has just arrived, with SMC_CONN_EV_URG
 * @urg_aside: the stream stands at the mark, and the byte was copied to
 *	@urg_byte so that the peer could be told that it is read: @rx_read is
 *	one ahead of @rx_cons
 * @urg_byte: that byte
 * @rx_limit: window update threshold, bytes; constant while joined
 * @events: SMC_CONN_EV_*, deferred to the owner of the socket lock
 * @err: reason of the end, negative errno (tx_lock)
 * @joined: from smc_conn_open() until the passive closing reference is dropped
 *	(socket lock and tx_lock)
 * @left: leave() is due, running or over: the rings are gone (socket lock,
 *	slock and tx_lock)
 * @released: the application has closed (socket lock)
 * @tcp_ended: the internal TCP connection was shut down or aborted (socket
 *	lock)
 * @cork_timer: bound on data that are held back; has a reference while pending
 * @close_work: supervises and frees a connection, see smc_event.c
 * @orphan_since: jiffies of the last progress seen by close_work (socket lock)
 * @orphan_mark: what progress is measured against (socket lock)
 */
struct smc_conn {
	struct smc_member member;

	atomic64_t tx_prep;
	atomic64_t tx_sent;
	atomic64_t tx_done;
	atomic64_t peer_cons;
	u16 tx_seq;
	u16 tx_signal_seq;
	bool tx_signalled;
	u8 tx_pflags;
	u8 tx_cflags;
	u8 tx_closing;
	bool tx_owed;
	bool tx_final;
	bool tx_notify;
	u64 tx_mark;
	unsigned int tx_openers;
	bool killed;
	u64 tx_urg;
	u64 tx_urg_sent;
	struct {
		u8 pflags;
		u8 cflags;
		u64 urg;
	} tx_undo;

	atomic64_t rx_prod;
	u64 rx_cons;
	atomic64_t rx_read;
	atomic64_t rx_confirmed;
	u16 rx_seq;
	u8 rx_pflags;
	u8 rx_cflags;
	u8 rx_applied;
	u8 urg_state;
	u8 urg_byte;
	bool urg_aside;
	u64 urg_pos;
	u64 urg_new;
	u32 rx_limit;

	unsigned long events;
	int err;
	bool joined;
	bool left;
	bool released;
	bool tcp_ended;
	unsigned long orphan_since;
	u64 orphan_mark;
	struct timer_list cork_timer;	/* bound on corked data */
	struct delayed_work close_work;	/* orphan life time, freeing */
};

/**
 * struct smc_sock - an SMC socket
 * @sk: first
 * @isk: the same, because inet_create() makes a struct inet_sock
 * @tcp: internal TCP socket, set at creation. Stable for system calls and for
 *	the handshake workers. Cleared once by smc_sock_tcp_release(), under
 *	sk_lock of struct smc_net, after the file is gone; so a reader without
 *	a file (sock_diag) needs that lock and tests for NULL
 * @diag_id: ++smc_net.sk_gen under sk_lock when put at the head of sk_list
 * @conn: data path
 * @use_fallback: all calls go to @tcp; set once under lock_sock
 * @limit_hs: SMC_LIMIT_HS, smc_hs_congested() reads it without a lock
 * @connect_state: enum smc_connect_state, socket lock
 * @connect_waiters: threads that sleep for the end of an attempt; socket lock,
 *	read by the callback of @tcp
 * @fallback_rsn: enum smc_reason, 0 none
 * @peer_diagnosis: code of the peer's Decline
 * @tcp_err: errno > 0 that ended TCP under an SMC connection, 0 none
 * @event_work: something happened on TCP: runs the handshake of connect(2), or
 *	ends the connection with @tcp_err. Holds a reference while queued
 * @listen_smc: listener of a child that is not accepted yet, with reference
 * @accept_lock: accept_q, hs_q, accept_node of the children on them, and with
 *	the socket lock: the steps of sk_state to and from LISTEN
 * @accept_q: children ready for accept(2); sk_ack_backlog counts them
 * @hs_q: children in handshake
 * @hs_running: number of children in handshake
 * @accept_work: takes finished connections from @tcp; cancelled before the
 *	listener stops to be one
 * @defer_accept: TCP_DEFER_ACCEPT, seconds
 * @accept_node: child: on accept_q or hs_q of the listener
 * @hs_work: child: handshake; owns the reference of the child
 * @hs_timer: child: limit for the first byte, then of TCP_DEFER_ACCEPT
 * @hs_flags: child: SMC_HS_*
 * @hs_state_change: child with SMC_HS_DEFERRED: original callback of @sk
 * @hs_data_ready: same
 * @tcp_cbs: our callbacks in @tcp; NULL: the originals are there. Callback lock
 *	of @tcp
 * @tcp_state_change: original callback of @tcp while ours is installed; this
 *	and the next three are written under the callback lock of @tcp and read
 *	in RCU sections
 * @tcp_data_ready: same
 * @tcp_write_space: same
 * @tcp_error_report: same
 * @af_ops: listener: the operations of @tcp with our syn_recv_sock
 * @tcp_af_ops: listener: the original operations of @tcp
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
	u8 connect_state;
	unsigned int connect_waiters;
	u32 fallback_rsn;
	u32 peer_diagnosis;
	int tcp_err;
	struct work_struct event_work;

	struct smc_sock *listen_smc;
	spinlock_t accept_lock;	/* queues of children, see above */
	struct list_head accept_q;
	struct list_head hs_q;
	atomic_t hs_running;
	struct delayed_work accept_work;
	int defer_accept;

	struct list_head accept_node;
	struct work_struct hs_work;
	struct timer_list hs_timer;
	unsigned long hs_flags;
	void (*hs_state_change)(struct sock *sk);
	void (*hs_data_ready)(struct sock *sk);

	const struct smc_tcp_cbs *tcp_cbs;
	void (*tcp_state_change)(struct sock *sk);
	void (*tcp_data_ready)(struct sock *sk);
	void (*tcp_write_space)(struct sock *sk);
	void (*tcp_error_report)(struct sock *sk);
	struct inet_connection_sock_af_ops af_ops;
	const struct inet_connection_sock_af_ops *tcp_af_ops;
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

/* smc_sock.c: the object */
void smc_sk_init(struct sock *sk);
void smc_sk_publish(struct sock *sk);
void smc_sk_unhash(struct sock *sk);
struct smc_sock *smc_sk_alloc_child(struct sock *lsk);

#endif /* SMC_SOCK_H */
