// SPDX-License-Identifier: GPL-2.0
/*
 * The connection object (layer 5): its life, its work, and what a transport
 * calls of it.
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
 * Deferral. Steps of the close machine need an owner: what softirq finds while
 * a process owns the socket is left in conn->events, for release_sock().
 */
#include <linux/workqueue.h>
#include <kunit/visibility.h>
#include <net/sock.h>

#include "smc_close.h"
#include "smc_conn.h"

static struct workqueue_struct *smc_conn_wq;

/**
 * smc_conn_schedule() - let close_work look at the connection
 * @smc: socket
 * @delay: jiffies; 0 at once, else at the latest then: what is due already
 *	stays
 *
 * Nothing happens without an SMC connection. Context: any, under the socket
 * lock, the slock without an owner, or tx_lock.
 */
void smc_conn_schedule(struct smc_sock *smc, unsigned long delay)
{
	struct delayed_work *work = &smc->conn.close_work;

	if (!smc->conn.joined)
		return;
	if (delay)
		queue_delayed_work(smc_conn_wq, work, delay);
	else
		mod_delayed_work(smc_conn_wq, work, 0);
}

/**
 * smc_conn_kick() - there is a reason for a message
 * @conn: connection
 *
 * Context: any, tx_lock not held.
 */
void smc_conn_kick(struct smc_conn *conn)
{
	if (READ_ONCE(conn->joined) && !READ_ONCE(conn->left))
		conn->member.transport->kick(&conn->member);
}

/**
 * smc_conn_write_space() - send space was freed: wake writers if it is useful
 * @smc: socket
 *
 * Context: any but hard interrupt, no lock needed.
 */
void smc_conn_write_space(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;
	struct socket_wq *wq;
	struct socket *sock;

	if (!smc_tx_writable(smc))
		return;
	/* A socket is freed by RCU; close(2) may take it away from sk. */
	rcu_read_lock();
	sock = READ_ONCE(sk->sk_socket);
	if (sock && test_and_clear_bit(SOCK_NOSPACE, &sock->flags)) {
		wq = rcu_dereference(sk->sk_wq);
		if (skwq_has_sleeper(wq))
			wake_up_interruptible_poll(&wq->wait,
						   EPOLLOUT | EPOLLWRNORM |
						   EPOLLWRBAND);
		if (wq && wq->fasync_list &&
		    !(READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN))
			sock_wake_async(wq, SOCK_WAKE_SPACE, POLL_OUT);
	}
	rcu_read_unlock();
}

/**
 * smc_conn_events() - carry out what softirq has left
 * @smc: socket
 *
 * During the handshake nothing is done; smc_conn_established() comes back to
 * it. Context: softirq or process, no sleep; slock held, no other owner.
 */
void smc_conn_events(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;
	struct sock *sk = &smc->sk;

	if (sk->sk_state == SMC_INIT)
		return;
	if (test_and_clear_bit(SMC_CONN_EV_URG, &conn->events) &&
	    !sock_flag(sk, SOCK_DEAD))
		sk_send_sigurg(sk);
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
		smc_conn_events(smc);
}
EXPORT_SYMBOL_IF_KUNIT(smc_conn_release_cb);

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
	delay = smc_close_orphan(smc);
	if (READ_ONCE(conn->killed) || smc_cdc_final_sent(conn))
		smc_close_tcp(smc);
	leave = !conn->left && smc_close_finished(smc);
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
		m->transport->leave(m, clean);
	if (!over)
		return;
	smc_sock_tcp_release(smc);
	sock_put(&smc->sk);
}

/**
 * smc_conn_init() - prepare the data path of a new socket
 * @smc: socket, zeroed and initialised by sock_init_data()
 */
void smc_conn_init(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;

	smc_member_init(&conn->member, &smc_conn_member_ops,
			sock_net(&smc->sk));
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
	smc_conn_events(smc);
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

const struct smc_member_ops smc_conn_member_ops = {
	.next_msg	= smc_cdc_next_msg,
	.tx_failed	= smc_cdc_tx_failed,
	.tx_done	= smc_cdc_tx_done,
	.rx_cdc		= smc_cdc_rx,
	.died		= smc_conn_died,
	.switched	= smc_cdc_switched,
	.get		= smc_conn_get,
	.put		= smc_conn_put,
};

/**
 * smc_conn_module_init() - workqueue of closing connections
 *
 * Work items may sleep for a link to drain, hence unbound.
 *
 * Return: 0 or -ENOMEM
 */
int __init smc_conn_module_init(void)
{
	smc_conn_wq = alloc_workqueue("smc_close", WQ_MEM_RECLAIM | WQ_UNBOUND,
				      0);
	return smc_conn_wq ? 0 : -ENOMEM;
}

/**
 * smc_conn_module_exit() - no socket exists any more
 */
void smc_conn_module_exit(void)
{
	destroy_workqueue(smc_conn_wq);
}
