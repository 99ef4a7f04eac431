/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CLC wire forms, v1, v2.0 and v2.1 (layer 0): bytes in, host struct out.
 * Pure functions: no locks, no allocation, no sockets. RFC 7609 A.2 and IBM's
 * SMC version 2 documents.
 */
#ifndef SMC_CLC_MSG_H
#define SMC_CLC_MSG_H

#include <linux/etherdevice.h>
#include <linux/types.h>

#define SMC_CLC_HDR_LEN		8
#define SMC_CLC_MAX_LEN		4096	/* longer messages are refused */
#define SMC_CLC_EID_LEN		32
#define SMC_CLC_HOST_LEN	32
#define SMC_CLC_PEERID_LEN	8
#define SMC_CLC_MAX_EIDS	8
#define SMC_CLC_MAX_PREFIX6	8
#define SMC_CLC_MAX_ISM		8
#define SMC_CLC_MAX_GIDS	8	/* of a Confirm's GID list, ours sends <= 2 */

enum smc_clc_type {
	SMC_CLC_PROPOSAL	= 1,
	SMC_CLC_ACCEPT		= 2,
	SMC_CLC_CONFIRM		= 3,
	SMC_CLC_DECLINE		= 4,
};

/* modes, as in the type fields of the header */
enum smc_clc_mode {
	SMC_MODE_R	= 0,
	SMC_MODE_D	= 1,
	SMC_MODE_N	= 2,
	SMC_MODE_B	= 3,
};

/* is @mode, R or D, in a set of modes? */
static inline bool smc_clc_mode_has(u8 modes, u8 mode)
{
	return modes == mode || modes == SMC_MODE_B;
}

/* the set with @mode added */
static inline u8 smc_clc_mode_add(u8 modes, u8 mode)
{
	return modes == SMC_MODE_N || modes == mode ? mode : SMC_MODE_B;
}

#define SMC_CLC_OS_ZOS		1
#define SMC_CLC_OS_LINUX	2
#define SMC_CLC_OS_AIX		3

#define SMC_CLC_RELEASE		1	/* highest release of v2 we speak */
#define SMC_CLC_FEAT_EMU_ISM	0x0001

struct smc_clc_prefix6 {
	u8 prefix[16];
	u8 len;
};

struct smc_clc_ism {
	u64 gid;
	u16 chid;
};

/**
 * struct smc_clc_proposal - decoded PROPOSAL; also the input of the encoder
 * @version: 1 or 2 (higher ones on the wire are decoded as 2)
 * @mode_v1: modes offered with v1 (enum smc_clc_mode; SMC_MODE_N: none)
 * @mode_v2: modes offered with v2 (SMC_MODE_N in a v1 message)
 * @has_ism_area: the SMC-D area is present (always in what we encode)
 * @has_prefix: the prefix area is present (exactly when mode_v1 != N)
 * @has_v2: v2 extension present
 * @has_d2: SMC-Dv2 extension present; wrong offsets count as absent
 * @peer_id: sender's system id
 * @gid_v1: sender's RoCE v1 GID
 * @mac: sender's MAC
 * @ism_gid: SMC-D area: native ISM GID
 * @ism_chid: SMC-D area: native ISM CHID
 * @subnet4: prefix area: IPv4 subnet, 0 for IPv6
 * @prefix4_len: its length in bits
 * @num_prefix6: IPv6 prefixes
 * @prefix6: the prefixes
 * @release: v2: release offered
 * @seid_flag: v2: system EID present and usable
 * @num_eids: v2: user EIDs
 * @eid: v2: the user EIDs, in the sender's order
 * @gid_v2: v2: sender's RoCE v2 GID
 * @max_conns: 2.1: connections per group
 * @max_links: 2.1: links per group
 * @features: 2.1: feature mask
 * @seid: SMC-Dv2: system EID
 * @num_ism: SMC-Dv2: GID and CHID entries
 * @ism: SMC-Dv2: the entries
 */
struct smc_clc_proposal {
	u8 version;
	u8 mode_v1;
	u8 mode_v2;
	bool has_ism_area;
	bool has_prefix;
	bool has_v2;
	bool has_d2;

	u8 peer_id[SMC_CLC_PEERID_LEN];
	u8 gid_v1[16];
	u8 mac[ETH_ALEN];

	u64 ism_gid;
	u16 ism_chid;

	__be32 subnet4;
	u8 prefix4_len;
	u8 num_prefix6;
	struct smc_clc_prefix6 prefix6[SMC_CLC_MAX_PREFIX6];

	u8 release;
	bool seid_flag;
	u8 num_eids;
	u8 eid[SMC_CLC_MAX_EIDS][SMC_CLC_EID_LEN];
	u8 gid_v2[16];
	u8 max_conns;
	u8 max_links;
	u16 features;

	u8 seid[SMC_CLC_EID_LEN];
	u8 num_ism;
	struct smc_clc_ism ism[SMC_CLC_MAX_ISM];
};

/**
 * struct smc_clc_ac - decoded ACCEPT or CONFIRM; also the encoder's input
 * @type: SMC_CLC_ACCEPT or SMC_CLC_CONFIRM
 * @version: 1 or 2; anything else on the wire is refused
 * @mode: SMC_MODE_R or SMC_MODE_D
 * @first_contact: FC bit
 * @r: valid if mode is R; rmb_size_code: size is 16 KiB << code
 * @d: valid if mode is D
 * @eid: v2 only
 * @has_fce: first contact extension present and backed by length
 * @direct: FCE: no gateway
 * @os: FCE: peer OS type
 * @release: FCE
 * @host: FCE: host name, blank padded; all zero if it was not printable ASCII
 * @max_conns: FCE with release >= 1, R only, else 0
 * @max_links: same
 * @features: FCE with release >= 1, else 0
 * @num_gids: Confirm, R, FC, v2: entries of the GID list
 * @gids: the entries
 */
struct smc_clc_ac {
	u8 type;
	u8 version;
	u8 mode;
	bool first_contact;
	struct {
		u8 peer_id[SMC_CLC_PEERID_LEN];
		u8 gid[16];
		u8 mac[ETH_ALEN];
		u32 qpn;
		u32 rkey;
		u8 rmbe_idx;		/* 1-based */
		u32 token;
		u8 rmb_size_code;
		u8 mtu;			/* IB MTU enum */
		u64 rmb_addr;
		u32 psn;
	} r;
	struct {
		u64 gid;
		u64 gid_ext;
		u64 dmb_token;
		u8 dmbe_idx;		/* 0-based */
		u8 dmbe_size_code;
		u8 link_id[4];
		u16 chid;
	} d;
	u8 eid[SMC_CLC_EID_LEN];
	bool has_fce;
	bool direct;
	u8 os;
	u8 release;
	u8 host[SMC_CLC_HOST_LEN];
	u8 max_conns;
	u8 max_links;
	u16 features;
	u8 num_gids;
	u8 gids[SMC_CLC_MAX_GIDS][16];
};

/**
 * struct smc_clc_decline - decoded DECLINE
 * @version: 1 (28 bytes) or 2 (44 bytes)
 * @out_of_sync: peer lost the link group
 * @peer_id: sender
 * @diagnosis: enum smc_reason of the sender, opaque
 * @os: OS type, v2 only
 */
struct smc_clc_decline {
	u8 version;
	bool out_of_sync;
	u8 peer_id[SMC_CLC_PEERID_LEN];
	u32 diagnosis;
	u8 os;
};

/**
 * struct smc_clc_hdr - what the first 8 bytes of a message tell
 * @type: enum smc_clc_type
 * @version: version nibble, not 0
 * @len: bytes of the whole message
 */
struct smc_clc_hdr {
	u8 type;
	u8 version;
	u16 len;
};

int smc_clc_decode_hdr(const void *data, size_t len, struct smc_clc_hdr *hdr);
bool smc_clc_is_eyecatcher(const void *data, size_t len);
int smc_clc_decode_proposal(const void *data, size_t len,
			    struct smc_clc_proposal *p);
int smc_clc_decode_ac(const void *data, size_t len, struct smc_clc_ac *ac);
int smc_clc_decode_decline(const void *data, size_t len,
			   struct smc_clc_decline *d);

int smc_clc_encode_proposal(void *buf, size_t room,
			    const struct smc_clc_proposal *p);
int smc_clc_encode_ac(void *buf, size_t room, const struct smc_clc_ac *ac);
int smc_clc_encode_decline(void *buf, size_t room,
			   const struct smc_clc_decline *d);

/* RMB size <-> 4-bit code, 16 KiB << code */
#define SMC_BUF_MIN_SIZE	16384U
static inline u32 smc_clc_code_to_size(u8 code)
{
	return SMC_BUF_MIN_SIZE << (code & 15);
}

#endif /* SMC_CLC_MSG_H */
