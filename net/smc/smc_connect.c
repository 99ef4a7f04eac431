// SPDX-License-Identifier: GPL-2.0
/*
 * connect(2), and the watch on the TCP connection afterwards (layer 6).
 *
 * An attempt is a small state machine, connect_state, under the socket lock:
 *
 *   NONE --connect()--> TCP --established--> CLC --handshake--> DONE
 *                        |                    |
 *                        +------ failed ------+--> FAILED --told--> NONE
 *
 * TCP is always connected without blocking. Its callbacks queue event_work,
 * whose worker runs the SMC handshake without the socket lock, so no other call
 * ever waits for the network. A peer without SMC needs no worker: a thread that
 * waits in connect() sees that first and switches at once. Whoever has the lock
 * takes the next step.
 *
 * To the application the states TCP and CLC are TCP's SYN_SENT, and FAILED is
 * its CLOSE with a pending error. sock->state is used just as TCP does, so that
 * repeated calls, signals and timeouts give the same results.
 *
 * Ends: close() in state TCP takes the attempt back. In state CLC the worker
 * owns the socket's end: close() resets TCP, which ends the handshake soon, and
 * goes; the worker finds SOCK_DEAD and frees everything.
 *
 * While SMC carries the connection nothing is sent over TCP any more. A reset,
 * keepalive or user timeout says that the peer is gone, and data that it does
 * not speak SMC: event_work ends the connection with an error.
 */
#include <linux/sched/signal.h>
#include <linux/security.h>
#include <net/tcp.h>

#include "smc_data.h"
#include "smc_reason.h"
#include "smc_setup.h"
#include "smc_tcp.h"

static bool smc_tcp_syn_sent(const struct sock *tsk)
{
	return (1 << inet_sk_state_load(tsk)) & (TCPF_SYN_SENT | TCPF_SYN_RECV);
}

/* Has a connection that was just made a server that speaks SMC? When two SYNs
 * have crossed there are two clients, or one that met itself. TCP leaves syn_smc
 * as it was then; but only a SYN-ACK that answers a SYN counts as received.
 */
static bool smc_tcp_agreed(const struct sock *tsk)
{
	return tcp_sk(tsk)->syn_smc && inet_csk(tsk)->icsk_ack.lrcvtime;
}

/* Any context, a reference of @smc or an RCU section is held. */
static void smc_event_queue(struct smc_sock *smc)
{
	if (!refcount_inc_not_zero(&smc->sk.sk_refcnt))
		return;
	if (!queue_work(smc_connect_wq, &smc->event_work))
		sock_put(&smc->sk);
}

/* TCP is connected or has failed. What needs no SMC handshake is left to a
 * thread that waits for it, if there is one: it looks at TCP after it has taken
 * itself off the count.
 */
static void smc_connect_state_change(struct sock *tsk)
{
	struct smc_sock *smc;

	guard(rcu)();
	smc = smc_tcp_owner(tsk);
	if (!smc)
		return;
	smc->tcp_state_change(tsk);
	if (smc_tcp_syn_sent(tsk))
		return;
	/* later it could not be told from data any more */
	if (!smc_tcp_agreed(tsk))
		tcp_sk(tsk)->syn_smc = 0;
	smp_mb();	/* pairs with smc_connect_sleep() */
	if (READ_ONCE(smc->connect_waiters) &&
	    (!tcp_sk(tsk)->syn_smc || inet_sk_state_load(tsk) == TCP_CLOSE))
		smc->sk.sk_state_change(&smc->sk);
	else
		smc_event_queue(smc);
}

static const struct smc_tcp_cbs smc_connect_cbs = {
	.state_change = smc_connect_state_change,
};

/* What TCP tells about an SMC connection: a negative errno if that has to end.
 * Nothing is sent over TCP any more, so a byte means that the peer has fallen
 * back after all, with a late Decline. A FIN, which counts as a byte, comes with
 * each end.
 */
static int smc_watch_error(const struct sock *tsk)
{
	const struct tcp_sock *tp = tcp_sk(tsk);
	u32 fin = READ_ONCE(tsk->sk_shutdown) & RCV_SHUTDOWN ? 1 : 0;

	if (inet_sk_state_load(tsk) == TCP_CLOSE)
		return -READ_ONCE(tsk->sk_err);
	if (READ_ONCE(tp->rcv_nxt) - READ_ONCE(tp->copied_seq) > fin)
		return -ECONNABORTED;
	return 0;
}

/* The error is kept, since the TCP socket may go before the work runs. */
static void smc_watch(struct smc_sock *smc, const struct sock *tsk)
{
	int err = -smc_watch_error(tsk);

	if (!err)
		return;
	WRITE_ONCE(smc->tcp_err, err);
	smc_event_queue(smc);
}

static void smc_watch_error_report(struct sock *tsk)
{
	struct smc_sock *smc;

	guard(rcu)();
	smc = smc_tcp_owner(tsk);
	if (!smc)
		return;
	smc->tcp_error_report(tsk);
	smc_watch(smc, tsk);
}

static void smc_watch_data_ready(struct sock *tsk)
{
	struct smc_sock *smc;

	guard(rcu)();
	smc = smc_tcp_owner(tsk);
	if (!smc)
		return;
	smc->tcp_data_ready(tsk);
	smc_watch(smc, tsk);
}

static const struct smc_tcp_cbs smc_watch_cbs = {
	.data_ready = smc_watch_data_ready,
	.error_report = smc_watch_error_report,
};

/**
 * smc_tcp_watch() - notice what TCP tells about an SMC connection
 * @smc: socket, locked, just established
 *
 * The death of TCP (reset, keepalive, user timeout), or data on it. What came
 * before is noticed as well.
 *
 * Context: process, may sleep; takes the lock of the TCP socket.
 */
void smc_tcp_watch(struct smc_sock *smc)
{
	struct sock *tsk = smc->tcp->sk;

	sock_owned_by_me(&smc->sk);
	smc_tcp_hook(smc, &smc_watch_cbs);
	lock_sock(tsk);		/* not in the middle of a FIN */
	smc_watch(smc, tsk);
	release_sock(tsk);
}

/* The attempt has come to a good end. The change of sk_state has woken everybody
 * who waits, once; this is for SIGIO.
 */
static void smc_connect_signal(struct smc_sock *smc, int band)
{
	struct sock *sk = &smc->sk;

	if (smc->use_fallback && smc->tcp->file)
		sk_wake_async(smc->tcp->sk, SOCK_WAKE_IO, band);
	else
		sk_wake_async(sk, SOCK_WAKE_IO, band);
}

static void smc_connect_fail(struct smc_sock *smc, int err)
{
	struct sock *sk = &smc->sk;

	smc_tcp_disconnect(smc);
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	WRITE_ONCE(smc->connect_state, SMC_CONN_FAILED);
	/* pairs with the barrier in poll: the error is seen last */
	smp_wmb();
	WRITE_ONCE(sk->sk_err, err);
	sk->sk_state_change(sk);
	sk_error_report(sk);
}

static void smc_connect_fallback(struct smc_sock *smc, int reason)
{
	smc_tcp_unhook(smc);
	smc_switch_to_fallback(smc, reason);
	WRITE_ONCE(smc->connect_state, SMC_CONN_DONE);
	smc_set_state(smc, SMC_ACTIVE);
	smc_connect_signal(smc, POLL_OUT);
}

/* What can be said of an attempt without a handshake. The socket is locked. */
static void smc_connect_step(struct smc_sock *smc)
{
	struct sock *tsk = smc->tcp->sk;

	sock_owned_by_me(&smc->sk);
	if (smc->connect_state != SMC_CONN_TCP || smc_tcp_syn_sent(tsk))
		return;
	security_sk_clone(tsk, &smc->sk);	/* SO_PEERSEC: who answered */
	if (inet_sk_state_load(tsk) == TCP_CLOSE)
		smc_connect_fail(smc, -(sock_error(tsk) ?: -ECONNABORTED));
	else if (!smc_tcp_agreed(tsk))
		smc_connect_fallback(smc, SMC_DECL_PEERNOSMC);
}

/* the socket was closed during the handshake, which ended with @rc */
static void smc_connect_end_dead(struct smc_sock *smc, int rc)
{
	if (!rc) {
		smc_conn_established(smc);
		smc_close_abort(smc, -ECONNABORTED);
	}
	smc_close_active(smc, 0);
}

/* Run the handshake; the lock is given up meanwhile. */
static void smc_connect_handshake(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;
	int rc;

	WRITE_ONCE(smc->connect_state, SMC_CONN_CLC);
	smc_tcp_unhook(smc);
	release_sock(sk);
	rc = smc_hs_client(smc);
	lock_sock(sk);

	if (sock_flag(sk, SOCK_DEAD)) {
		smc_connect_end_dead(smc, rc);
	} else if (rc > 0) {
		smc_connect_fallback(smc, rc);
	} else if (rc < 0) {
		smc_connect_fail(smc, -rc);
	} else {
		smc_conn_established(smc);
		WRITE_ONCE(smc->connect_state, SMC_CONN_DONE);
		smc_tcp_watch(smc);
		smc_connect_signal(smc, POLL_OUT);
	}
}

/* TCP's end is the connection's, unless SMC has come to its own end before. */
static void smc_tcp_died(struct smc_sock *smc, int err)
{
	switch (smc->sk.sk_state) {
	case SMC_INIT:
	case SMC_LISTEN:
	case SMC_CLOSED:
	case SMC_PROCESSABORT:
		break;
	default:
		smc_close_abort(smc, -err);
	}
}

static void smc_event_work(struct work_struct *work)
{
	struct smc_sock *smc = container_of(work, struct smc_sock, event_work);
	struct sock *sk = &smc->sk;
	bool closed = false;
	int err;

	lock_sock(sk);
	if (smc->connect_state == SMC_CONN_TCP) {
		smc_connect_step(smc);
		if (smc->connect_state == SMC_CONN_TCP &&
		    !smc_tcp_syn_sent(smc->tcp->sk)) {
			smc_connect_handshake(smc);
			closed = smc_sock_over(smc);
		}
	}
	err = READ_ONCE(smc->tcp_err);
	if (err && !smc->use_fallback)
		smc_tcp_died(smc, err);
	release_sock(sk);
	if (closed)
		smc_sock_tcp_release(smc);
	sock_put(sk);
}

/**
 * smc_connect_init_sock() - prepare a new socket for this room
 * @smc: new socket
 */
void smc_connect_init_sock(struct smc_sock *smc)
{
	INIT_WORK(&smc->event_work, smc_event_work);
}

/* Start an attempt. 0: it runs, or has even come to its end. */
static int smc_connect_start(struct smc_sock *smc,
			     struct sockaddr_unsized *addr, int len)
{
	int rc;

	smc_tcp_copy_early(smc);
	smc_tcp_set_syn(smc, true);
	rc = kernel_connect(smc->tcp, addr, len, O_NONBLOCK);
	if (rc && rc != -EINPROGRESS) {
		smc_tcp_set_syn(smc, false);
		return rc;
	}
	/* of a connection before this one */
	WRITE_ONCE(smc->sk.sk_err, 0);
	WRITE_ONCE(smc->connect_state, SMC_CONN_TCP);
	/* on a short way the answer is there already: no worker for it */
	smc_connect_step(smc);
	if (smc->connect_state != SMC_CONN_TCP)
		return 0;
	smc_tcp_hook(smc, &smc_connect_cbs);
	if (!smc_tcp_syn_sent(smc->tcp->sk))
		smc_event_queue(smc);
	return 0;
}

/* Sleep for the end of the attempt, like inet_wait_for_connect(). */
static long smc_connect_sleep(struct smc_sock *smc, long timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = &smc->sk;

	while (smc_connecting(smc)) {
		add_wait_queue(sk_sleep(sk), &wait);
		WRITE_ONCE(smc->connect_waiters, smc->connect_waiters + 1);
		smp_mb();	/* the count is seen, or we see TCP's state */
		smc_connect_step(smc);
		if (smc_connecting(smc)) {
			release_sock(sk);
			timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, timeo);
			lock_sock(sk);
		}
		/* not a waiter any more, for whom events were to be forwarded */
		remove_wait_queue(sk_sleep(sk), &wait);
		WRITE_ONCE(smc->connect_waiters, smc->connect_waiters - 1);
		smp_mb();	/* pairs with smc_connect_state_change() */
		smc_connect_step(smc);
		if (signal_pending(current) || !timeo)
			break;
	}
	return timeo;
}

/* the end of a failed attempt is being told: ready for another one */
static void smc_connect_rearm(struct socket *sock)
{
	struct sock *sk = sock->sk;

	WRITE_ONCE(smc_sk(sk)->connect_state, SMC_CONN_NONE);
	WRITE_ONCE(sk->sk_shutdown, 0);
	sk->sk_disconnects++;
	sock->state = SS_UNCONNECTED;
}

/* The attempt is over: what does this call of connect() return? */
static int smc_connect_outcome(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);
	int rc;

	if (smc->connect_state == SMC_CONN_FAILED) {
		rc = sock_error(sk) ?: -ECONNABORTED;
		smc_connect_rearm(sock);
		return rc;
	}
	sock->state = SS_CONNECTED;
	if (smc->use_fallback)
		smc->tcp->state = SS_CONNECTED;
	else if (sk->sk_state == SMC_CLOSED || sk->sk_state == SMC_PROCESSABORT)
		return sock_error(sk) ?: -ECONNABORTED;
	return 0;
}

static int smc_connect_locked(struct socket *sock,
			      struct sockaddr_unsized *addr, int len, int flags)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);
	int dis = sk->sk_disconnects;
	long timeo;
	int rc;

	switch (sock->state) {
	case SS_CONNECTED:
		return -EISCONN;
	case SS_CONNECTING:
		rc = -EALREADY;
		break;
	case SS_UNCONNECTED:
		if (sk->sk_state != SMC_INIT)
			return -EISCONN;
		rc = smc_connect_start(smc, addr, len);
		if (rc)
			return rc;
		sock->state = SS_CONNECTING;
		rc = -EINPROGRESS;
		break;
	default:
		return -EINVAL;
	}

	timeo = sock_sndtimeo(sk, flags & O_NONBLOCK);
	/* without blocking the first call never tells the outcome */
	if (!timeo && (rc == -EINPROGRESS || smc_connecting(smc)))
		return rc;
	if (smc_connecting(smc)) {
		timeo = smc_connect_sleep(smc, timeo);
		if (dis != sk->sk_disconnects)
			return -EPIPE;
		if (smc_connecting(smc))
			return timeo ? sock_intr_errno(timeo) : rc;
	}
	return smc_connect_outcome(sock);
}

/**
 * smc_connect() - connect(2)
 * @sock: socket
 * @addr: IPv4 or IPv6 address as TCP takes it; AF_UNSPEC disconnects
 * @len: its length in bytes
 * @flags: O_NONBLOCK
 *
 * All results are those of TCP on the same calls.
 *
 * Context: process, may sleep; takes the socket lock.
 * Return: 0; -EINPROGRESS, -EALREADY, -EISCONN, -EINVAL, -ERESTARTSYS,
 * -EINTR; -EPIPE if another thread disconnected; an error of TCP, or of the
 * handshake: -ETIMEDOUT, -ECONNRESET, -EPROTO, -ECONNABORTED.
 */
int smc_connect(struct socket *sock, struct sockaddr_unsized *addr, int len,
		int flags)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);
	int rc;

	/* kernel_connect() copies to a buffer of this size */
	if (len < (int)sizeof(addr->sa_family) ||
	    len > (int)sizeof(struct sockaddr_storage))
		return -EINVAL;

	lock_sock(sk);
	if (smc->use_fallback) {
		release_sock(sk);
		return smc->tcp->ops->connect(smc->tcp, addr, len, flags);
	}
	if (addr->sa_family == AF_UNSPEC)
		rc = smc_disconnect(sock);
	else
		rc = smc_connect_locked(sock, addr, len, flags);
	release_sock(sk);
	return rc;
}

/**
 * smc_connect_wait() - let send or receive wait for a running attempt
 * @smc: socket, locked; the lock is released while sleeping
 * @timeo: jiffies left, updated; 0 does not sleep
 *
 * Context: process, may sleep.
 * Return: 0: no attempt runs (any more); -EAGAIN; -ERESTARTSYS or -EINTR on a
 * signal; -EPIPE if another thread disconnected.
 */
int smc_connect_wait(struct smc_sock *smc, long *timeo)
{
	struct sock *sk = &smc->sk;
	int dis = sk->sk_disconnects;

	sock_owned_by_me(sk);
	if (!smc_connecting(smc))
		return 0;
	if (!*timeo)
		return -EAGAIN;
	*timeo = smc_connect_sleep(smc, *timeo);
	if (dis != sk->sk_disconnects)
		return -EPIPE;
	if (!smc_connecting(smc))
		return 0;
	return *timeo ? sock_intr_errno(*timeo) : -EAGAIN;
}

/* Take back an attempt, or wait for what becomes of it in the worker. */
static void smc_connect_stop(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;

	if (smc->connect_state == SMC_CONN_TCP) {
		smc_tcp_disconnect(smc);
		WRITE_ONCE(smc->connect_state, SMC_CONN_FAILED);
		return;
	}
	tcp_abort(smc->tcp->sk, ECONNRESET);
	release_sock(sk);
	flush_work(&smc->event_work);
	lock_sock(sk);
}

/* Reset a connection over SMC. As the peer may use the rings until it answers,
 * they stay with this socket until it is closed; the program goes on with TCP.
 */
static int smc_disconnect_carried(struct socket *sock)
{
	struct smc_sock *smc = smc_sk(sock->sk);

	smc_tcp_died(smc, ECONNRESET);
	smc_tcp_unhook(smc);
	/* that is no longer the TCP connection of this one */
	smc->conn.tcp_ended = true;
	sock->state = SS_UNCONNECTED;
	smc_switch_to_fallback(smc, SMC_DECL_OPTUNSUPP);
	return smc_tcp_unspec(smc);
}

/**
 * smc_disconnect() - connect(2) to AF_UNSPEC, shutdown(2) while connecting
 * @sock: socket, locked, neither listening nor in fallback; the lock may be
 *	released and taken again
 *
 * A running attempt is stopped, a connection over SMC is reset, and the socket
 * can be used again; in the latter case over TCP only.
 *
 * Context: process, may sleep until a handshake has noticed.
 * Return: 0 or an error of TCP.
 */
int smc_disconnect(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);
	bool running = smc_connecting(smc);

	sock_owned_by_me(sk);
	sk->sk_disconnects++;
	while (smc_connecting(smc))
		smc_connect_stop(smc);

	if (smc->use_fallback)
		return smc_tcp_unspec(smc);
	if (smc->connect_state == SMC_CONN_DONE)
		return smc_disconnect_carried(sock);
	if (smc->connect_state == SMC_CONN_NONE)
		smc_tcp_disconnect(smc);
	smc_connect_rearm(sock);
	if (running) {
		/* TCP leaves this behind, too */
		WRITE_ONCE(sk->sk_err, ECONNRESET);
		sk->sk_state_change(sk);
		sk_error_report(sk);
	}
	return 0;
}

/**
 * smc_connect_cancel() - end an attempt because the socket is closed
 * @smc: socket in release, locked, in state INIT
 *
 * Does not wait.
 *
 * Context: process, may sleep; takes the lock of the TCP socket.
 * Return: true if a worker is in the handshake: it finds SOCK_DEAD afterwards
 * and closes the socket; false if the caller has to.
 */
bool smc_connect_cancel(struct smc_sock *smc)
{
	sock_owned_by_me(&smc->sk);
	switch (smc->connect_state) {
	case SMC_CONN_CLC:
		tcp_abort(smc->tcp->sk, ECONNABORTED);
		return true;
	case SMC_CONN_TCP:
		WRITE_ONCE(smc->connect_state, SMC_CONN_NONE);
		smc_tcp_unhook(smc);
		if (cancel_work(&smc->event_work))
			sock_put(&smc->sk);	/* the caller has its own */
		return false;
	default:
		return false;
	}
}

/**
 * smc_sock_drop() - get rid of a socket that never had a file
 * @smc: child of a listener, not on its lists any more; the reference of the
 *	caller is consumed
 *
 * The peer sees a reset, as when TCP drops a connection from its accept queue.
 *
 * Context: process, may sleep; takes the socket lock.
 */
void smc_sock_drop(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;
	bool closed;

	/* the listener may be locked */
	lock_sock_nested(sk, SINGLE_DEPTH_NESTING);
	if (!smc->use_fallback && sk->sk_state != SMC_INIT)
		smc_close_abort(smc, -ECONNABORTED);
	else if (smc->tcp)	/* NULL: it was made for none */
		tcp_abort(smc->tcp->sk, ECONNABORTED);
	smc_close_active(smc, 0);
	sock_orphan(sk);
	closed = smc_sock_over(smc);
	release_sock(sk);
	if (closed)
		smc_sock_tcp_release(smc);
	sock_put(sk);
}
