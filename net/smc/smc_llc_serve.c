// SPDX-License-Identifier: GPL-2.0
/*
 * What the peer asks by LLC (layer 4): requests that nobody waits for, one at a
 * time per group, in the LLC worker. RFC 7609, 4.5.
 */
#include "smc_link.h"
#include "smc_stats.h"

static struct smc_link *smc_link_of_llc(struct smc_llc_link *ll)
{
	return container_of(ll, struct smc_link, llc);
}

static int smc_link_idx(struct smcr_lgr *lgr, u8 id)
{
	int i, idx = -ENOENT;

	spin_lock_bh(&lgr->base.lock);
	for (i = 0; i < SMC_LINKS && id; i++)
		if (lgr->link[i] && lgr->link[i]->id == id)
			idx = i;
	spin_unlock_bh(&lgr->base.lock);
	return idx;
}

static int smc_serve_take_rkey(struct smc_link *link, const struct smc_llc *msg)
{
	struct smcr_lgr *lgr = link->lgr;
	int i, idx, tok;

	/* more links than a group can have */
	if (msg->claimed_rkeys > SMC_LINKS)
		return -EINVAL;
	tok = smc_rtoken_add(&lgr->rtokens, link->idx, msg->rkey.addr,
			     msg->rkey.rkey, false);
	if (tok == -ENOSPC)
		SMC_INC(lgr->base.net, RTOKEN_FULL);
	for (i = 0; tok >= 0 && i < msg->num_rkeys; i++) {
		idx = smc_link_idx(lgr, msg->other[i].link);
		if (idx >= 0 && idx != link->idx)
			smc_rtoken_set_link(&lgr->rtokens, tok, idx,
					    msg->other[i].addr,
					    msg->other[i].rkey);
	}
	return tok < 0 ? tok : 0;
}

static void smc_serve_confirm_rkey(struct smc_link *link,
				   const struct smc_llc *msg, const u8 *raw)
{
	u8 flags = 0;

	if (smc_serve_take_rkey(link, msg))
		flags = SMC_LLC_F_NEG_RKEY | SMC_LLC_F_RETRY_RKEY;
	smc_llc_reply(&link->llc, raw, flags, SMC_WR_GET_WAIT);
}

static void smc_serve_delete_rkey(struct smc_link *link,
				  const struct smc_llc *msg, const u8 *raw)
{
	struct smcr_lgr *lgr = link->lgr;
	struct smc_llc resp = {
		.type = SMC_LLC_DELETE_RKEY,
		.response = true,
		.num_rkeys = msg->num_rkeys,
		.list = msg->list,
	};
	unsigned int i, unknown = 0;
	u8 mask = 0;

	for (i = 0; i < msg->num_rkeys; i++) {
		if (!smc_rtoken_del(&lgr->rtokens, link->idx,
				    smc_llc_list_del_rkey(msg, i)))
			continue;
		unknown++;
		if (i < 8)
			mask |= 0x80 >> i;
	}
	/* v1 marks the unknown keys in the echoed list, v2 counts them */
	resp.rejected = unknown;
	resp.err_mask = lgr->version > 1 ? unknown : mask;
	smc_llc_send(&link->llc, &resp, SMC_WR_GET_WAIT, NULL);
}

static void smc_serve_add(struct smc_link *link, const struct smc_llc *msg,
			  const u8 *raw)
{
	smc_link_rx_add(link, msg);
}

static void smc_serve_req_add(struct smc_link *link, const struct smc_llc *msg,
			      const u8 *raw)
{
	smc_link_rx_req_add(link, msg);
}

static void smc_serve_delete(struct smc_link *link, const struct smc_llc *msg,
			     const u8 *raw)
{
	smc_link_rx_delete(link, msg);
}

static void (*const smc_serve[SMC_LLC_TYPE_MAX + 1])(struct smc_link *link,
						     const struct smc_llc *msg,
						     const u8 *raw) = {
	[SMC_LLC_ADD_LINK]	= smc_serve_add,
	[SMC_LLC_DELETE_LINK]	= smc_serve_delete,
	[SMC_LLC_REQ_ADD_LINK]	= smc_serve_req_add,
	[SMC_LLC_CONFIRM_RKEY]	= smc_serve_confirm_rkey,
	[SMC_LLC_DELETE_RKEY]	= smc_serve_delete_rkey,
};

/* a link that goes down is asked for nothing any more */
static void smc_serve_request(struct smc_llc_link *ll,
			      const struct smc_llc *msg, const u8 *raw)
{
	struct smc_link *link = smc_link_of_llc(ll);

	if (!smc_link_usable(link) || !smc_serve[msg->type]) {
		SMC_INC(link->lgr->base.net, LLC_RX_UNEXPECTED);
		return;
	}
	smc_serve[msg->type](link, msg, raw);
}

static void smc_serve_lost(struct smc_llc_link *ll, int err)
{
	smc_link_lost(smc_link_of_llc(ll), err);
}

const struct smc_llc_ops smcr_llc_ops = {
	.request = smc_serve_request,
	.lost = smc_serve_lost,
};
