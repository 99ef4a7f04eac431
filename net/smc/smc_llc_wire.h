/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bytes of the LLC messages; private to the codec: smc_llc_msg.c reads them,
 * smc_llc_enc.c writes them.
 */
#ifndef SMC_LLC_WIRE_H
#define SMC_LLC_WIRE_H

#include <linux/build_bug.h>
#include <linux/stddef.h>

#include "smc_llc_msg.h"

/* flag bits beside those of the header, by message */
#define LLC_F_DEL_ALL		0x40
#define LLC_F_DEL_ORDERLY	0x20
#define LLC_F_NO_EYECATCHER	0x03
#define LLC_F_REASON_V2		0x0f	/* reject reason, v2 */
#define LLC_REASON_V1		0x0f	/* same in byte 2, v1 */
#define LLC_VERSION_V2		0x20
#define LLC_EXT_DIRECT		0x80

struct smc_wire_llc_hdr {
	u8 type;
	u8 len[2];	/* v1: length, reject reason; v2: 16-bit length */
	u8 flags;
} __packed;

struct smc_wire_confirm_link {
	struct smc_wire_llc_hdr hdr;
	u8 mac[ETH_ALEN];
	u8 gid[16];
	u8 qpn[3];
	u8 link;
	u8 link_uid[4];
	u8 max_links;
	u8 max_conns;
	u8 reserved[8];
} __packed;

struct smc_wire_add_link {
	struct smc_wire_llc_hdr hdr;
	u8 mac[ETH_ALEN];
	u8 reserved1[2];
	u8 gid[16];
	u8 qpn[3];
	u8 link;
	u8 mtu;
	u8 psn[3];
	u8 reserved2[8];
} __packed;

struct smc_wire_rkey_pair {
	__be32 ref_rkey;
	__be32 rkey;
	__be64 addr;
} __packed;

struct smc_wire_add_link_v2 {
	struct smc_wire_add_link base;
	u8 flags;
	u8 reserved1;
	u8 target_gid[16];
	u8 reserved2[8];
	u8 count[2];
	struct smc_wire_rkey_pair pair[];
} __packed;

struct smc_wire_add_link_cont {
	struct smc_wire_llc_hdr hdr;
	u8 link;
	u8 count;
	u8 reserved1[2];
	struct smc_wire_rkey_pair pair[2];
	u8 reserved2[4];
} __packed;

struct smc_wire_delete_link {
	struct smc_wire_llc_hdr hdr;
	u8 link;
	__be32 reason;
	u8 reserved[35];
} __packed;

struct smc_wire_req_add_link {
	struct smc_wire_llc_hdr hdr;
	u8 reserved1[20];
	u8 count;
	u8 reserved2[3];
	u8 gid[][16];
} __packed;

struct smc_wire_token {
	u8 link;
	__be32 rkey;
	__be64 addr;
} __packed;

struct smc_wire_confirm_rkey {
	struct smc_wire_llc_hdr hdr;
	u8 count;
	__be32 rkey;
	__be64 addr;
	struct smc_wire_token other[2];
	u8 reserved;
} __packed;

struct smc_wire_test_link {
	struct smc_wire_llc_hdr hdr;
	u8 user_data[16];
	u8 reserved[24];
} __packed;

struct smc_wire_delete_rkey {
	struct smc_wire_llc_hdr hdr;
	u8 count;
	u8 err_mask;
	u8 reserved[2];
	__be32 rkey[];
} __packed;

static_assert(sizeof(struct smc_wire_confirm_link) == SMC_LLC_LEN);
static_assert(offsetof(struct smc_wire_confirm_link, gid) == 10);
static_assert(offsetof(struct smc_wire_confirm_link, link) == 29);
static_assert(offsetof(struct smc_wire_confirm_link, max_links) == 34);
static_assert(sizeof(struct smc_wire_add_link) == SMC_LLC_LEN);
static_assert(offsetof(struct smc_wire_add_link, gid) == 12);
static_assert(offsetof(struct smc_wire_add_link, link) == 31);
static_assert(offsetof(struct smc_wire_add_link, psn) == 33);
static_assert(sizeof(struct smc_wire_rkey_pair) == 16);
static_assert(sizeof(struct smc_wire_add_link_v2) == 72);
static_assert(offsetof(struct smc_wire_add_link_v2, target_gid) == 46);
static_assert(offsetof(struct smc_wire_add_link_v2, count) == 70);
static_assert(sizeof(struct smc_wire_add_link_cont) == SMC_LLC_LEN);
static_assert(offsetof(struct smc_wire_add_link_cont, pair) == 8);
static_assert(sizeof(struct smc_wire_delete_link) == SMC_LLC_LEN);
static_assert(offsetof(struct smc_wire_delete_link, reason) == 5);
static_assert(sizeof(struct smc_wire_req_add_link) == 28);
static_assert(offsetof(struct smc_wire_req_add_link, count) == 24);
static_assert(sizeof(struct smc_wire_token) == 13);
static_assert(sizeof(struct smc_wire_confirm_rkey) == SMC_LLC_LEN);
static_assert(offsetof(struct smc_wire_confirm_rkey, addr) == 9);
static_assert(offsetof(struct smc_wire_confirm_rkey, other) == 17);
static_assert(sizeof(struct smc_wire_test_link) == SMC_LLC_LEN);
static_assert(sizeof(struct smc_wire_delete_rkey) == 8);

#define LLC_DEL_RKEYS_V1	8	/* keys of a v1 DELETE RKEY */

bool smc_llc_known(u8 version, u8 type);

#endif /* SMC_LLC_WIRE_H */
