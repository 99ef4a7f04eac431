// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the states of links and link groups: each pair.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "../smc_link.h"

struct step {
	u8 from;
	u8 to;
};

static void expect_steps(struct kunit *test, bool (*ok)(u8 from, u8 to),
			 u8 states, const struct step *steps, unsigned int n)
{
	unsigned int i;
	bool want;
	u8 a, b;

	for (a = 0; a < states; a++) {
		for (b = 0; b < states; b++) {
			want = false;
			for (i = 0; i < n; i++)
				want |= steps[i].from == a && steps[i].to == b;
			KUNIT_EXPECT_EQ_MSG(test, ok(a, b), want, "%u -> %u",
					    a, b);
		}
		KUNIT_EXPECT_FALSE(test, ok(a, states));
		KUNIT_EXPECT_FALSE(test, ok(a, U8_MAX));
		KUNIT_EXPECT_FALSE(test, ok(states, a));
		KUNIT_EXPECT_FALSE(test, ok(U8_MAX, a));
	}
}

static void link_states(struct kunit *test)
{
	static const struct step steps[] = {
		{ SMC_LINK_UNUSED,	SMC_LINK_ACTIVATING },
		{ SMC_LINK_ACTIVATING,	SMC_LINK_ACTIVE },
		{ SMC_LINK_ACTIVATING,	SMC_LINK_INACTIVE },
		{ SMC_LINK_ACTIVE,	SMC_LINK_INACTIVE },
		{ SMC_LINK_INACTIVE,	SMC_LINK_UNUSED },
	};

	expect_steps(test, smc_link_state_ok, SMC_LINK_STATES, steps,
		     ARRAY_SIZE(steps));
}

/* netlink shows them */
static void link_state_values(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, SMC_LINK_UNUSED, 0);
	KUNIT_EXPECT_EQ(test, SMC_LINK_INACTIVE, 1);
	KUNIT_EXPECT_EQ(test, SMC_LINK_ACTIVATING, 2);
	KUNIT_EXPECT_EQ(test, SMC_LINK_ACTIVE, 3);
}

static void lgr_states(struct kunit *test)
{
	static const struct step steps[] = {
		{ SMC_LGR_CREATING,	SMC_LGR_ACTIVE },
		{ SMC_LGR_CREATING,	SMC_LGR_DYING },
		{ SMC_LGR_ACTIVE,	SMC_LGR_DYING },
		{ SMC_LGR_DYING,	SMC_LGR_DEAD },
	};

	expect_steps(test, smc_lgr_state_ok, SMC_LGR_STATES, steps,
		     ARRAY_SIZE(steps));
}

static struct kunit_case link_cases[] = {
	KUNIT_CASE(link_states),
	KUNIT_CASE(link_state_values),
	KUNIT_CASE(lgr_states),
	{}
};

static struct kunit_suite link_suite = {
	.name = "smc_link",
	.test_cases = link_cases,
};

kunit_test_suite(link_suite);

MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
MODULE_DESCRIPTION("KUnit tests of SMC link states");
MODULE_LICENSE("GPL");
