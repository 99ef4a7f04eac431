// SPDX-License-Identifier: GPL-2.0
/*
 * listen(2), accept(2) and the handshakes of the server side (layer 6).
 *
 * A connection comes this way:
 *  1. A SYN with the SMC option: smc_hs_congested() answers it without the
 *     option under overload, so that it becomes a TCP connection.
 *  2. The last ACK: smc_syn_recv_sock() admits it. TCP's queue, handshakes and
 *     our queue together obey the backlog.
 *  3. TCP's data_ready queues accept_work, which takes the TCP child, gives it
 *     an SMC socket and puts that on hs_q. Without the option it is a finished
 *     TCP connection.
 *  4. The first byte, a FIN or reset, or the end of the time for it, queues
 *     hs_work. So a client that says nothing costs no worker.
 *  5. The worker runs the handshake. Finished children, over SMC or TCP, go to
 *     accept_q and wake one accept(), with TCP_DEFER_ACCEPT when there is data
 *     to be read; failed ones are reset and gone.
 *
 * Locks: accept_lock covers both queues and the question whether the socket is
 * listening; a child is queued and the question asked in one step. A child's
 * socket lock may be taken inside the listener's (SINGLE_DEPTH_NESTING).
 *
 * Ownership: in steps 3 to 5 the child's reference belongs to the handshake,
 * then to accept_q, then to the struct socket of accept(). Until then it has a
 * reference of the listener. Nothing of TCP's child refers to the listener: it
 * gets the original callbacks and operations when TCP creates it.
 *
 * The end of a listener: no more children (state), no more callbacks, pickup
 * work cancelled, TCP stopped; then the children are reset, those in handshake
 * by way of their TCP socket, so that their workers end soon.
 */
#include <linux/sched/signal.h>
#include <linux/security.h>
#include <net/inet_connection_sock.h>
#include <net/tcp.h>

#include "smc_data.h"
#include "smc_reason.h"
#include "smc_setup.h"
#include "smc_stats.h"
#include "smc_tcp.h"

/* time for the first byte of a Proposal, jiffies */
#define SMC_HS_FIRST_BYTE	(6 * HZ)
/* pause before another try to pick up, without memory */
#define SMC_ACCEPT_RETRY	(HZ / 10)
/* in place of SMC_HS_MAX with SMC_LIMIT_HS */
#define SMC_HS_MAX_LIMITED	128

static atomic_t smc_hs_active;	/* hs_work queued or running */

/* More connections than the backlog allows? Those in handshake count against
 * new handshakes only: a client that came without the option, because of them
 * perhaps, has nothing to wait for. Any context.
 */
static bool smc_backlog_full(const struct sock *tsk, const struct smc_sock *smc,
			     bool handshake)
{
	u32 len = READ_ONCE(tsk->sk_ack_backlog) +
		  READ_ONCE(smc->sk.sk_ack_backlog);

	if (handshake)
		len += atomic_read(&smc->hs_running);
	return len > READ_ONCE(tsk->sk_max_ack_backlog);
}

/* TCP asks this for a SYN with the option; softirq, RCU, @tsk is not locked. */
static bool smc_hs_congested(const struct sock *tsk)
{
	const struct smc_sock *smc = smc_tcp_owner(tsk);
	u32 max = SMC_HS_MAX;

	if (!smc)
		return true;
	if (READ_ONCE(smc->limit_hs))
		max = SMC_HS_MAX_LIMITED;
	if (atomic_read(&smc_hs_active) < max &&
	    atomic_read(&smc->hs_running) <=
	    READ_ONCE(tsk->sk_max_ack_backlog))
		return false;
	SMC_INC(sock_net(tsk), HS_CONGESTED);
	return true;
}

/* @child is new, locked and not reachable yet */
static void smc_child_restore(const struct smc_sock *smc, struct sock *child)
{
	struct inet_connection_sock *icsk = inet_csk(child);

	/* IPv4 children of an IPv6 listener have other operations */
	if (icsk->icsk_af_ops == &smc->af_ops)
		icsk->icsk_af_ops = smc->tcp_af_ops;
	tcp_sk(child)->smc_hs_congested = NULL;
	child->sk_state_change = smc->tcp_state_change;
	child->sk_data_ready = smc->tcp_data_ready;
	child->sk_write_space = smc->tcp_write_space;
	child->sk_error_report = smc->tcp_error_report;
}

/* TCP has finished a handshake; softirq, RCU, the listener is not locked. */
static struct sock *smc_syn_recv_sock(const struct sock *tsk,
				      struct sk_buff *skb,
				      struct request_sock *req,
				      struct dst_entry *dst,
				      struct request_sock *req_unhash,
				      bool *own_req,
				      void (*init)(struct sock *newsk,
						   const struct sock *sk))
{
	const struct smc_sock *smc = smc_tcp_owner(tsk);
	struct sock *child;

	if (!smc || smc_backlog_full(tsk, smc, inet_rsk(req)->smc_ok))
		goto drop;
	child = smc->tcp_af_ops->syn_recv_sock(tsk, skb, req, dst, req_unhash,
					       own_req, init);
	if (child)
		smc_child_restore(smc, child);
	return child;

drop:
	dst_release(dst);
	NET_INC_STATS(sock_net(tsk), LINUX_MIB_LISTENOVERFLOWS);
	tcp_listendrop(tsk);
	SMC_INC(sock_net(tsk), HS_DROP_BACKLOG);
	return NULL;
}

/* Softirq, with the slock of a child held. The callback lock, not RCU: once it
 * was taken to unhook nothing queues the work any more.
 */
static void smc_listen_data_ready(struct sock *tsk)
{
	struct smc_sock *smc;

	read_lock_bh(&tsk->sk_callback_lock);
	smc = __locked_read_sk_user_data_with_flags(tsk, 0);
	if (smc && inet_sk_state_load(tsk) == TCP_LISTEN)
		queue_delayed_work(system_dfl_wq, &smc->accept_work, 0);
	read_unlock_bh(&tsk->sk_callback_lock);
}

static const struct smc_tcp_cbs smc_listen_cbs = {
	.data_ready = smc_listen_data_ready,
};

/* Let the child's handshake run, once. Any context. */
static void smc_child_kick(struct smc_sock *child)
{
	if (test_and_set_bit(SMC_HS_STARTED, &child->hs_flags))
		return;
	atomic_inc(&smc_hs_active);
	queue_work(smc_hs_wq, &child->hs_work);
}

static void smc_child_data_ready(struct sock *tsk)
{
	struct smc_sock *child;

	guard(rcu)();
	child = smc_tcp_owner(tsk);
	if (!child)
		return;
	child->tcp_data_ready(tsk);
	smc_child_kick(child);
}

static void smc_child_state_change(struct sock *tsk)
{
	struct smc_sock *child;

	guard(rcu)();
	child = smc_tcp_owner(tsk);
	if (!child)
		return;
	child->tcp_state_change(tsk);
	if (inet_sk_state_load(tsk) != TCP_ESTABLISHED)
		smc_child_kick(child);
}

static const struct smc_tcp_cbs smc_child_cbs = {
	.state_change = smc_child_state_change,
	.data_ready = smc_child_data_ready,
};

static void smc_child_timeout(struct timer_list *t)
{
	struct smc_sock *child = timer_container_of(child, t, hs_timer);

	set_bit(SMC_HS_SILENT, &child->hs_flags);
	smc_child_kick(child);
}

/* something to read, or the end of it */
static bool smc_child_has_input(const struct sock *tsk)
{
	const struct tcp_sock *tp = tcp_sk(tsk);

	return READ_ONCE(tp->rcv_nxt) != READ_ONCE(tp->copied_seq) ||
	       inet_sk_state_load(tsk) != TCP_ESTABLISHED;
}

/* Drop a child that is on no queue; its reference is consumed. */
static void smc_child_drop(struct smc_sock *child)
{
	struct smc_sock *smc = child->listen_smc;

	child->listen_smc = NULL;
	smc_sock_drop(child);
	sock_put(&smc->sk);
}

/* A child is usable: to the accept queue. Its reference goes there. */
static void smc_child_ready(struct smc_sock *child)
{
	struct smc_sock *smc = child->listen_smc;
	struct sock *lsk = &smc->sk;
	bool queued = false;

	sock_hold(lsk);		/* accept() may be faster than we are */
	spin_lock(&smc->accept_lock);
	list_del_init(&child->accept_node);
	if (lsk->sk_state == SMC_LISTEN) {
		list_add_tail(&child->accept_node, &smc->accept_q);
		sk_acceptq_added(lsk);
		queued = true;
	}
	spin_unlock(&smc->accept_lock);

	if (queued)
		lsk->sk_data_ready(lsk);
	else
		smc_child_drop(child);
	sock_put(lsk);
}

static void smc_child_fallback(struct smc_sock *child, int reason)
{
	smc_switch_to_fallback(child, reason);
	smc_set_state(child, SMC_ACTIVE);
	WRITE_ONCE(child->connect_state, SMC_CONN_DONE);
}

static int smc_child_handshake(struct smc_sock *child)
{
	struct net *net = sock_net(&child->sk);
	int rc;

	if (test_bit(SMC_HS_SILENT, &child->hs_flags) &&
	    !smc_child_has_input(child->tcp->sk)) {
		SMC_INC(net, SRV_HS_ERR);
		return -ETIMEDOUT;
	}
	rc = smc_hs_server(child);
	if (rc < 0)
		return rc;

	lock_sock(&child->sk);
	if (rc) {
		smc_child_fallback(child, rc);
	} else {
		smc_conn_established(child);
		WRITE_ONCE(child->connect_state, SMC_CONN_DONE);
		smc_tcp_watch(child);
	}
	release_sock(&child->sk);
	return 0;
}

/* Data or the end have come, over what carries the connection. */
static bool smc_child_has_data(struct smc_sock *child)
{
	struct sock *sk = &child->sk;

	if (child->use_fallback)
		return smc_child_has_input(child->tcp->sk);
	return smc_rx_avail(child) || READ_ONCE(sk->sk_err) ||
	       READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN;
}

/* callback of an SMC socket that is not accepted; any context */
static void smc_child_wake(struct sock *sk)
{
	smc_child_kick(smc_sk(sk));
}

static void smc_child_set_wake(struct smc_sock *child, bool on)
{
	struct sock *sk = &child->sk;

	write_lock_bh(&sk->sk_callback_lock);
	if (on) {
		child->hs_state_change = sk->sk_state_change;
		child->hs_data_ready = sk->sk_data_ready;
	}
	sk->sk_state_change = on ? smc_child_wake : child->hs_state_change;
	sk->sk_data_ready = on ? smc_child_wake : child->hs_data_ready;
	write_unlock_bh(&sk->sk_callback_lock);
}

/* TCP_DEFER_ACCEPT: what TCP has waited for was the Proposal. The handshake is
 * over; wait for data, or the end of the time. Then hs_work runs once more.
 * Returns false if there is nothing to wait for.
 */
static bool smc_child_defer(struct smc_sock *child)
{
	int seconds = READ_ONCE(child->listen_smc->defer_accept);

	if (!seconds || test_and_set_bit(SMC_HS_DEFERRED, &child->hs_flags))
		return false;
	clear_bit(SMC_HS_STARTED, &child->hs_flags);
	timer_setup(&child->hs_timer, smc_child_timeout, 0);
	if (child->use_fallback)
		smc_tcp_hook(child, &smc_child_cbs);
	else
		smc_child_set_wake(child, true);
	mod_timer(&child->hs_timer, jiffies + seconds * HZ);
	if (smc_child_has_data(child))
		smc_child_kick(child);
	return true;
}

static void smc_child_defer_end(struct smc_sock *child)
{
	if (child->use_fallback)
		smc_tcp_unhook(child);
	else
		smc_child_set_wake(child, false);
}

static int smc_child_run(struct smc_sock *child)
{
	timer_shutdown_sync(&child->hs_timer);
	if (test_bit(SMC_HS_DEFERRED, &child->hs_flags)) {
		smc_child_defer_end(child);
		return 0;
	}
	smc_tcp_unhook(child);
	return smc_child_handshake(child);
}

static void smc_hs_work(struct work_struct *work)
{
	struct smc_sock *child = container_of(work, struct smc_sock, hs_work);
	struct smc_sock *smc = child->listen_smc;
	int rc;

	sock_hold(&smc->sk);
	rc = smc_child_run(child);
	atomic_dec(&smc_hs_active);

	if (!rc && smc_child_defer(child)) {
		sock_put(&smc->sk);
		return;
	}
	if (rc) {
		spin_lock(&smc->accept_lock);
		list_del_init(&child->accept_node);
		spin_unlock(&smc->accept_lock);
		smc_child_drop(child);
	} else {
		smc_child_ready(child);
	}
	atomic_dec(&smc->hs_running);
	sock_put(&smc->sk);
}

/* Wait for the first byte of @child, which speaks SMC. */
static void smc_child_await(struct smc_sock *smc, struct smc_sock *child)
{
	struct sock *tsk = child->tcp->sk;
	bool listening;

	/* once there is a callback the handshake may be over before we are */
	sock_hold(&child->sk);
	sock_hold(tsk);
	spin_lock(&smc->accept_lock);
	listening = smc->sk.sk_state == SMC_LISTEN;
	if (listening) {
		list_add_tail(&child->accept_node, &smc->hs_q);
		atomic_inc(&smc->hs_running);
	}
	spin_unlock(&smc->accept_lock);

	if (listening) {
		smc_tcp_hook(child, &smc_child_cbs);
		mod_timer(&child->hs_timer, jiffies + SMC_HS_FIRST_BYTE);
		if (smc_child_has_input(tsk))
			smc_child_kick(child);
	} else {
		smc_child_drop(child);
	}
	sock_put(tsk);
	sock_put(&child->sk);
}

static void smc_child_start(struct smc_sock *smc, struct smc_sock *child)
{
	const struct sock *tsk = child->tcp->sk;

	/* TCP has its own rules for these */
	child->sk.sk_mark = READ_ONCE(tsk->sk_mark);
	child->sk.sk_priority = READ_ONCE(tsk->sk_priority);
	child->sk.sk_bound_dev_if = READ_ONCE(tsk->sk_bound_dev_if);
	/* and the label: ours may be that of a worker */
	security_sk_clone(tsk, &child->sk);
	sock_hold(&smc->sk);
	child->listen_smc = smc;
	smc_sk_publish(&child->sk);

	if (tcp_sk(tsk)->syn_smc && !smc->use_fallback) {
		smc_child_await(smc, child);
		return;
	}
	/* nested: accept_work is cancelled with the listener locked */
	lock_sock_nested(&child->sk, SINGLE_DEPTH_NESTING);
	smc_child_fallback(child, smc->fallback_rsn ?: SMC_DECL_PEERNOSMC);
	release_sock(&child->sk);
	smc_child_ready(child);
}

/* Pick up one connection. 1: done, 0: none, else errno. */
static int smc_accept_one(struct smc_sock *smc)
{
	struct inet_connection_sock *icsk = inet_csk(smc->tcp->sk);
	struct smc_sock *child;
	int rc;

	if (reqsk_queue_empty(&icsk->icsk_accept_queue))
		return 0;
	/* first, so that a connection is not lost without memory */
	child = smc_sk_alloc_child(&smc->sk);
	if (!child)
		return -ENOMEM;
	smc_connect_init_sock(child);
	smc_listen_init_sock(child);
	rc = kernel_accept(smc->tcp, &child->tcp, O_NONBLOCK);
	if (rc) {
		smc_sock_drop(child);
		return rc == -EAGAIN || rc == -EINVAL ? 0 : rc;
	}
	smc_child_start(smc, child);
	return 1;
}

/* Pick up what TCP has: by the worker, or by accept() with the listener locked,
 * both at a time if need be. 0 or errno.
 */
static int smc_accept_pickup(struct smc_sock *smc)
{
	int rc;

	do {
		rc = smc_accept_one(smc);
		cond_resched();
	} while (rc > 0);
	return rc;
}

static void smc_accept_work(struct work_struct *work)
{
	struct smc_sock *smc = container_of(to_delayed_work(work),
					    struct smc_sock, accept_work);

	if (smc_accept_pickup(smc))
		queue_delayed_work(system_dfl_wq, &smc->accept_work,
				   SMC_ACCEPT_RETRY);
}

/**
 * smc_listen_init_sock() - prepare a new socket for this room
 * @smc: new socket
 */
void smc_listen_init_sock(struct smc_sock *smc)
{
	INIT_DELAYED_WORK(&smc->accept_work, smc_accept_work);
	INIT_WORK(&smc->hs_work, smc_hs_work);
	timer_setup(&smc->hs_timer, smc_child_timeout, 0);
}

static void smc_listen_set_state(struct smc_sock *smc, enum smc_state state)
{
	guard(spinlock)(&smc->accept_lock);
	smc_set_state(smc, state);
}

static void smc_listen_hook(struct smc_sock *smc)
{
	struct sock *tsk = smc->tcp->sk;
	struct inet_connection_sock *icsk = inet_csk(tsk);

	smc_tcp_hook(smc, &smc_listen_cbs);
	lock_sock(tsk);
	/* never take our own table for the original */
	if (icsk->icsk_af_ops != &smc->af_ops) {
		smc->tcp_af_ops = icsk->icsk_af_ops;
		smc->af_ops = *icsk->icsk_af_ops;
		smc->af_ops.syn_recv_sock = smc_syn_recv_sock;
		icsk->icsk_af_ops = &smc->af_ops;
	}
	tcp_sk(tsk)->smc_hs_congested = smc_hs_congested;
	tcp_sk(tsk)->syn_smc = !smc->use_fallback;
	release_sock(tsk);
}

/* Softirq may use the table for one grace period more: it lives in the socket,
 * which is freed by RCU.
 */
static void smc_listen_unhook(struct smc_sock *smc)
{
	struct sock *tsk = smc->tcp->sk;
	struct inet_connection_sock *icsk = inet_csk(tsk);

	lock_sock(tsk);
	if (icsk->icsk_af_ops == &smc->af_ops)
		icsk->icsk_af_ops = smc->tcp_af_ops;
	tcp_sk(tsk)->smc_hs_congested = NULL;
	tcp_sk(tsk)->syn_smc = 0;
	release_sock(tsk);
	smc_tcp_unhook(smc);
	cancel_delayed_work_sync(&smc->accept_work);
}

static int smc_listen_start(struct smc_sock *smc, int backlog)
{
	int rc;

	smc_tcp_copy_early(smc);
	smc_listen_hook(smc);
	smc_listen_set_state(smc, SMC_LISTEN);
	WRITE_ONCE(smc->sk.sk_max_ack_backlog, backlog);
	rc = kernel_listen(smc->tcp, backlog);
	if (rc) {
		smc_listen_set_state(smc, SMC_INIT);
		smc_listen_unhook(smc);
	}
	return rc;
}

/**
 * smc_listen() - listen(2)
 * @sock: socket
 * @backlog: connections that wait for accept(), at most; limited by the core
 *
 * Context: process, may sleep; takes the socket lock.
 * Return: 0; -EINVAL: connected, or connecting; an error of TCP, after which
 * nothing has changed.
 */
int smc_listen(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);
	int rc = -EINVAL;

	lock_sock(sk);
	if (smc->use_fallback && smc->tcp->file) {
		release_sock(sk);
		return kernel_listen(smc->tcp, backlog);
	}
	if (sock->state != SS_UNCONNECTED)
		goto out;
	if (sk->sk_state == SMC_INIT) {
		rc = smc_listen_start(smc, backlog);
	} else if (sk->sk_state == SMC_LISTEN) {
		rc = kernel_listen(smc->tcp, backlog);
		if (!rc)
			WRITE_ONCE(sk->sk_max_ack_backlog, backlog);
	}
out:
	release_sock(sk);
	return rc;
}

/* the first child of the accept queue, or NULL; its reference goes with it */
static struct smc_sock *smc_accept_dequeue(struct smc_sock *smc)
{
	struct smc_sock *child;

	guard(spinlock)(&smc->accept_lock);
	child = list_first_entry_or_null(&smc->accept_q, struct smc_sock,
					 accept_node);
	if (child) {
		list_del_init(&child->accept_node);
		sk_acceptq_removed(&smc->sk);
	}
	return child;
}

/* Reset the handshakes of a listener; their workers do the rest. */
static void smc_listen_abort_hs(struct smc_sock *smc)
{
	struct smc_sock *child;
	struct sock *tsk;

	for (;;) {
		spin_lock(&smc->accept_lock);
		child = list_first_entry_or_null(&smc->hs_q, struct smc_sock,
						 accept_node);
		if (child) {
			list_del_init(&child->accept_node);
			tsk = child->tcp->sk;
			sock_hold(tsk);
		}
		spin_unlock(&smc->accept_lock);
		if (!child)
			break;
		tcp_abort(tsk, ECONNABORTED);
		sock_put(tsk);
	}
}

/**
 * smc_listen_stop() - a listener stops to be one
 * @smc: listener, locked; in state INIT afterwards
 *
 * All its children are reset. Waiting accept() calls are woken and find the
 * state. Nothing is left that could refer to @smc but workers with references.
 *
 * Context: process, may sleep, but does not wait for handshakes.
 */
void smc_listen_stop(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;
	struct smc_sock *child;

	sock_owned_by_me(sk);
	smc_listen_set_state(smc, SMC_INIT);
	smc_listen_unhook(smc);
	kernel_sock_shutdown(smc->tcp, SHUT_RDWR);
	smc_listen_abort_hs(smc);
	while ((child = smc_accept_dequeue(smc)))
		smc_child_drop(child);
	sk->sk_state_change(sk);
}

/* Sleep for a child, like inet_csk_wait_for_connect(). */
static int smc_accept_sleep(struct smc_sock *smc, long timeo)
{
	struct sock *sk = &smc->sk;
	DEFINE_WAIT(wait);
	int rc;

	for (;;) {
		prepare_to_wait_exclusive(sk_sleep(sk), &wait,
					  TASK_INTERRUPTIBLE);
		release_sock(sk);
		if (list_empty_careful(&smc->accept_q))
			timeo = schedule_timeout(timeo);
		sched_annotate_sleep();
		lock_sock(sk);
		rc = 0;
		if (!list_empty_careful(&smc->accept_q))
			break;
		rc = -EINVAL;
		if (sk->sk_state != SMC_LISTEN)
			break;
		rc = sock_intr_errno(timeo);
		if (signal_pending(current))
			break;
		rc = -EAGAIN;
		if (!timeo)
			break;
	}
	finish_wait(sk_sleep(sk), &wait);
	return rc;
}

static int smc_accept_child(struct smc_sock *smc, int flags,
			    struct smc_sock **child)
{
	struct sock *sk = &smc->sk;
	long timeo = sock_rcvtimeo(sk, flags & O_NONBLOCK);
	int rc;

	if (sk->sk_state != SMC_LISTEN)
		return -EINVAL;
	*child = smc_accept_dequeue(smc);
	if (!*child) {
		/* sooner than the worker, and charged to the right cgroup */
		smc_accept_pickup(smc);
		*child = smc_accept_dequeue(smc);
	}
	while (!*child) {
		if (!timeo)
			return -EAGAIN;
		rc = smc_accept_sleep(smc, timeo);
		if (rc)
			return rc;
		*child = smc_accept_dequeue(smc);
	}
	return 0;
}

static void smc_accept_graft(struct smc_sock *child, struct socket *newsock)
{
	struct sock *sk = &child->sk;

	lock_sock(sk);
	sock_graft(sk, newsock);
	newsock->state = SS_CONNECTED;
	set_bit(SOCK_CUSTOM_SOCKOPT, &newsock->flags);
	WRITE_ONCE(child->tcp->sk->sk_uid, sk_uid(sk));
	if (child->use_fallback)
		smc_fallback_give_file(child, newsock);
	release_sock(sk);
}

/**
 * smc_accept() - accept(2)
 * @sock: listener
 * @newsock: socket without a sock; has a file unless a user in the kernel calls
 * @arg: flags in, is_empty out
 *
 * The new socket has family and protocol of the listener, over SMC or TCP.
 *
 * Context: process, may sleep; takes the socket lock.
 * Return: 0; -EINVAL: not listening (any more); -EAGAIN; -ERESTARTSYS or
 * -EINTR on a signal.
 */
int smc_accept(struct socket *sock, struct socket *newsock,
	       struct proto_accept_arg *arg)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);
	struct smc_sock *child;
	int rc;

	lock_sock(sk);
	rc = smc_accept_child(smc, arg->flags, &child);
	arg->is_empty = list_empty(&smc->accept_q);
	release_sock(sk);
	if (rc)
		return rc;

	child->listen_smc = NULL;
	sock_put(sk);
	smc_accept_graft(child, newsock);
	return 0;
}
