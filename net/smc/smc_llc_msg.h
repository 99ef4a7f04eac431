/* SPDX-License-Identifier: GPL-2.0 */
/*
 * LLC wire forms, v1 and v2 (layer 0): bytes in, host struct out; no locks,
 * no allocation, no I/O. RFC 7609 A.3 and IBM's SMC-Rv2 document.
 */
#ifndef SMC_LLC_MSG_H
#define SMC_LLC_MSG_H

#include <linux/etherdevice.h>
#include <linux/types.h>

#define SMC_LLC_LEN		44	/* each v1 message, most v2 messages */
#define SMC_LLC_MAX_LEN		8192	/* ceiling of a v2 message */
#define SMC_LLC_MAX_RKEYS	255

/* low nibble of byte 0; the high nibble is the LLC version, 0 or 2 */
enum smc_llc_type {
	SMC_LLC_CONFIRM_LINK		= 1,
	SMC_LLC_ADD_LINK		= 2,
	SMC_LLC_ADD_LINK_CONT		= 3,	/* v1 only */
	SMC_LLC_DELETE_LINK		= 4,
	SMC_LLC_REQ_ADD_LINK		= 5,	/* v2 only */
	SMC_LLC_CONFIRM_RKEY		= 6,
	SMC_LLC_TEST_LINK		= 7,
	SMC_LLC_CONFIRM_RKEY_CONT	= 8,	/* v1 only, never sent */
	SMC_LLC_DELETE_RKEY		= 9,
	SMC_LLC_TYPE_MAX		= 9,
};

/* DELETE LINK reasons */
#define SMC_LLC_DEL_LOST_PATH		0x00010000U
#define SMC_LLC_DEL_OP_INIT		0x00020000U
#define SMC_LLC_DEL_PROG_INIT		0x00030000U
#define SMC_LLC_DEL_PROT_VIOL		0x00040000U
#define SMC_LLC_DEL_NO_ASYM		0x00050000U
#define SMC_LLC_DEL_UNKNOWN_LINK	0x00100000U
#define SMC_LLC_DEL_UNKNOWN_LGR		0x00200000U

/* ADD LINK reject reasons */
#define SMC_LLC_REJ_NO_ALT_PATH		1
#define SMC_LLC_REJ_BAD_MTU		2

/**
 * struct smc_llc_rkey - one remote key on the wire
 * @link: link number (CONFIRM RKEY), unused elsewhere
 * @ref_rkey: key known on the carrying link (ADD LINK lists), unused elsewhere
 * @rkey: key, host order
 * @addr: address of the buffer, host order
 */
struct smc_llc_rkey {
	u8 link;
	u32 ref_rkey;
	u32 rkey;
	u64 addr;
};

/**
 * struct smc_llc - decoded LLC message
 * @version: 1 or 2 (nibble 0 or 2)
 * @type: enum smc_llc_type
 * @response: SMC response flag
 * @rejected: ADD LINK / REQ ADD LINK response: refused; CONFIRM/DELETE RKEY
 *	response: negative
 * @reject_reason: ADD LINK reject reason
 * @retry: CONFIRM RKEY response: configuration retry wanted
 * @all: DELETE LINK: whole group
 * @orderly: DELETE LINK
 * @no_eyecatcher: CONFIRM LINK: at least one of the two flag bits is set
 * @link: link number (CONFIRM/ADD/DELETE LINK, ADD LINK CONT)
 * @reason: DELETE LINK reason
 * @mac: sender MAC (CONFIRM/ADD LINK)
 * @gid: sender GID (CONFIRM/ADD LINK)
 * @qpn: sender QP number (24 bit)
 * @psn: initial PSN (24 bit, ADD LINK)
 * @mtu: IB MTU enum, raw nibble (ADD LINK)
 * @link_uid: sender link user id, 4 bytes in wire order (CONFIRM LINK)
 * @max_links: CONFIRM LINK
 * @max_conns: CONFIRM LINK
 * @direct: ADD LINK v2 extension: no gateway
 * @target_gid: ADD LINK v2 extension
 * @num_rkeys: entries valid in the message itself: CONFIRM RKEY: number of
 *	*other* link tokens, bounded to what was received (0..2);
 *	DELETE RKEY: keys; ADD LINK v2, ADD LINK CONT: entries present
 * @claimed_rkeys: the number the sender wrote, unbounded (ADD LINK CONT:
 *	keys still to come including those in this message)
 * @err_mask: DELETE RKEY response byte 5
 * @rkey: CONFIRM RKEY: own token; TEST LINK, others: unused
 * @other: CONFIRM RKEY: tokens of other links; ADD LINK CONT: entries (max 2)
 * @user_data: TEST LINK
 * @num_gids: REQ ADD LINK: GIDs present in the message (bounded)
 * @list: ADD LINK v2 entries, REQ ADD LINK GIDs, DELETE RKEY keys: points into
 *	the message that was decoded, read with the accessors below; encoder:
 *	wire form to copy, or NULL to fill in afterwards with smc_llc_set_*()
 * @add_ext: ADD LINK v2: the extension is present; the encoder writes it into
 *	each v2 ADD LINK that is no reject
 * @count_both: encoder only, ADD LINK v2: peer is Linux, whose count field has
 *	the byte order of its host; write the count into both bytes
 */
struct smc_llc {
	u8 version;
	u8 type;
	bool response;
	bool rejected;
	u8 reject_reason;
	bool retry;
	bool all;
	bool orderly;
	bool no_eyecatcher;
	u8 link;
	u32 reason;
	u8 mac[ETH_ALEN];
	u8 gid[16];
	u32 qpn;
	u32 psn;
	u8 mtu;
	u8 link_uid[4];
	u8 max_links;
	u8 max_conns;
	bool add_ext;
	bool direct;
	u8 target_gid[16];
	u16 num_rkeys;
	u16 claimed_rkeys;
	u8 err_mask;
	struct smc_llc_rkey rkey;
	struct smc_llc_rkey other[2];
	u8 user_data[16];
	u8 num_gids;
	bool count_both;
	const u8 *list;
};

int smc_llc_decode(const void *data, size_t len, struct smc_llc *msg);
int smc_llc_encode(void *buf, size_t room, const struct smc_llc *msg);
void smc_llc_reply_echo(void *buf, u8 flags);
void smc_llc_list_rkey(const struct smc_llc *msg, unsigned int i,
		       struct smc_llc_rkey *out);
u32 smc_llc_list_del_rkey(const struct smc_llc *msg, unsigned int i);
void smc_llc_list_gid(const struct smc_llc *msg, unsigned int i, u8 gid[16]);
void smc_llc_set_rkey(void *buf, unsigned int i,
		      const struct smc_llc_rkey *rkey);
void smc_llc_set_del_rkey(void *buf, unsigned int i, u32 rkey);
void smc_llc_set_gid(void *buf, unsigned int i, const u8 gid[16]);
const char *smc_llc_type_name(u8 type);

/* raw flag byte of a message (offset 3), for smc_llc_reply_echo() */
#define SMC_LLC_F_RESP		0x80
#define SMC_LLC_F_REJECT	0x40
#define SMC_LLC_F_NEG_RKEY	0x20
#define SMC_LLC_F_RETRY_RKEY	0x10

#endif /* SMC_LLC_MSG_H */
