/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RDMA devices (layer 1): ib_client, ports, events, removal, the system's
 * peer id.
 *
 * A struct smc_ib_dev lives from the client's add to the end of its remove
 * plus the last reference. Link groups count their links with
 * smc_ib_dev_get()/put(); remove tells layer 4 through struct smc_dev_ops,
 * then waits until the last link is gone (bounded: layer 4 never waits for an
 * application).
 */
#ifndef SMC_IB_H
#define SMC_IB_H

#include <linux/if_ether.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>

#define SMC_IB_MAX_PORTS	2
#define SMC_PNET_LEN		16	/* not NUL terminated, blank or NUL padded */

struct smc_ib_dev;

/* Values of the last query change under the mutex of smc_ib.c and are read
 * without it.
 */
struct smc_ib_port {
	struct smc_ib_dev *dev;
	u8 num;				/* 1-based */
	bool valid;			/* a RoCE port; constant */
	bool known;			/* has been queried */
	bool active;			/* IB_PORT_ACTIVE at last query */
	bool leaving;			/* not chosen any more */
	u8 mac[ETH_ALEN];		/* L2 address of GID index 0 */
	enum ib_mtu mtu;		/* active MTU at last query */
	int ifindex;			/* of the port's net device, 0 none */
	u8 pnetid[SMC_PNET_LEN];	/* all zero: none */
	bool pnetid_user;		/* set by an administrator */
	atomic_t links;			/* links on the port */
};

struct smc_ib_dev {
	struct list_head node;		/* smc_ib list, under its mutex */
	struct ib_device *ibdev;	/* valid while links is held */
	u32 max_reg_pages;		/* of ibdev, constant: pages of an MR, */
	u64 page_sizes;			/* bitmap of page sizes */
	char name[IB_DEVICE_NAME_MAX];	/* to notice a rename */
	refcount_t refs;		/* memory */
	atomic_t links;			/* links and short users of ibdev */
	wait_queue_head_t links_gone;
	bool leaving;
	u8 nports;
	unsigned long port_event_mask;	/* pending events, smc_ib.c */
	struct work_struct event_work;
	struct ib_event_handler event_handler;
	struct smc_ib_port port[SMC_IB_MAX_PORTS];
};

/**
 * struct smc_dev_ops - what layer 4 wants to know; process context, may sleep
 * @port_up: port became active
 * @port_down: port or device error, or the port is going away
 * @gid_change: the GID table of the port changed
 * @dev_leaving: device is removed: links on it must go, without waiting for
 *	an application; returns when their teardown is under way
 */
struct smc_dev_ops {
	void (*port_up)(struct smc_ib_port *port);
	void (*port_down)(struct smc_ib_port *port);
	void (*gid_change)(struct smc_ib_port *port);
	void (*dev_leaving)(struct smc_ib_dev *dev);
};

int smc_ib_init(const struct smc_dev_ops *ops);	/* registers the ib_client */
void smc_ib_exit(void);

/* links hold the device: false if it is leaving */
bool smc_ib_link_get(struct smc_ib_port *port);
void smc_ib_link_put(struct smc_ib_port *port);
void smc_ib_dev_hold(struct smc_ib_dev *dev);	/* memory only */
void smc_ib_dev_put(struct smc_ib_dev *dev);

/* state, MTU, MAC, net device anew; caller uses the device */
int smc_ib_port_refresh(struct smc_ib_port *port);

/* 8 bytes: 2 random instance bytes + MAC of the first active port (else of any
 * port); false while there never was a port
 */
bool smc_ib_peer_id(u8 id[8]);

/**
 * struct smc_ib_choice - a port and GID picked for a connection
 * @port: the device's memory is held until smc_ib_choice_put(). The device is
 *	not: a handshake keeps its choice while it waits for the peer, and a
 *	device that leaves does not wait for that. smc_ib_choice_use() asks again
 * @gid: value of the GID
 * @index: place of the GID in the port's table
 * @v2: type of the GID: RoCE v2, else v1
 * @nexthop_mac: v2: MAC of the next hop to the wanted peer GID, if asked for
 * @gateway: v2: route to the peer GID has a gateway
 */
struct smc_ib_choice {
	struct smc_ib_port *port;
	union ib_gid gid;
	u8 index;
	bool v2;
	u8 nexthop_mac[ETH_ALEN];
	bool gateway;
};

/**
 * struct smc_ib_want - what a connection asks for
 * @net: namespace of the socket
 * @ndev: device of the TCP route (caller holds it)
 * @v2: RoCE v2 GID with an IPv4 address, else RoCE v1
 * @vlan: VLAN id or 0
 * @saddr: v2: local IPv4 address of the TCP connection
 * @peer_gid: v2, server: GID to be reached, or NULL
 */
struct smc_ib_want {
	struct net *net;
	struct net_device *ndev;
	bool v2;
	u16 vlan;
	__be32 saddr;
	const u8 *peer_gid;
};

/* finds device, port and GID (PNET id first, else by net device). 0, -ENODEV,
 * -EHOSTUNREACH (no route or neighbour to @peer_gid). Process context; may wait
 * a bounded time (< 1 s) for neighbour resolution.
 */
int smc_ib_choose(const struct smc_ib_want *want, struct smc_ib_choice *choice);
void smc_ib_choice_put(struct smc_ib_choice *choice);
/* a link begins: takes a use of the port (smc_ib_link_put()) and the GID
 * (rdma_put_gid_attr() before that). ERR_PTR(-ENODEV): device or GID is gone
 */
const struct ib_gid_attr *smc_ib_choice_use(const struct smc_ib_choice *choice);

/* smc_gid.c */
const struct ib_gid_attr *smc_gid_find(struct smc_ib_port *port, bool v2,
				       u16 vlan, __be32 saddr);
int smc_gid_route(struct net *net, __be32 saddr, const u8 peer_gid[16],
		  u8 nexthop_mac[ETH_ALEN], bool *gateway);
bool smc_gid_alive(struct smc_ib_port *port, const union ib_gid *gid, bool v2);
int smc_route_vlan(struct net_device *ndev, u16 *vlan);

/* netlink, PNET, choice: walk with the list mutex held by the callee; stop on
 * nonzero
 */
struct smc_ib_port *smc_ib_port_get(bool (*fits)(struct smc_ib_port *port,
						 void *arg),
				    void *arg, unsigned int n);
void smc_ib_port_put(struct smc_ib_port *port);
int smc_ib_for_each(int (*fn)(struct smc_ib_dev *dev, void *arg), void *arg);

#endif /* SMC_IB_H */
