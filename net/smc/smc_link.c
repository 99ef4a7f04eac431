// SPDX-License-Identifier: GPL-2.0
/*
 * Links (layer 4): object, states, bring-up and end of one RC connection.
 *
 * Owners: the slot in the group holds one reference, each member one, and the
 * link one on the group. The references keep the struct only. What belongs to
 * the device is given back by the group's end work in this order, with members
 * still around:
 *
 *   smc_link_halt():  INACTIVE; engine stopped (waiters woken), drained: from
 *			here nothing calls back, nothing touches memory;
 *   keys and mappings of buffers go (smc_mr.c);
 *   smc_link_clear(): queue pair and GID go, the device is released; UNUSED.
 *
 * Whoever drives the queue pair through its states, or maps memory for it,
 * checks under qp_lock (or the buffer's map_lock) that the link is usable;
 * smc_link_halt() passes through that lock after the state has changed.
 */
#include <kunit/visibility.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/unaligned.h>
#include <rdma/ib_cache.h>

#include "smc_link.h"
#include "smc_stats.h"
#include "smc_trace.h"

static const u8 smc_link_next[SMC_LINK_STATES] = {
	[SMC_LINK_UNUSED]	= BIT(SMC_LINK_ACTIVATING),
	[SMC_LINK_ACTIVATING]	= BIT(SMC_LINK_ACTIVE) | BIT(SMC_LINK_INACTIVE),
	[SMC_LINK_ACTIVE]	= BIT(SMC_LINK_INACTIVE),
	[SMC_LINK_INACTIVE]	= BIT(SMC_LINK_UNUSED),
};

/**
 * smc_link_state_ok() - is there such a step
 * @from: enum smc_link_state
 * @to: enum smc_link_state
 *
 * Return: true if a link may go from @from to @to
 */
bool smc_link_state_ok(u8 from, u8 to)
{
	return from < SMC_LINK_STATES && to < SMC_LINK_STATES &&
	       smc_link_next[from] & BIT(to);
}
EXPORT_SYMBOL_IF_KUNIT(smc_link_state_ok);

static bool smc_link_set_state_locked(struct smc_link *link, u8 state)
{
	struct smc_lgr *base = &link->lgr->base;

	lockdep_assert_held(&base->lock);
	if (!smc_link_state_ok(link->state, state))
		return false;
	trace_smc_link_state(base->id, link->id, link->state, state);
	if (state == SMC_LINK_ACTIVE)
		SMC_INC(base->net, LINK_UP);
	WRITE_ONCE(link->state, state);
	return true;
}

/**
 * smc_link_set_state() - change the state of a link; there is no other setter
 * @link: link
 * @state: new one
 *
 * Context: any but hard interrupt.
 *
 * Return: false if there is no such step from the present state
 */
bool smc_link_set_state(struct smc_link *link, u8 state)
{
	bool ok;

	spin_lock_bh(&link->lgr->base.lock);
	ok = smc_link_set_state_locked(link, state);
	spin_unlock_bh(&link->lgr->base.lock);
	return ok;
}

/**
 * smcr_lgr_kill() - end a group
 * @lgr: group, reference held by the caller
 * @err: negative errno for members, 0 for an orderly end without any
 * @reason: SMC_LLC_DEL_* for the peer
 *
 * Returns at once. Context: any but hard interrupt.
 *
 * Return: true if this call did it
 */
bool smcr_lgr_kill(struct smcr_lgr *lgr, int err, u32 reason)
{
	bool first;

	cmpxchg(&lgr->end_reason, 0, reason);
	first = smc_lgr_kill(&lgr->base, err);
	smc_llc_kill(&lgr->llc);
	return first;
}

/**
 * smc_link_new_id() - link number for a new link (server)
 * @lgr: group
 *
 * Never 0 and not in use. Context: process.
 *
 * Return: the number
 */
u8 smc_link_new_id(struct smcr_lgr *lgr)
{
	bool used;
	int i;
	u8 id;

	spin_lock_bh(&lgr->base.lock);
	do {
		id = ++lgr->last_link_id;
		used = !id || id == lgr->offered;
		for (i = 0; i < SMC_LINKS; i++)
			used |= lgr->link[i] && lgr->link[i]->id == id;
	} while (used);
	spin_unlock_bh(&lgr->base.lock);
	return id;
}

/**
 * smc_link_offer_ends() - an ADD LINK of ours is settled
 * @lgr: group
 * @id: link number that the peer names
 *
 * Context: process.
 *
 * Return: false if it is not the link we have offered
 */
bool smc_link_offer_ends(struct smcr_lgr *lgr, u8 id)
{
	bool is_offer;

	spin_lock_bh(&lgr->base.lock);
	is_offer = id && lgr->offered == id;
	if (is_offer)
		lgr->offered = 0;
	spin_unlock_bh(&lgr->base.lock);
	return is_offer;
}

/**
 * smc_link_set_id() - give a link its number
 * @link: link
 * @id: number
 *
 * Context: process, before the link is ACTIVE.
 */
void smc_link_set_id(struct smc_link *link, u8 id)
{
	link->id = id;
	link->llc.id = id;
	put_unaligned_be32(link->lgr->base.id + id, link->uid);
}

/* publish in the group; a device that is leaving looks for links there after
 * it has set the mark, so one of both sides sees the other
 */
static int smc_link_publish(struct smcr_lgr *lgr, struct smc_link *link)
{
	int rc = -ENOLINK;

	spin_lock_bh(&lgr->base.lock);
	if (lgr->base.state <= SMC_LGR_ACTIVE) {
		lgr->link[link->idx] = link;
		smc_link_set_state_locked(link, SMC_LINK_ACTIVATING);
		rc = 0;
	}
	spin_unlock_bh(&lgr->base.lock);
	smp_mb();	/* published, then look for the mark */
	if (!rc && READ_ONCE(link->port->dev->leaving)) {
		/* the end of the group gives the link back */
		smcr_lgr_kill(lgr, -ENODEV, SMC_LLC_DEL_LOST_PATH);
		rc = -ENODEV;
	}
	return rc;
}

static int smc_link_create_wr(struct smc_link *link,
			      const struct smc_wr_ops *ops)
{
	struct smcr_lgr *lgr = link->lgr;
	struct smc_wr_cfg cfg = {
		.net = lgr->base.net,
		.ibdev = link->port->dev->ibdev,
		.port = link->port->num,
		.max_send = lgr->max_send,
		.max_recv = lgr->max_recv,
		.large = lgr->version > 1,
		.vector = -1,
	};
	int rc;

	rc = smc_wr_create(&link->wr, ops, &cfg);
	if (!rc)
		link->qpn = link->wr.qp->qp_num;
	return rc;
}

/* what belongs to the device */
static void smc_link_release(struct smc_link *link)
{
	smc_wr_destroy(&link->wr);
	rdma_put_gid_attr(link->sgid);
	link->sgid = NULL;
	smc_ib_link_put(link->port);
}

/**
 * smc_link_create() - make the first link of a group
 * @lgr: group in creation
 * @choice: port and GID
 * @ops: what the engine calls
 *
 * Context: process, sleeps.
 *
 * Return: link in state ACTIVATING, in the group, with a reference for the
 * caller. ERR_PTR: -ENOMEM, -ENODEV (device or GID gone), -ENOLINK, errors of
 * the RDMA core.
 */
struct smc_link *smc_link_create(struct smcr_lgr *lgr,
				 const struct smc_ib_choice *choice,
				 const struct smc_wr_ops *ops)
{
	struct smc_link *link;
	int rc;

	link = kzalloc_obj(*link);
	if (!link)
		return ERR_PTR(-ENOMEM);
	refcount_set(&link->refs, 1);
	mutex_init(&link->qp_lock);
	link->lgr = lgr;
	link->port = choice->port;
	link->gateway = choice->gateway;
	link->sgid = smc_ib_choice_use(choice);
	if (IS_ERR(link->sgid)) {
		rc = PTR_ERR(link->sgid);
		goto free;
	}
	smc_ib_port_refresh(link->port);
	link->mtu = link->port->mtu;
	memcpy(link->gid, choice->gid.raw, sizeof(link->gid));
	memcpy(link->mac, link->port->mac, sizeof(link->mac));
	link->psn = get_random_u32() & 0xffffff;
	smc_llc_link_init(&link->llc, &lgr->llc, &link->wr, 0);

	rc = smc_link_create_wr(link, ops);
	if (rc)
		goto unuse;
	smc_lgr_hold(&lgr->base);
	smc_ib_dev_hold(link->port->dev);	/* memory, until the link is freed */
	/* the group may end and drop its reference at once */
	refcount_inc(&link->refs);
	rc = smc_link_publish(lgr, link);
	if (!rc)
		return link;
	if (rc == -ENOLINK) {
		/* the group never had it */
		smc_wr_drain(&link->wr);
		smc_link_release(link);
		smc_link_put(link);
	}
	smc_link_put(link);
	return ERR_PTR(rc);

unuse:
	rdma_put_gid_attr(link->sgid);
	smc_ib_link_put(link->port);
free:
	kfree(link);
	return ERR_PTR(rc);
}

/**
 * smc_link_put() - drop a reference
 * @link: link
 *
 * Context: process.
 */
void smc_link_put(struct smc_link *link)
{
	struct smcr_lgr *lgr = link->lgr;

	if (!refcount_dec_and_test(&link->refs))
		return;
	smc_ib_dev_put(link->port->dev);
	kfree_rcu(link, rcu);
	smc_lgr_put(&lgr->base);
}

/**
 * smc_link_get_first() - a usable link of a group
 * @lgr: group
 *
 * Context: any but hard interrupt.
 *
 * Return: link with a reference, or NULL
 */
struct smc_link *smc_link_get_first(struct smcr_lgr *lgr)
{
	struct smc_link *link = NULL;
	int i;

	spin_lock_bh(&lgr->base.lock);
	for (i = 0; i < SMC_LINKS && !link; i++)
		if (lgr->link[i] && lgr->link[i]->state == SMC_LINK_ACTIVE)
			link = lgr->link[i];
	if (link)
		refcount_inc(&link->refs);
	spin_unlock_bh(&lgr->base.lock);
	return link;
}

/**
 * smc_link_set_peer() - store the peer's end
 * @link: link in state ACTIVATING
 * @peer: from CLC, checked here
 *
 * Context: process, creator of the group.
 *
 * Return: 0, -EINVAL for values that cannot be
 */
int smc_link_set_peer(struct smc_link *link, const struct smcr_peer_link *peer)
{
	if (peer->mtu < IB_MTU_256 || peer->mtu > IB_MTU_4096 || !peer->qpn ||
	    peer->qpn > 0xffffff || peer->psn > 0xffffff ||
	    !is_valid_ether_addr(peer->mac))
		return -EINVAL;
	memcpy(link->peer_gid, peer->gid, sizeof(link->peer_gid));
	memcpy(link->hop_mac, peer->mac, sizeof(link->hop_mac));
	link->gateway = peer->gateway;
	link->peer_qpn = peer->qpn;
	link->peer_psn = peer->psn;
	link->mtu = min(link->mtu, peer->mtu);
	return 0;
}

/**
 * smc_link_to_rtr() - ready to receive
 * @link: link with smc_link_set_peer() done
 *
 * Context: process, sleeps; creator.
 *
 * Return: 0, -ENOLINK, errors of smc_wr_to_rtr()
 */
int smc_link_to_rtr(struct smc_link *link)
{
	struct smc_wr_path path = {
		.sgid_attr = link->sgid,
		.hop_limit = link->gateway ? 64 : 1,
		.mtu = link->mtu,
		.dest_qpn = link->peer_qpn,
		.rq_psn = link->peer_psn,
	};
	int rc = -ENOLINK;

	memcpy(path.dgid.raw, link->peer_gid, sizeof(path.dgid.raw));
	memcpy(path.dmac, link->hop_mac, sizeof(path.dmac));
	mutex_lock(&link->qp_lock);
	if (smc_link_usable(link))
		rc = smc_wr_to_rtr(&link->wr, &path);
	mutex_unlock(&link->qp_lock);
	return rc;
}

/**
 * smc_link_to_rts() - ready to send
 * @link: link after smc_link_to_rtr()
 *
 * Context: process, sleeps; creator.
 *
 * Return: 0, -ENOLINK, errors of smc_wr_to_rts()
 */
int smc_link_to_rts(struct smc_link *link)
{
	int rc = -ENOLINK;

	mutex_lock(&link->qp_lock);
	if (smc_link_usable(link))
		rc = smc_wr_to_rts(&link->wr, link->psn);
	mutex_unlock(&link->qp_lock);
	return rc;
}

/**
 * smc_link_halt() - end all traffic of a link
 * @link: link of a group that ends
 *
 * On return no callback of its engine runs or will run. Context: process,
 * sleeps, bounded; once.
 */
void smc_link_halt(struct smc_link *link)
{
	smc_link_set_state(link, SMC_LINK_INACTIVE);
	smc_wr_stop(&link->wr);
	mutex_lock(&link->qp_lock);
	/* the creator sees the state from here on */
	mutex_unlock(&link->qp_lock);
	smc_wr_drain(&link->wr);
	smc_llc_link_stop(&link->llc);
}

/**
 * smc_link_clear() - give the device back
 * @link: halted link without mappings; out of the group, the slot's reference
 *	is dropped
 *
 * Context: process, sleeps; once.
 */
void smc_link_clear(struct smc_link *link)
{
	struct smcr_lgr *lgr = link->lgr;

	smc_link_release(link);
	spin_lock_bh(&lgr->base.lock);
	smc_link_set_state_locked(link, SMC_LINK_UNUSED);
	lgr->link[link->idx] = NULL;
	spin_unlock_bh(&lgr->base.lock);
	SMC_INC(lgr->base.net, LINK_DOWN);
	smc_link_put(link);
}

/**
 * smc_link_snap() - copy a link for users
 * @link: link, group's lock held: a usable link has its device
 * @snap: copy
 */
void smc_link_snap(const struct smc_link *link, struct smc_link_snap *snap)
{
	const struct smc_ib_port *port = link->port;

	lockdep_assert_held(&link->lgr->base.lock);
	memset(snap, 0, sizeof(*snap));
	snap->link_id = link->id;
	snap->state = link->state;
	snap->conns = atomic_read(&link->conns);
	snap->port = port->num;
	snap->ifindex = READ_ONCE(port->ifindex);
	if (smc_link_usable(link))
		strscpy(snap->ibname, dev_name(&port->dev->ibdev->dev),
			sizeof(snap->ibname));
	memcpy(snap->link_uid, link->uid, sizeof(snap->link_uid));
	memcpy(snap->peer_uid, link->peer_uid, sizeof(snap->peer_uid));
	memcpy(snap->gid, link->gid, sizeof(snap->gid));
	memcpy(snap->peer_gid, link->peer_gid, sizeof(snap->peer_gid));
}
