// SPDX-License-Identifier: GPL-2.0
/*
 * Members of link groups, what all transports have in common (layer 4).
 */
#include "smc_transport.h"

/**
 * smc_member_init() - set up a connection's membership, in no group
 * @m: zeroed memory
 * @ops: up-calls, all mandatory
 * @net: namespace of the socket, which keeps it
 *
 * Context: process.
 */
void smc_member_init(struct smc_member *m, const struct smc_member_ops *ops,
		     struct net *net)
{
	m->ops = ops;
	m->net = net;
	m->transport = &smcr_transport;
	spin_lock_init(&m->tx_lock);
	INIT_LIST_HEAD(&m->lgr_node);
	smcr_member_init(m);
}
