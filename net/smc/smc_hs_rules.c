// SPDX-License-Identifier: GPL-2.0
/*
 * Decisions of the CLC handshake as pure functions (layer 6): what a Proposal
 * leaves to choose from, and whether Accept and Confirm agree with what went
 * before. No sockets, no devices.
 */
#include <kunit/visibility.h>
#include <linux/string.h>

#include "smc_hs_priv.h"

const struct smc_hs_cand smc_hs_cands[SMC_HS_CANDS] = {
	{ 2, SMC_MODE_D, SMC_DECL_NOISM2SUPP, NULL },
	{ 1, SMC_MODE_D, SMC_DECL_NOSMCDDEV, NULL },
	{ 2, SMC_MODE_R, SMC_DECL_NOSMCRDEV, &smc_hs_smcr_ops },
	{ 1, SMC_MODE_R, SMC_DECL_NOSMCDEV, &smc_hs_smcr_ops },
};
EXPORT_SYMBOL_IF_KUNIT(smc_hs_cands);

/**
 * smc_hs_find_cand() - table entry of a version and mode
 * @version: 1 or 2
 * @mode: SMC_MODE_R or SMC_MODE_D
 *
 * Context: any.
 * Return: entry, or NULL if there is none
 */
const struct smc_hs_cand *smc_hs_find_cand(u8 version, u8 mode)
{
	int i;

	for (i = 0; i < SMC_HS_CANDS; i++) {
		if (smc_hs_cands[i].version == version &&
		    smc_hs_cands[i].mode == mode)
			return &smc_hs_cands[i];
	}
	return NULL;
}
EXPORT_SYMBOL_IF_KUNIT(smc_hs_find_cand);

static void hs_default_limits(struct smc_hs_limits *lim)
{
	lim->max_conns = SMC_HS_DEF_CONNS;
	lim->max_links = SMC_HS_DEF_LINKS;
}

static int hs_negotiate(const struct smc_clc_proposal *prop,
			const struct smc_hs_limits *own,
			struct smc_hs_limits *lim)
{
	lim->release = min(prop->release, own->release);
	if (!lim->release) {
		hs_default_limits(lim);
		return 0;
	}
	lim->max_conns = min(prop->max_conns, own->max_conns);
	if (lim->max_conns < SMC_HS_MIN_CONNS)
		return SMC_DECL_MAXCONNERR;
	lim->max_links = min(prop->max_links, own->max_links);
	if (!lim->max_links)
		return SMC_DECL_MAXLINKERR;
	return 0;
}

static int hs_filter_v2(const struct smc_hs_cand *cand,
			const struct smc_clc_proposal *prop,
			const struct smc_hs_limits *own,
			struct smc_hs_limits *lim)
{
	if (!cand->ops)
		return cand->absent;
	if (!prop->has_v2)
		return SMC_DECL_NOV2EXT;
	if (!prop->num_eids)
		return SMC_DECL_NOUEID;
	/* no GID: neither route nor link could be made */
	if (!memchr_inv(prop->gid_v2, 0, sizeof(prop->gid_v2)))
		return cand->absent;
	return hs_negotiate(prop, own, lim);
}

/**
 * smc_hs_filter() - server: what does a Proposal leave to choose from?
 * @prop: received
 * @own: own release and limits
 * @lim: set to what applies to v2, if a v2 candidate is left
 * @reason: set if nothing is left
 *
 * Version check and limits. A limit that does not fit takes away its
 * candidate only, not the others. Devices are not looked at. SMC version 2
 * architecture document.
 *
 * Context: any.
 * Return: mask of indices into smc_hs_cands[]
 */
unsigned int smc_hs_filter(const struct smc_clc_proposal *prop,
			   const struct smc_hs_limits *own,
			   struct smc_hs_limits *lim, int *reason)
{
	u8 mode_v2 = prop->version > 1 ? prop->mode_v2 : SMC_MODE_N;
	unsigned int left = 0;
	int rc = 0;
	int i;

	*reason = SMC_DECL_PEERNOSMC;
	for (i = 0; i < SMC_HS_CANDS; i++) {
		const struct smc_hs_cand *cand = &smc_hs_cands[i];
		bool v2 = cand->version > 1;

		if (!smc_clc_mode_has(v2 ? mode_v2 : prop->mode_v1, cand->mode))
			continue;
		if (v2)
			rc = hs_filter_v2(cand, prop, own, lim);
		else
			rc = 0;
		if (rc)
			*reason = rc;
		else
			left |= BIT(i);
	}
	return left;
}
EXPORT_SYMBOL_IF_KUNIT(smc_hs_filter);

/**
 * smc_hs_check_accept() - client: does the Accept answer this Proposal?
 * @prop: sent
 * @accept: received and decoded
 * @lim: set to what applies to the connection's group, if that is new
 *
 * Everything is compared with what was sent, not with what could be. RFC 7609,
 * 4.5; SMC version 2 architecture document.
 *
 * Context: any.
 * Return: 0, or enum smc_reason
 */
int smc_hs_check_accept(const struct smc_clc_proposal *prop,
			const struct smc_clc_ac *accept,
			struct smc_hs_limits *lim)
{
	bool v2 = accept->version > 1;
	int i;

	lim->release = 0;
	hs_default_limits(lim);
	if (!smc_clc_mode_has(v2 ? prop->mode_v2 : prop->mode_v1, accept->mode))
		return SMC_DECL_MODEUNSUPP;
	if (!v2)
		return 0;

	for (i = 0; i < prop->num_eids; i++) {
		if (!memcmp(prop->eid[i], accept->eid, sizeof(accept->eid)))
			break;
	}
	if (i == prop->num_eids)
		return SMC_DECL_NOUEID;
	if (!accept->first_contact)
		return 0;

	if (!accept->has_fce || accept->release > prop->release)
		return SMC_DECL_RELEASEERR;
	lim->release = accept->release;
	if (!lim->release)
		return 0;
	if (accept->max_conns < SMC_HS_MIN_CONNS ||
	    accept->max_conns > prop->max_conns)
		return SMC_DECL_MAXCONNERR;
	if (!accept->max_links || accept->max_links > SMC_HS_MAX_LINKS ||
	    accept->max_links > prop->max_links)
		return SMC_DECL_MAXLINKERR;
	lim->max_conns = accept->max_conns;
	lim->max_links = accept->max_links;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(smc_hs_check_accept);

/**
 * smc_hs_check_confirm() - server: does the Confirm agree with our Accept?
 * @prop: received
 * @accept: sent
 * @confirm: received and decoded
 *
 * The GID is compared in first contact only: later a connection may run over
 * another link than the one whose GID was proposed. RFC 7609, 4.5; SMC version
 * 2 architecture document.
 *
 * Context: any.
 * Return: 0; enum smc_reason if negotiated values differ (first contact only,
 * when the client is not active yet); -EPROTO if it confirms something else
 */
int smc_hs_check_confirm(const struct smc_clc_proposal *prop,
			 const struct smc_clc_ac *accept,
			 const struct smc_clc_ac *confirm)
{
	bool v2 = accept->version > 1;
	const u8 *gid = v2 ? prop->gid_v2 : prop->gid_v1;

	if (confirm->version != accept->version ||
	    confirm->mode != accept->mode ||
	    confirm->first_contact != accept->first_contact)
		return -EPROTO;
	if (v2 && memcmp(confirm->eid, accept->eid, sizeof(accept->eid)))
		return -EPROTO;
	if (!accept->first_contact)
		return 0;
	if (memcmp(confirm->r.gid, gid, sizeof(confirm->r.gid)))
		return -EPROTO;
	if (!v2)
		return 0;

	if (!confirm->has_fce || confirm->release != accept->release)
		return SMC_DECL_RELEASEERR;
	if (!accept->release)
		return 0;
	if (confirm->max_conns != accept->max_conns)
		return SMC_DECL_MAXCONNERR;
	if (confirm->max_links != accept->max_links)
		return SMC_DECL_MAXLINKERR;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(smc_hs_check_confirm);
