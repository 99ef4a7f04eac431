/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Links and the SMC-R part of a link group (layer 4).
 */
#ifndef SMC_LINK_H
#define SMC_LINK_H

#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>

#include "smc_buf.h"
#include "smc_ib.h"
#include "smc_lgr.h"
#include "smc_llc.h"
#include "smc_rtoken.h"
#include "smc_smcr.h"
#include "smc_snapshot.h"
#include "smc_wr.h"

#define SMC_LINKS	SMC_SNAP_LINKS	/* slots of a group */

/* values are visible in netlink */
enum smc_link_state {
	SMC_LINK_UNUSED,	/* not set up, or cleared */
	SMC_LINK_INACTIVE,	/* going down */
	SMC_LINK_ACTIVATING,	/* made, not confirmed */
	SMC_LINK_ACTIVE,	/* confirmed */
	SMC_LINK_STATES
};

struct smcr_lgr;

/**
 * struct smc_link - one RC connection of a group
 * @lgr: group, reference
 * @refs: one for the slot in the group, one per member
 * @rcu: readers find links in members
 * @idx: slot in the group, column in the tables of keys
 * @id: link number on the wire, 0 until the client knows it
 * @state: enum smc_link_state, under the group's lock, smc_link_set_state()
 * @lost: the failure was reported
 * @silent: the peer does not hear us any more: nothing is sent at the end
 * @uid: link user id as sent
 * @peer_uid: as received
 * @port: device port; its memory is held
 * @sgid: own GID, held until the link is cleared
 * @gid: own GID
 * @mac: own MAC
 * @gateway: the peer is behind a gateway
 * @qpn: own queue pair
 * @psn: own initial PSN
 * @mtu: path MTU, of the own port until the peer's is known
 * @peer_gid: peer
 * @hop_mac: where frames go
 * @peer_qpn: peer's queue pair, 0 unknown
 * @peer_psn: its initial PSN
 * @conns: members on it
 * @qp_lock: serialises the steps of the queue pair against its end
 * @wr: engine
 * @llc: LLC part
 */
struct smc_link {
	struct smcr_lgr *lgr;
	refcount_t refs;
	struct rcu_head rcu;
	u8 idx;
	u8 id;
	u8 state;
	unsigned long lost;
	bool silent;
	u8 uid[4];
	u8 peer_uid[4];
	struct smc_ib_port *port;
	const struct ib_gid_attr *sgid;
	u8 gid[16];
	u8 mac[ETH_ALEN];
	bool gateway;
	u32 qpn;
	u32 psn;
	u8 mtu;
	u8 peer_gid[16];
	u8 hop_mac[ETH_ALEN];
	u32 peer_qpn;
	u32 peer_psn;
	atomic_t conns;
	struct mutex qp_lock;		/* steps of the queue pair */
	struct smc_wr wr;
	struct smc_llc_link llc;
};

/**
 * struct smcr_lgr - SMC-R link group
 * @base: common part; its lock covers @link and @offered
 * @role: enum smc_role
 * @version: 1 or 2
 * @release: of version 2
 * @vlan: VLAN id or 0
 * @peer_id: peer system
 * @eid: negotiated (v2)
 * @host: peer's name
 * @peer_os: SMC_CLC_OS_*
 * @saddr: own IPv4 address (v2)
 * @max_conns: negotiated; the server keeps to it
 * @max_links: negotiated
 * @first_gid: peer GID of the first link, known before there is a link
 * @first_mac: its MAC
 * @first_qpn: client: its queue pair
 * @buf_type: enum smc_buf_type
 * @pnetid: of the first link's port
 * @test_interval: jiffies, 0 off
 * @max_send: send slots per link
 * @max_recv: receives per link
 * @last_link_id: last link number given out (server)
 * @end_reason: reason of the DELETE LINK that ends the group
 * @hurry: peer or device is going: DELETE LINK ALL gets little time
 * @deleted: it has left
 * @slow: its creation takes long: no other handshake waits for it
 * @offered: link number of an ADD LINK of ours without answer, 0 none
 * @link: links
 * @llc: LLC
 * @confirm: expectation of the first CONFIRM LINK, creator only
 * @bufs: rings
 * @rtokens: keys of the peer
 * @buf_work: takes doomed and surplus buffers back from the peer
 * @shrink: idle buffers to be given up
 */
struct smcr_lgr {
	struct smc_lgr base;
	u8 role;
	u8 version;
	u8 release;
	u16 vlan;
	u8 peer_id[SMC_CLC_PEERID_LEN];
	u8 eid[SMC_CLC_EID_LEN];
	u8 host[SMC_CLC_HOST_LEN];
	u8 peer_os;
	__be32 saddr;
	u8 max_conns;
	u8 max_links;
	u8 first_gid[16];
	u8 first_mac[ETH_ALEN];
	u32 first_qpn;
	u8 buf_type;
	u8 pnetid[SMC_PNET_LEN];
	unsigned long test_interval;
	u16 max_send;
	u16 max_recv;
	u8 last_link_id;
	u32 end_reason;
	bool hurry;
	bool slow;
	struct completion deleted;
	u8 offered;
	struct smc_link *link[SMC_LINKS];
	struct smc_llc_ctl llc;
	struct smc_llc_wait confirm;
	struct smcr_bufs bufs;
	struct smc_rtokens rtokens;
	struct work_struct buf_work;
	atomic_t shrink;
};

static inline struct smcr_lgr *smcr_lgr_of(struct smc_lgr *lgr)
{
	return container_of(lgr, struct smcr_lgr, base);
}

static inline struct smcr_lgr *smcr_of_member(const struct smc_member *m)
{
	return smcr_lgr_of(m->lgr);
}

/* the link of a member whose membership the caller keeps */
static inline struct smc_link *smcr_member_link(const struct smc_member *m)
{
	return rcu_dereference_protected(m->r.link, true);
}

static inline bool smc_link_usable(const struct smc_link *link)
{
	return READ_ONCE(link->state) >= SMC_LINK_ACTIVATING;
}

/* smc_link.c */
struct smc_link *smc_link_create(struct smcr_lgr *lgr,
				 const struct smc_ib_choice *choice,
				 const struct smc_wr_ops *ops);
void smc_link_put(struct smc_link *link);
struct smc_link *smc_link_get_first(struct smcr_lgr *lgr);
bool smc_link_state_ok(u8 from, u8 to);
bool smc_link_set_state(struct smc_link *link, u8 state);
bool smcr_lgr_kill(struct smcr_lgr *lgr, int err, u32 reason);
bool smc_link_offer_ends(struct smcr_lgr *lgr, u8 id);
u8 smc_link_new_id(struct smcr_lgr *lgr);
void smc_link_set_id(struct smc_link *link, u8 id);
int smc_link_set_peer(struct smc_link *link, const struct smcr_peer_link *peer);
int smc_link_to_rtr(struct smc_link *link);
int smc_link_to_rts(struct smc_link *link);
void smc_link_halt(struct smc_link *link);
void smc_link_clear(struct smc_link *link);
void smc_link_snap(const struct smc_link *link, struct smc_link_snap *snap);

/* smc_link_add.c */
int smc_link_expect_confirm(struct smc_link *link);
int smc_link_confirm_server(struct smc_link *link);
int smc_link_confirm_client(struct smc_link *link,
			    int (*ready)(struct smc_link *link, void *arg),
			    void *arg);
void smc_link_rx_add(struct smc_link *link, const struct smc_llc *msg);
void smc_link_rx_req_add(struct smc_link *link, const struct smc_llc *msg);

/* smc_link_del.c */
void smc_link_lost(struct smc_link *link, int err);
void smc_link_rx_delete(struct smc_link *link, const struct smc_llc *msg);
void smcr_lgr_end(struct smc_lgr *base);
int smcr_send_delete(struct smc_link *link, u8 id, u32 reason, bool orderly);

/* smc_llc_serve.c */
extern const struct smc_llc_ops smcr_llc_ops;

/* smc_smcr.c */
extern const struct smc_wr_ops smcr_wr_ops;

/* smc_smcr_lgr.c */
struct smcr_lgr *smcr_lgr_new(const struct smcr_want *want);
int smcr_lgr_match(struct smc_lgr *base, const struct smcr_want *want,
		   struct smc_member *m);
void smcr_member_set_link(struct smc_member *m, struct smc_link *link);
void smcr_member_clear_link(struct smc_member *m);
u32 smcr_lgr_key(const u8 peer_id[SMC_CLC_PEERID_LEN]);

#endif /* SMC_LINK_H */
