// SPDX-License-Identifier: GPL-2.0
/*
 * smcbuf: what it costs to take a ring buffer from a link group and to give it
 * back, with many connections alive.
 *
 * This is the source of net/smc itself, compiled once more into this module,
 * so nothing of it has to be exported. Reading /proc/smcbuf runs it: groups
 * full of buffers in use, as many as so many connections need, and one idle
 * buffer in each, which is taken and given back, groups in turn.
 */
#include <kunit/visibility.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

/* smc.ko exports the same names for its tests */
#undef EXPORT_SYMBOL_IF_KUNIT
#define EXPORT_SYMBOL_IF_KUNIT(symbol)

#include "smc_buf.c"

#define PER_GROUP	(SMC_BUF_MAX - 1)	/* connections */
#define TIMES		200000
#define REPEATS		5
#define DIRTY		64			/* bytes to be zeroed */

static const int alive[] = { 10, 200, 1000, 10000 };

static void drop(struct smcr_bufs *b)
{
	struct smcr_buf *buf, *next;

	list_for_each_entry_safe(buf, next, &b->all, all)
		smcr_buf_free(b, buf);
}

static int fill(struct smcr_bufs *b, int n)
{
	unsigned int how;
	struct smcr_buf *buf;

	while (n--) {
		buf = smcr_buf_get(b, SMC_BUF_RMB, 0, &how);
		if (IS_ERR(buf))
			return PTR_ERR(buf);
	}
	buf = smcr_buf_get(b, SMC_BUF_RMB, 0, &how);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	smcr_buf_recycle(b, buf, 0);
	return 0;
}

/* nanoseconds of one acquire and release, the best of some repeats */
static u64 measure(struct smcr_bufs *b, int groups)
{
	u64 best = U64_MAX, t0;
	struct smcr_buf *buf;
	unsigned int how;
	int i, k, g;

	for (k = 0; k < REPEATS; k++) {
		g = 0;
		t0 = ktime_get_ns();
		for (i = 0; i < TIMES; i++) {
			buf = smcr_buf_get(&b[g], SMC_BUF_RMB, 0, &how);
			smcr_buf_recycle(&b[g], buf, DIRTY);
			if (++g == groups)
				g = 0;
		}
		best = min(best, ktime_get_ns() - t0);
		cond_resched();
	}
	return div_u64(best, TIMES / 1000);
}

static int one(struct seq_file *m, int conns)
{
	int groups = DIV_ROUND_UP(conns, PER_GROUP), i, rc = 0;
	struct smcr_bufs *b;

	b = kvcalloc(groups, sizeof(*b), GFP_KERNEL);
	if (!b)
		return -ENOMEM;
	for (i = 0; i < groups; i++)
		smcr_bufs_init(&b[i], SMC_BUF_CONTIG);
	for (i = 0; i < groups && !rc; i++)
		rc = fill(&b[i], conns / groups);
	if (!rc)
		seq_printf(m, "{\"conns\": %d, \"ps\": %llu}\n", conns,
			   measure(b, groups));
	for (i = 0; i < groups; i++)
		drop(&b[i]);
	kvfree(b);
	return rc;
}

static int smcbuf_show(struct seq_file *m, void *v)
{
	int i, rc = 0;

	for (i = 0; i < ARRAY_SIZE(alive) && !rc; i++)
		rc = one(m, alive[i]);
	return rc;
}

static int __init smcbuf_init(void)
{
	return proc_create_single("smcbuf", 0400, NULL, smcbuf_show) ?
	       0 : -ENOMEM;
}

static void __exit smcbuf_exit(void)
{
	remove_proc_entry("smcbuf", NULL);
}

module_init(smcbuf_init);
module_exit(smcbuf_exit);
MODULE_DESCRIPTION("Cost of the buffer pool of SMC-R");
MODULE_LICENSE("GPL");
