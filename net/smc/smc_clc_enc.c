// SPDX-License-Identifier: GPL-2.0
/*
 * Writing CLC messages, v1, v2.0 and v2.1 (layer 0). RFC 7609, A.2, and IBM's
 * SMC version 2 architecture documents.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include <asm/byteorder.h>
#include <kunit/visibility.h>

#include "smc_clc_wire.h"

#define CLC_TRL_LEN	sizeof(struct smc_wire_clc_trl)

static void smc_clc_put_eyecatcher(u8 *dst, u8 mode)
{
	static const u8 smcr[4] = { 0xe2, 0xd4, 0xc3, 0xd9 };
	static const u8 smcd[4] = { 0xe2, 0xd4, 0xc3, 0xc4 };

	memcpy(dst, mode == SMC_MODE_D ? smcd : smcr, sizeof(smcr));
}

/* header and trailer of @len zeroed bytes; the eyecatcher is that of @mode */
static void smc_clc_put_frame(u8 *buf, u16 len, u8 type, u8 version, u8 flags,
			      u8 mode)
{
	struct smc_wire_clc_hdr *hdr = (void *)buf;

	smc_clc_put_eyecatcher(hdr->eyecatcher, mode);
	hdr->type = type;
	hdr->len = cpu_to_be16(len);
	hdr->flags = version << CLC_VERSION_SHIFT | flags;
	smc_clc_put_eyecatcher(buf + len - CLC_TRL_LEN, mode);
}

/*
 * Proposal
 */

static bool smc_clc_proposal_ok(const struct smc_clc_proposal *p)
{
	unsigned int i;

	if (p->version < 1 || p->version > 2 || p->mode_v1 > SMC_MODE_B ||
	    p->mode_v2 > SMC_MODE_B)
		return false;
	if (p->version == 1 &&
	    (p->mode_v1 == SMC_MODE_N || p->mode_v2 != SMC_MODE_N))
		return false;
	if (p->num_prefix6 > SMC_CLC_MAX_PREFIX6 ||
	    p->num_eids > SMC_CLC_MAX_EIDS || p->num_ism > SMC_CLC_MAX_ISM)
		return false;
	if (p->prefix4_len > CLC_MAX_PREFIX4_LEN || p->release > 15)
		return false;
	for (i = 0; i < p->num_prefix6; i++)
		if (p->prefix6[i].len > CLC_MAX_PREFIX6_LEN)
			return false;
	return true;
}

static size_t smc_clc_put_ism_area(u8 *dst, const struct smc_clc_proposal *p,
				   size_t v2_start)
{
	struct smc_wire_ism_area *area = (void *)dst;
	size_t base = sizeof(struct smc_wire_proposal) +
		      offsetof(struct smc_wire_ism_area, vendor);

	area->gid = cpu_to_be64(p->ism_gid);
	area->chid = cpu_to_be16(p->ism_chid);
	if (p->mode_v2 != SMC_MODE_N)
		area->v2_off = cpu_to_be16(v2_start - base);
	return sizeof(*area);
}

static size_t smc_clc_prefix_len(const struct smc_clc_proposal *p)
{
	if (p->mode_v1 == SMC_MODE_N)
		return 0;
	return struct_size_t(struct smc_wire_prefix_area, prefix6,
			     p->num_prefix6);
}

static void smc_clc_put_prefix(u8 *dst, const struct smc_clc_proposal *p)
{
	struct smc_wire_prefix_area *area = (void *)dst;
	unsigned int i;

	area->num_prefix6 = p->num_prefix6;
	if (!p->num_prefix6) {
		area->subnet4 = p->subnet4;
		area->prefix4_len = p->prefix4_len;
	}
	for (i = 0; i < p->num_prefix6; i++) {
		memcpy(area->prefix6[i].prefix, p->prefix6[i].prefix,
		       sizeof(area->prefix6[i].prefix));
		area->prefix6[i].len = p->prefix6[i].len;
	}
}

static size_t smc_clc_v2_ext_len(const struct smc_clc_proposal *p)
{
	if (p->mode_v2 == SMC_MODE_N)
		return 0;
	return struct_size_t(struct smc_wire_v2_ext, eid, p->num_eids);
}

static size_t smc_clc_d2_ext_len(const struct smc_clc_proposal *p)
{
	if (!smc_clc_mode_has(p->mode_v2, SMC_MODE_D))
		return 0;
	return struct_size_t(struct smc_wire_d2_ext, ism, p->num_ism);
}

static void smc_clc_put_d2_ext(u8 *dst, const struct smc_clc_proposal *p)
{
	struct smc_wire_d2_ext *ext = (void *)dst;
	unsigned int i;

	if (p->seid_flag)
		memcpy(ext->seid, p->seid, sizeof(ext->seid));
	for (i = 0; i < p->num_ism; i++) {
		ext->ism[i].gid = cpu_to_be64(p->ism[i].gid);
		ext->ism[i].chid = cpu_to_be16(p->ism[i].chid);
	}
}

/* v2 extension and, behind it, the D-v2 extension */
static void smc_clc_put_v2_ext(u8 *dst, const struct smc_clc_proposal *p)
{
	size_t d2_start = smc_clc_v2_ext_len(p);
	struct smc_wire_v2_ext *ext = (void *)dst;

	ext->num_eids = p->num_eids;
	ext->release = p->release << 4;
	memcpy(ext->gid, p->gid_v2, sizeof(ext->gid));
	if (p->release) {
		ext->max_conns = p->max_conns;
		ext->max_links = p->max_links;
		ext->features = cpu_to_be16(p->features);
	}
	memcpy(ext->eid, p->eid, p->num_eids * sizeof(p->eid[0]));

	if (!smc_clc_d2_ext_len(p))
		return;
	ext->num_ism = p->num_ism;
	if (p->seid_flag)
		ext->release |= CLC_F_SEID;
	ext->d2_off = cpu_to_be16(d2_start -
				  offsetof(struct smc_wire_v2_ext, gid));
	smc_clc_put_d2_ext(dst + d2_start, p);
}

/**
 * smc_clc_encode_proposal() - write a PROPOSAL
 * @buf: where to, any alignment
 * @room: bytes at @buf
 * @p: what to write. The modes decide which areas the message has, of the has_*
 *	members only @p->has_ism_area is looked at: without it a v1 message that
 *	offers R alone takes RFC 7609's short form
 *
 * RFC 7609, A.2.1; SMC version 2 architecture document. Context: any.
 *
 * Return: length written (at most 652), -EMSGSIZE if @room is too small,
 * -EINVAL if there is no such message
 */
int smc_clc_encode_proposal(void *buf, size_t room,
			    const struct smc_clc_proposal *p)
{
	size_t ip_off = 0, v2_start, end = sizeof(struct smc_wire_proposal);
	struct smc_wire_proposal *wire = buf;
	u8 flags = p->mode_v1;
	size_t len;

	if (!smc_clc_proposal_ok(p))
		return -EINVAL;
	if (p->version == 2 || p->mode_v1 != SMC_MODE_R || p->has_ism_area)
		ip_off = sizeof(struct smc_wire_ism_area);
	v2_start = end + ip_off + smc_clc_prefix_len(p);
	len = v2_start + smc_clc_v2_ext_len(p) + smc_clc_d2_ext_len(p) +
	      CLC_TRL_LEN;
	if (len > room)
		return -EMSGSIZE;
	memset(buf, 0, len);

	if (p->version == 2)
		flags |= p->mode_v2 << CLC_MODE_V2_SHIFT;
	smc_clc_put_frame(buf, len, SMC_CLC_PROPOSAL, p->version, flags,
			  SMC_MODE_R);
	memcpy(wire->peer_id, p->peer_id, sizeof(wire->peer_id));
	memcpy(wire->gid, p->gid_v1, sizeof(wire->gid));
	memcpy(wire->mac, p->mac, sizeof(wire->mac));

	if (ip_off)
		end += smc_clc_put_ism_area(buf + end, p, v2_start);
	if (p->mode_v1 != SMC_MODE_N) {
		wire->ip_off = cpu_to_be16(ip_off);
		smc_clc_put_prefix(buf + end, p);
	}
	if (p->mode_v2 != SMC_MODE_N)
		smc_clc_put_v2_ext(buf + v2_start, p);
	return len;
}
EXPORT_SYMBOL_IF_KUNIT(smc_clc_encode_proposal);

/*
 * Accept and Confirm
 */

static bool smc_clc_ac_ok(const struct smc_clc_ac *ac)
{
	if (ac->type != SMC_CLC_ACCEPT && ac->type != SMC_CLC_CONFIRM)
		return false;
	if (ac->version < 1 || ac->version > 2 || ac->mode > SMC_MODE_D)
		return false;
	if (ac->mode == SMC_MODE_R &&
	    (ac->r.qpn >> 24 || ac->r.psn >> 24 || ac->r.rmb_size_code > 15))
		return false;
	return ac->os <= 15 && ac->release <= 15 &&
	       ac->num_gids <= SMC_CLC_MAX_GIDS && smc_clc_ac_in_range(ac);
}

static bool smc_clc_ac_has_fce(const struct smc_clc_ac *ac)
{
	return ac->version == 2 && ac->first_contact;
}

static bool smc_clc_ac_has_gids(const struct smc_clc_ac *ac)
{
	return smc_clc_ac_has_fce(ac) && ac->mode == SMC_MODE_R &&
	       ac->type == SMC_CLC_CONFIRM;
}

static size_t smc_clc_ac_base_len(const struct smc_clc_ac *ac)
{
	if (ac->mode == SMC_MODE_D)
		return ac->version == 1 ? CLC_AC_D_V1_LEN :
					  sizeof(struct smc_wire_ac_d);
	return ac->version == 1 ? CLC_AC_R_V1_LEN :
				  sizeof(struct smc_wire_ac_r);
}

static size_t smc_clc_fce_len(const struct smc_clc_ac *ac)
{
	if (!smc_clc_ac_has_fce(ac))
		return 0;
	if (ac->mode == SMC_MODE_D && !ac->release)
		return CLC_FCE_SHORT_LEN;
	return sizeof(struct smc_wire_fce);
}

static size_t smc_clc_gids_len(const struct smc_clc_ac *ac)
{
	if (!smc_clc_ac_has_gids(ac))
		return 0;
	return struct_size_t(struct smc_wire_gid_list, gid, ac->num_gids);
}

static void smc_clc_put_ac_r(u8 *dst, const struct smc_clc_ac *ac)
{
	struct smc_wire_ac_r *wire = (void *)dst;

	memcpy(wire->peer_id, ac->r.peer_id, sizeof(wire->peer_id));
	memcpy(wire->gid, ac->r.gid, sizeof(wire->gid));
	memcpy(wire->mac, ac->r.mac, sizeof(wire->mac));
	put_unaligned_be24(ac->r.qpn, wire->qpn);
	wire->rkey = cpu_to_be32(ac->r.rkey);
	wire->rmbe_idx = ac->r.rmbe_idx;
	wire->token = cpu_to_be32(ac->r.token);
	wire->size_mtu = ac->r.rmb_size_code << 4 | ac->r.mtu;
	wire->rmb_addr = cpu_to_be64(ac->r.rmb_addr);
	put_unaligned_be24(ac->r.psn, wire->psn);
	if (ac->version == 2)
		memcpy(wire->eid, ac->eid, sizeof(wire->eid));
}

static void smc_clc_put_ac_d(u8 *dst, const struct smc_clc_ac *ac)
{
	struct smc_wire_ac_d *wire = (void *)dst;

	wire->gid = cpu_to_be64(ac->d.gid);
	wire->dmb_token = cpu_to_be64(ac->d.dmb_token);
	wire->dmbe_idx = ac->d.dmbe_idx;
	wire->size_code = ac->d.dmbe_size_code << 4;
	memcpy(wire->link_id, ac->d.link_id, sizeof(wire->link_id));
	if (ac->version == 2) {
		wire->chid = cpu_to_be16(ac->d.chid);
		memcpy(wire->eid, ac->eid, sizeof(wire->eid));
		wire->gid_ext = cpu_to_be64(ac->d.gid_ext);
	}
}

static void smc_clc_put_fce(u8 *dst, const struct smc_clc_ac *ac)
{
	struct smc_wire_fce *fce = (void *)dst;
	size_t host_len = strnlen(ac->host, sizeof(ac->host));

	if (ac->direct)
		fce->flags = CLC_F_DIRECT;
	fce->os_release = ac->os << 4 | ac->release;
	memset(fce->host, ' ', sizeof(fce->host));
	memcpy(fce->host, ac->host, host_len);
	if (!ac->release)
		return;
	fce->features = cpu_to_be16(ac->features);
	if (ac->mode == SMC_MODE_R) {
		fce->max_conns = ac->max_conns;
		fce->max_links = ac->max_links;
	}
}

static void smc_clc_put_gids(u8 *dst, const struct smc_clc_ac *ac)
{
	struct smc_wire_gid_list *list = (void *)dst;

	list->count = ac->num_gids;
	memcpy(list->gid, ac->gids, ac->num_gids * sizeof(ac->gids[0]));
}

/**
 * smc_clc_encode_ac() - write an ACCEPT or a CONFIRM
 * @buf: where to, any alignment
 * @room: bytes at @buf
 * @ac: what to write. @ac->has_fce is not looked at: version 2 with first
 *	contact has the extension. A host name that ends with a NUL is padded
 *	with blanks
 *
 * RFC 7609, A.2.2 and A.2.3; SMC version 2 architecture document. Context: any.
 *
 * Return: length written (at most 292), -EMSGSIZE if @room is too small,
 * -EINVAL if there is no such message or a receiver had to refuse its values
 */
int smc_clc_encode_ac(void *buf, size_t room, const struct smc_clc_ac *ac)
{
	size_t base, fce, gids, len;

	if (!smc_clc_ac_ok(ac))
		return -EINVAL;
	base = smc_clc_ac_base_len(ac);
	fce = smc_clc_fce_len(ac);
	gids = smc_clc_gids_len(ac);
	len = base + fce + gids + CLC_TRL_LEN;
	if (len > room)
		return -EMSGSIZE;
	memset(buf, 0, len);

	smc_clc_put_frame(buf, len, ac->type, ac->version, ac->mode |
			  (ac->first_contact ? CLC_F_FIRST_CONTACT : 0),
			  ac->mode);
	if (ac->mode == SMC_MODE_R)
		smc_clc_put_ac_r(buf, ac);
	else
		smc_clc_put_ac_d(buf, ac);
	if (fce)
		smc_clc_put_fce(buf + base, ac);
	if (gids)
		smc_clc_put_gids(buf + base + fce, ac);
	return len;
}
EXPORT_SYMBOL_IF_KUNIT(smc_clc_encode_ac);

/**
 * smc_clc_encode_decline() - write a DECLINE
 * @buf: where to, any alignment
 * @room: bytes at @buf
 * @d: what to write; @d->version chooses between 28 and 44 bytes
 *
 * RFC 7609, A.2.4. Context: any.
 *
 * Return: length written, -EMSGSIZE if @room is too small, -EINVAL if there is
 * no such message
 */
int smc_clc_encode_decline(void *buf, size_t room,
			   const struct smc_clc_decline *d)
{
	struct smc_wire_decline *wire = buf;
	size_t len = CLC_TRL_LEN;

	if (d->version < 1 || d->version > 2 || d->os > 15)
		return -EINVAL;
	len += d->version == 1 ? CLC_DECLINE_V1_LEN : sizeof(*wire);
	if (len > room)
		return -EMSGSIZE;
	memset(buf, 0, len);

	smc_clc_put_frame(buf, len, SMC_CLC_DECLINE, d->version,
			  d->out_of_sync ? CLC_F_OUT_OF_SYNC : 0, SMC_MODE_R);
	memcpy(wire->peer_id, d->peer_id, sizeof(wire->peer_id));
	wire->diagnosis = cpu_to_be32(d->diagnosis);
	if (d->version == 2)
		wire->os = d->os << 4;
	return len;
}
EXPORT_SYMBOL_IF_KUNIT(smc_clc_encode_decline);
