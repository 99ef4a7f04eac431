// SPDX-License-Identifier: GPL-2.0
/*
 * net.smc.* (side room): one table over struct smc_net, duplicated for each
 * namespace. A new value acts on objects made afterwards.
 */
#include <linux/slab.h>
#include <linux/sysctl.h>

#include "smc_net.h"
#include "smc_sysctl.h"
#include "smc_wr.h"

#define SMC_BUF_SYSCTL_MIN	16384
#define SMC_BUF_DEFAULT		65536

static int smc_buf_min = SMC_BUF_SYSCTL_MIN;
static int smc_buf_max = INT_MAX / 2;
static unsigned int smc_wr_min = SMC_WR_MIN_DEPTH;
static unsigned int smc_wr_max = SMC_WR_MAX_DEPTH;
static unsigned int smc_buf_type_max = 2;
static int smc_links_min = 1;
static int smc_links_max = 2;
static int smc_conns_min = 16;
static int smc_conns_max = 255;
static int smc_testlink_max = INT_MAX / 1000;	/* jiffies must not overflow */

/* .data holds the offset in struct smc_net until the table is duplicated */
#define SMC_FIELD(field)						\
	.data = (void *)offsetof(struct smc_net, field),		\
	.maxlen = sizeof_field(struct smc_net, field),			\
	.mode = 0644

static const struct ctl_table smc_sysctl_table[] = {
	{
		.procname = "autocorking_size",
		SMC_FIELD(autocorking_size),
		.proc_handler = proc_douintvec,
	}, {
		.procname = "smcr_buf_type",
		SMC_FIELD(smcr_buf_type),
		.proc_handler = proc_douintvec_minmax,
		.extra1 = SYSCTL_ZERO,
		.extra2 = &smc_buf_type_max,
	}, {
		.procname = "smcr_testlink_time",
		SMC_FIELD(testlink_time),
		.proc_handler = proc_dointvec_minmax,
		.extra1 = SYSCTL_ZERO,
		.extra2 = &smc_testlink_max,
	}, {
		.procname = "wmem",
		SMC_FIELD(wmem),
		.proc_handler = proc_dointvec_minmax,
		.extra1 = &smc_buf_min,
		.extra2 = &smc_buf_max,
	}, {
		.procname = "rmem",
		SMC_FIELD(rmem),
		.proc_handler = proc_dointvec_minmax,
		.extra1 = &smc_buf_min,
		.extra2 = &smc_buf_max,
	}, {
		.procname = "smcr_max_links_per_lgr",
		SMC_FIELD(max_links_per_lgr),
		.proc_handler = proc_dointvec_minmax,
		.extra1 = &smc_links_min,
		.extra2 = &smc_links_max,
	}, {
		.procname = "smcr_max_conns_per_lgr",
		SMC_FIELD(max_conns_per_lgr),
		.proc_handler = proc_dointvec_minmax,
		.extra1 = &smc_conns_min,
		.extra2 = &smc_conns_max,
	}, {
		.procname = "smcr_max_send_wr",
		SMC_FIELD(max_send_wr),
		.proc_handler = proc_douintvec_minmax,
		.extra1 = &smc_wr_min,
		.extra2 = &smc_wr_max,
	}, {
		.procname = "smcr_max_recv_wr",
		SMC_FIELD(max_recv_wr),
		.proc_handler = proc_douintvec_minmax,
		.extra1 = &smc_wr_min,
		.extra2 = &smc_wr_max,
	}, {
		.procname = "limit_smc_hs",
		SMC_FIELD(limit_smc_hs),
		.proc_handler = proc_dou8vec_minmax,
		.extra1 = SYSCTL_ZERO,
		.extra2 = SYSCTL_ONE,
	},
};

static void smc_sysctl_defaults(struct smc_net *sn)
{
	sn->autocorking_size = SMC_BUF_DEFAULT;
	sn->smcr_buf_type = 0;
	sn->testlink_time = 30;
	sn->wmem = SMC_BUF_DEFAULT;
	sn->rmem = SMC_BUF_DEFAULT;
	sn->max_links_per_lgr = 2;
	sn->max_conns_per_lgr = 255;
	sn->max_send_wr = 64;
	sn->max_recv_wr = 128;
	sn->limit_smc_hs = 0;
}

/**
 * smc_sysctl_net_init() - defaults and table of a namespace
 * @net: namespace; its struct smc_net is zeroed
 *
 * Return: 0 or -ENOMEM.
 */
int smc_sysctl_net_init(struct net *net)
{
	struct smc_net *sn = smc_net(net);
	struct ctl_table *table;
	unsigned int i;

	smc_sysctl_defaults(sn);
	if (!IS_ENABLED(CONFIG_SYSCTL))
		return 0;

	table = kmemdup(smc_sysctl_table, sizeof(smc_sysctl_table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(smc_sysctl_table); i++)
		table[i].data = (void *)sn + (unsigned long)table[i].data;
	sn->ctl_hdr = register_net_sysctl_sz(net, "net/smc", table,
					     ARRAY_SIZE(smc_sysctl_table));
	if (!sn->ctl_hdr) {
		kfree(table);
		return -ENOMEM;
	}
	sn->ctl_table = table;
	return 0;
}

/**
 * smc_sysctl_net_exit() - remove the table of a namespace
 * @net: namespace
 */
void smc_sysctl_net_exit(struct net *net)
{
	struct smc_net *sn = smc_net(net);

	if (!sn->ctl_hdr)
		return;
	unregister_net_sysctl_table(sn->ctl_hdr);
	kfree(sn->ctl_table);
}
