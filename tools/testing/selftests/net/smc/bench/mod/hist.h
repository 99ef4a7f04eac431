/* SPDX-License-Identifier: GPL-2.0 */
/* Histogram of times: 16 buckets in each power of two, so within 6 percent. */
#ifndef SMCBENCH_HIST_H
#define SMCBENCH_HIST_H

#include <linux/bitops.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define HIST_UNIT_SHIFT	6	/* a unit is 64 ns */
#define HIST_SUB_SHIFT	4
#define HIST_SUBS	(1 << HIST_SUB_SHIFT)
#define HIST_BUCKETS	(26 * HIST_SUBS)	/* up to some 70 s */

struct hist {
	u64 n;
	u64 sum;		/* ns */
	u64 max;		/* ns */
	u32 bucket[HIST_BUCKETS];
};

static inline void hist_add(struct hist *h, u64 ns)
{
	u64 v = ns >> HIST_UNIT_SHIFT;
	int e = fls64(v >> (HIST_SUB_SHIFT + 1));

	h->n++;
	h->sum += ns;
	h->max = max(h->max, ns);
	h->bucket[min_t(int, e * HIST_SUBS + (v >> e), HIST_BUCKETS - 1)]++;
}

static inline void hist_merge(struct hist *to, const struct hist *from)
{
	int i;

	to->n += from->n;
	to->sum += from->sum;
	to->max = max(to->max, from->max);
	for (i = 0; i < HIST_BUCKETS; i++)
		to->bucket[i] += from->bucket[i];
}

/* hist_tenths_us - the time that @permille of the entries do not exceed */
static inline u64 hist_tenths_us(const struct hist *h, int permille)
{
	u64 want = div_u64(h->n * permille + 999, 1000), seen = 0, ns;
	int i, e;

	for (i = 0; i < HIST_BUCKETS - 1; i++) {
		seen += h->bucket[i];
		if (seen >= want)
			break;
	}
	/* the upper end of bucket i, which no entry exceeds */
	e = max(i / HIST_SUBS - 1, 0);
	ns = ((u64)(i - e * HIST_SUBS + 1) << e) << HIST_UNIT_SHIFT;
	return div_u64(min(ns, h->max), 100);
}

static inline u64 hist_mean_tenths_us(const struct hist *h)
{
	return h->n ? div64_u64(h->sum, h->n * 100) : 0;
}

#endif
