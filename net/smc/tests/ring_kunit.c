// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the ring arithmetic: space, window, window updates.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/sizes.h>

#include "../smc_cursor.h"

static void ring_free(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, smc_ring_free(0, 0, SZ_16K), SZ_16K);
	KUNIT_EXPECT_EQ(test, smc_ring_free(5, 6, SZ_16K), SZ_16K - 1);
	KUNIT_EXPECT_EQ(test, smc_ring_free(0, SZ_16K, SZ_16K), 0);
	/* beyond 32 bits, and across any multiple of the size */
	KUNIT_EXPECT_EQ(test, smc_ring_free(BIT_ULL(40) - 1, BIT_ULL(40) + 1,
					    SZ_16K), SZ_16K - 2);
	/* read at different times: never more than the ring, never negative */
	KUNIT_EXPECT_EQ(test, smc_ring_free(10, 9, SZ_16K), SZ_16K);
	KUNIT_EXPECT_EQ(test, smc_ring_free(0, SZ_16K + 1, SZ_16K), 0);
	KUNIT_EXPECT_EQ(test, smc_ring_free(0, BIT_ULL(33), SZ_16K), 0);
	/* before there is a ring */
	KUNIT_EXPECT_EQ(test, smc_ring_free(0, 0, 0), 0);
}

static void ring_update_limit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, smc_ring_update_limit(SZ_16K, 2304), 2304);
	KUNIT_EXPECT_EQ(test, smc_ring_update_limit(SZ_64K, 2304), 6553);
}

static void ring_update_due(struct kunit *test)
{
	const u32 size = SZ_64K, limit = 6553;

	/* small reads are told with the next data */
	KUNIT_EXPECT_FALSE(test, smc_ring_update_due(size, limit, 0, size,
						     limit, true));
	/* the peer waits: told above the limit */
	KUNIT_EXPECT_TRUE(test, smc_ring_update_due(limit + 1, limit + 1, 0,
						    size, limit, true));
	/* it does not wait, and has more than half of the ring */
	KUNIT_EXPECT_FALSE(test, smc_ring_update_due(size / 2 - 1, limit + 1, 0,
						     size, limit, false));
	KUNIT_EXPECT_TRUE(test, smc_ring_update_due(size / 2, limit + 1, 0,
						    size, limit, false));
}

/* Whatever the ring holds, reading all of a full ring is told to the peer: two
 * ends that follow the rule do not wait for each other.
 */
static void ring_no_deadlock(struct kunit *test)
{
	u32 size, limit, told, n;
	struct rnd_state rnd;
	u64 base;

	prandom_seed_state(&rnd, 1);
	for (n = 0; n < 10000; n++) {
		size = SZ_16K << (prandom_u32_state(&rnd) % 7);
		size -= prandom_u32_state(&rnd) % 2 ? 32 : 0;
		limit = smc_ring_update_limit(size, 2304);
		base = (u64)prandom_u32_state(&rnd) << 8;
		/* the peer was last told anything; it has filled the rest */
		told = prandom_u32_state(&rnd) % size;
		KUNIT_ASSERT_TRUE(test,
				  smc_ring_update_due(base + told + size,
						      base + told + size,
						      base + told, size, limit,
						      prandom_u32_state(&rnd) & 1));
	}
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(ring_free),
	KUNIT_CASE(ring_update_limit),
	KUNIT_CASE(ring_update_due),
	KUNIT_CASE(ring_no_deadlock),
	{}
};

static struct kunit_suite ring_suite = {
	.name = "smc_ring",
	.test_cases = ring_cases,
};

kunit_test_suite(ring_suite);

MODULE_DESCRIPTION("KUnit tests of the SMC ring arithmetic");
MODULE_LICENSE("GPL");
