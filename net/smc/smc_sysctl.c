// SPDX-License-Identifier: GPL-2.0
/*
 * net.smc.* (side room): one table over struct smc_net, duplicated for each
 * namespace. A new value acts on objects made afterwards.
 */
#include <linux/slab.h>
#include <linux/sysctl.h>

#include "smc_net.h"
#include "smc_wr.h"

#define SMC_BUF_SYSCTL_MIN	16384
#define SMC_BUF_DEFAULT		65536

static int smc_buf_min = SMC_BUF_SYSCTL_MIN;
static int smc_buf_max = INT_MAX / 2;
static unsigned int smc_wr_min = SMC_WR_MIN_DEPTH;
static unsigned int smc_wr_max = SMC_WR_MAX_DEPTH;
static int smc_conns_min = 16;
static int smc_conns_max = 255;
static int smc_testlink_max = INT_MAX / 1000;	/* jiffies must not overflow */

/* .data holds the offset in struct smc_net until the table is duplicated */
#define SMC_SYSCTL(_name, _field, _handler, _min, _max)			\
	{								\
		.procname = _name,					\
		.data = (void *)offsetof(struct smc_net, _field),	\
		.maxlen = sizeof_field(struct smc_net, _field),		\
		.mode = 0644,						\
		.proc_handler = _handler,				\
		.extra1 = _min,						\
		.extra2 = _max,						\
	}
#define SMC_INT(_name, _field, _min, _max)				\
	SMC_SYSCTL(_name, _field, proc_dointvec_minmax, _min, _max)
#define SMC_UINT(_name, _field, _min, _max)				\
	SMC_SYSCTL(_name, _field, proc_douintvec_minmax, _min, _max)

static const struct ctl_table smc_sysctl_table[] = {
	SMC_UINT("autocorking_size", autocorking_size, NULL, NULL),
	SMC_UINT("smcr_buf_type", smcr_buf_type, SYSCTL_ZERO, SYSCTL_TWO),
	SMC_INT("smcr_testlink_time", testlink_time, SYSCTL_ZERO, &smc_testlink_max),
	SMC_INT("wmem", wmem, &smc_buf_min, &smc_buf_max),
	SMC_INT("rmem", rmem, &smc_buf_min, &smc_buf_max),
	SMC_INT("smcr_max_links_per_lgr", max_links_per_lgr, SYSCTL_ONE, SYSCTL_TWO),
	SMC_INT("smcr_max_conns_per_lgr", max_conns_per_lgr, &smc_conns_min, &smc_conns_max),
	SMC_UINT("smcr_max_send_wr", max_send_wr, &smc_wr_min, &smc_wr_max),
	SMC_UINT("smcr_max_recv_wr", max_recv_wr, &smc_wr_min, &smc_wr_max),
	SMC_SYSCTL("limit_smc_hs", limit_smc_hs, proc_dou8vec_minmax, SYSCTL_ZERO, SYSCTL_ONE),
};

/* the others are 0 */
static void smc_sysctl_defaults(struct smc_net *sn)
{
	sn->autocorking_size = SMC_BUF_DEFAULT;
	sn->testlink_time = 30;
	sn->wmem = SMC_BUF_DEFAULT;
	sn->rmem = SMC_BUF_DEFAULT;
	sn->max_links_per_lgr = 2;
	sn->max_conns_per_lgr = 255;
	sn->max_send_wr = 64;
	sn->max_recv_wr = 128;
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
	return 0;
}

/**
 * smc_sysctl_net_exit() - remove the table of a namespace
 * @net: namespace
 */
void smc_sysctl_net_exit(struct net *net)
{
	struct ctl_table_header *hdr = smc_net(net)->ctl_hdr;
	const struct ctl_table *table;

	if (!hdr)
		return;
	table = hdr->ctl_table_arg;
	unregister_net_sysctl_table(hdr);
	kfree(table);
}
