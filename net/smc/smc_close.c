// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a connection (layer 5): close states, what the application and
 * the peer see, and how long a closed socket may go on. RFC 7609, 4.7.
 *
 * Every step is one lookup of (state, event) in a pure table. A state follows
 * what was asked for at once; what has to be sent for it (D, C, A) is recorded
 * and leaves when its turn has come, see smc_cdc.c. Nothing here waits, except
 * close(2) with SO_LINGER, without the socket lock.
 *
 * Behind close(2) the socket lives on without a user until the peer has closed
 * too, as an orphan of TCP does: as long as data move, at most
 * SMC_ORPHAN_STALL without any progress, and tcp_fin_timeout once everything
 * was sent. Then it sends A and is freed. close_work looks at that and does
 * what needs process context: the end of the TCP connection, leave().
 *
 * shutdown(SHUT_RDWR) sends C as close(2) does: the peer's reader gets the rest
 * and the end, its writer EPIPE. But what the application has not read does not
 * turn it into A, since it still may read it.
 *
 * All state changes run under the socket lock or, without an owner, under the
 * slock.
 */
#include <linux/module.h>
#include <linux/tcp.h>
#include <kunit/visibility.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "smc_conn.h"
#include "smc_net.h"
#include "smc_stats.h"
#include "smc_trace.h"

/* an orphan whose peer is there but takes no data */
#define SMC_ORPHAN_STALL	(300 * HZ)
/* C or A of a closed connection finds no slot on a link that still is up */
#define SMC_FINAL_TIME		(5 * HZ)

/**
 * struct smc_close_cell - a step
 * @next: next state, 0 stay
 * @next_if: the same if the guard holds
 * @act: SMC_ACT_*
 */
struct smc_close_cell {
	u8 next;
	u8 next_if;
	u8 act;
};

#define TO(state, act)		{ SMC_##state, SMC_##state, act }
#define FORK(yes, no, act)	{ SMC_##no, SMC_##yes, act }
#define STAY(act)		{ 0, 0, act }
#define RESET			(SMC_ACT_ABORT | SMC_ACT_ERR)
#define REFUSE_SHUTDOWN					\
	[SMC_EV_SHUT_RDWR]	= STAY(SMC_ACT_REFUSE),	\
	[SMC_EV_SHUT_WR]	= STAY(SMC_ACT_REFUSE)
#define END_BY_ERROR(tell)						\
	[SMC_EV_ABORT]		= TO(CLOSED, SMC_ACT_ABORT | (tell)),	\
	[SMC_EV_KILL]		= TO(CLOSED, tell)

/* The guard of an application's event: C was received. The guard of a peer's
 * event: the application has closed. Cells that are not named stay and do
 * nothing. In SMC_INIT the peer's flags are kept until the handshake has ended.
 */
static const struct smc_close_cell
smc_close_table[SMC_PROCESSABORT + 1][SMC_EV_MAX] = {
	[SMC_INIT] = {
		[SMC_EV_ESTABLISHED]	= TO(ACTIVE, 0),
		[SMC_EV_CLOSE]		= TO(CLOSED, SMC_ACT_ABORT),
		REFUSE_SHUTDOWN,
		[SMC_EV_ABORT]		= TO(CLOSED, RESET),
	},
	[SMC_LISTEN] = {
		[SMC_EV_CLOSE]		= TO(CLOSED, 0),
		REFUSE_SHUTDOWN,
	},
	[SMC_ACTIVE] = {
		[SMC_EV_CLOSE]		= TO(PEERCLOSEWAIT1, SMC_ACT_FIN),
		[SMC_EV_SHUT_RDWR]	= TO(PEERCLOSEWAIT1, SMC_ACT_FIN),
		[SMC_EV_SHUT_WR]	= TO(PEERCLOSEWAIT1, SMC_ACT_DONE),
		[SMC_EV_RX_DONE]	= TO(APPCLOSEWAIT1, 0),
		[SMC_EV_RX_CLOSED]	= TO(APPCLOSEWAIT1, 0),
		[SMC_EV_RX_ABORT]	= TO(PROCESSABORT, RESET),
		END_BY_ERROR(SMC_ACT_ERR),
	},
	[SMC_PEERCLOSEWAIT1] = {
		[SMC_EV_CLOSE]		= STAY(SMC_ACT_FIN),
		[SMC_EV_SHUT_RDWR]	= STAY(SMC_ACT_FIN),
		[SMC_EV_RX_DONE]	= TO(PEERCLOSEWAIT2, 0),
		[SMC_EV_RX_CLOSED]	= FORK(CLOSED, APPFINCLOSEWAIT, 0),
		[SMC_EV_RX_ABORT]	= FORK(CLOSED, PROCESSABORT, RESET),
		END_BY_ERROR(SMC_ACT_ERR),
	},
	[SMC_PEERCLOSEWAIT2] = {
		[SMC_EV_CLOSE]		= STAY(SMC_ACT_FIN),
		[SMC_EV_SHUT_RDWR]	= STAY(SMC_ACT_FIN),
		[SMC_EV_RX_CLOSED]	= FORK(CLOSED, APPFINCLOSEWAIT, 0),
		[SMC_EV_RX_ABORT]	= FORK(CLOSED, PROCESSABORT, RESET),
		END_BY_ERROR(SMC_ACT_ERR),
	},
	[SMC_APPCLOSEWAIT1] = {
		[SMC_EV_CLOSE]		= FORK(CLOSED, PEERFINCLOSEWAIT, SMC_ACT_FIN),
		[SMC_EV_SHUT_RDWR]	= FORK(APPFINCLOSEWAIT, PEERFINCLOSEWAIT,
					       SMC_ACT_FIN),
		[SMC_EV_SHUT_WR]	= TO(APPCLOSEWAIT2, SMC_ACT_DONE),
		[SMC_EV_RX_ABORT]	= TO(PROCESSABORT, RESET),
		END_BY_ERROR(SMC_ACT_ERR),
	},
	[SMC_APPCLOSEWAIT2] = {
		[SMC_EV_CLOSE]		= FORK(CLOSED, PEERFINCLOSEWAIT, SMC_ACT_FIN),
		[SMC_EV_SHUT_RDWR]	= FORK(APPFINCLOSEWAIT, PEERFINCLOSEWAIT,
					       SMC_ACT_FIN),
		[SMC_EV_RX_ABORT]	= TO(PROCESSABORT, RESET),
		END_BY_ERROR(SMC_ACT_ERR),
	},
	[SMC_APPFINCLOSEWAIT] = {
		[SMC_EV_CLOSE]		= TO(CLOSED, SMC_ACT_FIN),
		[SMC_EV_SHUT_RDWR]	= STAY(SMC_ACT_FIN),
		[SMC_EV_RX_ABORT]	= TO(PROCESSABORT, SMC_ACT_ABORT),
		END_BY_ERROR(0),
	},
	[SMC_PEERFINCLOSEWAIT] = {
		[SMC_EV_CLOSE]		= STAY(SMC_ACT_FIN),
		[SMC_EV_RX_CLOSED]	= FORK(CLOSED, APPFINCLOSEWAIT, 0),
		[SMC_EV_RX_ABORT]	= FORK(CLOSED, PROCESSABORT, RESET),
		END_BY_ERROR(SMC_ACT_ERR),
	},
	/* a state of other implementations, never entered here */
	[SMC_PEERABORTWAIT] = {
		[SMC_EV_CLOSE]		= TO(CLOSED, SMC_ACT_ABORT),
		REFUSE_SHUTDOWN,
		[SMC_EV_RX_ABORT]	= TO(CLOSED, SMC_ACT_ABORT),
		END_BY_ERROR(0),
	},
	[SMC_PROCESSABORT] = {
		[SMC_EV_CLOSE]		= TO(CLOSED, SMC_ACT_ABORT),
		REFUSE_SHUTDOWN,
		END_BY_ERROR(0),
	},
	[SMC_CLOSED] = {
		REFUSE_SHUTDOWN,
		[SMC_EV_ABORT]		= STAY(SMC_ACT_ABORT),
	},
};

#undef TO
#undef FORK
#undef STAY
#undef RESET
#undef REFUSE_SHUTDOWN
#undef END_BY_ERROR

/**
 * smc_close_next() - the table
 * @state: present state
 * @ev: event
 * @guard: for events of the application: the peer has sent C; for those of the
 *	peer: the application has closed
 * @act: SMC_ACT_* that go with the step
 *
 * Pure. Context: any.
 *
 * Return: next state, @state itself if it stays
 */
enum smc_state smc_close_next(enum smc_state state, enum smc_close_event ev,
			      bool guard, u8 *act)
{
	const struct smc_close_cell *cell;
	u8 next;

	*act = 0;
	if (state > SMC_PROCESSABORT || ev >= SMC_EV_MAX)
		return state;
	cell = &smc_close_table[state][ev];
	*act = cell->act;
	next = guard ? cell->next_if : cell->next;
	return next ? next : state;
}
EXPORT_SYMBOL_IF_KUNIT(smc_close_next);

/* The only writer of sk_state. */
static void smc_close_set(struct smc_sock *smc, enum smc_state new, int ev)
{
	struct sock *sk = &smc->sk;
	enum smc_state old = sk->sk_state;

	sock_owned_by_me(sk);
	if (old == new)
		return;
	trace_smc_state(smc, old, new, ev);
	/* Lockless readers that see the state see what led to it. */
	smp_store_release(&sk->sk_state, new);
	sk->sk_state_change(sk);
	if (new == SMC_CLOSED)
		smc_conn_schedule(smc, 0);
}

/**
 * smc_set_state() - change sk_state on behalf of the socket layer
 * @smc: socket
 * @state: new state
 *
 * For INIT, LISTEN, and sockets that carry no SMC connection; a connection
 * changes by events only. Wakes everybody who waits on the socket. Context:
 * socket lock held, or slock without an owner.
 */
void smc_set_state(struct smc_sock *smc, enum smc_state state)
{
	smc_close_set(smc, state, SMC_EV_SET);
}

static u8 smc_close_step(struct smc_sock *smc, enum smc_close_event ev)
{
	struct smc_conn *conn = &smc->conn;
	enum smc_state next;
	bool guard;
	u8 act;

	if (ev == SMC_EV_CLOSE || ev == SMC_EV_SHUT_RDWR ||
	    ev == SMC_EV_SHUT_WR)
		guard = conn->rx_applied & SMC_CDC_C_CLOSED;
	else
		guard = conn->released;
	next = smc_close_next(smc->sk.sk_state, ev, guard, &act);
	smc_close_set(smc, next, ev);
	return act;
}

static void smc_close_shut(struct sock *sk, u8 how)
{
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | how);
}

static void smc_close_error(struct sock *sk, int err)
{
	WRITE_ONCE(sk->sk_err, err);
	sk_error_report(sk);
}

/* Send what the step asks for. Returns true if C or A is out. */
static bool smc_close_send(struct smc_sock *smc, u8 act, bool reset)
{
	u8 want = 0;

	if (act & SMC_ACT_DONE)
		want |= SMC_CDC_C_DONE;
	if (act & SMC_ACT_FIN)
		want |= reset ? SMC_CDC_C_ABORT : SMC_CDC_C_CLOSED;
	if (act & SMC_ACT_ABORT)
		want |= SMC_CDC_C_ABORT;
	return want && smc->conn.joined && smc_cdc_want(&smc->conn, want);
}

/**
 * smc_close_established() - the handshake has succeeded
 * @smc: socket in SMC_INIT
 *
 * Context: process, socket lock held.
 */
void smc_close_established(struct smc_sock *smc)
{
	smc_close_step(smc, SMC_EV_ESTABLISHED);
	if (READ_ONCE(smc->conn.killed))
		smc_close_kill(smc);
}

/* The peer has reset the connection. */
static void smc_close_peer_abort(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;
	u8 act = smc_close_step(smc, SMC_EV_RX_ABORT);
	int err;

	SMC_INC(sock_net(sk), ABORT_RX);
	smc_close_shut(sk, SHUTDOWN_MASK);
	/* The answer lets the peer forget the connection. */
	smc_close_send(smc, act, true);
	/* it may be the answer to what TCP has told us: why it has ended */
	err = READ_ONCE(smc->tcp_err) ?: ECONNRESET;
	if (act & SMC_ACT_ERR && !smc->conn.released)
		smc_close_error(sk, sock_flag(sk, SOCK_DONE) ? EPIPE : err);
	sk->sk_state_change(sk);
}

/* The peer reads no more, but not all was consumed: as TCP's reset behind a
 * FIN. Readers have got everything, the next write has to fail anyway.
 */
static void smc_close_lost(struct smc_sock *smc)
{
	u64 cons = atomic64_read(&smc->conn.peer_cons);

	if (!smc->conn.released && cons != atomic64_read(&smc->conn.tx_prep))
		smc_close_error(&smc->sk, EPIPE);
}

/**
 * smc_close_peer() - closing flags of the peer take effect
 * @smc: socket, past SMC_INIT
 *
 * Context: softirq or process, socket lock held, or slock without an owner.
 */
void smc_close_peer(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;
	struct sock *sk = &smc->sk;
	u8 before = conn->rx_applied;
	u8 new = conn->rx_cflags & ~before;

	conn->rx_applied |= new;
	if (new & SMC_CDC_C_ABORT) {
		/* Behind C it tells only that the peer has gone for good. */
		if (before & SMC_CDC_C_CLOSED)
			smc_close_send(smc, SMC_ACT_ABORT, true);
		else
			smc_close_peer_abort(smc);
		return;
	}
	if (!(new & (SMC_CDC_C_DONE | SMC_CDC_C_CLOSED)))
		return;

	smc_close_shut(sk, RCV_SHUTDOWN);
	sock_set_flag(sk, SOCK_DONE);
	if (new & SMC_CDC_C_DONE)
		smc_close_step(smc, SMC_EV_RX_DONE);
	if (new & SMC_CDC_C_CLOSED) {
		smc_close_lost(smc);
		smc_close_step(smc, SMC_EV_RX_CLOSED);
	}
	sk->sk_state_change(sk);
	if (!sock_flag(sk, SOCK_DEAD))
		sk_wake_async(sk, SOCK_WAKE_WAITD,
			      sk->sk_shutdown == SHUTDOWN_MASK ? POLL_HUP :
								 POLL_IN);
}

/* Own end of the connection by @ev. */
static void smc_close_end(struct smc_sock *smc, enum smc_close_event ev,
			  int err)
{
	struct smc_conn *conn = &smc->conn;
	struct sock *sk = &smc->sk;
	u8 act;

	spin_lock_bh(&conn->member.tx_lock);
	if (!conn->err)
		conn->err = err;
	spin_unlock_bh(&conn->member.tx_lock);

	smc_close_shut(sk, SHUTDOWN_MASK);
	act = smc_close_step(smc, ev);
	smc_close_send(smc, act, true);
	if (act & SMC_ACT_ERR && !conn->released)
		smc_close_error(sk, -conn->err);
	sk->sk_state_change(sk);
	smc_conn_schedule(smc, 0);
}

/**
 * smc_close_kill() - the link group has died
 * @smc: socket, past SMC_INIT; conn.err tells why
 *
 * Context: process, socket lock held.
 */
void smc_close_kill(struct smc_sock *smc)
{
	smc_close_end(smc, SMC_EV_KILL, -ECONNABORTED);
}

/**
 * smc_close_abort() - end a connection with an error
 * @smc: socket; in any state, with or without an SMC connection
 * @err: negative errno, for readers and writers
 *
 * The peer gets A. Idempotent; the first error stays. Context: process or
 * softirq, socket lock held, or slock without an owner.
 */
void smc_close_abort(struct smc_sock *smc, int err)
{
	smc_close_end(smc, SMC_EV_ABORT, err);
}

/**
 * smc_close_over() - is this what TCP calls CLOSE?
 * @smc: socket of an SMC connection
 *
 * Both directions have ended, and what was written has arrived; or it was
 * reset. There may be data left to be read. Context: any, no lock.
 *
 * Return: true if so
 */
bool smc_close_over(const struct smc_sock *smc)
{
	const struct smc_conn *conn = &smc->conn;
	u8 state = READ_ONCE(smc->sk.sk_state);

	if (state == SMC_CLOSED || state == SMC_PROCESSABORT)
		return true;
	return sock_flag(&smc->sk, SOCK_DONE) &&
	       READ_ONCE(conn->tx_cflags) & (SMC_CDC_C_DONE | SMC_CDC_C_CLOSED) &&
	       !smc_tx_unfinished(smc);
}

/**
 * smc_close_shutdown() - shutdown(2) of a connection
 * @smc: socket
 * @how: SHUT_RD, SHUT_WR or SHUT_RDWR
 *
 * D or C follows what was written before; nothing waits. SHUT_RD tells the peer
 * nothing, as in TCP. Context: process, socket lock held.
 *
 * Return: 0, or -ENOTCONN
 */
int smc_close_shutdown(struct smc_sock *smc, int how)
{
	struct sock *sk = &smc->sk;
	u8 act;

	sock_owned_by_me(sk);
	smc_close_next(sk->sk_state, SMC_EV_SHUT_WR, false, &act);
	if (act & SMC_ACT_REFUSE || smc_close_over(smc))
		return -ENOTCONN;

	if (how == SHUT_RD) {
		smc_close_shut(sk, RCV_SHUTDOWN);
	} else {
		smc_close_shut(sk, how == SHUT_WR ? SEND_SHUTDOWN :
						    SHUTDOWN_MASK);
		act = smc_close_step(smc, how == SHUT_WR ? SMC_EV_SHUT_WR :
							   SMC_EV_SHUT_RDWR);
		if (smc_close_send(smc, act, false))
			smc_close_tcp(smc);
	}
	sk->sk_state_change(sk);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(smc_close_shutdown);

/* everything has arrived, or nothing more will */
static bool smc_close_delivered(const struct smc_sock *smc)
{
	const struct smc_conn *conn = &smc->conn;

	if (READ_ONCE(conn->killed) ||
	    READ_ONCE(conn->rx_cflags) & (SMC_CDC_C_CLOSED | SMC_CDC_C_ABORT))
		return true;
	return READ_ONCE(conn->tx_final) && !smc_tx_unfinished(smc);
}

static void smc_close_linger(struct smc_sock *smc, long timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = &smc->sk;

	add_wait_queue(sk_sleep(sk), &wait);
	while (timeo && !smc_close_delivered(smc) && !signal_pending(current)) {
		if (sk_wait_event(sk, &timeo, smc_close_delivered(smc), &wait))
			break;
	}
	remove_wait_queue(sk_sleep(sk), &wait);
}

/**
 * smc_close_active() - close(2)
 * @smc: socket in any state; not yet orphaned, the caller does that afterwards
 *	in the same section of the socket lock
 * @linger: jiffies to wait until everything was delivered, 0 not at all
 *
 * Unread data, or SO_LINGER with time 0, make it a reset. Otherwise what was
 * written is still delivered, in the background if need be. A socket without
 * SMC connection becomes CLOSED. For one that has (or gets) an SMC connection
 * smc_sock_tcp_release() will be called when it is over. Context: process,
 * socket lock held; released while lingering.
 */
void smc_close_active(struct smc_sock *smc, long linger)
{
	struct smc_conn *conn = &smc->conn;
	struct sock *sk = &smc->sk;
	bool reset;
	u8 act;

	sock_owned_by_me(sk);
	conn->released = true;
	if (!conn->joined) {
		smc_close_shut(sk, SHUTDOWN_MASK);
		smc_close_set(smc, SMC_CLOSED, SMC_EV_CLOSE);
		return;
	}

	reset = smc_rx_unread(conn) ||
		(sock_flag(sk, SOCK_LINGER) && !sk->sk_lingertime);
	smc_close_shut(sk, SHUTDOWN_MASK);
	act = smc_close_step(smc, SMC_EV_CLOSE);
	if (smc_close_send(smc, act, reset))
		smc_close_tcp(smc);
	if (linger > 0 && !reset)
		smc_close_linger(smc, linger);
	conn->orphan_since = jiffies;
	smc_conn_schedule(smc, smc_close_orphan(smc));
}
EXPORT_SYMBOL_IF_KUNIT(smc_close_active);

/* The socket layer may give the TCP socket up at any time after close(2). */
static struct sock *smc_close_tcp_get(const struct smc_sock *smc)
{
	struct smc_net *sn = smc_net(sock_net(&smc->sk));

	guard(spinlock_bh)(&sn->sk_lock);
	if (!smc->tcp)
		return NULL;
	sock_hold(smc->tcp->sk);
	return smc->tcp->sk;
}

/**
 * smc_close_tcp() - end the internal TCP connection with the SMC connection
 * @smc: socket whose C or A was sent, or that was killed
 *
 * The side that closes first shuts TCP down first and keeps its TIME_WAIT. A
 * connection that died resets it. Once; the socket itself stays. Context:
 * process, socket lock held.
 */
void smc_close_tcp(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;
	struct sock *tsk;

	sock_owned_by_me(&smc->sk);
	if (conn->tcp_ended)
		return;
	conn->tcp_ended = true;
	tsk = smc_close_tcp_get(smc);
	if (!tsk)
		return;

	if (READ_ONCE(conn->killed)) {
		tcp_abort(tsk, conn->err ? -conn->err : ECONNABORTED);
	} else {
		lock_sock(tsk);
		smc_close_shut(tsk, SHUTDOWN_MASK);
		tsk->sk_prot->shutdown(tsk, SHUTDOWN_MASK);
		release_sock(tsk);
	}
	sock_put(tsk);
}

/**
 * smc_close_finished() - may the connection leave its group?
 * @smc: socket
 *
 * Context: process, socket lock held.
 * Return: true if everything that has to be sent was sent, and nobody can read
 * what is left in the ring
 */
bool smc_close_finished(const struct smc_sock *smc)
{
	const struct smc_conn *conn = &smc->conn;

	if (smc->sk.sk_state != SMC_CLOSED)
		return false;
	if (!READ_ONCE(conn->killed) && !smc_cdc_final_sent(conn))
		return false;
	return conn->released || !smc_rx_unread(conn);
}

/* how long the present phase may take without progress */
static unsigned long smc_close_limit(const struct smc_sock *smc)
{
	if (smc->sk.sk_state == SMC_CLOSED)
		return SMC_FINAL_TIME;
	if (READ_ONCE(smc->conn.tx_final))
		return READ_ONCE(sock_net(&smc->sk)->ipv4.sysctl_tcp_fin_timeout);
	return SMC_ORPHAN_STALL;
}

/**
 * smc_close_orphan() - supervise a connection that nobody uses any more
 * @smc: socket
 *
 * Progress is whatever moves the stream or the state. Without it the connection
 * is aborted when its time is over; and if not even A can be sent, given up.
 * Context: process, socket lock held.
 * Return: jiffies until the next look, 0 if there is nothing to wait for
 */
unsigned long smc_close_orphan(struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;
	unsigned long limit, idle;
	u64 mark;

	if (smc->sk.sk_state == SMC_CLOSED) {
		if (READ_ONCE(conn->killed) || smc_cdc_final_sent(conn))
			return 0;
	} else if (!conn->released) {
		return 0;
	}

	limit = max(smc_close_limit(smc), 1ul);
	mark = atomic64_read(&conn->tx_sent) + atomic64_read(&conn->tx_done) +
	       atomic64_read(&conn->peer_cons) + READ_ONCE(conn->tx_final) +
	       smc->sk.sk_state;
	if (mark != conn->orphan_mark) {
		conn->orphan_mark = mark;
		conn->orphan_since = jiffies;
		return limit;
	}
	idle = jiffies - conn->orphan_since;
	if (idle < limit)
		return limit - idle;

	SMC_INC(sock_net(&smc->sk), ORPHAN_TIMEOUT);
	conn->orphan_since = jiffies;
	if (smc->sk.sk_state != SMC_CLOSED) {
		smc_close_abort(smc, -ETIMEDOUT);
		return SMC_FINAL_TIME;
	}
	spin_lock_bh(&conn->member.tx_lock);
	WRITE_ONCE(conn->killed, true);
	spin_unlock_bh(&conn->member.tx_lock);
	return 0;
}
