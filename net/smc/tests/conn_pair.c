// SPDX-License-Identifier: GPL-2.0
/*
 * The fixture of the data path tests, see conn_kunit.h.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/poison.h>

#include "conn_kunit.h"

static struct ct_end *ct_end_of(struct smc_member *m)
{
	return smc_of_member(m)->sk.sk_user_data;
}

/* What is never allowed on the wire. */
static void ct_check(struct ct_end *e, const struct smc_tx_msg *msg)
{
	struct smc_conn *conn = &e->smc->conn;
	struct smc_member *m = &conn->member;
	struct kunit *test = e->pair->test;
	u64 end = msg->pos + msg->len;
	struct smc_cursor cur;

	KUNIT_EXPECT_EQ(test, msg->cdc.token, m->peer_token);
	KUNIT_EXPECT_EQ(test, msg->cdc.seq, (u16)(e->last_seq + 1));
	/* data fit into the peer's ring, in order, and were written before */
	KUNIT_EXPECT_EQ(test, msg->pos, e->bytes);
	KUNIT_EXPECT_LE(test, end, atomic64_read(&e->peer->smc->conn.rx_read) +
			m->peer_size);
	KUNIT_EXPECT_LE(test, end, atomic64_read(&conn->tx_prep));
	cur = smc_cursor_from_pos(end, m->peer_size);
	KUNIT_EXPECT_EQ(test, msg->cdc.prod.count, cur.count);
	KUNIT_EXPECT_EQ(test, msg->cdc.prod.wrap, cur.wrap);
	/* flags stay */
	KUNIT_EXPECT_EQ(test, msg->cdc.cflags & e->cflags, e->cflags);
	/* no data behind C or A in either direction */
	if (e->cflags & (SMC_CDC_C_CLOSED | SMC_CDC_C_ABORT) ||
	    conn->rx_cflags & (SMC_CDC_C_CLOSED | SMC_CDC_C_ABORT))
		KUNIT_EXPECT_EQ(test, msg->len, 0);
	/* D and C cover everything */
	if (msg->cdc.cflags & (SMC_CDC_C_DONE | SMC_CDC_C_CLOSED) &&
	    !(msg->cdc.cflags & SMC_CDC_C_ABORT))
		KUNIT_EXPECT_EQ(test, end, atomic64_read(&conn->tx_prep));
}

/* The bytes are placed at once: nobody looks at them before the message. */
static void ct_place(struct ct_end *e, const struct smc_tx_msg *msg)
{
	struct smc_member *m = &e->smc->conn.member;
	struct smc_member *pm = &e->peer->smc->conn.member;
	u64 pos;

	if (e->peer->left)
		return;
	for (pos = msg->pos; pos < msg->pos + msg->len; pos++)
		pm->rcv_ring[smc_ring_offset(pos, pm->rcv_size)] =
			m->snd_ring[smc_ring_offset(pos, m->snd_size)];
}

static void ct_post(struct ct_end *e, const struct smc_tx_msg *msg)
{
	struct ct_msg *w = kzalloc_obj(*w, GFP_ATOMIC);

	if (!w)
		return;
	ct_check(e, msg);
	ct_place(e, msg);
	w->end = msg->pos + msg->len;
	w->len = msg->len;
	w->cdc = msg->cdc;
	w->signal = msg->signal;
	list_add_tail(&w->node, &e->wire);
	e->posted++;
	e->signalled += msg->signal;
	e->bytes = w->end;
	e->last_seq = msg->cdc.seq;
	e->cflags |= msg->cdc.cflags;
	e->pflags = msg->cdc.pflags;
	e->inflight++;
}

static void ct_kick(struct smc_member *m)
{
	struct ct_end *e = ct_end_of(m);
	struct smc_tx_msg msg;
	int rc;

	spin_lock_bh(&m->tx_lock);
	do {
		if (e->inflight >= e->slots) {
			e->starved = true;
			break;
		}
		rc = m->ops->next_msg(m, &msg);
		if (!(rc & SMC_TX_MSG))
			break;
		if (e->fail_next) {
			e->fail_next = false;
			m->ops->tx_failed(m, &msg);
			break;
		}
		ct_post(e, &msg);
	} while (rc & SMC_TX_MORE);
	spin_unlock_bh(&m->tx_lock);
}

static int ct_snd_open(struct smc_member *m)
{
	struct ct_end *e = ct_end_of(m);

	if (xchg(&e->fail_open, false))
		return -ENOMEM;
	if (xchg(&e->die_open, false)) {
		m->ops->died(m, -ECONNABORTED);
		/* close_work has time to find it dead */
		msleep(50);
		KUNIT_EXPECT_FALSE(e->pair->test, READ_ONCE(e->left));
	}
	spin_lock_bh(&m->tx_lock);
	m->snd_ring = e->ring;
	spin_unlock_bh(&m->tx_lock);
	e->opened++;
	return 0;
}

/* What is still read from the ring afterwards is found to be wrong. */
static bool ct_snd_close(struct smc_member *m)
{
	struct ct_end *e = ct_end_of(m);

	if (e->inflight)
		return false;
	memset(e->ring, POISON_FREE, m->snd_size);
	m->snd_ring = NULL;
	return true;
}

static void ct_sync(struct smc_member *m, u64 pos, u32 len)
{
}

static const char *ct_dev_name(const struct smc_member *m)
{
	return "";
}

static void ct_leave(struct smc_member *m, bool clean, u32 used)
{
	struct ct_end *e = ct_end_of(m);

	e->clean = clean;
	e->used = used;
	WRITE_ONCE(e->left, true);
}

static const struct smc_transport ct_transport = {
	.name = "test",
	.kick = ct_kick,
	.snd_open = ct_snd_open,
	.snd_close = ct_snd_close,
	.snd_written = ct_sync,
	.rcv_ready = ct_sync,
	.leave = ct_leave,
	.dev_name = ct_dev_name,
};

/**
 * ct_deliver() - the oldest message of @from arrives
 * @from: sender
 */
bool ct_deliver(struct ct_end *from)
{
	struct smc_member *pm = &from->peer->smc->conn.member;
	struct ct_msg *w;

	spin_lock_bh(&from->smc->conn.member.tx_lock);
	w = list_first_entry_or_null(&from->wire, struct ct_msg, node);
	if (w)
		list_move_tail(&w->node, &from->unreaped);
	spin_unlock_bh(&from->smc->conn.member.tx_lock);
	if (!w)
		return false;
	local_bh_disable();
	pm->ops->rx_cdc(pm, &w->cdc);
	local_bh_enable();
	return true;
}

/**
 * ct_complete() - everything of @e that has arrived completes
 * @e: sender
 */
void ct_complete(struct ct_end *e)
{
	struct smc_member *m = &e->smc->conn.member;
	struct ct_msg *w, *next;
	LIST_HEAD(done);
	u64 end = 0;
	u16 seq = 0;

	spin_lock_bh(&m->tx_lock);
	list_splice_init(&e->unreaped, &done);
	list_for_each_entry(w, &done, node)
		e->inflight--;
	spin_unlock_bh(&m->tx_lock);
	if (list_empty(&done))
		return;
	list_for_each_entry_safe(w, next, &done, node) {
		end = w->end;
		seq = w->cdc.seq;
		kfree(w);
	}
	m->ops->tx_done(m, end, seq);
	if (e->starved) {
		e->starved = false;
		ct_kick(m);
	}
}

/**
 * ct_pump() - let everything arrive and complete
 * @p: fixture
 */
void ct_pump(struct ct_pair *p)
{
	bool moved;
	int i;

	do {
		moved = false;
		for (i = 0; i < 2; i++) {
			moved |= ct_deliver(&p->end[i]);
			ct_complete(&p->end[i]);
		}
	} while (moved);
}

int ct_send(struct ct_end *e, const void *buf, size_t len, int flags)
{
	struct kvec vec = { .iov_base = (void *)buf, .iov_len = len };
	struct msghdr msg = { .msg_flags = flags | MSG_NOSIGNAL };
	int rc;

	if (!(flags & MSG_WAITALL))
		msg.msg_flags |= MSG_DONTWAIT;
	iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, &vec, 1, len);
	lock_sock(&e->smc->sk);
	rc = smc_tx_sendmsg(e->smc, &msg, len);
	release_sock(&e->smc->sk);
	return rc;
}

int ct_recv(struct ct_end *e, void *buf, size_t len, int flags)
{
	struct kvec vec = { .iov_base = buf, .iov_len = len };
	struct msghdr msg = {};
	int rc;

	iov_iter_kvec(&msg.msg_iter, ITER_DEST, &vec, 1, len);
	lock_sock(&e->smc->sk);
	rc = smc_rx_recvmsg(e->smc, &msg, len, flags | MSG_DONTWAIT);
	release_sock(&e->smc->sk);
	return rc;
}

void ct_fill(u8 *buf, size_t len, u64 pos)
{
	for (; len; len--, pos++)
		*buf++ = pos * 7 + (pos >> 8) * 3 + (pos >> 16);
}

bool ct_match(const u8 *buf, size_t len, u64 pos)
{
	u8 want;

	for (; len; len--, pos++, buf++) {
		ct_fill(&want, 1, pos);
		if (*buf != want)
			return false;
	}
	return true;
}

void ct_close(struct ct_end *e, long linger)
{
	struct sock *sk = &e->smc->sk;

	lock_sock(sk);
	smc_close_active(e->smc, linger);
	sock_orphan(sk);
	release_sock(sk);
}

int ct_shutdown(struct ct_end *e, int how)
{
	int rc;

	lock_sock(&e->smc->sk);
	rc = smc_close_shutdown(e->smc, how);
	release_sock(&e->smc->sk);
	return rc;
}

/**
 * ct_linger() - SO_LINGER
 * @e: end
 * @jiffs: time
 */
void ct_linger(struct ct_end *e, unsigned long jiffs)
{
	sock_set_flag(&e->smc->sk, SOCK_LINGER);
	e->smc->sk.sk_lingertime = jiffs;
}

u8 ct_state(const struct ct_end *e)
{
	return READ_ONCE(e->smc->sk.sk_state);
}

/**
 * ct_gone() - has the connection ended by itself?
 * @e: end that was closed
 *
 * Waits for close_work. Return: false if it is still there after a second
 */
bool ct_gone(struct ct_end *e)
{
	int i;

	for (i = 0; i < 100; i++) {
		if (!READ_ONCE(e->smc->conn.joined) &&
		    refcount_read(&e->smc->sk.sk_refcnt) == 1)
			return e->left && ct_state(e) == SMC_CLOSED;
		msleep(20);
	}
	return false;
}

static void ct_destruct(struct sock *sk)
{
	smc_conn_destroy(smc_sk(sk));
}

static struct proto ct_proto = {
	.name = "SMC-TEST",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct smc_sock),
	.release_cb = smc_conn_release_cb,
};

static void ct_end_init(struct ct_pair *p, struct ct_end *e, u32 snd, u32 rcv)
{
	struct kunit *test = p->test;
	struct smc_member *m;
	struct sock *sk;

	e->pair = p;
	e->slots = 16;
	INIT_LIST_HEAD(&e->wire);
	INIT_LIST_HEAD(&e->unreaped);
	e->sock = kunit_kzalloc(test, sizeof(*e->sock), GFP_KERNEL);
	sk = sk_alloc(&init_net, PF_SMC, GFP_KERNEL, &ct_proto, 1);
	KUNIT_ASSERT_NOT_NULL(test, e->sock);
	KUNIT_ASSERT_NOT_NULL(test, sk);
	init_waitqueue_head(&e->sock->socket.wq.wait);
	sock_init_data(&e->sock->socket, sk);
	sk->sk_destruct = ct_destruct;
	sk->sk_user_data = e;
	sk->sk_state = SMC_INIT;
	e->smc = smc_sk(sk);
	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, AF_INET, SOCK_STREAM,
					       IPPROTO_TCP, &e->smc->tcp), 0);
	smc_conn_init(e->smc);

	m = &e->smc->conn.member;
	m->transport = &ct_transport;
	m->snd_size = snd;
	m->rcv_size = rcv;
	e->ring = kunit_kzalloc(test, snd, GFP_KERNEL);
	m->rcv_ring = kunit_kzalloc(test, rcv, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, e->ring);
	KUNIT_ASSERT_NOT_NULL(test, m->rcv_ring);
}

void ct_established(struct ct_end *e)
{
	smc_conn_open(e->smc);
	lock_sock(&e->smc->sk);
	smc_conn_established(e->smc);
	release_sock(&e->smc->sk);
}

/**
 * ct_pair_new() - two ends that know each other, in SMC_INIT
 * @test: test
 * @ring0: size of both rings of the first end
 * @ring1: the same of the second
 */
struct ct_pair *ct_pair_new(struct kunit *test, u32 ring0, u32 ring1)
{
	struct ct_pair *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	struct smc_member *m;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->test = test;
	ct_end_init(p, &p->end[0], ring0, ring0);
	ct_end_init(p, &p->end[1], ring1, ring1);
	for (i = 0; i < 2; i++) {
		p->end[i].peer = &p->end[!i];
		m = &p->end[i].smc->conn.member;
		m->peer_size = p->end[!i].smc->conn.member.rcv_size;
		m->token = CT_TOKEN + i;
		m->peer_token = CT_TOKEN + !i;
	}
	return p;
}

/**
 * ct_pair_free() - close what is open and see that nothing stays
 * @p: fixture whose ends were established
 */
void ct_pair_free(struct ct_pair *p)
{
	int i;

	for (i = 0; i < 2; i++) {
		p->end[i].fail_next = false;
		p->end[i].slots = 1000;
		if (!p->end[i].smc->conn.released)
			ct_close(&p->end[i], 0);
	}
	ct_pump(p);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_TRUE(p->test, ct_gone(&p->end[i]));
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_PTR_EQ(p->test, p->end[i].smc->tcp, NULL);
		sock_put(&p->end[i].smc->sk);
	}
}

MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
MODULE_DESCRIPTION("KUnit tests of the SMC data path");
MODULE_LICENSE("GPL");
