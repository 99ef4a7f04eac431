// SPDX-License-Identifier: GPL-2.0
/*
 * Reading CLC messages, v1, v2.0 and v2.1 (layer 0). RFC 7609, A.2, and IBM's
 * SMC version 2 architecture documents.
 *
 * All bytes come from an unauthenticated peer. Each area is taken with
 * smc_clc_area(), which grants only what lies in front of the trailer, so an
 * offset or a count can shrink the result or make the message malformed, but
 * never reach outside. Areas come in a fixed order and must not overlap. Bytes
 * between the areas and behind the last one belong to newer peers and are
 * skipped, the same holds for reserved fields.
 */
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include <asm/byteorder.h>
#include <kunit/visibility.h>

#include "smc_clc_wire.h"

/* what lies in front of the trailer */
struct smc_clc_body {
	const u8 *data;
	size_t len;
};

/* @size bytes at @off, NULL if they are not all there */
static const void *smc_clc_area(const struct smc_clc_body *body, size_t off,
				size_t size)
{
	if (off > body->len || size > body->len - off)
		return NULL;
	return body->data + off;
}

/**
 * smc_clc_is_eyecatcher() - do these bytes begin like a CLC message?
 * @data: first bytes received
 * @len: how many; with fewer than 4 the ones there are compared
 *
 * For a server that peeks: a stream that does not begin so carries the
 * application's data. RFC 7609, A.2. Context: any.
 *
 * Return: true if @data is (the begin of) "SMCR" or "SMCD" in EBCDIC
 */
bool smc_clc_is_eyecatcher(const void *data, size_t len)
{
	static const u8 smcr[4] = { 0xe2, 0xd4, 0xc3, 0xd9 };
	static const u8 smcd[4] = { 0xe2, 0xd4, 0xc3, 0xc4 };

	len = min(len, sizeof(smcr));
	return !memcmp(data, smcr, len) || !memcmp(data, smcd, len);
}
EXPORT_SYMBOL_IF_KUNIT(smc_clc_is_eyecatcher);

/**
 * smc_clc_decode_hdr() - read the header of a message
 * @data: first bytes of the message
 * @len: how many there are; SMC_CLC_HDR_LEN are enough
 * @hdr: filled on success; version is the raw nibble
 *
 * Tells how much to read from the stream. RFC 7609, A.2. Context: any.
 *
 * Return: 0, or -EPROTO if this is no header of a message: too short, wrong
 * eyecatcher, type not 1..4, version 0, length out of 28..SMC_CLC_MAX_LEN
 */
int smc_clc_decode_hdr(const void *data, size_t len, struct smc_clc_hdr *hdr)
{
	const struct smc_wire_clc_hdr *wire = data;

	if (len < sizeof(*wire) ||
	    !smc_clc_is_eyecatcher(wire->eyecatcher, sizeof(wire->eyecatcher)))
		return -EPROTO;

	hdr->type = wire->type;
	hdr->version = wire->flags >> CLC_VERSION_SHIFT;
	hdr->len = be16_to_cpu(wire->len);
	if (hdr->type < SMC_CLC_PROPOSAL || hdr->type > SMC_CLC_DECLINE ||
	    !hdr->version)
		return -EPROTO;
	if (hdr->len < CLC_DECLINE_V1_LEN + sizeof(struct smc_wire_clc_trl) ||
	    hdr->len > SMC_CLC_MAX_LEN)
		return -EPROTO;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(smc_clc_decode_hdr);

/* header of a complete message; @body is what its areas may use */
static int smc_clc_open(const void *data, size_t len, struct smc_clc_hdr *hdr,
			struct smc_clc_body *body)
{
	if (smc_clc_decode_hdr(data, len, hdr) || hdr->len != len)
		return -EPROTO;
	body->data = data;
	body->len = len - sizeof(struct smc_wire_clc_trl);
	return 0;
}

static bool smc_clc_trailer_ok(const struct smc_clc_body *body)
{
	return smc_clc_is_eyecatcher(body->data + body->len,
				     sizeof(struct smc_wire_clc_trl));
}

/*
 * Proposal
 */

/* The SMC-D area is there if the prefix area leaves room in front of it. With
 * no v1 mode there is no prefix area, and its offset has no meaning.
 */
static int smc_clc_decode_ism_area(const struct smc_clc_body *body, u16 ip_off,
				   struct smc_clc_proposal *p, size_t *v2_start)
{
	const struct smc_wire_ism_area *area;
	size_t start = sizeof(struct smc_wire_proposal);

	area = smc_clc_area(body, start, sizeof(*area));
	if (p->mode_v1 != SMC_MODE_N && ip_off < sizeof(*area))
		area = NULL;
	if (!area)
		return p->mode_v2 == SMC_MODE_N ? 0 : -EPROTO;

	p->has_ism_area = true;
	p->ism_gid = be64_to_cpu(area->gid);
	p->ism_chid = be16_to_cpu(area->chid);
	*v2_start = start + offsetof(struct smc_wire_ism_area, vendor) +
		    be16_to_cpu(area->v2_off);
	return 0;
}

static int smc_clc_decode_prefix(const struct smc_clc_body *body, size_t start,
				 struct smc_clc_proposal *p, size_t *end)
{
	const struct smc_wire_prefix_area *area;
	unsigned int i;
	size_t size;

	area = smc_clc_area(body, start, sizeof(*area));
	if (!area || area->num_prefix6 > SMC_CLC_MAX_PREFIX6)
		return -EPROTO;
	size = struct_size(area, prefix6, area->num_prefix6);
	if (!smc_clc_area(body, start, size))
		return -EPROTO;

	p->has_prefix = true;
	p->num_prefix6 = area->num_prefix6;
	for (i = 0; i < area->num_prefix6; i++) {
		if (area->prefix6[i].len > CLC_MAX_PREFIX6_LEN)
			return -EPROTO;
		memcpy(p->prefix6[i].prefix, area->prefix6[i].prefix,
		       sizeof(p->prefix6[i].prefix));
		p->prefix6[i].len = area->prefix6[i].len;
	}
	/* with IPv6 prefixes the IPv4 fields have no meaning */
	if (!area->num_prefix6) {
		if (area->prefix4_len > CLC_MAX_PREFIX4_LEN)
			return -EPROTO;
		p->subnet4 = area->subnet4;
		p->prefix4_len = area->prefix4_len;
	}
	*end = start + size;
	return 0;
}

/* An offset that leads nowhere makes the extension absent, not the message
 * malformed: the peer still offers the other modes. Entries that the extension
 * claims have to be there.
 */
static int smc_clc_decode_d2_ext(const struct smc_clc_body *body, size_t start,
				 size_t prev_end, u8 num_ism,
				 struct smc_clc_proposal *p)
{
	const struct smc_wire_d2_ext *ext;
	unsigned int i;

	if (num_ism > SMC_CLC_MAX_ISM)
		return -EPROTO;
	ext = smc_clc_area(body, start, sizeof(*ext));
	if (!ext || start < prev_end)
		return 0;
	if (!smc_clc_area(body, start, struct_size(ext, ism, num_ism)))
		return -EPROTO;

	p->has_d2 = true;
	memcpy(p->seid, ext->seid, sizeof(p->seid));
	p->num_ism = num_ism;
	for (i = 0; i < num_ism; i++) {
		p->ism[i].gid = be64_to_cpu(ext->ism[i].gid);
		p->ism[i].chid = be16_to_cpu(ext->ism[i].chid);
	}
	return 0;
}

static int smc_clc_decode_v2_ext(const struct smc_clc_body *body, size_t start,
				 size_t prev_end, struct smc_clc_proposal *p)
{
	const struct smc_wire_v2_ext *ext;
	size_t size;

	ext = smc_clc_area(body, start, sizeof(*ext));
	if (!ext || start < prev_end || ext->num_eids > SMC_CLC_MAX_EIDS)
		return -EPROTO;
	size = struct_size(ext, eid, ext->num_eids);
	if (!smc_clc_area(body, start, size))
		return -EPROTO;

	p->has_v2 = true;
	p->release = ext->release >> 4;
	p->seid_flag = ext->release & CLC_F_SEID;
	p->num_eids = ext->num_eids;
	memcpy(p->eid, ext->eid, ext->num_eids * sizeof(p->eid[0]));
	memcpy(p->gid_v2, ext->gid, sizeof(p->gid_v2));
	if (p->release) {
		p->max_conns = ext->max_conns;
		p->max_links = ext->max_links;
		p->features = be16_to_cpu(ext->features);
	}
	if (!smc_clc_mode_has(p->mode_v2, SMC_MODE_D))
		return 0;
	start += offsetof(struct smc_wire_v2_ext, gid);
	return smc_clc_decode_d2_ext(body, start + be16_to_cpu(ext->d2_off),
				     start + size -
				     offsetof(struct smc_wire_v2_ext, gid),
				     ext->num_ism, p);
}

/**
 * smc_clc_decode_proposal() - read a PROPOSAL
 * @data: the message, any alignment
 * @len: length received, must be what the header says
 * @p: filled; content undefined on error
 *
 * Versions above 2 are read as 2. An SMC-D area that a v1 message leaves no
 * room for, and a D-v2 extension with a wrong offset, count as absent. Not
 * checked: whether EIDs, GIDs and limits can be used.
 * RFC 7609, A.2.1; SMC version 2 architecture document. Context: any.
 *
 * Return: 0, or -EPROTO for a malformed message
 */
int smc_clc_decode_proposal(const void *data, size_t len,
			    struct smc_clc_proposal *p)
{
	size_t end = sizeof(struct smc_wire_proposal), v2_start = 0;
	const struct smc_wire_proposal *wire;
	struct smc_clc_body body;
	struct smc_clc_hdr hdr;
	u16 ip_off;

	if (smc_clc_open(data, len, &hdr, &body) ||
	    hdr.type != SMC_CLC_PROPOSAL || !smc_clc_trailer_ok(&body))
		return -EPROTO;
	wire = smc_clc_area(&body, 0, sizeof(*wire));
	if (!wire)
		return -EPROTO;

	memset(p, 0, sizeof(*p));
	p->version = min(hdr.version, 2);
	p->mode_v1 = wire->hdr.flags & CLC_MODE_MASK;
	p->mode_v2 = SMC_MODE_N;
	if (p->version == 2)
		p->mode_v2 = wire->hdr.flags >> CLC_MODE_V2_SHIFT &
			     CLC_MODE_MASK;
	else if (p->mode_v1 == SMC_MODE_N)
		return -EPROTO;
	memcpy(p->peer_id, wire->peer_id, sizeof(p->peer_id));
	memcpy(p->gid_v1, wire->gid, sizeof(p->gid_v1));
	memcpy(p->mac, wire->mac, sizeof(p->mac));

	ip_off = be16_to_cpu(wire->ip_off);
	if (smc_clc_decode_ism_area(&body, ip_off, p, &v2_start))
		return -EPROTO;
	if (p->has_ism_area)
		end += sizeof(struct smc_wire_ism_area);
	if (p->mode_v1 != SMC_MODE_N &&
	    smc_clc_decode_prefix(&body, sizeof(*wire) + ip_off, p, &end))
		return -EPROTO;
	if (p->mode_v2 != SMC_MODE_N)
		return smc_clc_decode_v2_ext(&body, v2_start, end, p);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(smc_clc_decode_proposal);

/*
 * Accept and Confirm
 */

/**
 * smc_clc_ac_in_range() - can the values of an Accept or Confirm be used?
 * @ac: message; version and mode decide which members count
 *
 * Used in both directions: what would be refused is not sent either.
 * Context: any.
 * Return: false if one of them has no meaning, or would lead a writer out of
 * the address space
 */
bool smc_clc_ac_in_range(const struct smc_clc_ac *ac)
{
	u64 size, end;

	if (ac->mode == SMC_MODE_D)
		return ac->d.dmbe_size_code <= CLC_MAX_SIZE_CODE_D;

	if (!ac->r.qpn || !ac->r.rkey || !ac->r.token || !ac->r.rmbe_idx)
		return false;
	if (ac->r.mtu < 1 || ac->r.mtu > CLC_MAX_MTU)
		return false;
	size = (u64)smc_clc_code_to_size(ac->r.rmb_size_code) * ac->r.rmbe_idx;
	return !check_add_overflow(ac->r.rmb_addr, size - 1, &end);
}

static int smc_clc_decode_ac_r(const struct smc_clc_body *body,
			       struct smc_clc_ac *ac, size_t *end)
{
	const struct smc_wire_ac_r *wire;

	*end = ac->version == 1 ? CLC_AC_R_V1_LEN : sizeof(*wire);
	wire = smc_clc_area(body, 0, *end);
	if (!wire)
		return -EPROTO;

	memcpy(ac->r.peer_id, wire->peer_id, sizeof(ac->r.peer_id));
	memcpy(ac->r.gid, wire->gid, sizeof(ac->r.gid));
	memcpy(ac->r.mac, wire->mac, sizeof(ac->r.mac));
	ac->r.qpn = get_unaligned_be24(wire->qpn);
	ac->r.rkey = be32_to_cpu(wire->rkey);
	ac->r.rmbe_idx = wire->rmbe_idx;
	ac->r.token = be32_to_cpu(wire->token);
	ac->r.rmb_size_code = wire->size_mtu >> 4;
	ac->r.mtu = wire->size_mtu & 0x0f;
	ac->r.rmb_addr = be64_to_cpu(wire->rmb_addr);
	ac->r.psn = get_unaligned_be24(wire->psn);
	if (ac->version == 2)
		memcpy(ac->eid, wire->eid, sizeof(ac->eid));
	return 0;
}

static int smc_clc_decode_ac_d(const struct smc_clc_body *body,
			       struct smc_clc_ac *ac, size_t *end)
{
	const struct smc_wire_ac_d *wire;

	*end = ac->version == 1 ? CLC_AC_D_V1_LEN : sizeof(*wire);
	wire = smc_clc_area(body, 0, *end);
	if (!wire)
		return -EPROTO;

	ac->d.gid = be64_to_cpu(wire->gid);
	ac->d.dmb_token = be64_to_cpu(wire->dmb_token);
	ac->d.dmbe_idx = wire->dmbe_idx;
	ac->d.dmbe_size_code = wire->size_code >> 4;
	memcpy(ac->d.link_id, wire->link_id, sizeof(ac->d.link_id));
	if (ac->version == 2) {
		ac->d.chid = be16_to_cpu(wire->chid);
		memcpy(ac->eid, wire->eid, sizeof(ac->eid));
		ac->d.gid_ext = be64_to_cpu(wire->gid_ext);
	}
	return 0;
}

/* the name goes to netlink and logs: all printable, or nothing */
static void smc_clc_get_host(u8 *dst, const u8 *src)
{
	unsigned int i;

	for (i = 0; i < SMC_CLC_HOST_LEN; i++)
		if (!isascii(src[i]) || !isprint(src[i]))
			return;
	memcpy(dst, src, SMC_CLC_HOST_LEN);
}

static int smc_clc_decode_fce(const struct smc_clc_body *body, size_t start,
			      struct smc_clc_ac *ac, size_t *end)
{
	const struct smc_wire_fce *fce;
	size_t size = sizeof(*fce);

	fce = smc_clc_area(body, start, CLC_FCE_SHORT_LEN);
	if (!fce)
		return -EPROTO;
	ac->release = fce->os_release & 0x0f;
	if (ac->mode == SMC_MODE_D && !ac->release)
		size = CLC_FCE_SHORT_LEN;
	if (!smc_clc_area(body, start, size))
		return -EPROTO;

	ac->has_fce = true;
	ac->direct = fce->flags & CLC_F_DIRECT;
	ac->os = fce->os_release >> 4;
	smc_clc_get_host(ac->host, fce->host);
	if (ac->release) {
		ac->features = be16_to_cpu(fce->features);
		if (ac->mode == SMC_MODE_R) {
			ac->max_conns = fce->max_conns;
			ac->max_links = fce->max_links;
		}
	}
	*end = start + size;
	return 0;
}

/* A sender may leave the list out; one that it begins has to be complete.
 * GIDs beyond the number kept are skipped.
 */
static int smc_clc_decode_gid_list(const struct smc_clc_body *body,
				   size_t start, struct smc_clc_ac *ac)
{
	const struct smc_wire_gid_list *list;

	list = smc_clc_area(body, start, sizeof(*list));
	if (!list)
		return 0;
	if (!smc_clc_area(body, start, struct_size(list, gid, list->count)))
		return -EPROTO;
	ac->num_gids = min_t(u8, list->count, SMC_CLC_MAX_GIDS);
	memcpy(ac->gids, list->gid, ac->num_gids * sizeof(ac->gids[0]));
	return 0;
}

/**
 * smc_clc_decode_ac() - read an ACCEPT or a CONFIRM
 * @data: the message, any alignment
 * @len: length received, must be what the header says
 * @ac: filled; content undefined on error
 *
 * Refuses values that nothing can be done with (see smc_clc_ac_in_range()).
 * Not checked: whether version, mode, EID and GID are ones that were offered.
 * RFC 7609, A.2.2 and A.2.3; SMC version 2 architecture document. Context: any.
 *
 * Return: 0, or -EPROTO for a malformed message, among them a version that is
 * not 1 or 2, a mode that is not R or D, and a first contact bit in v2 without
 * the extension
 */
int smc_clc_decode_ac(const void *data, size_t len, struct smc_clc_ac *ac)
{
	const struct smc_wire_clc_hdr *wire = data;
	struct smc_clc_body body;
	struct smc_clc_hdr hdr;
	size_t end;
	int rc;

	if (smc_clc_open(data, len, &hdr, &body) ||
	    !smc_clc_trailer_ok(&body))
		return -EPROTO;
	if (hdr.type != SMC_CLC_ACCEPT && hdr.type != SMC_CLC_CONFIRM)
		return -EPROTO;
	if (hdr.version > 2)
		return -EPROTO;

	memset(ac, 0, sizeof(*ac));
	ac->type = hdr.type;
	ac->version = hdr.version;
	ac->mode = wire->flags & CLC_MODE_MASK;
	ac->first_contact = wire->flags & CLC_F_FIRST_CONTACT;

	if (ac->mode == SMC_MODE_R)
		rc = smc_clc_decode_ac_r(&body, ac, &end);
	else if (ac->mode == SMC_MODE_D)
		rc = smc_clc_decode_ac_d(&body, ac, &end);
	else
		rc = -EPROTO;
	if (rc)
		return rc;
	if (!smc_clc_ac_in_range(ac))
		return -EPROTO;
	if (ac->version == 1 || !ac->first_contact)
		return 0;

	rc = smc_clc_decode_fce(&body, end, ac, &end);
	if (rc || ac->type != SMC_CLC_CONFIRM || ac->mode != SMC_MODE_R)
		return rc;
	return smc_clc_decode_gid_list(&body, end, ac);
}
EXPORT_SYMBOL_IF_KUNIT(smc_clc_decode_ac);

/**
 * smc_clc_decode_decline() - read a DECLINE
 * @data: the message, any alignment
 * @len: length received, must be what the header says
 * @d: filled; content undefined on error
 *
 * Both forms are legal at any time; versions above 2 are read as 2. The
 * trailer is not looked at. RFC 7609, A.2.4. Context: any.
 *
 * Return: 0, or -EPROTO for a malformed message, among them any length but the
 * one of its version (28 or 44)
 */
int smc_clc_decode_decline(const void *data, size_t len,
			   struct smc_clc_decline *d)
{
	const struct smc_wire_decline *wire = data;
	struct smc_clc_body body;
	struct smc_clc_hdr hdr;

	if (smc_clc_open(data, len, &hdr, &body) ||
	    hdr.type != SMC_CLC_DECLINE)
		return -EPROTO;
	if (body.len != (hdr.version == 1 ? CLC_DECLINE_V1_LEN : sizeof(*wire)))
		return -EPROTO;

	memset(d, 0, sizeof(*d));
	d->version = min(hdr.version, 2);
	d->out_of_sync = wire->hdr.flags & CLC_F_OUT_OF_SYNC;
	memcpy(d->peer_id, wire->peer_id, sizeof(d->peer_id));
	d->diagnosis = be32_to_cpu(wire->diagnosis);
	if (d->version == 2)
		d->os = wire->os >> 4;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(smc_clc_decode_decline);
