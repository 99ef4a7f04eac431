// SPDX-License-Identifier: GPL-2.0
/*
 * Send side of the socket (layer 5): user data into the send ring, and the
 * decision when to hand it on. RFC 7609, 4.4.
 *
 * A call copies portions into the ring, under the socket lock, and kicks the
 * transport after each; it never waits for anything but ring space. Of a large
 * ring a portion is a quarter, so that a large write is on its way while the
 * rest is copied. Small rings are filled at once: each message costs the device
 * a SEND, and its reader a wake-up and a window update.
 *
 * The ring itself is there only while it is used: the first write gets it, and a
 * connection that has written nothing for a while, all of it completed, gives it
 * back.
 *
 * A portion is held back ("corked") in two cases. With MSG_MORE or TCP_CORK,
 * until half of the ring is filled, the application ends it, or SMC_CORK_TIME
 * has passed. And for a moment ("autocork"), if little is unsent and a
 * completion of this connection is due anyway, which will hand on all that has
 * gathered by then. smc_cdc.c asks for such a completion only while earlier
 * data are still on their way to the peer's application: the first write of an
 * idle connection, and a request after a response, go at once.
 */
#include <linux/tcp.h>
#include <kunit/visibility.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "smc_conn.h"
#include "smc_net.h"
#include "smc_stats.h"
#include "smc_trace.h"

#define SMC_TX_PORTION_MIN	SZ_64K
#define SMC_TX_IDLE_TIME	HZ		/* ring unused: one to two of it */
#define SMC_TX_RETRY_TIME	(HZ / 20)	/* without memory for a ring */

/**
 * smc_tx_space() - free bytes of the send ring
 * @smc: socket
 *
 * Context: any, no lock.
 * Return: bytes, 0 if there is no ring
 */
u32 smc_tx_space(const struct smc_sock *smc)
{
	const struct smc_conn *conn = &smc->conn;
	u64 done = atomic64_read(&conn->tx_done);

	return smc_ring_free(done, atomic64_read(&conn->tx_prep),
			     READ_ONCE(conn->member.snd_size));
}
EXPORT_SYMBOL_IF_KUNIT(smc_tx_space);

/**
 * smc_tx_unsent() - bytes written by the application and not handed to the link
 * @smc: socket
 *
 * SIOCOUTQNSD. Context: any, no lock.
 *
 * Return: bytes
 */
u32 smc_tx_unsent(const struct smc_sock *smc)
{
	const struct smc_conn *conn = &smc->conn;
	u64 sent = atomic64_read(&conn->tx_sent);

	return smc_ring_dist(sent, atomic64_read(&conn->tx_prep));
}
EXPORT_SYMBOL_IF_KUNIT(smc_tx_unsent);

/**
 * smc_tx_unfinished() - bytes written by the application that may not have
 *	arrived
 * @smc: socket
 *
 * SIOCOUTQ. Completions of single messages come late on purpose; what the
 * peer's application has consumed has arrived as well. Context: any, no lock.
 *
 * Return: bytes
 */
u32 smc_tx_unfinished(const struct smc_sock *smc)
{
	const struct smc_conn *conn = &smc->conn;
	u64 done = max(atomic64_read(&conn->tx_done),
		       atomic64_read(&conn->peer_cons));

	return smc_ring_dist(done, atomic64_read(&conn->tx_prep));
}
EXPORT_SYMBOL_IF_KUNIT(smc_tx_unfinished);

/* The stream may be continued; -EPIPE if not (see sk_stream_error()). */
static int smc_tx_allowed(const struct smc_sock *smc)
{
	const struct smc_conn *conn = &smc->conn;
	const struct sock *sk = &smc->sk;
	u8 state = READ_ONCE(sk->sk_state);

	if (READ_ONCE(sk->sk_err) ||
	    READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN ||
	    READ_ONCE(conn->rx_cflags) & (SMC_CDC_C_CLOSED | SMC_CDC_C_ABORT))
		return -EPIPE;
	if (!READ_ONCE(conn->joined) || READ_ONCE(conn->left) ||
	    READ_ONCE(conn->killed))
		return -EPIPE;
	return state == SMC_ACTIVE || state == SMC_APPCLOSEWAIT1 ? 0 : -EPIPE;
}

/**
 * smc_tx_writable() - is it worth to wake a writer?
 * @smc: socket of an SMC connection
 *
 * Context: any, no lock.
 * Return: true with a third of the ring free, as TCP does it, or if a write
 * would not wait because it fails
 */
bool smc_tx_writable(const struct smc_sock *smc)
{
	return smc_tx_space(smc) >= max(smc->conn.member.snd_size / 3, 1u) ||
	       smc_tx_allowed(smc);
}
EXPORT_SYMBOL_IF_KUNIT(smc_tx_writable);

/**
 * smc_tx_write_space() - send space was freed: wake writers if it is useful
 * @smc: socket
 *
 * Context: any but hard interrupt, no lock needed.
 */
void smc_tx_write_space(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;
	struct socket_wq *wq;
	struct socket *sock;

	if (!smc_tx_writable(smc))
		return;
	/* A socket is freed by RCU; close(2) may take it away from sk. */
	guard(rcu)();
	sock = READ_ONCE(sk->sk_socket);
	if (!sock || !test_and_clear_bit(SOCK_NOSPACE, &sock->flags))
		return;
	wq = rcu_dereference(sk->sk_wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_poll(&wq->wait, EPOLLOUT | EPOLLWRNORM |
					   EPOLLWRBAND);
	if (!(READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN))
		sk_wake_async_rcu(sk, SOCK_WAKE_SPACE, POLL_OUT);
}

/**
 * smc_tx_push() - hand on what is held back
 * @smc: socket
 *
 * Context: any; no lock needed, the socket lock may be held.
 */
void smc_tx_push(struct smc_sock *smc)
{
	if (smc_tx_unsent(smc))
		smc_conn_kick(&smc->conn);
}
EXPORT_SYMBOL_IF_KUNIT(smc_tx_push);

/**
 * smc_tx_cork_timer() - data were held back long enough
 * @t: cork_timer of a connection; holds a reference of the socket
 *
 * Context: softirq.
 */
void smc_tx_cork_timer(struct timer_list *t)
{
	struct smc_conn *conn = timer_container_of(conn, t, cork_timer);
	struct smc_sock *smc = smc_of_member(&conn->member);

	smc_tx_push(smc);
	sock_put(&smc->sk);
}

/* The option lives in the TCP socket, where programs can read it back. */
static bool smc_tx_cork_option(const struct smc_sock *smc)
{
	return tcp_sk(smc->tcp->sk)->nonagle & TCP_NAGLE_CORK;
}

/* Shall what was just written wait? */
static bool smc_tx_hold(struct smc_sock *smc, int flags)
{
	struct smc_conn *conn = &smc->conn;
	u32 half = conn->member.snd_size / 2;
	u32 unsent = smc_tx_unsent(smc);
	unsigned int autocork;

	if (flags & MSG_OOB || unsent > half)
		return false;

	if (flags & MSG_MORE || smc_tx_cork_option(smc)) {
		if (!timer_pending(&conn->cork_timer))
			sk_reset_timer(&smc->sk, &conn->cork_timer,
				       jiffies + SMC_CORK_TIME);
		return true;
	}

	autocork = READ_ONCE(smc_net(sock_net(&smc->sk))->autocorking_size);
	if (unsent > autocork)
		return false;
	/* Paired with smc_event_tx_done(): tx_prep was moved before this. */
	smp_mb();
	return READ_ONCE(conn->tx_signalled);
}

/* Move the end of the written data. An urgent mark has to be there before the
 * byte can be sent; a mark that was not reached yet is replaced, as in TCP.
 */
static void smc_tx_publish(struct smc_conn *conn, u64 pos, bool urgent)
{
	struct smc_member *m = &conn->member;

	if (likely(!urgent)) {
		atomic64_set_release(&conn->tx_prep, pos);
		return;
	}

	spin_lock_bh(&m->tx_lock);
	conn->tx_urg = pos;
	conn->tx_pflags |= SMC_CDC_P_URG_PENDING;
	/* A reader that makes no room shall know of it nevertheless. */
	if (!smc_ring_free(atomic64_read(&conn->peer_cons),
			   atomic64_read(&conn->tx_sent), m->peer_size))
		conn->tx_owed = true;
	atomic64_set_release(&conn->tx_prep, pos);
	spin_unlock_bh(&m->tx_lock);
}

/* Copy one portion of at most @len bytes, in two pieces where the ring ends.
 * Returns its size, 0 without space, -EFAULT if it could not be read. As in TCP
 * a piece is taken whole or not at all.
 */
static ssize_t smc_tx_fill(struct smc_sock *smc, struct msghdr *msg, size_t len)
{
	struct smc_conn *conn = &smc->conn;
	struct smc_member *m = &conn->member;
	u64 pos = atomic64_read(&conn->tx_prep);
	size_t portion, piece, done = 0;
	u32 off;

	portion = max_t(u32, m->snd_size / 4, SMC_TX_PORTION_MIN);
	portion = min3(portion, len, (size_t)smc_tx_space(smc));
	if (!portion)
		return 0;

	while (done < portion) {
		off = smc_ring_offset(pos + done, m->snd_size);
		piece = min_t(size_t, portion - done, m->snd_size - off);
		if (!copy_from_iter_full(m->snd_ring + off, piece,
					 &msg->msg_iter))
			break;
		m->transport->snd_written(m, pos + done, piece);
		done += piece;
	}
	if (!done)
		return -EFAULT;
	smc_tx_publish(conn, pos + done, msg->msg_flags & MSG_OOB);
	trace_smc_tx_sendmsg(smc, done);
	return done;
}

/* Get a send ring. No lock is held meanwhile: the device may
 * have to register memory behind messages that wait for the peer.
 */
static int smc_tx_open(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;
	struct smc_member *m = &conn->member;
	int rc;

	conn->tx_openers++;
	release_sock(&smc->sk);
	rc = m->transport->snd_open(m);
	lock_sock(&smc->sk);
	conn->tx_openers--;
	/* either close_work has waited for this, or it looks for a ring that
	 * is not used any more
	 */
	smc_conn_schedule(smc, smc_tx_allowed(smc) ? 0 : SMC_TX_IDLE_TIME);
	return rc;
}

/**
 * smc_tx_settle() - give back a send ring that is not used
 * @smc: socket
 *
 * Context: process, socket lock held; called by close_work.
 *
 * Return: jiffies until the next look, 0 if there is nothing to give back
 */
unsigned long smc_tx_settle(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;
	struct smc_member *m = &conn->member;
	u64 pos = atomic64_read(&conn->tx_prep);

	sock_owned_by_me(&smc->sk);
	if (!m->snd_ring || conn->left || conn->released)
		return 0;
	if (pos == conn->tx_mark && !smc_tx_unsent(smc) &&
	    m->transport->snd_close(m))
		return 0;
	conn->tx_mark = pos;
	return SMC_TX_IDLE_TIME;
}
EXPORT_SYMBOL_IF_KUNIT(smc_tx_settle);

/* Wait for useful space. Everything written goes out before. Returns 0 to try
 * again, or a negative errno. Without memory for a ring nobody can tell when
 * there will be some.
 */
static int smc_tx_wait(struct smc_sock *smc, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct smc_member *m = &smc->conn.member;
	struct sock *sk = &smc->sk;
	long step, left;
	int rc;

	smc_tx_push(smc);

	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	/* Paired with the barrier in smc_event_tx_done(). */
	smp_mb__after_atomic();
	if (m->snd_ring && smc_tx_space(smc))
		return 0;
	if (!*timeo)
		return -EAGAIN;
	if (signal_pending(current))
		return sock_intr_errno(*timeo);

	add_wait_queue(sk_sleep(sk), &wait);
	step = m->snd_ring ? *timeo : min(*timeo, SMC_TX_RETRY_TIME);
	left = step;
	rc = sk_wait_event(sk, &left, m->snd_ring ? smc_tx_writable(smc) :
			   smc_tx_allowed(smc), &wait);
	if (*timeo != MAX_SCHEDULE_TIMEOUT)
		*timeo -= step - left;
	remove_wait_queue(sk_sleep(sk), &wait);
	return rc < 0 ? rc : 0;
}

/* None of the control data that TCP knows means anything here, but what it
 * refuses is refused.
 */
static int smc_tx_control(const struct smc_sock *smc, struct msghdr *msg)
{
	struct sock *tsk = smc->tcp->sk;
	struct sockcm_cookie sockc = {
		.tsflags = READ_ONCE(tsk->sk_tsflags),
	};

	return sock_cmsg_send(tsk, msg, &sockc);
}

/**
 * smc_tx_sendmsg() - send on an SMC connection
 * @smc: socket
 * @msg: data and flags; MSG_SPLICE_PAGES is honoured by copying
 * @len: bytes
 *
 * A blocking call returns when all bytes are in the send ring. RFC 7609, 4.4.2.
 * Context: process, socket lock held; it is released while waiting for space.
 * Return: bytes taken, less than @len after an error, a signal or in
 * nonblocking mode; -EAGAIN, -EFAULT, -EINTR or -ERESTARTSYS if none; -EINVAL
 * and -EPERM for control data; -EPIPE (with SIGPIPE unless MSG_NOSIGNAL) or the
 * pending error of the socket if the stream cannot be continued
 */
int smc_tx_sendmsg(struct smc_sock *smc, struct msghdr *msg, size_t len)
{
	const struct smc_member *m = &smc->conn.member;
	struct sock *sk = &smc->sk;
	size_t copied = 0;
	ssize_t n;
	long timeo;
	int rc;

	sock_owned_by_me(sk);
	timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	sk_clear_bit(SOCKWQ_ASYNC_NOSPACE, sk);

	rc = smc_tx_allowed(smc);
	if (!rc && unlikely(msg->msg_controllen))
		rc = smc_tx_control(smc, msg);
	while (!rc && copied < len) {
		if (!m->snd_ring && !smc_tx_open(smc)) {
			rc = smc_tx_allowed(smc);
			continue;
		}
		n = m->snd_ring ? smc_tx_fill(smc, msg, len - copied) : 0;
		if (n > 0) {
			copied += n;
			if (smc_tx_hold(smc, msg->msg_flags))
				SMC_INC(sock_net(sk), TX_CORKED);
			else
				smc_conn_kick(&smc->conn);
			continue;
		}
		rc = n ? n : smc_tx_wait(smc, &timeo);
		if (!rc)
			rc = smc_tx_allowed(smc);
	}

	if (!copied)
		return rc ? sk_stream_error(sk, msg->msg_flags, rc) : 0;
	SMC_ADD(sock_net(sk), TX_BYTES, copied);
	if (msg->msg_flags & MSG_OOB)
		SMC_INC(sock_net(sk), URG_TX);
	return copied;
}
EXPORT_SYMBOL_IF_KUNIT(smc_tx_sendmsg);
