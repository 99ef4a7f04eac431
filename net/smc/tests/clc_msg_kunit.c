// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of CLC messages and reason texts.
 *
 * Proposals: P1 v1 with IPv4, P2 v1 with IPv6, P3 v2 with SMC-R, P4 v2 with
 * SMC-D. Accept of SMC-R: A1 v1, A2 v2. Confirm: C1 v2. SMC-D: D1 Accept v1, D2
 * Accept v2, D3 Confirm v2 without first contact. Decline: X1 v1, X2 v2.
 */
#include <linux/module.h>
#include <linux/unaligned.h>

#include "clc_vectors.h"
#include "codec_kunit.h"
#include "../smc_clc_msg.h"
#include "../smc_reason.h"

static const char * const clc_vectors[] = {
	HEX_P1, HEX_P2, HEX_P3, HEX_P4, HEX_A1, HEX_A2, HEX_C1, HEX_D1, HEX_D2,
	HEX_D3, HEX_X1, HEX_X2,
};

static void clc_vector_desc(const char * const *vec, char *desc)
{
	static const char * const types[] = { "?", "PROPOSAL", "ACCEPT",
					      "CONFIRM", "DECLINE" };
	const char *hex = *vec;

	/* type, length and byte 7 as they stand in the header */
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s %.4s/%.2s",
		 types[hex[10] - '0'], hex + 11, hex + 15);
}

KUNIT_ARRAY_PARAM(clc_vector, clc_vectors, clc_vector_desc);

static const u8 clc_eid[SMC_CLC_EID_LEN + 1] =
	"LAB.EID-1                       ";
static const u8 clc_gid_v2[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff,
				   192, 0, 2, 10 };
static const u8 clc_peer_c[SMC_CLC_PEERID_LEN] = { 0xa1, 0xb2, 2, 0x11, 0x22,
						   0x33, 0x44, 0x55 };
static const u8 clc_peer_s[SMC_CLC_PEERID_LEN] = { 0xc3, 0xd4, 2, 0x66, 0x77,
						   0x88, 0x99, 0 };

/* any message, decoded by what its header says it is */
struct clc_any {
	struct smc_clc_hdr hdr;
	union {
		struct smc_clc_proposal p;
		struct smc_clc_ac ac;
		struct smc_clc_decline d;
	};
};

static int clc_decode(const u8 *data, size_t len, struct clc_any *any)
{
	int rc = smc_clc_decode_hdr(data, len, &any->hdr);

	if (rc)
		return rc;
	switch (any->hdr.type) {
	case SMC_CLC_PROPOSAL:
		return smc_clc_decode_proposal(data, len, &any->p);
	case SMC_CLC_DECLINE:
		return smc_clc_decode_decline(data, len, &any->d);
	default:
		return smc_clc_decode_ac(data, len, &any->ac);
	}
}

static int clc_encode(void *buf, size_t room, const struct clc_any *any)
{
	switch (any->hdr.type) {
	case SMC_CLC_PROPOSAL:
		return smc_clc_encode_proposal(buf, room, &any->p);
	case SMC_CLC_DECLINE:
		return smc_clc_encode_decline(buf, room, &any->d);
	default:
		return smc_clc_encode_ac(buf, room, &any->ac);
	}
}

static struct clc_any *clc_alloc(struct kunit *test)
{
	struct clc_any *any = kunit_kmalloc(test, sizeof(*any), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, any);
	/* decoders must not count on clean memory */
	memset(any, 0xa5, sizeof(*any));
	return any;
}

static struct clc_any *clc_decoded(struct kunit *test, const char *hex)
{
	struct clc_any *any = clc_alloc(test);
	size_t len;
	u8 *msg;

	msg = smc_kunit_hex(test, hex, 0, &len);
	KUNIT_ASSERT_EQ(test, clc_decode(msg, len, any), 0);
	KUNIT_EXPECT_EQ(test, any->hdr.len, len);
	return any;
}

/* what was decoded makes the same bytes again, in just the room they need */
static void clc_test_round_trip(struct kunit *test)
{
	const char *hex = *(const char * const *)test->param_value;
	struct clc_any *any = clc_decoded(test, hex);
	size_t len, room;
	u8 *msg, *out;

	msg = smc_kunit_hex(test, hex, 0, &len);
	out = kunit_kmalloc(test, len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, out);
	memset(out, 0xff, len);
	KUNIT_ASSERT_EQ(test, clc_encode(out, len, any), len);
	KUNIT_EXPECT_MEMEQ(test, out, msg, len);
	for (room = 0; room < len; room++)
		KUNIT_EXPECT_EQ(test, clc_encode(out, room, any), -EMSGSIZE);
}

static void clc_test_proposal_v1(struct kunit *test)
{
	struct smc_clc_proposal *p = &clc_decoded(test, HEX_P1)->p;
	static const u8 net1[16] = { 0x20, 1, 0xd, 0xb8, 0, 1 };
	static const u8 net2[16] = { 0x20, 1, 0xd, 0xb8, 0, 2 };

	KUNIT_EXPECT_EQ(test, p->version, 1);
	KUNIT_EXPECT_EQ(test, p->mode_v1, SMC_MODE_R);
	KUNIT_EXPECT_EQ(test, p->mode_v2, SMC_MODE_N);
	KUNIT_EXPECT_FALSE(test, p->has_ism_area);
	KUNIT_EXPECT_TRUE(test, p->has_prefix);
	KUNIT_EXPECT_FALSE(test, p->has_v2);
	KUNIT_EXPECT_FALSE(test, p->has_d2);
	KUNIT_EXPECT_MEMEQ(test, p->peer_id, clc_peer_c, SMC_CLC_PEERID_LEN);
	KUNIT_EXPECT_EQ(test, p->gid_v1[15], 0x55);
	KUNIT_EXPECT_MEMEQ(test, p->mac, clc_peer_c + 2, ETH_ALEN);
	KUNIT_EXPECT_EQ(test, p->subnet4, cpu_to_be32(0xc0000200));
	KUNIT_EXPECT_EQ(test, p->prefix4_len, 24);
	KUNIT_EXPECT_EQ(test, p->num_prefix6, 0);

	p = &clc_decoded(test, HEX_P2)->p;
	KUNIT_EXPECT_EQ(test, p->num_prefix6, 2);
	KUNIT_EXPECT_EQ(test, p->prefix6[0].len, 64);
	KUNIT_EXPECT_MEMEQ(test, p->prefix6[0].prefix, net1, 16);
	KUNIT_EXPECT_EQ(test, p->prefix6[1].len, 48);
	KUNIT_EXPECT_MEMEQ(test, p->prefix6[1].prefix, net2, 16);
}

static void clc_test_proposal_v2(struct kunit *test)
{
	struct smc_clc_proposal *p = &clc_decoded(test, HEX_P3)->p;

	KUNIT_EXPECT_EQ(test, p->version, 2);
	KUNIT_EXPECT_EQ(test, p->mode_v1, SMC_MODE_R);
	KUNIT_EXPECT_EQ(test, p->mode_v2, SMC_MODE_R);
	KUNIT_EXPECT_TRUE(test, p->has_ism_area);
	KUNIT_EXPECT_TRUE(test, p->has_prefix);
	KUNIT_EXPECT_TRUE(test, p->has_v2);
	KUNIT_EXPECT_FALSE(test, p->has_d2);
	KUNIT_EXPECT_EQ(test, p->prefix4_len, 24);
	KUNIT_EXPECT_EQ(test, p->release, 1);
	KUNIT_EXPECT_FALSE(test, p->seid_flag);
	KUNIT_EXPECT_EQ(test, p->num_eids, 1);
	KUNIT_EXPECT_MEMEQ(test, p->eid[0], clc_eid, SMC_CLC_EID_LEN);
	KUNIT_EXPECT_MEMEQ(test, p->gid_v2, clc_gid_v2, 16);
	KUNIT_EXPECT_EQ(test, p->max_conns, 255);
	KUNIT_EXPECT_EQ(test, p->max_links, 2);
	KUNIT_EXPECT_EQ(test, p->features, SMC_CLC_FEAT_EMU_ISM);

	p = &clc_decoded(test, HEX_P4)->p;
	KUNIT_EXPECT_EQ(test, p->mode_v1, SMC_MODE_N);
	KUNIT_EXPECT_EQ(test, p->mode_v2, SMC_MODE_D);
	KUNIT_EXPECT_TRUE(test, p->has_ism_area);
	KUNIT_EXPECT_FALSE(test, p->has_prefix);
	KUNIT_EXPECT_TRUE(test, p->has_v2);
	KUNIT_EXPECT_TRUE(test, p->has_d2);
	KUNIT_EXPECT_EQ(test, p->ism_gid, 0);
	KUNIT_EXPECT_EQ(test, p->num_ism, 2);
	KUNIT_EXPECT_EQ(test, p->ism[0].gid, 0x1122334455664777ULL);
	KUNIT_EXPECT_EQ(test, p->ism[0].chid, 0xffff);
	KUNIT_EXPECT_EQ(test, p->ism[1].gid, 0x889900aabbccddeeULL);
	KUNIT_EXPECT_EQ(test, p->ism[1].chid, 0xffff);
}

static void clc_test_ac_r(struct kunit *test)
{
	struct smc_clc_ac *ac = &clc_decoded(test, HEX_A1)->ac;

	KUNIT_EXPECT_EQ(test, ac->type, SMC_CLC_ACCEPT);
	KUNIT_EXPECT_EQ(test, ac->version, 1);
	KUNIT_EXPECT_EQ(test, ac->mode, SMC_MODE_R);
	KUNIT_EXPECT_TRUE(test, ac->first_contact);
	KUNIT_EXPECT_FALSE(test, ac->has_fce);
	KUNIT_EXPECT_MEMEQ(test, ac->r.peer_id, clc_peer_s, SMC_CLC_PEERID_LEN);
	KUNIT_EXPECT_MEMEQ(test, ac->r.mac, clc_peer_s + 2, ETH_ALEN);
	KUNIT_EXPECT_EQ(test, ac->r.qpn, 0x1a2b);
	KUNIT_EXPECT_EQ(test, ac->r.rkey, 0x112233);
	KUNIT_EXPECT_EQ(test, ac->r.rmbe_idx, 1);
	KUNIT_EXPECT_EQ(test, ac->r.token, 0x101);
	KUNIT_EXPECT_EQ(test, ac->r.rmb_size_code, 2);
	KUNIT_EXPECT_EQ(test, smc_clc_code_to_size(2), 65536);
	KUNIT_EXPECT_EQ(test, ac->r.mtu, 3);
	KUNIT_EXPECT_EQ(test, ac->r.rmb_addr, 0x12345000);
	KUNIT_EXPECT_EQ(test, ac->r.psn, 0xabcdef);

	ac = &clc_decoded(test, HEX_A2)->ac;
	KUNIT_EXPECT_EQ(test, ac->version, 2);
	KUNIT_EXPECT_MEMEQ(test, ac->eid, clc_eid, SMC_CLC_EID_LEN);
	KUNIT_EXPECT_TRUE(test, ac->has_fce);
	KUNIT_EXPECT_TRUE(test, ac->direct);
	KUNIT_EXPECT_EQ(test, ac->os, SMC_CLC_OS_LINUX);
	KUNIT_EXPECT_EQ(test, ac->release, 1);
	KUNIT_EXPECT_MEMEQ(test, ac->host, "serverhost                      ",
			   SMC_CLC_HOST_LEN);
	KUNIT_EXPECT_EQ(test, ac->max_conns, 255);
	KUNIT_EXPECT_EQ(test, ac->max_links, 2);
	KUNIT_EXPECT_EQ(test, ac->features, 1);
	KUNIT_EXPECT_EQ(test, ac->num_gids, 0);

	ac = &clc_decoded(test, HEX_C1)->ac;
	KUNIT_EXPECT_EQ(test, ac->type, SMC_CLC_CONFIRM);
	KUNIT_EXPECT_EQ(test, ac->num_gids, 2);
	KUNIT_EXPECT_MEMEQ(test, ac->gids[0], clc_gid_v2, 16);
	KUNIT_EXPECT_EQ(test, ac->gids[1][15], 11);
}

static void clc_test_ac_d(struct kunit *test)
{
	struct smc_clc_ac *ac = &clc_decoded(test, HEX_D1)->ac;

	KUNIT_EXPECT_EQ(test, ac->mode, SMC_MODE_D);
	KUNIT_EXPECT_EQ(test, ac->d.gid, 0x0102030405060708ULL);
	KUNIT_EXPECT_EQ(test, ac->d.dmb_token, 0x1000000000000123ULL);
	KUNIT_EXPECT_EQ(test, ac->d.dmbe_idx, 0);
	KUNIT_EXPECT_EQ(test, ac->d.dmbe_size_code, 2);
	KUNIT_EXPECT_EQ(test, ac->d.link_id[1], 1);

	ac = &clc_decoded(test, HEX_D2)->ac;
	KUNIT_EXPECT_EQ(test, ac->d.chid, 0xffff);
	KUNIT_EXPECT_EQ(test, ac->d.gid_ext, 0x889900aabbccddeeULL);
	KUNIT_EXPECT_MEMEQ(test, ac->eid, clc_eid, SMC_CLC_EID_LEN);
	KUNIT_EXPECT_TRUE(test, ac->has_fce);
	KUNIT_EXPECT_FALSE(test, ac->direct);
	KUNIT_EXPECT_EQ(test, ac->features, 1);
	KUNIT_EXPECT_EQ(test, ac->max_conns, 0);

	ac = &clc_decoded(test, HEX_D3)->ac;
	KUNIT_EXPECT_EQ(test, ac->type, SMC_CLC_CONFIRM);
	KUNIT_EXPECT_FALSE(test, ac->first_contact);
	KUNIT_EXPECT_FALSE(test, ac->has_fce);
	KUNIT_EXPECT_EQ(test, ac->d.dmb_token, 0x0123456789abcdefULL);
}

static void clc_test_decline(struct kunit *test)
{
	struct smc_clc_decline *d = &clc_decoded(test, HEX_X1)->d;

	KUNIT_EXPECT_EQ(test, d->version, 1);
	KUNIT_EXPECT_FALSE(test, d->out_of_sync);
	KUNIT_EXPECT_MEMEQ(test, d->peer_id, clc_peer_c, SMC_CLC_PEERID_LEN);
	KUNIT_EXPECT_EQ(test, d->diagnosis, SMC_DECL_NOSMCDEV);
	KUNIT_EXPECT_EQ(test, d->os, 0);

	d = &clc_decoded(test, HEX_X2)->d;
	KUNIT_EXPECT_EQ(test, d->version, 2);
	KUNIT_EXPECT_TRUE(test, d->out_of_sync);
	KUNIT_EXPECT_EQ(test, d->diagnosis, SMC_DECL_SYNCERR);
	KUNIT_EXPECT_EQ(test, d->os, SMC_CLC_OS_LINUX);
}

static void clc_put_trailer(u8 *msg, size_t len)
{
	static const u8 smcr[4] = { 0xe2, 0xd4, 0xc3, 0xd9 };

	if (len >= 4)
		memcpy(msg + len - 4, smcr, 4);
}

/* a message of @len bytes: header and trailer say so */
static void clc_mend(u8 *msg, size_t len)
{
	if (len < SMC_CLC_HDR_LEN)
		return;
	clc_put_trailer(msg, len);
	clc_put_trailer(msg, 4);
	put_unaligned_be16(len, msg + 5);
}

/* one message, changed; is it understood? */
struct clc_change {
	const char *name;
	const char *hex;
	size_t len;		/* cut or zero-extended to this, and mended */
	struct {
		u8 off;
		u8 val;
	} set[4];		/* up to the first { 0, 0 } */
	int rc;
};

static const struct clc_change clc_changes[] = {
	{ "wrong eyecatcher", HEX_P1, .set = { { 0, 1 } }, .rc = -EPROTO },
	{ "wrong trailer", HEX_P1, .set = { { 51, 0xd8 } }, .rc = -EPROTO },
	{ "SMCD trailer", HEX_P1, .set = { { 51, 0xc4 } } },
	{ "type 0", HEX_P1, .set = { { 4, 0 } }, .rc = -EPROTO },
	{ "type 5", HEX_P1, .set = { { 4, 5 } }, .rc = -EPROTO },
	{ "P1 says 51", HEX_P1, .set = { { 6, 51 } }, .rc = -EPROTO },
	{ "P1 says 53", HEX_P1, .set = { { 6, 53 } }, .rc = -EPROTO },
	{ "P1 cut to 51", HEX_P1, .len = 51, .rc = -EPROTO },
	{ "P1 with unknown byte", HEX_P1, .len = 53 },
	{ "P1 area offset 41", HEX_P1, .set = { { 39, 41 } }, .rc = -EPROTO },
	{ "P1 area offset 65535", HEX_P1, .set = { { 38, 255 }, { 39, 255 } },
	  .rc = -EPROTO },
	{ "P1 with 60 bytes, offset 8", HEX_P1, .len = 60,
	  .set = { { 39, 8 } } },
	{ "P1 mode N", HEX_P1, .set = { { 7, 0x12 } }, .rc = -EPROTO },
	{ "P1 mode D", HEX_P1, .set = { { 7, 0x11 } } },
	{ "P1 reserved header bits", HEX_P1, .set = { { 7, 0x1c } } },
	{ "P1 as v2 without SMC-D area", HEX_P1, .set = { { 7, 0x20 } },
	  .rc = -EPROTO },
	{ "P1 as v2, mode v2 N", HEX_P1, .set = { { 7, 0x28 } } },
	{ "P1 prefix length 33", HEX_P1, .set = { { 44, 33 } }, .rc = -EPROTO },
	{ "P1 prefix length 32", HEX_P1, .set = { { 44, 32 } } },
	{ "P2 9 prefixes", HEX_P2, .set = { { 47, 9 } }, .rc = -EPROTO },
	{ "P2 3 prefixes", HEX_P2, .set = { { 47, 3 } }, .rc = -EPROTO },
	{ "P2 1 prefix, unknown bytes", HEX_P2, .set = { { 47, 1 } } },
	{ "P2 prefix length 129", HEX_P2, .set = { { 64, 129 } },
	  .rc = -EPROTO },
	{ "P2 IPv4 length is nothing", HEX_P2, .set = { { 44, 99 } } },
	{ "P3 9 EIDs", HEX_P3, .set = { { 88, 9 } }, .rc = -EPROTO },
	{ "P3 2 EIDs", HEX_P3, .set = { { 88, 2 } }, .rc = -EPROTO },
	{ "P3 no EID", HEX_P3, .set = { { 88, 0 } } },
	{ "P3 v2 offset 0", HEX_P3, .set = { { 51, 0 } }, .rc = -EPROTO },
	{ "P3 v2 offset 173", HEX_P3, .set = { { 51, 173 } }, .rc = -EPROTO },
	{ "P3 v2 offset into SMC-D area", HEX_P3, .set = { { 51, 27 } },
	  .rc = -EPROTO },
	{ "P3 v2 offset into prefixes", HEX_P3, .set = { { 51, 35 } },
	  .rc = -EPROTO },
	{ "P3 v2 offset into trailer", HEX_P3, .set = { { 51, 69 } },
	  .rc = -EPROTO },
	{ "P3 area offset 0", HEX_P3, .set = { { 39, 0 } }, .rc = -EPROTO },
	{ "P3 area offset 39", HEX_P3, .set = { { 39, 39 } }, .rc = -EPROTO },
	{ "P3 prefixes into v2 extension", HEX_P3, .set = { { 39, 41 } },
	  .rc = -EPROTO },
	{ "P3 version 15", HEX_P3, .set = { { 7, 0xf0 } } },
	{ "P3 as v1", HEX_P3, .set = { { 7, 0x10 } } },
	{ "P3 D count is nothing", HEX_P3, .set = { { 89, 9 } } },
	{ "P4 9 devices", HEX_P4, .set = { { 81, 9 } }, .rc = -EPROTO },
	{ "P4 3 devices", HEX_P4, .set = { { 81, 3 } }, .rc = -EPROTO },
	{ "P4 byte 47 is no prefix count", HEX_P4, .set = { { 47, 9 } } },
	{ "P4 area offset is nothing", HEX_P4, .set = { { 39, 200 } } },
	{ "P4 version 3", HEX_P4, .set = { { 7, 0x36 } } },
	{ "P4 cut to 83", HEX_P4, .len = 83, .rc = -EPROTO },
	{ "P4 nothing offered", HEX_P4, .set = { { 7, 0x2a } } },
	{ "A1 mode N", HEX_A1, .set = { { 7, 0x1a } }, .rc = -EPROTO },
	{ "A1 mode B", HEX_A1, .set = { { 7, 0x1b } }, .rc = -EPROTO },
	{ "A1 version 3", HEX_A1, .set = { { 7, 0x38 } }, .rc = -EPROTO },
	{ "A1 version 15", HEX_A1, .set = { { 7, 0xf8 } }, .rc = -EPROTO },
	{ "A1 as v2", HEX_A1, .set = { { 7, 0x20 } }, .rc = -EPROTO },
	{ "A1 as SMC-D", HEX_A1, .set = { { 7, 0x11 }, { 25, 0 } } },
	{ "A1 cut to 67", HEX_A1, .len = 67, .rc = -EPROTO },
	{ "A1 with unknown bytes", HEX_A1, .len = 80 },
	{ "A1 wrong trailer", HEX_A1, .set = { { 64, 0 } }, .rc = -EPROTO },
	{ "A1 index 0", HEX_A1, .set = { { 45, 0 } }, .rc = -EPROTO },
	{ "A1 index 255", HEX_A1, .set = { { 45, 255 } } },
	{ "A1 MTU 0", HEX_A1, .set = { { 50, 0x20 } }, .rc = -EPROTO },
	{ "A1 MTU 1", HEX_A1, .set = { { 50, 0x21 } } },
	{ "A1 MTU 5, 512 MiB", HEX_A1, .set = { { 50, 0xf5 } } },
	{ "A1 MTU 6", HEX_A1, .set = { { 50, 0x26 } }, .rc = -EPROTO },
	{ "A1 QPN 0", HEX_A1, .set = { { 39, 0 }, { 40, 0 } }, .rc = -EPROTO },
	{ "A1 key 0", HEX_A1, .set = { { 42, 0 }, { 43, 0 }, { 44, 0 } },
	  .rc = -EPROTO },
	{ "A1 token 0", HEX_A1, .set = { { 48, 0 }, { 49, 0 } },
	  .rc = -EPROTO },
	{ "A2 cut to 108", HEX_A2, .len = 108, .rc = -EPROTO },
	{ "A2 cut to 159", HEX_A2, .len = 159, .rc = -EPROTO },
	{ "A2 release 0 cut to 144", HEX_A2, .len = 144,
	  .set = { { 105, 0x20 } }, .rc = -EPROTO },
	{ "A2 without FC cut to 108", HEX_A2, .len = 108,
	  .set = { { 7, 0x20 } } },
	{ "A2 without FC cut to 107", HEX_A2, .len = 107,
	  .set = { { 7, 0x20 } }, .rc = -EPROTO },
	{ "C1 3 GIDs", HEX_C1, .set = { { 156, 3 } }, .rc = -EPROTO },
	{ "C1 255 GIDs", HEX_C1, .set = { { 156, 255 } }, .rc = -EPROTO },
	{ "C1 cut to 195", HEX_C1, .len = 195, .rc = -EPROTO },
	{ "C1 without list", HEX_C1, .len = 160 },
	{ "C1 unknown bytes for a list", HEX_C1, .len = 163 },
	{ "D1 size code 6", HEX_D1, .set = { { 25, 0x60 } } },
	{ "D1 size code 7", HEX_D1, .set = { { 25, 0x70 } }, .rc = -EPROTO },
	{ "D1 cut to 47", HEX_D1, .len = 47, .rc = -EPROTO },
	{ "D2 version 3", HEX_D2, .set = { { 7, 0x39 } }, .rc = -EPROTO },
	{ "D2 cut to 129", HEX_D2, .len = 129, .rc = -EPROTO },
	{ "D2 release 0 cut to 114", HEX_D2, .len = 114,
	  .set = { { 75, 0x20 } } },
	{ "D2 release 0 cut to 113", HEX_D2, .len = 113,
	  .set = { { 75, 0x20 } }, .rc = -EPROTO },
	{ "D3 cut to 77", HEX_D3, .len = 77, .rc = -EPROTO },
	{ "X1 as v2", HEX_X1, .set = { { 7, 0x20 } }, .rc = -EPROTO },
	{ "X1 of 29", HEX_X1, .len = 29, .rc = -EPROTO },
	{ "X1 of 44", HEX_X1, .len = 44, .rc = -EPROTO },
	{ "X1 trailer is nothing", HEX_X1, .set = { { 24, 0 } } },
	{ "X2 as v1", HEX_X2, .set = { { 7, 0x18 } }, .rc = -EPROTO },
	{ "X2 version 3", HEX_X2, .set = { { 7, 0x38 } } },
	{ "X2 of 43", HEX_X2, .len = 43, .rc = -EPROTO },
	{ "X2 of 28", HEX_X2, .len = 28, .rc = -EPROTO },
};

static void clc_change_desc(const struct clc_change *chg, char *desc)
{
	strscpy(desc, chg->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(clc_change, clc_changes, clc_change_desc);

static void clc_test_change(struct kunit *test)
{
	const struct clc_change *chg = test->param_value;
	struct clc_any *any = clc_alloc(test);
	size_t len, got;
	u8 *data, *msg;
	int i;

	data = smc_kunit_hex(test, chg->hex, 0, &got);
	len = chg->len ?: got;
	msg = kunit_kzalloc(test, len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, msg);
	memcpy(msg, data, min(len, got));
	if (chg->len)
		clc_mend(msg, len);
	for (i = 0; i < ARRAY_SIZE(chg->set); i++)
		if (chg->set[i].off || chg->set[i].val)
			msg[chg->set[i].off] = chg->set[i].val;

	KUNIT_EXPECT_EQ(test, clc_decode(msg, len, any), chg->rc);
}

/* header fields that no message survives */
static void clc_test_header(struct kunit *test)
{
	const char *hex = *(const char * const *)test->param_value;
	static const u16 lengths[] = { 0, 7, 27, 4097, 65535 };
	struct clc_any *any = clc_alloc(test);
	struct smc_clc_hdr hdr;
	size_t len;
	u8 *msg;
	int i;

	msg = smc_kunit_hex(test, hex, 0, &len);
	KUNIT_ASSERT_EQ(test, smc_clc_decode_hdr(msg, 8, &hdr), 0);
	KUNIT_EXPECT_EQ(test, hdr.type, msg[4]);
	KUNIT_EXPECT_EQ(test, hdr.version, msg[7] >> 4);
	KUNIT_EXPECT_EQ(test, hdr.len, len);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, smc_clc_decode_hdr(msg, i, &hdr),
				-EPROTO);
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		put_unaligned_be16(lengths[i], msg + 5);
		KUNIT_EXPECT_EQ(test, smc_clc_decode_hdr(msg, 8, &hdr),
				-EPROTO);
		KUNIT_EXPECT_EQ(test, clc_decode(msg, len, any), -EPROTO);
	}
	put_unaligned_be16(len, msg + 5);
	msg[7] &= 0x0f;
	KUNIT_EXPECT_EQ(test, clc_decode(msg, len, any), -EPROTO);

	/* each decoder takes its own type only */
	msg[7] |= 0x10;
	if (msg[4] != SMC_CLC_PROPOSAL)
		KUNIT_EXPECT_EQ(test, -EPROTO,
				smc_clc_decode_proposal(msg, len, &any->p));
	if (msg[4] != SMC_CLC_ACCEPT && msg[4] != SMC_CLC_CONFIRM)
		KUNIT_EXPECT_EQ(test, -EPROTO,
				smc_clc_decode_ac(msg, len, &any->ac));
	if (msg[4] != SMC_CLC_DECLINE)
		KUNIT_EXPECT_EQ(test, -EPROTO,
				smc_clc_decode_decline(msg, len, &any->d));
}

static void clc_test_eyecatcher(struct kunit *test)
{
	static const u8 smcr[] = { 0xe2, 0xd4, 0xc3, 0xd9, 1 };
	static const u8 smcd[] = { 0xe2, 0xd4, 0xc3, 0xc4, 1 };
	size_t len;

	for (len = 0; len <= 5; len++) {
		KUNIT_EXPECT_TRUE(test, smc_clc_is_eyecatcher(smcr, len));
		KUNIT_EXPECT_TRUE(test, smc_clc_is_eyecatcher(smcd, len));
	}
	KUNIT_EXPECT_FALSE(test, smc_clc_is_eyecatcher("G", 1));
	KUNIT_EXPECT_FALSE(test, smc_clc_is_eyecatcher("\xe2\xd4\xc3\xc5", 4));
}

/* a D-v2 extension with a wrong offset is absent, its absence no error */
static void clc_test_d2_offset(struct kunit *test)
{
	static const u16 offsets[] = { 0, 63, 289, 65535 };
	struct clc_any *any = clc_alloc(test);
	size_t len;
	u8 *msg;
	int i;

	msg = smc_kunit_hex(test, HEX_P4, 0, &len);
	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		put_unaligned_be16(offsets[i], msg + 86);
		KUNIT_ASSERT_EQ(test, clc_decode(msg, len, any), 0);
		KUNIT_EXPECT_TRUE(test, any->p.has_v2);
		KUNIT_EXPECT_FALSE(test, any->p.has_d2);
		KUNIT_EXPECT_EQ(test, any->p.num_ism, 0);
	}

	/* without EIDs: 32 bytes less */
	memmove(msg + 120, msg + 152, len - 152);
	msg[80] = 0;
	put_unaligned_be16(32, msg + 86);
	put_unaligned_be16(len - 32, msg + 5);
	KUNIT_ASSERT_EQ(test, clc_decode(msg, len - 32, any), 0);
	KUNIT_EXPECT_TRUE(test, any->p.has_d2);
	KUNIT_EXPECT_EQ(test, any->p.num_eids, 0);
	KUNIT_EXPECT_EQ(test, any->p.num_ism, 2);
}

/* newer peers may put unknown bytes between the areas */
static void clc_test_growth(struct kunit *test)
{
	struct clc_any *any = clc_alloc(test);
	size_t len;
	u8 *old, *msg;

	old = smc_kunit_hex(test, HEX_P3, 0, &len);
	msg = kunit_kzalloc(test, len + 16, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, msg);
	memcpy(msg, old, 80);			/* fixed part, SMC-D area */
	memset(msg + 80, 0x77, 6);
	memcpy(msg + 86, old + 80, 8);		/* prefixes */
	memset(msg + 94, 0x77, 5);
	memcpy(msg + 99, old + 88, 72);		/* v2 extension */
	memset(msg + 171, 0x77, 5);
	put_unaligned_be16(46, msg + 38);
	put_unaligned_be16(47, msg + 50);
	clc_mend(msg, len + 16);

	KUNIT_ASSERT_EQ(test, clc_decode(msg, len + 16, any), 0);
	KUNIT_EXPECT_TRUE(test, any->p.has_ism_area);
	KUNIT_EXPECT_EQ(test, any->p.prefix4_len, 24);
	KUNIT_EXPECT_EQ(test, any->p.max_conns, 255);
	KUNIT_EXPECT_MEMEQ(test, any->p.eid[0], clc_eid, SMC_CLC_EID_LEN);
}

/* fields that have a meaning from release 1 on only */
static void clc_test_release(struct kunit *test)
{
	struct clc_any *any = clc_alloc(test);
	size_t len;
	u8 *msg;

	msg = smc_kunit_hex(test, HEX_P3, 0, &len);
	msg[91] = 0;
	KUNIT_ASSERT_EQ(test, clc_decode(msg, len, any), 0);
	KUNIT_EXPECT_EQ(test, any->p.release, 0);
	KUNIT_EXPECT_EQ(test, any->p.max_conns, 0);
	KUNIT_EXPECT_EQ(test, any->p.features, 0);

	msg = smc_kunit_hex(test, HEX_A2, 0, &len);
	msg[105] = 0x10;
	KUNIT_ASSERT_EQ(test, clc_decode(msg, len, any), 0);
	KUNIT_EXPECT_TRUE(test, any->ac.has_fce);
	KUNIT_EXPECT_EQ(test, any->ac.os, SMC_CLC_OS_ZOS);
	KUNIT_EXPECT_EQ(test, any->ac.max_conns, 0);
	KUNIT_EXPECT_EQ(test, any->ac.max_links, 0);
	KUNIT_EXPECT_EQ(test, any->ac.features, 0);
}

static void clc_test_values(struct kunit *test)
{
	static const u8 no_host[SMC_CLC_HOST_LEN];
	struct clc_any *any = clc_alloc(test);
	static const u8 evil[] = { 0, 0x1b, 0x7f, 0x80, 0xff };
	size_t len;
	u8 *msg;
	int i;

	/* host names are printable or not there */
	msg = smc_kunit_hex(test, HEX_A2, 0, &len);
	for (i = 0; i < ARRAY_SIZE(evil); i++) {
		msg[139] = evil[i];
		KUNIT_ASSERT_EQ(test, clc_decode(msg, len, any), 0);
		KUNIT_EXPECT_MEMEQ(test, any->ac.host, no_host,
				   SMC_CLC_HOST_LEN);
	}

	/* the RMB must end inside the address space */
	msg = smc_kunit_hex(test, HEX_A1, 0, &len);
	put_unaligned_be64(-65536ULL, msg + 52);
	KUNIT_EXPECT_EQ(test, clc_decode(msg, len, any), 0);
	put_unaligned_be64(-65535ULL, msg + 52);
	KUNIT_EXPECT_EQ(test, clc_decode(msg, len, any), -EPROTO);
	put_unaligned_be64(-65536ULL, msg + 52);
	msg[45] = 2;
	KUNIT_EXPECT_EQ(test, clc_decode(msg, len, any), -EPROTO);
}

/* of a longer list the first GIDs are kept */
static void clc_test_many_gids(struct kunit *test)
{
	const size_t len = 164 + 16 * 20;
	struct clc_any *any = clc_alloc(test);
	size_t old_len;
	u8 *old, *msg;

	old = smc_kunit_hex(test, HEX_C1, 0, &old_len);
	msg = kunit_kzalloc(test, len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, msg);
	memcpy(msg, old, 192);
	msg[156] = 20;
	clc_mend(msg, len);
	KUNIT_ASSERT_EQ(test, clc_decode(msg, len, any), 0);
	KUNIT_EXPECT_EQ(test, any->ac.num_gids, SMC_CLC_MAX_GIDS);
	KUNIT_EXPECT_EQ(test, any->ac.gids[1][15], 11);
}

static void clc_test_encode_proposal(struct kunit *test)
{
	struct clc_any *any = clc_decoded(test, HEX_P2);
	struct smc_clc_proposal *p = &any->p;
	u8 *out;
	int i;

	out = kunit_kmalloc(test, 652, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, out);

	/* the long form of v1 has an SMC-D area */
	p->has_ism_area = true;
	KUNIT_EXPECT_EQ(test, clc_encode(out, 652, any), 86 + 40);
	KUNIT_EXPECT_EQ(test, out[39], 40);

	/* everything there is makes the longest message, which is understood */
	p->version = 2;
	p->mode_v1 = SMC_MODE_B;
	p->mode_v2 = SMC_MODE_B;
	p->num_prefix6 = SMC_CLC_MAX_PREFIX6;
	p->num_eids = SMC_CLC_MAX_EIDS;
	p->num_ism = SMC_CLC_MAX_ISM;
	p->seid_flag = true;
	memset(p->seid, 'S', SMC_CLC_EID_LEN);
	for (i = 0; i < SMC_CLC_MAX_ISM; i++)
		p->ism[i].chid = i;
	KUNIT_ASSERT_EQ(test, clc_encode(out, 652, any), 652);
	memset(any, 0xa5, sizeof(*any));
	KUNIT_ASSERT_EQ(test, clc_decode(out, 652, any), 0);
	KUNIT_EXPECT_TRUE(test, p->has_d2);
	KUNIT_EXPECT_TRUE(test, p->seid_flag);
	KUNIT_EXPECT_EQ(test, p->seid[31], 'S');
	KUNIT_EXPECT_EQ(test, p->ism[7].chid, 7);

	/* no such messages */
	p->num_ism++;
	KUNIT_EXPECT_EQ(test, clc_encode(out, 652, any), -EINVAL);
	p->num_ism = 0;
	p->version = 1;
	KUNIT_EXPECT_EQ(test, clc_encode(out, 652, any), -EINVAL);
	p->mode_v1 = SMC_MODE_N;
	p->mode_v2 = SMC_MODE_N;
	KUNIT_EXPECT_EQ(test, clc_encode(out, 652, any), -EINVAL);
	p->version = 3;
	KUNIT_EXPECT_EQ(test, clc_encode(out, 652, any), -EINVAL);
}

static void clc_test_encode_ac(struct kunit *test)
{
	struct clc_any *any = clc_decoded(test, HEX_A2);
	struct smc_clc_ac *ac = &any->ac;
	u8 out[160];

	/* a C string will do for a host name */
	memset(ac->host, 0, sizeof(ac->host));
	strscpy(ac->host, "h", sizeof(ac->host));
	KUNIT_ASSERT_EQ(test, clc_encode(out, sizeof(out), any), 160);
	KUNIT_EXPECT_MEMEQ(test, out + 108, "h                               ",
			   SMC_CLC_HOST_LEN);

	/* what a receiver refuses is not written */
	ac->r.mtu = 6;
	KUNIT_EXPECT_EQ(test, clc_encode(out, sizeof(out), any), -EINVAL);
	ac->r.mtu = 5;
	ac->r.token = 0;
	KUNIT_EXPECT_EQ(test, clc_encode(out, sizeof(out), any), -EINVAL);
	ac->r.token = 1;
	ac->r.qpn = 0x1000000;
	KUNIT_EXPECT_EQ(test, clc_encode(out, sizeof(out), any), -EINVAL);
	ac->r.qpn = 2;
	ac->mode = SMC_MODE_N;
	KUNIT_EXPECT_EQ(test, clc_encode(out, sizeof(out), any), -EINVAL);
	ac->mode = SMC_MODE_R;
	ac->version = 3;
	KUNIT_EXPECT_EQ(test, clc_encode(out, sizeof(out), any), -EINVAL);
	ac->version = 2;
	KUNIT_EXPECT_EQ(test, clc_encode(out, sizeof(out), any), 160);
	ac->type = SMC_CLC_DECLINE;
	KUNIT_EXPECT_EQ(test, -EINVAL,
			smc_clc_encode_ac(out, sizeof(out), ac));
}

static void clc_probe(struct kunit *test, const u8 *data, size_t len)
{
	struct clc_any *any = test->priv;
	int rc;

	rc = clc_decode(data, len, any);
	if (rc) {
		KUNIT_EXPECT_EQ(test, rc, -EPROTO);
		return;
	}
	KUNIT_EXPECT_EQ(test, any->hdr.len, len);
	if (any->hdr.type == SMC_CLC_PROPOSAL) {
		KUNIT_EXPECT_LE(test, any->p.version, 2);
		KUNIT_EXPECT_LE(test, any->p.num_prefix6, SMC_CLC_MAX_PREFIX6);
		KUNIT_EXPECT_LE(test, any->p.num_eids, SMC_CLC_MAX_EIDS);
		KUNIT_EXPECT_LE(test, any->p.num_ism, SMC_CLC_MAX_ISM);
		KUNIT_EXPECT_LE(test, any->p.prefix4_len, 32);
	} else if (any->hdr.type == SMC_CLC_DECLINE) {
		KUNIT_EXPECT_LE(test, any->d.version, 2);
	} else {
		KUNIT_EXPECT_LE(test, any->ac.version, 2);
		KUNIT_EXPECT_LE(test, any->ac.mode, SMC_MODE_D);
		KUNIT_EXPECT_LE(test, any->ac.num_gids, SMC_CLC_MAX_GIDS);
		KUNIT_EXPECT_EQ(test, any->ac.has_fce, any->ac.version == 2 &&
				any->ac.first_contact);
	}
}

static void clc_test_damage(struct kunit *test)
{
	const char *hex = *(const char * const *)test->param_value;
	size_t len;
	u8 *msg;

	test->priv = clc_alloc(test);
	msg = smc_kunit_hex(test, hex, 0, &len);
	smc_kunit_damage(test, msg, len, clc_probe, clc_mend);
}

static struct kunit_case clc_msg_cases[] = {
	KUNIT_CASE_PARAM(clc_test_round_trip, clc_vector_gen_params),
	KUNIT_CASE(clc_test_proposal_v1),
	KUNIT_CASE(clc_test_proposal_v2),
	KUNIT_CASE(clc_test_ac_r),
	KUNIT_CASE(clc_test_ac_d),
	KUNIT_CASE(clc_test_decline),
	KUNIT_CASE_PARAM(clc_test_change, clc_change_gen_params),
	KUNIT_CASE_PARAM(clc_test_header, clc_vector_gen_params),
	KUNIT_CASE(clc_test_eyecatcher),
	KUNIT_CASE(clc_test_d2_offset),
	KUNIT_CASE(clc_test_growth),
	KUNIT_CASE(clc_test_release),
	KUNIT_CASE(clc_test_values),
	KUNIT_CASE(clc_test_many_gids),
	KUNIT_CASE(clc_test_encode_proposal),
	KUNIT_CASE(clc_test_encode_ac),
	KUNIT_CASE_PARAM(clc_test_damage, clc_vector_gen_params),
	{}
};

static struct kunit_suite clc_msg_suite = {
	.name = "smc_clc_msg",
	.test_cases = clc_msg_cases,
};

kunit_test_suite(clc_msg_suite);

MODULE_DESCRIPTION("KUnit tests of SMC's CLC messages");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
