/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SMC-R services for the handshake (layer 4): groups, buffers, links and LLC
 * steps of connection setup. All calls: process context, may sleep, no socket
 * lock needed; errors are negative errno, the handshake maps them to reasons.
 * No function holds a lock that other peers need while it waits for the
 * network.
 */
#ifndef SMC_SMCR_H
#define SMC_SMCR_H

#include "smc_clc_msg.h"
#include "smc_ib.h"
#include "smc_transport.h"

#define SMC_MAX_LINKS_SUPPORTED	1	/* links per group we bring up */

enum smc_role {
	SMC_CLIENT,		/* values as SMC_NLA_LGR_R_ROLE */
	SMC_SERVER,
};

/**
 * struct smcr_want - the group a connection needs
 * @net: namespace of the socket
 * @role: own role
 * @version: 1 or 2
 * @release: negotiated release (0 for v1)
 * @vlan: VLAN id or 0
 * @peer_id: peer system id
 * @peer_gid: GID of the peer's link
 * @peer_mac: MAC of the peer (v1 match)
 * @peer_qpn: client: QP number of the Accept, part of the match; else 0
 * @eid: negotiated EID (v2)
 * @choice: port and GID for a new group
 * @saddr: own IPv4 address (v2)
 * @max_conns: negotiated limits, 255 / 2 where nothing was negotiated
 * @max_links:
 */
struct smcr_want {
	struct net *net;
	enum smc_role role;
	u8 version;
	u8 release;
	u16 vlan;
	u8 peer_id[SMC_CLC_PEERID_LEN];
	u8 peer_gid[16];
	u8 peer_mac[ETH_ALEN];
	u32 peer_qpn;
	u8 eid[SMC_CLC_EID_LEN];
	const struct smc_ib_choice *choice;
	__be32 saddr;
	u8 max_conns;
	u8 max_links;
};

/* what may smcr_join() do */
#define SMCR_JOIN_REUSE		BIT(0)	/* an existing group will do */
#define SMCR_JOIN_CREATE	BIT(1)	/* a new group may be made */

/* Find or make the group and register the member (token assigned, link
 * chosen). @first: true if a new group was made: the caller is its creator and
 * must end with smcr_established() or smcr_abort(). Waits @patience (jiffies)
 * for a matching group that another handshake is creating, and as long for the
 * next ones together.
 * -ENOENT: no match and no SMCR_JOIN_CREATE; -ENOLINK: group without active
 * link; -ENOMEM; -ENODEV: device leaving; others: internal.
 */
int smcr_join(struct smc_member *m, struct smcr_want *want, unsigned int how,
	      unsigned long patience, bool *first);

/* both rings, sizes in bytes as wished (SO_SNDBUF / 2 ..); rounded up to a
 * class, smaller on shortage. Sets snd_ring .. rcv_size. -ENOMEM
 */
int smcr_get_buffers(struct smc_member *m, u32 snd_wish, u32 rcv_wish);

/* reuse of a group: RMB registered on all links and confirmed to the peer
 * (skipped while it still is from its last user). -EIO, -ETIMEDOUT, -ENOMEM..
 */
int smcr_announce_rmb(struct smc_member *m, unsigned long deadline);

/* own parts of Accept or Confirm: peer_id, gid, mac, qpn, rkey, rmbe_idx,
 * token, size code, mtu, rmb_addr, psn
 */
void smcr_fill_clc(struct smc_member *m, struct smc_clc_ac *ac);

/* peer's end: token, ring size and offset, rkey. -ENOSPC: table full */
int smcr_set_peer(struct smc_member *m, const struct smc_clc_ac *ac);

/**
 * struct smcr_peer_link - peer's end of the first link
 * @gid: GID
 * @mac: where frames go: peer or next hop
 * @gateway: there is a gateway between
 * @qpn: queue pair
 * @psn: initial PSN
 * @mtu: IB MTU enum of the peer
 */
struct smcr_peer_link {
	u8 gid[16];
	u8 mac[ETH_ALEN];	/* where frames go: peer or next hop */
	bool gateway;
	u32 qpn;
	u32 psn;
	u8 mtu;
};

/* first contact, creator only; in this order. */
/* QP to RTR with receives posted; server: also RTS and own buffers registered */
int smcr_link_ready(struct smc_member *m, const struct smcr_peer_link *peer);
/* LLC CONFIRM LINK (client: expectation is armed in smcr_link_ready, i.e.
 * before the CLC Confirm goes out), then the ADD LINK step. -ETIMEDOUT: no
 * CONFIRM LINK in time; -EPROTO: peer wants eyecatchers; -ENOLINK ..
 */
int smcr_confirm_link(struct smc_member *m);
/* group is usable by others from now on, waiters are woken */
void smcr_established(struct smc_member *m);

/* undo of everything: the member leaves; a group in creation is terminated
 * (DELETE LINK ALL if the peer may know it). Call before the Decline is sent.
 */
void smcr_abort(struct smc_member *m);

/* peer lost the group of @m (Decline with the out-of-sync bit on a connection
 * for which we sent an Accept without first contact): no new connections; the
 * group is tested and ended if the peer does not answer
 */
void smcr_out_of_sync(struct smc_member *m);

int smcr_init(void);
void smcr_exit(void);		/* ends all groups, waits for them */
void smcr_net_exit(struct net *net);	/* ends groups of a namespace */

#endif /* SMC_SMCR_H */
