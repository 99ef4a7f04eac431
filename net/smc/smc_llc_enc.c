// SPDX-License-Identifier: GPL-2.0
/*
 * Writing LLC messages, v1 and v2 (layer 0). RFC 7609, A.3, and IBM's SMC-Rv2
 * architecture document.
 */
#include <linux/array_size.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include <asm/byteorder.h>
#include <kunit/visibility.h>

#include "smc_llc_wire.h"

static void smc_llc_put_pair(struct smc_wire_rkey_pair *wire,
			     const struct smc_llc_rkey *in)
{
	wire->ref_rkey = cpu_to_be32(in->ref_rkey);
	wire->rkey = cpu_to_be32(in->rkey);
	wire->addr = cpu_to_be64(in->addr);
}

/* a v1 response to DELETE RKEY repeats the keys, a v2 one only counts */
static bool smc_llc_lists_rkeys(const struct smc_llc *msg)
{
	return msg->version == 1 || !msg->response;
}

/* length of the message that @msg describes, -EINVAL if there is none */
static int smc_llc_encoded_len(const struct smc_llc *msg)
{
	size_t len = SMC_LLC_LEN;

	if (msg->version < 1 || !smc_llc_known(msg->version, msg->type))
		return -EINVAL;

	switch (msg->type) {
	case SMC_LLC_ADD_LINK:
		if (msg->version == 1 || msg->rejected)
			break;
		if (msg->num_rkeys > SMC_LLC_MAX_RKEYS)
			return -EINVAL;
		len = struct_size_t(struct smc_wire_add_link_v2, pair,
				    msg->num_rkeys);
		break;
	case SMC_LLC_ADD_LINK_CONT:
		if (msg->num_rkeys > ARRAY_SIZE(msg->other) ||
		    msg->claimed_rkeys > U8_MAX)
			return -EINVAL;
		break;
	case SMC_LLC_REQ_ADD_LINK:
		if (!msg->response)
			len = struct_size_t(struct smc_wire_req_add_link, gid,
					    msg->num_gids);
		break;
	case SMC_LLC_CONFIRM_RKEY:
		if (msg->num_rkeys > ARRAY_SIZE(msg->other))
			return -EINVAL;
		break;
	case SMC_LLC_CONFIRM_RKEY_CONT:
		return -EINVAL;
	case SMC_LLC_DELETE_RKEY:
		if (msg->num_rkeys > (msg->version == 1 ? LLC_DEL_RKEYS_V1 :
				      SMC_LLC_MAX_RKEYS))
			return -EINVAL;
		if (!smc_llc_lists_rkeys(msg))
			break;
		len = struct_size_t(struct smc_wire_delete_rkey, rkey,
				    msg->num_rkeys);
		break;
	}
	return max_t(size_t, len, SMC_LLC_LEN);
}

static u8 smc_llc_encode_flags(const struct smc_llc *msg)
{
	u8 flags = msg->response ? SMC_LLC_F_RESP : 0;

	switch (msg->type) {
	case SMC_LLC_CONFIRM_LINK:
		if (msg->no_eyecatcher)
			flags |= LLC_F_NO_EYECATCHER;
		break;
	case SMC_LLC_ADD_LINK:
	case SMC_LLC_REQ_ADD_LINK:
		if (!msg->rejected)
			break;
		flags |= SMC_LLC_F_REJECT;
		if (msg->version == 2)
			flags |= msg->reject_reason & LLC_F_REASON_V2;
		break;
	case SMC_LLC_DELETE_LINK:
		if (msg->all)
			flags |= LLC_F_DEL_ALL;
		if (msg->orderly)
			flags |= LLC_F_DEL_ORDERLY;
		break;
	case SMC_LLC_CONFIRM_RKEY:
	case SMC_LLC_DELETE_RKEY:
		if (msg->rejected)
			flags |= SMC_LLC_F_NEG_RKEY;
		if (msg->retry)
			flags |= SMC_LLC_F_RETRY_RKEY;
		break;
	}
	return flags;
}

static void smc_llc_encode_hdr(void *buf, u16 len, const struct smc_llc *msg)
{
	struct smc_wire_llc_hdr *hdr = buf;

	hdr->type = msg->type;
	hdr->flags = smc_llc_encode_flags(msg);
	if (msg->version == 2) {
		hdr->type |= LLC_VERSION_V2;
		put_unaligned_be16(len, hdr->len);
		return;
	}
	hdr->len[0] = len;
	if (msg->type == SMC_LLC_ADD_LINK && msg->rejected)
		hdr->len[1] = msg->reject_reason & LLC_REASON_V1;
}

static void smc_llc_encode_confirm_link(void *buf, const struct smc_llc *msg)
{
	struct smc_wire_confirm_link *wire = buf;

	memcpy(wire->mac, msg->mac, sizeof(wire->mac));
	memcpy(wire->gid, msg->gid, sizeof(wire->gid));
	put_unaligned_be24(msg->qpn, wire->qpn);
	wire->link = msg->link;
	memcpy(wire->link_uid, msg->link_uid, sizeof(wire->link_uid));
	wire->max_links = msg->max_links;
	wire->max_conns = msg->max_conns;
}

static void smc_llc_encode_add_ext(void *buf, const struct smc_llc *msg)
{
	struct smc_wire_add_link_v2 *wire = buf;

	if (msg->version != 2 || msg->rejected)
		return;
	if (msg->direct)
		wire->flags = LLC_EXT_DIRECT;
	memcpy(wire->target_gid, msg->target_gid, sizeof(wire->target_gid));
	put_unaligned_be16(msg->num_rkeys, wire->count);
	/* a Linux peer looks at the byte that is the low one on its host */
	if (msg->count_both)
		wire->count[0] = msg->num_rkeys;
	if (msg->list)
		memcpy(wire->pair, msg->list,
		       msg->num_rkeys * sizeof(wire->pair[0]));
}

static void smc_llc_encode_add_link(void *buf, const struct smc_llc *msg)
{
	struct smc_wire_add_link *wire = buf;

	memcpy(wire->mac, msg->mac, sizeof(wire->mac));
	memcpy(wire->gid, msg->gid, sizeof(wire->gid));
	put_unaligned_be24(msg->qpn, wire->qpn);
	wire->link = msg->link;
	wire->mtu = msg->mtu & 0x0f;
	put_unaligned_be24(msg->psn, wire->psn);
	smc_llc_encode_add_ext(buf, msg);
}

static void smc_llc_encode_add_link_cont(void *buf, const struct smc_llc *msg)
{
	struct smc_wire_add_link_cont *wire = buf;
	unsigned int i;

	wire->link = msg->link;
	wire->count = msg->claimed_rkeys;
	for (i = 0; i < msg->num_rkeys; i++)
		smc_llc_put_pair(&wire->pair[i], &msg->other[i]);
}

static void smc_llc_encode_delete_link(void *buf, const struct smc_llc *msg)
{
	struct smc_wire_delete_link *wire = buf;

	wire->link = msg->link;
	wire->reason = cpu_to_be32(msg->reason);
}

static void smc_llc_encode_req_add_link(void *buf, const struct smc_llc *msg)
{
	struct smc_wire_req_add_link *wire = buf;

	if (msg->response)
		return;
	wire->count = msg->num_gids;
	if (msg->list)
		memcpy(wire->gid, msg->list,
		       msg->num_gids * sizeof(wire->gid[0]));
}

static void smc_llc_encode_confirm_rkey(void *buf, const struct smc_llc *msg)
{
	struct smc_wire_confirm_rkey *wire = buf;
	unsigned int i;

	wire->count = msg->num_rkeys;
	wire->rkey = cpu_to_be32(msg->rkey.rkey);
	wire->addr = cpu_to_be64(msg->rkey.addr);
	for (i = 0; i < msg->num_rkeys; i++) {
		wire->other[i].link = msg->other[i].link;
		wire->other[i].rkey = cpu_to_be32(msg->other[i].rkey);
		wire->other[i].addr = cpu_to_be64(msg->other[i].addr);
	}
}

static void smc_llc_encode_delete_rkey(void *buf, const struct smc_llc *msg)
{
	struct smc_wire_delete_rkey *wire = buf;

	wire->count = msg->num_rkeys;
	wire->err_mask = msg->err_mask;
	if (msg->list && smc_llc_lists_rkeys(msg))
		memcpy(wire->rkey, msg->list,
		       msg->num_rkeys * sizeof(wire->rkey[0]));
}

/**
 * smc_llc_encode() - write an LLC message
 * @buf: where to, any alignment; must not overlap @msg->list
 * @room: bytes at @buf; SMC_LLC_LEN do for all but v2 ADD LINK, REQ ADD LINK
 *	and DELETE RKEY of more than 9 keys
 * @msg: what to write. @msg->list may be NULL: the entries are zero then, to be
 *	set with smc_llc_set_rkey(), smc_llc_set_del_rkey(), smc_llc_set_gid().
 *	@msg->claimed_rkeys is used by ADD LINK CONT only, other messages count
 *	@msg->num_rkeys
 *
 * RFC 7609, A.3; SMC-Rv2 architecture document. Context: any.
 *
 * Return: length written, -EMSGSIZE if @room is too small, -EINVAL if there is
 * no such message (version and type do not fit, too many keys)
 */
int smc_llc_encode(void *buf, size_t room, const struct smc_llc *msg)
{
	struct smc_wire_test_link *test = buf;
	int len = smc_llc_encoded_len(msg);

	if (len < 0)
		return len;
	if (len > room)
		return -EMSGSIZE;

	memset(buf, 0, len);
	smc_llc_encode_hdr(buf, len, msg);

	switch (msg->type) {
	case SMC_LLC_CONFIRM_LINK:
		smc_llc_encode_confirm_link(buf, msg);
		break;
	case SMC_LLC_ADD_LINK:
		smc_llc_encode_add_link(buf, msg);
		break;
	case SMC_LLC_ADD_LINK_CONT:
		smc_llc_encode_add_link_cont(buf, msg);
		break;
	case SMC_LLC_DELETE_LINK:
		smc_llc_encode_delete_link(buf, msg);
		break;
	case SMC_LLC_REQ_ADD_LINK:
		smc_llc_encode_req_add_link(buf, msg);
		break;
	case SMC_LLC_CONFIRM_RKEY:
		smc_llc_encode_confirm_rkey(buf, msg);
		break;
	case SMC_LLC_TEST_LINK:
		memcpy(test->user_data, msg->user_data,
		       sizeof(test->user_data));
		break;
	case SMC_LLC_DELETE_RKEY:
		smc_llc_encode_delete_rkey(buf, msg);
		break;
	}
	return len;
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_encode);

/**
 * smc_llc_reply_echo() - turn a request into its response in place
 * @buf: request of at least SMC_LLC_LEN bytes
 * @flags: SMC_LLC_F_* to set beside the response flag
 *
 * For TEST LINK, CONFIRM RKEY and DELETE RKEY (v1), whose responses repeat the
 * request. RFC 7609, A.3. Context: any.
 */
void smc_llc_reply_echo(void *buf, u8 flags)
{
	struct smc_wire_llc_hdr *hdr = buf;

	hdr->flags |= SMC_LLC_F_RESP | flags;
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_reply_echo);

/**
 * smc_llc_set_rkey() - set a key of an encoded v2 ADD LINK
 * @buf: message written by smc_llc_encode()
 * @i: index, below the number of keys it was written with
 * @rkey: key on the carrying link, key and address on the new link
 *
 * Context: any.
 */
void smc_llc_set_rkey(void *buf, unsigned int i,
		      const struct smc_llc_rkey *rkey)
{
	struct smc_wire_add_link_v2 *wire = buf;

	smc_llc_put_pair(&wire->pair[i], rkey);
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_set_rkey);

/**
 * smc_llc_set_del_rkey() - set a key of an encoded DELETE RKEY
 * @buf: message written by smc_llc_encode()
 * @i: index, below the number of keys it was written with
 * @rkey: key as known on the carrying link
 *
 * Context: any.
 */
void smc_llc_set_del_rkey(void *buf, unsigned int i, u32 rkey)
{
	struct smc_wire_delete_rkey *wire = buf;

	wire->rkey[i] = cpu_to_be32(rkey);
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_set_del_rkey);

/**
 * smc_llc_set_gid() - set a GID of an encoded REQ ADD LINK
 * @buf: message written by smc_llc_encode()
 * @i: index, below the number of GIDs it was written with
 * @gid: the GID
 *
 * Context: any.
 */
void smc_llc_set_gid(void *buf, unsigned int i, const u8 gid[16])
{
	struct smc_wire_req_add_link *wire = buf;

	memcpy(wire->gid[i], gid, sizeof(wire->gid[i]));
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_set_gid);
