/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic netlink families SMC_GEN_NETLINK and SMC_PNETID (side room): take
 * snapshots of any room, no lock of a room; no room calls them.
 */
#ifndef SMC_NETLINK_H
#define SMC_NETLINK_H

int smc_netlink_init(void);
void smc_netlink_exit(void);

/* smc_nl_pnet.c */
int smc_nl_pnet_init(void);
void smc_nl_pnet_exit(void);

#endif /* SMC_NETLINK_H */
