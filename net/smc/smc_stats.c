// SPDX-License-Identifier: GPL-2.0
/*
 * Counters (layer 0).
 *
 * One block of 64-bit counters per namespace and CPU, shown by name in
 * /proc/net/smc_stat; one small table of fallback reasons per namespace. A
 * counter is one addition on the CPU at hand, in any context but NMI.
 */
#include <linux/export.h>
#include <linux/proc_fs.h>
#include <linux/seq_file_net.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "smc_reason.h"
#include "smc_stats.h"

/* of struct smc_net; registered by smc_main.c */
unsigned int smc_net_id;
EXPORT_SYMBOL_GPL(smc_net_id);	/* smc_diag */

static const char * const smc_counter_names[] = {
#define X(name) [SMC_CNT_##name] = #name,
	SMC_COUNTERS(X)
#undef X
};

static_assert(ARRAY_SIZE(smc_counter_names) == SMC_CNT_MAX);

/* slot of each reason: the list of reasons is closed, foreign codes share one */
static const struct {
	u32 code;
	const char *text;
} smc_reasons[] = {
#define X(name, val, text) { val, text },
	SMC_REASONS(X)
#undef X
};

#define SMC_FBACK_ROWS	(ARRAY_SIZE(smc_reasons) + 1)

/**
 * struct smc_fback_table - fallbacks by reason and role
 * @cnt: [row][server]; the last row takes codes that are not ours
 */
struct smc_fback_table {
	atomic_t cnt[SMC_FBACK_ROWS][2];
};

/**
 * smc_count() - add to a counter of a namespace
 * @net: namespace
 * @c: counter
 * @n: amount
 *
 * Context: any but NMI.
 */
void smc_count(const struct net *net, enum smc_counter c, u64 n)
{
	struct smc_counters *cnt;
	unsigned long flags;

	cnt = get_cpu_ptr(smc_net(net)->counters);
	flags = u64_stats_update_begin_irqsave(&cnt->syncp);
	u64_stats_add(&cnt->val[c], n);
	u64_stats_update_end_irqrestore(&cnt->syncp, flags);
	put_cpu_ptr(smc_net(net)->counters);
}

/**
 * smc_counter_sum() - value of a counter over all CPUs
 * @net: namespace
 * @c: counter
 *
 * Return: the sum.
 */
u64 smc_counter_sum(const struct net *net, enum smc_counter c)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct smc_counters *cnt;
		unsigned int start;
		u64 val;

		cnt = per_cpu_ptr(smc_net(net)->counters, cpu);
		do {
			start = u64_stats_fetch_begin(&cnt->syncp);
			val = u64_stats_read(&cnt->val[c]);
		} while (u64_stats_fetch_retry(&cnt->syncp, start));
		sum += val;
	}
	return sum;
}

/**
 * smc_stats_fallback() - count a socket that falls back to TCP
 * @net: its namespace
 * @server: accepted by a listener
 * @reason: enum smc_reason
 *
 * Context: any. Saturates instead of wrapping.
 */
void smc_stats_fallback(const struct net *net, bool server, u32 reason)
{
	struct smc_fback_table *tab = smc_net(net)->fback;
	unsigned int row;

	for (row = 0; row < ARRAY_SIZE(smc_reasons); row++)
		if (smc_reasons[row].code == reason)
			break;
	atomic_add_unless(&tab->cnt[row][server], 1, INT_MAX);
}

/**
 * smc_stats_fback_get() - one row of the fallback reasons
 * @net: namespace
 * @idx: number of the row
 * @row: result; the row of foreign codes has reason 0
 *
 * Return: false if there is no such row.
 */
bool smc_stats_fback_get(const struct net *net, unsigned int idx,
			 struct smc_fback_row *row)
{
	const struct smc_fback_table *tab = smc_net(net)->fback;

	if (idx >= SMC_FBACK_ROWS)
		return false;
	row->reason = 0;
	row->text = "none";
	if (idx < ARRAY_SIZE(smc_reasons)) {
		row->reason = smc_reasons[idx].code;
		row->text = smc_reasons[idx].text;
	}
	row->clnt = atomic_read(&tab->cnt[idx][0]);
	row->srv = atomic_read(&tab->cnt[idx][1]);
	return true;
}

static int __maybe_unused smc_stats_show(struct seq_file *seq, void *v)
{
	struct net *net = seq->private;
	struct smc_fback_row row;
	unsigned int i;

	for (i = 0; i < SMC_CNT_MAX; i++)
		seq_printf(seq, "%-20s %llu\n", smc_counter_names[i],
			   smc_counter_sum(net, i));
	for (i = 0; smc_stats_fback_get(net, i, &row); i++)
		if (row.clnt || row.srv)
			seq_printf(seq, "FALLBACK_0x%08x  %u %u  %s\n",
				   row.reason, row.clnt, row.srv, row.text);
	return 0;
}

/**
 * smc_stats_net_init() - counters of a new namespace
 * @net: namespace
 *
 * Return: 0 or -ENOMEM.
 */
int smc_stats_net_init(struct net *net)
{
	struct smc_net *sn = smc_net(net);
	int cpu;

	sn->counters = alloc_percpu(struct smc_counters);
	if (!sn->counters)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(sn->counters, cpu)->syncp);
	sn->fback = kzalloc_obj(*sn->fback);
	if (!sn->fback)
		goto free_counters;
	if (IS_ENABLED(CONFIG_PROC_FS) &&
	    !proc_create_net_single("smc_stat", 0444, net->proc_net,
				    smc_stats_show, NULL))
		goto free_fback;
	return 0;

free_fback:
	kfree(sn->fback);
free_counters:
	free_percpu(sn->counters);
	return -ENOMEM;
}

/**
 * smc_stats_net_exit() - free the counters
 * @net: namespace; nothing counts in it any more
 */
void smc_stats_net_exit(struct net *net)
{
	struct smc_net *sn = smc_net(net);

	remove_proc_entry("smc_stat", net->proc_net);
	kfree(sn->fback);
	free_percpu(sn->counters);
}
