/* SPDX-License-Identifier: GPL-2.0 */
/* net.smc.* (side room) */
#ifndef SMC_SYSCTL_H
#define SMC_SYSCTL_H

#include <net/net_namespace.h>

int smc_sysctl_net_init(struct net *net);
void smc_sysctl_net_exit(struct net *net);

#endif /* SMC_SYSCTL_H */
