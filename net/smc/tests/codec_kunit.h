/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the suites of the codecs share: messages written as hex text, and
 * decoding of everything that lies near a good message. Messages are kept in
 * allocations of exactly their size, so that KASAN sees a read behind the end.
 */
#ifndef SMC_TESTS_CODEC_KUNIT_H
#define SMC_TESTS_CODEC_KUNIT_H

#include <kunit/test.h>
#include <linux/hex.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/string.h>

/* bytes of @hex; padded with zeroes up to @size if that is more */
static inline u8 *smc_kunit_hex(struct kunit *test, const char *hex,
				size_t size, size_t *len)
{
	size_t n = 0, digits = 0;
	const char *c;
	u8 *buf;

	for (c = hex; *c; c++)
		digits += *c != ' ';
	*len = max(size, digits / 2);
	buf = kunit_kzalloc(test, *len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (c = hex; *c; c++) {
		if (*c == ' ')
			continue;
		KUNIT_ASSERT_GE(test, hex_to_bin(*c), 0);
		buf[n / 2] |= hex_to_bin(*c) << (n & 1 ? 0 : 4);
		n++;
	}
	return buf;
}

/* decodes @len bytes at @data and checks that the result stays in bounds */
typedef void (*smc_kunit_probe)(struct kunit *test, const u8 *data, size_t len);

/* repairs what a decoder checks first, so that damage gets past it */
typedef void (*smc_kunit_mend)(u8 *data, size_t len);

/* each beginning of the message, as it is and mended */
static inline void smc_kunit_truncate(struct kunit *test, const u8 *msg,
				      size_t len, smc_kunit_probe probe,
				      smc_kunit_mend mend)
{
	size_t n;
	u8 *cut;

	for (n = 0; n <= len; n++) {
		cut = kmemdup(msg, n, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, cut);
		probe(test, cut, n);
		mend(cut, n);
		probe(test, cut, n);
		kfree(cut);
	}
}

/* each value of each byte */
static inline void smc_kunit_mutate(struct kunit *test, const u8 *msg,
				    size_t len, smc_kunit_probe probe)
{
	unsigned int val;
	size_t i;
	u8 *bad;

	bad = kunit_kmalloc(test, len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bad);
	memcpy(bad, msg, len);
	for (i = 0; i < len; i++) {
		for (val = 0; val <= U8_MAX; val++) {
			bad[i] = val;
			probe(test, bad, len);
		}
		bad[i] = msg[i];
		cond_resched();
	}
}

/* several bytes at once, in messages of any length; same run after run */
static inline void smc_kunit_scramble(struct kunit *test, const u8 *msg,
				      size_t len, smc_kunit_probe probe,
				      smc_kunit_mend mend)
{
	struct rnd_state rnd;
	unsigned int run, i;
	size_t n;
	u8 *bad;

	prandom_seed_state(&rnd, len);
	for (run = 0; run < 2000; run++) {
		n = 1 + prandom_u32_state(&rnd) % (len + 32);
		bad = kzalloc(n, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, bad);
		memcpy(bad, msg, min(n, len));
		for (i = prandom_u32_state(&rnd) % 4; i; i--)
			bad[prandom_u32_state(&rnd) % n] =
				prandom_u32_state(&rnd);
		mend(bad, n);
		probe(test, bad, n);
		kfree(bad);
	}
}

static inline void smc_kunit_damage(struct kunit *test, const u8 *msg,
				    size_t len, smc_kunit_probe probe,
				    smc_kunit_mend mend)
{
	smc_kunit_truncate(test, msg, len, probe, mend);
	smc_kunit_mutate(test, msg, len, probe);
	smc_kunit_scramble(test, msg, len, probe, mend);
}

#endif /* SMC_TESTS_CODEC_KUNIT_H */
