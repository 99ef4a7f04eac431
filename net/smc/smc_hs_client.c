// SPDX-License-Identifier: GPL-2.0
/*
 * The CLC handshake (layer 6), client: propose, read the Accept, confirm.
 */
#include <linux/jiffies.h>

#include "smc_eid.h"
#include "smc_hs_priv.h"
#include "smc_prefix.h"
#include "smc_stats.h"

/* let each candidate find a device; sets the modes of the Proposal */
static void hs_offer_devices(struct smc_hs *hs)
{
	struct smc_clc_proposal *prop = &hs->prop;
	int i;

	prop->mode_v1 = SMC_MODE_N;
	prop->mode_v2 = SMC_MODE_N;
	if (smc_hs_route(hs))
		return;
	for (i = 0; i < SMC_HS_CANDS; i++) {
		const struct smc_hs_cand *cand = &smc_hs_cands[i];
		u8 *modes;

		if (!cand->ops || cand->ops->offer(hs, cand))
			continue;
		modes = cand->version > 1 ? &prop->mode_v2 : &prop->mode_v1;
		*modes = smc_clc_mode_add(*modes, cand->mode);
	}
}

static void hs_offer_v2(struct smc_hs *hs)
{
	struct smc_clc_proposal *prop = &hs->prop;

	if (prop->mode_v2 == SMC_MODE_N)
		return;
	prop->num_eids = smc_eid_snapshot(prop->eid, SMC_CLC_MAX_EIDS);
	/* the last one may have been removed since the devices were chosen */
	if (!prop->num_eids)
		prop->mode_v2 = SMC_MODE_N;
}

static int hs_offer(struct smc_hs *hs)
{
	struct smc_clc_proposal *prop = &hs->prop;
	struct smc_hs_limits own;
	bool v1;
	int i;

	hs_offer_devices(hs);
	hs_offer_v2(hs);
	v1 = prop->mode_v1 != SMC_MODE_N;
	/* without a prefix no server could check a v1 offer */
	if (v1 && smc_prefix_get(hs->smc->tcp, prop))
		prop->mode_v1 = SMC_MODE_N;
	if (prop->mode_v1 == SMC_MODE_N && prop->mode_v2 == SMC_MODE_N)
		return v1 ? SMC_DECL_CNFERR : SMC_DECL_NOSMCDEV;

	smc_hs_own_limits(hs, &own);
	prop->version = 2;
	prop->has_ism_area = true;
	prop->has_prefix = prop->mode_v1 != SMC_MODE_N;
	prop->has_v2 = prop->mode_v2 != SMC_MODE_N;
	prop->release = own.release;
	prop->max_conns = own.max_conns;
	prop->max_links = own.max_links;
	for (i = 0; i < SMC_HS_CANDS; i++) {
		if (smc_hs_cands[i].ops)
			smc_hs_cands[i].ops->propose(hs);
	}
	return 0;
}

static int hs_send_proposal(struct smc_hs *hs)
{
	int len;

	len = smc_clc_encode_proposal(hs->buf, sizeof(hs->buf), &hs->prop);
	if (len < 0)
		return len;
	return smc_clc_send(hs->smc, hs->buf, len);
}

static int hs_read_accept(struct smc_hs *hs)
{
	int rc;

	rc = smc_clc_recv(hs->smc, SMC_CLC_ACCEPT, hs->buf, sizeof(hs->buf),
			  jiffies + SMC_HS_STEP_TIME, &hs->in);
	if (rc)
		return rc;
	if (hs->in.hdr.version > 1)
		hs->version = 2;
	rc = smc_clc_decode_ac(hs->buf, hs->in.hdr.len, &hs->accept);
	if (rc) {
		SMC_INC(hs->net, CLC_RX_BAD);
		return rc;
	}
	rc = smc_hs_check_accept(&hs->prop, &hs->accept, &hs->lim);
	if (rc)
		return rc;
	hs->cand = smc_hs_find_cand(hs->accept.version, hs->accept.mode);
	return 0;
}

static int hs_send_confirm(struct smc_hs *hs)
{
	hs->confirm.type = SMC_CLC_CONFIRM;
	memcpy(hs->confirm.eid, hs->accept.eid, sizeof(hs->confirm.eid));
	if (hs->first)
		hs->may_cross = true;
	else
		hs->peer_active = true;
	return smc_hs_send_ac(hs, &hs->confirm);
}

/* the first step that gives no 0 is the last */
static int hs_client_run(struct smc_hs *hs)
{
	return smc_hs_step(hs, SMC_HS_STEP_CHECK, smc_hs_check(hs->tcp)) ?:
	       smc_hs_step(hs, SMC_HS_STEP_OFFER, hs_offer(hs)) ?:
	       smc_hs_step(hs, SMC_HS_STEP_PROPOSAL, hs_send_proposal(hs)) ?:
	       smc_hs_step(hs, SMC_HS_STEP_ACCEPT, hs_read_accept(hs)) ?:
	       smc_hs_step(hs, SMC_HS_STEP_JOIN, hs->cand->ops->connect(hs)) ?:
	       smc_hs_step(hs, SMC_HS_STEP_CONFIRM, hs_send_confirm(hs)) ?:
	       smc_hs_step(hs, SMC_HS_STEP_LINK, hs->cand->ops->finish(hs));
}

/**
 * smc_hs_client() - CLC client on an established TCP connection
 * @smc: socket; smc->tcp is ESTABLISHED and has negotiated SMC (syn_smc)
 *
 * RFC 7609, 4.5; SMC version 2 architecture document.
 *
 * Context: process (worker), sleeps up to some seconds; not interrupted by
 * signals; ends early when smc->tcp is shut down or reset. No socket lock is
 * held, the caller holds a reference of @smc.
 * Return: 0: SMC carries the connection (smc_conn_open() was called, the
 * caller takes the lock and calls smc_conn_established()); > 0: enum
 * smc_reason, nothing is joined any more, the stream stands behind the last
 * CLC message, our Decline (if one is due) was sent: fall back; < 0: the
 * connection has failed: -ETIMEDOUT no Accept, -ECONNRESET TCP ended, -EPROTO
 * bad message, -ECONNABORTED, or an error of the TCP socket.
 */
int smc_hs_client(struct smc_sock *smc)
{
	struct smc_hs *hs;
	int rc;

	hs = smc_hs_new(smc, false);
	if (hs)
		return smc_hs_end(hs, hs_client_run(hs));

	/* the Decline is our first message then */
	rc = smc_clc_send_decline(smc, 1, SMC_DECL_MEM);
	if (!rc)
		return SMC_DECL_MEM;
	SMC_INC(sock_net(&smc->sk), CLNT_HS_ERR);
	return rc;
}
