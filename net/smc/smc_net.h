/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Per-namespace state (layer 0), by net_generic. No logic: smc_main.c creates
 * and ends it by calling the owners of the fields.
 */
#ifndef SMC_NET_H
#define SMC_NET_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

struct smc_counters;
struct smc_fback_table;

struct smc_net {
	/* sysctls: READ_ONCE, defaults set before the table is visible */
	unsigned int autocorking_size;	/* bytes, 65536, 0 off */
	unsigned int smcr_buf_type;	/* 0 contiguous, 1 virtual, 2 mixed */
	int testlink_time;		/* seconds, 0 off, default 30 */
	int wmem;			/* bytes, default 65536 */
	int rmem;
	int max_links_per_lgr;		/* 1..2, default 2 */
	int max_conns_per_lgr;		/* 16..255, default 255 */
	unsigned int max_send_wr;	/* 2..2048, default 64 */
	unsigned int max_recv_wr;	/* 2..2048, default 128 */
	u8 limit_smc_hs;		/* 0 or 1 */
	struct ctl_table_header *ctl_hdr;

	/* sockets, for sock_diag */
	spinlock_t sk_lock;		/* BH; sk_list */
	struct hlist_head sk_list;	/* sk_node, all SMC sockets */
	u64 sk_gen;			/* under sk_lock, last smc_sock.diag_id */

	/* PNET table of smc_pnet.c */
	struct mutex pnet_lock;
	struct list_head pnet_list;

	struct smc_counters __percpu *counters;
	struct smc_fback_table *fback;	/* fallback reasons and counts */
};

extern unsigned int smc_net_id;

static inline struct smc_net *smc_net(const struct net *net)
{
	return net_generic(net, smc_net_id);
}

/* what smc_main.c calls of the side rooms */
int smc_sysctl_net_init(struct net *net);
void smc_sysctl_net_exit(struct net *net);
int smc_netlink_init(void);
void smc_netlink_exit(void);
int smc_nl_pnet_init(void);
void smc_nl_pnet_exit(void);

#endif /* SMC_NET_H */
