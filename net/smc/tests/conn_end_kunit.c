// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the end of a connection: every byte before the end of the
 * stream, or an error; and nothing that stays behind.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>

#include "conn_kunit.h"
#include "../smc_net.h"

static struct ct_pair *end_pair(struct kunit *test)
{
	struct ct_pair *p = ct_pair_new(test, SZ_16K, SZ_16K);

	ct_established(&p->end[0]);
	ct_established(&p->end[1]);
	return p;
}

/* Write until nothing more is taken: both rings are full. */
static u64 end_fill(struct ct_pair *p, u8 *buf)
{
	u64 wrote = 0;
	int rc;

	do {
		ct_fill(buf, 1000, wrote);
		rc = ct_send(&p->end[0], buf, 1000, 0);
		wrote += rc > 0 ? rc : 0;
		ct_pump(p);
	} while (rc > 0);
	return wrote;
}

/* Read everything; returns the bytes, @end gets what came behind them. */
static u64 end_read(struct kunit *test, struct ct_pair *p, u8 *buf, int *end)
{
	u64 got = 0;
	int rc;

	for (;;) {
		rc = ct_recv(&p->end[1], buf, 3000, 0);
		if (rc <= 0)
			break;
		KUNIT_ASSERT_TRUE(test, ct_match(buf, rc, got));
		got += rc;
		ct_pump(p);
	}
	*end = rc;
	return got;
}

enum end_way { WAY_CLOSE, WAY_SHUT_WR, WAY_SHUT_RDWR, WAY_MAX };

/* The end comes while half of the data has no place at the peer yet. */
static void end_with_data_left(struct kunit *test)
{
	u8 *buf = kunit_kzalloc(test, 4096, GFP_KERNEL);
	struct ct_pair *p;
	int way, rc;
	u64 wrote;

	for (way = 0; way < WAY_MAX; way++) {
		p = end_pair(test);
		wrote = end_fill(p, buf);
		KUNIT_EXPECT_EQ(test, wrote, 2 * SZ_16K);
		if (way == WAY_CLOSE)
			ct_close(&p->end[0], 0);
		else
			KUNIT_EXPECT_EQ(test, ct_shutdown(&p->end[0],
							  way == WAY_SHUT_WR ?
							  SHUT_WR : SHUT_RDWR), 0);
		ct_pump(p);
		KUNIT_EXPECT_EQ(test, ct_state(&p->end[0]), SMC_PEERCLOSEWAIT1);
		KUNIT_EXPECT_EQ(test, p->end[0].cflags, 0);
		KUNIT_EXPECT_EQ(test, end_read(test, p, buf, &rc), wrote);
		KUNIT_EXPECT_EQ(test, rc, 0);
		KUNIT_EXPECT_EQ(test, p->end[0].cflags, way == WAY_SHUT_WR ?
				SMC_CDC_C_DONE : SMC_CDC_C_CLOSED);
		KUNIT_EXPECT_EQ(test, ct_recv(&p->end[1], buf, 1, 0), 0);
		ct_pair_free(p);
		KUNIT_EXPECT_TRUE(test, p->end[0].clean);
		KUNIT_EXPECT_TRUE(test, p->end[1].clean);
	}
}

/* Close with unread data, or with SO_LINGER and no time: a reset. */
static void end_reset(struct kunit *test)
{
	struct ct_pair *p;
	u8 buf[16];
	int unread;

	for (unread = 0; unread < 2; unread++) {
		p = end_pair(test);
		ct_send(&p->end[0], "last", 4, 0);
		ct_pump(p);
		if (unread) {
			ct_send(&p->end[1], "never read", 10, 0);
			ct_pump(p);
		} else {
			ct_linger(&p->end[0], 0);
		}
		ct_close(&p->end[0], 0);
		KUNIT_EXPECT_EQ(test, p->end[0].cflags, SMC_CDC_C_ABORT);
		ct_pump(p);
		KUNIT_EXPECT_EQ(test, ct_state(&p->end[1]), SMC_PROCESSABORT);
		/* answered at once: the closed end can be freed */
		KUNIT_EXPECT_TRUE(test, ct_gone(&p->end[0]));
		KUNIT_EXPECT_EQ(test, ct_recv(&p->end[1], buf, 16, 0), 4);
		KUNIT_EXPECT_EQ(test, ct_recv(&p->end[1], buf, 16, 0), -ECONNRESET);
		KUNIT_EXPECT_EQ(test, ct_recv(&p->end[1], buf, 16, 0), 0);
		KUNIT_EXPECT_EQ(test, ct_send(&p->end[1], buf, 1, 0), -EPIPE);
		KUNIT_EXPECT_EQ(test, ct_shutdown(&p->end[1], SHUT_WR), -ENOTCONN);
		ct_pair_free(p);
	}
}

static void end_half_close(struct kunit *test)
{
	struct ct_pair *p = end_pair(test);
	u8 buf[16];

	ct_send(&p->end[0], "ab", 2, 0);
	KUNIT_EXPECT_EQ(test, ct_shutdown(&p->end[0], SHUT_WR), 0);
	KUNIT_EXPECT_EQ(test, ct_shutdown(&p->end[0], SHUT_WR), 0);
	KUNIT_EXPECT_EQ(test, ct_send(&p->end[0], "x", 1, 0), -EPIPE);
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, ct_state(&p->end[1]), SMC_APPCLOSEWAIT1);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[1], buf, 16, 0), 2);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[1], buf, 16, 0), 0);
	KUNIT_EXPECT_EQ(test, ct_send(&p->end[1], "cde", 3, 0), 3);
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[0], buf, 16, 0), 3);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[0], buf, 16, 0), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ct_shutdown(&p->end[1], SHUT_WR), 0);
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, ct_state(&p->end[0]), SMC_PEERCLOSEWAIT2);
	KUNIT_EXPECT_EQ(test, ct_state(&p->end[1]), SMC_APPCLOSEWAIT2);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[0], buf, 16, 0), 0);
	ct_close(&p->end[0], 0);
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, p->end[0].cflags,
			SMC_CDC_C_DONE | SMC_CDC_C_CLOSED);
	ct_pair_free(p);
}

static void end_shut_rd(struct kunit *test)
{
	struct ct_pair *p = end_pair(test);
	u8 buf[16];

	ct_send(&p->end[0], "ab", 2, 0);
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, ct_shutdown(&p->end[1], SHUT_RD), 0);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[1], buf, 16, 0), 2);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[1], buf, 16, 0), 0);
	KUNIT_EXPECT_EQ(test, ct_state(&p->end[1]), SMC_ACTIVE);
	KUNIT_EXPECT_EQ(test, ct_send(&p->end[1], "x", 1, 0), 1);
	ct_pair_free(p);
}

/* What was received before shutdown(SHUT_RDWR) is no reason for a reset. */
static void end_shut_rdwr_unread(struct kunit *test)
{
	struct ct_pair *p = end_pair(test);
	u8 buf[16];

	ct_send(&p->end[0], "ab", 2, 0);
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, ct_shutdown(&p->end[1], SHUT_RDWR), 0);
	KUNIT_EXPECT_EQ(test, p->end[1].cflags, SMC_CDC_C_CLOSED);
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[1], buf, 16, 0), 2);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[1], buf, 16, 0), 0);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[0], buf, 16, 0), 0);
	KUNIT_EXPECT_EQ(test, ct_shutdown(&p->end[0], SHUT_RDWR), 0);
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, ct_state(&p->end[0]), SMC_APPFINCLOSEWAIT);
	KUNIT_EXPECT_EQ(test, ct_state(&p->end[1]), SMC_APPFINCLOSEWAIT);
	ct_pair_free(p);
}

static void end_both_at_once(struct kunit *test)
{
	struct ct_pair *p = end_pair(test);

	ct_close(&p->end[0], 0);
	ct_close(&p->end[1], 0);
	KUNIT_EXPECT_EQ(test, ct_state(&p->end[0]), SMC_PEERCLOSEWAIT1);
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, ct_state(&p->end[0]), SMC_CLOSED);
	KUNIT_EXPECT_EQ(test, ct_state(&p->end[1]), SMC_CLOSED);
	ct_pair_free(p);
}

/* The peer closes before it took everything: the writer learns it, the peer
 * gets no clean end, nothing is written into its ring any more.
 */
static void end_peer_takes_no_more(struct kunit *test)
{
	u8 *buf = kunit_kzalloc(test, 4096, GFP_KERNEL);
	struct ct_pair *p = end_pair(test);

	end_fill(p, buf);
	ct_shutdown(&p->end[1], SHUT_RDWR);
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, ct_send(&p->end[0], "x", 1, 0), -EPIPE);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[0], buf, 1, 0), 0);
	ct_close(&p->end[0], 0);
	KUNIT_EXPECT_EQ(test, p->end[0].cflags, SMC_CDC_C_ABORT);
	KUNIT_EXPECT_EQ(test, ct_state(&p->end[0]), SMC_CLOSED);
	ct_pair_free(p);
}

/* The group dies: what has arrived can be read, then the error. */
static void end_killed(struct kunit *test)
{
	struct ct_pair *p = end_pair(test);
	struct smc_member *m = &p->end[1].smc->conn.member;
	u8 buf[16];

	ct_send(&p->end[0], "ab", 2, 0);
	ct_pump(p);
	m->ops->died(m, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ct_state(&p->end[1]), SMC_CLOSED);
	msleep(50);
	KUNIT_EXPECT_FALSE(test, p->end[1].left);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[1], buf, 16, 0), 2);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[1], buf, 16, 0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[1], buf, 16, 0), 0);
	KUNIT_EXPECT_EQ(test, ct_send(&p->end[1], buf, 1, 0), -EPIPE);
	/* nothing is left to read: the group need not wait for close(2) */
	msleep(50);
	KUNIT_EXPECT_TRUE(test, p->end[1].left);
	KUNIT_EXPECT_FALSE(test, p->end[1].clean);
	/* so much of the ring has to be cleared for its next user */
	KUNIT_EXPECT_EQ(test, p->end[1].used, 2);
	KUNIT_EXPECT_EQ(test, p->end[1].cflags, 0);

	m = &p->end[0].smc->conn.member;
	m->ops->died(m, -ECONNABORTED);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[0], buf, 16, 0), -ECONNABORTED);
	ct_pair_free(p);
}

/* killed while the handshake runs, closed while it runs */
static void end_before_established(struct kunit *test)
{
	struct ct_pair *p = ct_pair_new(test, SZ_16K, SZ_16K);
	struct smc_member *m = &p->end[0].smc->conn.member;
	u8 buf[16];

	m->ops->died(m, -ECONNABORTED);
	KUNIT_EXPECT_EQ(test, ct_state(&p->end[0]), SMC_INIT);
	ct_established(&p->end[0]);
	KUNIT_EXPECT_EQ(test, ct_state(&p->end[0]), SMC_CLOSED);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[0], buf, 16, 0), -ECONNABORTED);

	ct_close(&p->end[1], 0);
	KUNIT_EXPECT_EQ(test, ct_state(&p->end[1]), SMC_CLOSED);
	ct_established(&p->end[1]);
	KUNIT_EXPECT_EQ(test, p->end[1].cflags, SMC_CDC_C_ABORT);
	ct_pair_free(p);
}

/* A closed socket whose peer never answers sends A and goes. */
static void end_orphan(struct kunit *test)
{
	int *fin = &init_net.ipv4.sysctl_tcp_fin_timeout;
	struct ct_pair *p = end_pair(test);
	int old = *fin;

	*fin = HZ / 20;
	ct_close(&p->end[0], 0);
	KUNIT_EXPECT_EQ(test, p->end[0].cflags, SMC_CDC_C_CLOSED);
	while (ct_deliver(&p->end[0]))
		;
	KUNIT_EXPECT_EQ(test, ct_state(&p->end[1]), SMC_APPCLOSEWAIT1);
	KUNIT_EXPECT_TRUE(test, ct_gone(&p->end[0]));
	KUNIT_EXPECT_EQ(test, p->end[0].cflags,
			SMC_CDC_C_CLOSED | SMC_CDC_C_ABORT);
	KUNIT_EXPECT_FALSE(test, p->end[0].clean);
	/* the peer had a clean end before, and keeps it */
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, ct_state(&p->end[1]), SMC_APPCLOSEWAIT1);
	KUNIT_EXPECT_EQ(test, p->end[1].smc->sk.sk_err, 0);
	*fin = old;
	ct_pair_free(p);
}

/* Steps of the peer wait for the owner of the socket lock. */
static void end_deferred(struct kunit *test)
{
	struct ct_pair *p = end_pair(test);
	struct sock *sk = &p->end[1].smc->sk;

	ct_send(&p->end[0], "ab", 2, 0);
	ct_shutdown(&p->end[0], SHUT_WR);
	lock_sock(sk);
	while (ct_deliver(&p->end[0]))
		;
	KUNIT_EXPECT_EQ(test, smc_rx_avail(p->end[1].smc), 2);
	KUNIT_EXPECT_EQ(test, sk->sk_state, SMC_ACTIVE);
	KUNIT_EXPECT_EQ(test, sk->sk_shutdown, 0);
	release_sock(sk);
	KUNIT_EXPECT_EQ(test, ct_state(&p->end[1]), SMC_APPCLOSEWAIT1);
	KUNIT_EXPECT_EQ(test, sk->sk_shutdown, RCV_SHUTDOWN);
	ct_pair_free(p);
}

/* Nothing of it fits: C waits for a slot, in states that have ended long ago. */
static void end_no_slot(struct kunit *test)
{
	struct ct_pair *p = end_pair(test);

	ct_close(&p->end[0], 0);
	ct_pump(p);
	p->end[1].slots = 0;
	ct_close(&p->end[1], 0);
	KUNIT_EXPECT_EQ(test, ct_state(&p->end[1]), SMC_CLOSED);
	msleep(50);
	KUNIT_EXPECT_FALSE(test, p->end[1].left);
	p->end[1].slots = 16;
	smc_cdc_owe(&p->end[1].smc->conn);
	KUNIT_EXPECT_EQ(test, p->end[1].cflags, SMC_CDC_C_CLOSED);
	KUNIT_EXPECT_TRUE(test, ct_gone(&p->end[1]));
	ct_pair_free(p);
}

/* Everything not completed is sent again on another link, flags included. */
static void end_switched(struct kunit *test)
{
	struct ct_pair *p = end_pair(test);
	struct ct_end *e = &p->end[0];
	struct smc_member *m = &e->smc->conn.member;
	u8 buf[16];

	ct_send(e, "abc", 3, 0);
	ct_pump(p);
	ct_send(e, "de", 2, 0);
	ct_shutdown(e, SHUT_WR);
	/* both messages are lost with their link */
	spin_lock_bh(&m->tx_lock);
	while (!list_empty(&e->wire)) {
		struct ct_msg *w = list_first_entry(&e->wire, struct ct_msg, node);

		list_del(&w->node);
		kfree(w);
		e->inflight--;
	}
	m->ops->switched(m);
	e->bytes = 3;
	e->cflags = 0;
	spin_unlock_bh(&m->tx_lock);
	m->transport->kick(m);
	KUNIT_EXPECT_EQ(test, e->cflags, SMC_CDC_C_DONE);
	ct_pump(p);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[1], buf, 16, 0), 5);
	KUNIT_EXPECT_EQ(test, ct_recv(&p->end[1], buf, 16, 0), 0);
	ct_pair_free(p);
}

static int end_pumper(void *data)
{
	while (!kthread_should_stop()) {
		ct_pump(data);
		usleep_range(500, 1000);
	}
	return 0;
}

/* SO_LINGER with time waits until everything has arrived, at most that long. */
static void end_linger(struct kunit *test)
{
	u8 *buf = kunit_kzalloc(test, 4096, GFP_KERNEL);
	struct ct_pair *p = end_pair(test);
	struct task_struct *task;
	unsigned long start;
	int rc;

	end_fill(p, buf);
	start = jiffies;
	ct_close(&p->end[0], HZ / 10);
	KUNIT_EXPECT_GE(test, jiffies - start, HZ / 10);
	KUNIT_EXPECT_EQ(test, end_read(test, p, buf, &rc), 2 * SZ_16K);
	KUNIT_EXPECT_EQ(test, rc, 0);
	ct_pair_free(p);

	p = end_pair(test);
	ct_send(&p->end[0], "ab", 2, MSG_MORE);
	task = kthread_run(end_pumper, p, "smc-test");
	start = jiffies;
	ct_close(&p->end[0], 10 * HZ);
	KUNIT_EXPECT_LT(test, jiffies - start, 5 * HZ);
	KUNIT_EXPECT_EQ(test, smc_tx_unfinished(p->end[0].smc), 0);
	kthread_stop(task);
	ct_pair_free(p);
}

static struct kunit_case end_cases[] = {
	KUNIT_CASE(end_with_data_left),
	KUNIT_CASE(end_reset),
	KUNIT_CASE(end_half_close),
	KUNIT_CASE(end_shut_rd),
	KUNIT_CASE(end_shut_rdwr_unread),
	KUNIT_CASE(end_both_at_once),
	KUNIT_CASE(end_peer_takes_no_more),
	KUNIT_CASE(end_killed),
	KUNIT_CASE(end_before_established),
	KUNIT_CASE(end_orphan),
	KUNIT_CASE(end_deferred),
	KUNIT_CASE(end_no_slot),
	KUNIT_CASE(end_switched),
	KUNIT_CASE(end_linger),
	{}
};

static struct kunit_suite end_suite = {
	.name = "smc_conn_end",
	.test_cases = end_cases,
};

kunit_test_suite(end_suite);
