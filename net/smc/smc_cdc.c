// SPDX-License-Identifier: GPL-2.0
/*
 * Connection data control (layer 5): what a message of this connection says.
 * RFC 7609, 4.4, 4.7 and A.4.
 *
 * Whoever makes a reason for a message (data written, window to be
 * reported, closing flag wanted) records it and kicks the transport, which
 * calls smc_cdc_next_msg() at once or when it has a slot. That function looks
 * at everything recorded until then and builds one message of it; so no reason
 * is lost when slots are short, and none needs a retry of its own.
 *
 * D and C go out in the message that covers the last byte written, never
 * before: the peer takes them as the end of the stream. A goes out at once and
 * drops what was not sent. Behind C or A, in either direction, nothing is
 * written into the peer's ring any more: the memory may be gone.
 */
#include <kunit/visibility.h>
#include <net/sock.h>

#include "smc_conn.h"
#include "smc_net.h"
#include "smc_stats.h"
#include "smc_trace.h"

#define SMC_CDC_C_FINAL		(SMC_CDC_C_CLOSED | SMC_CDC_C_ABORT)

/* Neither direction has been closed for data. */
static bool smc_cdc_may_write(const struct smc_conn *conn)
{
	if (conn->tx_final || conn->tx_closing & SMC_CDC_C_ABORT)
		return false;
	return !(READ_ONCE(conn->rx_cflags) & SMC_CDC_C_FINAL);
}

/* Bytes of @ready that may leave now. A message with U ends exactly behind the
 * urgent byte, and what follows waits until the peer has read past it: the
 * reader of Linux 7.3 takes the last readable byte for the urgent one.
 */
static u32 smc_cdc_sendable(const struct smc_conn *conn, u64 sent, u64 ready,
			    u32 window)
{
	u64 n = min_t(u64, ready, window);

	if (conn->tx_urg_sent > (u64)atomic64_read(&conn->peer_cons))
		return 0;
	if (conn->tx_urg > sent)
		n = min_t(u64, n, conn->tx_urg - sent);
	return n;
}

/* Closing flags that the message ending at @sent has to add. */
static u8 smc_cdc_closing_due(const struct smc_conn *conn, u64 sent, u64 prep)
{
	u8 due = conn->tx_closing & ~conn->tx_cflags;

	if (due & SMC_CDC_C_ABORT)
		return SMC_CDC_C_ABORT;
	if (conn->tx_final)
		return 0;
	if (sent == prep)
		return due;
	/* The peer has closed before it could take all: not a clean end. */
	if (due & SMC_CDC_C_CLOSED &&
	    READ_ONCE(conn->rx_cflags) & SMC_CDC_C_CLOSED)
		return SMC_CDC_C_ABORT;
	return 0;
}

/* Producer flags of a message that moves @n of @ready bytes. */
static u8 smc_cdc_pflags(struct smc_conn *conn, u64 sent, u32 n, u64 ready,
			 u32 window)
{
	u8 flags;

	if (ready) {
		if (ready >= window)
			conn->tx_pflags |= SMC_CDC_P_BLOCKED;
		else
			conn->tx_pflags &= ~SMC_CDC_P_BLOCKED;
	} else if (window) {
		conn->tx_pflags &= ~SMC_CDC_P_BLOCKED;
	}

	flags = conn->tx_pflags;
	if (n && conn->tx_urg == sent + n) {
		flags |= SMC_CDC_P_URGENT;
		conn->tx_pflags &= ~SMC_CDC_P_URGENT;
		conn->tx_urg_sent = conn->tx_urg;
		conn->tx_urg = 0;
	}
	return flags;
}

/* Is a completion needed soon? Not for the first message of an idle direction,
 * so that request and response go without. In a stream it ends the hold of the
 * writes that come meanwhile (autocork), and it frees send space in time.
 */
static bool smc_cdc_needs_signal(const struct smc_conn *conn, u64 sent,
				 u32 n, u8 closing)
{
	u64 used = atomic64_read(&conn->tx_prep) - atomic64_read(&conn->tx_done);

	if (closing)
		return true;
	if (!n)
		return false;
	return sent != atomic64_read(&conn->peer_cons) ||
	       used > conn->member.snd_size / 2;
}

static void smc_cdc_commit(struct smc_conn *conn, struct smc_tx_msg *msg,
			   u8 closing)
{
	struct smc_member *m = &conn->member;
	struct smc_cdc *cdc = &msg->cdc;
	u64 cons;

	/* Paired with the release in smc_rx.c: ring bytes before this position
	 * have been read, the peer may overwrite them.
	 */
	cons = atomic64_read_acquire(&conn->rx_read);

	conn->tx_cflags |= closing;
	conn->tx_final = conn->tx_cflags & SMC_CDC_C_FINAL;
	conn->tx_owed = false;
	atomic64_set(&conn->tx_sent, msg->pos + msg->len);
	atomic64_set(&conn->rx_confirmed, cons);

	cdc->token = m->peer_token;
	cdc->seq = ++conn->tx_seq;
	cdc->prod = smc_cursor_from_pos(msg->pos + msg->len, m->peer_size);
	cdc->cons = smc_cursor_from_pos(cons, m->rcv_size);
	cdc->cflags = conn->tx_cflags;

	if (msg->signal) {
		conn->tx_signal_seq = cdc->seq;
		WRITE_ONCE(conn->tx_signalled, true);
	}
	trace_smc_cdc_tx(smc_of_member(m), cdc, msg->pos + msg->len, cons, 0);
}

/**
 * smc_cdc_next_msg() - build and commit the next message of a connection
 * @m: member
 * @msg: to be filled
 *
 * smc_member_ops.next_msg. Context: softirq or process, tx_lock held.
 *
 * Return: SMC_TX_NONE, or SMC_TX_MSG, with SMC_TX_MORE if one more is ready
 */
int smc_cdc_next_msg(struct smc_member *m, struct smc_tx_msg *msg)
{
	struct smc_conn *conn = smc_conn_of(m);
	u64 sent, prep, ready;
	bool may_write;
	u32 window, n;
	u8 closing;

	lockdep_assert_held(&m->tx_lock);
	if (!conn->joined || conn->left || conn->killed)
		return SMC_TX_NONE;

	may_write = smc_cdc_may_write(conn);
	sent = atomic64_read(&conn->tx_sent);
	/* ring contents up to here are visible, see smc_tx_fill() */
	prep = atomic64_read_acquire(&conn->tx_prep);
	window = smc_ring_free(atomic64_read(&conn->peer_cons), sent,
			       m->peer_size);
	ready = may_write ? prep - sent : 0;
	n = smc_cdc_sendable(conn, sent, ready, window);

	closing = smc_cdc_closing_due(conn, sent + n, prep);
	if (!n && !closing &&
	    (!conn->tx_owed || conn->tx_final ||
	     READ_ONCE(conn->rx_cflags) & SMC_CDC_C_ABORT))
		return SMC_TX_NONE;

	conn->tx_undo.pflags = conn->tx_pflags;
	conn->tx_undo.cflags = conn->tx_cflags;
	conn->tx_undo.urg = conn->tx_urg;
	memset(msg, 0, sizeof(*msg));
	msg->pos = sent;
	msg->len = n;
	msg->signal = smc_cdc_needs_signal(conn, sent, n, closing);
	msg->cdc.pflags = smc_cdc_pflags(conn, sent, n, ready, window);
	smc_cdc_commit(conn, msg, closing);

	if (n && ready > window)
		SMC_INC(m->net, TX_BLOCKED);
	if (closing & SMC_CDC_C_ABORT)
		SMC_INC(m->net, ABORT_TX);
	if (closing & SMC_CDC_C_FINAL && conn->tx_notify)
		smc_conn_schedule(smc_of_member(m), 0);
	return smc_cdc_sendable(conn, sent + n, ready - n, window - n) ?
	       SMC_TX_MSG | SMC_TX_MORE : SMC_TX_MSG;
}

/**
 * smc_cdc_tx_failed() - take the message just built back
 * @m: member
 * @msg: what smc_cdc_next_msg() returned; nothing was posted since
 *
 * smc_member_ops.tx_failed. Context: softirq or process, tx_lock held.
 */
void smc_cdc_tx_failed(struct smc_member *m, const struct smc_tx_msg *msg)
{
	struct smc_conn *conn = smc_conn_of(m);

	lockdep_assert_held(&m->tx_lock);
	conn->tx_seq--;
	atomic64_set(&conn->tx_sent, msg->pos);
	conn->tx_pflags = conn->tx_undo.pflags;
	conn->tx_cflags = conn->tx_undo.cflags;
	conn->tx_urg = conn->tx_undo.urg;
	conn->tx_final = conn->tx_cflags & SMC_CDC_C_FINAL;
	conn->tx_owed = true;
	if (msg->signal)
		WRITE_ONCE(conn->tx_signalled, false);
}

/**
 * smc_cdc_switched() - the connection continues on another link
 * @m: member
 *
 * smc_member_ops.switched. Everything that has not completed will be sent
 * again, into the same places of the peer's ring, with the same flags; and one
 * message is due in any case, since a window update may have been lost.
 * Context: process, tx_lock held.
 */
void smc_cdc_switched(struct smc_member *m)
{
	struct smc_conn *conn = smc_conn_of(m);
	u64 from;

	lockdep_assert_held(&m->tx_lock);
	from = max(atomic64_read(&conn->tx_done),
		   atomic64_read(&conn->peer_cons));
	atomic64_set(&conn->tx_done, from);
	atomic64_set(&conn->tx_sent, from);
	WRITE_ONCE(conn->tx_signalled, false);
	conn->tx_owed = true;
	if (!conn->tx_urg && conn->tx_urg_sent > from) {
		conn->tx_urg = conn->tx_urg_sent;
		conn->tx_pflags |= SMC_CDC_P_URG_PENDING;
	}
	conn->tx_closing |= conn->tx_cflags;
	conn->tx_cflags = 0;
	conn->tx_final = false;
}

/**
 * smc_cdc_owe() - the peer shall get a message, with or without data
 * @conn: connection
 *
 * Context: any, tx_lock not held; the message may leave before it returns.
 */
void smc_cdc_owe(struct smc_conn *conn)
{
	spin_lock_bh(&conn->member.tx_lock);
	conn->tx_owed = true;
	spin_unlock_bh(&conn->member.tx_lock);
	smc_conn_kick(conn);
}
EXPORT_SYMBOL_IF_KUNIT(smc_cdc_owe);

/**
 * smc_cdc_want() - announce the end of the own direction
 * @conn: connection
 * @cflags: SMC_CDC_C_*: D and C follow the last byte written, A overtakes it
 *
 * RFC 7609, 4.7. Context: any, tx_lock not held. If C or A cannot be sent now,
 * close_work runs when it was.
 *
 * Return: true if C or A has been sent
 */
bool smc_cdc_want(struct smc_conn *conn, u8 cflags)
{
	struct smc_member *m = &conn->member;
	bool sent;

	spin_lock_bh(&m->tx_lock);
	conn->tx_closing |= cflags;
	spin_unlock_bh(&m->tx_lock);

	smc_conn_kick(conn);

	spin_lock_bh(&m->tx_lock);
	sent = smc_cdc_final_sent(conn);
	conn->tx_notify = !sent;
	spin_unlock_bh(&m->tx_lock);
	return sent;
}
