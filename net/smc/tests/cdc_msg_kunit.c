// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of CDC messages and of cursor arithmetic.
 */
#include <linux/module.h>
#include <linux/sizes.h>

#include "codec_kunit.h"
#include "../smc_cdc_msg.h"

/* a short life of a connection with rings of 64 KiB */
struct cdc_vector {
	const char *name;
	const char *hex;
	struct smc_cdc cdc;
};

static const struct cdc_vector cdc_vectors[] = {
	{
		.name = "first: 100 bytes",
		.hex = "fe2c0001 00000101 00000000 00000064",
		.cdc = { .token = 0x101, .seq = 1, .prod = { 100, 0 } },
	}, {
		.name = "ring full, writer blocked",
		.hex = "fe2c0002 00000101 00000001 00000000 00000000 00000000 8000",
		.cdc = { .token = 0x101, .seq = 2, .prod = { 0, 1 },
			 .pflags = SMC_CDC_P_BLOCKED },
	}, {
		.name = "window update",
		.hex = "fe2c0001 00000077 00000000 00000000 00000001 00000000",
		.cdc = { .token = 0x77, .seq = 1, .cons = { 0, 1 } },
	}, {
		.name = "urgent byte",
		.hex = "fe2c0003 00000101 00000001 00000003 00000000 00000000 6000",
		.cdc = { .token = 0x101, .seq = 3, .prod = { 3, 1 },
			 .pflags = SMC_CDC_P_URG_PENDING |
				   SMC_CDC_P_URG_PRESENT },
	}, {
		.name = "urgent byte skipped",
		.hex = "fe2c0002 00000077 00000000 00000000 00000001 00000003",
		.cdc = { .token = 0x77, .seq = 2, .cons = { 3, 1 } },
	}, {
		.name = "close of the client",
		.hex = "fe2c0004 00000101 00000001 00000003 00000000 00000000 0040",
		.cdc = { .token = 0x101, .seq = 4, .prod = { 3, 1 },
			 .cflags = SMC_CDC_C_CLOSED },
	}, {
		.name = "close of the server",
		.hex = "fe2c0003 00000077 00000000 00000000 00000001 00000003 0040",
		.cdc = { .token = 0x77, .seq = 3, .cons = { 3, 1 },
			 .cflags = SMC_CDC_C_CLOSED },
	}, {
		.name = "failover validation",
		.hex = "fe2c0002 00000101 00000000 00000000 00000000 00000000 0800",
		.cdc = { .token = 0x101, .seq = 2,
			 .pflags = SMC_CDC_P_FAILOVER },
	}, {
		.name = "close with unread data",
		.hex = "fe2c0004 00000101 00000001 00000003 00000000 00000000 0020",
		.cdc = { .token = 0x101, .seq = 4, .prod = { 3, 1 },
			 .cflags = SMC_CDC_C_ABORT },
	}, {
		.name = "close after shutdown, all fields",
		.hex = "fe2cfffe 89abcdef 0000fedc 01234567 0000ba98 76543210 10c0",
		.cdc = { .token = 0x89abcdef, .seq = 0xfffe,
			 .prod = { 0x01234567, 0xfedc },
			 .cons = { 0x76543210, 0xba98 },
			 .pflags = SMC_CDC_P_UPDATE_REQ,
			 .cflags = SMC_CDC_C_DONE | SMC_CDC_C_CLOSED },
	},
};

static void cdc_vector_desc(const struct cdc_vector *vec, char *desc)
{
	strscpy(desc, vec->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(cdc_vector, cdc_vectors, cdc_vector_desc);

static void cdc_test_vector(struct kunit *test)
{
	const struct cdc_vector *vec = test->param_value;
	struct smc_cdc cdc = {};
	u8 out[SMC_CDC_LEN];
	size_t len;
	u8 *msg;

	msg = smc_kunit_hex(test, vec->hex, SMC_CDC_LEN, &len);
	KUNIT_ASSERT_EQ(test, len, SMC_CDC_LEN);
	KUNIT_ASSERT_EQ(test, smc_cdc_decode(msg, len, &cdc), 0);
	KUNIT_EXPECT_EQ(test, cdc.token, vec->cdc.token);
	KUNIT_EXPECT_EQ(test, cdc.seq, vec->cdc.seq);
	KUNIT_EXPECT_EQ(test, cdc.prod.count, vec->cdc.prod.count);
	KUNIT_EXPECT_EQ(test, cdc.prod.wrap, vec->cdc.prod.wrap);
	KUNIT_EXPECT_EQ(test, cdc.cons.count, vec->cdc.cons.count);
	KUNIT_EXPECT_EQ(test, cdc.cons.wrap, vec->cdc.cons.wrap);
	KUNIT_EXPECT_EQ(test, cdc.pflags, vec->cdc.pflags);
	KUNIT_EXPECT_EQ(test, cdc.cflags, vec->cdc.cflags);

	memset(out, 0xff, sizeof(out));
	smc_cdc_encode(out, &vec->cdc);
	KUNIT_EXPECT_MEMEQ(test, out, msg, SMC_CDC_LEN);
}

static void cdc_probe(struct kunit *test, const u8 *data, size_t len)
{
	struct smc_cdc cdc;
	int rc;

	rc = smc_cdc_decode(data, len, &cdc);
	if (len < 26 || data[0] != SMC_CDC_TYPE || data[1] != SMC_CDC_LEN)
		KUNIT_EXPECT_EQ(test, rc, -EPROTO);
	else
		KUNIT_EXPECT_EQ(test, rc, 0);
}

static void cdc_mend(u8 *data, size_t len)
{
	if (len < 2)
		return;
	data[0] = SMC_CDC_TYPE;
	data[1] = SMC_CDC_LEN;
}

static void cdc_test_damage(struct kunit *test)
{
	size_t len;
	u8 *msg;

	msg = smc_kunit_hex(test, cdc_vectors[3].hex, SMC_CDC_LEN, &len);
	smc_kunit_damage(test, msg, len, cdc_probe, cdc_mend);
}

/* sizes of rings: RMBs, and DMBs less their head, no powers of two */
static const u32 ring_sizes[] = {
	SZ_16K, SZ_32K, SZ_64K, SZ_128K, SZ_256K, SZ_512K, SZ_1M, SZ_512M,
	SZ_16K - 32, SZ_64K - 32, SZ_1M - 32,
};

static void ring_size_desc(const u32 *size, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u", *size);
}

KUNIT_ARRAY_PARAM(ring_size, ring_sizes, ring_size_desc);

/* positions at and around interesting wraps of a ring of @size bytes */
static u64 ring_position(u32 size, unsigned int i)
{
	static const u64 wraps[] = { 1, 2, 5, 32767, 32768, 65535, 65536, 65537,
				     131072, 1ULL << 24 };
	u64 edge = size * wraps[i / 4];

	switch (i % 4) {
	case 0:
		return edge;
	case 1:
		return edge - 1;
	case 2:
		return edge + 1;
	default:
		return edge - size;
	}
}

#define RING_POSITIONS	(10 * 4)

static void cursor_test_from_pos(struct kunit *test)
{
	u32 size = *(const u32 *)test->param_value;
	struct smc_cursor cur;
	u64 pos, passes;
	unsigned int i;
	u32 offset;

	for (i = 0; i < RING_POSITIONS; i++) {
		pos = ring_position(size, i);
		passes = div_u64_rem(pos, size, &offset);
		cur = smc_cursor_from_pos(pos, size);
		KUNIT_EXPECT_EQ(test, cur.count, offset);
		KUNIT_EXPECT_EQ(test, cur.wrap, passes & 0xffff);
		KUNIT_EXPECT_EQ(test, smc_ring_offset(pos, size), offset);
	}
}

/* each distance that a ring allows is understood, also over 65535 -> 0 */
static void cursor_test_forward(struct kunit *test)
{
	u32 size = *(const u32 *)test->param_value;
	const u32 steps[] = { 0, 1, 100, size / 2, size - 1, size };
	struct smc_cursor to;
	unsigned int i, j;
	u64 pos, got;

	for (i = 0; i < RING_POSITIONS; i++) {
		pos = ring_position(size, i);
		for (j = 0; j < ARRAY_SIZE(steps); j++) {
			to = smc_cursor_from_pos(pos + steps[j], size);
			got = 0;
			KUNIT_EXPECT_EQ(test, 0,
					smc_cursor_advance(pos, to, size,
							   pos + size, &got));
			KUNIT_EXPECT_EQ(test, got, pos + steps[j]);
			/* and with no byte to spare */
			KUNIT_EXPECT_EQ(test, 0,
					smc_cursor_advance(pos, to, size,
							   pos + steps[j],
							   &got));
		}
	}
}

static void cursor_test_backward(struct kunit *test)
{
	u32 size = *(const u32 *)test->param_value;
	const u64 steps[] = { 1, size / 2, size, 3ULL * size, 30000ULL * size };
	struct smc_cursor to;
	unsigned int i, j;
	u64 pos, got = 1;

	for (i = 0; i < RING_POSITIONS; i++) {
		pos = ring_position(size, i);
		for (j = 0; j < ARRAY_SIZE(steps) && steps[j] <= pos; j++) {
			to = smc_cursor_from_pos(pos - steps[j], size);
			KUNIT_EXPECT_EQ(test, -ESTALE,
					smc_cursor_advance(pos, to, size,
							   pos + size, &got));
		}
	}
	KUNIT_EXPECT_EQ(test, got, 1);
}

static void cursor_test_beyond(struct kunit *test)
{
	u32 size = *(const u32 *)test->param_value;
	const u64 steps[] = { 1, 2, size, 100ULL * size };
	struct smc_cursor to;
	unsigned int i, j;
	u64 pos, got = 1;

	for (i = 0; i < RING_POSITIONS; i++) {
		pos = ring_position(size, i);
		for (j = 0; j < ARRAY_SIZE(steps); j++) {
			to = smc_cursor_from_pos(pos + size + steps[j], size);
			KUNIT_EXPECT_EQ(test, -ERANGE,
					smc_cursor_advance(pos, to, size,
							   pos + size, &got));
			to = smc_cursor_from_pos(pos + steps[j], size);
			KUNIT_EXPECT_EQ(test, -ERANGE,
					smc_cursor_advance(pos, to, size, pos,
							   &got));
		}
	}
	KUNIT_EXPECT_EQ(test, got, 1);
}

static void cursor_test_outside(struct kunit *test)
{
	u32 size = *(const u32 *)test->param_value;
	const u32 counts[] = { size, size + 1, 0x80000000, U32_MAX };
	struct smc_cursor to = {};
	u64 got = 1;
	int i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		to.count = counts[i];
		for (to.wrap = 0; to.wrap < 3; to.wrap++)
			KUNIT_EXPECT_EQ(test, -ERANGE,
					smc_cursor_advance(0, to, size, U64_MAX,
							   &got));
	}
	KUNIT_EXPECT_EQ(test, got, 1);
}

static void cursor_test_special(struct kunit *test)
{
	u64 pos = 5 * SZ_64K + 7, got = 1;
	struct smc_cursor to = {};

	/* a step down to wrap 0 is no advance */
	KUNIT_EXPECT_EQ(test, -ESTALE,
			smc_cursor_advance(pos, to, SZ_64K, U64_MAX, &got));
	/* but it is one from 65535 */
	pos = 65535ULL * SZ_64K + 7;
	KUNIT_EXPECT_EQ(test, 0,
			smc_cursor_advance(pos, to, SZ_64K, pos + SZ_64K,
					   &got));
	KUNIT_EXPECT_EQ(test, got, 65536ULL * SZ_64K);
	/* 32767 passes ahead is ahead, 32768 is behind */
	to.wrap = 32767;
	KUNIT_EXPECT_EQ(test, 0,
			smc_cursor_advance(0, to, SZ_512M, U64_MAX, &got));
	KUNIT_EXPECT_EQ(test, got, 32767ULL * SZ_512M);
	to.wrap = 32768;
	KUNIT_EXPECT_EQ(test, -ESTALE,
			smc_cursor_advance(0, to, SZ_512M, U64_MAX, &got));
	/* a ring that does not exist yet holds no position */
	to.wrap = 0;
	KUNIT_EXPECT_EQ(test, -ERANGE,
			smc_cursor_advance(0, to, 0, U64_MAX, &got));
	/* the limit is in the way even if it lies behind */
	KUNIT_EXPECT_EQ(test, -ERANGE,
			smc_cursor_advance(SZ_64K, smc_cursor_from_pos(SZ_64K,
								       SZ_64K),
					   SZ_64K, 0, &got));
}

static struct kunit_case cdc_msg_cases[] = {
	KUNIT_CASE_PARAM(cdc_test_vector, cdc_vector_gen_params),
	KUNIT_CASE(cdc_test_damage),
	KUNIT_CASE_PARAM(cursor_test_from_pos, ring_size_gen_params),
	KUNIT_CASE_PARAM(cursor_test_forward, ring_size_gen_params),
	KUNIT_CASE_PARAM(cursor_test_backward, ring_size_gen_params),
	KUNIT_CASE_PARAM(cursor_test_beyond, ring_size_gen_params),
	KUNIT_CASE_PARAM(cursor_test_outside, ring_size_gen_params),
	KUNIT_CASE(cursor_test_special),
	{}
};

static struct kunit_suite cdc_msg_suite = {
	.name = "smc_cdc_msg",
	.test_cases = cdc_msg_cases,
};

kunit_test_suite(cdc_msg_suite);

MODULE_DESCRIPTION("KUnit tests of SMC's CDC messages and cursors");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
