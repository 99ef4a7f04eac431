// SPDX-License-Identifier: GPL-2.0
/*
 * The internal TCP socket of an SMC socket (layer 6).
 *
 * Each SMC socket has one from its creation on. It makes the connection, gives
 * it its addresses, carries the handshake, and everything after a fallback.
 *
 * Ownership: smc->tcp belongs to the SMC socket. It is released exactly once,
 * by smc_sock_tcp_release(), when the file is gone and nobody needs it any
 * more: at close(2), by the worker that still had a handshake to end, or by the
 * data path when a closing connection has finished.
 *
 * Callbacks: they are replaced and restored under sk_callback_lock of the TCP
 * socket, which also covers sk_user_data (pointing to the SMC socket, and
 * NOCOPY so that children do not get it). They run in any context, often with
 * the slock of the TCP socket held, and never take the lock of the SMC socket.
 * They find it under RCU, which works because SMC sockets are freed by RCU.
 */
#include <linux/module.h>
#include <linux/security.h>
#include <linux/tcp.h>
#include <net/tcp.h>

#include "smc_net.h"
#include "smc_tcp.h"

/* flags with a meaning for the segments of the handshake */
#define SMC_TCP_EARLY_FLAGS	(BIT(SOCK_KEEPOPEN) | BIT(SOCK_BROADCAST) | \
				 BIT(SOCK_LOCALROUTE) | BIT(SOCK_DBG) | \
				 BIT(SOCK_NOFCS))
/* flags with a meaning for the data and the end of a connection */
#define SMC_TCP_LATE_FLAGS	(BIT(SOCK_LINGER) | BIT(SOCK_URGINLINE))

/**
 * smc_tcp_create() - create the internal TCP socket
 * @smc: new socket, not reachable yet
 * @family: AF_INET or AF_INET6
 *
 * Context: process, of the task that creates @smc: its cgroup and user id go
 * to the TCP socket.
 * Return: 0 or a negative errno of the socket creation.
 */
int smc_tcp_create(struct smc_sock *smc, int family)
{
	int rc;

	rc = sock_create_kern(sock_net(&smc->sk), family, SOCK_STREAM,
			      IPPROTO_TCP, &smc->tcp);
	if (rc)
		return rc;
	/* its timers may outlive us: it needs a hold on the namespace itself */
	if (smc->sk.sk_net_refcnt)
		sk_net_refcnt_upgrade(smc->tcp->sk);
	return 0;
}

/* Somebody (a TLS layer after a fallback) may have put his callbacks over ours
 * and will restore ours when we are gone. They do nothing then, but their code
 * has to stay.
 */
static void smc_tcp_restore_one(void **slot, void *ours, void *original)
{
	if (!ours)
		return;
	if (*slot == ours)
		*slot = original;
	else
		__module_get(THIS_MODULE);
}

/**
 * smc_tcp_restore() - restore the callbacks of the TCP socket
 * @smc: socket
 * @tsk: its TCP socket; smc->tcp may be gone
 *
 * Idempotent. A callback that already runs on another CPU may still use @smc
 * in its RCU section; one that takes the callback lock does not.
 *
 * Context: process or softirq; not under the callback lock.
 */
void smc_tcp_restore(struct smc_sock *smc, struct sock *tsk)
{
	const struct smc_tcp_cbs *cbs;

	write_lock_bh(&tsk->sk_callback_lock);
	cbs = smc->tcp_cbs;
	if (cbs) {
		smc_tcp_restore_one((void **)&tsk->sk_state_change,
				    cbs->state_change, smc->tcp_state_change);
		smc_tcp_restore_one((void **)&tsk->sk_data_ready,
				    cbs->data_ready, smc->tcp_data_ready);
		smc_tcp_restore_one((void **)&tsk->sk_write_space,
				    cbs->write_space, smc->tcp_write_space);
		smc_tcp_restore_one((void **)&tsk->sk_error_report,
				    cbs->error_report, smc->tcp_error_report);
		smc->tcp_cbs = NULL;
		rcu_assign_sk_user_data(tsk, NULL);
	}
	write_unlock_bh(&tsk->sk_callback_lock);
}

/**
 * smc_sock_tcp_release() - give up the internal TCP socket
 * @smc: socket that was closed, i.e. smc_close_active() was called; else
 *	nothing is done, as close will call again
 *
 * The callbacks are restored and the socket is closed like one of a program,
 * with its SO_LINGER setting. Idempotent. The caller has a reference of @smc;
 * no handshake runs.
 *
 * Context: process, may sleep; takes the lock of @smc. That of a listener may
 * be held.
 */
void smc_sock_tcp_release(struct smc_sock *smc)
{
	struct smc_net *sn = smc_net(sock_net(&smc->sk));
	struct socket *tcp = NULL;

	lock_sock_nested(&smc->sk, SINGLE_DEPTH_NESTING);
	spin_lock_bh(&sn->sk_lock);
	if (smc->conn.released) {
		tcp = smc->tcp;
		smc->tcp = NULL;
	}
	spin_unlock_bh(&sn->sk_lock);
	release_sock(&smc->sk);
	if (!tcp)
		return;

	smc_tcp_restore(smc, tcp->sk);
	tcp->file = NULL;	/* else the inode would not be freed */
	sock_release(tcp);
}

/**
 * smc_tcp_hook() - put callbacks into the TCP socket
 * @smc: socket; smc->tcp is there
 * @cbs: callbacks; those of an earlier call are replaced
 *
 * The originals are saved by the first call only, so hooking twice is safe.
 * Events between the last look at the TCP socket and this call have to be
 * looked for by the caller afterwards.
 *
 * Context: process or softirq; not under the callback lock.
 */
void smc_tcp_hook(struct smc_sock *smc, const struct smc_tcp_cbs *cbs)
{
	struct sock *tsk = smc->tcp->sk;

	write_lock_bh(&tsk->sk_callback_lock);
	if (!smc->tcp_cbs) {
		smc->tcp_state_change = tsk->sk_state_change;
		smc->tcp_data_ready = tsk->sk_data_ready;
		smc->tcp_write_space = tsk->sk_write_space;
		smc->tcp_error_report = tsk->sk_error_report;
		__rcu_assign_sk_user_data_with_flags(tsk, smc,
						     SK_USER_DATA_NOCOPY);
	}
	smc->tcp_cbs = cbs;
	tsk->sk_state_change = cbs->state_change ?: smc->tcp_state_change;
	tsk->sk_data_ready = cbs->data_ready ?: smc->tcp_data_ready;
	tsk->sk_write_space = cbs->write_space ?: smc->tcp_write_space;
	tsk->sk_error_report = cbs->error_report ?: smc->tcp_error_report;
	write_unlock_bh(&tsk->sk_callback_lock);
}

/**
 * smc_tcp_unhook() - restore the callbacks of the TCP socket
 * @smc: socket; smc->tcp is there
 *
 * Context: as smc_tcp_restore()
 */
void smc_tcp_unhook(struct smc_sock *smc)
{
	smc_tcp_restore(smc, smc->tcp->sk);
}

/**
 * smc_tcp_set_syn() - let TCP offer SMC, or not
 * @smc: socket whose TCP socket is neither connected nor listening
 * @on: put the option into SYN, or answer it as a listener
 *
 * RFC 7609, 3.1. After the handshake of TCP the flag tells what was agreed.
 *
 * Context: process, may sleep; takes the lock of the TCP socket.
 */
void smc_tcp_set_syn(struct smc_sock *smc, bool on)
{
	struct sock *tsk = smc->tcp->sk;

	lock_sock(tsk);
	tcp_sk(tsk)->syn_smc = on;
	release_sock(tsk);
}

static void smc_tcp_copy_flags(struct sock *tsk, const struct sock *sk,
			       unsigned long mask)
{
	sock_owned_by_me(tsk);
	tsk->sk_flags = (tsk->sk_flags & ~mask) | (sk->sk_flags & mask);
}

/**
 * smc_tcp_copy_early() - settings for the handshake of TCP
 * @smc: socket, locked; its TCP socket is about to be bound, to connect or to
 *	listen
 *
 * setsockopt(2) hands these on at once; this catches what was set past it, by
 * users in the kernel. Errors, timeouts and SO_RCVLOWAT are never copied here:
 * they belong to the connection, not to the handshake.
 *
 * Context: process, may sleep; takes the lock of the TCP socket.
 */
void smc_tcp_copy_early(struct smc_sock *smc)
{
	struct sock *tsk = smc->tcp->sk;
	struct sock *sk = &smc->sk;
	int dev;

	sock_owned_by_me(sk);
	dev = READ_ONCE(sk->sk_bound_dev_if);
	if (dev != READ_ONCE(tsk->sk_bound_dev_if))
		sock_bindtoindex(tsk, dev, true);

	lock_sock(tsk);
	smc_tcp_copy_flags(tsk, sk, SMC_TCP_EARLY_FLAGS);
	tsk->sk_reuse = sk->sk_reuse;
	tsk->sk_reuseport = sk->sk_reuseport;
	WRITE_ONCE(tsk->sk_priority, READ_ONCE(sk->sk_priority));
	WRITE_ONCE(tsk->sk_mark, READ_ONCE(sk->sk_mark));
	/* packets bear the label of the program's socket, not of the kernel's */
	security_sk_clone(sk, tsk);
	release_sock(tsk);
}

/**
 * smc_tcp_copy_late() - settings for data over TCP
 * @smc: socket, locked, that falls back
 *
 * Context: process, may sleep; takes the lock of the TCP socket.
 */
void smc_tcp_copy_late(struct smc_sock *smc)
{
	struct sock *tsk = smc->tcp->sk;
	struct sock *sk = &smc->sk;

	sock_owned_by_me(sk);
	lock_sock(tsk);
	smc_tcp_copy_flags(tsk, sk, SMC_TCP_LATE_FLAGS);
	WRITE_ONCE(tsk->sk_lingertime, READ_ONCE(sk->sk_lingertime));
	WRITE_ONCE(tsk->sk_rcvtimeo, READ_ONCE(sk->sk_rcvtimeo));
	WRITE_ONCE(tsk->sk_sndtimeo, READ_ONCE(sk->sk_sndtimeo));
	WRITE_ONCE(tsk->sk_rcvlowat, READ_ONCE(sk->sk_rcvlowat));
	WRITE_ONCE(tsk->sk_peek_off, READ_ONCE(sk->sk_peek_off));
	/* whatever else it connects to, nobody would speak CLC */
	tcp_sk(tsk)->syn_smc = 0;
	release_sock(tsk);
}

/**
 * smc_tcp_unspec() - connect(2) to AF_UNSPEC for the TCP socket
 * @smc: socket
 *
 * Context: process, may sleep; takes the lock of the TCP socket.
 * Return: result of TCP.
 */
int smc_tcp_unspec(struct smc_sock *smc)
{
	struct sockaddr_storage unspec = { .ss_family = AF_UNSPEC };

	return kernel_connect(smc->tcp, (struct sockaddr_unsized *)&unspec,
			      sizeof(struct sockaddr), O_NONBLOCK);
}

/**
 * smc_tcp_disconnect() - make the TCP socket fit for another attempt
 * @smc: socket; nobody else uses its TCP socket for a connection
 *
 * Ends what the TCP socket was doing, with a reset if there is a peer, and
 * forgets its error. Bindings and settings stay. Callbacks are restored.
 *
 * Context: process, may sleep; takes the lock of the TCP socket.
 */
void smc_tcp_disconnect(struct smc_sock *smc)
{
	smc_tcp_unhook(smc);
	smc_tcp_unspec(smc);
	sock_error(smc->tcp->sk);
	smc_tcp_set_syn(smc, false);
}
