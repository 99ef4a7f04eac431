// SPDX-License-Identifier: GPL-2.0
/*
 * User EIDs: syntax, table, choice of the common one. The table is the one of
 * the system: what it held is put back at the end.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/string.h>

#include "../smc_eid.h"

struct eid_saved {
	u8 eid[SMC_EID_MAX][SMC_EID_BYTES];
	unsigned int n;
};

static void eid_from(u8 eid[SMC_EID_BYTES], const char *text)
{
	size_t len = strlen(text);

	memset(eid, ' ', SMC_EID_BYTES);
	memcpy(eid, text, min_t(size_t, len, SMC_EID_BYTES));
}

static int eid_add(const char *text)
{
	u8 eid[SMC_EID_BYTES];

	eid_from(eid, text);
	return smc_eid_add(eid, NULL);
}

static int eid_del(const char *text)
{
	u8 eid[SMC_EID_BYTES];

	eid_from(eid, text);
	return smc_eid_del(eid, NULL);
}

static bool eid_has(const u8 eid[SMC_EID_BYTES])
{
	u8 out[SMC_EID_BYTES];

	return smc_eid_match((const u8 (*)[SMC_EID_BYTES])eid, 1, out);
}

static bool eid_ours(const char *text)
{
	u8 eid[SMC_EID_BYTES];

	eid_from(eid, text);
	return eid_has(eid);
}

static int eid_test_init(struct kunit *test)
{
	struct eid_saved *saved;

	saved = kunit_kzalloc(test, sizeof(*saved), GFP_KERNEL);
	if (!saved)
		return -ENOMEM;
	saved->n = smc_eid_snapshot(saved->eid, SMC_EID_MAX);
	smc_eid_flush();
	test->priv = saved;
	return 0;
}

static void eid_test_exit(struct kunit *test)
{
	struct eid_saved *saved = test->priv;
	unsigned int i;

	if (!saved)
		return;
	smc_eid_flush();
	for (i = 0; i < saved->n; i++)
		smc_eid_add(saved->eid[i], NULL);
}

static const struct {
	const char *text;
	bool ok;
} eid_syntax[] = {
	{ "A", true },
	{ "0", true },
	{ "Z9", true },
	{ "SMCV2.EID-1.X", true },
	{ "A.-.-B", true },
	{ "A-.", true },
	{ "A--B", true },
	{ "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345", true },
	{ "A\t\n\v\f\r", true },
	{ "", false },
	{ " A", false },
	{ "A B", false },
	{ ".A", false },
	{ "-A", false },
	{ "A..B", false },
	{ "A...", false },
	{ "a", false },
	{ "Ab", false },
	{ "A_B", false },
	{ "A/B", false },
	{ "A@", false },
	{ "A[", false },
	{ "A:", false },
	{ "\304BC", false },
	{ "A\xd6", false },
	{ "A\xa0", false },
	{ "A\x7f", false },
	{ "A\x01", false },
};

static void eid_test_syntax(struct kunit *test)
{
	u8 eid[SMC_EID_BYTES];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(eid_syntax); i++) {
		eid_from(eid, eid_syntax[i].text);
		KUNIT_EXPECT_EQ_MSG(test, smc_eid_valid_ueid(eid),
				    eid_syntax[i].ok, "\"%s\"",
				    eid_syntax[i].text);
		KUNIT_EXPECT_EQ(test, smc_eid_add(eid, NULL),
				eid_syntax[i].ok ? 0 : -EINVAL);
		smc_eid_flush();
	}
}

/* every byte at the first and at a later place */
static void eid_test_bytes(struct kunit *test)
{
	u8 eid[SMC_EID_BYTES];
	bool first, later;
	unsigned int c;

	for (c = 0; c < 256; c++) {
		first = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		later = first || c == '.' || c == '-';
		eid_from(eid, "XXX");
		eid[0] = c;
		KUNIT_EXPECT_EQ_MSG(test, smc_eid_valid_ueid(eid), first,
				    "first byte %u", c);
		eid_from(eid, "XXX");
		eid[1] = c;
		KUNIT_EXPECT_EQ_MSG(test, smc_eid_valid_ueid(eid), later,
				    "second byte %u", c);
	}
	eid_from(eid, "XXX");
	eid[31] = 0;
	KUNIT_EXPECT_FALSE(test, smc_eid_valid_ueid(eid));
}

static void eid_test_table(struct kunit *test)
{
	u8 got[SMC_EID_MAX][SMC_EID_BYTES];
	u8 want[SMC_EID_BYTES];

	KUNIT_EXPECT_FALSE(test, smc_eid_have_any());
	KUNIT_EXPECT_EQ(test, smc_eid_snapshot(got, SMC_EID_MAX), 0);
	KUNIT_EXPECT_EQ(test, eid_del("ONE"), -ENOENT);

	KUNIT_EXPECT_EQ(test, eid_add("ONE"), 0);
	KUNIT_EXPECT_EQ(test, eid_add("TWO"), 0);
	KUNIT_EXPECT_EQ(test, eid_add("ONE"), -EEXIST);
	KUNIT_EXPECT_EQ(test, eid_add("THREE"), 0);
	KUNIT_EXPECT_EQ(test, eid_add("FOUR"), 0);
	KUNIT_EXPECT_EQ(test, eid_add("FIVE"), -ERANGE);
	/* a duplicate is told as such even if the table is full */
	KUNIT_EXPECT_EQ(test, eid_add("FOUR"), -EEXIST);

	KUNIT_EXPECT_EQ(test, eid_del("TWO"), 0);
	KUNIT_EXPECT_EQ(test, eid_del("TWO"), -ENOENT);
	KUNIT_EXPECT_FALSE(test, eid_ours("TWO"));
	KUNIT_EXPECT_TRUE(test, eid_ours("ONE"));
	KUNIT_EXPECT_EQ(test, eid_add("TWO"), 0);

	/* order of addition; less room than rows */
	KUNIT_EXPECT_EQ(test, smc_eid_snapshot(got, 2), 2);
	KUNIT_EXPECT_EQ(test, smc_eid_snapshot(got, SMC_EID_MAX), 4);
	eid_from(want, "THREE");
	KUNIT_EXPECT_MEMEQ(test, got[1], want, SMC_EID_BYTES);
	eid_from(want, "TWO");
	KUNIT_EXPECT_MEMEQ(test, got[3], want, SMC_EID_BYTES);

	smc_eid_flush();
	KUNIT_EXPECT_FALSE(test, smc_eid_have_any());
	KUNIT_EXPECT_EQ(test, smc_eid_snapshot(got, SMC_EID_MAX), 0);
	smc_eid_flush();
}

static void eid_test_match(struct kunit *test)
{
	u8 client[3][SMC_EID_BYTES];
	u8 out[SMC_EID_BYTES] = {};

	eid_from(client[0], "UNKNOWN");
	eid_from(client[1], "SECOND");
	eid_from(client[2], "FIRST");
	KUNIT_EXPECT_FALSE(test, smc_eid_match(client, 3, out));

	KUNIT_EXPECT_EQ(test, eid_add("FIRST"), 0);
	KUNIT_EXPECT_EQ(test, eid_add("SECOND"), 0);
	KUNIT_EXPECT_FALSE(test, smc_eid_match(client, 0, out));
	KUNIT_EXPECT_FALSE(test, smc_eid_match(client, 1, out));
	KUNIT_EXPECT_EQ(test, out[0], 0);
	/* the client's order counts, not ours */
	KUNIT_EXPECT_TRUE(test, smc_eid_match(client, 3, out));
	KUNIT_EXPECT_MEMEQ(test, out, client[1], SMC_EID_BYTES);
	KUNIT_EXPECT_EQ(test, eid_del("SECOND"), 0);
	KUNIT_EXPECT_TRUE(test, smc_eid_match(client, 3, out));
	KUNIT_EXPECT_MEMEQ(test, out, client[2], SMC_EID_BYTES);
}

/* all 32 bytes count, the padding included */
static void eid_test_raw_compare(struct kunit *test)
{
	u8 eid[SMC_EID_BYTES];

	KUNIT_EXPECT_EQ(test, eid_add("RAW"), 0);
	eid_from(eid, "RAW");
	KUNIT_EXPECT_TRUE(test, eid_has(eid));
	eid[31] = 0;
	KUNIT_EXPECT_FALSE(test, eid_has(eid));
	eid_from(eid, "RAWX");
	KUNIT_EXPECT_FALSE(test, eid_has(eid));
	memset(eid, 0, sizeof(eid));
	KUNIT_EXPECT_FALSE(test, eid_has(eid));
}

static struct kunit_case eid_cases[] = {
	KUNIT_CASE(eid_test_syntax),
	KUNIT_CASE(eid_test_bytes),
	KUNIT_CASE(eid_test_table),
	KUNIT_CASE(eid_test_match),
	KUNIT_CASE(eid_test_raw_compare),
	{}
};

static struct kunit_suite eid_suite = {
	.name = "smc_eid",
	.init = eid_test_init,
	.exit = eid_test_exit,
	.test_cases = eid_cases,
};

kunit_test_suite(eid_suite);

MODULE_DESCRIPTION("KUnit tests of SMC's EIDs");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
