/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The PNET table of one namespace, apart from devices: for smc_pnet.c and its
 * KUnit suite.
 */
#ifndef SMC_PNET_TABLE_H
#define SMC_PNET_TABLE_H

#include "smc_pnet.h"

struct smc_net;

enum smc_pnet_which {
	SMC_PNET_ROW_ETH	= 1,
	SMC_PNET_ROW_IB		= 2,
};

void smc_pnet_table_init(struct smc_net *sn);
int smc_pnet_table_add(struct smc_net *sn, const struct smc_pnet_entry *e,
		       unsigned int which, int ifindex);
unsigned int smc_pnet_table_del(struct smc_net *sn, const u8 *id,
				unsigned int *which);
bool smc_pnet_table_get(struct smc_net *sn, const u8 *id, unsigned int idx,
			struct smc_pnet_entry *e);
bool smc_pnet_table_netdev(struct smc_net *sn, int ifindex,
			   u8 id[SMC_PNETID_BYTES]);
bool smc_pnet_table_ibport(struct smc_net *sn, const char *name,
			   const char *parent, u8 port,
			   u8 id[SMC_PNETID_BYTES]);
void smc_pnet_table_bind(struct smc_net *sn, int ifindex, const char *name);
void smc_pnet_table_unbind(struct smc_net *sn, int ifindex);
void smc_pnet_table_ib_renamed(struct smc_net *sn, const char *from,
			       const char *to);

#endif /* SMC_PNET_TABLE_H */
