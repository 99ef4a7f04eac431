// SPDX-License-Identifier: GPL-2.0
/*
 * Reading LLC messages, v1 and v2 (layer 0). RFC 7609, A.3, and IBM's SMC-Rv2
 * architecture document.
 *
 * Only the number of received bytes is trusted: length and count fields may
 * shorten what is read, never extend it. Whether a message makes sense for the
 * group and the link it came on is for the layers above, which have to answer
 * a bad request.
 */
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include <asm/byteorder.h>
#include <kunit/visibility.h>

#include "smc_llc_wire.h"

/* names and versions of the message types, indexed by type */
static const struct smc_llc_info {
	const char *name;
	u8 versions;		/* BIT(1) and BIT(2): may be received as such */
} smc_llc_infos[SMC_LLC_TYPE_MAX + 1] = {
	[SMC_LLC_CONFIRM_LINK]	    = { "CONFIRM LINK",	     BIT(1) | BIT(2) },
	[SMC_LLC_ADD_LINK]	    = { "ADD LINK",	     BIT(1) | BIT(2) },
	[SMC_LLC_ADD_LINK_CONT]	    = { "ADD LINK CONT",     BIT(1) },
	[SMC_LLC_DELETE_LINK]	    = { "DELETE LINK",	     BIT(1) | BIT(2) },
	[SMC_LLC_REQ_ADD_LINK]	    = { "REQ ADD LINK",	     BIT(2) },
	[SMC_LLC_CONFIRM_RKEY]	    = { "CONFIRM RKEY",	     BIT(1) | BIT(2) },
	[SMC_LLC_TEST_LINK]	    = { "TEST LINK",	     BIT(1) | BIT(2) },
	[SMC_LLC_CONFIRM_RKEY_CONT] = { "CONFIRM RKEY CONT", BIT(1) },
	[SMC_LLC_DELETE_RKEY]	    = { "DELETE RKEY",	     BIT(1) | BIT(2) },
};

/**
 * smc_llc_known() - is there a message of this type in this version?
 * @version: 1 or 2; 0 and higher ones are unknown
 * @type: enum smc_llc_type or anything else
 *
 * Context: any.
 *
 * Return: true if this side receives such messages
 */
bool smc_llc_known(u8 version, u8 type)
{
	return type < ARRAY_SIZE(smc_llc_infos) && version <= 2 &&
	       smc_llc_infos[type].versions & BIT(version);
}

/**
 * smc_llc_type_name() - name of a message type for traces
 * @type: enum smc_llc_type or anything else
 *
 * Context: any.
 *
 * Return: a constant string, never NULL
 */
const char *smc_llc_type_name(u8 type)
{
	if (type < ARRAY_SIZE(smc_llc_infos) && smc_llc_infos[type].name)
		return smc_llc_infos[type].name;
	return "unknown";
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_type_name);

/* Linux writes the v2 length in the byte order of its host, all others in
 * network order; no legal length has a second reading that is legal and
 * different in effect, because reading is bounded by the received length.
 */
static bool smc_llc_len_ok(const struct smc_wire_llc_hdr *hdr, u8 version)
{
	if (version == 1)
		return hdr->len[0] == SMC_LLC_LEN;
	return in_range(get_unaligned_be16(hdr->len), SMC_LLC_LEN,
			SMC_LLC_MAX_LEN - SMC_LLC_LEN + 1) ||
	       in_range(get_unaligned_le16(hdr->len), SMC_LLC_LEN,
			SMC_LLC_MAX_LEN - SMC_LLC_LEN + 1);
}

static void smc_llc_get_pair(const struct smc_wire_rkey_pair *wire,
			     struct smc_llc_rkey *out)
{
	out->link = 0;
	out->ref_rkey = be32_to_cpu(wire->ref_rkey);
	out->rkey = be32_to_cpu(wire->rkey);
	out->addr = be64_to_cpu(wire->addr);
}

static void smc_llc_decode_confirm_link(const void *data, struct smc_llc *msg)
{
	const struct smc_wire_confirm_link *wire = data;

	msg->no_eyecatcher = wire->hdr.flags & LLC_F_NO_EYECATCHER;
	memcpy(msg->mac, wire->mac, sizeof(msg->mac));
	memcpy(msg->gid, wire->gid, sizeof(msg->gid));
	msg->qpn = get_unaligned_be24(wire->qpn);
	msg->link = wire->link;
	memcpy(msg->link_uid, wire->link_uid, sizeof(msg->link_uid));
	msg->max_links = wire->max_links;
	msg->max_conns = wire->max_conns;
}

static void smc_llc_decode_add_ext(const void *data, size_t len,
				   struct smc_llc *msg)
{
	const struct smc_wire_add_link_v2 *wire = data;

	if (msg->version != 2 || msg->rejected || len < sizeof(*wire))
		return;
	msg->add_ext = true;
	msg->direct = wire->flags & LLC_EXT_DIRECT;
	memcpy(msg->target_gid, wire->target_gid, sizeof(msg->target_gid));
	/* at most 255 in either byte order: one byte is zero or both are equal */
	msg->claimed_rkeys = wire->count[0] | wire->count[1];
	msg->num_rkeys = min_t(size_t, msg->claimed_rkeys,
			       (len - sizeof(*wire)) / sizeof(wire->pair[0]));
	msg->list = (const u8 *)wire->pair;
}

static void smc_llc_decode_add_link(const void *data, size_t len,
				    struct smc_llc *msg)
{
	const struct smc_wire_add_link *wire = data;

	memcpy(msg->mac, wire->mac, sizeof(msg->mac));
	memcpy(msg->gid, wire->gid, sizeof(msg->gid));
	msg->qpn = get_unaligned_be24(wire->qpn);
	msg->link = wire->link;
	msg->mtu = wire->mtu & 0x0f;
	msg->psn = get_unaligned_be24(wire->psn);
	msg->rejected = msg->response && wire->hdr.flags & SMC_LLC_F_REJECT;
	if (msg->rejected)
		msg->reject_reason = msg->version == 1 ?
				     wire->hdr.len[1] & LLC_REASON_V1 :
				     wire->hdr.flags & LLC_F_REASON_V2;
	smc_llc_decode_add_ext(data, len, msg);
}

static void smc_llc_decode_add_link_cont(const void *data, struct smc_llc *msg)
{
	const struct smc_wire_add_link_cont *wire = data;
	unsigned int i;

	msg->link = wire->link;
	msg->claimed_rkeys = wire->count;
	msg->num_rkeys = min_t(u16, wire->count, ARRAY_SIZE(wire->pair));
	for (i = 0; i < msg->num_rkeys; i++)
		smc_llc_get_pair(&wire->pair[i], &msg->other[i]);
}

static void smc_llc_decode_delete_link(const void *data, struct smc_llc *msg)
{
	const struct smc_wire_delete_link *wire = data;

	msg->all = wire->hdr.flags & LLC_F_DEL_ALL;
	msg->orderly = wire->hdr.flags & LLC_F_DEL_ORDERLY;
	msg->link = wire->link;
	msg->reason = be32_to_cpu(wire->reason);
}

static void smc_llc_decode_req_add_link(const void *data, size_t len,
					struct smc_llc *msg)
{
	const struct smc_wire_req_add_link *wire = data;

	if (msg->response) {
		msg->rejected = wire->hdr.flags & SMC_LLC_F_REJECT;
		msg->reject_reason = wire->hdr.flags & LLC_F_REASON_V2;
		return;
	}
	msg->num_gids = min_t(size_t, wire->count,
			      (len - sizeof(*wire)) / sizeof(wire->gid[0]));
	msg->list = (const u8 *)wire->gid;
}

static void smc_llc_decode_confirm_rkey(const void *data, struct smc_llc *msg)
{
	const struct smc_wire_confirm_rkey *wire = data;
	unsigned int i;

	if (msg->response) {
		msg->rejected = wire->hdr.flags & SMC_LLC_F_NEG_RKEY;
		msg->retry = wire->hdr.flags & SMC_LLC_F_RETRY_RKEY;
	}
	msg->claimed_rkeys = wire->count;
	msg->num_rkeys = min_t(u16, wire->count, ARRAY_SIZE(wire->other));
	msg->rkey.rkey = be32_to_cpu(wire->rkey);
	msg->rkey.addr = be64_to_cpu(wire->addr);
	for (i = 0; i < msg->num_rkeys; i++) {
		msg->other[i].link = wire->other[i].link;
		msg->other[i].rkey = be32_to_cpu(wire->other[i].rkey);
		msg->other[i].addr = be64_to_cpu(wire->other[i].addr);
	}
}

static void smc_llc_decode_delete_rkey(const void *data, size_t len,
				       struct smc_llc *msg)
{
	const struct smc_wire_delete_rkey *wire = data;
	size_t room = (len - sizeof(*wire)) / sizeof(wire->rkey[0]);

	if (msg->version == 1)
		room = min_t(size_t, room, LLC_DEL_RKEYS_V1);
	msg->rejected = msg->response && wire->hdr.flags & SMC_LLC_F_NEG_RKEY;
	msg->claimed_rkeys = wire->count;
	msg->num_rkeys = min_t(size_t, wire->count, room);
	msg->err_mask = wire->err_mask;
	msg->list = (const u8 *)wire->rkey;
}

/**
 * smc_llc_decode() - read an LLC message
 * @data: message as received, any alignment; byte 0 tells LLC from CDC
 * @len: number of bytes received
 * @msg: filled on success, members that the type does not have are zero
 *
 * All counts are bounded by @len. On success @msg->list points into @data,
 * which has to live as long as the list is read. Values (link numbers, MTU,
 * keys) are handed on unchecked. RFC 7609, A.3; SMC-Rv2 architecture document.
 * Context: any.
 *
 * Return: 0, or -EPROTO if the message is cut, has a length field out of
 * 44..8192, or a version or type that this side does not receive
 */
int smc_llc_decode(const void *data, size_t len, struct smc_llc *msg)
{
	const struct smc_wire_llc_hdr *hdr = data;
	u8 version, type;

	if (len < SMC_LLC_LEN)
		return -EPROTO;
	if ((hdr->type & 0xf0) == LLC_VERSION_V2)
		version = 2;
	else if ((hdr->type & 0xf0) == 0)
		version = 1;
	else
		return -EPROTO;
	type = hdr->type & 0x0f;
	if (!smc_llc_known(version, type) || !smc_llc_len_ok(hdr, version))
		return -EPROTO;

	memset(msg, 0, sizeof(*msg));
	msg->version = version;
	msg->type = type;
	msg->response = hdr->flags & SMC_LLC_F_RESP;

	switch (type) {
	case SMC_LLC_CONFIRM_LINK:
		smc_llc_decode_confirm_link(data, msg);
		break;
	case SMC_LLC_ADD_LINK:
		smc_llc_decode_add_link(data, len, msg);
		break;
	case SMC_LLC_ADD_LINK_CONT:
		smc_llc_decode_add_link_cont(data, msg);
		break;
	case SMC_LLC_DELETE_LINK:
		smc_llc_decode_delete_link(data, msg);
		break;
	case SMC_LLC_REQ_ADD_LINK:
		smc_llc_decode_req_add_link(data, len, msg);
		break;
	case SMC_LLC_CONFIRM_RKEY:
		smc_llc_decode_confirm_rkey(data, msg);
		break;
	case SMC_LLC_TEST_LINK:
		memcpy(msg->user_data,
		       ((const struct smc_wire_test_link *)data)->user_data,
		       sizeof(msg->user_data));
		break;
	case SMC_LLC_DELETE_RKEY:
		smc_llc_decode_delete_rkey(data, len, msg);
		break;
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_decode);

/**
 * smc_llc_list_rkey() - read a key of a decoded v2 ADD LINK
 * @msg: decoded message
 * @i: index, below @msg->num_rkeys
 * @out: the key, @out->link is zero
 *
 * Context: any.
 */
void smc_llc_list_rkey(const struct smc_llc *msg, unsigned int i,
		       struct smc_llc_rkey *out)
{
	const struct smc_wire_rkey_pair *pair = (const void *)msg->list;

	smc_llc_get_pair(&pair[i], out);
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_list_rkey);

/**
 * smc_llc_list_del_rkey() - read a key of a decoded DELETE RKEY
 * @msg: decoded message
 * @i: index, below @msg->num_rkeys
 *
 * Context: any.
 *
 * Return: the key, as known on the carrying link
 */
u32 smc_llc_list_del_rkey(const struct smc_llc *msg, unsigned int i)
{
	return get_unaligned_be32(msg->list + i * sizeof(__be32));
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_list_del_rkey);

/**
 * smc_llc_list_gid() - read a GID of a decoded REQ ADD LINK
 * @msg: decoded message
 * @i: index, below @msg->num_gids
 * @gid: where it goes
 *
 * Context: any.
 */
void smc_llc_list_gid(const struct smc_llc *msg, unsigned int i, u8 gid[16])
{
	memcpy(gid, msg->list + i * 16, 16);
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_list_gid);
