// SPDX-License-Identifier: GPL-2.0
/*
 * Family SMC_PNETID: the PNET table (side room). Rows live in smc_pnet.c;
 * this file turns attributes into rows and back.
 */
#include <net/genetlink.h>
#include <uapi/linux/smc.h>

#include "smc_net.h"
#include "smc_pnet.h"

#define SMC_NL_NO_PORT	255
#define SMC_NL_NO_NAME	"n/a"

static struct genl_family smc_nl_pnet_family;

/* at most so many bytes before the terminating zero */
#define SMC_NL_NAME(bytes)	{ .type = NLA_NUL_STRING, .len = bytes }

static const struct nla_policy smc_nl_pnet_policy[SMC_PNETID_MAX + 1] = {
	[SMC_PNETID_NAME] = SMC_NL_NAME(SMC_PNETID_BYTES),
	[SMC_PNETID_ETHNAME] = SMC_NL_NAME(IFNAMSIZ - 1),
	[SMC_PNETID_IBNAME] = SMC_NL_NAME(IB_DEVICE_NAME_MAX - 1),
	[SMC_PNETID_IBPORT] = { .type = NLA_U8 },
};

static int smc_nl_pnet_put(struct sk_buff *skb, u32 portid, u32 seq,
			   const struct smc_pnet_entry *e)
{
	char id[SMC_PNETID_BYTES + 1];
	void *hdr;

	hdr = genlmsg_put(skb, portid, seq, &smc_nl_pnet_family, NLM_F_MULTI,
			  SMC_PNETID_GET);
	if (!hdr)
		return -EMSGSIZE;
	smc_pnet_id_text(e->pnetid, id);
	if (nla_put_string(skb, SMC_PNETID_NAME, id) ||
	    nla_put_string(skb, SMC_PNETID_ETHNAME,
			   e->ndev[0] ? e->ndev : SMC_NL_NO_NAME) ||
	    nla_put_string(skb, SMC_PNETID_IBNAME,
			   e->ibdev[0] ? e->ibdev : SMC_NL_NO_NAME) ||
	    nla_put_u8(skb, SMC_PNETID_IBPORT,
		       e->ibdev[0] ? e->ibport : SMC_NL_NO_PORT)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* the id of a request; 0 or a negative errno with a text */
static int smc_nl_pnet_id(struct genl_info *info, u8 id[SMC_PNETID_BYTES])
{
	const struct nlattr *name = info->attrs[SMC_PNETID_NAME];
	int rc;

	if (GENL_REQ_ATTR_CHECK(info, SMC_PNETID_NAME))
		return -EINVAL;
	rc = smc_pnet_parse_id(nla_data(name), strlen(nla_data(name)), id);
	if (rc)
		NL_SET_ERR_MSG_ATTR(info->extack, name,
				    "PNET id must be 1 to 16 letters and digits");
	return rc;
}

/* GET of one id answers with a multi-part message that has a DONE of its own,
 * in one skb: what does not fit is refused instead of being cut.
 */
static int smc_nl_pnet_get(struct sk_buff *req, struct genl_info *info)
{
	struct smc_net *sn = smc_net(genl_info_net(info));
	struct smc_pnet_entry e;
	u8 id[SMC_PNETID_BYTES];
	struct sk_buff *skb;
	unsigned int i;
	int rc;

	rc = smc_nl_pnet_id(info, id);
	if (rc)
		return rc;
	skb = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	for (i = 0; smc_pnet_table_get(sn, id, i, &e); i++) {
		rc = smc_nl_pnet_put(skb, info->snd_portid, info->snd_seq, &e);
		if (rc)
			goto fail;
	}
	if (!nlmsg_put(skb, info->snd_portid, info->snd_seq, NLMSG_DONE, 0,
		       NLM_F_MULTI)) {
		rc = -EMSGSIZE;
		goto fail;
	}
	return genlmsg_reply(skb, info);

fail:
	NL_SET_ERR_MSG(info->extack, "too many rows for one reply, use a dump");
	nlmsg_free(skb);
	return rc;
}

static int smc_nl_pnet_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_net *sn = smc_net(sock_net(skb->sk));
	struct smc_pnet_entry e;

	for (; smc_pnet_table_get(sn, NULL, cb->args[0], &e); cb->args[0]++)
		if (smc_nl_pnet_put(skb, NETLINK_CB(cb->skb).portid,
				    cb->nlh->nlmsg_seq, &e))
			break;
	return skb->len;
}

static int smc_nl_pnet_add(struct sk_buff *req, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	struct smc_pnet_entry e = {};
	int rc;

	rc = smc_nl_pnet_id(info, e.pnetid);
	if (rc)
		return rc;
	if (attrs[SMC_PNETID_ETHNAME])
		nla_strscpy(e.ndev, attrs[SMC_PNETID_ETHNAME], sizeof(e.ndev));
	if (attrs[SMC_PNETID_IBNAME]) {
		char name[IB_DEVICE_NAME_MAX];

		nla_strscpy(name, attrs[SMC_PNETID_IBNAME], sizeof(name));
		strscpy(e.ibdev, strim(name), sizeof(e.ibdev));
		e.ibport = nla_get_u8_default(attrs[SMC_PNETID_IBPORT], 1);
	}
	return smc_pnet_add(genl_info_net(info), &e, info->extack);
}

static int smc_nl_pnet_del(struct sk_buff *req, struct genl_info *info)
{
	u8 id[SMC_PNETID_BYTES];
	int rc;

	rc = smc_nl_pnet_id(info, id);
	if (rc)
		return rc;
	if (smc_pnet_del(genl_info_net(info), id))
		return 0;
	NL_SET_ERR_MSG(info->extack, "no row with this PNET id");
	return -ENOENT;
}

static int smc_nl_pnet_flush(struct sk_buff *req, struct genl_info *info)
{
	smc_pnet_del(genl_info_net(info), NULL);
	return 0;	/* smc_pnet(8) takes any error for a failure */
}

#define SMC_NL_PNET_LAX	(GENL_DONT_VALIDATE_STRICT | GENL_DONT_VALIDATE_DUMP)

static const struct genl_small_ops smc_nl_pnet_ops[] = {
	{
		.cmd = SMC_PNETID_GET,
		.validate = SMC_NL_PNET_LAX,
		.doit = smc_nl_pnet_get,
		.dumpit = smc_nl_pnet_dump,
	}, {
		.cmd = SMC_PNETID_ADD,
		.validate = SMC_NL_PNET_LAX,
		.flags = GENL_ADMIN_PERM,
		.doit = smc_nl_pnet_add,
	}, {
		.cmd = SMC_PNETID_DEL,
		.validate = SMC_NL_PNET_LAX,
		.flags = GENL_ADMIN_PERM,
		.doit = smc_nl_pnet_del,
	}, {
		.cmd = SMC_PNETID_FLUSH,
		.validate = SMC_NL_PNET_LAX,
		.flags = GENL_ADMIN_PERM,
		.doit = smc_nl_pnet_flush,
	},
};

static struct genl_family smc_nl_pnet_family __ro_after_init = {
	.name = SMCR_GENL_FAMILY_NAME,
	.version = SMCR_GENL_FAMILY_VERSION,
	.maxattr = SMC_PNETID_MAX,
	.policy = smc_nl_pnet_policy,
	.netnsok = true,
	.module = THIS_MODULE,
	.small_ops = smc_nl_pnet_ops,
	.n_small_ops = ARRAY_SIZE(smc_nl_pnet_ops),
	.resv_start_op = SMC_PNETID_FLUSH + 1,
};

/**
 * smc_nl_pnet_init() - register the family of the PNET table
 *
 * Return: 0 or a negative errno.
 */
int __init smc_nl_pnet_init(void)
{
	return genl_register_family(&smc_nl_pnet_family);
}

/**
 * smc_nl_pnet_exit() - unregister it; no callback runs afterwards
 */
void smc_nl_pnet_exit(void)
{
	genl_unregister_family(&smc_nl_pnet_family);
}
