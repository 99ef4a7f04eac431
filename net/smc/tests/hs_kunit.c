// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the decisions of the CLC handshake: what a Proposal leaves to
 * choose from, and which Accept and Confirm are taken.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "../smc_hs_priv.h"

#define EID_A	"LAB.EID-A                       "
#define EID_B	"LAB.EID-B                       "

/* bits of smc_hs_filter() in words */
#define D2	0x1
#define D1	0x2
#define R2	0x4
#define R1	0x8

#define N	SMC_MODE_N
#define R	SMC_MODE_R
#define D	SMC_MODE_D
#define B	SMC_MODE_B

static const struct smc_hs_limits hs_own = {
	.release = 1,
	.max_conns = 200,
	.max_links = 1,
};

/* a Proposal with all there is; cases change it */
static struct smc_clc_proposal *hs_prop(struct kunit *test)
{
	struct smc_clc_proposal *prop;

	prop = kunit_kzalloc(test, sizeof(*prop), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, prop);
	prop->version = 2;
	prop->mode_v1 = R;
	prop->mode_v2 = R;
	prop->has_prefix = true;
	prop->has_v2 = true;
	prop->release = 1;
	prop->num_eids = 2;
	memcpy(prop->eid[0], EID_A, SMC_CLC_EID_LEN);
	memcpy(prop->eid[1], EID_B, SMC_CLC_EID_LEN);
	memset(prop->gid_v1, 0x11, sizeof(prop->gid_v1));
	memset(prop->gid_v2, 0x22, sizeof(prop->gid_v2));
	prop->max_conns = 255;
	prop->max_links = 2;
	return prop;
}

static struct smc_clc_ac *hs_ac(struct kunit *test, u8 version, bool first)
{
	struct smc_clc_ac *ac;

	ac = kunit_kzalloc(test, sizeof(*ac), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ac);
	ac->version = version;
	ac->mode = R;
	ac->first_contact = first;
	memset(ac->r.gid, version > 1 ? 0x22 : 0x11, sizeof(ac->r.gid));
	if (version == 1)
		return ac;
	memcpy(ac->eid, EID_B, SMC_CLC_EID_LEN);
	if (!first)
		return ac;
	ac->has_fce = true;
	ac->release = 1;
	ac->max_conns = 200;
	ac->max_links = 1;
	return ac;
}

static void hs_test_modes(struct kunit *test)
{
	static const u8 all[] = { R, D, N, B };
	int i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		KUNIT_EXPECT_EQ(test, smc_clc_mode_has(all[i], R),
				all[i] == R || all[i] == B);
		KUNIT_EXPECT_EQ(test, smc_clc_mode_has(all[i], D),
				all[i] == D || all[i] == B);
		KUNIT_EXPECT_TRUE(test,
				  smc_clc_mode_has(smc_clc_mode_add(all[i], R),
						   R));
	}
	KUNIT_EXPECT_EQ(test, smc_clc_mode_add(N, R), R);
	KUNIT_EXPECT_EQ(test, smc_clc_mode_add(R, R), R);
	KUNIT_EXPECT_EQ(test, smc_clc_mode_add(R, D), B);
	KUNIT_EXPECT_EQ(test, smc_clc_mode_add(D, R), B);
	KUNIT_EXPECT_EQ(test, smc_clc_mode_add(B, D), B);
}

/* the bit names above, and that each mode is found */
static void hs_test_cands(struct kunit *test)
{
	int i;

	KUNIT_EXPECT_PTR_EQ(test, smc_hs_find_cand(2, D), &smc_hs_cands[0]);
	KUNIT_EXPECT_PTR_EQ(test, smc_hs_find_cand(1, D), &smc_hs_cands[1]);
	KUNIT_EXPECT_PTR_EQ(test, smc_hs_find_cand(2, R), &smc_hs_cands[2]);
	KUNIT_EXPECT_PTR_EQ(test, smc_hs_find_cand(1, R), &smc_hs_cands[3]);
	KUNIT_EXPECT_NULL(test, smc_hs_find_cand(3, R));
	KUNIT_EXPECT_NULL(test, smc_hs_find_cand(1, N));
	for (i = 0; i < SMC_HS_CANDS; i++)
		KUNIT_EXPECT_NE(test, smc_hs_cands[i].absent, 0);
}

struct hs_filter_case {
	const char *name;
	u8 version;
	u8 mode_v1;
	u8 mode_v2;
	unsigned int left;
	u32 reason;		/* if nothing is left */
};

static const struct hs_filter_case hs_filter_cases[] = {
	{ "v1 R", 1, R, N, R1 },
	{ "v1 D", 1, D, N, D1 },
	{ "v1 B", 1, B, N, D1 | R1 },
	{ "v2 R and R", 2, R, R, R2 | R1 },
	{ "v2 B and B", 2, B, B, D1 | R2 | R1 },
	{ "v2 only R", 2, N, R, R2 },
	{ "v2 only B", 2, N, B, R2 },
	{ "v2 with v1 modes only", 2, R, N, R1 },
	{ "v2 only D", 2, N, D, 0, SMC_DECL_NOISM2SUPP },
	{ "v2 D, v1 R", 2, R, D, R1 },
	{ "no mode", 2, N, N, 0, SMC_DECL_PEERNOSMC },
	{ "v2 bits of a v1 message", 1, R, B, R1 },
	{ "v1 message without mode", 1, N, R, 0, SMC_DECL_PEERNOSMC },
};

static void hs_filter_desc(const struct hs_filter_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(hs_filter, hs_filter_cases, hs_filter_desc);

static void hs_test_filter(struct kunit *test)
{
	const struct hs_filter_case *c = test->param_value;
	struct smc_clc_proposal *prop = hs_prop(test);
	struct smc_hs_limits lim = {};
	unsigned int left;
	int reason;

	prop->version = c->version;
	prop->mode_v1 = c->mode_v1;
	prop->mode_v2 = c->mode_v2;
	left = smc_hs_filter(prop, &hs_own, &lim, &reason);
	KUNIT_EXPECT_EQ(test, left, c->left);
	if (!left)
		KUNIT_EXPECT_EQ(test, reason, c->reason);
	if (left & R2) {
		KUNIT_EXPECT_EQ(test, lim.release, 1);
		KUNIT_EXPECT_EQ(test, lim.max_conns, 200);
		KUNIT_EXPECT_EQ(test, lim.max_links, 1);
	}
}

/* what is wrong with v2 takes away v2 alone */
static void hs_expect_no_v2(struct kunit *test, struct smc_clc_proposal *prop,
			    u32 want)
{
	struct smc_hs_limits lim;
	int reason;

	prop->mode_v1 = R;
	KUNIT_EXPECT_EQ(test, smc_hs_filter(prop, &hs_own, &lim, &reason), R1);
	prop->mode_v1 = N;
	KUNIT_EXPECT_EQ(test, smc_hs_filter(prop, &hs_own, &lim, &reason), 0);
	KUNIT_EXPECT_EQ(test, reason, want);
}

static void hs_test_filter_v2(struct kunit *test)
{
	struct smc_clc_proposal *prop;

	prop = hs_prop(test);
	prop->has_v2 = false;
	hs_expect_no_v2(test, prop, SMC_DECL_NOV2EXT);

	prop = hs_prop(test);
	prop->num_eids = 0;
	hs_expect_no_v2(test, prop, SMC_DECL_NOUEID);

	prop = hs_prop(test);
	memset(prop->gid_v2, 0, sizeof(prop->gid_v2));
	hs_expect_no_v2(test, prop, SMC_DECL_NOSMCRDEV);

	prop = hs_prop(test);
	prop->max_conns = SMC_HS_MIN_CONNS - 1;
	hs_expect_no_v2(test, prop, SMC_DECL_MAXCONNERR);

	prop = hs_prop(test);
	prop->max_links = 0;
	hs_expect_no_v2(test, prop, SMC_DECL_MAXLINKERR);
}

static void hs_test_limits(struct kunit *test)
{
	struct smc_clc_proposal *prop = hs_prop(test);
	struct smc_hs_limits lim;
	int reason;

	/* the smaller one of each */
	prop->max_conns = SMC_HS_MIN_CONNS;
	KUNIT_EXPECT_EQ(test, smc_hs_filter(prop, &hs_own, &lim, &reason),
			R2 | R1);
	KUNIT_EXPECT_EQ(test, lim.max_conns, SMC_HS_MIN_CONNS);

	/* a newer peer: our release */
	prop->release = 15;
	smc_hs_filter(prop, &hs_own, &lim, &reason);
	KUNIT_EXPECT_EQ(test, lim.release, 1);

	/* release 0 has no limits on the wire */
	prop->release = 0;
	prop->max_conns = 0;
	prop->max_links = 0;
	KUNIT_EXPECT_EQ(test, smc_hs_filter(prop, &hs_own, &lim, &reason),
			R2 | R1);
	KUNIT_EXPECT_EQ(test, lim.release, 0);
	KUNIT_EXPECT_EQ(test, lim.max_conns, SMC_HS_DEF_CONNS);
	KUNIT_EXPECT_EQ(test, lim.max_links, SMC_HS_DEF_LINKS);
}

static void hs_test_accept_offer(struct kunit *test)
{
	struct smc_clc_proposal *prop = hs_prop(test);
	struct smc_hs_limits lim;
	struct smc_clc_ac *ac;

	/* v1 in answer to v2 is fine if v1 was offered */
	ac = hs_ac(test, 1, true);
	KUNIT_EXPECT_EQ(test, smc_hs_check_accept(prop, ac, &lim), 0);
	KUNIT_EXPECT_EQ(test, lim.max_conns, SMC_HS_DEF_CONNS);
	KUNIT_EXPECT_EQ(test, lim.release, 0);
	prop->mode_v1 = N;
	KUNIT_EXPECT_EQ(test, smc_hs_check_accept(prop, ac, &lim),
			SMC_DECL_MODEUNSUPP);

	ac = hs_ac(test, 2, false);
	KUNIT_EXPECT_EQ(test, smc_hs_check_accept(prop, ac, &lim), 0);
	prop->mode_v2 = N;
	KUNIT_EXPECT_EQ(test, smc_hs_check_accept(prop, ac, &lim),
			SMC_DECL_MODEUNSUPP);

	/* a transport that was not offered */
	prop = hs_prop(test);
	ac->mode = D;
	KUNIT_EXPECT_EQ(test, smc_hs_check_accept(prop, ac, &lim),
			SMC_DECL_MODEUNSUPP);

	/* an EID that was not offered; unused slots of the list do not count */
	ac = hs_ac(test, 2, true);
	prop->num_eids = 1;
	KUNIT_EXPECT_EQ(test, smc_hs_check_accept(prop, ac, &lim),
			SMC_DECL_NOUEID);
	memset(ac->eid, 0, sizeof(ac->eid));
	KUNIT_EXPECT_EQ(test, smc_hs_check_accept(prop, ac, &lim),
			SMC_DECL_NOUEID);
}

struct hs_limit_case {
	const char *name;
	u8 release;
	u8 conns;
	u8 links;
	u32 rc;
};

static const struct hs_limit_case hs_limit_cases[] = {
	{ "as offered", 1, 255, 2, 0 },
	{ "less", 1, 16, 1, 0 },
	{ "release 0", 0, 0, 0, 0 },
	{ "release above ours", 2, 255, 2, SMC_DECL_RELEASEERR },
	{ "conns below 16", 1, 15, 2, SMC_DECL_MAXCONNERR },
	{ "no conns", 1, 0, 2, SMC_DECL_MAXCONNERR },
	{ "no links", 1, 255, 0, SMC_DECL_MAXLINKERR },
	{ "links above 2", 1, 255, 3, SMC_DECL_MAXLINKERR },
};

static void hs_limit_desc(const struct hs_limit_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(hs_limit, hs_limit_cases, hs_limit_desc);

static void hs_test_accept_limits(struct kunit *test)
{
	const struct hs_limit_case *c = test->param_value;
	struct smc_clc_proposal *prop = hs_prop(test);
	struct smc_clc_ac *ac = hs_ac(test, 2, true);
	struct smc_hs_limits lim;

	ac->release = c->release;
	ac->max_conns = c->conns;
	ac->max_links = c->links;
	KUNIT_EXPECT_EQ(test, smc_hs_check_accept(prop, ac, &lim), c->rc);
	if (c->rc)
		return;
	KUNIT_EXPECT_EQ(test, lim.release, c->release);
	KUNIT_EXPECT_EQ(test, lim.max_conns,
			c->release ? c->conns : SMC_HS_DEF_CONNS);
	KUNIT_EXPECT_EQ(test, lim.max_links,
			c->release ? c->links : SMC_HS_DEF_LINKS);
}

static void hs_test_accept_above_offer(struct kunit *test)
{
	struct smc_clc_proposal *prop = hs_prop(test);
	struct smc_clc_ac *ac = hs_ac(test, 2, true);
	struct smc_hs_limits lim;

	prop->max_conns = ac->max_conns - 1;
	KUNIT_EXPECT_EQ(test, smc_hs_check_accept(prop, ac, &lim),
			SMC_DECL_MAXCONNERR);
	prop->max_conns = ac->max_conns;
	prop->max_links = 1;
	ac->max_links = 2;
	KUNIT_EXPECT_EQ(test, smc_hs_check_accept(prop, ac, &lim),
			SMC_DECL_MAXLINKERR);
	ac->max_links = 1;
	KUNIT_EXPECT_EQ(test, smc_hs_check_accept(prop, ac, &lim), 0);
	ac->has_fce = false;
	KUNIT_EXPECT_EQ(test, smc_hs_check_accept(prop, ac, &lim),
			SMC_DECL_RELEASEERR);
}

/* each field that must be that of the Accept */
static void hs_test_confirm_identity(struct kunit *test)
{
	struct smc_clc_proposal *prop = hs_prop(test);
	struct smc_clc_ac *accept = hs_ac(test, 2, true);
	struct smc_clc_ac *confirm = hs_ac(test, 2, true);

	KUNIT_EXPECT_EQ(test, smc_hs_check_confirm(prop, accept, confirm), 0);
	confirm->version = 1;
	KUNIT_EXPECT_EQ(test, smc_hs_check_confirm(prop, accept, confirm),
			-EPROTO);
	confirm->version = 2;
	confirm->mode = D;
	KUNIT_EXPECT_EQ(test, smc_hs_check_confirm(prop, accept, confirm),
			-EPROTO);
	confirm->mode = R;
	confirm->first_contact = false;
	KUNIT_EXPECT_EQ(test, smc_hs_check_confirm(prop, accept, confirm),
			-EPROTO);
	confirm->first_contact = true;
	confirm->eid[31] ^= 1;
	KUNIT_EXPECT_EQ(test, smc_hs_check_confirm(prop, accept, confirm),
			-EPROTO);
	confirm->eid[31] ^= 1;
	confirm->r.gid[15] ^= 1;
	KUNIT_EXPECT_EQ(test, smc_hs_check_confirm(prop, accept, confirm),
			-EPROTO);

	/* reuse: another link of the group may carry it; nothing negotiated */
	accept->first_contact = false;
	confirm->first_contact = false;
	confirm->has_fce = false;
	KUNIT_EXPECT_EQ(test, smc_hs_check_confirm(prop, accept, confirm), 0);

	/* v1 has the other GID and no extension */
	accept = hs_ac(test, 1, true);
	confirm = hs_ac(test, 1, true);
	KUNIT_EXPECT_EQ(test, smc_hs_check_confirm(prop, accept, confirm), 0);
	memcpy(confirm->r.gid, prop->gid_v2, sizeof(confirm->r.gid));
	KUNIT_EXPECT_EQ(test, smc_hs_check_confirm(prop, accept, confirm),
			-EPROTO);
}

static void hs_test_confirm_limits(struct kunit *test)
{
	struct smc_clc_proposal *prop = hs_prop(test);
	struct smc_clc_ac *accept = hs_ac(test, 2, true);
	struct smc_clc_ac *confirm = hs_ac(test, 2, true);

	confirm->max_conns--;
	KUNIT_EXPECT_EQ(test, smc_hs_check_confirm(prop, accept, confirm),
			SMC_DECL_MAXCONNERR);
	confirm->max_conns++;
	confirm->max_links++;
	KUNIT_EXPECT_EQ(test, smc_hs_check_confirm(prop, accept, confirm),
			SMC_DECL_MAXLINKERR);
	confirm->release = 0;
	KUNIT_EXPECT_EQ(test, smc_hs_check_confirm(prop, accept, confirm),
			SMC_DECL_RELEASEERR);
	/* release 0 on both sides: the limits mean nothing */
	accept->release = 0;
	KUNIT_EXPECT_EQ(test, smc_hs_check_confirm(prop, accept, confirm), 0);
	confirm->has_fce = false;
	KUNIT_EXPECT_EQ(test, smc_hs_check_confirm(prop, accept, confirm),
			SMC_DECL_RELEASEERR);
}

static struct kunit_case hs_cases[] = {
	KUNIT_CASE(hs_test_modes),
	KUNIT_CASE(hs_test_cands),
	KUNIT_CASE_PARAM(hs_test_filter, hs_filter_gen_params),
	KUNIT_CASE(hs_test_filter_v2),
	KUNIT_CASE(hs_test_limits),
	KUNIT_CASE(hs_test_accept_offer),
	KUNIT_CASE_PARAM(hs_test_accept_limits, hs_limit_gen_params),
	KUNIT_CASE(hs_test_accept_above_offer),
	KUNIT_CASE(hs_test_confirm_identity),
	KUNIT_CASE(hs_test_confirm_limits),
	{}
};

static struct kunit_suite hs_suite = {
	.name = "smc_hs",
	.test_cases = hs_cases,
};

kunit_test_suite(hs_suite);

MODULE_DESCRIPTION("KUnit tests of SMC's handshake decisions");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
