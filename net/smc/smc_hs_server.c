// SPDX-License-Identifier: GPL-2.0
/*
 * The CLC handshake (layer 6), server: read the Proposal, choose, accept, read
 * the Confirm.
 */
#include <linux/jiffies.h>

#include "smc_hs_priv.h"
#include "smc_prefix.h"
#include "smc_stats.h"

static int hs_read_proposal(struct smc_hs *hs)
{
	int rc;

	rc = smc_clc_recv(hs->smc, SMC_CLC_PROPOSAL, hs->buf, sizeof(hs->buf),
			  hs->start + SMC_HS_STEP_TIME, &hs->in);
	if (rc == SMC_DECL_PEERNOSMC)
		hs->mute = true;
	if (rc)
		return rc;
	hs->start = jiffies;
	rc = smc_clc_decode_proposal(hs->buf, hs->in.hdr.len, &hs->prop);
	if (rc) {
		SMC_INC(hs->net, CLC_RX_BAD);
		return rc;
	}
	if (hs->prop.version > 1)
		hs->version = 2;
	return 0;
}

static int hs_try(struct smc_hs *hs, const struct smc_hs_cand *cand)
{
	int rc;

	if (cand->version == 1 && smc_prefix_match(hs->smc->tcp, &hs->prop))
		return SMC_DECL_DIFFPREFIX;
	if (!cand->ops)
		return cand->absent;
	memset(&hs->accept, 0, sizeof(hs->accept));
	rc = cand->ops->listen(hs, cand);
	/* the next attempt, if any, starts from a clean state */
	if (rc)
		cand->ops->cleanup(hs);
	return rc;
}

/* the first reason found is the one that is told */
static int hs_select(struct smc_hs *hs)
{
	struct smc_hs_limits own;
	unsigned int left;
	int reason;
	int rc;
	int i;

	smc_hs_own_limits(hs, &own);
	left = smc_hs_filter(&hs->prop, &own, &hs->lim, &reason);
	if (!left)
		return reason;

	if (smc_hs_route(hs))
		return SMC_DECL_GETVLANERR;
	reason = 0;
	for (i = 0; i < SMC_HS_CANDS; i++) {
		if (!(left & BIT(i)))
			continue;
		rc = hs_try(hs, &smc_hs_cands[i]);
		if (rc < 0)
			return rc;
		if (!rc) {
			hs->cand = &smc_hs_cands[i];
			return 0;
		}
		if (!reason)
			reason = rc;
	}
	return reason;
}

static int hs_send_accept(struct smc_hs *hs)
{
	hs->accept.type = SMC_CLC_ACCEPT;
	return smc_hs_send_ac(hs, &hs->accept);
}

static int hs_read_confirm(struct smc_hs *hs)
{
	int rc;

	rc = smc_clc_recv(hs->smc, SMC_CLC_CONFIRM, hs->buf, sizeof(hs->buf),
			  jiffies + SMC_HS_STEP_TIME, &hs->in);
	/* Believed only where we have claimed that the client knows a group.
	 * It comes before the connection leaves the group, which would be free
	 * to take new ones meanwhile.
	 */
	if (rc == SMC_DECL_PEERDECL && hs->in.out_of_sync && !hs->first)
		hs->cand->ops->out_of_sync(hs);
	if (rc)
		return rc;

	/* the client may be active from here on, or be in the LLC phase */
	if (hs->first)
		hs->may_cross = true;
	else
		hs->peer_active = true;
	rc = smc_clc_decode_ac(hs->buf, hs->in.hdr.len, &hs->confirm);
	if (!rc)
		rc = smc_hs_check_confirm(&hs->prop, &hs->accept,
					  &hs->confirm);
	if (rc == -EPROTO)
		SMC_INC(hs->net, CLC_RX_BAD);
	return rc;
}

/* the first step that gives no 0 is the last */
static int hs_server_run(struct smc_hs *hs)
{
	return smc_hs_step(hs, SMC_HS_STEP_PROPOSAL, hs_read_proposal(hs)) ?:
	       smc_hs_step(hs, SMC_HS_STEP_CHECK, smc_hs_check(hs->tcp)) ?:
	       smc_hs_step(hs, SMC_HS_STEP_SELECT, hs_select(hs)) ?:
	       smc_hs_step(hs, SMC_HS_STEP_ACCEPT, hs_send_accept(hs)) ?:
	       smc_hs_step(hs, SMC_HS_STEP_CONFIRM, hs_read_confirm(hs)) ?:
	       smc_hs_step(hs, SMC_HS_STEP_LINK, hs->cand->ops->finish(hs));
}

/* No memory for a handshake. The Proposal must come off the stream before TCP
 * can carry the connection.
 */
static int hs_server_nomem(struct smc_sock *smc)
{
	u8 buf[SMC_CLC_DECLINE_ROOM];
	struct smc_clc_in in;
	int rc;

	rc = smc_clc_recv(smc, SMC_CLC_PROPOSAL, buf, sizeof(buf),
			  jiffies + SMC_HS_STEP_TIME, &in);
	if (!rc)
		rc = smc_clc_send_decline(smc, in.hdr.version > 1 ? 2 : 1,
					  SMC_DECL_MEM) ?: SMC_DECL_MEM;
	if (rc < 0)
		SMC_INC(sock_net(&smc->sk), SRV_HS_ERR);
	return rc;
}

/**
 * smc_hs_server() - CLC server on an accepted TCP connection
 * @smc: child; smc->tcp has negotiated SMC (syn_smc)
 *
 * Same contract as smc_hs_client(). Falls back with SMC_DECL_PEERNOSMC and
 * consumes nothing if the first bytes are no CLC message. RFC 7609, 4.5; SMC
 * version 2 architecture document.
 *
 * Context: process (worker), sleeps up to some seconds; ends early when
 * smc->tcp is shut down or reset. No socket lock is held, the caller holds a
 * reference of @smc.
 * Return: 0: SMC carries the connection; > 0: enum smc_reason, fall back; < 0:
 * the connection has failed: -ETIMEDOUT the client was silent, -ECONNRESET TCP
 * ended, -EPROTO bad message, -ECONNABORTED, or an error of the TCP socket.
 */
int smc_hs_server(struct smc_sock *smc)
{
	struct smc_hs *hs;

	hs = smc_hs_new(smc, true);
	if (!hs)
		return hs_server_nomem(smc);
	return smc_hs_end(hs, hs_server_run(hs));
}
