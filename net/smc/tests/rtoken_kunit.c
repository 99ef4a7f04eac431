// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the table of the peer's keys.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "../smc_rtoken.h"

#define ADDR	0x100000000ULL

static struct smc_rtokens *new_table(struct kunit *test)
{
	struct smc_rtokens *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	smc_rtokens_init(t);
	return t;
}

static void expect_at(struct kunit *test, struct smc_rtokens *t, int idx,
		      unsigned int link, u64 addr, u32 rkey)
{
	u32 k = 0;
	u64 a = 0;

	KUNIT_EXPECT_EQ(test, smc_rtoken_at(t, idx, link, &a, &k), rkey != 0);
	if (!rkey)
		return;
	KUNIT_EXPECT_EQ(test, a, addr);
	KUNIT_EXPECT_EQ(test, k, rkey);
}

static void rtoken_values(struct kunit *test)
{
	struct smc_rtokens *t = new_table(test);

	KUNIT_EXPECT_EQ(test, smc_rtoken_add(t, 0, 0, 1, false), -EINVAL);
	KUNIT_EXPECT_EQ(test, smc_rtoken_add(t, 0, ADDR, 0, false), -EINVAL);
	KUNIT_EXPECT_EQ(test, smc_rtoken_add(t, 3, ADDR, 1, false), -EINVAL);
	KUNIT_EXPECT_EQ(test, smc_rtoken_del(t, 0, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, smc_rtoken_del(t, 9, 1), -ENOENT);
	expect_at(test, t, -1, 0, 0, 0);
	expect_at(test, t, 255, 0, 0, 0);
	expect_at(test, t, 0, 3, 0, 0);
	expect_at(test, t, 0, 0, 0, 0);
}

static void rtoken_dup(struct kunit *test)
{
	struct smc_rtokens *t = new_table(test);
	int a, b, c;

	a = smc_rtoken_add(t, 0, ADDR, 0x11, false);
	b = smc_rtoken_add(t, 0, ADDR, 0x22, false);
	c = smc_rtoken_add(t, 0, 2 * ADDR, 0x11, false);
	KUNIT_EXPECT_GE(test, a, 0);
	KUNIT_EXPECT_NE(test, a, b);
	KUNIT_EXPECT_NE(test, a, c);
	KUNIT_EXPECT_EQ(test, smc_rtoken_add(t, 0, ADDR, 0x11, true), a);
	KUNIT_EXPECT_EQ(test, smc_rtoken_add(t, 0, ADDR, 0x22, false), b);
	KUNIT_EXPECT_EQ(test, bitmap_weight(t->busy, SMC_RTOKENS), 3);
	/* another link has other keys */
	KUNIT_EXPECT_NE(test, smc_rtoken_add(t, 1, ADDR, 0x11, false), a);
	expect_at(test, t, a, 0, ADDR, 0x11);
	expect_at(test, t, b, 0, ADDR, 0x22);
	smc_rtoken_put(t, a);
}

static void rtoken_full(struct kunit *test)
{
	struct smc_rtokens *t = new_table(test);
	int i, round;

	/* all held: no room, and none is lost over the rounds */
	for (round = 0; round < 3; round++) {
		for (i = 0; i < SMC_RTOKENS; i++) {
			KUNIT_EXPECT_TRUE(test, smc_rtoken_room(t));
			KUNIT_ASSERT_GE(test, smc_rtoken_add(t, 0, ADDR, i + 1,
							     true), 0);
		}
		KUNIT_EXPECT_FALSE(test, smc_rtoken_room(t));
		KUNIT_EXPECT_EQ(test, smc_rtoken_add(t, 0, ADDR, 999, true),
				-ENOSPC);
		/* what is there is found in a full table */
		i = smc_rtoken_add(t, 0, ADDR, 7, false);
		expect_at(test, t, i, 0, ADDR, 7);
		for (i = 0; i < SMC_RTOKENS; i++)
			smc_rtoken_put(t, i);
		for (i = 0; i < SMC_RTOKENS; i++)
			KUNIT_EXPECT_EQ(test, smc_rtoken_del(t, 0, i + 1), 0);
		KUNIT_EXPECT_TRUE(test, bitmap_empty(t->busy, SMC_RTOKENS));
	}
}

/* a promise that nobody uses gives way to a new one, the oldest first */
static void rtoken_evict(struct kunit *test)
{
	struct smc_rtokens *t = new_table(test);
	int i, idx;

	for (i = 0; i < SMC_RTOKENS; i++)
		smc_rtoken_add(t, 0, ADDR, i + 1, i == 0);
	smc_rtoken_add(t, 0, ADDR, 2, false);
	idx = smc_rtoken_add(t, 0, ADDR, 1000, true);
	KUNIT_EXPECT_GE(test, idx, 0);
	/* 1 is held, 2 was seen just now: 3 had to go */
	KUNIT_EXPECT_EQ(test, smc_rtoken_del(t, 0, 3), -ENOENT);
	KUNIT_EXPECT_EQ(test, smc_rtoken_del(t, 0, 2), 0);
	KUNIT_EXPECT_EQ(test, smc_rtoken_del(t, 0, 1), 0);
	expect_at(test, t, idx, 0, ADDR, 1000);
}

/* a key taken back under a writer: it sees none, and never another buffer's */
static void rtoken_del_held(struct kunit *test)
{
	struct smc_rtokens *t = new_table(test);
	int idx, other, i;

	idx = smc_rtoken_add(t, 0, ADDR, 0x11, true);
	smc_rtoken_set_link(t, idx, 2, 3 * ADDR, 0x33);
	KUNIT_EXPECT_EQ(test, smc_rtoken_del(t, 2, 0x33), 0);
	KUNIT_EXPECT_EQ(test, smc_rtoken_del(t, 2, 0x33), -ENOENT);
	KUNIT_EXPECT_EQ(test, smc_rtoken_del(t, 0, 0x11), -ENOENT);
	KUNIT_EXPECT_EQ(test, smc_rtoken_set_link(t, idx, 1, ADDR, 1), -ENOENT);
	for (i = 0; i < 3; i++)
		expect_at(test, t, idx, i, 0, 0);
	for (i = 0; i < 2 * SMC_RTOKENS; i++) {
		other = smc_rtoken_add(t, 0, ADDR, 0x1000 + i, false);
		KUNIT_EXPECT_NE(test, other, idx);
	}
	/* the same key again is a new promise */
	other = smc_rtoken_add(t, 0, ADDR, 0x11, true);
	KUNIT_EXPECT_NE(test, other, idx);
	expect_at(test, t, idx, 0, 0, 0);
	smc_rtoken_put(t, idx);
	smc_rtoken_put(t, other);
	KUNIT_EXPECT_EQ(test, t->nheld, 0);
	KUNIT_EXPECT_FALSE(test, test_bit(idx, t->busy));
}

static void rtoken_links(struct kunit *test)
{
	struct smc_rtokens *t = new_table(test);
	int a, b;

	a = smc_rtoken_add(t, 0, ADDR, 0x11, false);
	b = smc_rtoken_add(t, 0, 2 * ADDR, 0x22, false);
	expect_at(test, t, a, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, smc_rtoken_extend(t, 0, 0x11, 1, 5 * ADDR, 0x51),
			0);
	KUNIT_EXPECT_EQ(test, smc_rtoken_extend(t, 0, 0x99, 1, ADDR, 1),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, smc_rtoken_extend(t, 0, 0x11, 3, ADDR, 1),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, smc_rtoken_extend(t, 0, 0x11, 1, 0, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, smc_rtoken_set_link(t, b, 1, 6 * ADDR, 0x62), 0);
	expect_at(test, t, a, 0, ADDR, 0x11);
	expect_at(test, t, a, 1, 5 * ADDR, 0x51);
	expect_at(test, t, b, 1, 6 * ADDR, 0x62);

	/* found by the keys of the new link, too; all columns go together */
	KUNIT_EXPECT_EQ(test, smc_rtoken_add(t, 1, 5 * ADDR, 0x51, false), a);
	KUNIT_EXPECT_EQ(test, smc_rtoken_del(t, 1, 0x51), 0);
	expect_at(test, t, a, 0, 0, 0);

	/* a link goes: what is known elsewhere stays */
	a = smc_rtoken_add(t, 0, ADDR, 0x11, true);
	smc_rtoken_clear_link(t, 0);
	expect_at(test, t, a, 0, 0, 0);
	expect_at(test, t, b, 0, 0, 0);
	expect_at(test, t, b, 1, 6 * ADDR, 0x62);
	KUNIT_EXPECT_TRUE(test, test_bit(a, t->busy));
	smc_rtoken_put(t, a);
	KUNIT_EXPECT_FALSE(test, test_bit(a, t->busy));
	smc_rtoken_clear_link(t, 1);
	KUNIT_EXPECT_TRUE(test, bitmap_empty(t->busy, SMC_RTOKENS));
}

static struct kunit_case rtoken_cases[] = {
	KUNIT_CASE(rtoken_values),
	KUNIT_CASE(rtoken_dup),
	KUNIT_CASE(rtoken_full),
	KUNIT_CASE(rtoken_evict),
	KUNIT_CASE(rtoken_del_held),
	KUNIT_CASE(rtoken_links),
	{}
};

static struct kunit_suite rtoken_suite = {
	.name = "smc_rtoken",
	.test_cases = rtoken_cases,
};

kunit_test_suite(rtoken_suite);

MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
MODULE_DESCRIPTION("KUnit tests of the SMC key table");
MODULE_LICENSE("GPL");
