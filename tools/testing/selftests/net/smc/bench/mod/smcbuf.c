// SPDX-License-Identifier: GPL-2.0
/*
 * smcbuf: what it costs to take a ring buffer from a link group and to give it
 * back, with many connections alive.
 *
 * This is the source of net/smc itself, compiled once more into this module,
 * so nothing of it has to be exported. Reading /proc/smcbuf runs it: groups
 * full of buffers in use, as many as so many connections need, and 16 idle ones
 * in each, which are all taken and then all given back, groups in turn.
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

#define SPARE		16			/* idle buffers of a group */
#define PER_GROUP	(SMC_BUF_MAX - SPARE)	/* connections */
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
	struct smcr_buf *buf, *spare[SPARE];
	unsigned int how;
	int i;

	for (i = 0; i < n + SPARE; i++) {
		buf = smcr_buf_get(b, SMC_BUF_RMB, 0, &how);
		if (IS_ERR(buf))
			return PTR_ERR(buf);
		spare[i % SPARE] = buf;
	}
	for (i = 0; i < SPARE; i++)
		smcr_buf_recycle(b, spare[i], 0);
	return 0;
}

struct cost {
	u64 acquire;
	u64 release;
};

/* all idle buffers of all groups, out and in; nanoseconds are added */
static int turn(struct smcr_bufs *b, int groups, struct smcr_buf **bufs,
		struct cost *c)
{
	int i, n = groups * SPARE;
	unsigned int how;
	u64 t[3];

	t[0] = ktime_get_ns();
	for (i = 0; i < n; i++)
		bufs[i] = smcr_buf_get(&b[i % groups], SMC_BUF_RMB, 0, &how);
	t[1] = ktime_get_ns();
	for (i = 0; i < n; i++)
		smcr_buf_recycle(&b[i % groups], bufs[i], DIRTY);
	t[2] = ktime_get_ns();
	c->acquire += t[1] - t[0];
	c->release += t[2] - t[1];
	return n;
}

/* picoseconds of one acquire and of one release, the best of some repeats */
static int measure(struct smcr_bufs *b, int groups, struct cost *best)
{
	struct smcr_buf **bufs;
	int i, k;

	bufs = kvcalloc(groups * SPARE, sizeof(*bufs), GFP_KERNEL);
	if (!bufs)
		return -ENOMEM;
	best->acquire = U64_MAX;
	best->release = U64_MAX;
	for (k = 0; k < REPEATS; k++) {
		struct cost c = {};

		for (i = 0; i < TIMES;)
			i += turn(b, groups, bufs, &c);
		best->acquire = min(best->acquire, div_u64(c.acquire * 1000, i));
		best->release = min(best->release, div_u64(c.release * 1000, i));
		cond_resched();
	}
	kvfree(bufs);
	return 0;
}

static int one(struct seq_file *m, int conns)
{
	int groups = DIV_ROUND_UP(conns, PER_GROUP), i, rc = 0;
	struct smcr_bufs *b;
	struct cost c;

	b = kvcalloc(groups, sizeof(*b), GFP_KERNEL);
	if (!b)
		return -ENOMEM;
	for (i = 0; i < groups; i++)
		smcr_bufs_init(&b[i], SMC_BUF_CONTIG);
	for (i = 0; i < groups && !rc; i++)
		rc = fill(&b[i], conns / groups);
	if (!rc)
		rc = measure(b, groups, &c);
	if (!rc)
		seq_printf(m, "{\"conns\": %d, \"acquire\": %llu, \"release\": %llu}\n",
			   conns, c.acquire, c.release);
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
