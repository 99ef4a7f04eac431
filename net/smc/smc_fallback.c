// SPDX-License-Identifier: GPL-2.0
/*
 * Fallback: hand a socket over to TCP (layer 6).
 *
 * Whoever decides that a connection is not carried by SMC calls
 * smc_switch_to_fallback() once, under the socket lock, when the TCP stream
 * stands exactly where the application's bytes begin. From then on all calls go
 * to the TCP socket: those that come by the file because its private data now
 * is the TCP socket, all others because every operation looks at use_fallback.
 *
 * Sleepers and pollers that came before sleep on the wait queue of the SMC
 * socket. They are never moved. Instead the four callbacks of the TCP socket
 * wake its own queue and then, with the same key, the old one, until that is
 * empty: no one new comes there. Then TCP has its own callbacks again, so an
 * ordinary connection over TCP costs what TCP costs. Signal driven
 * I/O is different: its list belongs to the file, which is TCP's now, so the
 * list moves.
 *
 * The file is given back by smc_fallback_take_file() when the last descriptor
 * is closed; release comes by the inode, so it always enters SMC.
 */
#include <linux/fs.h>
#include <linux/poll.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "smc_setup.h"
#include "smc_stats.h"
#include "smc_tcp.h"
#include "smc_trace.h"

/* Wake those who wait at the SMC socket for an event of the TCP socket, and
 * stop to forward when there are none left: new ones wait at TCP. RCU read side.
 */
static void smc_fwd_wake(struct smc_sock *smc, struct sock *tsk, __poll_t key,
			 int how, int band)
{
	struct socket_wq *wq = rcu_dereference(smc->sk.sk_wq);
	struct socket *tcp = READ_ONCE(smc->tcp);
	bool wanted = false;

	if (skwq_has_sleeper(wq)) {
		wanted = true;
		if (key)
			wake_up_interruptible_poll(&wq->wait, key);
		else
			wake_up_interruptible_all(&wq->wait);
	}
	/* a fcntl() that was under way when the list moved */
	if (wq && unlikely(READ_ONCE(wq->fasync_list))) {
		wanted = true;
		sock_wake_async(wq, how, band);
	}
	/* without a file everybody waits here */
	if (!wanted && tcp && READ_ONCE(tcp->file))
		smc_tcp_restore(smc, tsk);
}

static void smc_fwd_state_change(struct sock *tsk)
{
	struct smc_sock *smc;

	guard(rcu)();
	smc = smc_tcp_owner(tsk);
	if (!smc)
		return;
	smc->tcp_state_change(tsk);
	smc_fwd_wake(smc, tsk, 0, SOCK_WAKE_IO, POLL_HUP);
}

static void smc_fwd_data_ready(struct sock *tsk)
{
	struct smc_sock *smc;

	guard(rcu)();
	smc = smc_tcp_owner(tsk);
	if (!smc)
		return;
	smc->tcp_data_ready(tsk);
	smc_fwd_wake(smc, tsk, EPOLLIN | EPOLLPRI | EPOLLRDNORM |
		     EPOLLRDBAND, SOCK_WAKE_WAITD, POLL_IN);
}

static void smc_fwd_write_space(struct sock *tsk)
{
	struct smc_sock *smc;

	guard(rcu)();
	smc = smc_tcp_owner(tsk);
	if (!smc)
		return;
	smc->tcp_write_space(tsk);
	/* TCP's own test: no event for each ACK */
	if (sk_stream_is_writeable(tsk))
		smc_fwd_wake(smc, tsk, EPOLLOUT | EPOLLWRNORM |
			     EPOLLWRBAND, SOCK_WAKE_SPACE, POLL_OUT);
}

static void smc_fwd_error_report(struct sock *tsk)
{
	struct smc_sock *smc;
	struct socket *tcp;

	guard(rcu)();
	smc = smc_tcp_owner(tsk);
	if (!smc)
		return;
	smc->tcp_error_report(tsk);
	/* without a file SO_ERROR is asked of the SMC socket */
	tcp = READ_ONCE(smc->tcp);
	if (tcp && !READ_ONCE(tcp->file))
		WRITE_ONCE(smc->sk.sk_err, READ_ONCE(tsk->sk_err));
	smc_fwd_wake(smc, tsk, EPOLLERR, SOCK_WAKE_IO, POLL_ERR);
}

static const struct smc_tcp_cbs smc_fwd_cbs = {
	.state_change = smc_fwd_state_change,
	.data_ready = smc_fwd_data_ready,
	.write_space = smc_fwd_write_space,
	.error_report = smc_fwd_error_report,
};

/* Both lists are stable: fcntl() takes the lock of the socket it finds. */
static void smc_fallback_move_fasync(struct socket *from, struct socket *to)
{
	struct sock *tsk = to->sk;

	if (!from->wq.fasync_list)
		return;
	lock_sock(tsk);
	/* the entries are complete for those who find them on the new list */
	smp_store_release(&to->wq.fasync_list, from->wq.fasync_list);
	WRITE_ONCE(from->wq.fasync_list, NULL);
	sock_set_flag(tsk, SOCK_FASYNC);
	release_sock(tsk);
	sock_reset_flag(from->sk, SOCK_FASYNC);
}

/**
 * smc_fallback_give_file() - let the file of a socket belong to TCP
 * @smc: socket in fallback, locked
 * @sock: its struct socket; may be without a file
 *
 * Calls that entered SMC before go on there and find use_fallback. Forwarding
 * of events to those who already wait is the caller's business; an accepted
 * socket has none.
 *
 * Context: process, may sleep.
 */
void smc_fallback_give_file(struct smc_sock *smc, struct socket *sock)
{
	sock_owned_by_me(&smc->sk);
	if (!sock->file)
		return;
	WRITE_ONCE(smc->tcp->file, sock->file);
	smc_fallback_move_fasync(sock, smc->tcp);
	WRITE_ONCE(sock->file->private_data, smc->tcp);
}

/**
 * smc_fallback_take_file() - undo smc_fallback_give_file() before the release
 * @smc: socket, locked
 * @sock: its struct socket, in release
 *
 * Context: process, may sleep.
 */
void smc_fallback_take_file(struct smc_sock *smc, struct socket *sock)
{
	struct file *file = smc->tcp->file;

	sock_owned_by_me(&smc->sk);
	if (!file)
		return;
	WRITE_ONCE(smc->tcp->file, NULL);
	WRITE_ONCE(file->private_data, sock);
	/* an fcntl() or the last fput() may have met the other list */
	fasync_helper(-1, file, 0, &smc->tcp->wq.fasync_list);
	fasync_helper(-1, file, 0, &sock->wq.fasync_list);
}

static void smc_fallback_count(struct smc_sock *smc, int reason_code)
{
	const struct net *net = sock_net(&smc->sk);
	bool server = smc->listen_smc;

	smc_stats_fallback(net, server, reason_code);
	if (server)
		SMC_INC(net, SRV_FALLBACK);
	else
		SMC_INC(net, CLNT_FALLBACK);
	trace_smc_switch_to_fallback(smc, reason_code);
}

/**
 * smc_switch_to_fallback() - a connection goes on over TCP
 * @smc: socket, locked; in state INIT and nothing of it is joined to a group,
 *	or its SMC connection was reset and the application has left it.
 *	For a child that is not accepted listen_smc is set. A second call does
 *	nothing
 * @reason_code: enum smc_reason
 *
 * The settings of the application that matter from now on reach the TCP
 * socket, and then the file. Waking those who wait for the outcome is up to
 * the caller. RFC 7609, 3.3.
 *
 * Context: process, may sleep; takes the lock of the TCP socket.
 */
noinline void smc_switch_to_fallback(struct smc_sock *smc, int reason_code)
{
	struct sock *sk = &smc->sk;

	sock_owned_by_me(sk);
	if (smc->use_fallback)
		return;
	smc_tcp_copy_late(smc);
	WRITE_ONCE(smc->fallback_rsn, reason_code);
	/* pairs with the reads in the lockless operations: TCP is ready */
	smp_store_release(&smc->use_fallback, true);
	smc_fallback_count(smc, reason_code);

	/* a child has neither file nor waiters: nothing to forward */
	if (!sk->sk_socket)
		return;
	/* The barrier in there pairs with that of poll: who is not seen waiting
	 * sees use_fallback.
	 */
	if (wq_has_sleeper(sk_sleep(sk)) || !sk->sk_socket->file)
		smc_tcp_hook(smc, &smc_fwd_cbs);
	smc_fallback_give_file(smc, sk->sk_socket);
}
