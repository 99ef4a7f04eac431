// SPDX-License-Identifier: GPL-2.0
/*
 * Module init and exit, and the life of the per-namespace state (side room).
 *
 * The steps are one table, walked forward at load and back on error and at
 * unload: the user visible families come last and go first, and the static key
 * of the TCP option is on before the first socket can exist.
 */
#include <linux/module.h>
#include <linux/tcp.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <net/tcp.h>
#include <uapi/linux/smc.h>

#include "smc_af.h"
#include "smc_data.h"
#include "smc_net.h"
#include "smc_pnet.h"
#include "smc_smcr.h"
#include "smc_stats.h"

static int __net_init smc_net_ns_init(struct net *net)
{
	struct smc_net *sn = smc_net(net);
	int rc;

	spin_lock_init(&sn->sk_lock);
	INIT_HLIST_HEAD(&sn->sk_list);

	rc = smc_stats_net_init(net);
	if (rc)
		return rc;
	smc_pnet_table_init(sn);
	rc = smc_sysctl_net_init(net);
	if (rc)
		smc_stats_net_exit(net);
	return rc;
}

/* Link groups first: they count, and idle ones may still be there. */
static void __net_exit smc_net_ns_exit(struct net *net)
{
	smcr_net_exit(net);
	smc_sysctl_net_exit(net);
	smc_pnet_table_del(smc_net(net), NULL, NULL);
	smc_stats_net_exit(net);
}

static struct pernet_operations smc_net_ops = {
	.init = smc_net_ns_init,
	.exit = smc_net_ns_exit,
	.id = &smc_net_id,
	.size = sizeof(struct smc_net),
};

static int __init smc_pernet_init(void)
{
	return register_pernet_subsys(&smc_net_ops);
}

static void smc_pernet_exit(void)
{
	unregister_pernet_subsys(&smc_net_ops);
}

static int __init smc_option_init(void)
{
	static_branch_enable(&tcp_have_smc);
	return 0;
}

static void smc_option_exit(void)
{
	static_branch_disable(&tcp_have_smc);
}

struct smc_step {
	const char *name;
	int (*init)(void);
	void (*exit)(void);
};

static const struct smc_step smc_steps[] = {
	{ "namespaces",		smc_pernet_init,	smc_pernet_exit },
	{ "PNET table",		smc_pnet_init,		smc_pnet_exit },
	{ "workqueues",		smc_wq_init,		smc_wq_exit },
	{ "SMC-R",		smcr_init,		smcr_exit },
	{ "netlink",		smc_netlink_init,	smc_netlink_exit },
	{ "PNET netlink",	smc_nl_pnet_init,	smc_nl_pnet_exit },
	{ "TCP option",		smc_option_init,	smc_option_exit },
	{ "families",		smc_af_init,		smc_af_exit },
};

static void smc_steps_back(unsigned int done)
{
	while (done--)
		smc_steps[done].exit();
	rcu_barrier();	/* sockets and members are freed by RCU callbacks */
}

static int __init smc_module_init(void)
{
	unsigned int i;
	int rc;

	for (i = 0; i < ARRAY_SIZE(smc_steps); i++) {
		rc = smc_steps[i].init();
		if (rc) {
			pr_err("smc: load failed at step %s: %pe\n",
			       smc_steps[i].name, ERR_PTR(rc));
			smc_steps_back(i);
			return rc;
		}
	}
	return 0;
}

static void __exit smc_module_exit(void)
{
	smc_steps_back(ARRAY_SIZE(smc_steps));
}

module_init(smc_module_init);
module_exit(smc_module_exit);

MODULE_DESCRIPTION("Shared memory communications: sockets over RDMA");
MODULE_LICENSE("GPL");
MODULE_ALIAS_GENL_FAMILY(SMC_GENL_FAMILY_NAME);
MODULE_ALIAS_GENL_FAMILY(SMCR_GENL_FAMILY_NAME);
