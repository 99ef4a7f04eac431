// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of LLC messages. Vectors of v2 are in the form of a little-endian
 * Linux peer where they carry ".spec": that is what we write in their place.
 */
#include <linux/module.h>

#include "codec_kunit.h"
#include "llc_vectors.h"
#include "../smc_llc_msg.h"

#define MAC_S	{ 0x02, 0x66, 0x77, 0x88, 0x99, 0x00 }
#define MAC_S2	{ 0x02, 0x66, 0x77, 0x88, 0x99, 0x01 }
#define MAC_C	{ 0x02, 0x11, 0x22, 0x33, 0x44, 0x55 }
#define MAC_C2	{ 0x02, 0x11, 0x22, 0x33, 0x44, 0x56 }
#define GID_S	{ 0xfe, 0x80, 0, 0, 0, 0, 0, 0, \
		  0x00, 0x66, 0x77, 0xff, 0xfe, 0x88, 0x99, 0x00 }
#define GID_S2	{ 0xfe, 0x80, 0, 0, 0, 0, 0, 0, \
		  0x00, 0x66, 0x77, 0xff, 0xfe, 0x88, 0x99, 0x01 }
#define GID_C2	{ 0xfe, 0x80, 0, 0, 0, 0, 0, 0, \
		  0x00, 0x11, 0x22, 0xff, 0xfe, 0x33, 0x44, 0x56 }
#define GID4(d)	{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, d }

struct llc_vector {
	const char *name;
	const char *hex;
	const char *spec;
	struct smc_llc msg;
	struct smc_llc_rkey rkey;	/* entry 0 of the list */
	u32 del_rkey;			/* same */
	u8 gid[2][16];			/* entries of the list */
};

static const struct llc_vector llc_vectors[] = {
	{
		.name = "L1 CONFIRM LINK request",
		.hex = HEX_CONFIRM_LINK,
		.msg = { .version = 1, .type = SMC_LLC_CONFIRM_LINK,
			 .no_eyecatcher = true, .mac = MAC_S, .gid = GID_S,
			 .qpn = 0x1a2b, .link = 1, .link_uid = { 0, 0, 1, 1 },
			 .max_links = 2 },
	}, {
		.name = "L2 CONFIRM LINK response v2",
		.hex = HEX_L2,
		.spec = HEX_L2_SPEC,
		.msg = { .version = 2, .type = SMC_LLC_CONFIRM_LINK,
			 .response = true, .no_eyecatcher = true, .mac = MAC_C,
			 .gid = GID4(10), .qpn = 0x3c4d, .link = 1,
			 .link_uid = { 0, 0, 3, 1 }, .max_links = 2,
			 .max_conns = 255 },
	}, {
		.name = "L2b CONFIRM LINK response v2, big endian",
		.hex = HEX_L2_SPEC,
		.msg = { .version = 2, .type = SMC_LLC_CONFIRM_LINK,
			 .response = true, .no_eyecatcher = true, .mac = MAC_C,
			 .gid = GID4(10), .qpn = 0x3c4d, .link = 1,
			 .link_uid = { 0, 0, 3, 1 }, .max_links = 2,
			 .max_conns = 255 },
	}, {
		.name = "L3 ADD LINK request",
		.hex = HEX_ADD_LINK,
		.msg = { .version = 1, .type = SMC_LLC_ADD_LINK, .mac = MAC_S2,
			 .gid = GID_S2, .qpn = 0x1a2c, .link = 2, .mtu = 5,
			 .psn = 0x0a0b0c },
	}, {
		.name = "L4 ADD LINK response",
		.hex = HEX_L4,
		.msg = { .version = 1, .type = SMC_LLC_ADD_LINK,
			 .response = true, .mac = MAC_C2, .gid = GID_C2,
			 .qpn = 0x3c4e, .link = 2, .mtu = 3, .psn = 0x0d0e0f },
	}, {
		.name = "L5 ADD LINK reject",
		.hex = HEX_L5,
		.msg = { .version = 1, .type = SMC_LLC_ADD_LINK,
			 .response = true, .rejected = true,
			 .reject_reason = SMC_LLC_REJ_NO_ALT_PATH,
			 .mac = MAC_S2, .gid = GID_S2, .qpn = 0x1a2c, .link = 2,
			 .mtu = 5, .psn = 0x0a0b0c },
	}, {
		.name = "L6 ADD LINK suggestion",
		.hex = HEX_L6,
		.msg = { .version = 1, .type = SMC_LLC_ADD_LINK, .mac = MAC_C2,
			 .gid = GID_C2 },
	}, {
		.name = "L7 ADD LINK request v2",
		.hex = HEX_ADD_LINK_V2,
		.spec = HEX_ADD_LINK_V2_SPEC,
		.msg = { .version = 2, .type = SMC_LLC_ADD_LINK, .mac = MAC_S2,
			 .gid = GID4(21), .qpn = 0x1a2c, .link = 2, .mtu = 5,
			 .psn = 0x0a0b0c, .add_ext = true, .direct = true,
			 .target_gid = GID4(21), .num_rkeys = 1,
			 .claimed_rkeys = 1 },
		.rkey = { .ref_rkey = 0x00112233, .rkey = 0x00112299,
			  .addr = 0x9abc0000 },
	}, {
		.name = "L7b ADD LINK request v2, big endian",
		.hex = HEX_ADD_LINK_V2_SPEC,
		.msg = { .version = 2, .type = SMC_LLC_ADD_LINK, .mac = MAC_S2,
			 .gid = GID4(21), .qpn = 0x1a2c, .link = 2, .mtu = 5,
			 .psn = 0x0a0b0c, .add_ext = true, .direct = true,
			 .target_gid = GID4(21), .num_rkeys = 1,
			 .claimed_rkeys = 1 },
		.rkey = { .ref_rkey = 0x00112233, .rkey = 0x00112299,
			  .addr = 0x9abc0000 },
	}, {
		.name = "L8 ADD LINK response v2",
		.hex = HEX_L8,
		.spec = HEX_L8_SPEC,
		.msg = { .version = 2, .type = SMC_LLC_ADD_LINK,
			 .response = true, .mac = MAC_C2, .gid = GID4(11),
			 .qpn = 0x3c4e, .link = 2, .mtu = 3, .psn = 0x0d0e0f,
			 .add_ext = true, .direct = true,
			 .target_gid = GID4(11), .num_rkeys = 1,
			 .claimed_rkeys = 1 },
		.rkey = { .ref_rkey = 0x00445566, .rkey = 0x004455aa,
			  .addr = 0x7f800000 },
	}, {
		.name = "L9 ADD LINK reject v2",
		.hex = HEX_L9,
		.spec = HEX_L9_SPEC,
		.msg = { .version = 2, .type = SMC_LLC_ADD_LINK,
			 .response = true, .rejected = true, .mac = MAC_S2,
			 .gid = GID4(21), .qpn = 0x1a2c, .link = 2, .mtu = 5,
			 .psn = 0x0a0b0c },
	}, {
		.name = "L9c ADD LINK reject v2 with reason",
		.hex = HEX_L9C,
		.msg = { .version = 2, .type = SMC_LLC_ADD_LINK,
			 .response = true, .rejected = true,
			 .reject_reason = SMC_LLC_REJ_NO_ALT_PATH,
			 .mac = MAC_S2, .gid = GID4(21), .qpn = 0x1a2c,
			 .link = 2, .mtu = 5, .psn = 0x0a0b0c },
	}, {
		.name = "L10 ADD LINK CONT of the server",
		.hex = HEX_ADD_LINK_CONT,
		.msg = { .version = 1, .type = SMC_LLC_ADD_LINK_CONT, .link = 2,
			 .num_rkeys = 2, .claimed_rkeys = 3, .other = {
			 { 0, 0x00112233, 0x00112299, 0x9abc0000 },
			 { 0, 0x00112333, 0x00112399, 0x9abd0000 } } },
	}, {
		.name = "L11 ADD LINK CONT of the client",
		.hex = HEX_L11,
		.msg = { .version = 1, .type = SMC_LLC_ADD_LINK_CONT,
			 .response = true, .link = 2, .num_rkeys = 2,
			 .claimed_rkeys = 3, .other = {
			 { 0, 0x00445566, 0x004455aa, 0x7f800000 },
			 { 0, 0x00445666, 0x004456aa, 0x7f810000 } } },
	}, {
		.name = "L12 last ADD LINK CONT",
		.hex = "032c0000 02010000 00112433 00112499 00000000 9abe0000",
		.msg = { .version = 1, .type = SMC_LLC_ADD_LINK_CONT, .link = 2,
			 .num_rkeys = 1, .claimed_rkeys = 1, .other = {
			 { 0, 0x00112433, 0x00112499, 0x9abe0000 } } },
	}, {
		.name = "L13 DELETE LINK request",
		.hex = "042c0020 02000100 00",
		.msg = { .version = 1, .type = SMC_LLC_DELETE_LINK,
			 .orderly = true, .link = 2,
			 .reason = SMC_LLC_DEL_LOST_PATH },
	}, {
		.name = "L13p DELETE LINK response",
		.hex = "042c00a0 02",
		.msg = { .version = 1, .type = SMC_LLC_DELETE_LINK,
			 .response = true, .orderly = true, .link = 2 },
	}, {
		.name = "L13u DELETE LINK response, unknown link",
		.hex = "042c00a0 02001000 00",
		.msg = { .version = 1, .type = SMC_LLC_DELETE_LINK,
			 .response = true, .orderly = true, .link = 2,
			 .reason = SMC_LLC_DEL_UNKNOWN_LINK },
	}, {
		.name = "L14 DELETE LINK request v2, all",
		.hex = "242c0060 00000300 00",
		.spec = "24002c60 00000300 00",
		.msg = { .version = 2, .type = SMC_LLC_DELETE_LINK, .all = true,
			 .orderly = true, .reason = SMC_LLC_DEL_PROG_INIT },
	}, {
		.name = "L15 REQ ADD LINK",
		.hex = HEX_REQ_ADD_LINK,
		.spec = HEX_L15_SPEC,
		.msg = { .version = 2, .type = SMC_LLC_REQ_ADD_LINK,
			 .num_gids = 2 },
		.gid = { GID4(10), GID4(11) },
	}, {
		.name = "L16 REQ ADD LINK response",
		.hex = "252c0080",
		.spec = "25002c80",
		.msg = { .version = 2, .type = SMC_LLC_REQ_ADD_LINK,
			 .response = true },
	}, {
		.name = "L16c REQ ADD LINK refused",
		.hex = "25002cc1",
		.msg = { .version = 2, .type = SMC_LLC_REQ_ADD_LINK,
			 .response = true, .rejected = true,
			 .reject_reason = SMC_LLC_REJ_NO_ALT_PATH },
	}, {
		.name = "L17 CONFIRM RKEY request",
		.hex = HEX_CONFIRM_RKEY,
		.msg = { .version = 1, .type = SMC_LLC_CONFIRM_RKEY,
			 .num_rkeys = 1, .claimed_rkeys = 1,
			 .rkey = { .rkey = 0x00112244, .addr = 0x123600 << 8 },
			 .other = { { 2, 0, 0x001122bb, 0x9abf0000 } } },
	}, {
		.name = "L17n CONFIRM RKEY refused",
		.hex = HEX_L17N,
		.msg = { .version = 1, .type = SMC_LLC_CONFIRM_RKEY,
			 .response = true, .rejected = true, .retry = true,
			 .num_rkeys = 1, .claimed_rkeys = 1,
			 .rkey = { .rkey = 0x00112244, .addr = 0x123600 << 8 },
			 .other = { { 2, 0, 0x001122bb, 0x9abf0000 } } },
	}, {
		.name = "L17v CONFIRM RKEY request v2",
		.hex = HEX_L17V,
		.spec = HEX_L17V_SPEC,
		.msg = { .version = 2, .type = SMC_LLC_CONFIRM_RKEY,
			 .num_rkeys = 1, .claimed_rkeys = 1,
			 .rkey = { .rkey = 0x00112244, .addr = 0x123600 << 8 },
			 .other = { { 2, 0, 0x001122bb, 0x9abf0000 } } },
	}, {
		.name = "L18 TEST LINK request",
		.hex = "072c0000",
		.msg = { .version = 1, .type = SMC_LLC_TEST_LINK },
	}, {
		.name = "L18v TEST LINK response v2 with data",
		.hex = "27002c80 00010203 04050607 08090a0b 0c0d0e0f",
		.msg = { .version = 2, .type = SMC_LLC_TEST_LINK,
			 .response = true,
			 .user_data = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
					12, 13, 14, 15 } },
	}, {
		.name = "L19 DELETE RKEY request",
		.hex = HEX_DELETE_RKEY,
		.msg = { .version = 1, .type = SMC_LLC_DELETE_RKEY,
			 .num_rkeys = 1, .claimed_rkeys = 1 },
		.del_rkey = 0x00112244,
	}, {
		.name = "L19n DELETE RKEY response, key unknown",
		.hex = "092c00a0 01800000 00112244",
		.msg = { .version = 1, .type = SMC_LLC_DELETE_RKEY,
			 .response = true, .rejected = true, .num_rkeys = 1,
			 .claimed_rkeys = 1, .err_mask = 0x80 },
		.del_rkey = 0x00112244,
	}, {
		.name = "L19v DELETE RKEY request v2",
		.hex = "292c0000 01000000 00112244",
		.spec = "29002c00 01000000 00112244",
		.msg = { .version = 2, .type = SMC_LLC_DELETE_RKEY,
			 .num_rkeys = 1, .claimed_rkeys = 1 },
		.del_rkey = 0x00112244,
	}, {
		.name = "L20 DELETE RKEY response v2, key unknown",
		.hex = "292c00a0 01010000",
		.spec = "29002ca0 01010000",
		.msg = { .version = 2, .type = SMC_LLC_DELETE_RKEY,
			 .response = true, .rejected = true, .num_rkeys = 1,
			 .claimed_rkeys = 1, .err_mask = 1 },
	},
};

static void llc_vector_desc(const struct llc_vector *vec, char *desc)
{
	strscpy(desc, vec->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(llc_vector, llc_vectors, llc_vector_desc);

/* decoded as expected, the list aside */
static void llc_expect(struct kunit *test, const struct smc_llc *got,
		       const struct smc_llc *want)
{
	struct smc_llc bare = *got;

	bare.list = NULL;
	KUNIT_EXPECT_EQ(test, got->version, want->version);
	KUNIT_EXPECT_EQ(test, got->type, want->type);
	KUNIT_EXPECT_EQ(test, got->response, want->response);
	KUNIT_EXPECT_EQ(test, got->rejected, want->rejected);
	KUNIT_EXPECT_EQ(test, got->link, want->link);
	KUNIT_EXPECT_EQ(test, got->qpn, want->qpn);
	KUNIT_EXPECT_EQ(test, got->num_rkeys, want->num_rkeys);
	KUNIT_EXPECT_EQ(test, got->claimed_rkeys, want->claimed_rkeys);
	KUNIT_EXPECT_EQ(test, got->num_gids, want->num_gids);
	/* both are zeroed before they are filled, padding included */
	KUNIT_EXPECT_MEMEQ(test, &bare, want, sizeof(bare));
}

static void llc_expect_list(struct kunit *test, const struct smc_llc *got,
			    const struct llc_vector *vec)
{
	struct smc_llc_rkey rkey;
	u8 gid[16];
	int i;

	if (got->type == SMC_LLC_ADD_LINK && got->num_rkeys) {
		smc_llc_list_rkey(got, 0, &rkey);
		KUNIT_EXPECT_EQ(test, rkey.ref_rkey, vec->rkey.ref_rkey);
		KUNIT_EXPECT_EQ(test, rkey.rkey, vec->rkey.rkey);
		KUNIT_EXPECT_EQ(test, rkey.addr, vec->rkey.addr);
	}
	if (got->type == SMC_LLC_DELETE_RKEY)
		KUNIT_EXPECT_EQ(test, smc_llc_list_del_rkey(got, 0),
				vec->del_rkey);
	for (i = 0; i < got->num_gids; i++) {
		smc_llc_list_gid(got, i, gid);
		KUNIT_EXPECT_MEMEQ(test, gid, vec->gid[i], sizeof(gid));
	}
}

static void llc_test_vector(struct kunit *test)
{
	const struct llc_vector *vec = test->param_value;
	struct smc_llc msg;
	size_t len, want_len;
	u8 *data, *want, *out;
	int rc;

	data = smc_kunit_hex(test, vec->hex, SMC_LLC_LEN, &len);
	KUNIT_ASSERT_EQ(test, smc_llc_decode(data, len, &msg), 0);
	llc_expect(test, &msg, &vec->msg);
	llc_expect_list(test, &msg, vec);

	want = smc_kunit_hex(test, vec->spec ?: vec->hex, SMC_LLC_LEN,
			     &want_len);
	out = kunit_kmalloc(test, want_len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, out);
	memset(out, 0xff, want_len);
	rc = smc_llc_encode(out, want_len, &msg);
	KUNIT_ASSERT_EQ(test, rc, want_len);
	KUNIT_EXPECT_MEMEQ(test, out, want, want_len);
	KUNIT_EXPECT_EQ(test, smc_llc_encode(out, want_len - 1, &msg),
			-EMSGSIZE);
}

/* one message, changed; what of it is understood */
struct llc_change {
	const char *name;
	const char *hex;
	size_t len;		/* bytes received, 0: all */
	struct {
		u8 off;
		u8 val;
	} set[3];		/* up to the first with off 0 */
	int byte0;		/* new byte 0 if not 0 */
	int rc;
	int num_rkeys;
	int claimed_rkeys;
};

static const struct llc_change llc_changes[] = {
	{ "L1 length 43", HEX_CONFIRM_LINK, .set = { { 1, 43 } },
	  .rc = -EPROTO },
	{ "L1 length 45", HEX_CONFIRM_LINK, .set = { { 1, 45 } },
	  .rc = -EPROTO },
	{ "L1 cut to 43", HEX_CONFIRM_LINK, .len = 43, .rc = -EPROTO },
	{ "v2 length 43 little endian", HEX_CONFIRM_LINK, .byte0 = 0x21,
	  .set = { { 1, 43 } }, .rc = -EPROTO },
	{ "v2 length 43 big endian", HEX_CONFIRM_LINK, .byte0 = 0x21,
	  .set = { { 1, 0 }, { 2, 43 } }, .rc = -EPROTO },
	{ "v2 length 100", HEX_CONFIRM_LINK, .byte0 = 0x21,
	  .set = { { 1, 100 } } },
	{ "v2 length 0", HEX_CONFIRM_LINK, .byte0 = 0x21, .set = { { 1, 0 } },
	  .rc = -EPROTO },
	{ "v2 length 65535", HEX_CONFIRM_LINK, .byte0 = 0x21,
	  .set = { { 1, 255 }, { 2, 255 } }, .rc = -EPROTO },
	{ "type 0", HEX_CONFIRM_LINK, .byte0 = 0x20, .rc = -EPROTO },
	{ "type 5 v1", HEX_CONFIRM_LINK, .byte0 = 0x05, .rc = -EPROTO },
	{ "type 3 v2", HEX_CONFIRM_LINK, .byte0 = 0x23, .rc = -EPROTO },
	{ "type 8 v2", HEX_CONFIRM_LINK, .byte0 = 0x28, .rc = -EPROTO },
	{ "type 10", HEX_CONFIRM_LINK, .byte0 = 0x0a, .rc = -EPROTO },
	{ "version nibble 1", HEX_CONFIRM_LINK, .byte0 = 0x11, .rc = -EPROTO },
	{ "version nibble 3", HEX_CONFIRM_LINK, .byte0 = 0x31, .rc = -EPROTO },
	{ "byte 0 8a", HEX_CONFIRM_LINK, .byte0 = 0x8a, .rc = -EPROTO },
	{ "CDC", HEX_CONFIRM_LINK, .byte0 = 0xfe, .rc = -EPROTO },
	{ "L7 count 255, 88 bytes", HEX_ADD_LINK_V2, .set = { { 70, 255 } },
	  .num_rkeys = 1, .claimed_rkeys = 255 },
	{ "L7 count 255 big endian", HEX_ADD_LINK_V2_SPEC,
	  .set = { { 71, 255 } }, .num_rkeys = 1, .claimed_rkeys = 255 },
	{ "L7 count in both bytes", HEX_ADD_LINK_V2, .set = { { 71, 1 } },
	  .num_rkeys = 1, .claimed_rkeys = 1 },
	{ "L7 count 0", HEX_ADD_LINK_V2, .set = { { 70, 0 } } },
	{ "L7 cut to 71", HEX_ADD_LINK_V2, .len = 71 },
	{ "L7 cut to 87", HEX_ADD_LINK_V2, .len = 87, .claimed_rkeys = 1 },
	{ "L10 count 255", HEX_ADD_LINK_CONT, .set = { { 5, 255 } },
	  .num_rkeys = 2, .claimed_rkeys = 255 },
	{ "L10 count 0", HEX_ADD_LINK_CONT, .set = { { 5, 0 } } },
	{ "L17 count 3", HEX_CONFIRM_RKEY, .set = { { 4, 3 } },
	  .num_rkeys = 2, .claimed_rkeys = 3 },
	{ "L17 count 255", HEX_CONFIRM_RKEY, .set = { { 4, 255 } },
	  .num_rkeys = 2, .claimed_rkeys = 255 },
	{ "L19 count 8", HEX_DELETE_RKEY, .set = { { 4, 8 } },
	  .num_rkeys = 8, .claimed_rkeys = 8 },
	{ "L19 count 255", HEX_DELETE_RKEY, .set = { { 4, 255 } },
	  .num_rkeys = 8, .claimed_rkeys = 255 },
	{ "L19v count 255", HEX_DELETE_RKEY, .byte0 = 0x29,
	  .set = { { 4, 255 } }, .num_rkeys = 9, .claimed_rkeys = 255 },
	{ "CONFIRM RKEY CONT", HEX_CONFIRM_RKEY, .byte0 = 0x08 },
};

static void llc_change_desc(const struct llc_change *chg, char *desc)
{
	strscpy(desc, chg->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(llc_change, llc_changes, llc_change_desc);

static void llc_test_change(struct kunit *test)
{
	const struct llc_change *chg = test->param_value;
	struct smc_llc msg;
	u8 *data, *cut;
	size_t len;
	int i;

	data = smc_kunit_hex(test, chg->hex, SMC_LLC_LEN, &len);
	for (i = 0; i < ARRAY_SIZE(chg->set) && chg->set[i].off; i++)
		data[chg->set[i].off] = chg->set[i].val;
	if (chg->byte0)
		data[0] = chg->byte0;
	if (chg->len)
		len = chg->len;
	cut = kunit_kmalloc(test, len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, cut);
	memcpy(cut, data, len);

	KUNIT_ASSERT_EQ(test, smc_llc_decode(cut, len, &msg), chg->rc);
	if (chg->rc)
		return;
	KUNIT_EXPECT_EQ(test, msg.num_rkeys, chg->num_rkeys);
	KUNIT_EXPECT_EQ(test, msg.claimed_rkeys, chg->claimed_rkeys);
}

/* values are for the layers above, which have to answer */
static void llc_test_values(struct kunit *test)
{
	struct smc_llc msg;
	size_t len;
	u8 *data;

	data = smc_kunit_hex(test, HEX_CONFIRM_LINK, SMC_LLC_LEN, &len);
	data[3] = 0;
	KUNIT_ASSERT_EQ(test, smc_llc_decode(data, len, &msg), 0);
	KUNIT_EXPECT_FALSE(test, msg.no_eyecatcher);
	data[3] = 0x01;
	KUNIT_ASSERT_EQ(test, smc_llc_decode(data, len, &msg), 0);
	KUNIT_EXPECT_TRUE(test, msg.no_eyecatcher);

	data = smc_kunit_hex(test, HEX_ADD_LINK, SMC_LLC_LEN, &len);
	data[32] = 0xf0;
	KUNIT_ASSERT_EQ(test, smc_llc_decode(data, len, &msg), 0);
	KUNIT_EXPECT_EQ(test, msg.mtu, 0);
	data[32] = 0x0f;
	KUNIT_ASSERT_EQ(test, smc_llc_decode(data, len, &msg), 0);
	KUNIT_EXPECT_EQ(test, msg.mtu, 15);
	memset(data + 4, 0, len - 4);
	KUNIT_ASSERT_EQ(test, smc_llc_decode(data, len, &msg), 0);
	KUNIT_EXPECT_EQ(test, msg.link, 0);

	/* reject flag and reason count in a response only */
	data[2] = 1;
	data[3] = SMC_LLC_F_REJECT;
	KUNIT_ASSERT_EQ(test, smc_llc_decode(data, len, &msg), 0);
	KUNIT_EXPECT_FALSE(test, msg.rejected);
	KUNIT_EXPECT_EQ(test, msg.reject_reason, 0);
}

static void llc_test_echo(struct kunit *test)
{
	struct smc_llc msg;
	size_t len;
	u8 *data;

	data = smc_kunit_hex(test, HEX_CONFIRM_RKEY, SMC_LLC_LEN, &len);
	smc_llc_reply_echo(data, 0);
	KUNIT_EXPECT_EQ(test, data[3], 0x80);
	smc_llc_reply_echo(data, SMC_LLC_F_NEG_RKEY | SMC_LLC_F_RETRY_RKEY);
	KUNIT_EXPECT_EQ(test, data[3], 0xb0);
	KUNIT_ASSERT_EQ(test, smc_llc_decode(data, len, &msg), 0);
	KUNIT_EXPECT_TRUE(test, msg.response);
	KUNIT_EXPECT_TRUE(test, msg.rejected);
	KUNIT_EXPECT_TRUE(test, msg.retry);
}

/* the longest ADD LINK, entries set one by one, count for either host */
static void llc_test_add_link_full(struct kunit *test)
{
	struct smc_llc msg = {
		.version = 2, .type = SMC_LLC_ADD_LINK, .count_both = true,
		.num_rkeys = SMC_LLC_MAX_RKEYS,
	};
	const size_t len = 72 + 16 * SMC_LLC_MAX_RKEYS;
	struct smc_llc_rkey rkey = {};
	struct smc_llc got;
	int i;
	u8 *out;

	out = kunit_kmalloc(test, len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, out);
	KUNIT_ASSERT_EQ(test, smc_llc_encode(out, len, &msg), len);
	KUNIT_EXPECT_EQ(test, out[70], 255);
	KUNIT_EXPECT_EQ(test, out[71], 255);
	for (i = 0; i < SMC_LLC_MAX_RKEYS; i++) {
		rkey.ref_rkey = i;
		rkey.rkey = 1000 + i;
		rkey.addr = (u64)i << 40;
		smc_llc_set_rkey(out, i, &rkey);
	}
	KUNIT_ASSERT_EQ(test, smc_llc_decode(out, len, &got), 0);
	KUNIT_ASSERT_EQ(test, got.num_rkeys, SMC_LLC_MAX_RKEYS);
	for (i = 0; i < SMC_LLC_MAX_RKEYS; i++) {
		smc_llc_list_rkey(&got, i, &rkey);
		KUNIT_EXPECT_EQ(test, rkey.ref_rkey, i);
		KUNIT_EXPECT_EQ(test, rkey.rkey, 1000 + i);
		KUNIT_EXPECT_EQ(test, rkey.addr, (u64)i << 40);
	}
}

static void llc_test_lists(struct kunit *test)
{
	struct smc_llc del = {
		.version = 2, .type = SMC_LLC_DELETE_RKEY, .num_rkeys = 10,
	};
	struct smc_llc req = {
		.version = 2, .type = SMC_LLC_REQ_ADD_LINK, .num_gids = 3,
	};
	const u8 gid[16] = GID4(12);
	u8 out[80], got_gid[16];
	struct smc_llc got;

	KUNIT_ASSERT_EQ(test, smc_llc_encode(out, sizeof(out), &del), 48);
	smc_llc_set_del_rkey(out, 9, 0xdeadbeef);
	KUNIT_ASSERT_EQ(test, smc_llc_decode(out, 48, &got), 0);
	KUNIT_ASSERT_EQ(test, got.num_rkeys, 10);
	KUNIT_EXPECT_EQ(test, smc_llc_list_del_rkey(&got, 8), 0);
	KUNIT_EXPECT_EQ(test, smc_llc_list_del_rkey(&got, 9), 0xdeadbeef);
	/* its response counts them in 44 bytes */
	del.response = true;
	KUNIT_EXPECT_EQ(test, smc_llc_encode(out, sizeof(out), &del), 44);
	KUNIT_EXPECT_EQ(test, out[4], 10);

	KUNIT_ASSERT_EQ(test, smc_llc_encode(out, sizeof(out), &req), 76);
	smc_llc_set_gid(out, 2, gid);
	KUNIT_ASSERT_EQ(test, smc_llc_decode(out, 76, &got), 0);
	KUNIT_ASSERT_EQ(test, got.num_gids, 3);
	smc_llc_list_gid(&got, 2, got_gid);
	KUNIT_EXPECT_MEMEQ(test, gid, got_gid, sizeof(gid));
	KUNIT_ASSERT_EQ(test, smc_llc_decode(out, 75, &got), 0);
	KUNIT_EXPECT_EQ(test, got.num_gids, 2);
}

static void llc_test_no_such_message(struct kunit *test)
{
	static const struct smc_llc bad[] = {
		{ .version = 0, .type = SMC_LLC_TEST_LINK },
		{ .version = 3, .type = SMC_LLC_TEST_LINK },
		{ .version = 255, .type = SMC_LLC_TEST_LINK },
		{ .version = 1, .type = 0 },
		{ .version = 1, .type = SMC_LLC_TYPE_MAX + 1 },
		{ .version = 1, .type = SMC_LLC_REQ_ADD_LINK },
		{ .version = 2, .type = SMC_LLC_ADD_LINK_CONT },
		{ .version = 1, .type = SMC_LLC_CONFIRM_RKEY_CONT },
		{ .version = 2, .type = SMC_LLC_ADD_LINK, .num_rkeys = 256 },
		{ .version = 1, .type = SMC_LLC_ADD_LINK_CONT, .num_rkeys = 3 },
		{ .version = 1, .type = SMC_LLC_CONFIRM_RKEY, .num_rkeys = 3 },
		{ .version = 1, .type = SMC_LLC_DELETE_RKEY, .num_rkeys = 9 },
		{ .version = 2, .type = SMC_LLC_DELETE_RKEY, .num_rkeys = 256 },
	};
	u8 out[SMC_LLC_LEN];
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL,
				    smc_llc_encode(out, sizeof(out), &bad[i]),
				    "entry %d", i);
}

static void llc_test_names(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, smc_llc_type_name(SMC_LLC_DELETE_RKEY),
			   "DELETE RKEY");
	KUNIT_EXPECT_STREQ(test, smc_llc_type_name(0), "unknown");
	KUNIT_EXPECT_STREQ(test, smc_llc_type_name(10), "unknown");
	KUNIT_EXPECT_STREQ(test, smc_llc_type_name(255), "unknown");
}

static void llc_probe(struct kunit *test, const u8 *data, size_t len)
{
	struct smc_llc_rkey rkey;
	struct smc_llc msg;
	unsigned int i;
	u8 gid[16];
	int rc;

	rc = smc_llc_decode(data, len, &msg);
	if (rc) {
		KUNIT_EXPECT_EQ(test, rc, -EPROTO);
		return;
	}
	KUNIT_ASSERT_GE(test, len, SMC_LLC_LEN);
	KUNIT_EXPECT_LE(test, msg.num_rkeys, msg.claimed_rkeys);
	if (msg.type == SMC_LLC_ADD_LINK_CONT ||
	    msg.type == SMC_LLC_CONFIRM_RKEY)
		KUNIT_EXPECT_LE(test, msg.num_rkeys, ARRAY_SIZE(msg.other));
	if (!msg.list)
		return;

	/* lists lie inside; reading the last entry lets KASAN have a look */
	KUNIT_EXPECT_GE(test, msg.list - data, 0);
	if (msg.type == SMC_LLC_ADD_LINK) {
		KUNIT_ASSERT_LE(test, 72 + 16 * msg.num_rkeys, len);
		for (i = 0; i < msg.num_rkeys; i++)
			smc_llc_list_rkey(&msg, i, &rkey);
	}
	if (msg.type == SMC_LLC_DELETE_RKEY) {
		KUNIT_ASSERT_LE(test, 8 + 4 * msg.num_rkeys, len);
		for (i = 0; i < msg.num_rkeys; i++)
			smc_llc_list_del_rkey(&msg, i);
	}
	if (msg.type == SMC_LLC_REQ_ADD_LINK) {
		KUNIT_ASSERT_LE(test, 28 + 16 * msg.num_gids, len);
		for (i = 0; i < msg.num_gids; i++)
			smc_llc_list_gid(&msg, i, gid);
	}
}

static void llc_mend(u8 *data, size_t len)
{
	if (len < 3)
		return;
	data[1] = SMC_LLC_LEN;
	data[2] = 0;
}

static void llc_test_damage(struct kunit *test)
{
	const struct llc_vector *vec = test->param_value;
	size_t len;
	u8 *msg;

	msg = smc_kunit_hex(test, vec->hex, SMC_LLC_LEN, &len);
	smc_kunit_damage(test, msg, len, llc_probe, llc_mend);
}

static struct kunit_case llc_msg_cases[] = {
	KUNIT_CASE_PARAM(llc_test_vector, llc_vector_gen_params),
	KUNIT_CASE_PARAM(llc_test_change, llc_change_gen_params),
	KUNIT_CASE(llc_test_values),
	KUNIT_CASE(llc_test_echo),
	KUNIT_CASE(llc_test_add_link_full),
	KUNIT_CASE(llc_test_lists),
	KUNIT_CASE(llc_test_no_such_message),
	KUNIT_CASE(llc_test_names),
	KUNIT_CASE_PARAM(llc_test_damage, llc_vector_gen_params),
	{}
};

static struct kunit_suite llc_msg_suite = {
	.name = "smc_llc_msg",
	.test_cases = llc_msg_cases,
};

kunit_test_suite(llc_msg_suite);

MODULE_DESCRIPTION("KUnit tests of SMC's LLC messages");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
