/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bytes of the CLC messages; private to the codec: smc_clc_msg.c reads them,
 * smc_clc_enc.c writes them.
 *
 * A message is a header, areas and a trailer. Proposal: fixed part, SMC-D area,
 * prefix area, v2 extension with EIDs, D-v2 extension with devices; found by
 * offsets and there depending on the modes. Accept and Confirm: a part per mode
 * and version, with first contact in v2 its extension, in a Confirm of SMC-R
 * also a GID list.
 */
#ifndef SMC_CLC_WIRE_H
#define SMC_CLC_WIRE_H

#include <linux/build_bug.h>
#include <linux/stddef.h>

#include "smc_clc_msg.h"

/* header byte 7 */
#define CLC_VERSION_SHIFT	4
#define CLC_MODE_V2_SHIFT	2
#define CLC_MODE_MASK		0x03
#define CLC_F_FIRST_CONTACT	0x08	/* Accept, Confirm */
#define CLC_F_OUT_OF_SYNC	0x08	/* Decline */

#define CLC_F_SEID		0x01	/* v2 extension, beside the release */
#define CLC_F_DIRECT		0x80	/* first contact extension */

#define CLC_MAX_PREFIX4_LEN	32
#define CLC_MAX_PREFIX6_LEN	128
#define CLC_MAX_SIZE_CODE_D	6	/* 1 MiB */
#define CLC_MAX_MTU		5	/* 4096 bytes */

struct smc_wire_clc_hdr {
	u8 eyecatcher[4];
	u8 type;
	__be16 len;
	u8 flags;
} __packed;

struct smc_wire_clc_trl {
	u8 eyecatcher[4];
} __packed;

/* Proposal, fixed part; ip_off counts from its end */
struct smc_wire_proposal {
	struct smc_wire_clc_hdr hdr;
	u8 peer_id[SMC_CLC_PEERID_LEN];
	u8 gid[16];
	u8 mac[ETH_ALEN];
	__be16 ip_off;
} __packed;

/* SMC-D area, directly behind; v2_off counts from its own end */
struct smc_wire_ism_area {
	__be64 gid;
	__be16 chid;
	__be16 v2_off;
	u8 vendor[8];
	u8 reserved[20];
} __packed;

struct smc_wire_prefix6 {
	u8 prefix[16];
	u8 len;
} __packed;

struct smc_wire_prefix_area {
	__be32 subnet4;
	u8 prefix4_len;
	u8 reserved[2];
	u8 num_prefix6;
	struct smc_wire_prefix6 prefix6[];
} __packed;

/* d2_off counts from its own end */
struct smc_wire_v2_ext {
	u8 num_eids;
	u8 num_ism;
	u8 reserved1;
	u8 release;		/* high nibble; CLC_F_SEID */
	u8 reserved2[2];
	__be16 d2_off;
	u8 gid[16];
	u8 max_conns;
	u8 max_links;
	__be16 features;
	u8 reserved3[12];
	u8 eid[][SMC_CLC_EID_LEN];
} __packed;

struct smc_wire_ism {
	__be64 gid;
	__be16 chid;
} __packed;

struct smc_wire_d2_ext {
	u8 seid[SMC_CLC_EID_LEN];
	u8 reserved[16];
	struct smc_wire_ism ism[];
} __packed;

/* Accept and Confirm, SMC-R; v1 ends behind psn */
struct smc_wire_ac_r {
	struct smc_wire_clc_hdr hdr;
	u8 peer_id[SMC_CLC_PEERID_LEN];
	u8 gid[16];
	u8 mac[ETH_ALEN];
	u8 qpn[3];
	__be32 rkey;
	u8 rmbe_idx;
	__be32 token;
	u8 size_mtu;
	u8 reserved1;
	__be64 rmb_addr;
	u8 reserved2;
	u8 psn[3];
	u8 eid[SMC_CLC_EID_LEN];
	u8 reserved3[8];
} __packed;

/* Accept and Confirm, SMC-D; v1 has 12 reserved bytes from chid on */
struct smc_wire_ac_d {
	struct smc_wire_clc_hdr hdr;
	__be64 gid;
	__be64 dmb_token;
	u8 dmbe_idx;
	u8 size_code;		/* high nibble */
	u8 reserved[2];
	u8 link_id[4];
	__be16 chid;
	u8 eid[SMC_CLC_EID_LEN];
	__be64 gid_ext;
} __packed;

#define CLC_AC_R_V1_LEN		offsetof(struct smc_wire_ac_r, eid)
#define CLC_AC_D_V1_LEN		44

/* first contact extension; SMC-D with release 0 ends behind host */
struct smc_wire_fce {
	u8 flags;
	u8 os_release;
	u8 reserved1[2];
	u8 host[SMC_CLC_HOST_LEN];
	u8 max_conns;
	u8 max_links;
	__be16 features;
	u8 vendor[4];
	u8 reserved2[8];
} __packed;

#define CLC_FCE_SHORT_LEN	offsetof(struct smc_wire_fce, max_conns)

struct smc_wire_gid_list {
	u8 count;
	u8 reserved[3];
	u8 gid[][16];
} __packed;

struct smc_wire_decline {
	struct smc_wire_clc_hdr hdr;
	u8 peer_id[SMC_CLC_PEERID_LEN];
	__be32 diagnosis;
	u8 os;			/* high nibble */
	u8 reserved[3];
	__be32 more_diagnosis[4];	/* v2 */
} __packed;

#define CLC_DECLINE_V1_LEN	offsetof(struct smc_wire_decline, more_diagnosis)

static_assert(sizeof(struct smc_wire_clc_hdr) == SMC_CLC_HDR_LEN);
static_assert(sizeof(struct smc_wire_proposal) == 40);
static_assert(sizeof(struct smc_wire_ism_area) == 40);
static_assert(sizeof(struct smc_wire_prefix6) == 17);
static_assert(sizeof(struct smc_wire_prefix_area) == 8);
static_assert(sizeof(struct smc_wire_v2_ext) == 40);
static_assert(sizeof(struct smc_wire_ism) == 10);
static_assert(sizeof(struct smc_wire_d2_ext) == 48);
static_assert(sizeof(struct smc_wire_ac_r) == 104);
static_assert(CLC_AC_R_V1_LEN == 64);
static_assert(sizeof(struct smc_wire_ac_d) == 74);
static_assert(sizeof(struct smc_wire_fce) == 52);
static_assert(CLC_FCE_SHORT_LEN == 36);
static_assert(sizeof(struct smc_wire_gid_list) == 4);
static_assert(sizeof(struct smc_wire_decline) == 40);
static_assert(CLC_DECLINE_V1_LEN == 24);

bool smc_clc_ac_in_range(const struct smc_clc_ac *ac);

#endif /* SMC_CLC_WIRE_H */
