/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PNET table (layer 0): net device, RDMA device + port -> PNET id. Knows names
 * and net devices, no device structs of ours: devices ask it. Per namespace;
 * RDMA entries in the initial namespace only.
 */
#ifndef SMC_PNET_H
#define SMC_PNET_H

#include <linux/netdevice.h>
#include <linux/types.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>

struct netlink_ext_ack;

#define SMC_PNETID_BYTES	16	/* blank padded, not NUL terminated */
#define SMC_PNET_MAX_PORT	2

/**
 * struct smc_pnet_entry - one row, as shown and as asked for
 * @pnetid: blank padded
 * @ndev: interface name, empty if none
 * @ibdev: RDMA (or DIBS) device name, or that of its parent; empty if none
 * @ibport: 1-based, 0 if no @ibdev
 *
 * A row of the table has either @ndev or @ibdev. smc_pnet_add() takes both at
 * once and makes two rows.
 */
struct smc_pnet_entry {
	u8 pnetid[SMC_PNETID_BYTES];
	char ndev[IFNAMSIZ];
	char ibdev[IB_DEVICE_NAME_MAX];
	u8 ibport;
};

int smc_pnet_init(void (*changed)(void));	/* @changed: RDMA rows changed */
void smc_pnet_exit(void);
int smc_pnet_net_init(struct net *net);
void smc_pnet_net_exit(struct net *net);

/* asked before an RDMA row is added: has a device port of that name an id? */
void smc_pnet_set_taken(bool (*taken)(const char *name, u8 port));

/* true and 16 bytes if there is an id */
bool smc_pnet_of_netdev(struct net_device *ndev, u8 id[SMC_PNETID_BYTES]);
bool smc_pnet_of_ibport(struct ib_device *ibdev, u8 port,
			u8 id[SMC_PNETID_BYTES], bool *user);
bool smc_pnet_equal(const u8 a[SMC_PNETID_BYTES], const u8 b[SMC_PNETID_BYTES]);
void smc_pnet_ib_renamed(const char *from, const char *to);

/* bottom of the stack below @ndev; RCU read side */
struct net_device *smc_pnet_base_rcu(struct net_device *ndev);

/* table access for netlink, process context */
int smc_pnet_parse_id(const char *str, size_t len, u8 id[SMC_PNETID_BYTES]);
void smc_pnet_id_text(const u8 id[SMC_PNETID_BYTES],
		      char text[SMC_PNETID_BYTES + 1]);
int smc_pnet_add(struct net *net, const struct smc_pnet_entry *e,
		 struct netlink_ext_ack *extack);
int smc_pnet_del(struct net *net, const u8 id[SMC_PNETID_BYTES]);
int smc_pnet_flush(struct net *net);
/* row number @idx (optionally only rows of @id); false at the end */
bool smc_pnet_get(struct net *net, const u8 *id, unsigned int idx,
		  struct smc_pnet_entry *e);

#endif /* SMC_PNET_H */
