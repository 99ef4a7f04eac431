// SPDX-License-Identifier: GPL-2.0
/*
 * CLC messages over the internal TCP socket (layer 6).
 *
 * The stream must stand exactly behind the last CLC message when a connection
 * falls back, since the next byte may be the application's. So a header is
 * peeked and judged first, and then exactly the message is taken.
 *
 * Nothing the application may have set on the TCP socket is used or changed:
 * all calls are non-blocking, and the waiting is done here, on TCP's wait
 * queue, until data, an error, a FIN or a local shutdown comes. A close of the
 * SMC socket shuts TCP down, which ends each wait at once. There are no
 * signals in a worker.
 */
#include <kunit/visibility.h>
#include <linux/sched.h>
#include <linux/socket.h>
#include <net/tcp.h>

#include "smc_clc.h"
#include "smc_ib.h"
#include "smc_reason.h"
#include "smc_stats.h"
#include "smc_trace.h"

/* longest time one message may need to leave, jiffies */
#define CLC_SEND_TIME		(6 * HZ)
/* pause while TCP has no room; a new connection always has */
#define CLC_SEND_PAUSE		msecs_to_jiffies(10)
/* with SO_RCVLOWAT set TCP does not report each byte: look every so often */
#define CLC_LOWAT_SLICE		msecs_to_jiffies(20)

/* bytes not read yet, a FIN counts as one; lockless */
static u32 clc_unread(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return READ_ONCE(tp->rcv_nxt) - READ_ONCE(tp->copied_seq);
}

/* nothing can arrive any more; lockless */
static bool clc_ended(const struct sock *sk)
{
	return READ_ONCE(sk->sk_err) ||
	       (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN) ||
	       READ_ONCE(sk->sk_state) == TCP_CLOSE;
}

static int clc_wait(struct sock *sk, u32 want, unsigned long deadline)
{
	long left = deadline - jiffies;

	if (left <= 0)
		return -ETIMEDOUT;
	if (READ_ONCE(sk->sk_rcvlowat) > 1)
		left = min_t(long, left, CLC_LOWAT_SLICE);
	/* TCP wakes interruptible sleepers only */
	left = wait_event_interruptible_timeout(*sk_sleep(sk),
						clc_unread(sk) >= want ||
						clc_ended(sk), left);
	return left < 0 ? left : 0;
}

/*
 * Up to @len bytes, at least @min of them, in one read; @flags MSG_PEEK or
 * MSG_TRUNC. @min is 1 without MSG_PEEK, so that nothing is lost on errors.
 * What arrived before an error or FIN is delivered first.
 */
static int clc_get(struct socket *tcp, void *buf, size_t len, int min,
		   int flags, unsigned long deadline)
{
	struct kvec vec = { .iov_base = buf, .iov_len = len };
	struct sock *sk = tcp->sk;
	bool ended;
	u32 had;
	int n;

	for (;;) {
		struct msghdr msg = {};

		/* before the read, which then sees all of what these saw */
		ended = clc_ended(sk);
		had = clc_unread(sk);
		n = kernel_recvmsg(tcp, &msg, &vec, 1, len,
				   flags | MSG_DONTWAIT);
		if (n >= min)
			return n;
		if (n < 0 && n != -EAGAIN)
			return n == -ENOTCONN ? -ECONNRESET : n;
		if (ended)
			return sock_error(sk) ?: -ECONNRESET;
		/* urgent data amid a message: it will never be readable */
		if (had >= min && !clc_ended(sk))
			return -EPROTO;
		n = clc_wait(sk, min, deadline);
		if (n)
			return n;
	}
}

/* peek a header; -ENOMSG: the stream does not begin like a CLC message */
static int clc_peek_hdr(struct socket *tcp, u8 raw[SMC_CLC_HDR_LEN],
			unsigned long deadline)
{
	int n = 0;
	int rc;

	while (n < SMC_CLC_HDR_LEN) {
		rc = clc_get(tcp, raw, SMC_CLC_HDR_LEN, n + 1, MSG_PEEK,
			     deadline);
		if (rc < 0) {
			/* few bytes and a FIN are no message either */
			if (n && rc == -ECONNRESET &&
			    READ_ONCE(tcp->sk->sk_state) == TCP_CLOSE_WAIT)
				return -ENOMSG;
			return rc;
		}
		n = rc;
		if (!smc_clc_is_eyecatcher(raw, n))
			return -ENOMSG;
	}
	return 0;
}

/* take @len bytes; into @buf, or away if that is NULL */
static int clc_read(struct socket *tcp, u8 *buf, size_t len,
		    unsigned long deadline)
{
	size_t done = 0;
	int n;

	while (done < len) {
		n = clc_get(tcp, buf ? buf + done : NULL, len - done, 1,
			    buf ? 0 : MSG_TRUNC, deadline);
		if (n < 0)
			return n;
		done += n;
	}
	return 0;
}

static int clc_got_decline(struct smc_sock *smc, const void *buf, size_t len,
			   struct smc_clc_in *in)
{
	struct smc_clc_decline decline;
	int rc;

	rc = smc_clc_decode_decline(buf, len, &decline);
	if (rc)
		return rc;
	in->out_of_sync = decline.out_of_sync;
	/* or Nagle would hold back the peer's data until a delayed ACK */
	tcp_sock_set_quickack(smc->tcp->sk, 2);
	WRITE_ONCE(smc->peer_diagnosis, decline.diagnosis);
	SMC_INC(sock_net(&smc->sk), CLC_RX_DECLINE);
	return SMC_DECL_PEERDECL;
}

static int clc_recv_one(struct smc_sock *smc, u8 type, void *buf, size_t room,
			unsigned long deadline, struct smc_clc_in *in)
{
	u8 raw[SMC_CLC_HDR_LEN];
	size_t len;
	int rc;

	rc = clc_peek_hdr(smc->tcp, raw, deadline);
	if (rc == -ENOMSG && type == SMC_CLC_PROPOSAL)
		return SMC_DECL_PEERNOSMC;
	if (rc)
		return rc == -ENOMSG ? -EPROTO : rc;
	rc = smc_clc_decode_hdr(raw, sizeof(raw), &in->hdr);
	if (rc)
		return rc;
	if (in->hdr.type != type && in->hdr.type != SMC_CLC_DECLINE)
		return -EPROTO;

	len = min_t(size_t, in->hdr.len, room);
	rc = clc_read(smc->tcp, buf, len, deadline);
	if (!rc)
		rc = clc_read(smc->tcp, NULL, in->hdr.len - len, deadline);
	if (!rc && in->hdr.type == SMC_CLC_DECLINE)
		rc = clc_got_decline(smc, buf, len, in);
	return rc;
}

/**
 * smc_clc_recv() - take one message off the stream
 * @smc: socket; smc->tcp is connected and nobody else reads it
 * @type: message expected; a Decline is taken in its place at any time
 * @buf: for the message
 * @room: size of @buf, bytes, at least SMC_CLC_DECLINE_ROOM; the rest of a
 *	longer message is taken off the stream and dropped
 * @deadline: jiffies, for the whole message
 * @in: filled
 *
 * Only the header is looked at. RFC 7609, 4.5 and A.2.
 *
 * Context: process, sleeps up to @deadline; ends early if TCP ends or is shut
 * down.
 * Return: 0: a message of @type was taken, in->hdr.len bytes long.
 * SMC_DECL_PEERDECL: a Decline was taken, its code is in
 * smc->peer_diagnosis. SMC_DECL_PEERNOSMC (@type SMC_CLC_PROPOSAL only): the
 * first bytes are no CLC message and nothing was taken. -EPROTO: malformed or
 * not expected, position of the stream undefined. -ETIMEDOUT: late.
 * -ECONNRESET: FIN, reset or local shutdown; or the error of the TCP socket.
 */
int smc_clc_recv(struct smc_sock *smc, u8 type, void *buf, size_t room,
		 unsigned long deadline, struct smc_clc_in *in)
{
	struct net *net = sock_net(&smc->sk);
	int rc;

	memset(in, 0, sizeof(*in));
	rc = clc_recv_one(smc, type, buf, room, deadline, in);
	if (rc == -EPROTO)
		SMC_INC(net, CLC_RX_BAD);
	else if (rc == SMC_DECL_PEERNOSMC)
		SMC_INC(net, CLC_NO_PROPOSAL);
	trace_smc_clc_rx(smc, in->hdr.type, in->hdr.version, in->hdr.len, rc);
	return rc;
}
EXPORT_SYMBOL_IF_KUNIT(smc_clc_recv);

/**
 * smc_clc_swallow_decline() - take a Decline that crossed ours
 * @smc: socket, our Decline has been sent
 * @deadline: jiffies
 *
 * Takes at most one Decline, and only a complete and well-formed one at the
 * head of the stream: all else may be the application's data already.
 *
 * Context: process, sleeps up to @deadline.
 * Return: true if there was one
 */
bool smc_clc_swallow_decline(struct smc_sock *smc, unsigned long deadline)
{
	u8 buf[SMC_CLC_DECLINE_ROOM];
	struct smc_clc_hdr hdr;
	struct smc_clc_in in;

	if (clc_peek_hdr(smc->tcp, buf, deadline) ||
	    smc_clc_decode_hdr(buf, SMC_CLC_HDR_LEN, &hdr) ||
	    hdr.type != SMC_CLC_DECLINE || hdr.len > sizeof(buf))
		return false;
	if (clc_get(smc->tcp, buf, hdr.len, hdr.len, MSG_PEEK, deadline) < 0 ||
	    clc_got_decline(smc, buf, hdr.len, &in) < 0)
		return false;
	trace_smc_clc_rx(smc, hdr.type, hdr.version, hdr.len,
			 SMC_DECL_PEERDECL);
	return !clc_read(smc->tcp, buf, hdr.len, deadline);
}
EXPORT_SYMBOL_IF_KUNIT(smc_clc_swallow_decline);

static int clc_send_all(struct smc_sock *smc, const void *msg, size_t len)
{
	unsigned long deadline = jiffies + CLC_SEND_TIME;
	size_t done = 0;
	int n;

	while (done < len) {
		struct kvec vec = {
			.iov_base = (void *)msg + done,
			.iov_len = len - done,
		};
		struct msghdr hdr = {
			.msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL,
		};

		n = kernel_sendmsg(smc->tcp, &hdr, &vec, 1, vec.iov_len);
		if (n > 0) {
			done += n;
			continue;
		}
		if (n != -EAGAIN)
			return n ?: -EPIPE;
		if (time_after_eq(jiffies, deadline))
			return -ETIMEDOUT;
		schedule_timeout_idle(CLC_SEND_PAUSE);
	}
	return 0;
}

/**
 * smc_clc_send() - send a message whole
 * @smc: socket; nobody else writes to smc->tcp
 * @msg: encoded message
 * @len: bytes, at least SMC_CLC_HDR_LEN
 *
 * Context: process; sleeps only if TCP has no room, some seconds at most.
 * Return: 0, or the error of the TCP socket (-ECONNRESET, -EPIPE, -ETIMEDOUT
 * ..): a part may have gone out, the connection can not be used any more
 */
int smc_clc_send(struct smc_sock *smc, const void *msg, size_t len)
{
	const u8 *raw = msg;
	int rc;

	rc = clc_send_all(smc, msg, len);
	trace_smc_clc_tx(smc, raw[4], raw[7] >> 4, len, rc);
	return rc;
}

/**
 * smc_clc_send_decline() - tell the peer that this connection is not for SMC
 * @smc: socket
 * @version: 1 or 2, version of the peer's message if there was one
 * @reason: enum smc_reason, goes out as diagnosis
 *
 * The caller has left its link group. The out-of-sync bit goes with
 * SMC_DECL_SYNCERR only. RFC 7609, A.2.4.
 *
 * Context: process, see smc_clc_send(). Allocates nothing.
 * Return: 0 or negative errno as smc_clc_send(): fallback is not possible then
 */
int smc_clc_send_decline(struct smc_sock *smc, u8 version, u32 reason)
{
	struct smc_clc_decline decline = {
		.version = version,
		.out_of_sync = reason == SMC_DECL_SYNCERR,
		.diagnosis = reason,
		.os = SMC_CLC_OS_LINUX,
	};
	u8 buf[SMC_CLC_DECLINE_ROOM];
	int len;

	if (!smc_ib_peer_id(decline.peer_id))
		memset(decline.peer_id, 0, sizeof(decline.peer_id));
	len = smc_clc_encode_decline(buf, sizeof(buf), &decline);
	if (len < 0)
		return len;
	SMC_INC(sock_net(&smc->sk), CLC_TX_DECLINE);
	return smc_clc_send(smc, buf, len);
}
EXPORT_SYMBOL_IF_KUNIT(smc_clc_send_decline);
