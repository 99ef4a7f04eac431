// SPDX-License-Identifier: GPL-2.0
/*
 * Receive side of the socket (layer 5): from the receive ring to the user, the
 * end of the stream, window updates, urgent data. RFC 7609, 4.4 and 4.6.
 *
 * What a reader gets, in this order: data that arrived; the pending error; end
 * of stream. A stream that the peer has ended properly (SOCK_DONE) ends without
 * an error, whatever happens to the connection later. sk_shutdown and sk_err
 * change only while nobody owns the socket, and after the positions of the same
 * message were stored, so an owner that finds them set after it found the ring
 * empty has missed nothing.
 *
 * Urgent data work as in TCP: reads stop at the mark; the next read skips the
 * urgent byte, or delivers it with SO_OOBINLINE; MSG_OOB reads it as long as the
 * stream has not passed it. A reader that stands at the mark may stay there, for
 * instance because only the skipped byte is left and poll() does not report it.
 * But the peer may wait for the byte to be consumed before it sends more. So it
 * is then set aside, out of the ring, and counts as consumed on the wire.
 */
#include <kunit/visibility.h>
#include <net/sock.h>

#include "smc_conn.h"
#include "smc_net.h"
#include "smc_stats.h"
#include "smc_trace.h"

/* Position of the urgent byte, if the stream has one ahead, and whether it was
 * set aside. For callers without the socket lock.
 */
static bool smc_rx_mark(const struct smc_sock *smc, u64 *mark, bool *aside)
{
	struct sock *sk = (struct sock *)&smc->sk;
	bool found;

	if (likely(READ_ONCE(smc->conn.urg_state) == SMC_URG_NONE))
		return false;
	spin_lock_bh(&sk->sk_lock.slock);
	found = smc->conn.urg_state != SMC_URG_NONE;
	*mark = smc->conn.urg_pos - 1;
	*aside = smc->conn.urg_aside;
	spin_unlock_bh(&sk->sk_lock.slock);
	return found;
}

/**
 * smc_rx_avail() - bytes that a read without MSG_OOB can deliver
 * @smc: socket
 *
 * Context: any but hard interrupts and holders of the slock; no lock needed.
 * Return: bytes, without an urgent byte that will be skipped
 */
u32 smc_rx_avail(const struct smc_sock *smc)
{
	u64 cons = atomic64_read(&smc->conn.rx_read);
	u64 prod = atomic64_read(&smc->conn.rx_prod);
	bool in_line = sock_flag(&smc->sk, SOCK_URGINLINE);
	u32 n = smc_ring_dist(cons, prod);
	bool aside;
	u64 mark;

	if (!smc_rx_mark(smc, &mark, &aside))
		return n;
	if (aside)
		return in_line ? n + 1 : n;
	return mark >= cons && mark < prod && !in_line ? n - 1 : n;
}
EXPORT_SYMBOL_IF_KUNIT(smc_rx_avail);

/**
 * smc_rx_inq() - SIOCINQ: bytes up to the urgent mark, or all
 * @smc: socket
 *
 * As TCP counts. Context: as smc_rx_avail().
 *
 * Return: bytes
 */
u32 smc_rx_inq(const struct smc_sock *smc)
{
	u64 cons = atomic64_read(&smc->conn.rx_read);
	u64 prod = atomic64_read(&smc->conn.rx_prod);
	bool aside;
	u64 mark;

	if (sock_flag(&smc->sk, SOCK_URGINLINE) ||
	    !smc_rx_mark(smc, &mark, &aside))
		return smc_rx_avail(smc);
	if (aside)
		return 0;
	return mark >= cons && mark < prod ? mark - cons :
					     smc_ring_dist(cons, prod);
}
EXPORT_SYMBOL_IF_KUNIT(smc_rx_inq);

/**
 * smc_rx_left() - TCP_INQ: what is left after a read
 * @smc: socket
 *
 * As TCP counts: an urgent byte too, and the end of the stream as one more, so
 * that the program goes on reading. Context: as smc_rx_avail().
 *
 * Return: bytes
 */
int smc_rx_left(const struct smc_sock *smc)
{
	u64 cons = atomic64_read(&smc->conn.rx_read);
	u64 prod = atomic64_read(&smc->conn.rx_prod);
	u32 n = smc_ring_dist(cons, prod);
	bool aside;
	u64 mark;

	if (smc_rx_mark(smc, &mark, &aside) && aside)
		n++;
	return n + sock_flag(&smc->sk, SOCK_DONE);
}

/**
 * smc_rx_urgent() - EPOLLPRI: an urgent byte waits to be read
 * @smc: socket
 *
 * Context: any, no lock.
 * Return: true if so
 */
bool smc_rx_urgent(const struct smc_sock *smc)
{
	return READ_ONCE(smc->conn.urg_state) == SMC_URG_VALID;
}
EXPORT_SYMBOL_IF_KUNIT(smc_rx_urgent);

/**
 * smc_rx_atmark() - SIOCATMARK: the next byte of the stream is the urgent one
 * @smc: socket
 *
 * Also if it was read with MSG_OOB, as in TCP. Context: as smc_rx_avail().
 *
 * Return: true if so
 */
bool smc_rx_atmark(const struct smc_sock *smc)
{
	bool aside;
	u64 mark;

	return smc_rx_mark(smc, &mark, &aside) &&
	       (aside || mark == atomic64_read(&smc->conn.rx_read));
}
EXPORT_SYMBOL_IF_KUNIT(smc_rx_atmark);

/**
 * smc_rx_update_due() - has enough been consumed to tell the peer?
 * @conn: connection
 *
 * Context: any, no lock.
 * Return: true if so
 */
bool smc_rx_update_due(const struct smc_conn *conn)
{
	return smc_ring_update_due(atomic64_read(&conn->rx_prod),
				   atomic64_read(&conn->rx_read),
				   atomic64_read(&conn->rx_confirmed),
				   conn->member.rcv_size, conn->rx_limit,
				   READ_ONCE(conn->rx_pflags) &
				   SMC_CDC_P_BLOCKED);
}

/* @n more bytes of the ring belong to the peer again. */
static void smc_rx_consume(struct smc_sock *smc, u32 n, bool force)
{
	struct smc_conn *conn = &smc->conn;

	WRITE_ONCE(conn->rx_cons, conn->rx_cons + n);
	/* Paired with smc_cdc_commit(): the bytes were read before. */
	atomic64_set_release(&conn->rx_read, conn->rx_cons);

	if (force || smc_rx_update_due(conn))
		smc_cdc_owe(conn);
	if (unlikely(conn->urg_state != SMC_URG_NONE))
		smc_rx_urg_aside(smc);
	/* Rings of a dead connection are kept for unread data only. */
	if (unlikely(READ_ONCE(smc->sk.sk_state) == SMC_CLOSED) &&
	    !smc_rx_unread(conn))
		smc_conn_schedule(smc, 0);
}

/**
 * smc_rx_urg_arrived() - an urgent byte has come: set the mark, tell of it
 * @smc: socket
 *
 * A byte that was set aside and not read is dropped for the new one; one that
 * the stream has not reached becomes ordinary. RFC 7609, 4.6; as in TCP.
 * Context: softirq or process, slock held, no other owner of the socket.
 */
void smc_rx_urg_arrived(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;
	struct sock *sk = &smc->sk;

	lockdep_assert_held(&sk->sk_lock.slock);
	if (!test_and_clear_bit(SMC_CONN_EV_URG, &conn->events) || conn->left)
		return;
	if (conn->urg_aside)
		WRITE_ONCE(conn->rx_cons, conn->rx_cons + 1);
	conn->urg_aside = false;
	conn->urg_pos = conn->urg_new;
	WRITE_ONCE(conn->urg_state, SMC_URG_VALID);
	SMC_INC(sock_net(sk), URG_RX);
	if (!sock_flag(sk, SOCK_DEAD)) {
		sk_send_sigurg(sk);
		sk->sk_data_ready(sk);
	}
	/* nothing to be read before it: no read will set it aside */
	if (conn->rx_cons == conn->urg_pos - 1)
		smc_conn_schedule(smc, 0);
}

/**
 * smc_rx_urg_aside() - take the urgent byte out of the ring at the mark
 * @smc: socket
 *
 * Nothing happens elsewhere, or with SO_OOBINLINE, where reads deliver it.
 * Context: process, socket lock held.
 */
void smc_rx_urg_aside(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;
	struct smc_member *m = &conn->member;
	struct sock *sk = &smc->sk;

	sock_owned_by_me(sk);
	if (likely(conn->urg_state == SMC_URG_NONE) || conn->urg_aside ||
	    conn->rx_cons != conn->urg_pos - 1 || conn->left ||
	    sock_flag(sk, SOCK_URGINLINE))
		return;

	m->transport->rcv_ready(m, conn->rx_cons, 1);
	spin_lock_bh(&sk->sk_lock.slock);
	conn->urg_byte = m->rcv_ring[smc_ring_offset(conn->rx_cons,
						     m->rcv_size)];
	conn->urg_aside = true;
	atomic64_set_release(&conn->rx_read, conn->rx_cons + 1);
	spin_unlock_bh(&sk->sk_lock.slock);
	smc_cdc_owe(conn);
}

/* The stream passes the mark at which it stands. */
static void smc_rx_urg_passed(struct smc_sock *smc)
{
	spin_lock_bh(&smc->sk.sk_lock.slock);
	WRITE_ONCE(smc->conn.urg_state, SMC_URG_NONE);
	smc->conn.urg_aside = false;
	spin_unlock_bh(&smc->sk.sk_lock.slock);
}

/* A mark that softirq has left for the owner counts before its bytes do. */
static void smc_rx_urg_take_over(struct smc_sock *smc)
{
	spin_lock_bh(&smc->sk.sk_lock.slock);
	smc_rx_urg_arrived(smc);
	spin_unlock_bh(&smc->sk.sk_lock.slock);
}

/* Copy from [pos, pos + len), which may pass the end of the ring. Returns the
 * bytes copied; fewer after a fault, which as in TCP makes nothing of the piece.
 */
static size_t smc_rx_copy(struct smc_sock *smc, struct iov_iter *to, u64 pos,
			  size_t len)
{
	struct smc_member *m = &smc->conn.member;
	size_t piece, n, done = 0;
	u32 off;

	while (done < len) {
		off = smc_ring_offset(pos + done, m->rcv_size);
		piece = min_t(size_t, len - done, m->rcv_size - off);
		m->transport->rcv_ready(m, pos + done, piece);
		n = copy_to_iter(m->rcv_ring + off, piece, to);
		if (unlikely(n < piece)) {
			iov_iter_revert(to, n);
			break;
		}
		done += n;
	}
	return done;
}

/**
 * struct smc_rx_call - one recvmsg call
 * @flags: MSG_*
 * @copied: bytes delivered so far
 * @pos: position of the next byte; ahead of rx_cons with MSG_PEEK
 */
struct smc_rx_call {
	int flags;
	size_t copied;
	u64 pos;
};

/* SO_PEEK_OFF, if it is used */
static void smc_rx_peek_off(struct smc_sock *smc,
			    const struct smc_rx_call *call, int n)
{
	if (call->flags & MSG_PEEK)
		sk_peek_offset_fwd(&smc->sk, n);
	else
		sk_peek_offset_bwd(&smc->sk, n);
}

/* The reader stands at the mark, as first thing in its call. Without
 * SO_OOBINLINE the byte is skipped. With it, it is delivered alone: from where
 * it was set aside before the option was switched on, else from the ring.
 */
static ssize_t smc_rx_at_mark(struct smc_sock *smc, struct msghdr *msg,
			      struct smc_rx_call *call)
{
	struct smc_conn *conn = &smc->conn;
	bool in_line = sock_flag(&smc->sk, SOCK_URGINLINE);
	bool told = conn->urg_aside;

	if (in_line && !(call->flags & MSG_TRUNC) &&
	    (told ?
	     copy_to_iter(&conn->urg_byte, 1, &msg->msg_iter) :
	     smc_rx_copy(smc, &msg->msg_iter, call->pos, 1)) != 1)
		return -EFAULT;
	call->pos++;
	call->copied += in_line;
	smc_rx_peek_off(smc, call, in_line);
	if (!(call->flags & MSG_PEEK)) {
		smc_rx_urg_passed(smc);
		smc_rx_consume(smc, 1, !told);
	}
	return 1;
}

/* Bytes to take next from the ring; 0 nothing there, -EINTR at the mark. */
static ssize_t smc_rx_extent(struct smc_sock *smc, struct smc_rx_call *call,
			     size_t len)
{
	struct smc_conn *conn = &smc->conn;
	u64 prod, avail, mark;

	/* Paired with smc_cdc_apply(): ring contents are there. */
	prod = atomic64_read_acquire(&conn->rx_prod);
	if (unlikely(test_bit(SMC_CONN_EV_URG, &conn->events)))
		smc_rx_urg_take_over(smc);
	/* another reader may have come in between while this one slept */
	call->pos = max(call->pos, conn->rx_cons);
	avail = smc_ring_dist(call->pos, prod);
	mark = conn->urg_pos - 1;
	if (!avail || !len || likely(conn->urg_state == SMC_URG_NONE) ||
	    mark < call->pos)
		return min_t(u64, avail, len);
	if (mark == call->pos)
		return -EINTR;
	return min3(avail, (u64)len, mark - call->pos);
}

/* Deliver what is there. Returns more than 0 to go on, 0 if nothing is there,
 * -EINTR at the urgent mark, -EFAULT.
 */
static ssize_t smc_rx_take(struct smc_sock *smc, struct msghdr *msg, size_t len,
			   struct smc_rx_call *call)
{
	ssize_t n = smc_rx_extent(smc, call, len);

	if (n == -EINTR && !call->copied)
		return smc_rx_at_mark(smc, msg, call);
	if (n <= 0)
		return n;
	if (!(call->flags & MSG_TRUNC)) {
		n = smc_rx_copy(smc, &msg->msg_iter, call->pos, n);
		if (!n)
			return -EFAULT;
	}
	call->pos += n;
	call->copied += n;
	smc_rx_peek_off(smc, call, n);
	if (!(call->flags & MSG_PEEK)) {
		smc_rx_consume(smc, n, false);
		trace_smc_rx_recvmsg(smc, n);
	}
	return n;
}

/* Is there a byte that was not looked at? */
static bool smc_rx_more(const struct smc_sock *smc,
			const struct smc_rx_call *call)
{
	return smc_ring_dist(call->pos, atomic64_read(&smc->conn.rx_prod));
}

/* The ring is empty: may the reader wait? 0 yes, 1 return what there is (which
 * is the end of the stream if nothing was copied), or a negative errno.
 */
static int smc_rx_end(struct sock *sk, size_t copied, long timeo)
{
	if (copied)
		return READ_ONCE(sk->sk_err) || sk->sk_state == SMC_CLOSED ||
		       sk->sk_shutdown & RCV_SHUTDOWN || !timeo ||
		       signal_pending(current);
	if (sock_flag(sk, SOCK_DONE))
		return 1;
	if (READ_ONCE(sk->sk_err))
		return sock_error(sk);
	if (sk->sk_shutdown & RCV_SHUTDOWN)
		return 1;
	if (sk->sk_state == SMC_CLOSED)
		return -ENOTCONN;
	if (!timeo)
		return -EAGAIN;
	return signal_pending(current) ? sock_intr_errno(timeo) : 0;
}

/* Is there something for a reader at @pos, which needs @need bytes? */
static bool smc_rx_event(const struct smc_sock *smc, u64 pos, u32 need)
{
	const struct sock *sk = &smc->sk;

	return smc_ring_dist(pos, atomic64_read(&smc->conn.rx_prod)) >= need ||
	       READ_ONCE(sk->sk_err) ||
	       READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN ||
	       READ_ONCE(sk->sk_state) == SMC_CLOSED;
}

/* A reader of @len bytes that has got nothing yet sleeps for SO_RCVLOWAT bytes,
 * if they find room.
 */
static void smc_rx_wait(struct smc_sock *smc, const struct smc_rx_call *call,
			size_t len, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = &smc->sk;
	u32 need = 1;
	int rc;

	if (!call->copied)
		need = min_t(size_t, sock_rcvlowat(sk, 0, len),
			     smc->conn.member.rcv_size);
	add_wait_queue(sk_sleep(sk), &wait);
	do {
		rc = sk_wait_event(sk, timeo,
				   smc_rx_event(smc, call->pos, need), &wait);
	} while (!rc && *timeo && !signal_pending(current));
	remove_wait_queue(sk_sleep(sk), &wait);
}

/* recv(MSG_OOB), errors as in TCP */
static int smc_rx_oob(struct smc_sock *smc, struct msghdr *msg, size_t len,
		      int flags)
{
	struct smc_conn *conn = &smc->conn;
	struct sock *sk = &smc->sk;

	if (unlikely(test_bit(SMC_CONN_EV_URG, &conn->events)))
		smc_rx_urg_take_over(smc);
	if (sock_flag(sk, SOCK_URGINLINE))
		return -EINVAL;
	if (!smc_rx_urgent(smc)) {
		/* announced, the byte itself has not come */
		if (READ_ONCE(conn->rx_pflags) & SMC_CDC_P_URG_PENDING &&
		    !(READ_ONCE(conn->rx_pflags) & SMC_CDC_P_URG_PRESENT))
			return sk->sk_shutdown & RCV_SHUTDOWN ? 0 : -EAGAIN;
		return -EINVAL;
	}

	msg->msg_flags |= MSG_OOB;
	if (!len)
		msg->msg_flags |= MSG_TRUNC;
	else if (!(flags & MSG_TRUNC) &&
		 (conn->urg_aside ?
		  copy_to_iter(&conn->urg_byte, 1, &msg->msg_iter) :
		  smc_rx_copy(smc, &msg->msg_iter, conn->urg_pos - 1, 1)) != 1)
		return -EFAULT;

	if (!(flags & MSG_PEEK))
		WRITE_ONCE(conn->urg_state, SMC_URG_READ);
	return len ? 1 : 0;
}

/**
 * smc_rx_recvmsg() - receive on an SMC connection
 * @smc: socket
 * @msg: where to
 * @len: bytes
 * @flags: MSG_PEEK, MSG_WAITALL, MSG_TRUNC (discard), MSG_OOB, MSG_DONTWAIT
 *
 * Sends a window update when one is due. RFC 7609, 4.4.2 and 4.5. Context:
 * process, socket lock held; it is released while waiting for data.
 *
 * Return: bytes, 0 at the end of the stream; the pending error of the socket
 * (once); -EAGAIN, -EFAULT, -EINVAL (MSG_OOB), -ENOTCONN; -EINTR or -ERESTARTSYS
 */
int smc_rx_recvmsg(struct smc_sock *smc, struct msghdr *msg, size_t len,
		   int flags)
{
	struct smc_rx_call call = { .flags = flags };
	struct sock *sk = &smc->sk;
	size_t target;
	int rc = 0;
	long timeo;
	ssize_t n;

	sock_owned_by_me(sk);
	if (unlikely(flags & MSG_OOB))
		return smc_rx_oob(smc, msg, len, flags);

	timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	target = sock_rcvlowat(sk, flags & MSG_WAITALL, len);
	call.pos = smc->conn.rx_cons + max(sk_peek_offset(sk, flags), 0);
	/* without room for a byte it waits for one nevertheless, as TCP does */
	while (call.copied < len || !len) {
		n = smc_rx_take(smc, msg, len - call.copied, &call);
		if (n > 0)
			continue;
		if (n < 0) {
			rc = n;
			break;
		}
		if (call.copied >= target || (!len && smc_rx_more(smc, &call)))
			break;
		rc = smc_rx_end(sk, call.copied, timeo);
		if (rc)
			break;
		smc_rx_wait(smc, &call, len, &timeo);
	}

	if (!call.copied)
		return rc < 0 ? rc : 0;
	if (!(flags & MSG_PEEK))
		SMC_ADD(sock_net(sk), RX_BYTES, call.copied);
	return call.copied;
}
EXPORT_SYMBOL_IF_KUNIT(smc_rx_recvmsg);
