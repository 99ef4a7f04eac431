// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the reuse of ring buffers: a set without group and device.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "../smc_buf.h"

#define THREADS		4
#define ROUNDS		100000		/* of each thread */

static struct smcr_bufs *new_set(struct kunit *test, u8 type)
{
	struct smcr_bufs *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	smcr_bufs_init(b, type);
	return b;
}

static void free_set(struct kunit *test, struct smcr_bufs *b)
{
	struct smcr_buf *buf, *tmp;
	struct llist_node *list;
	int dir;

	for (dir = 0; dir < SMC_BUF_DIRS; dir++)
		while ((buf = smcr_buf_pop_any(b, dir)))
			smcr_buf_free(b, buf);
	list = llist_del_all(&b->doomed);
	llist_for_each_entry_safe(buf, tmp, list, idle)
		smcr_buf_free(b, buf);
	KUNIT_EXPECT_TRUE(test, list_empty(&b->all));
	KUNIT_EXPECT_EQ(test, atomic_read(&b->nidle), 0);
	for (dir = 0; dir < SMC_BUF_DIRS; dir++) {
		KUNIT_EXPECT_EQ(test, atomic_read(&b->count[dir]), 0);
		KUNIT_EXPECT_EQ(test, atomic64_read(&b->bytes[dir]), 0);
	}
}

static struct smcr_buf *get(struct kunit *test, struct smcr_bufs *b,
			    enum smc_buf_dir dir, unsigned int cls, bool reused)
{
	struct smcr_buf *buf;
	unsigned int how;

	buf = smcr_buf_get(b, dir, cls, &how);
	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	KUNIT_EXPECT_EQ(test, !!(how & SMC_BUF_REUSED), reused);
	KUNIT_EXPECT_TRUE(test, test_bit(SMC_BUF_F_USED, &buf->flags));
	KUNIT_EXPECT_EQ(test, buf->size, SMC_BUF_BASE << buf->cls);
	KUNIT_EXPECT_NULL(test, memchr_inv(buf->mem, 0, buf->size));
	return buf;
}

static void buf_classes(struct kunit *test)
{
	static const struct {
		u32 wish;
		unsigned int cls;
	} v[] = {
		{ 0, 0 }, { 1, 0 }, { 16384, 0 }, { 16385, 1 }, { 32768, 1 },
		{ 32769, 2 }, { 65536, 2 }, { 65537, 3 }, { 1U << 20, 6 },
		{ (1U << 20) + 1, 7 }, { 1U << 29, 15 }, { U32_MAX, 15 },
	};
	struct smcr_bufs *b = new_set(test, SMC_BUF_VIRT);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(v); i++)
		KUNIT_EXPECT_EQ_MSG(test, smcr_buf_class(b, v[i].wish),
				    v[i].cls, "wish %u", v[i].wish);

	/* what a device cannot describe is not tried */
	smcr_bufs_limit(b, SZ_4M, SZ_2M);
	KUNIT_EXPECT_EQ(test, smcr_buf_class(b, SZ_2M), 7);
	KUNIT_EXPECT_EQ(test, smcr_buf_class(b, SZ_4M), 7);
	b->type = SMC_BUF_MIXED;
	KUNIT_EXPECT_EQ(test, smcr_buf_class(b, SZ_1G), 8);
	b->type = SMC_BUF_CONTIG;
	KUNIT_EXPECT_EQ(test, smcr_buf_class(b, SZ_1G), 8);
}

static void buf_reuse(struct kunit *test)
{
	struct smcr_bufs *b = new_set(test, SMC_BUF_CONTIG);
	struct smcr_buf *snd, *rmb, *again;

	snd = get(test, b, SMC_BUF_SND, 1, false);
	rmb = get(test, b, SMC_BUF_RMB, 1, false);
	KUNIT_EXPECT_EQ(test, atomic64_read(&b->bytes[SMC_BUF_SND]), 32768);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->nidle), 0);
	memset(snd->mem, 0xa5, snd->size);
	memset(rmb->mem, 0xa5, rmb->size);
	smcr_buf_recycle(b, snd, U32_MAX);
	smcr_buf_recycle(b, rmb, rmb->size);
	KUNIT_EXPECT_FALSE(test, test_bit(SMC_BUF_F_USED, &snd->flags));
	KUNIT_EXPECT_FALSE(test, llist_empty(&b->cls[SMC_BUF_SND][1].idle));
	KUNIT_EXPECT_EQ(test, atomic_read(&b->nidle), 2);

	/* by class and direction; content is zero again */
	again = get(test, b, SMC_BUF_SND, 0, false);
	KUNIT_EXPECT_PTR_NE(test, again, snd);
	smcr_buf_free(b, again);
	KUNIT_EXPECT_PTR_EQ(test, get(test, b, SMC_BUF_SND, 1, true), snd);
	KUNIT_EXPECT_PTR_EQ(test, get(test, b, SMC_BUF_RMB, 1, true), rmb);
	KUNIT_EXPECT_TRUE(test, llist_empty(&b->cls[SMC_BUF_SND][1].idle));
	smcr_buf_free(b, snd);
	smcr_buf_free(b, rmb);
	free_set(test, b);
}

static void buf_doomed(struct kunit *test)
{
	struct smcr_bufs *b = new_set(test, SMC_BUF_CONTIG);
	struct smcr_buf *bad, *buf;
	int i;

	bad = get(test, b, SMC_BUF_RMB, 0, false);
	smcr_buf_doom(b, bad);
	for (i = 0; i < 100; i++) {
		buf = get(test, b, SMC_BUF_RMB, 0, i > 0);
		KUNIT_EXPECT_PTR_NE(test, buf, bad);
		smcr_buf_recycle(b, buf, 0);
	}
	KUNIT_EXPECT_TRUE(test, test_bit(SMC_BUF_F_USED, &bad->flags));
	/* it still counts, the peer may know its key */
	KUNIT_EXPECT_EQ(test, atomic_read(&b->count[SMC_BUF_RMB]), 2);
	free_set(test, b);
}

static void buf_full(struct kunit *test)
{
	struct smcr_bufs *b = new_set(test, SMC_BUF_VIRT);
	struct smcr_buf **bufs, *buf;
	unsigned int how;
	int i;

	bufs = kunit_kcalloc(test, SMC_BUF_MAX, sizeof(*bufs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bufs);
	for (i = 0; i < SMC_BUF_MAX; i++)
		bufs[i] = get(test, b, SMC_BUF_RMB, 0, false);
	buf = smcr_buf_get(b, SMC_BUF_RMB, 0, &how);
	KUNIT_EXPECT_EQ(test, PTR_ERR(buf), -ENOSPC);
	/* the other direction has a limit of its own */
	smcr_buf_free(b, get(test, b, SMC_BUF_SND, 0, false));

	/* an idle one of another class makes room by going */
	smcr_buf_recycle(b, bufs[0], 0);
	buf = smcr_buf_get(b, SMC_BUF_RMB, 1, &how);
	KUNIT_EXPECT_EQ(test, PTR_ERR(buf), -ENOSPC);
	smcr_buf_free(b, smcr_buf_pop_any(b, SMC_BUF_RMB));
	bufs[0] = get(test, b, SMC_BUF_RMB, 1, false);
	for (i = 0; i < SMC_BUF_MAX; i++)
		smcr_buf_recycle(b, bufs[i], 0);
	free_set(test, b);
}

/* ns of 1000 times get and recycle, best of some rounds */
static u64 cost(struct smcr_bufs *b)
{
	u64 start, best = U64_MAX;
	struct smcr_buf *buf;
	unsigned int i, how;
	int round;

	for (round = 0; round < 20; round++) {
		start = ktime_get_ns();
		for (i = 0; i < 1000; i++) {
			buf = smcr_buf_get(b, SMC_BUF_SND, 0, &how);
			smcr_buf_recycle(b, buf, 0);
		}
		best = min(best, ktime_get_ns() - start);
	}
	return best;
}

/* it must not matter how many buffers are in use */
static void buf_flat(struct kunit *test)
{
	struct smcr_bufs *b = new_set(test, SMC_BUF_CONTIG);
	struct smcr_buf *spare, **busy;
	unsigned int i, n = SMC_BUF_MAX - 1;
	u64 few, many;

	busy = kunit_kcalloc(test, n, sizeof(*busy), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, busy);
	spare = get(test, b, SMC_BUF_SND, 0, false);
	smcr_buf_recycle(b, spare, 0);
	few = cost(b);

	spare = get(test, b, SMC_BUF_SND, 0, true);
	for (i = 0; i < n; i++)
		busy[i] = get(test, b, SMC_BUF_SND, 0, false);
	smcr_buf_recycle(b, spare, 0);
	many = cost(b);

	kunit_info(test, "get + put: %llu ns with none in use, %llu ns with %u\n",
		   few / 1000, many / 1000, n);
	KUNIT_EXPECT_LT(test, many, 3 * few);
	for (i = 0; i < n; i++)
		smcr_buf_recycle(b, busy[i], 0);
	free_set(test, b);
}

struct racer {
	struct smcr_bufs *b;
	struct completion done;
	unsigned int id;
	unsigned int doubles;		/* buffer was somebody else's */
	unsigned int dirty;
	unsigned int errors;
};

static struct smcr_buf *race_get(struct racer *r)
{
	struct smcr_buf *buf;
	unsigned int how;

	buf = smcr_buf_get(r->b, SMC_BUF_SND, 0, &how);
	if (IS_ERR(buf)) {
		r->errors++;
		return NULL;
	}
	if (atomic_cmpxchg((atomic_t *)buf->mem, 0, r->id))
		r->doubles++;
	if (buf->mem[sizeof(atomic_t)])
		r->dirty++;
	buf->mem[sizeof(atomic_t)] = r->id;
	return buf;
}

static void race_put(struct racer *r, struct smcr_buf *buf)
{
	if (!buf)
		return;
	if (atomic_read((atomic_t *)buf->mem) != r->id ||
	    buf->mem[sizeof(atomic_t)] != r->id)
		r->doubles++;
	smcr_buf_recycle(r->b, buf, 64);
}

/* Two at a time, given back in the order in which they came: so the head of
 * the list returns while its next has become another one.
 */
static int race(void *arg)
{
	struct racer *r = arg;
	struct smcr_buf *one, *two;
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		one = race_get(r);
		two = race_get(r);
		race_put(r, one);
		race_put(r, two);
		if (!(i % 64))
			cond_resched();
	}
	complete(&r->done);
	return 0;
}

static void buf_race(struct kunit *test)
{
	struct smcr_bufs *b = new_set(test, SMC_BUF_CONTIG);
	struct racer r[THREADS] = {};
	struct task_struct *task;
	unsigned int i;

	for (i = 0; i < THREADS; i++) {
		r[i].b = b;
		r[i].id = i + 1;
		init_completion(&r[i].done);
		task = kthread_run(race, &r[i], "smc_buf_race%u", i);
		if (IS_ERR(task))
			complete(&r[i].done);
		KUNIT_EXPECT_FALSE(test, IS_ERR(task));
	}
	for (i = 0; i < THREADS; i++) {
		wait_for_completion(&r[i].done);
		KUNIT_EXPECT_EQ(test, r[i].doubles, 0);
		KUNIT_EXPECT_EQ(test, r[i].dirty, 0);
		KUNIT_EXPECT_EQ(test, r[i].errors, 0);
	}
	/* two per thread at the very most, all of them idle */
	KUNIT_EXPECT_LE(test, atomic_read(&b->nidle), 2 * THREADS);
	KUNIT_EXPECT_EQ(test, atomic_read(&b->nidle),
			atomic_read(&b->count[SMC_BUF_SND]));
	free_set(test, b);
}

/* Takers of a class exclude each other, as llist_del_first() demands; the race
 * above meets the window too seldom to show it.
 */
struct taker {
	struct smcr_bufs *b;
	struct completion done;
	bool go;
	bool got;
};

static int take(void *arg)
{
	struct taker *tk = arg;
	struct smcr_buf *buf;
	unsigned int how;

	while (!READ_ONCE(tk->go))
		cond_resched();
	buf = smcr_buf_get(tk->b, SMC_BUF_RMB, 0, &how);
	WRITE_ONCE(tk->got, true);
	if (!IS_ERR(buf))
		smcr_buf_recycle(tk->b, buf, 0);
	complete(&tk->done);
	return 0;
}

static void buf_one_taker(struct kunit *test)
{
	struct smcr_bufs *b = new_set(test, SMC_BUF_CONTIG);
	struct smc_buf_class *class = &b->cls[SMC_BUF_RMB][0];
	struct task_struct *task;
	struct taker tk;
	int round;

	smcr_buf_recycle(b, get(test, b, SMC_BUF_RMB, 0, false), 0);
	for (round = 0; round < 10; round++) {
		tk = (struct taker){ .b = b };
		init_completion(&tk.done);
		task = kthread_run(take, &tk, "smc_buf_take");
		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
		msleep(20);
		spin_lock(&class->pop_lock);
		WRITE_ONCE(tk.go, true);
		mdelay(10);
		KUNIT_EXPECT_FALSE(test, READ_ONCE(tk.got));
		spin_unlock(&class->pop_lock);
		wait_for_completion(&tk.done);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&b->count[SMC_BUF_RMB]), 1);
	free_set(test, b);
}

static struct kunit_case buf_cases[] = {
	KUNIT_CASE(buf_classes),
	KUNIT_CASE(buf_reuse),
	KUNIT_CASE(buf_doomed),
	KUNIT_CASE(buf_full),
	KUNIT_CASE(buf_flat),
	KUNIT_CASE_SLOW(buf_race),
	KUNIT_CASE(buf_one_taker),
	{}
};

static struct kunit_suite buf_suite = {
	.name = "smc_buf",
	.test_cases = buf_cases,
};

kunit_test_suite(buf_suite);

MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
MODULE_DESCRIPTION("KUnit tests of SMC ring buffers");
MODULE_LICENSE("GPL");
