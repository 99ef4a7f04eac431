/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The route device of a TCP connection and the subnet rule of SMC v1 (layer 1).
 */
#ifndef SMC_PREFIX_H
#define SMC_PREFIX_H

#include <linux/netdevice.h>

struct smc_clc_proposal;
struct sock;
struct socket;

struct net_device *smc_sock_route_dev(struct sock *tcpsk,
				      netdevice_tracker *tracker);
bool smc_sock_is_ipv4(const struct sock *tcpsk);
int smc_prefix_get(struct socket *tcp, struct smc_clc_proposal *p);
int smc_prefix_match(struct socket *tcp, const struct smc_clc_proposal *p);

#endif /* SMC_PREFIX_H */
