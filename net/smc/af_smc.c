// SPDX-License-Identifier: GPL-2.0
/*
 * The AF_SMC socket family, IPPROTO_SMC in the inet families, and the
 * operations of all SMC sockets (layer 7).
 *
 * An SMC socket has a TCP socket inside, which makes the connection. Each
 * operation asks, in this order: has the socket fallen back (then it is TCP's
 * business), is a connection attempt running, is it an SMC connection (then the
 * data path does it). To the application all results are those of TCP.
 *
 * The TCP socket exists as long as the file, so operations use it without a
 * lock. RFC 7609.
 */
#include <linux/bpf-cgroup.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <net/inet_sock.h>
#include <net/protocol.h>
#include <net/tcp.h>

#include "smc_af.h"
#include "smc_data.h"
#include "smc_reason.h"
#include "smc_setup.h"
#include "smc_tcp.h"

/* The last descriptor of a socket was closed. Blocks for SO_LINGER only. What was
 * written before is delivered by the data path, which then ends the TCP socket;
 * an attempt in its handshake is ended by its worker; everything else ends here.
 */
static noinline int smc_release(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc;
	bool busy = false;
	long linger = 0;
	bool closed;

	if (!sk)
		return 0;
	smc = smc_sk(sk);
	if (sk_is_inet(sk) && !sk->sk_kern_sock)
		BPF_CGROUP_RUN_PROG_INET_SOCK_RELEASE(sk);
	if (sock_flag(sk, SOCK_LINGER) && !(current->flags & PF_EXITING))
		linger = sk->sk_lingertime;

	lock_sock(sk);
	if (sk->sk_state == SMC_LISTEN)
		smc_listen_stop(smc);
	if (smc->use_fallback)
		smc_fallback_take_file(smc, sock);
	if (sk->sk_state == SMC_INIT)
		busy = smc_connect_cancel(smc);
	if (!busy)
		smc_close_active(smc, smc->use_fallback ? 0 : linger);
	sock_orphan(sk);
	closed = smc_sock_over(smc) || smc->use_fallback;
	release_sock(sk);

	if (closed)
		smc_sock_tcp_release(smc);
	sock->sk = NULL;
	sock_put(sk);
	return 0;
}

static int smc_bind(struct socket *sock, struct sockaddr_unsized *addr, int len)
{
	struct smc_sock *smc = smc_sk(sock->sk);
	int rc;

	/* kernel_bind() copies to a buffer of this size */
	if (len < 0 || len > (int)sizeof(struct sockaddr_storage))
		return -EINVAL;
	lock_sock(sock->sk);
	if (!smc->use_fallback && sock->sk->sk_state == SMC_INIT)
		smc_tcp_copy_early(smc);
	rc = kernel_bind(smc->tcp, addr, len);
	release_sock(sock->sk);
	return rc;
}

static int smc_connect_op(struct socket *sock, struct sockaddr_unsized *addr,
			  int len, int flags)
{
	struct sock *sk = sock->sk;

	/* AF_UNSPEC ends a listener, too */
	if (len >= (int)sizeof(addr->sa_family) &&
	    addr->sa_family == AF_UNSPEC) {
		lock_sock(sk);
		if (sk->sk_state == SMC_LISTEN)
			smc_listen_stop(smc_sk(sk));
		release_sock(sk);
	}
	return smc_connect(sock, addr, len, flags);
}

static int smc_getname(struct socket *sock, struct sockaddr *addr, int peer)
{
	struct smc_sock *smc = smc_sk(sock->sk);

	/* TCP's state is ahead of that of the attempt, and behind its end */
	if (peer == 1 && !smc->use_fallback &&
	    (smc_connecting(smc) || smc_close_over(smc)))
		return -ENOTCONN;
	return smc->tcp->ops->getname(smc->tcp, addr, peer);
}

static int smc_shutdown_locked(struct socket *sock, int how)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);

	switch (sk->sk_state) {
	case SMC_LISTEN:
		if (how != SHUT_WR)
			smc_listen_stop(smc);
		return 0;
	case SMC_INIT:
		if (smc_connecting(smc))
			return smc_disconnect(sock);
		/* a failed attempt that was not told will not be, as in TCP */
		if (sock->state == SS_CONNECTING)
			sock->state = SS_DISCONNECTING;
		WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | (how + 1));
		sk->sk_state_change(sk);
		return -ENOTCONN;
	default:
		return smc_close_shutdown(smc, how);
	}
}

static int smc_shutdown(struct socket *sock, int how)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);
	int rc;

	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	lock_sock(sk);
	if (smc->use_fallback)
		rc = kernel_sock_shutdown(smc->tcp, how);
	else
		rc = smc_shutdown_locked(sock, how);
	release_sock(sk);
	return rc;
}

/* MSG_FASTOPEN: data in the SYN is something only TCP can do. 0: go on. */
static int smc_send_fastopen(struct socket *sock)
{
	struct smc_sock *smc = smc_sk(sock->sk);

	if (smc->use_fallback)
		return 0;
	if (smc_connecting(smc))
		return -EALREADY;
	if (sock->state != SS_UNCONNECTED || sock->sk->sk_state != SMC_INIT)
		return -EISCONN;
	smc_switch_to_fallback(smc, SMC_DECL_OPTUNSUPP);
	return 0;
}

static int smc_send_ready(struct socket *sock, struct msghdr *msg)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);
	long timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	int rc;

	if (msg->msg_flags & MSG_FASTOPEN)
		return smc_send_fastopen(sock);
	rc = smc_connect_wait(smc, &timeo);
	if (rc || smc->use_fallback)
		return rc;
	if (sk->sk_state == SMC_INIT || sk->sk_state == SMC_LISTEN)
		return -EPIPE;
	return 0;
}

static int smc_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);
	int rc;

	lock_sock(sk);
	rc = smc_send_ready(sock, msg);
	if (!rc && smc->use_fallback) {
		release_sock(sk);
		return smc->tcp->ops->sendmsg(smc->tcp, msg, len);
	}
	if (rc)
		rc = sk_stream_error(sk, msg->msg_flags, rc);
	else
		rc = smc_tx_sendmsg(smc, msg, len);
	release_sock(sk);
	return rc;
}

/* 1: there may be data. Else the result of a call that receives. */
static int smc_recv_ready(struct sock *sk, bool nonblock)
{
	struct smc_sock *smc = smc_sk(sk);
	long timeo = sock_rcvtimeo(sk, nonblock);
	int rc;

	rc = smc_connect_wait(smc, &timeo);
	if (rc && rc != -EPIPE)
		return rc;
	if (smc->use_fallback)
		return 1;
	switch (sk->sk_state) {
	case SMC_INIT:
		rc = sock_error(sk);
		if (!rc && !(sk->sk_shutdown & RCV_SHUTDOWN))
			rc = -ENOTCONN;
		return rc;
	case SMC_LISTEN:
		return -ENOTCONN;
	default:
		return 1;
	}
}

/* what is left in the socket, for TCP_INQ and io_uring */
static void smc_recv_tell_left(const struct smc_sock *smc, struct msghdr *msg)
{
	bool inq = tcp_sk(smc->tcp->sk)->recvmsg_inq;

	if (likely(!inq && !msg->msg_get_inq))
		return;
	msg->msg_inq = smc_rx_left(smc);
	if (inq)
		put_cmsg(msg, SOL_TCP, TCP_CM_INQ, sizeof(msg->msg_inq),
			 &msg->msg_inq);
}

static int smc_recvmsg(struct socket *sock, struct msghdr *msg, size_t len,
		       int flags)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);
	int rc;

	if (unlikely(flags & MSG_ERRQUEUE))
		return smc->tcp->ops->recvmsg(smc->tcp, msg, len, flags);

	lock_sock(sk);
	rc = smc_recv_ready(sk, flags & MSG_DONTWAIT);
	if (rc > 0 && smc->use_fallback) {
		release_sock(sk);
		return smc->tcp->ops->recvmsg(smc->tcp, msg, len, flags);
	}
	if (rc > 0)
		rc = smc_rx_recvmsg(smc, msg, len, flags);
	release_sock(sk);
	if (rc >= 0)
		smc_recv_tell_left(smc, msg);
	return rc;
}

static ssize_t smc_splice_read_op(struct socket *sock, loff_t *ppos,
				  struct pipe_inode_info *pipe, size_t len,
				  unsigned int flags)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);
	bool nonblock;
	ssize_t rc;

	if (unlikely(*ppos))
		return -ESPIPE;
	/* SPLICE_F_NONBLOCK is about the pipe */
	nonblock = sock->file && sock->file->f_flags & O_NONBLOCK;
	lock_sock(sk);
	rc = smc_recv_ready(sk, nonblock);
	if (rc > 0 && smc->use_fallback) {
		release_sock(sk);
		return smc->tcp->ops->splice_read(smc->tcp, ppos, pipe, len,
						  flags);
	}
	if (rc > 0)
		rc = smc_splice_read(smc, ppos, pipe, len, flags, nonblock);
	release_sock(sk);
	return rc;
}

/* The source of a splice or sendfile has ended early. The last portion came with
 * MSG_MORE and nothing will follow.
 */
static void smc_splice_eof_op(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);

	lock_sock(sk);
	if (smc->use_fallback)
		smc->tcp->ops->splice_eof(smc->tcp);
	else if (sk->sk_state != SMC_INIT && sk->sk_state != SMC_LISTEN)
		smc_tx_push(smc);
	release_sock(sk);
}

static __poll_t smc_poll_send(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);

	if (smc_tx_writable(smc))
		return EPOLLOUT | EPOLLWRNORM;
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	set_bit(SOCK_NOSPACE, &sock->flags);
	/* space that became free before the marks were there brings no event */
	smp_mb__after_atomic();
	if (smc_tx_writable(smc))
		return EPOLLOUT | EPOLLWRNORM;
	return 0;
}

static __poll_t smc_poll_carried(struct socket *sock, u8 shutdown)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);
	__poll_t mask = 0;
	u32 target;

	/* more than the ring holds would never be there */
	target = min_t(u32, sock_rcvlowat(sk, 0, INT_MAX),
		       READ_ONCE(smc->conn.member.rcv_size) ?: INT_MAX);
	if (smc_rx_avail(smc) >= target)
		mask |= EPOLLIN | EPOLLRDNORM;
	if (shutdown & SEND_SHUTDOWN)
		mask |= EPOLLOUT | EPOLLWRNORM;
	else
		mask |= smc_poll_send(sock);
	if (smc_rx_urgent(smc))
		mask |= EPOLLPRI;
	return mask;
}

static __poll_t smc_poll(struct file *file, struct socket *sock,
			 poll_table *wait)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);
	__poll_t mask = 0;
	u8 shutdown;
	int state;

	sock_poll_wait(file, sock, wait);
	/* from here on events of TCP are forwarded to our queue */
	if (smp_load_acquire(&smc->use_fallback))
		return smc->tcp->ops->poll(file, smc->tcp, wait);

	/* whoever sets a state publishes before what led to it */
	state = smp_load_acquire(&sk->sk_state);
	if (state == SMC_LISTEN)
		return list_empty_careful(&smc->accept_q) ? 0 :
		       EPOLLIN | EPOLLRDNORM;

	shutdown = READ_ONCE(sk->sk_shutdown);
	if (shutdown == SHUTDOWN_MASK || state == SMC_CLOSED ||
	    (state == SMC_INIT && !smc_connecting(smc)))
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (state != SMC_INIT)
		mask |= smc_poll_carried(sock, shutdown);
	else if (!smc_connecting(smc))
		mask |= EPOLLOUT | EPOLLWRNORM;
	/* pairs with the barrier before sk_err is set */
	smp_rmb();
	if (READ_ONCE(sk->sk_err))
		mask |= EPOLLERR;
	return mask;
}

#ifdef CONFIG_COMPAT
#define SMC_COMPAT_IOCTL	.compat_ioctl = smc_compat_ioctl,
#else
#define SMC_COMPAT_IOCTL
#endif

#define SMC_PROTO_OPS(fam)						\
	.family		= (fam),					\
	.owner		= THIS_MODULE,					\
	.release	= smc_release,					\
	.bind		= smc_bind,					\
	.connect	= smc_connect_op,				\
	.socketpair	= sock_no_socketpair,				\
	.accept		= smc_accept,					\
	.getname	= smc_getname,					\
	.poll		= smc_poll,					\
	.ioctl		= smc_ioctl,					\
	SMC_COMPAT_IOCTL						\
	.gettstamp	= sock_gettstamp,				\
	.listen		= smc_listen,					\
	.shutdown	= smc_shutdown,					\
	.setsockopt	= smc_setsockopt,				\
	.getsockopt	= smc_getsockopt,				\
	.sendmsg	= smc_sendmsg,					\
	.recvmsg	= smc_recvmsg,					\
	.mmap		= sock_no_mmap,					\
	.splice_read	= smc_splice_read_op,				\
	.splice_eof	= smc_splice_eof_op,				\
	.set_rcvlowat	= smc_set_rcvlowat,				\
	.set_peek_off	= sk_set_peek_off

static const struct proto_ops smc_ops = {
	SMC_PROTO_OPS(PF_SMC),
};

static const struct proto_ops smc_inet_ops = {
	SMC_PROTO_OPS(PF_INET),
};

/* Make an SMC socket of a new sock. On errors sk_common_release() frees what is
 * there.
 */
static int smc_setup(struct sock *sk, int family)
{
	struct smc_sock *smc = smc_sk(sk);
	int rc;

	smc_sk_init(sk);
	smc_connect_init_sock(smc);
	smc_listen_init_sock(smc);
	set_bit(SOCK_CUSTOM_SOCKOPT, &sk->sk_socket->flags);
	rc = smc_tcp_create(smc, family);
	if (rc)
		return rc;
	smc_sk_publish(sk);
	return 0;
}

/* proto.init, of the inet families only */
static int smc_inet_init_sock(struct sock *sk)
{
	return smc_setup(sk, sk->sk_family);
}

/* proto.destroy: the creation of a socket failed late */
static void smc_destroy(struct sock *sk)
{
	lock_sock(sk);
	smc_close_active(smc_sk(sk), 0);
	release_sock(sk);
	smc_sock_tcp_release(smc_sk(sk));
}

#define SMC_PROTO(_name, _type)						\
	.name		= (_name),					\
	.owner		= THIS_MODULE,					\
	.init		= smc_inet_init_sock,				\
	.destroy	= smc_destroy,					\
	.unhash		= smc_sk_unhash,				\
	.ioctl		= smc_prot_ioctl,				\
	.release_cb	= smc_conn_release_cb,				\
	.obj_size	= sizeof(_type)

enum { SMC_P_SMC, SMC_P_SMC6, SMC_P_INET, SMC_P_INET6 };

static struct proto smc_protos[] = {
	[SMC_P_SMC] = { SMC_PROTO("SMC", struct smc_sock) },
	[SMC_P_SMC6] = { SMC_PROTO("SMC6", struct smc_sock) },
	[SMC_P_INET] = { SMC_PROTO("INET_SMC", struct smc_sock) },
#if IS_ENABLED(CONFIG_IPV6)
	[SMC_P_INET6] = {
		SMC_PROTO("INET6_SMC", struct smc6_sock),
		.ipv6_pinfo_offset = offsetof(struct smc6_sock, pinet6),
	},
#endif
};

static struct inet_protosw smc_inet_protosw = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_SMC,
	.prot		= &smc_protos[SMC_P_INET],
	.ops		= &smc_inet_ops,
};

#if IS_ENABLED(CONFIG_IPV6)
static const struct proto_ops smc_inet6_ops = {
	SMC_PROTO_OPS(PF_INET6),
};

static struct inet_protosw smc_inet6_protosw = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_SMC,
	.prot		= &smc_protos[SMC_P_INET6],
	.ops		= &smc_inet6_ops,
};
#endif

static int smc_inet6_register(void)
{
#if IS_ENABLED(CONFIG_IPV6)
	return inet6_register_protosw(&smc_inet6_protosw);
#else
	return 0;
#endif
}

static int smc_create(struct net *net, struct socket *sock, int protocol,
		      int kern)
{
	struct proto *prot;
	struct sock *sk;
	int rc;

	if (sock->type != SOCK_STREAM)
		return -ESOCKTNOSUPPORT;
	if (protocol == SMCPROTO_SMC)
		prot = &smc_protos[SMC_P_SMC];
	else if (protocol == SMCPROTO_SMC6 && IS_ENABLED(CONFIG_IPV6))
		prot = &smc_protos[SMC_P_SMC6];
	else
		return -EPROTONOSUPPORT;

	sk = sk_alloc(net, PF_SMC, GFP_KERNEL, prot, kern);
	if (!sk)
		return -ENOBUFS;
	sock->ops = &smc_ops;
	sock->state = SS_UNCONNECTED;
	sock_init_data(sock, sk);
	sk->sk_protocol = protocol;
	rc = smc_setup(sk, protocol == SMCPROTO_SMC ? AF_INET : AF_INET6);
	/* a cgroup says no: for IPPROTO_SMC the inet families ask */
	if (!rc && !kern)
		rc = BPF_CGROUP_RUN_PROG_INET_SOCK(sk);
	if (rc) {
		sk_common_release(sk);
		sock->sk = NULL;
	}
	return rc;
}

static const struct net_proto_family smc_family = {
	.family		= PF_SMC,
	.create		= smc_create,
	.owner		= THIS_MODULE,
};

static void smc_protos_unregister(unsigned int n)
{
	/* sockets are freed by RCU callbacks */
	rcu_barrier();
	while (n--)
		proto_unregister(&smc_protos[n]);
}

/**
 * smc_af_init() - register AF_SMC and IPPROTO_SMC
 *
 * Sockets may be created from here on.
 *
 * Return: 0 or a negative errno.
 */
int __init smc_af_init(void)
{
	unsigned int n;
	int rc;

	for (n = 0; n < ARRAY_SIZE(smc_protos); n++) {
		rc = proto_register(&smc_protos[n], 1);
		if (rc)
			goto err_protos;
	}
	rc = sock_register(&smc_family);
	if (rc)
		goto err_protos;
	rc = smc_inet6_register();
	if (rc)
		goto err_family;
	inet_register_protosw(&smc_inet_protosw);
	return 0;

err_family:
	sock_unregister(PF_SMC);
err_protos:
	smc_protos_unregister(n);
	return rc;
}

/**
 * smc_af_exit() - undo smc_af_init(); no socket is left
 */
void smc_af_exit(void)
{
	inet_unregister_protosw(&smc_inet_protosw);
#if IS_ENABLED(CONFIG_IPV6)
	inet6_unregister_protosw(&smc_inet6_protosw);
#endif
	sock_unregister(PF_SMC);
	smc_protos_unregister(ARRAY_SIZE(smc_protos));
}

MODULE_ALIAS_NETPROTO(PF_SMC);
/* numbers, since the macro makes strings of them: IPPROTO_SMC, SOCK_STREAM */
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET, 256, 1);
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET6, 256, 1);
