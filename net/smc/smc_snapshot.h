/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies of link group and link state for netlink and sock_diag: plain values
 * taken under the owner's locks, resumable by the group id.
 */
#ifndef SMC_SNAPSHOT_H
#define SMC_SNAPSHOT_H

#include <linux/types.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>

struct smc_member;

#define SMC_SNAP_LINKS	3

struct smc_link_snap {
	u8 link_id;
	u32 state;			/* 2 activating, 3 active */
	u32 conns;
	u8 port;
	u32 ifindex;
	char ibname[IB_DEVICE_NAME_MAX];
	u8 link_uid[4];
	u8 peer_uid[4];
	u8 gid[16];
	u8 peer_gid[16];
};

struct smc_lgr_snap {
	u32 id;
	u32 conns;
	u8 role;
	u8 type;
	u8 buf_type;
	u8 version;
	u8 release;
	u16 vlan;
	u64 net_cookie;
	u8 pnetid[16];
	u64 sndbuf_bytes;
	u64 rmb_bytes;
	u8 peer_os;
	char host[33];
	u8 eid[32];
	bool direct;
	u8 max_conns;
	u8 max_links;
	unsigned int nlinks;
	struct smc_link_snap link[SMC_SNAP_LINKS];
};

/* SMC-R group with the smallest id > @after that @net may see (initial
 * namespace: all); false at the end
 */
bool smcr_snap_next(const struct net *net, u32 after, struct smc_lgr_snap *snap);

/* link of a member, for sock_diag; false if it has none. Any context with BH
 * allowed
 */
bool smcr_snap_member(struct smc_member *m, u8 *role, struct smc_link_snap *link);

/* id and generation that changes with the set of groups */
u32 smcr_snap_generation(void);

#endif /* SMC_SNAPSHOT_H */
