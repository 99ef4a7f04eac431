// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of link layer control: what is answered, what is given to whom,
 * what has no effect, and that nobody waits for ever. The engine is that of
 * wr_kunit.h; the test is the peer.
 */
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/unaligned.h>

#include "../smc_llc.h"
#include "wr_kunit.h"

#define MAX_SEEN	64

struct llct {
	struct wrt *w;
	struct smc_llc_ctl ctl;
	struct smc_llc_link ll;
	struct completion *gate;	/* the handler waits here */
	atomic_t nseen;
	u8 seen[MAX_SEEN];		/* link numbers, as a mark */
	u8 type;			/* of the last request */
	atomic_t lost;
	int lost_err;
};

static void llct_request(struct smc_llc_link *ll, const struct smc_llc *msg,
			 const u8 *raw)
{
	struct llct *t = container_of(ll, struct llct, ll);
	int n = atomic_read(&t->nseen);

	if (t->gate)
		wait_for_completion(t->gate);
	if (n < MAX_SEEN)
		t->seen[n] = msg->link;
	t->type = msg->type;
	atomic_inc(&t->nseen);
}

static void llct_lost(struct smc_llc_link *ll, int err)
{
	struct llct *t = container_of(ll, struct llct, ll);

	t->lost_err = err;
	atomic_inc(&t->lost);
}

static const struct smc_llc_ops llct_ops = {
	.request = llct_request,
	.lost = llct_lost,
};

static void llct_fini(void *arg)
{
	struct llct *t = arg;

	smc_llc_kill(&t->ctl);
	smc_llc_stop(&t->ctl);
	smc_llc_link_stop(&t->ll);
	smc_llc_free(&t->ctl);
}

static struct llct *llct_new(struct kunit *test, u8 version)
{
	struct llct *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->w = wrt_new(test, 4, 0, false);
	KUNIT_ASSERT_EQ(test, smc_llc_init(&t->ctl, &llct_ops, &init_net,
					   0x100, version), 0);
	smc_llc_link_init(&t->ll, &t->ctl, &t->w->wr, 1);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, llct_fini, t), 0);
	return t;
}

/* the peer sends */
static void rx(struct llct *t, const struct smc_llc *msg)
{
	u8 buf[SMC_LLC_LEN];

	if (smc_llc_encode(buf, sizeof(buf), msg) != SMC_LLC_LEN)
		return;
	local_bh_disable();
	smc_llc_rx(&t->ll, buf, sizeof(buf));
	local_bh_enable();
}

static void rx_type(struct llct *t, u8 type, bool response, u8 link)
{
	struct smc_llc msg = {
		.version = t->ctl.version,
		.type = type,
		.response = response,
		.no_eyecatcher = true,
		.link = link,
		.num_rkeys = type == SMC_LLC_DELETE_RKEY,
	};

	rx(t, &msg);
}

static void rx_rkey(struct llct *t, u32 rkey, bool rejected)
{
	struct smc_llc msg = {
		.version = t->ctl.version,
		.type = SMC_LLC_CONFIRM_RKEY,
		.response = true,
		.rejected = rejected,
		.rkey = { .rkey = rkey, .addr = 1 },
	};

	rx(t, &msg);
}

/* type and flags of the n-th message sent; 0 if there is none */
static u8 tx_type(struct llct *t, unsigned int n)
{
	return n < t->w->posted ? ((u8 *)t->w->sq[n].head)[0] : 0;
}

static u8 tx_flags(struct llct *t, unsigned int n)
{
	return n < t->w->posted ? ((u8 *)t->w->sq[n].head)[3] : 0;
}

/* TEST LINK is answered in the context in which it comes */
static void llc_test_answer(struct kunit *test)
{
	struct llct *t = llct_new(test, 2);
	struct smc_slot *slot[4];
	int i;

	rx_type(t, SMC_LLC_TEST_LINK, false, 0);
	KUNIT_EXPECT_EQ(test, t->w->posted, 1);
	KUNIT_EXPECT_EQ(test, tx_type(t, 0), 0x27);
	KUNIT_EXPECT_EQ(test, tx_flags(t, 0), SMC_LLC_F_RESP);
	wrt_reap(t->w);

	/* also with all slots of data in use */
	for (i = 0; i < 4; i++) {
		slot[i] = smc_wr_get(&t->w->wr, 0);
		KUNIT_ASSERT_FALSE(test, IS_ERR(slot[i]));
	}
	rx_type(t, SMC_LLC_TEST_LINK, false, 0);
	KUNIT_EXPECT_EQ(test, t->w->posted, 2);

	/* and later, but at all, if that one is on its way */
	rx_type(t, SMC_LLC_TEST_LINK, false, 0);
	KUNIT_EXPECT_EQ(test, t->w->posted, 2);
	wrt_reap(t->w);
	KUNIT_EXPECT_TRUE(test, wrt_until(READ_ONCE(t->w->posted) == 3));
	KUNIT_EXPECT_EQ(test, tx_type(t, 2), 0x27);
	for (i = 0; i < 4; i++)
		smc_wr_put(slot[i]);
	wrt_reap(t->w);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->nseen), 0);
}

/* responses that nobody waits for, and what only a waiter may get */
static void llc_unsolicited(struct kunit *test)
{
	static const u8 dropped[] = {
		SMC_LLC_CONFIRM_LINK, SMC_LLC_ADD_LINK_CONT,
		SMC_LLC_CONFIRM_RKEY, SMC_LLC_TEST_LINK, SMC_LLC_DELETE_RKEY,
	};
	static const struct smc_llc v2 = {
		.version = 2,
		.type = SMC_LLC_DELETE_LINK,
		.link = 1,
	};
	struct llct *t = llct_new(test, 1);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(dropped); i++)
		rx_type(t, dropped[i], true, 1);
	rx_type(t, SMC_LLC_CONFIRM_LINK, false, 1);
	flush_work(&t->ctl.work);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->nseen), 0);
	KUNIT_EXPECT_EQ(test, t->w->posted, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->lost), 0);

	/* a message of the other version neither */
	rx(t, &v2);
	flush_work(&t->ctl.work);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->nseen), 0);
	rx_type(t, SMC_LLC_DELETE_LINK, false, 1);
	flush_work(&t->ctl.work);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->nseen), 1);
}

static void llc_match(struct kunit *test)
{
	struct llct *t = llct_new(test, 2);
	struct smc_llc_wait a = {}, b = {}, other = {};
	struct smc_llc_link link2 = {};

	smc_llc_link_init(&link2, &t->ctl, &t->w->wr, 2);
	smc_llc_expect(&other, &link2, SMC_LLC_CONFIRM_RKEY, true, 0);
	smc_llc_expect(&a, &t->ll, SMC_LLC_CONFIRM_RKEY, true, 0x11);
	smc_llc_expect(&b, &t->ll, SMC_LLC_CONFIRM_RKEY, true, 0x22);

	rx_type(t, SMC_LLC_DELETE_RKEY, true, 0);	/* other type */
	rx_rkey(t, 0x33, false);			/* other key */
	KUNIT_EXPECT_FALSE(test, a.done || b.done || other.done);

	rx_rkey(t, 0x22, true);				/* not in order */
	KUNIT_EXPECT_FALSE(test, a.done);
	KUNIT_EXPECT_TRUE(test, b.done && b.msg.rejected);
	rx_rkey(t, 0x22, false);			/* twice: no effect */
	KUNIT_EXPECT_FALSE(test, a.done);
	KUNIT_EXPECT_TRUE(test, b.msg.rejected);
	rx_rkey(t, 0x11, false);
	KUNIT_EXPECT_TRUE(test, a.done);
	KUNIT_EXPECT_FALSE(test, a.msg.rejected);
	KUNIT_EXPECT_FALSE(test, other.done);
	KUNIT_EXPECT_EQ(test, smc_llc_await(&a, HZ), 0);
	KUNIT_EXPECT_EQ(test, smc_llc_await(&other, 1), -ETIMEDOUT);
	smc_llc_forget(&a);
	smc_llc_forget(&b);
	smc_llc_forget(&other);
	KUNIT_EXPECT_TRUE(test, list_empty(&t->ctl.waits));

	/* the oldest of two that fit */
	smc_llc_expect(&a, &t->ll, SMC_LLC_CONFIRM_LINK, false, 0);
	smc_llc_expect(&b, &t->ll, SMC_LLC_CONFIRM_LINK, false, 0);
	rx_type(t, SMC_LLC_CONFIRM_LINK, true, 7);	/* response */
	KUNIT_EXPECT_FALSE(test, a.done || b.done);
	rx_type(t, SMC_LLC_CONFIRM_LINK, false, 8);
	KUNIT_EXPECT_TRUE(test, a.done && !b.done);
	KUNIT_EXPECT_EQ(test, a.msg.link, 8);
	smc_llc_forget(&a);
	smc_llc_forget(&b);
}

/* in order, bounded, and what is too much is lost without harm */
static void llc_queue(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(gate);
	struct llct *t = llct_new(test, 1);
	int i;

	t->gate = &gate;
	for (i = 0; i < 3 * SMC_LLC_ENTRIES; i++)
		rx_type(t, SMC_LLC_DELETE_LINK, false, i + 1);
	complete_all(&gate);
	flush_work(&t->ctl.work);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->nseen), SMC_LLC_ENTRIES);
	for (i = 0; i < SMC_LLC_ENTRIES; i++)
		KUNIT_EXPECT_EQ(test, t->seen[i], i + 1);

	/* all entries are back */
	atomic_set(&t->nseen, 0);
	for (i = 0; i < SMC_LLC_ENTRIES; i++)
		rx_type(t, SMC_LLC_ADD_LINK, i & 1, 100 + i);
	flush_work(&t->ctl.work);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->nseen), SMC_LLC_ENTRIES);
}

static void llc_noise(struct kunit *test)
{
	struct llct *t = llct_new(test, 2);
	struct rnd_state rnd;
	u8 buf[600];
	int i;

	prandom_seed_state(&rnd, 4711);
	for (i = 0; i < 20000; i++) {
		u32 len = prandom_u32_state(&rnd) % sizeof(buf);

		prandom_bytes_state(&rnd, buf, sizeof(buf));
		if (i & 1) {
			/* get past the header */
			buf[0] = 0x20 | (buf[0] % 11);
			buf[1] = 0;
			buf[2] = SMC_LLC_LEN;
		}
		local_bh_disable();
		smc_llc_rx(&t->ll, buf, len);
		local_bh_enable();
		wrt_reap(t->w);
	}
	wrt_until(({ wrt_reap(t->w); !work_busy(&t->ctl.work); }));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->lost), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->w->broken), 0);
	KUNIT_EXPECT_GT(test, atomic_read(&t->nseen), 0);
}

/* ---- own flows, in a thread ---- */

struct asker {
	struct llct *t;
	u32 rkey;			/* 0: delete instead of confirm */
	int rc;
	struct completion done;
};

static int ask(void *arg)
{
	struct asker *a = arg;
	struct smc_llc_rkey own = { .rkey = a->rkey, .addr = 0x1000 };
	static const u32 keys[] = { 1, 2, 3 };

	if (a->rkey)
		a->rc = smc_llc_confirm_rkey(&a->t->ll, &own, NULL, 0,
					     jiffies + SMC_LLC_WAIT_FLOW);
	else
		a->rc = smc_llc_delete_rkeys(&a->t->ll, keys, 3);
	complete(&a->done);
	return 0;
}

static void start(struct kunit *test, struct asker *a, struct llct *t, u32 rkey)
{
	struct task_struct *task;

	a->t = t;
	a->rkey = rkey;
	a->rc = 1;
	init_completion(&a->done);
	task = kthread_run(ask, a, "smc_llc_ask");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
}

static int result(struct asker *a)
{
	wait_for_completion(&a->done);
	return a->rc;
}

static bool sent(struct llct *t, unsigned int n)
{
	return wrt_until(({ wrt_reap(t->w); READ_ONCE(t->w->posted) == n; }));
}

static void llc_rkey_flow(struct kunit *test)
{
	struct llct *t = llct_new(test, 2);
	struct asker a, b;

	start(test, &a, t, 0x11);
	KUNIT_ASSERT_TRUE(test, sent(t, 1));
	KUNIT_EXPECT_EQ(test, tx_type(t, 0), 0x26);
	KUNIT_EXPECT_EQ(test, tx_flags(t, 0), 0);
	/* the next one waits for its turn */
	start(test, &b, t, 0x22);
	msleep(20);
	KUNIT_EXPECT_EQ(test, t->w->posted, 1);
	rx_rkey(t, 0x22, false);	/* not the question */
	KUNIT_EXPECT_FALSE(test, completion_done(&a.done));
	rx_rkey(t, 0x11, false);
	KUNIT_EXPECT_EQ(test, result(&a), 0);
	KUNIT_ASSERT_TRUE(test, sent(t, 2));
	rx_rkey(t, 0x22, true);
	KUNIT_EXPECT_EQ(test, result(&b), -EIO);

	start(test, &a, t, 0);
	KUNIT_ASSERT_TRUE(test, sent(t, 3));
	KUNIT_EXPECT_EQ(test, tx_type(t, 2), 0x29);
	rx_type(t, SMC_LLC_DELETE_RKEY, true, 0);
	KUNIT_EXPECT_EQ(test, result(&a), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->lost), 0);
}

/* no answer: the question fails, the link is tested, and reported once */
static void llc_silence(struct kunit *test)
{
	struct smc_llc answer = {
		.version = 2,
		.type = SMC_LLC_TEST_LINK,
		.response = true,
	};
	struct llct *t = llct_new(test, 2);
	struct asker a;

	start(test, &a, t, 0x11);
	KUNIT_ASSERT_TRUE(test, sent(t, 1));
	KUNIT_EXPECT_EQ(test, result(&a), -ETIMEDOUT);
	KUNIT_ASSERT_TRUE(test, sent(t, 2));
	KUNIT_EXPECT_EQ(test, tx_type(t, 1), 0x27);
	rx_rkey(t, 0x11, false);	/* too late */
	KUNIT_EXPECT_TRUE(test, wrt_until(atomic_read(&t->lost)));
	KUNIT_EXPECT_EQ(test, t->lost_err, -ETIMEDOUT);

	/* an answer to the test keeps the link */
	smc_llc_test_now(&t->ll);
	KUNIT_ASSERT_TRUE(test, sent(t, 3));
	put_unaligned_be32(t->ll.probe, answer.user_data);
	rx(t, &answer);
	flush_delayed_work(&t->ll.test_work);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->lost), 1);
}

/* the end of the group ends all waits at once */
static void llc_kill(struct kunit *test)
{
	struct llct *t = llct_new(test, 2);
	struct smc_llc_wait wait = {};
	struct asker a, b;
	unsigned long start_time;

	start(test, &a, t, 0x11);
	start(test, &b, t, 0x22);
	KUNIT_ASSERT_TRUE(test, sent(t, 1));
	smc_llc_expect(&wait, &t->ll, SMC_LLC_CONFIRM_LINK, false, 0);
	start_time = jiffies;
	smc_llc_kill(&t->ctl);
	KUNIT_EXPECT_EQ(test, result(&a), -ENOLINK);
	KUNIT_EXPECT_EQ(test, result(&b), -ENOLINK);
	KUNIT_EXPECT_EQ(test, smc_llc_await(&wait, 60 * HZ), -ENOLINK);
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, start_time + 2 * HZ));
	smc_llc_forget(&wait);
	KUNIT_EXPECT_TRUE(test, list_empty(&t->ctl.waits));

	/* what comes after the end is not kept */
	rx_type(t, SMC_LLC_DELETE_LINK, false, 1);
	flush_work(&t->ctl.work);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->nseen), 0);
}

static struct kunit_case llc_cases[] = {
	KUNIT_CASE(llc_test_answer),
	KUNIT_CASE(llc_unsolicited),
	KUNIT_CASE(llc_match),
	KUNIT_CASE(llc_queue),
	KUNIT_CASE(llc_noise),
	KUNIT_CASE(llc_rkey_flow),
	KUNIT_CASE_SLOW(llc_silence),
	KUNIT_CASE(llc_kill),
	{}
};

static struct kunit_suite llc_suite = {
	.name = "smc_llc",
	.test_cases = llc_cases,
};

kunit_test_suite(llc_suite);

MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
MODULE_DESCRIPTION("KUnit tests of SMC link layer control");
MODULE_LICENSE("GPL");
