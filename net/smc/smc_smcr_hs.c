// SPDX-License-Identifier: GPL-2.0
/*
 * What the handshake asks of SMC-R (layer 4): group, buffers, the peer's end,
 * the first link.
 *
 * First contact: smcr_join() makes the group, which is the caller's until
 * smcr_established(). Its first link is brought up by smcr_link_ready() and
 * smcr_confirm_link(). A group may be ended at any moment (device, namespace,
 * peer); each step then fails with -ENOLINK and smcr_abort() cleans up.
 *
 * A member joins and leaves in one thread: its handshake, later its socket.
 */
#include <linux/log2.h>

#include "smc_core.h"
#include "smc_link.h"
#include "smc_mr.h"
#include "smc_smcr.h"
#include "smc_stats.h"

struct smcr_seeker {
	const struct smcr_want *want;
	struct smc_member *m;
};

static int smcr_seek_match(struct smc_lgr *base, void *arg)
{
	const struct smcr_seeker *s = arg;

	return smcr_lgr_match(base, s->want, s->m);
}

/* Joins a group that fits, or adds *@new, which is made when it is needed. A
 * group whose creator does not get on is waited for once, and by nobody later;
 * one of those who waited makes the next, the others wait for that. So neither
 * does a creator who never ends stand in the way, nor does each of many
 * handshakes make a group of its own.
 * Return: 0 joined, 1 *@new was added, or errno
 */
static int smcr_find_or_add(const struct smcr_seeker *s, unsigned int how,
			    unsigned long patience, struct smcr_lgr **new)
{
	struct smc_core_seek seek = {
		.key = smcr_lgr_key(s->want->peer_id),
		.match = how & SMCR_JOIN_REUSE ? smcr_seek_match : NULL,
		.arg = (void *)s,
	};
	unsigned long end = jiffies + 2 * patience;
	struct smc_lgr *base;
	bool wait;
	long left;

	for (;;) {
		base = NULL;
		if (*new)
			base = smc_core_add(&(*new)->base, &seek, &wait);
		else if (seek.match)
			base = smc_core_find(&seek, &wait);
		if (!base && *new)
			return 1;
		if (!base && !(how & SMCR_JOIN_CREATE))
			return -ENOENT;
		if (!base) {
			*new = smcr_lgr_new(s->want);
			if (!*new)
				return -ENOMEM;
			continue;
		}
		left = end - jiffies;
		if (wait && left > 0 &&
		    !smc_lgr_wait_created(base, min_t(long, patience, left)))
			WRITE_ONCE(smcr_lgr_of(base)->slow, true);
		smc_lgr_put(base);
		if (!wait)
			return 0;
		if (left <= 0)
			return -ENOLINK;
	}
}

/* the new group is the caller's */
static int smcr_create(struct smc_member *m, struct smcr_want *want,
		       struct smcr_lgr *lgr)
{
	struct smc_link *link;
	int rc;

	spin_lock_bh(&lgr->base.lock);
	rc = __smc_lgr_join(&lgr->base, m);
	spin_unlock_bh(&lgr->base.lock);
	/* if it was killed before it began, the end work has the reference */
	if (rc)
		return rc;
	link = smc_link_create(lgr, want->choice, &smcr_wr_ops);
	if (IS_ERR(link))
		return PTR_ERR(link);
	smcr_member_set_link(m, link);
	smc_link_put(link);
	return 0;
}

/**
 * smcr_join() - find or make the group of a connection
 * @m: member of no group
 * @want: what it needs
 * @how: SMCR_JOIN_*
 * @patience: jiffies, how long to wait for one group that is being created; for
 *	several together twice as long
 * @first: a new group was made; the caller is its creator
 *
 * Assigns token and link. RFC 7609, 4.3. Context: process, sleeps.
 *
 * Return: 0; -ENOENT: no match, and none shall be made; -ENOLINK: group without
 * active link, or ended meanwhile; -ENOMEM; -ENODEV: device leaving; errors of
 * the RDMA core. After an error the member is in no group.
 */
int smcr_join(struct smc_member *m, struct smcr_want *want, unsigned int how,
	      unsigned long patience, bool *first)
{
	struct smcr_seeker s = { .want = want, .m = m };
	struct smcr_lgr *new = NULL;
	int rc;

	*first = false;
	smcr_member_init(m);
	rc = smcr_find_or_add(&s, how, patience, &new);
	if (rc > 0) {
		*first = true;
		rc = smcr_create(m, want, new);
	} else if (new) {
		/* somebody else was faster */
		smc_lgr_put(&new->base);
	}
	if (!rc)
		rc = smc_lgr_token(m->lgr, m);
	if (rc) {
		smcr_abort(m);
		*first = false;
	} else if (!*first) {
		SMC_INC(m->net, LGR_REUSED);
	}
	return rc;
}

/**
 * smcr_get_buffers() - rings of a connection
 * @m: member
 * @snd_wish: bytes wished for the send ring, which comes with the first data
 * @rcv_wish: bytes wished for the receive ring
 *
 * From here on messages of the peer may arrive. Context: process, sleeps.
 *
 * Return: 0, -ENOMEM, -ENOSPC (as many buffers as a peer can know are in use),
 * -ENOLINK; buffers go with the membership
 */
int smcr_get_buffers(struct smc_member *m, u32 snd_wish, u32 rcv_wish)
{
	struct smc_link *link = smcr_member_link(m);
	struct smcr_buf *buf;

	m->r.snd_wish = snd_wish;
	m->snd_size = SMC_BUF_BASE << smcr_buf_class(&link->lgr->bufs, snd_wish);

	buf = smc_mr_get_buf(link, SMC_BUF_RMB, rcv_wish);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	m->r.rmb = buf;
	m->rcv_ring = buf->mem;
	m->rcv_size = buf->size;
	return smc_lgr_publish(m->lgr, m);
}

static int smcr_register_rmb(struct smc_link *link, void *arg)
{
	struct smc_member *m = arg;

	return smc_mr_register(link, m->r.rmb);
}

/**
 * smcr_announce_rmb() - reuse of a group: the peer gets to know our ring
 * @m: member with buffers
 * @deadline: jiffies, until when others may be announced first
 *
 * Registers it where needed; skips what still holds from the buffers'
 * last user. RFC 7609, 4.5.4. Context: process, may sleep for a round trip.
 *
 * Return: 0; -EIO: refused by device or peer; -ETIMEDOUT, -ENOLINK, -EPIPE,
 * -ERESTARTSYS, -ENOMEM
 */
int smcr_announce_rmb(struct smc_member *m, unsigned long deadline)
{
	struct smc_link *link = smcr_member_link(m);
	int rc;

	rc = smcr_register_rmb(link, m);
	return rc ?: smc_mr_announce(link, m->r.rmb, deadline);
}

/**
 * smcr_fill_clc() - own end of a connection for Accept or Confirm
 * @m: member with buffers
 * @ac: message; its SMC-R part is filled
 *
 * The peer may write as soon as it has the message. RFC 7609, A.2.
 * Context: process.
 */
void smcr_fill_clc(struct smc_member *m, struct smc_clc_ac *ac)
{
	const struct smc_link *link = smcr_member_link(m);
	const struct smcr_map *map = &m->r.rmb->map[link->idx];

	if (!smc_ib_peer_id(ac->r.peer_id))
		memset(ac->r.peer_id, 0, sizeof(ac->r.peer_id));
	memcpy(ac->r.gid, link->gid, sizeof(ac->r.gid));
	memcpy(ac->r.mac, link->mac, sizeof(ac->r.mac));
	ac->r.qpn = link->qpn;
	ac->r.psn = link->psn;
	ac->r.mtu = link->mtu;
	ac->r.rkey = map->rkey;
	ac->r.rmb_addr = map->addr;
	ac->r.rmbe_idx = 1;
	ac->r.token = m->token;
	ac->r.rmb_size_code = ilog2(m->rcv_size / SMC_BUF_MIN_SIZE);
	m->r.named = true;
}

/**
 * smcr_set_peer() - the peer's end of a connection
 * @m: member
 * @ac: Accept or Confirm of the peer
 *
 * Context: process.
 *
 * Return: 0; -ENOSPC: key table full; -ENOENT: a group that exists does not
 * know this buffer; -EINVAL: values that cannot be
 */
int smcr_set_peer(struct smc_member *m, const struct smc_clc_ac *ac)
{
	struct smcr_lgr *lgr = smcr_of_member(m);
	u32 size = smc_clc_code_to_size(ac->r.rmb_size_code);
	unsigned int idx;
	int tok;

	if (!ac->r.token || !ac->r.rmbe_idx)
		return -EINVAL;
	idx = smcr_member_link(m)->idx;
	if (lgr->base.creator == m)
		tok = smc_rtoken_add(&lgr->rtokens, idx, ac->r.rmb_addr,
				     ac->r.rkey, true);
	else
		tok = smc_rtoken_hold(&lgr->rtokens, idx, ac->r.rmb_addr,
				      ac->r.rkey);
	if (tok < 0) {
		if (tok == -ENOSPC)
			SMC_INC(m->net, RTOKEN_FULL);
		return tok;
	}
	if (lgr->base.creator == m && ac->has_fce) {
		memcpy(lgr->host, ac->host, sizeof(lgr->host));
		lgr->peer_os = ac->os;
	}
	m->r.rtoken = tok;
	m->r.peer_off = (u64)size * (ac->r.rmbe_idx - 1);
	m->peer_token = ac->r.token;
	m->peer_size = size;
	return 0;
}

/**
 * smcr_link_ready() - first contact: the first link can receive
 * @m: member, creator of the group
 * @peer: peer's end of the link
 *
 * Client: the expectation of CONFIRM LINK is armed, so that CLC Confirm may go
 * out. Server: the link can send, too, and own buffers are registered.
 * Context: process, sleeps.
 *
 * Return: 0; -EINVAL: values that cannot be; -ENOLINK, -EIO, -EPIPE, errors of
 * the RDMA core
 */
int smcr_link_ready(struct smc_member *m, const struct smcr_peer_link *peer)
{
	struct smc_link *link = smcr_member_link(m);
	bool server = smcr_of_member(m)->role == SMC_SERVER;
	int rc;

	rc = smc_link_set_peer(link, peer);
	if (!rc && !server)
		rc = smc_link_expect_confirm(link);
	if (!rc)
		rc = smc_link_to_rtr(link);
	if (!rc && server)
		rc = smc_link_to_rts(link);
	if (!rc && server)
		rc = smcr_register_rmb(link, m);
	return rc;
}

/**
 * smcr_confirm_link() - first contact: CONFIRM LINK
 * @m: member, creator of the group
 *
 * Context: process, sleeps up to 4 s (client) or 2 s (server), or until the
 * group ends.
 *
 * Return: 0; -ETIMEDOUT: the peer's message did not come; -EPROTO: the peer
 * wants eyecatchers; -ENOLINK, -EIO, -EPIPE, -ERESTARTSYS
 */
int smcr_confirm_link(struct smc_member *m)
{
	struct smc_link *link = smcr_member_link(m);
	int rc;

	if (smcr_of_member(m)->role == SMC_SERVER)
		rc = smc_link_confirm_server(link);
	else
		rc = smc_link_confirm_client(link, smcr_register_rmb, m);
	if (!rc)
		/* the peer has our key from CLC */
		smc_mr_set_confirmed(link, m->r.rmb);
	return rc;
}

/**
 * smcr_established() - first contact has succeeded
 * @m: member, creator of the group
 *
 * The group takes members from now on. Context: process.
 */
void smcr_established(struct smc_member *m)
{
	struct smcr_lgr *lgr = smcr_of_member(m);

	smc_llc_test_start(&smcr_member_link(m)->llc, lgr->test_interval);
	smc_lgr_established(&lgr->base);
}

/**
 * smcr_abort() - undo a handshake
 * @m: member, or one that is in no group
 *
 * A group that the handshake was creating ends. Context: process, sleeps.
 */
void smcr_abort(struct smc_member *m)
{
	struct smcr_lgr *lgr;
	bool creator;

	if (!m->lgr)
		return;
	lgr = smcr_of_member(m);
	spin_lock_bh(&lgr->base.lock);
	creator = lgr->base.creator == m;
	spin_unlock_bh(&lgr->base.lock);
	if (creator) {
		smc_llc_forget(&lgr->confirm);
		smcr_lgr_kill(lgr, -ECONNABORTED, SMC_LLC_DEL_LOST_PATH);
	}
	smcr_transport.leave(m, false, m->rcv_size);
}

/**
 * smcr_out_of_sync() - the peer does not know the group of a member
 * @m: member
 *
 * The group takes no new members and its link is tested at once; it ends if the
 * peer does not answer. Context: process.
 */
void smcr_out_of_sync(struct smc_member *m)
{
	struct smc_link *link = smcr_member_link(m);

	if (!m->lgr || !link)
		return;
	smc_lgr_out_of_sync(m->lgr);
	smc_llc_test_now(&link->llc);
}
