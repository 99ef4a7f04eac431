// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the work requests: slots, waits, signalling, retirement,
 * failure, receives. The scheduler has its own suite.
 */
#include <linux/module.h>
#include <linux/sched/signal.h>

#include "wr_kunit.h"

#define RECORD_LEN	(sizeof(struct smc_slot) - \
			 offsetof(struct smc_slot, cqe))

/* ---- clearing of slots ---- */

static void expect_clear(struct kunit *test, struct smc_slot *slot)
{
	KUNIT_EXPECT_NULL(test, memchr_inv(&slot->cqe, 0, RECORD_LEN));
	KUNIT_EXPECT_NULL(test, memchr_inv(slot->msg, 0, slot->room));
}

static struct smc_slot *get_clear(struct kunit *test, struct wrt *t,
				  unsigned int flags)
{
	struct smc_slot *slot = smc_wr_get(&t->wr, flags);

	KUNIT_ASSERT_FALSE(test, IS_ERR(slot));
	slot->signal = false;
	expect_clear(test, slot);
	return slot;
}

static void put_clears(struct kunit *test, struct wrt *t, unsigned int flags,
		       u32 room)
{
	struct smc_slot *slot, was;
	int i;

	for (i = 0; i < 200; i++) {
		slot = get_clear(test, t, flags);
		was = *slot;
		KUNIT_ASSERT_EQ(test, slot->room, room);
		memset(&slot->cqe, 0xa5, RECORD_LEN);
		memset(slot->msg, 0xa5, slot->room);
		smc_wr_put(slot);
		expect_clear(test, slot);
		KUNIT_EXPECT_PTR_EQ(test, slot->wr, &t->wr);
		KUNIT_EXPECT_PTR_EQ(test, slot->msg, was.msg);
		KUNIT_EXPECT_EQ(test, slot->msg_dma, was.msg_dma);
		KUNIT_EXPECT_EQ(test, slot->room, room);
	}
}

static void wr_put_clears(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 4, 0, true);

	put_clears(test, t, 0, SMC_WR_MSG_LEN);
	put_clears(test, t, SMC_WR_GET_LLC, SMC_WR_MSG_LEN);
	put_clears(test, t, SMC_WR_GET_LARGE, SMC_WR_LARGE_LEN);
	KUNIT_EXPECT_EQ(test, wrt_credits(t), 5);
}

static void completion_clears(struct kunit *test, struct wrt *t,
			      unsigned int flags)
{
	struct wrt_msg msg = {};
	unsigned int clock = 0;
	struct smc_slot *slot;
	u8 *mem;
	int i;

	for (i = 0; i < 200; i++) {
		slot = get_clear(test, t, flags);
		mem = slot->msg;
		slot->signal = true;
		memset(&slot->write_sge, 0xa5, sizeof(slot->write_sge));
		memset(&slot->priv, 0xa5, sizeof(slot->priv));
		KUNIT_ASSERT_EQ(test, wrt_post(test, slot, &msg, &clock,
					       flags ? 0 : 2), 0);
		wrt_reap(t);
		KUNIT_ASSERT_EQ(test, msg.done, i + 1);
		KUNIT_EXPECT_TRUE(test, msg.intact);
		KUNIT_EXPECT_PTR_EQ(test, slot->msg, mem);
		expect_clear(test, slot);
	}
}

static void wr_completion_clears(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 2, 0, true);

	completion_clears(test, t, 0);
	completion_clears(test, t, SMC_WR_GET_LARGE);
	KUNIT_EXPECT_EQ(test, wrt_credits(t), 3);
}

/* The one large slot of a link, over and over; nobody else gets it while its
 * message is on the way. Between two hosts of this implementation nothing sends
 * large messages, since a client that negotiates its number of links is not
 * offered another one.
 */
static void wr_large_reuse(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 2, 0, true);
	atomic_t *credits = &t->wr.pool[SMC_WR_POOL_LARGE].credits;
	struct smc_slot *slot, *only = NULL;
	struct wrt_msg msg = {};
	unsigned int clock = 0;
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		slot = get_clear(test, t, i % 2 ? SMC_WR_GET_LARGE :
				 SMC_WR_GET_LARGE | SMC_WR_GET_LLC);
		only = only ?: slot;
		KUNIT_ASSERT_PTR_EQ(test, slot, only);
		KUNIT_ASSERT_EQ(test, slot->room, SMC_WR_LARGE_LEN);
		slot->signal = true;
		KUNIT_ASSERT_EQ(test, wrt_post(test, slot, &msg, &clock, 0), 0);
		KUNIT_EXPECT_EQ(test, t->posted, i + 1);
		KUNIT_EXPECT_EQ(test, PTR_ERR(smc_wr_get(&t->wr, SMC_WR_GET_LARGE)),
				-EBUSY);
		KUNIT_EXPECT_EQ(test, msg.done, i);
		wrt_reap(t);
		KUNIT_ASSERT_EQ(test, msg.done, i + 1);
		KUNIT_EXPECT_TRUE(test, msg.intact);
		KUNIT_EXPECT_EQ(test, atomic_read(credits), 1);
		expect_clear(test, slot);
	}
	KUNIT_EXPECT_EQ(test, wrt_credits(t), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->broken), 0);
}

/* ---- who gets a slot ---- */

static void wr_no_wait_errors(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 2, 0, true);
	struct smc_slot *large;
	struct wrt *v1;

	large = smc_wr_get(&t->wr, SMC_WR_GET_LARGE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(large));
	KUNIT_EXPECT_EQ(test, PTR_ERR(smc_wr_get(&t->wr, SMC_WR_GET_LARGE)),
			-EBUSY);
	smc_wr_put(large);

	v1 = wrt_new(test, 2, 0, false);
	KUNIT_EXPECT_EQ(test, PTR_ERR(smc_wr_get(&v1->wr, SMC_WR_GET_LARGE)),
			-EOPNOTSUPP);

	clear_bit(SMC_WR_S_UP, &t->wr.state);
	KUNIT_EXPECT_EQ(test, PTR_ERR(smc_wr_get(&t->wr, 0)), -ENOLINK);
	KUNIT_EXPECT_EQ(test, PTR_ERR(smc_wr_get(&t->wr, SMC_WR_GET_WAIT)),
			-EPIPE);
	set_bit(SMC_WR_S_UP, &t->wr.state);
	smc_wr_stop(&t->wr);
	KUNIT_EXPECT_EQ(test, PTR_ERR(smc_wr_get(&t->wr, 0)), -ENOLINK);
	KUNIT_EXPECT_EQ(test, PTR_ERR(smc_wr_get(&t->wr, SMC_WR_GET_WAIT)),
			-EPIPE);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->broken), 0);
}

/* both ends of the range of depths */
static void wr_reserve(struct kunit *test)
{
	static const unsigned int depths[] = { 2, 16, 2048 };
	struct smc_slot **slots, *llc;
	unsigned int i, d, n;
	struct wrt *t;

	slots = kunit_kcalloc(test, 2048, sizeof(*slots), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, slots);
	for (d = 0; d < ARRAY_SIZE(depths); d++) {
		n = depths[d];
		t = wrt_new(test, n, 0, false);
		for (i = 0; i < n; i++) {
			slots[i] = smc_wr_get(&t->wr, 0);
			KUNIT_ASSERT_FALSE(test, IS_ERR(slots[i]));
		}
		KUNIT_EXPECT_EQ(test, PTR_ERR(smc_wr_get(&t->wr, 0)), -EBUSY);
		llc = smc_wr_get(&t->wr, SMC_WR_GET_LLC);
		KUNIT_ASSERT_FALSE(test, IS_ERR(llc));
		KUNIT_EXPECT_TRUE(test, llc->signal);
		KUNIT_EXPECT_EQ(test, PTR_ERR(smc_wr_get(&t->wr, SMC_WR_GET_LLC)),
				-EBUSY);
		smc_wr_put(llc);
		KUNIT_EXPECT_EQ(test, PTR_ERR(smc_wr_get(&t->wr, 0)), -EBUSY);
		for (i = 0; i < n; i++)
			smc_wr_put(slots[i]);
		KUNIT_EXPECT_EQ(test, wrt_credits(t), n + 1);
	}
}

/* ---- waits ---- */

struct waiter {
	struct wrt *t;
	struct task_struct *task;
	struct smc_slot *slot;
	unsigned int flags;
	struct completion ended;
	int result;
	unsigned int when;
	atomic_t *clock;
};

static int waiter_main(void *arg)
{
	struct waiter *w = arg;

	allow_signal(SIGINT);
	w->slot = smc_wr_get(&w->t->wr, w->flags | SMC_WR_GET_WAIT);
	w->when = atomic_inc_return(w->clock);
	w->result = PTR_ERR_OR_ZERO(w->slot);
	complete_all(&w->ended);
	while (!kthread_should_stop()) {
		flush_signals(current);
		usleep_range(200, 500);
	}
	return 0;
}

/* starts a waiter and returns when it waits */
static void waiter_start(struct kunit *test, struct waiter *w, struct wrt *t,
			 unsigned int flags, atomic_t *clock)
{
	unsigned int n = wrt_waiting(t);

	w->t = t;
	w->flags = flags;
	w->clock = clock;
	init_completion(&w->ended);
	w->task = kthread_run(waiter_main, w, "wr_waiter");
	KUNIT_ASSERT_FALSE(test, IS_ERR(w->task));
	KUNIT_EXPECT_TRUE(test, wrt_until(wrt_waiting(t) == n + 1));
}

static bool waiter_ended(struct waiter *w)
{
	return wait_for_completion_timeout(&w->ended, 30 * HZ);
}

static void waiter_put(struct waiter *w)
{
	if (!IS_ERR_OR_NULL(w->slot))
		smc_wr_put(w->slot);
}

static unsigned int waiters_ended(struct waiter *w, unsigned int n)
{
	unsigned int ended = 0;

	msleep(20);
	while (n--)
		ended += completion_done(&w[n].ended);
	return ended;
}

/* all data slots taken */
static void take_all(struct kunit *test, struct wrt *t, struct smc_slot **slots)
{
	unsigned int i;

	for (i = 0; i < t->wr.nslots; i++) {
		slots[i] = smc_wr_get(&t->wr, 0);
		KUNIT_ASSERT_FALSE(test, IS_ERR(slots[i]));
	}
}

static void wr_wait_in_order(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 2, 0, false);
	struct waiter w[5] = {};
	struct smc_slot *slots[2];
	atomic_t clock = ATOMIC_INIT(0);
	struct wrt_msg msg = {};
	unsigned int when = 0;
	unsigned int i;

	take_all(test, t, slots);
	for (i = 0; i < ARRAY_SIZE(w); i++)
		waiter_start(test, &w[i], t, 0, &clock);

	/* one freed slot, by put or by completion, serves the first only */
	smc_wr_put(slots[0]);
	KUNIT_EXPECT_TRUE(test, waiter_ended(&w[0]));
	KUNIT_EXPECT_EQ(test, waiters_ended(w, ARRAY_SIZE(w)), 1);
	KUNIT_EXPECT_EQ(test, wrt_post(test, slots[1], &msg, &when, 0), 0);
	KUNIT_EXPECT_EQ(test, waiters_ended(w, ARRAY_SIZE(w)), 1);
	wrt_reap(t);
	KUNIT_EXPECT_TRUE(test, waiter_ended(&w[1]));
	KUNIT_EXPECT_EQ(test, waiters_ended(w, ARRAY_SIZE(w)), 2);

	for (i = 0; i + 2 < ARRAY_SIZE(w); i++) {
		if (IS_ERR_OR_NULL(w[i].slot))
			continue;
		/* smc_wr_put() in slow motion: a newcomer does not overtake */
		smc_wr_release(w[i].slot);
		KUNIT_EXPECT_EQ(test, PTR_ERR(smc_wr_get(&t->wr, 0)), -EBUSY);
		percpu_ref_put(&t->wr.users);
		KUNIT_EXPECT_TRUE(test, waiter_ended(&w[i + 2]));
		KUNIT_EXPECT_EQ(test, waiters_ended(w, ARRAY_SIZE(w)), i + 3);
	}
	for (i = 0; i < ARRAY_SIZE(w); i++) {
		KUNIT_EXPECT_EQ(test, w[i].result, 0);
		KUNIT_EXPECT_EQ(test, w[i].when, i + 1);
		kthread_stop(w[i].task);
	}
	waiter_put(&w[3]);
	waiter_put(&w[4]);
	KUNIT_EXPECT_EQ(test, wrt_credits(t), 3);
	KUNIT_EXPECT_EQ(test, t->wr.n_waits, ARRAY_SIZE(w));
}

/* an LLC waiter behind one that must leave the reserve alone */
static void wr_wait_reserve(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 2, 0, false);
	struct smc_slot *slots[2], *llc;
	atomic_t clock = ATOMIC_INIT(0);
	struct waiter w[2] = {};

	take_all(test, t, slots);
	llc = smc_wr_get(&t->wr, SMC_WR_GET_LLC);
	KUNIT_ASSERT_FALSE(test, IS_ERR(llc));
	waiter_start(test, &w[0], t, 0, &clock);
	waiter_start(test, &w[1], t, SMC_WR_GET_LLC, &clock);
	smc_wr_put(slots[0]);
	KUNIT_EXPECT_TRUE(test, waiter_ended(&w[1]));
	KUNIT_EXPECT_EQ(test, waiters_ended(w, 2), 1);
	waiter_put(&w[1]);
	KUNIT_EXPECT_EQ(test, waiters_ended(w, 2), 1);
	smc_wr_put(llc);
	KUNIT_EXPECT_TRUE(test, waiter_ended(&w[0]));
	KUNIT_EXPECT_EQ(test, w[0].result, 0);
	waiter_put(&w[0]);
	smc_wr_put(slots[1]);
	kthread_stop(w[0].task);
	kthread_stop(w[1].task);
	KUNIT_EXPECT_EQ(test, wrt_credits(t), 3);
}

static void wr_wait_signal(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 2, 0, false);
	struct smc_slot *slots[2];
	atomic_t clock = ATOMIC_INIT(0);
	struct waiter w[2] = {};

	take_all(test, t, slots);
	waiter_start(test, &w[0], t, 0, &clock);
	waiter_start(test, &w[1], t, 0, &clock);
	send_sig(SIGINT, w[0].task, 1);
	KUNIT_EXPECT_TRUE(test, waiter_ended(&w[0]));
	KUNIT_EXPECT_EQ(test, w[0].result, -ERESTARTSYS);
	KUNIT_EXPECT_TRUE(test, smc_wr_up(&t->wr));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->broken), 0);

	/* nothing is lost with the one who left */
	smc_wr_put(slots[0]);
	KUNIT_EXPECT_TRUE(test, waiter_ended(&w[1]));
	KUNIT_EXPECT_EQ(test, w[1].result, 0);
	waiter_put(&w[1]);
	smc_wr_put(slots[1]);
	kthread_stop(w[0].task);
	kthread_stop(w[1].task);
	KUNIT_EXPECT_EQ(test, wrt_credits(t), 3);
}

/* slot and signal (or end of budget) at once: the slot counts */
static void wr_wait_slot_before_signal(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 2, 0, false);
	struct smc_wr_pool *pool = &t->wr.pool[SMC_WR_POOL_NORMAL];
	struct smc_slot *slots[2];
	atomic_t clock = ATOMIC_INIT(0);
	struct waiter w = {};

	take_all(test, t, slots);
	waiter_start(test, &w, t, 0, &clock);
	spin_lock_bh(&pool->lock);
	send_sig(SIGINT, w.task, 1);
	mdelay(20);	/* now the waiter, awake, wants the lock */
	smc_wr_release(slots[0]);
	spin_unlock_bh(&pool->lock);
	percpu_ref_put(&t->wr.users);	/* as smc_wr_put() does */
	KUNIT_EXPECT_TRUE(test, waiter_ended(&w));
	KUNIT_EXPECT_EQ(test, w.result, 0);
	waiter_put(&w);
	smc_wr_put(slots[1]);
	kthread_stop(w.task);
	KUNIT_EXPECT_EQ(test, wrt_credits(t), 3);
}

static void wr_wait_stop(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 2, 0, false);
	struct smc_slot *slots[2], *llc;
	atomic_t clock = ATOMIC_INIT(0);
	struct waiter w[4] = {};
	unsigned long start;
	unsigned int i;

	take_all(test, t, slots);
	llc = smc_wr_get(&t->wr, SMC_WR_GET_LLC);
	KUNIT_ASSERT_FALSE(test, IS_ERR(llc));
	for (i = 0; i < ARRAY_SIZE(w); i++)
		waiter_start(test, &w[i], t, i & 1 ? SMC_WR_GET_LLC : 0, &clock);
	start = jiffies;
	smc_wr_stop(&t->wr);
	for (i = 0; i < ARRAY_SIZE(w); i++) {
		KUNIT_EXPECT_TRUE(test, waiter_ended(&w[i]));
		kthread_stop(w[i].task);
		KUNIT_EXPECT_EQ(test, w[i].result, -EPIPE);
	}
	/* at once, not by the end of their budget */
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, start + 5 * HZ));
	KUNIT_EXPECT_EQ(test, wrt_waiting(t), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->broken), 0);
	smc_wr_put(slots[0]);
	smc_wr_put(slots[1]);
	smc_wr_put(llc);
	KUNIT_EXPECT_EQ(test, wrt_credits(t), 3);
}

static void wr_wait_budget(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 2, 0, false);
	struct smc_slot *slots[2];
	atomic_t clock = ATOMIC_INIT(0);
	struct waiter w[2] = {};
	unsigned long start;
	unsigned int i;

	take_all(test, t, slots);
	KUNIT_EXPECT_EQ(test, t->wr.wait_budget, msecs_to_jiffies(10000));
	t->wr.wait_budget = msecs_to_jiffies(100);
	start = jiffies;
	waiter_start(test, &w[0], t, 0, &clock);
	/* this one would have time left, but the link is broken then */
	t->wr.wait_budget = msecs_to_jiffies(10000);
	waiter_start(test, &w[1], t, 0, &clock);
	for (i = 0; i < ARRAY_SIZE(w); i++) {
		KUNIT_EXPECT_TRUE(test, waiter_ended(&w[i]));
		kthread_stop(w[i].task);
		KUNIT_EXPECT_EQ(test, w[i].result, -EPIPE);
	}
	KUNIT_EXPECT_TRUE(test, time_after_eq(jiffies, start +
					      msecs_to_jiffies(100)));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->broken), 1);
	KUNIT_EXPECT_EQ(test, t->broken_status, -ETIMEDOUT);
	KUNIT_EXPECT_FALSE(test, smc_wr_up(&t->wr));
	smc_wr_put(slots[0]);
	smc_wr_put(slots[1]);
	KUNIT_EXPECT_EQ(test, wrt_credits(t), 3);
}

/* ---- signalling and retirement ---- */

#define MANY	64

struct burst {
	struct wrt_msg msg[MANY];
	unsigned int clock;
};

static void post_n(struct kunit *test, struct wrt *t, struct burst *b,
		   unsigned int from, unsigned int n, u8 nwrite)
{
	for (; n--; from++)
		KUNIT_ASSERT_EQ(test, wrt_post(test, smc_wr_get(&t->wr, 0),
					       &b->msg[from], &b->clock,
					       nwrite), 0);
}

static unsigned int signalled(struct wrt *t, unsigned int from, unsigned int n)
{
	unsigned int count = 0;

	for (; n--; from++)
		count += !!(t->sq[from].flags & IB_SEND_SIGNALED);
	return count;
}

/* one call per message, WRITEs first, silent; SEND solicited and inline */
static void wr_chain(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 16, 0, true);
	struct smc_slot *slot;
	struct burst b = {};
	int i;

	for (i = 0; i <= 2; i++)
		post_n(test, t, &b, i, 1, i);
	KUNIT_ASSERT_EQ(test, t->posted, 6);
	KUNIT_EXPECT_EQ(test, t->calls, 3);
	KUNIT_EXPECT_EQ(test, t->sq[3].call, 3);
	KUNIT_EXPECT_EQ(test, t->sq[3].opcode, IB_WR_RDMA_WRITE);
	KUNIT_EXPECT_EQ(test, t->sq[3].num_sge, 1);
	KUNIT_EXPECT_EQ(test, t->sq[3].flags, 0);
	KUNIT_EXPECT_EQ(test, t->sq[4].opcode, IB_WR_RDMA_WRITE);
	KUNIT_EXPECT_EQ(test, t->sq[4].num_sge, 2);
	KUNIT_EXPECT_EQ(test, t->sq[4].flags, 0);
	KUNIT_EXPECT_EQ(test, t->sq[5].opcode, IB_WR_SEND);
	KUNIT_EXPECT_EQ(test, t->sq[5].flags, IB_SEND_SOLICITED | IB_SEND_INLINE);
	KUNIT_EXPECT_PTR_EQ(test, t->sq[3].cqe, t->sq[5].cqe);

	KUNIT_EXPECT_EQ(test, wrt_post(test,
				       smc_wr_get(&t->wr, SMC_WR_GET_LARGE),
				       &b.msg[3], &b.clock, 0), 0);
	KUNIT_EXPECT_EQ(test, t->sq[6].flags,
			IB_SEND_SOLICITED | IB_SEND_SIGNALED);
	KUNIT_EXPECT_EQ(test, wrt_post(test, smc_wr_get(&t->wr, SMC_WR_GET_LLC),
				       &b.msg[4], &b.clock, 0), 0);
	KUNIT_EXPECT_TRUE(test, t->sq[7].flags & IB_SEND_SIGNALED);

	slot = smc_wr_get(&t->wr, 0);
	slot->write_inline = true;
	slot->signal = true;
	KUNIT_ASSERT_EQ(test, wrt_post(test, slot, &b.msg[5], &b.clock, 1), 0);
	KUNIT_EXPECT_EQ(test, t->sq[8].opcode, IB_WR_RDMA_WRITE);
	KUNIT_EXPECT_EQ(test, t->sq[8].flags, IB_SEND_INLINE);
	wrt_reap(t);
	KUNIT_EXPECT_EQ(test, b.clock, 6);
}

static void wr_signal_quarter(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 16, 0, false);
	struct burst b = {};
	int i;

	for (i = 0; i < 40; i++) {
		post_n(test, t, &b, i, 1, 0);
		wrt_reap(t);
	}
	KUNIT_EXPECT_EQ(test, t->posted, 40);
	KUNIT_EXPECT_EQ(test, signalled(t, 0, 40), 10);
	KUNIT_EXPECT_EQ(test, wrt_credits(t), 17);

	/* slots get scarce: 16 of 17, every second asks for a completion */
	post_n(test, t, &b, 40, 16, 0);
	KUNIT_EXPECT_EQ(test, signalled(t, 40, 12), 3);
	KUNIT_EXPECT_EQ(test, signalled(t, 52, 4), 2);
	KUNIT_EXPECT_EQ(test, signalled(t, 55, 1), 1);
	wrt_reap(t);
	KUNIT_EXPECT_EQ(test, wrt_credits(t), 17);
}

static void wr_retire_in_order(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 16, 0, false);
	struct burst b = {};
	int i;

	for (i = 0; i < MANY; i += 4) {
		post_n(test, t, &b, i, 4, 2);
		/* three of four are silent */
		KUNIT_EXPECT_EQ(test, signalled(t, i * 3, 12), 1);
		wrt_reap(t);
	}
	for (i = 0; i < MANY; i++) {
		KUNIT_EXPECT_EQ(test, b.msg[i].done, 1);
		KUNIT_EXPECT_EQ(test, b.msg[i].when, i + 1);
		KUNIT_EXPECT_EQ(test, b.msg[i].status, IB_WC_SUCCESS);
		KUNIT_EXPECT_TRUE(test, b.msg[i].intact);
	}
	KUNIT_EXPECT_EQ(test, t->wr.n_cqes, MANY / 4);
	KUNIT_EXPECT_EQ(test, t->wr.n_msgs, MANY);
}

static void expect_marker(struct kunit *test, const struct wrt_wqe *wqe)
{
	KUNIT_EXPECT_EQ(test, wqe->opcode, IB_WR_RDMA_WRITE);
	KUNIT_EXPECT_EQ(test, wqe->num_sge, 0);
	KUNIT_EXPECT_EQ(test, wqe->flags, IB_SEND_SIGNALED);
}

static void wr_idle_marker(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 16, 0, false);
	struct burst b = {};

	t->wr.idle_delay = msecs_to_jiffies(6);
	post_n(test, t, &b, 0, 2, 1);
	KUNIT_EXPECT_EQ(test, signalled(t, 0, 4), 0);
	KUNIT_ASSERT_TRUE(test, wrt_until(READ_ONCE(t->posted) == 5));
	expect_marker(test, &t->sq[4]);
	wrt_reap(t);
	KUNIT_EXPECT_EQ(test, b.msg[0].done, 1);
	KUNIT_EXPECT_EQ(test, b.msg[1].done, 1);
	KUNIT_EXPECT_EQ(test, wrt_credits(t), 17);

	/* and no more of them on a queue without anything to reap */
	msleep(60);
	KUNIT_EXPECT_EQ(test, t->posted, 5);
	KUNIT_EXPECT_FALSE(test, timer_pending(&t->wr.flush_timer));
}

static void wr_flush(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 16, 0, false);
	struct burst b = {};

	smc_wr_flush(&t->wr);
	KUNIT_EXPECT_EQ(test, t->posted, 0);
	post_n(test, t, &b, 0, 1, 0);
	smc_wr_flush(&t->wr);
	KUNIT_ASSERT_EQ(test, t->posted, 2);
	expect_marker(test, &t->sq[1]);

	/* one marker at a time, the next one right after it */
	post_n(test, t, &b, 1, 1, 0);
	smc_wr_flush(&t->wr);
	KUNIT_EXPECT_EQ(test, t->posted, 3);
	wrt_reap_one(t, IB_WC_SUCCESS);
	wrt_reap_one(t, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, b.msg[0].done, 1);
	KUNIT_EXPECT_EQ(test, b.msg[1].done, 0);
	KUNIT_ASSERT_EQ(test, t->posted, 4);
	expect_marker(test, &t->sq[3]);
	wrt_reap(t);
	KUNIT_EXPECT_EQ(test, b.msg[1].done, 1);
	KUNIT_EXPECT_EQ(test, wrt_credits(t), 17);
}

/* ---- failure ---- */

/* the second WRITE of message 1 fails: each later request reports a flush */
static void wr_error_once(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 16, 0, false);
	struct burst b = {};
	int i;

	post_n(test, t, &b, 0, 3, 2);
	for (i = 0; i < 4; i++)
		wrt_reap_one(t, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, b.clock, 0);
	wrt_reap_one(t, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->broken), 1);
	KUNIT_EXPECT_EQ(test, t->broken_status, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, b.msg[0].status, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, b.msg[1].status, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, b.msg[1].done, 1);

	/* no slot of which a completion may come is given out */
	KUNIT_EXPECT_EQ(test, PTR_ERR(smc_wr_get(&t->wr, 0)), -ENOLINK);
	KUNIT_EXPECT_EQ(test, PTR_ERR(smc_wr_get(&t->wr, SMC_WR_GET_WAIT)),
			-EPIPE);
	KUNIT_EXPECT_EQ(test, wrt_credits(t), 14);
	while (wrt_reap_one(t, IB_WC_WR_FLUSH_ERR))
		;
	KUNIT_EXPECT_EQ(test, b.msg[1].status, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, b.msg[2].status, IB_WC_WR_FLUSH_ERR);
	smc_wr_drain(&t->wr);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, b.msg[i].done, 1);
	KUNIT_EXPECT_EQ(test, wrt_credits(t), 17);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->broken), 1);
}

/* messages that never completed end with the drain */
static void wr_drain_retires(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 16, 0, true);
	struct burst b = {};
	int i;

	post_n(test, t, &b, 0, 16, 1);
	KUNIT_EXPECT_EQ(test, wrt_post(test,
				       smc_wr_get(&t->wr, SMC_WR_GET_LARGE),
				       &b.msg[16], &b.clock, 0), 0);
	smc_wr_drain(&t->wr);
	for (i = 0; i <= 16; i++) {
		KUNIT_EXPECT_EQ(test, b.msg[i].done, 1);
		KUNIT_EXPECT_EQ(test, b.msg[i].status, IB_WC_WR_FLUSH_ERR);
	}
	KUNIT_EXPECT_EQ(test, wrt_credits(t), 17);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->wr.pool[SMC_WR_POOL_LARGE].credits),
			1);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->broken), 0);
}

static void wr_post_fails(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 16, 0, false);
	struct smc_slot *late = smc_wr_get(&t->wr, 0);
	struct burst b = {};

	post_n(test, t, &b, 0, 2, 1);
	t->fail_after = 0;
	KUNIT_EXPECT_EQ(test, wrt_post(test, smc_wr_get(&t->wr, 0), &b.msg[2],
				       &b.clock, 1), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->broken), 1);
	KUNIT_EXPECT_EQ(test, t->broken_status, -ENOMEM);
	KUNIT_EXPECT_EQ(test, wrt_credits(t), 14);

	/* one who has its slot already */
	t->fail_after = -1;
	KUNIT_EXPECT_EQ(test, wrt_post(test, late, &b.msg[3], &b.clock, 0),
			-EPIPE);
	KUNIT_EXPECT_EQ(test, t->posted, 4);
	while (wrt_reap_one(t, IB_WC_WR_FLUSH_ERR))
		;
	smc_wr_drain(&t->wr);
	KUNIT_EXPECT_EQ(test, b.msg[0].done, 1);
	KUNIT_EXPECT_EQ(test, b.msg[1].done, 1);
	KUNIT_EXPECT_EQ(test, b.msg[2].done, 0);
	KUNIT_EXPECT_EQ(test, b.msg[3].done, 0);
	KUNIT_EXPECT_EQ(test, wrt_credits(t), 17);
}

/* the WRITE was queued, the SEND was not (or nobody says so) */
static void wr_post_fails_in_part(struct kunit *test)
{
	struct burst b = {};
	struct wrt *t;
	int hide;

	for (hide = 0; hide <= 1; hide++) {
		t = wrt_new(test, 16, 0, false);
		t->fail_after = 1;
		t->hide_bad = hide;
		KUNIT_EXPECT_EQ(test, wrt_post(test, smc_wr_get(&t->wr, 0),
					       &b.msg[0], &b.clock, 1), -ENOMEM);
		KUNIT_EXPECT_EQ(test, wrt_credits(t), 16);
		KUNIT_EXPECT_TRUE(test, wrt_reap_one(t, IB_WC_REM_ACCESS_ERR));
		KUNIT_EXPECT_EQ(test, wrt_credits(t), 16);
		smc_wr_drain(&t->wr);
		KUNIT_EXPECT_EQ(test, b.msg[0].done, 0);
		KUNIT_EXPECT_EQ(test, wrt_credits(t), 17);
		KUNIT_EXPECT_EQ(test, atomic_read(&t->broken), 1);
	}
}

static struct kunit_case wr_cases[] = {
	KUNIT_CASE(wr_put_clears),
	KUNIT_CASE(wr_completion_clears),
	KUNIT_CASE(wr_large_reuse),
	KUNIT_CASE(wr_no_wait_errors),
	KUNIT_CASE(wr_reserve),
	KUNIT_CASE(wr_wait_in_order),
	KUNIT_CASE(wr_wait_reserve),
	KUNIT_CASE(wr_wait_signal),
	KUNIT_CASE(wr_wait_slot_before_signal),
	KUNIT_CASE(wr_wait_stop),
	KUNIT_CASE(wr_wait_budget),
	KUNIT_CASE(wr_chain),
	KUNIT_CASE(wr_signal_quarter),
	KUNIT_CASE(wr_retire_in_order),
	KUNIT_CASE(wr_idle_marker),
	KUNIT_CASE(wr_flush),
	KUNIT_CASE(wr_error_once),
	KUNIT_CASE(wr_drain_retires),
	KUNIT_CASE(wr_post_fails),
	KUNIT_CASE(wr_post_fails_in_part),
	{}
};

static struct kunit_suite wr_suite = {
	.name = "smc_wr",
	.test_cases = wr_cases,
};

kunit_test_suite(wr_suite);

MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
MODULE_DESCRIPTION("KUnit tests of SMC work requests");
MODULE_LICENSE("GPL");
