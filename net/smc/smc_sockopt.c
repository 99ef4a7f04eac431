// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options and ioctls (layer 7): what belongs to the SMC socket, what to
 * its TCP socket, and what to both.
 *
 * SOL_SOCKET comes here because of SOCK_CUSTOM_SOCKOPT. The SMC socket always
 * gets the value, since that is where getsockopt(2) reads it; options with a
 * meaning for TCP's segments are set on the TCP socket at the same moment. All
 * other levels but SOL_SMC belong to TCP, whose result is returned, and a few
 * TCP options mean something for SMC in addition.
 */
#include <linux/compat.h>
#include <linux/sockios.h>
#include <linux/uaccess.h>
#include <net/tcp.h>
#include <uapi/asm-generic/ioctls.h>
#include <uapi/linux/smc.h>

#include "smc_af.h"
#include "smc_data.h"
#include "smc_reason.h"
#include "smc_setup.h"
#include "smc_tcp.h"

static bool smc_opt_is_carried(const struct smc_sock *smc)
{
	return !smc->use_fallback && smc->sk.sk_state != SMC_INIT &&
	       smc->sk.sk_state != SMC_LISTEN;
}

/* SOL_SOCKET options that TCP has to know before a fallback */
static bool smc_opt_for_tcp(int optname)
{
	switch (optname) {
	case SO_BINDTODEVICE:
	case SO_BINDTOIFINDEX:
	case SO_BROADCAST:
	case SO_BUF_LOCK:
	case SO_BUSY_POLL:
	case SO_BUSY_POLL_BUDGET:
	case SO_DEBUG:
	case SO_DONTROUTE:
	case SO_INCOMING_CPU:
	case SO_KEEPALIVE:
	case SO_LOCK_FILTER:
	case SO_MARK:
	case SO_MAX_PACING_RATE:
	case SO_NOFCS:
	case SO_PREFER_BUSY_POLL:
	case SO_PRIORITY:
	case SO_RCVBUF:
	case SO_RCVBUFFORCE:
	case SO_RCVMARK:
	case SO_REUSEADDR:
	case SO_RXQ_OVFL:
	case SO_SELECT_ERR_QUEUE:
	case SO_SNDBUF:
	case SO_SNDBUFFORCE:
	case SO_TIMESTAMPING_NEW:
	case SO_TIMESTAMPING_OLD:
	case SO_TIMESTAMPNS_NEW:
	case SO_TIMESTAMPNS_OLD:
	case SO_TIMESTAMP_NEW:
	case SO_TIMESTAMP_OLD:
	case SO_WIFI_STATUS:
		return true;
	default:
		return false;
	}
}

static int smc_tcp_setsockopt(struct smc_sock *smc, int level, int optname,
			      sockptr_t optval, unsigned int optlen)
{
	if (level == SOL_SOCKET)
		return sock_setsockopt(smc->tcp, level, optname, optval,
				       optlen);
	return smc->tcp->ops->setsockopt(smc->tcp, level, optname, optval,
					 optlen);
}

/* The core has SO_REUSEPORT for the inet families only. */
static int smc_set_reuseport(struct socket *sock, sockptr_t optval,
			     unsigned int optlen)
{
	struct sock *sk = sock->sk;
	int val;
	int rc;

	rc = copy_safe_from_sockptr(&val, sizeof(val), optval, optlen);
	if (rc)
		return rc;
	lock_sock(sk);
	sk->sk_reuseport = !!val;
	release_sock(sk);
	if (val)
		sock_set_reuseport(smc_sk(sk)->tcp->sk);
	return 0;
}

/* What only TCP can do was asked for: no SMC from now on, as far as no handshake
 * has begun.
 */
static void smc_opt_needs_tcp(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;

	if (smc->use_fallback)
		return;
	if (sk->sk_state == SMC_LISTEN)
		smc_tcp_set_syn(smc, false);
	else if (sk->sk_state == SMC_INIT &&
		 smc->connect_state == SMC_CONN_NONE)
		smc_switch_to_fallback(smc, SMC_DECL_OPTUNSUPP);
}

/* Filters, signatures and repair work on segments. Over SMC-R none has data: what
 * a filter keeps away would come in, and nothing would be signed.
 */
static int smc_set_segments(struct smc_sock *smc, int level, int optname,
			    sockptr_t optval, unsigned int optlen)
{
	struct sock *sk = &smc->sk;
	int rc = -EOPNOTSUPP;

	lock_sock(sk);
	if (!smc_opt_is_carried(smc) && !smc_connecting(smc))
		rc = smc_tcp_setsockopt(smc, level, optname, optval, optlen);
	if (!rc)
		smc_opt_needs_tcp(smc);
	release_sock(sk);
	return rc;
}

static int smc_set_sol_socket(struct socket *sock, int optname,
			      sockptr_t optval, unsigned int optlen)
{
	struct smc_sock *smc = smc_sk(sock->sk);
	int rc;

	switch (optname) {
	case SO_REUSEPORT:
		return smc_set_reuseport(sock, optval, optlen);
	case SO_ATTACH_BPF:
	case SO_ATTACH_FILTER:
		return smc_set_segments(smc, SOL_SOCKET, optname, optval,
					optlen);
	/* these have a meaning for TCP only */
	case SO_ATTACH_REUSEPORT_CBPF:
	case SO_ATTACH_REUSEPORT_EBPF:
	case SO_DETACH_FILTER:
	case SO_DETACH_REUSEPORT_BPF:
	case SO_TXREHASH:
		return smc_tcp_setsockopt(smc, SOL_SOCKET, optname, optval,
					  optlen);
	}

	rc = sock_setsockopt(sock, SOL_SOCKET, optname, optval, optlen);
	if (!rc && (smc->use_fallback || smc_opt_for_tcp(optname)))
		smc_tcp_setsockopt(smc, SOL_SOCKET, optname, optval, optlen);
	return rc;
}

static int smc_set_sol_smc(struct smc_sock *smc, int optname, sockptr_t optval,
			   unsigned int optlen)
{
	int val;
	int rc;

	if (optname != SMC_LIMIT_HS)
		return -EOPNOTSUPP;
	rc = copy_safe_from_sockptr(&val, sizeof(val), optval, optlen);
	if (rc)
		return rc;
	WRITE_ONCE(smc->limit_hs, !!val);
	return 0;
}

/* Fast open puts data into the SYN: nothing SMC could carry. */
static int smc_set_fastopen(struct smc_sock *smc, int optname,
			    sockptr_t optval, unsigned int optlen)
{
	struct sock *sk = &smc->sk;
	int val = 1;
	int rc;

	lock_sock(sk);
	rc = smc_tcp_setsockopt(smc, SOL_TCP, optname, optval, optlen);
	if (rc || smc->use_fallback)
		goto out;
	if (optname != TCP_FASTOPEN_KEY &&
	    copy_from_sockptr(&val, optval, sizeof(val)))
		goto out;
	if (val && sk->sk_state != SMC_LISTEN)
		smc_opt_needs_tcp(smc);
out:
	release_sock(sk);
	return rc;
}

/* push what was held back, if it is not to be held back any more */
static void smc_opt_uncorked(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;

	if (tcp_sk(smc->tcp->sk)->nonagle & TCP_NAGLE_CORK)
		return;
	lock_sock(sk);
	if (smc_opt_is_carried(smc))
		smc_tx_push(smc);
	release_sock(sk);
}

static int smc_set_sol_tcp(struct smc_sock *smc, int optname, sockptr_t optval,
			   unsigned int optlen)
{
	int val;
	int rc;

	switch (optname) {
	case TCP_ULP:
		/* it would take over TCP's callbacks, and see no data */
		if (!smc->use_fallback)
			return -EOPNOTSUPP;
		break;
	case TCP_AO_ADD_KEY:
	case TCP_MD5SIG:
	case TCP_MD5SIG_EXT:
	case TCP_REPAIR:
		return smc_set_segments(smc, SOL_TCP, optname, optval, optlen);
	case TCP_FASTOPEN:
	case TCP_FASTOPEN_CONNECT:
	case TCP_FASTOPEN_KEY:
	case TCP_FASTOPEN_NO_COOKIE:
		return smc_set_fastopen(smc, optname, optval, optlen);
	}

	rc = smc_tcp_setsockopt(smc, SOL_TCP, optname, optval, optlen);
	if (rc)
		return rc;
	switch (optname) {
	case TCP_NODELAY:
	case TCP_CORK:
		smc_opt_uncorked(smc);
		break;
	case TCP_DEFER_ACCEPT:
		if (!copy_from_sockptr(&val, optval, sizeof(val)))
			WRITE_ONCE(smc->defer_accept, max(val, 0));
		break;
	}
	return 0;
}

static int smc_set_other(struct smc_sock *smc, int level, int optname,
			 sockptr_t optval, unsigned int optlen)
{
	int rc;

	rc = smc_tcp_setsockopt(smc, level, optname, optval, optlen);
	/* this one changes what SO_PRIORITY says */
	if (!rc && level == SOL_IP && optname == IP_TOS)
		WRITE_ONCE(smc->sk.sk_priority,
			   READ_ONCE(smc->tcp->sk->sk_priority));
	return rc;
}

/**
 * smc_setsockopt() - setsockopt(2)
 * @sock: socket
 * @level: SOL_SOCKET, SOL_SMC, or a level of TCP
 * @optname: option
 * @optval: value
 * @optlen: its length in bytes
 *
 * Context: process, may sleep; takes the socket lock.
 * Return: 0; -EOPNOTSUPP: TCP_ULP, what works on segments once there is a
 * connection, unknown option of SOL_SMC; -EINVAL, -EFAULT, or what TCP says.
 */
int smc_setsockopt(struct socket *sock, int level, int optname,
		   sockptr_t optval, unsigned int optlen)
{
	struct smc_sock *smc = smc_sk(sock->sk);

	switch (level) {
	case SOL_SOCKET:
		return smc_set_sol_socket(sock, optname, optval, optlen);
	case SOL_SMC:
		return smc_set_sol_smc(smc, optname, optval, optlen);
	case SOL_TCP:
		return smc_set_sol_tcp(smc, optname, optval, optlen);
	default:
		return smc_set_other(smc, level, optname, optval, optlen);
	}
}

static int smc_get_sol_smc(const struct smc_sock *smc, int optname,
			   char __user *optval, int __user *optlen)
{
	int val = READ_ONCE(smc->limit_hs);
	int len;

	if (optname != SMC_LIMIT_HS)
		return -EOPNOTSUPP;
	if (get_user(len, optlen))
		return -EFAULT;
	if (len < 0)
		return -EINVAL;
	len = min_t(int, len, sizeof(val));
	if (put_user(len, optlen) || copy_to_user(optval, &val, len))
		return -EFAULT;
	return 0;
}

/**
 * smc_getsockopt() - getsockopt(2), but SOL_SOCKET, which is the core's
 * @sock: socket
 * @level: SOL_SMC or a level of TCP
 * @optname: option
 * @optval: buffer
 * @optlen: its length in bytes, updated
 *
 * Context: process, may sleep.
 * Return: 0; -EOPNOTSUPP: TCP_ZEROCOPY_RECEIVE, unknown option of SOL_SMC;
 * -EINVAL, -EFAULT, or what TCP says.
 */
int smc_getsockopt(struct socket *sock, int level, int optname,
		   char __user *optval, int __user *optlen)
{
	struct smc_sock *smc = smc_sk(sock->sk);

	if (level == SOL_SMC)
		return smc_get_sol_smc(smc, optname, optval, optlen);
	/* TCP would say that there is nothing to receive */
	if (level == SOL_TCP && optname == TCP_ZEROCOPY_RECEIVE &&
	    smc_opt_is_carried(smc))
		return -EOPNOTSUPP;
	return smc->tcp->ops->getsockopt(smc->tcp, level, optname, optval,
					 optlen);
}

/**
 * smc_set_rcvlowat() - SO_RCVLOWAT
 * @sk: socket, locked
 * @val: bytes
 *
 * Return: 0.
 */
int smc_set_rcvlowat(struct sock *sk, int val)
{
	WRITE_ONCE(sk->sk_rcvlowat, val ?: 1);
	/* who waits may have enough now */
	if (smc_opt_is_carried(smc_sk(sk)))
		sk->sk_data_ready(sk);
	return 0;
}

/* Queue lengths; -ENOIOCTLCMD for all other commands. Socket locked. */
static int smc_ioctl_queue(struct smc_sock *smc, unsigned int cmd, int *answer)
{
	bool carried = smc_opt_is_carried(smc);

	switch (cmd) {
	case SIOCINQ:
		*answer = carried ? smc_rx_inq(smc) : 0;
		break;
	case SIOCOUTQ:
		*answer = carried ? smc_tx_unfinished(smc) : 0;
		break;
	case SIOCOUTQNSD:
		*answer = carried ? smc_tx_unsent(smc) : 0;
		break;
	case SIOCATMARK:
		*answer = carried && smc_rx_atmark(smc);
		return 0;	/* TCP answers this for listeners, too */
	default:
		return -ENOIOCTLCMD;
	}
	return smc->sk.sk_state == SMC_LISTEN ? -EINVAL : 0;
}

/* -ENOIOCTLCMD: this is for TCP */
static int smc_ioctl_own(struct smc_sock *smc, unsigned int cmd, int *answer)
{
	int rc = -ENOIOCTLCMD;

	lock_sock(&smc->sk);
	if (!smc->use_fallback)
		rc = smc_ioctl_queue(smc, cmd, answer);
	release_sock(&smc->sk);
	return rc;
}

/**
 * smc_prot_ioctl() - proto.ioctl: lengths of queues, which io_uring asks for
 * @sk: socket
 * @cmd: SIOCINQ, SIOCOUTQ
 * @answer: bytes
 *
 * Context: process, may sleep; takes the socket lock.
 * Return: 0; -EINVAL: listener; or what TCP says.
 */
int smc_prot_ioctl(struct sock *sk, int cmd, int *answer)
{
	struct sock *tsk = smc_sk(sk)->tcp->sk;
	int rc;

	rc = smc_ioctl_own(smc_sk(sk), cmd, answer);
	if (rc == -ENOIOCTLCMD)
		rc = READ_ONCE(tsk->sk_prot)->ioctl(tsk, cmd, answer);
	return rc;
}

/**
 * smc_ioctl() - ioctl(2)
 * @sock: socket
 * @cmd: command; all but the questions about data are answered by TCP
 * @arg: argument
 *
 * Context: process, may sleep; takes the socket lock.
 * Return: 0; -EINVAL: listener; -EFAULT; -ENOIOCTLCMD; or what TCP says.
 */
int smc_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct smc_sock *smc = smc_sk(sock->sk);
	int answer;
	int rc;

	rc = smc_ioctl_own(smc, cmd, &answer);
	if (rc == -ENOIOCTLCMD)
		return smc->tcp->ops->ioctl(smc->tcp, cmd, arg);
	return rc ?: put_user(answer, (int __user *)arg);
}

#ifdef CONFIG_COMPAT
/**
 * smc_compat_ioctl() - ioctl(2) of 32-bit programs
 * @sock: socket
 * @cmd: command
 * @arg: argument
 *
 * Context: process, may sleep; takes the socket lock.
 * Return: as smc_ioctl().
 */
int smc_compat_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct smc_sock *smc = smc_sk(sock->sk);
	int answer;
	int rc;

	rc = smc_ioctl_own(smc, cmd, &answer);
	if (rc == -ENOIOCTLCMD && smc->tcp->ops->compat_ioctl)
		return smc->tcp->ops->compat_ioctl(smc->tcp, cmd, arg);
	return rc ?: put_user(answer, (int __user *)compat_ptr(arg));
}
#endif
