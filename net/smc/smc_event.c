// SPDX-License-Identifier: GPL-2.0
/*
 * The connection object (layer 5): its life, its work, and what a transport
 * calls of it: smc_member_ops. RFC 7609, 4.4 and 4.7.
 *
 * Life. smc_conn_init() makes it with the socket; until the handshake has
 * joined it to a group it is inert. smc_conn_open() takes one reference of the
 * socket, the only one of the data path: for the passive closing. It is dropped
 * by close_work, once, when both are true: the application has closed
 * (released) and the connection has left its group (left). Before that moment
 * close_work may be scheduled by anybody who holds the socket lock, the slock
 * or tx_lock; after it (joined false again) by nobody.
 *
 * Teardown, in close_work: no message is built and no received one looked at
 * from the point where left is set; leave() waits for what is in flight and
 * gives the rings back; the TCP socket is released; the reference is dropped.
 *
 * Receiving. Positions are taken over in the receive softirq, also while a
 * process owns the socket: they only grow, and readers look at them again
 * before they conclude that nothing is left. Steps of the close machine need an
 * owner: they are left in conn->events for release_sock() if there is one.
 */
#include <kunit/visibility.h>
#include <net/sock.h>

#include "smc_conn.h"
#include "smc_stats.h"
#include "smc_trace.h"

/* Carry out what softirq has left; during the handshake nothing:
 * smc_conn_established() comes back to it. Softirq or process, no sleep; slock
 * held, no other owner.
 */
static void smc_event_apply(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;
	struct sock *sk = &smc->sk;

	if (sk->sk_state == SMC_INIT)
		return;
	if (test_bit(SMC_CONN_EV_URG, &conn->events))
		smc_rx_urg_arrived(smc);
	if (test_and_clear_bit(SMC_CONN_EV_PEER, &conn->events))
		smc_close_peer(smc);
	if (test_and_clear_bit(SMC_CONN_EV_ABORT, &conn->events))
		smc_close_abort(smc, -ECONNABORTED);
}

/**
 * smc_conn_release_cb() - proto.release_cb
 * @sk: socket
 *
 * Context: process, slock held, just before the socket lock is given up.
 */
void smc_conn_release_cb(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	if (unlikely(READ_ONCE(smc->conn.events)))
		smc_event_apply(smc);
}
EXPORT_SYMBOL_IF_KUNIT(smc_conn_release_cb);

/* Failover validation: the peer says what it saw completed. What it names must
 * have come in, or bytes are missing.
 */
static int smc_cdc_validate(struct smc_conn *conn, const struct smc_cdc *cdc)
{
	if ((s16)(cdc->seq - conn->rx_seq) > 0)
		return -EPROTO;
	return 0;
}

/* Both cursors are judged before either is used. */
static int smc_cdc_positions(struct smc_conn *conn, const struct smc_cdc *cdc,
			     u64 *prod, u64 *cons)
{
	struct smc_member *m = &conn->member;
	int rc;

	rc = smc_cursor_advance(*prod, cdc->prod, m->rcv_size,
				atomic64_read(&conn->rx_read) + m->rcv_size,
				prod);
	if (rc == -ERANGE)
		return rc;
	/* The size is unknown until the handshake has ended, and nothing was
	 * sent that could have been consumed.
	 */
	if (!m->peer_size)
		return 0;
	rc = smc_cursor_advance(*cons, cdc->cons, m->peer_size,
				atomic64_read(&conn->tx_sent), cons);
	return rc == -ERANGE ? rc : 0;
}

/* what to do after the lock was dropped */
#define SMC_CDC_KICK	BIT(0)
#define SMC_CDC_OWE	BIT(1)

static int smc_cdc_apply(struct smc_sock *smc, const struct smc_cdc *cdc,
			 unsigned int *todo)
{
	struct smc_conn *conn = &smc->conn;
	u64 old_prod, old_cons, prod, cons;
	u8 pflags = cdc->pflags;

	if (pflags & SMC_CDC_P_FAILOVER)
		return smc_cdc_validate(conn, cdc);
	if ((s16)(cdc->seq - conn->rx_seq) < 0)
		return -ESTALE;
	old_prod = atomic64_read(&conn->rx_prod);
	old_cons = atomic64_read(&conn->peer_cons);
	prod = old_prod;
	cons = old_cons;
	if (smc_cdc_positions(conn, cdc, &prod, &cons))
		return -ERANGE;

	conn->rx_seq = cdc->seq;
	WRITE_ONCE(conn->rx_pflags, pflags);
	if (cons != old_cons) {
		atomic64_set(&conn->peer_cons, cons);
		*todo |= SMC_CDC_KICK;
	}
	if (prod != old_prod) {
		if (pflags & SMC_CDC_P_URG_PRESENT) {
			conn->urg_new = prod;
			set_bit(SMC_CONN_EV_URG, &conn->events);
		}
		/* The ring was written before the message came. */
		atomic64_set_release(&conn->rx_prod, prod);
	}
	if (cdc->cflags & ~conn->rx_cflags) {
		WRITE_ONCE(conn->rx_cflags, conn->rx_cflags | cdc->cflags);
		set_bit(SMC_CONN_EV_PEER, &conn->events);
	}
	if (pflags & SMC_CDC_P_UPDATE_REQ ||
	    (pflags & SMC_CDC_P_URGENT) == SMC_CDC_P_URG_PENDING ||
	    (pflags & SMC_CDC_P_BLOCKED && smc_rx_update_due(conn)))
		*todo |= SMC_CDC_OWE;
	return prod != old_prod;
}

static void smc_cdc_count_bad(const struct net *net, int verdict)
{
	if (verdict == -ENOTCONN)
		SMC_INC(net, CDC_RX_NO_CONN);
	else if (verdict == -ESTALE)
		SMC_INC(net, CDC_RX_OLD);
	else if (verdict == -ERANGE)
		SMC_INC(net, CDC_RX_CURSOR);
}

/* smc_member_ops.rx_cdc, from an untrusted peer: an old message is dropped; one
 * that breaks the rules ends this connection and no other. Softirq.
 */
static void smc_event_rx(struct smc_member *m, const struct smc_cdc *cdc)
{
	struct smc_sock *smc = smc_of_member(m);
	struct smc_conn *conn = smc_conn_of(m);
	struct sock *sk = &smc->sk;
	unsigned int todo = 0;
	int verdict;

	bh_lock_sock(sk);
	if (conn->left || !m->rcv_size)
		verdict = -ENOTCONN;
	else
		verdict = smc_cdc_apply(smc, cdc, &todo);
	trace_smc_cdc_rx(smc, cdc, atomic64_read(&conn->rx_prod),
			 atomic64_read(&conn->peer_cons), verdict);
	if (verdict == -ERANGE || verdict == -EPROTO)
		set_bit(SMC_CONN_EV_ABORT, &conn->events);
	if (verdict > 0)
		sk->sk_data_ready(sk);
	if (READ_ONCE(conn->events) && !sock_owned_by_user(sk))
		smc_event_apply(smc);
	bh_unlock_sock(sk);

	if (unlikely(verdict < 0))
		smc_cdc_count_bad(m->net, verdict);
	if (todo & SMC_CDC_OWE)
		smc_cdc_owe(conn);
	else if (todo & SMC_CDC_KICK && smc_tx_unsent(smc))
		smc_conn_kick(conn);
}

/* smc_member_ops.tx_done: frees send space, ends a hold of written data, wakes
 * writers and a lingering close. Softirq or process, tx_lock not held.
 */
static void smc_event_tx_done(struct smc_member *m, u64 pos, u16 seq)
{
	struct smc_conn *conn = smc_conn_of(m);
	struct smc_sock *smc = smc_of_member(m);
	bool advanced, ended, final;

	spin_lock_bh(&m->tx_lock);
	advanced = pos > (u64)atomic64_read(&conn->tx_done);
	if (advanced)
		atomic64_set(&conn->tx_done, pos);
	ended = conn->tx_signalled && (s16)(seq - conn->tx_signal_seq) >= 0;
	if (ended)
		WRITE_ONCE(conn->tx_signalled, false);
	final = conn->tx_final;
	spin_unlock_bh(&m->tx_lock);

	/* Paired with smc_tx_hold(): either it sees that no completion is due,
	 * or what it holds back is seen here. Also orders tx_done before the
	 * test of SOCK_NOSPACE.
	 */
	smp_mb();
	if (ended && smc_tx_unsent(smc))
		smc_conn_kick(conn);
	if (advanced)
		smc_tx_write_space(smc);
	if (final && !smc_tx_unfinished(smc))
		smc->sk.sk_state_change(&smc->sk);
}

/* Nothing can be sent, received or read any more. */
static void smc_conn_set_left(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;

	spin_lock_bh(&smc->sk.sk_lock.slock);
	spin_lock(&conn->member.tx_lock);
	WRITE_ONCE(conn->left, true);
	spin_unlock(&conn->member.tx_lock);
	spin_unlock_bh(&smc->sk.sk_lock.slock);
	sk_stop_timer(&smc->sk, &conn->cork_timer);
}

/* The application and the group are done with it. Nobody schedules the work
 * any more, except for what was scheduled before.
 */
static void smc_conn_set_over(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;

	spin_lock_bh(&conn->member.tx_lock);
	WRITE_ONCE(conn->joined, false);
	spin_unlock_bh(&conn->member.tx_lock);
	cancel_delayed_work(&conn->close_work);
}

static void smc_conn_close_work(struct work_struct *work)
{
	struct smc_conn *conn = container_of(to_delayed_work(work),
					     struct smc_conn, close_work);
	struct smc_member *m = &conn->member;
	struct smc_sock *smc = smc_of_member(m);
	bool leave, clean, over;
	unsigned long delay;

	lock_sock(&smc->sk);
	smc_rx_urg_aside(smc);
	delay = min_not_zero(smc_close_orphan(smc), smc_tx_settle(smc));
	if (READ_ONCE(conn->killed) || smc_cdc_final_sent(conn))
		smc_close_tcp(smc);
	leave = !conn->left && !conn->tx_openers && smc_close_finished(smc);
	clean = conn->rx_cflags & (SMC_CDC_C_CLOSED | SMC_CDC_C_ABORT);
	if (leave)
		smc_conn_set_left(smc);
	over = conn->left && conn->released;
	if (over)
		smc_conn_set_over(smc);
	else if (delay && !conn->left)
		smc_conn_schedule(smc, delay);
	release_sock(&smc->sk);

	if (leave)
		m->transport->leave(m, clean,
				    min_t(u64, atomic64_read(&conn->rx_prod),
					  m->rcv_size));
	if (!over)
		return;
	smc_sock_tcp_release(smc);
	sock_put(&smc->sk);
}

static void smc_conn_died(struct smc_member *m, int err)
{
	struct smc_sock *smc = smc_of_member(m);
	struct smc_conn *conn = &smc->conn;
	struct sock *sk = &smc->sk;

	spin_lock_bh(&m->tx_lock);
	WRITE_ONCE(conn->killed, true);
	if (!conn->err)
		conn->err = err;
	spin_unlock_bh(&m->tx_lock);

	lock_sock(sk);
	/* In a handshake its caller finds out, or smc_conn_established(). */
	if (sk->sk_state != SMC_INIT)
		smc_close_kill(smc);
	release_sock(sk);
}

static bool smc_conn_get(struct smc_member *m)
{
	return refcount_inc_not_zero(&smc_of_member(m)->sk.sk_refcnt);
}

static void smc_conn_put(struct smc_member *m)
{
	sock_put(&smc_of_member(m)->sk);
}

static const struct smc_member_ops smc_conn_member_ops = {
	.next_msg	= smc_cdc_next_msg,
	.tx_failed	= smc_cdc_tx_failed,
	.tx_done	= smc_event_tx_done,
	.rx_cdc		= smc_event_rx,
	.died		= smc_conn_died,
	.switched	= smc_cdc_switched,
	.get		= smc_conn_get,
	.put		= smc_conn_put,
};

/**
 * smc_conn_init() - prepare the data path of a new socket
 * @smc: socket, zeroed and initialised by sock_init_data()
 */
void smc_conn_init(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;
	struct smc_member *m = &conn->member;

	m->ops = &smc_conn_member_ops;
	m->transport = &smcr_transport;
	m->net = sock_net(&smc->sk);
	spin_lock_init(&m->tx_lock);
	INIT_LIST_HEAD(&m->lgr_node);
	smcr_member_init(m);
	timer_setup(&conn->cork_timer, smc_tx_cork_timer, 0);
	INIT_DELAYED_WORK(&conn->close_work, smc_conn_close_work);
}
EXPORT_SYMBOL_IF_KUNIT(smc_conn_init);

/**
 * smc_conn_open() - the connection has joined a group: data may flow
 * @smc: socket in SMC_INIT, or closed meanwhile; rings and peer are known
 *
 * Takes the reference for the passive closing. From here on
 * smc_conn_established(), smc_close_abort() or smc_close_active() has to follow.
 * Context: process, the socket lock is not needed.
 */
void smc_conn_open(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;
	struct smc_member *m = &conn->member;

	sock_hold(&smc->sk);
	conn->rx_limit = smc_ring_update_limit(m->rcv_size,
					       SOCK_MIN_SNDBUF / 2);
	spin_lock_bh(&m->tx_lock);
	WRITE_ONCE(conn->joined, true);
	spin_unlock_bh(&m->tx_lock);
	/* an answer may be due to what came during the handshake */
	smc_conn_kick(conn);
}
EXPORT_SYMBOL_IF_KUNIT(smc_conn_open);

/**
 * smc_conn_established() - the handshake has succeeded
 * @smc: socket; smc_conn_open() was called
 *
 * SMC_INIT becomes SMC_ACTIVE, and then what the peer or the group has already
 * made of it. A socket that was closed meanwhile resets the connection. Context:
 * process, socket lock held.
 */
void smc_conn_established(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;

	sock_owned_by_me(sk);
	if (sk->sk_state != SMC_INIT) {
		smc_close_abort(smc, -ECONNABORTED);
		return;
	}
	smc_close_established(smc);
	spin_lock_bh(&sk->sk_lock.slock);
	smc_event_apply(smc);
	spin_unlock_bh(&sk->sk_lock.slock);
	/* Data that came before found no state in which to report them. */
	if (smc_rx_unread(&smc->conn))
		sk->sk_data_ready(sk);
}
EXPORT_SYMBOL_IF_KUNIT(smc_conn_established);

/**
 * smc_conn_destroy() - check that nothing is left
 * @smc: socket whose last reference is gone
 *
 * Context: any, from sk_destruct.
 */
void smc_conn_destroy(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;

	WARN_ON_ONCE(conn->joined);
	WARN_ON_ONCE(conn->member.lgr);
	WARN_ON_ONCE(timer_pending(&conn->cork_timer));
	WARN_ON_ONCE(delayed_work_pending(&conn->close_work));
}
EXPORT_SYMBOL_IF_KUNIT(smc_conn_destroy);
