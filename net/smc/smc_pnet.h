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

enum smc_pnet_which {
	SMC_PNET_ROW_ETH	= 1,
	SMC_PNET_ROW_IB		= 2,
};

struct smc_net;

/* smc_pnet.c: ids of devices, rules of ADD and DEL, bindings */
int smc_pnet_init(void);
void smc_pnet_exit(void);
void smc_pnet_set_ib(void (*changed)(void),
		     bool (*taken)(const char *name, u8 port));
bool smc_pnet_of_netdev(struct net_device *ndev, u8 id[SMC_PNETID_BYTES]);
bool smc_pnet_of_ibport(struct ib_device *ibdev, u8 port,
			u8 id[SMC_PNETID_BYTES], bool *user);
struct net_device *smc_pnet_base_rcu(struct net_device *ndev);
int smc_pnet_add(struct net *net, struct smc_pnet_entry *e,
		 struct netlink_ext_ack *extack);
unsigned int smc_pnet_del(struct net *net, const u8 *id);

/* smc_pnet_table.c: ids, and the table of one namespace, apart from devices */
bool smc_pnet_equal(const u8 a[SMC_PNETID_BYTES], const u8 b[SMC_PNETID_BYTES]);
int smc_pnet_parse_id(const char *str, size_t len, u8 id[SMC_PNETID_BYTES]);
void smc_pnet_id_text(const u8 id[SMC_PNETID_BYTES],
		      char text[SMC_PNETID_BYTES + 1]);
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

#endif /* SMC_PNET_H */
