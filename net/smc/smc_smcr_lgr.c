// SPDX-License-Identifier: GPL-2.0
/*
 * SMC-R link groups (layer 4): creation, which group fits a connection, link
 * of a member, snapshots.
 */
#include <linux/export.h>
#include <linux/jhash.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "smc_core.h"
#include "smc_link.h"
#include "smc_mr.h"
#include "smc_net.h"
#include "smc_stats.h"

/* the client waits longer, so that in general the server ends a group */
#define SMC_IDLE_SERVER	(600 * HZ)
#define SMC_IDLE_CLIENT	(610 * HZ)

/* last reference is gone: no links, no members, works disabled */
static void smcr_lgr_free(struct smc_lgr *base)
{
	struct smcr_lgr *lgr = smcr_lgr_of(base);

	/* what members gave back after the end */
	smc_mr_free_all(lgr);
	smc_llc_free(&lgr->llc);
	smc_lgr_uninit(base);
	smc_core_del(base);
	kvfree_rcu(lgr, base.rcu);
}

static const struct smc_lgr_ops smcr_lgr_ops = {
	.end = smcr_lgr_end,
	.free = smcr_lgr_free,
};

static unsigned long smcr_test_interval(const struct smc_net *sn)
{
	int seconds = READ_ONCE(sn->testlink_time);

	if (seconds <= 0)
		return 0;
	return min_t(u64, (u64)seconds * HZ, MAX_JIFFY_OFFSET);
}

/* what the peer and the handshake have fixed */
static void smcr_lgr_fill(struct smcr_lgr *lgr, const struct smcr_want *want)
{
	lgr->role = want->role;
	lgr->version = want->version;
	lgr->release = want->release;
	lgr->vlan = want->vlan;
	memcpy(lgr->peer_id, want->peer_id, sizeof(lgr->peer_id));
	memcpy(lgr->eid, want->eid, sizeof(lgr->eid));
	lgr->saddr = want->saddr;
	lgr->max_conns = want->max_conns;
	lgr->max_links = want->max_links;
	memcpy(lgr->first_gid, want->peer_gid, sizeof(lgr->first_gid));
	memcpy(lgr->first_mac, want->peer_mac, sizeof(lgr->first_mac));
	lgr->first_qpn = want->peer_qpn;
	memcpy(lgr->pnetid, want->choice->port->pnetid, sizeof(lgr->pnetid));
}

/* what the device can register, a buffer has to stay within */
static void smcr_lgr_limit_bufs(struct smcr_lgr *lgr,
				const struct smc_ib_dev *dev)
{
	size_t virt = (size_t)dev->max_reg_pages << PAGE_SHIFT;
	u64 large = dev->page_sizes;

	/* contiguous memory may use the device's largest pages */
	large = large ? min_t(u64, rounddown_pow_of_two(large), SZ_1G) :
			PAGE_SIZE;
	smcr_bufs_limit(&lgr->bufs, max_t(u64, virt, large), virt);
}

/**
 * smcr_lgr_new() - make a group in state CREATING
 * @want: what the connection needs; nothing of it is taken over
 *
 * Context: process.
 *
 * Return: group with the reference for its life, known to nobody; NULL without
 * memory
 */
struct smcr_lgr *smcr_lgr_new(const struct smcr_want *want)
{
	const struct smc_net *sn = smc_net(want->net);
	bool server = want->role == SMC_SERVER;
	struct smcr_lgr *lgr;

	lgr = kvzalloc_obj(*lgr);
	if (!lgr)
		return NULL;
	smcr_lgr_fill(lgr, want);
	lgr->buf_type = min(READ_ONCE(sn->smcr_buf_type), SMC_BUF_MIXED);
	lgr->test_interval = smcr_test_interval(sn);
	lgr->max_send = READ_ONCE(sn->max_send_wr);
	lgr->max_recv = READ_ONCE(sn->max_recv_wr);
	lgr->base.idle_time = server ? SMC_IDLE_SERVER : SMC_IDLE_CLIENT;
	/* how many fit, the server decides; a key per member is the end */
	lgr->base.max_members = server ? want->max_conns : SMC_RTOKENS;
	smc_lgr_init(&lgr->base, &smcr_lgr_ops, want->net);
	init_completion(&lgr->deleted);
	smcr_bufs_init(&lgr->bufs, lgr->buf_type);
	smcr_lgr_limit_bufs(lgr, want->choice->port->dev);
	smc_rtokens_init(&lgr->rtokens);
	INIT_WORK(&lgr->buf_work, smc_mr_reclaim_work);
	if (smc_llc_init(&lgr->llc, &smcr_llc_ops, want->net, lgr->base.id,
			 want->version)) {
		kvfree(lgr);
		return NULL;
	}
	return lgr;
}

/**
 * smcr_lgr_key() - hash key of a peer's groups
 * @peer_id: peer system id
 *
 * Return: key for the registry
 */
u32 smcr_lgr_key(const u8 peer_id[SMC_CLC_PEERID_LEN])
{
	return jhash(peer_id, SMC_CLC_PEERID_LEN, 0);
}

/* A server takes care that connections of one group are alike in all that was
 * negotiated. A client follows the server: it must not refuse a reuse for
 * reasons of its own.
 */
static bool smcr_match_alike(const struct smcr_lgr *lgr,
			     const struct smcr_want *want)
{
	if (lgr->role != want->role || lgr->vlan != want->vlan ||
	    memcmp(lgr->peer_id, want->peer_id, sizeof(lgr->peer_id)))
		return false;
	if (want->role == SMC_CLIENT)
		return true;
	return lgr->base.net == want->net && lgr->version == want->version &&
	       !memcmp(lgr->eid, want->eid, sizeof(lgr->eid));
}

static bool smcr_match_peer(const struct smcr_lgr *lgr,
			    const struct smcr_want *want)
{
	if (memcmp(lgr->first_gid, want->peer_gid, sizeof(lgr->first_gid)))
		return false;
	if (want->version < 2 &&
	    !ether_addr_equal(lgr->first_mac, want->peer_mac))
		return false;
	return want->role == SMC_SERVER || lgr->first_qpn == want->peer_qpn;
}

static int smcr_match_join(struct smcr_lgr *lgr, const struct smcr_want *want,
			   struct smc_member *m)
{
	struct smc_link *link = lgr->link[0];

	lockdep_assert_held(&lgr->base.lock);
	if (!link || link->state != SMC_LINK_ACTIVE ||
	    READ_ONCE(link->port->leaving))
		return SMC_MATCH_NO;
	/* groups of another namespace only where the device is shared */
	if (!rdma_dev_access_netns(link->port->dev->ibdev, want->net))
		return SMC_MATCH_NO;
	if (want->role == SMC_SERVER &&
	    (want->version > 1 && link->gateway != want->choice->gateway))
		return SMC_MATCH_NO;
	if (__smc_lgr_join(&lgr->base, m))
		return SMC_MATCH_NO;
	smcr_member_set_link(m, link);
	return SMC_MATCH_TAKEN;
}

/**
 * smcr_lgr_match() - does a group fit a connection, and if so, join it
 * @base: group
 * @want: what the connection needs
 * @m: its member
 *
 * CLC document, section 6; RFC 7609, 4.3. Context: registry's lock held.
 *
 * Return: enum smc_core_match
 */
int smcr_lgr_match(struct smc_lgr *base, const struct smcr_want *want,
		   struct smc_member *m)
{
	struct smcr_lgr *lgr = smcr_lgr_of(base);
	int rc = SMC_MATCH_NO;

	if (!smcr_match_alike(lgr, want) || !smcr_match_peer(lgr, want))
		return rc;
	if (want->role == SMC_SERVER && !smc_rtoken_room(&lgr->rtokens))
		return rc;
	spin_lock_bh(&base->lock);
	if (base->state == SMC_LGR_CREATING)
		rc = READ_ONCE(lgr->slow) ? SMC_MATCH_NO : SMC_MATCH_WAIT;
	else if (base->state == SMC_LGR_ACTIVE)
		rc = smcr_match_join(lgr, want, m);
	spin_unlock_bh(&base->lock);
	return rc;
}

/**
 * smcr_member_set_link() - put a member on a link
 * @m: member
 * @link: link of its group, kept by the caller
 *
 * Context: any.
 */
void smcr_member_set_link(struct smc_member *m, struct smc_link *link)
{
	refcount_inc(&link->refs);
	atomic_inc(&link->conns);
	rcu_assign_pointer(m->r.link, link);
}

/**
 * smcr_member_clear_link() - take a member off its link
 * @m: member, or one without link
 *
 * Context: process.
 */
void smcr_member_clear_link(struct smc_member *m)
{
	struct smc_link *link = smcr_member_link(m);

	if (!link)
		return;
	RCU_INIT_POINTER(m->r.link, NULL);
	atomic_dec(&link->conns);
	smc_link_put(link);
}

static void smcr_snap_lgr(struct smcr_lgr *lgr, struct smc_lgr_snap *snap)
{
	struct smc_lgr *base = &lgr->base;
	int i;

	memset(snap, 0, sizeof(*snap));
	snap->id = base->id;
	snap->role = lgr->role;
	snap->buf_type = lgr->buf_type;
	snap->version = lgr->version;
	snap->release = lgr->release;
	snap->vlan = lgr->vlan;
	snap->net_cookie = base->net_cookie;
	memcpy(snap->pnetid, lgr->pnetid, sizeof(snap->pnetid));
	snap->sndbuf_bytes = atomic64_read(&lgr->bufs.bytes[SMC_BUF_SND]);
	snap->rmb_bytes = atomic64_read(&lgr->bufs.bytes[SMC_BUF_RMB]);
	snap->peer_os = lgr->peer_os;
	memcpy(snap->host, lgr->host, sizeof(lgr->host));
	memcpy(snap->eid, lgr->eid, sizeof(snap->eid));
	snap->max_conns = lgr->max_conns;
	snap->max_links = lgr->max_links;

	spin_lock_bh(&base->lock);
	snap->conns = base->nmembers;
	for (i = 0; i < SMC_LINKS; i++) {
		struct smc_link *link = lgr->link[i];

		if (!link || !smc_link_usable(link))
			continue;
		snap->type += link->state == SMC_LINK_ACTIVE;
		snap->direct = !link->gateway;
		smc_link_snap(link, &snap->link[snap->nlinks++]);
	}
	spin_unlock_bh(&base->lock);
}

/**
 * smcr_snap_next() - copy the next group for users
 * @net: namespace of the asker; the initial one sees all groups
 * @after: id of the group before, 0 at the start
 * @snap: copy
 *
 * Groups that end are left out. Context: process.
 *
 * Return: false at the end
 */
bool smcr_snap_next(const struct net *net, u32 after, struct smc_lgr_snap *snap)
{
	struct smc_lgr *base;
	bool seen;

	while ((base = smc_core_next(after))) {
		after = base->id;
		seen = READ_ONCE(base->state) <= SMC_LGR_ACTIVE &&
		       (base->net == net || net_eq(net, &init_net));
		if (seen)
			smcr_snap_lgr(smcr_lgr_of(base), snap);
		smc_lgr_put(base);
		if (seen)
			return true;
	}
	return false;
}

/**
 * smcr_snap_member() - copy a member's link for users
 * @m: member; may leave meanwhile
 * @role: enum smc_role
 * @snap: copy
 *
 * Context: process or softirq.
 *
 * Return: false if it has no link
 */
bool smcr_snap_member(struct smc_member *m, u8 *role,
		      struct smc_link_snap *snap)
{
	struct smc_link *link;

	rcu_read_lock();
	link = rcu_dereference(m->r.link);
	if (link) {
		*role = link->lgr->role;
		spin_lock_bh(&link->lgr->base.lock);
		smc_link_snap(link, snap);
		spin_unlock_bh(&link->lgr->base.lock);
	}
	rcu_read_unlock();
	return link;
}
EXPORT_SYMBOL_GPL(smcr_snap_member);	/* smc_diag */

/**
 * smcr_snap_generation() - changes with the set of groups
 *
 * Return: generation
 */
u32 smcr_snap_generation(void)
{
	return smc_core_generation();
}
