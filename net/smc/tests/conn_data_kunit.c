// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the data path: streams, windows, corking, urgent data, what a
 * bad peer can say.
 */
#include <linux/delay.h>
#include <linux/module.h>

#include "conn_kunit.h"
#include "../smc_net.h"
#include "../smc_stats.h"

#define BUF_LEN		SZ_64K

static u8 *data_buf(struct kunit *test)
{
	u8 *buf = kunit_kzalloc(test, BUF_LEN, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	return buf;
}

static struct ct_pair *data_pair(struct kunit *test, u32 ring0, u32 ring1)
{
	struct ct_pair *p = ct_pair_new(test, ring0, ring1);

	ct_established(&p->end[0]);
	ct_established(&p->end[1]);
	KUNIT_ASSERT_EQ(test, ct_state(&p->end[0]), SMC_ACTIVE);
	return p;
}

/* one direction of a random test */
struct data_stream {
	struct ct_end *from;
	u64 wrote;
	u64 read;
};

static unsigned long data_settle(struct ct_end *e)
{
	unsigned long again;

	lock_sock(&e->smc->sk);
	again = smc_tx_settle(e->smc);
	release_sock(&e->smc->sk);
	return again;
}

static void data_step(struct kunit *test, struct data_stream *s,
		      struct rnd_state *rnd, u8 *buf)
{
	size_t len = 1 + prandom_u32_state(rnd) %
		     (prandom_u32_state(rnd) % 4 ? 300 : BUF_LEN - 1);
	u32 space, avail;
	int rc;

	switch (prandom_u32_state(rnd) % 6) {
	case 0:
		ct_fill(buf, len, s->wrote);
		space = smc_tx_space(s->from->smc);
		rc = ct_send(s->from, buf, len,
			     prandom_u32_state(rnd) % 8 ? 0 : MSG_MORE);
		KUNIT_ASSERT_EQ(test, rc, space ? min_t(u32, space, len) : -EAGAIN);
		if (rc > 0)
			s->wrote += rc;
		break;
	case 1:
		avail = smc_rx_avail(s->from->peer->smc);
		rc = ct_recv(s->from->peer, buf, len, MSG_PEEK);
		KUNIT_ASSERT_EQ(test, rc, avail ? min_t(u32, avail, len) : -EAGAIN);
		KUNIT_ASSERT_TRUE(test, rc < 0 || ct_match(buf, rc, s->read));
		rc = ct_recv(s->from->peer, buf, len, 0);
		KUNIT_ASSERT_EQ(test, rc, avail ? min_t(u32, avail, len) : -EAGAIN);
		KUNIT_ASSERT_TRUE(test, rc < 0 || ct_match(buf, rc, s->read));
		if (rc > 0)
			s->read += rc;
		break;
	case 2:
	case 3:
		ct_deliver(s->from);
		break;
	case 4:
		ct_complete(s->from);
		break;
	case 5:
		data_settle(s->from);
		break;
	}
}

/* The rest arrives without another send call. */
static void data_drain(struct kunit *test, struct ct_pair *p,
		       struct data_stream *s, u8 *buf)
{
	int rc;

	smc_tx_push(s->from->smc);
	while (s->read < s->wrote) {
		ct_pump(p);
		rc = ct_recv(s->from->peer, buf, BUF_LEN, 0);
		KUNIT_ASSERT_GT(test, rc, 0);
		KUNIT_ASSERT_TRUE(test, ct_match(buf, rc, s->read));
		s->read += rc;
	}
	KUNIT_EXPECT_EQ(test, s->read, s->wrote);
	KUNIT_EXPECT_EQ(test, ct_recv(s->from->peer, buf, BUF_LEN, 0), -EAGAIN);
}

struct data_sizes {
	u32 ring0;
	u32 ring1;
	unsigned int slots;
};

static const struct data_sizes data_sizes[] = {
	{ SZ_16K, SZ_16K, 16 },
	{ SZ_16K, SZ_64K, 1 },
	{ SZ_64K, SZ_16K, 2 },
	{ SZ_64K, SZ_1M, 16 },
	{ SZ_64K - 32, SZ_16K - 32, 3 },
};

KUNIT_ARRAY_PARAM(data_sizes, data_sizes, NULL);

static void data_random(struct kunit *test)
{
	const struct data_sizes *sz = test->param_value;
	struct ct_pair *p = data_pair(test, sz->ring0, sz->ring1);
	struct data_stream s[2] = {
		{ .from = &p->end[0] }, { .from = &p->end[1] },
	};
	struct rnd_state rnd;
	u8 *buf = data_buf(test);
	int i;

	prandom_seed_state(&rnd, sz->ring0 + sz->slots);
	p->end[0].slots = sz->slots;
	p->end[1].slots = sz->slots;
	for (i = 0; i < 6000; i++) {
		data_step(test, &s[i & 1], &rnd, buf);
		cond_resched();
	}
	for (i = 0; i < 2; i++)
		data_drain(test, p, &s[i], buf);
	KUNIT_EXPECT_GT(test, s[0].read, 2 * sz->ring0);
	ct_pair_free(p);
}

/* A send ring comes with data, and goes when all of them have completed. */
static void data_ring_on_demand(struct kunit *test)
{
	struct ct_pair *p = data_pair(test, SZ_16K, SZ_16K);
	struct ct_end *e = &p->end[0];
	struct smc_member *m = &e->smc->conn.member;
	u8 *buf = data_buf(test);

	KUNIT_EXPECT_EQ(test, smc_tx_space(e->smc), SZ_16K);
	KUNIT_EXPECT_EQ(test, data_settle(e), 0);
	e->fail_open = true;
	ct_fill(buf, 100, 0);
	KUNIT_EXPECT_EQ(test, ct_send(e, buf, 100, 0), -EAGAIN);
	KUNIT_EXPECT_EQ(test, e->opened, 0);
	KUNIT_EXPECT_EQ(test, ct_send(e, buf, 100, 0), 100);
	KUNIT_EXPECT_EQ(test, e->opened, 1);

	/* used since the last look, then in flight */
	KUNIT_EXPECT_NE(test, data_settle(e), 0);
	KUNIT_EXPECT_NE(test, data_settle(e), 0);
	KUNIT_EXPECT_NOT_NULL(test, m->snd_ring);
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, data_settle(e), 0);
	KUNIT_EXPECT_NULL(test, m->snd_ring);

	ct_fill(buf, BUF_LEN, 100);
	KUNIT_EXPECT_EQ(test, ct_send(e, buf, SZ_16K - 200, 0), SZ_16K - 200);
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, ct_send(e, buf + SZ_16K - 200, 150, 0), 150);
	KUNIT_EXPECT_EQ(test, e->opened, 2);
	/* 50 bytes wait for the reader */
	ct_pump(p);
	KUNIT_EXPECT_NE(test, data_settle(e), 0);
	KUNIT_EXPECT_NE(test, data_settle(e), 0);
	KUNIT_EXPECT_NOT_NULL(test, m->snd_ring);
	KUNIT_EXPECT_EQ(test, ct_recv(e->peer, buf, 100, 0), 100);
	KUNIT_EXPECT_TRUE(test, ct_match(buf, 100, 0));
	KUNIT_EXPECT_EQ(test, ct_recv(e->peer, buf, BUF_LEN, 0), SZ_16K - 100);
	KUNIT_EXPECT_TRUE(test, ct_match(buf, SZ_16K - 100, 100));
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, ct_recv(e->peer, buf, BUF_LEN, 0), 50);
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, data_settle(e), 0);
	ct_pair_free(p);
}

/* The group dies while a writer gets a ring: leave() comes after it. */
static void data_ring_dies(struct kunit *test)
{
	struct ct_pair *p = data_pair(test, SZ_16K, SZ_16K);
	struct ct_end *e = &p->end[0];
	u8 *buf = data_buf(test);

	e->die_open = true;
	KUNIT_EXPECT_EQ(test, ct_send(e, buf, 100, 0), -ECONNABORTED);
	KUNIT_EXPECT_EQ(test, e->bytes, 0);
	p->end[1].smc->conn.member.ops->died(&p->end[1].smc->conn.member,
					     -ECONNABORTED);
	ct_pair_free(p);
	KUNIT_EXPECT_TRUE(test, e->left);
}

/* With a stopped reader the writer gets rid of both rings, no more. */
static void data_stopped_reader(struct kunit *test)
{
	struct ct_pair *p = data_pair(test, SZ_64K, SZ_16K);
	struct data_stream s = { .from = &p->end[0] };
	u8 *buf = data_buf(test);
	int rc;

	do {
		ct_fill(buf, 1000, s.wrote);
		rc = ct_send(s.from, buf, 1000, 0);
		s.wrote += rc > 0 ? rc : 0;
		ct_pump(p);
	} while (rc > 0);
	KUNIT_EXPECT_EQ(test, rc, -EAGAIN);
	KUNIT_EXPECT_EQ(test, s.wrote, SZ_64K + SZ_16K);
	KUNIT_EXPECT_TRUE(test, p->end[0].pflags & SMC_CDC_P_BLOCKED);
	KUNIT_EXPECT_FALSE(test, smc_tx_writable(p->end[0].smc));
	data_drain(test, p, &s, buf);
	ct_pair_free(p);
}

/* Request and response: one message each, at once, without a completion, the
 * window with it.
 */
static void data_request_response(struct kunit *test)
{
	struct ct_pair *p = data_pair(test, SZ_64K, SZ_64K);
	u8 *buf = data_buf(test);
	unsigned int i, n;

	for (i = 0; i < 200; i++) {
		n = i & 1;
		KUNIT_ASSERT_EQ(test, ct_send(&p->end[n], buf, 100, 0), 100);
		KUNIT_ASSERT_EQ(test, p->end[n].posted, i / 2 + 1);
		ct_deliver(&p->end[n]);
		KUNIT_ASSERT_EQ(test, ct_recv(&p->end[!n], buf, 1000, 0), 100);
		ct_complete(&p->end[n]);
	}
	KUNIT_EXPECT_EQ(test, p->end[0].signalled, 0);
	KUNIT_EXPECT_EQ(test, p->end[1].signalled, 0);
	ct_pair_free(p);
}

/* Without completions the send ring fills; from half of it on they are asked
 * for.
 */
static void data_signal_short_ring(struct kunit *test)
{
	struct ct_pair *p = data_pair(test, SZ_16K, SZ_64K);
	u8 *buf = data_buf(test);
	int i;

	for (i = 0; i < 16; i++) {
		KUNIT_ASSERT_EQ(test, ct_send(&p->end[0], buf, 1024, 0), 1024);
		KUNIT_EXPECT_EQ(test, p->end[0].signalled, i < 8 ? 0 : i - 7);
		ct_deliver(&p->end[0]);
		ct_recv(&p->end[1], buf, BUF_LEN, 0);
		ct_send(&p->end[1], buf, 1, 0);
		ct_deliver(&p->end[1]);
		ct_recv(&p->end[0], buf, BUF_LEN, 0);
		/* only the other direction completes; ends of holds do not */
		p->end[0].smc->conn.tx_signalled = false;
	}
	KUNIT_EXPECT_EQ(test, ct_send(&p->end[0], buf, 1024, 0), -EAGAIN);
	ct_pair_free(p);
}

/* A burst of small writes: the first goes, the second asks for a completion,
 * the rest is one message.
 */
static void data_autocork(struct kunit *test)
{
	struct smc_net *sn = smc_net(&init_net);
	struct ct_pair *p = data_pair(test, SZ_64K, SZ_64K);
	struct ct_end *e = &p->end[0];
	unsigned int old = sn->autocorking_size;
	u8 *buf = data_buf(test);
	int i;

	sn->autocorking_size = SZ_64K;
	for (i = 0; i < 20; i++)
		KUNIT_EXPECT_EQ(test, ct_send(e, buf, 10, 0), 10);
	KUNIT_EXPECT_EQ(test, e->posted, 2);
	KUNIT_EXPECT_EQ(test, e->signalled, 1);
	KUNIT_EXPECT_EQ(test, smc_tx_unsent(e->smc), 180);
	while (ct_deliver(e))
		;
	ct_complete(e);
	KUNIT_EXPECT_EQ(test, e->posted, 3);
	KUNIT_EXPECT_EQ(test, smc_tx_unsent(e->smc), 0);
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, smc_rx_avail(p->end[1].smc), 200);

	sn->autocorking_size = 0;
	for (i = 0; i < 3; i++)
		ct_send(e, buf, 10, 0);
	KUNIT_EXPECT_EQ(test, e->posted, 6);
	sn->autocorking_size = old;
	ct_pair_free(p);
}

/* MSG_MORE holds until it is left out, half a ring, or 200 ms. */
static void data_cork(struct kunit *test)
{
	struct ct_pair *p = data_pair(test, SZ_64K, SZ_64K);
	struct ct_end *e = &p->end[0];
	u8 *buf = data_buf(test);
	int i;

	ct_send(e, buf, 10, MSG_MORE);
	ct_send(e, buf, 10, MSG_MORE);
	KUNIT_EXPECT_EQ(test, e->posted, 0);
	ct_send(e, buf, 10, 0);
	KUNIT_EXPECT_EQ(test, e->posted, 1);
	KUNIT_EXPECT_EQ(test, e->bytes, 30);
	ct_pump(p);

	ct_send(e, buf, 10, MSG_MORE);
	for (i = 0; i < 50 && smc_tx_unsent(e->smc); i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, smc_tx_unsent(e->smc), 0);
	ct_pump(p);

	ct_send(e, buf, SZ_32K, MSG_MORE);
	KUNIT_EXPECT_EQ(test, smc_tx_unsent(e->smc), SZ_32K);
	ct_send(e, buf, 1, MSG_MORE);
	KUNIT_EXPECT_EQ(test, smc_tx_unsent(e->smc), 0);
	ct_pump(p);

	ct_send(e, buf, 10, MSG_MORE);
	smc_tx_push(e->smc);
	KUNIT_EXPECT_EQ(test, smc_tx_unsent(e->smc), 0);

	/* the end takes it along */
	ct_send(e, buf, 10, MSG_MORE);
	ct_close(e, 0);
	KUNIT_EXPECT_EQ(test, smc_tx_unsent(e->smc), 0);
	ct_pair_free(p);
}

/* A message that found no slot or could not be posted is not forgotten. */
static void data_no_slot(struct kunit *test)
{
	struct ct_pair *p = data_pair(test, SZ_16K, SZ_16K);
	struct data_stream s = { .from = &p->end[0] };
	u8 *buf = data_buf(test);
	int i;

	p->end[0].slots = 1;
	p->end[1].slots = 0;
	for (i = 0; i < 4; i++) {
		ct_fill(buf, 4096, s.wrote);
		s.wrote += ct_send(s.from, buf, 4096, 0);
		ct_pump(p);
	}
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[1], buf, SZ_16K, 0), SZ_16K);
	s.read = SZ_16K;
	/* the window update waits for a slot */
	KUNIT_EXPECT_TRUE(test, p->end[1].smc->conn.tx_owed);
	ct_fill(buf, 100, s.wrote);
	s.wrote += ct_send(s.from, buf, 100, 0);
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, smc_tx_unsent(s.from->smc), 100);

	p->end[1].slots = 1;
	smc_cdc_owe(&p->end[1].smc->conn);
	data_drain(test, p, &s, buf);

	p->end[0].fail_next = true;
	ct_fill(buf, 100, s.wrote);
	s.wrote += ct_send(s.from, buf, 100, 0);
	KUNIT_EXPECT_EQ(test, smc_tx_unsent(s.from->smc), 100);
	data_drain(test, p, &s, buf);
	ct_pair_free(p);
}

/* Data that come while the handshake still runs here. */
static void data_early(struct kunit *test)
{
	struct ct_pair *p = ct_pair_new(test, SZ_16K, SZ_16K);
	struct smc_member *m = &p->end[1].smc->conn.member;
	u32 peer_size = m->peer_size;
	u8 *buf = data_buf(test);

	ct_established(&p->end[0]);
	ct_send(&p->end[0], "hello", 5, 0);
	ct_shutdown(&p->end[0], SHUT_WR);
	m->peer_size = 0;
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, ct_state(&p->end[1]), SMC_INIT);
	m->peer_size = peer_size;
	ct_established(&p->end[1]);
	KUNIT_EXPECT_EQ(test, ct_state(&p->end[1]), SMC_APPCLOSEWAIT1);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[1], buf, 100, 0), 5);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[1], buf, 100, 0), 0);
	ct_pair_free(p);
}

/* ---- urgent data ---- */

/* "ab", "cde" urgent, "fg"; what is behind the urgent byte waits */
static struct ct_pair *urg_pair(struct kunit *test)
{
	struct ct_pair *p = data_pair(test, SZ_16K, SZ_16K);

	KUNIT_EXPECT_EQ(test, ct_send(&p->end[0], "ab", 2, 0), 2);
	KUNIT_EXPECT_EQ(test, ct_send(&p->end[0], "cde", 3, MSG_OOB), 3);
	KUNIT_EXPECT_EQ(test, p->end[0].pflags,
			SMC_CDC_P_URG_PENDING | SMC_CDC_P_URG_PRESENT);
	KUNIT_EXPECT_EQ(test, ct_send(&p->end[0], "fg", 2, 0), 2);
	smc_tx_push(p->end[0].smc);
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, smc_tx_unsent(p->end[0].smc), 2);
	return p;
}

static void urg_expect(struct kunit *test, struct ct_end *e, int flags,
		       const char *want)
{
	char buf[16] = {};
	int rc = ct_recv(e, buf, sizeof(buf) - 1, flags);

	KUNIT_EXPECT_EQ(test, rc, (int)strlen(want));
	KUNIT_EXPECT_STREQ(test, buf, want);
}

static void urg_out_of_line(struct kunit *test)
{
	struct ct_pair *p = urg_pair(test);
	struct ct_end *e = &p->end[1];
	char c;

	KUNIT_EXPECT_TRUE(test, smc_rx_urgent(e->smc));
	KUNIT_EXPECT_EQ(test, smc_rx_avail(e->smc), 4);
	KUNIT_EXPECT_EQ(test, smc_rx_inq(e->smc), 4);
	KUNIT_EXPECT_FALSE(test, smc_rx_atmark(e->smc));
	urg_expect(test, e, MSG_OOB | MSG_PEEK, "e");
	urg_expect(test, e, MSG_PEEK, "abcd");
	urg_expect(test, e, 0, "abcd");
	/* no read will come as long as poll reports nothing: the peer goes on */
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, smc_tx_unsent(p->end[0].smc), 0);
	KUNIT_EXPECT_EQ(test, smc_rx_avail(e->smc), 2);
	KUNIT_EXPECT_EQ(test, smc_rx_inq(e->smc), 0);
	KUNIT_EXPECT_TRUE(test, smc_rx_atmark(e->smc));
	urg_expect(test, e, MSG_OOB, "e");
	KUNIT_EXPECT_EQ(test, ct_recv(e, &c, 1, MSG_OOB), -EINVAL);
	KUNIT_EXPECT_FALSE(test, smc_rx_urgent(e->smc));
	KUNIT_EXPECT_TRUE(test, smc_rx_atmark(e->smc));
	urg_expect(test, e, MSG_PEEK, "fg");
	KUNIT_EXPECT_TRUE(test, smc_rx_atmark(e->smc));
	urg_expect(test, e, 0, "fg");
	KUNIT_EXPECT_FALSE(test, smc_rx_atmark(e->smc));
	ct_pair_free(p);
}

static void urg_skipped(struct kunit *test)
{
	struct ct_pair *p = urg_pair(test);
	struct ct_end *e = &p->end[1];
	char c;

	urg_expect(test, e, 0, "abcd");
	ct_pump(p);
	urg_expect(test, e, 0, "fg");
	KUNIT_EXPECT_FALSE(test, smc_rx_urgent(e->smc));
	KUNIT_EXPECT_EQ(test, ct_recv(e, &c, 1, MSG_OOB), -EINVAL);
	KUNIT_EXPECT_EQ(test, ct_recv(e, &c, 1, 0), -EAGAIN);
	/* everything is consumed, the skipped byte too: a clean end */
	ct_close(e, 0);
	KUNIT_EXPECT_EQ(test, e->cflags, SMC_CDC_C_CLOSED);
	ct_pair_free(p);
}

static void urg_inline(struct kunit *test)
{
	struct ct_pair *p = urg_pair(test);
	struct ct_end *e = &p->end[1];
	char c;

	sock_set_flag(&e->smc->sk, SOCK_URGINLINE);
	KUNIT_EXPECT_EQ(test, smc_rx_avail(e->smc), 5);
	KUNIT_EXPECT_EQ(test, ct_recv(e, &c, 1, MSG_OOB), -EINVAL);
	urg_expect(test, e, 0, "abcd");
	KUNIT_EXPECT_TRUE(test, smc_rx_atmark(e->smc));
	KUNIT_EXPECT_EQ(test, smc_rx_avail(e->smc), 1);
	urg_expect(test, e, MSG_PEEK, "e");
	urg_expect(test, e, 0, "e");
	KUNIT_EXPECT_FALSE(test, smc_rx_atmark(e->smc));
	ct_pump(p);
	urg_expect(test, e, 0, "fg");
	ct_pair_free(p);
}

/* the option is switched on when the byte was already taken aside */
static void urg_inline_late(struct kunit *test)
{
	struct ct_pair *p = urg_pair(test);
	struct ct_end *e = &p->end[1];

	urg_expect(test, e, 0, "abcd");
	ct_pump(p);
	sock_set_flag(&e->smc->sk, SOCK_URGINLINE);
	KUNIT_EXPECT_EQ(test, smc_rx_avail(e->smc), 3);
	urg_expect(test, e, MSG_PEEK, "efg");
	urg_expect(test, e, 0, "efg");
	ct_pair_free(p);
}

/* The byte comes alone, to a reader that has read everything. */
static void urg_alone(struct kunit *test)
{
	struct ct_pair *p = data_pair(test, SZ_16K, SZ_16K);
	struct ct_end *e = &p->end[1];
	int i;

	KUNIT_EXPECT_EQ(test, ct_send(&p->end[0], "u", 1, MSG_OOB), 1);
	KUNIT_EXPECT_EQ(test, ct_send(&p->end[0], "v", 1, 0), 1);
	smc_tx_push(p->end[0].smc);
	/* close_work takes it aside */
	for (i = 0; i < 50 && smc_rx_avail(e->smc) != 1; i++) {
		ct_pump(p);
		msleep(20);
	}
	KUNIT_EXPECT_EQ(test, smc_rx_avail(e->smc), 1);
	KUNIT_EXPECT_TRUE(test, smc_rx_atmark(e->smc));
	urg_expect(test, e, MSG_OOB, "u");
	urg_expect(test, e, 0, "v");

	/* a new mark takes the place of the one at which the reader stands */
	KUNIT_EXPECT_EQ(test, ct_send(&p->end[0], "1", 1, MSG_OOB), 1);
	for (i = 0; i < 50 && smc_tx_unfinished(p->end[0].smc); i++) {
		ct_pump(p);
		msleep(20);
	}
	KUNIT_EXPECT_EQ(test, ct_send(&p->end[0], "2", 1, MSG_OOB), 1);
	ct_pump(p);
	urg_expect(test, e, MSG_OOB, "2");
	KUNIT_EXPECT_EQ(test, ct_recv(e, &(char){ 0 }, 1, 0), -EAGAIN);
	ct_pair_free(p);
}

/* at every offset of the ring, with a window that is closed in between */
static void urg_everywhere(struct kunit *test)
{
	struct ct_pair *p = data_pair(test, SZ_16K, SZ_16K);
	u8 *buf = data_buf(test);
	int i, n, fill;
	char c;

	for (i = 0; i < 500; i++) {
		fill = SZ_16K - 2 + i % 4;
		memset(buf, 'x', fill);
		n = ct_send(&p->end[0], buf, fill, 0);
		KUNIT_ASSERT_EQ(test, n, min_t(int, fill, SZ_16K));
		ct_pump(p);
		if (fill >= SZ_16K - 1) {
			/* the ring is full or nearly so; the mark has to wait */
			KUNIT_ASSERT_EQ(test, ct_recv(&p->end[1], buf, 10, 0), 10);
		}
		KUNIT_ASSERT_EQ(test, ct_send(&p->end[0], "xU", 2, MSG_OOB), 2);
		ct_pump(p);
		while (!smc_rx_urgent(p->end[1].smc)) {
			n = ct_recv(&p->end[1], buf, 5000, 0);
			KUNIT_ASSERT_GT(test, n, 0);
			ct_pump(p);
		}
		KUNIT_ASSERT_EQ(test, ct_recv(&p->end[1], &c, 1, MSG_OOB), 1);
		KUNIT_ASSERT_EQ(test, c, 'U');
		while ((n = ct_recv(&p->end[1], buf, BUF_LEN, 0)) > 0)
			KUNIT_ASSERT_NULL(test, memchr(buf, 'U', n));
		KUNIT_ASSERT_EQ(test, n, -EAGAIN);
		ct_pump(p);
	}
	ct_pair_free(p);
}

/* Announced only: nothing to read yet, and the answer comes at once. */
static void urg_announced(struct kunit *test)
{
	struct ct_pair *p = data_pair(test, SZ_64K, SZ_16K);
	u8 *buf = data_buf(test);
	char c;

	KUNIT_EXPECT_EQ(test, ct_send(&p->end[0], buf, SZ_16K, 0), SZ_16K);
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, ct_send(&p->end[0], "u", 1, MSG_OOB), 1);
	KUNIT_EXPECT_EQ(test, p->end[0].pflags,
			SMC_CDC_P_URG_PENDING | SMC_CDC_P_BLOCKED);
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[1], &c, 1, MSG_OOB), -EAGAIN);
	KUNIT_EXPECT_GT(test, p->end[1].posted, 0);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[1], buf, BUF_LEN, 0), SZ_16K);
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[1], &c, 1, MSG_OOB), 1);
	KUNIT_EXPECT_EQ(test, c, 'u');
	ct_pair_free(p);
}

/* ---- a bad peer ---- */

struct bad_case {
	const char *name;
	struct smc_cdc cdc;
	int verdict;		/* 0 harmless, 1 connection aborted */
};

/* the end under test has sent 100 bytes and read 50 of 100 */
static const struct bad_case bad_cases[] = {
	{ "producer outside the ring",
	  { .seq = 2, .prod = { SZ_16K, 0 } }, 1 },
	{ "producer far outside",
	  { .seq = 2, .prod = { U32_MAX, 0 } }, 1 },
	{ "producer beyond the window",
	  { .seq = 2, .prod = { 51, 1 } }, 1 },
	{ "producer many rings ahead",
	  { .seq = 2, .prod = { 100, 77 } }, 1 },
	{ "consumer outside the ring",
	  { .seq = 2, .prod = { 100, 0 }, .cons = { SZ_16K, 0 } }, 1 },
	{ "consumer of what was not sent",
	  { .seq = 2, .prod = { 100, 0 }, .cons = { 101, 0 } }, 1 },
	{ "validation of what did not come",
	  { .seq = 2, .pflags = SMC_CDC_P_FAILOVER }, 1 },
	{ "producer goes back",
	  { .seq = 2, .prod = { 20, 0 } }, 0 },
	{ "producer a ring back",
	  { .seq = 2, .prod = { 100, 0xffff } }, 0 },
	{ "old sequence number",
	  { .seq = 0, .prod = { 5, 1 } }, 0 },
	{ "very old sequence number",
	  { .seq = 0x8001, .prod = { SZ_16K, 9 } }, 0 },
	{ "validation of what came",
	  { .seq = 1, .prod = { SZ_16K, 9 }, .pflags = SMC_CDC_P_FAILOVER }, 0 },
	{ "full ring exactly",
	  { .seq = 2, .prod = { 50, 1 }, .cons = { 100, 0 } }, 0 },
	{ "reserved bits",
	  { .seq = 2, .prod = { 100, 0 }, .pflags = 7, .cflags = 0x1f }, 0 },
};

static void bad_name(const struct bad_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(bad_cases, bad_cases, bad_name);

static u64 bad_counted(void)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += u64_stats_read(&per_cpu_ptr(smc_net(&init_net)->counters,
						   cpu)->val[SMC_CNT_CDC_RX_CURSOR]);
	return sum;
}

static void bad_peer(struct kunit *test)
{
	const struct bad_case *c = test->param_value;
	struct ct_pair *p = data_pair(test, SZ_16K, SZ_16K);
	struct smc_member *m = &p->end[0].smc->conn.member;
	u64 before = bad_counted();
	u8 *buf = data_buf(test);
	struct smc_cdc cdc = c->cdc;

	ct_send(&p->end[0], buf, 100, 0);
	ct_send(&p->end[1], buf, 100, 0);
	ct_deliver(&p->end[1]);
	KUNIT_ASSERT_EQ(test, ct_recv(&p->end[0], buf, 50, 0), 50);

	cdc.token = m->token;
	local_bh_disable();
	m->ops->rx_cdc(m, &cdc);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, ct_state(&p->end[0]),
			c->verdict ? SMC_CLOSED : SMC_ACTIVE);
	KUNIT_EXPECT_LE(test, smc_rx_avail(p->end[0].smc), SZ_16K);
	if (c->verdict) {
		KUNIT_EXPECT_EQ(test, p->end[0].cflags, SMC_CDC_C_ABORT);
		KUNIT_EXPECT_GT(test, ct_recv(&p->end[0], buf, 100, 0), 0);
		KUNIT_EXPECT_EQ(test, ct_recv(&p->end[0], buf, 100, 0),
				-ECONNABORTED);
	}
	KUNIT_EXPECT_EQ(test, bad_counted(),
			before + (c->verdict &&
				  !(cdc.pflags & SMC_CDC_P_FAILOVER)));
	ct_pair_free(p);
}

/* R is answered at once, and an answer needs no data. */
static void update_requested(struct kunit *test)
{
	struct ct_pair *p = data_pair(test, SZ_16K, SZ_16K);
	struct smc_member *m = &p->end[0].smc->conn.member;
	struct smc_cdc cdc = { .seq = 1, .pflags = SMC_CDC_P_UPDATE_REQ };

	local_bh_disable();
	m->ops->rx_cdc(m, &cdc);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, p->end[0].posted, 1);
	ct_pair_free(p);
}

static struct kunit_case data_cases[] = {
	KUNIT_CASE_PARAM(data_random, data_sizes_gen_params),
	KUNIT_CASE(data_ring_on_demand),
	KUNIT_CASE(data_ring_dies),
	KUNIT_CASE(data_stopped_reader),
	KUNIT_CASE(data_request_response),
	KUNIT_CASE(data_signal_short_ring),
	KUNIT_CASE(data_autocork),
	KUNIT_CASE(data_cork),
	KUNIT_CASE(data_no_slot),
	KUNIT_CASE(data_early),
	KUNIT_CASE(urg_out_of_line),
	KUNIT_CASE(urg_skipped),
	KUNIT_CASE(urg_inline),
	KUNIT_CASE(urg_inline_late),
	KUNIT_CASE(urg_alone),
	KUNIT_CASE(urg_everywhere),
	KUNIT_CASE(urg_announced),
	KUNIT_CASE_PARAM(bad_peer, bad_cases_gen_params),
	KUNIT_CASE(update_requested),
	{}
};

static struct kunit_suite data_suite = {
	.name = "smc_conn_data",
	.test_cases = data_cases,
};

kunit_test_suite(data_suite);
