// SPDX-License-Identifier: GPL-2.0
/*
 * Family SMC_GEN_NETLINK (side room): snapshots of link groups, links and
 * devices, EIDs, handshake limitation, fallback reasons. The order of
 * attributes and messages is what smc-tools expect.
 */
#include <linux/pci.h>
#include <linux/utsname.h>
#include <net/genetlink.h>
#include <uapi/linux/smc.h>

#include "smc_clc_msg.h"
#include "smc_eid.h"
#include "smc_ib.h"
#include "smc_net.h"
#include "smc_pnet.h"
#include "smc_snapshot.h"
#include "smc_stats.h"

#define SMC_NL_GID_TEXT	40	/* 8 groups of 4 hex digits, colons, NUL */

static struct genl_family smc_nl_family;

static const struct nla_policy smc_nl_no_attr[] = {
	[1] = { .type = NLA_REJECT },
};

static const struct nla_policy smc_nl_eid_policy[] = {
	[SMC_NLA_EID_TABLE_ENTRY] = { .type = NLA_STRING,
				      .len = SMC_MAX_EID_LEN },
};

/**
 * struct smc_nl_ctx - where a dump stands
 * @after: group id, or a row number
 * @done: single messages: sent
 */
struct smc_nl_ctx {
	u32 after;
	u32 done;
};

static struct smc_nl_ctx *smc_nl_ctx(struct netlink_callback *cb)
{
	NL_ASSERT_CTX_FITS(struct smc_nl_ctx);
	return (struct smc_nl_ctx *)cb->ctx;
}

static void *smc_nl_start(struct sk_buff *skb, struct netlink_callback *cb,
			  u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			   &smc_nl_family, NLM_F_MULTI, cmd);
}

/* End a message whose attributes stand in @nest, or take it back. */
static int smc_nl_end(struct sk_buff *skb, void *hdr, struct nlattr *nest,
		      bool bad)
{
	if (bad) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	genlmsg_end(skb, hdr);
	return 0;
}

/* Dump of one message, whose attributes are those of @fill. */
static int smc_nl_single(struct sk_buff *skb, struct netlink_callback *cb,
			 u8 cmd, int (*fill)(struct sk_buff *skb))
{
	struct smc_nl_ctx *ctx = smc_nl_ctx(cb);
	void *hdr;

	if (ctx->done)
		return skb->len;
	hdr = smc_nl_start(skb, cb, cmd);
	if (!hdr)
		return -EMSGSIZE;
	if (fill && fill(skb)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	ctx->done = 1;
	return skb->len;
}

static int smc_nl_put_pnetid(struct sk_buff *skb, int attr,
			     const u8 id[SMC_PNETID_BYTES])
{
	char text[SMC_PNETID_BYTES + 1];

	smc_pnet_id_text(id, text);
	return nla_put_string(skb, attr, text);
}

/* 32 bytes of a name or EID as a string */
static int smc_nl_put_text32(struct sk_buff *skb, int attr, const void *data)
{
	char text[33];

	memcpy(text, data, 32);
	text[32] = 0;
	return nla_put_string(skb, attr, text);
}

static int smc_nl_put_gid(struct sk_buff *skb, int attr, const u8 gid[16])
{
	char text[SMC_NL_GID_TEXT];

	snprintf(text, sizeof(text), "%pI6", gid);
	return nla_put_string(skb, attr, text);
}

static int smc_nl_put_sys_info(struct sk_buff *skb)
{
	char host[SMC_MAX_HOSTNAME_LEN + 1];
	struct nlattr *nest;

	nest = nla_nest_start(skb, SMC_GEN_SYS_INFO);
	snprintf(host, sizeof(host), "%-32.32s", init_utsname()->nodename);
	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_SYS_VER, 2) ||
	    nla_put_u8(skb, SMC_NLA_SYS_REL, SMC_CLC_RELEASE) ||
	    nla_put_u8(skb, SMC_NLA_SYS_IS_ISM_V2, 0) ||
	    nla_put_u8(skb, SMC_NLA_SYS_IS_SMCR_V2, 1) ||
	    nla_put_string(skb, SMC_NLA_SYS_LOCAL_HOST, host))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int smc_nl_sys_info(struct sk_buff *skb, struct netlink_callback *cb)
{
	return smc_nl_single(skb, cb, SMC_NETLINK_GET_SYS_INFO,
			     smc_nl_put_sys_info);
}

static int smc_nl_put_lgr_v2(struct sk_buff *skb, const struct smc_lgr_snap *s)
{
	struct nlattr *nest;

	nest = nla_nest_start(skb, SMC_NLA_LGR_R_V2_COMMON);
	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_LGR_V2_VER, s->version) ||
	    nla_put_u8(skb, SMC_NLA_LGR_V2_REL, s->release) ||
	    nla_put_u8(skb, SMC_NLA_LGR_V2_OS, s->peer_os) ||
	    nla_put_string(skb, SMC_NLA_LGR_V2_PEER_HOST, s->host) ||
	    smc_nl_put_text32(skb, SMC_NLA_LGR_V2_NEG_EID, s->eid))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);

	nest = nla_nest_start(skb, SMC_NLA_LGR_R_V2);
	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_V2_DIRECT, s->direct) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_V2_MAX_CONNS, s->max_conns) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_V2_MAX_LINKS, s->max_links))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int smc_nl_put_lgr(struct sk_buff *skb, struct netlink_callback *cb,
			  const struct smc_lgr_snap *s)
{
	struct nlattr *nest;
	void *hdr;
	bool bad;

	hdr = smc_nl_start(skb, cb, SMC_NETLINK_GET_LGR_SMCR);
	if (!hdr)
		return -EMSGSIZE;
	nest = nla_nest_start(skb, SMC_GEN_LGR_SMCR);
	bad = !nest ||
	      nla_put_u32(skb, SMC_NLA_LGR_R_ID, s->id) ||
	      nla_put_u32(skb, SMC_NLA_LGR_R_CONNS_NUM, s->conns) ||
	      nla_put_u8(skb, SMC_NLA_LGR_R_ROLE, s->role) ||
	      nla_put_u8(skb, SMC_NLA_LGR_R_TYPE, s->type) ||
	      nla_put_u8(skb, SMC_NLA_LGR_R_BUF_TYPE, s->buf_type) ||
	      nla_put_u8(skb, SMC_NLA_LGR_R_VLAN_ID, s->vlan) ||
	      nla_put_u64_64bit(skb, SMC_NLA_LGR_R_NET_COOKIE, s->net_cookie,
				SMC_NLA_LGR_R_PAD) ||
	      smc_nl_put_pnetid(skb, SMC_NLA_LGR_R_PNETID, s->pnetid) ||
	      nla_put_uint(skb, SMC_NLA_LGR_R_SNDBUF_ALLOC, s->sndbuf_bytes) ||
	      nla_put_uint(skb, SMC_NLA_LGR_R_RMB_ALLOC, s->rmb_bytes) ||
	      (s->version > 1 && smc_nl_put_lgr_v2(skb, s));
	return smc_nl_end(skb, hdr, nest, bad);
}

static int smc_nl_put_link(struct sk_buff *skb, struct netlink_callback *cb,
			   const struct smc_link_snap *l)
{
	struct nlattr *nest;
	u32 uid, peer_uid;
	void *hdr;
	bool bad;

	memcpy(&uid, l->link_uid, sizeof(uid));
	memcpy(&peer_uid, l->peer_uid, sizeof(peer_uid));
	hdr = smc_nl_start(skb, cb, SMC_NETLINK_GET_LINK_SMCR);
	if (!hdr)
		return -EMSGSIZE;
	nest = nla_nest_start(skb, SMC_GEN_LINK_SMCR);
	bad = !nest ||
	      nla_put_u8(skb, SMC_NLA_LINK_ID, l->link_id) ||
	      nla_put_u32(skb, SMC_NLA_LINK_STATE, l->state) ||
	      nla_put_u32(skb, SMC_NLA_LINK_CONN_CNT, l->conns) ||
	      nla_put_u8(skb, SMC_NLA_LINK_IB_PORT, l->port) ||
	      nla_put_u32(skb, SMC_NLA_LINK_NET_DEV, l->ifindex) ||
	      nla_put_string(skb, SMC_NLA_LINK_IB_DEV, l->ibname) ||
	      nla_put_u32(skb, SMC_NLA_LINK_UID, uid) ||
	      nla_put_u32(skb, SMC_NLA_LINK_PEER_UID, peer_uid) ||
	      smc_nl_put_gid(skb, SMC_NLA_LINK_GID, l->gid) ||
	      smc_nl_put_gid(skb, SMC_NLA_LINK_PEER_GID, l->peer_gid);
	return smc_nl_end(skb, hdr, nest, bad);
}

/* groups, or groups each followed by its links; a group and its links go into
 * one skb together
 */
static int smc_nl_groups(struct sk_buff *skb, struct netlink_callback *cb)
{
	bool links = genl_info_dump(cb)->genlhdr->cmd ==
		     SMC_NETLINK_GET_LINK_SMCR;
	struct smc_nl_ctx *ctx = smc_nl_ctx(cb);
	struct net *net = sock_net(skb->sk);
	struct smc_lgr_snap *snap;
	int rc = 0;

	snap = kmalloc_obj(*snap);
	if (!snap)
		return -ENOMEM;
	cb->seq = smcr_snap_generation();
	while (smcr_snap_next(net, ctx->after, snap)) {
		unsigned int len = skb->len, i;

		rc = smc_nl_put_lgr(skb, cb, snap);
		for (i = 0; !rc && links && i < snap->nlinks; i++)
			rc = smc_nl_put_link(skb, cb, &snap->link[i]);
		if (rc) {
			nlmsg_trim(skb, skb->data + len);
			break;
		}
		ctx->after = snap->id;
	}
	kfree(snap);
	return rc && !skb->len ? rc : skb->len;
}

struct smc_nl_dev_arg {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	u32 idx;
};

static int smc_nl_put_port(struct sk_buff *skb, const struct smc_ib_port *p,
			   int attr)
{
	struct nlattr *nest;

	nest = nla_nest_start(skb, attr);
	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_DEV_PORT_PNET_USR, p->pnetid_user) ||
	    smc_nl_put_pnetid(skb, SMC_NLA_DEV_PORT_PNETID, p->pnetid) ||
	    nla_put_u32(skb, SMC_NLA_DEV_PORT_NETDEV, p->ifindex) ||
	    nla_put_u8(skb, SMC_NLA_DEV_PORT_VALID, 1) ||
	    nla_put_u8(skb, SMC_NLA_DEV_PORT_STATE, p->active) ||
	    nla_put_u32(skb, SMC_NLA_DEV_PORT_LNK_CNT, atomic_read(&p->links)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* all PCI attributes always: smcr shows the memory it did not fill otherwise */
static int smc_nl_put_pci(struct sk_buff *skb, struct device *parent)
{
	u16 vendor = 0, device = 0;
	char name[SMC_PCI_ID_STR_LEN] = "";

	if (parent) {
		strscpy(name, dev_name(parent), sizeof(name));
		if (dev_is_pci(parent)) {
			vendor = to_pci_dev(parent)->vendor;
			device = to_pci_dev(parent)->device;
		}
	}
	return nla_put_u32(skb, SMC_NLA_DEV_PCI_FID, 0) ||
	       nla_put_u16(skb, SMC_NLA_DEV_PCI_CHID, 0) ||
	       nla_put_u16(skb, SMC_NLA_DEV_PCI_VENDOR, vendor) ||
	       nla_put_u16(skb, SMC_NLA_DEV_PCI_DEVICE, device) ||
	       nla_put_string(skb, SMC_NLA_DEV_PCI_ID, name);
}

static int smc_nl_put_dev(struct smc_ib_dev *dev, void *data)
{
	struct smc_nl_dev_arg *arg = data;
	struct smc_nl_ctx *ctx = smc_nl_ctx(arg->cb);
	struct sk_buff *skb = arg->skb;
	struct net *net = sock_net(skb->sk);
	struct nlattr *nest;
	unsigned int i;
	void *hdr;
	bool bad;

	if (!net_eq(net, &init_net) &&
	    !rdma_dev_access_netns(dev->ibdev, net))
		return 0;
	if (arg->idx++ < ctx->after)
		return 0;
	hdr = smc_nl_start(skb, arg->cb, SMC_NETLINK_GET_DEV_SMCR);
	if (!hdr)
		return -EMSGSIZE;
	nest = nla_nest_start(skb, SMC_GEN_DEV_SMCR);
	/* one link per group: losing a device that carries links is critical */
	bad = !nest ||
	      nla_put_u8(skb, SMC_NLA_DEV_IS_CRIT, !!atomic_read(&dev->links)) ||
	      smc_nl_put_pci(skb, dev->ibdev->dev.parent) ||
	      nla_put_string(skb, SMC_NLA_DEV_IB_NAME,
			     dev_name(&dev->ibdev->dev));
	for (i = 0; !bad && i < dev->nports; i++)
		bad = smc_nl_put_port(skb, &dev->port[i],
				      i ? SMC_NLA_DEV_PORT2 : SMC_NLA_DEV_PORT);
	if (smc_nl_end(skb, hdr, nest, bad))
		return -EMSGSIZE;
	ctx->after++;
	return 0;
}

static int smc_nl_dev_smcr(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_nl_dev_arg arg = {
		.skb = skb,
		.cb = cb,
	};
	int rc;

	rc = smc_ib_for_each(smc_nl_put_dev, &arg);
	return rc && !skb->len ? rc : skb->len;
}

/* no SMC-D: no groups, no devices */
static int smc_nl_none(struct sk_buff *skb, struct netlink_callback *cb)
{
	return skb->len;
}

static int smc_nl_put_fback(struct sk_buff *skb, struct netlink_callback *cb,
			    u8 server, u32 reason, u32 count,
			    const u64 *totals)
{
	struct nlattr *nest;
	void *hdr;
	bool bad;

	hdr = smc_nl_start(skb, cb, SMC_NETLINK_GET_FBACK_STATS);
	if (!hdr)
		return -EMSGSIZE;
	nest = nla_nest_start(skb, SMC_GEN_FBACK_STATS);
	bad = !nest || nla_put_u8(skb, SMC_NLA_FBACK_STATS_TYPE, server);
	if (totals)
		bad = bad ||
		      nla_put_u64_64bit(skb, SMC_NLA_FBACK_STATS_SRV_CNT, totals[1],
					SMC_NLA_FBACK_STATS_PAD) ||
		      nla_put_u64_64bit(skb, SMC_NLA_FBACK_STATS_CLNT_CNT, totals[0],
					SMC_NLA_FBACK_STATS_PAD);
	bad = bad || nla_put_u32(skb, SMC_NLA_FBACK_STATS_RSN_CODE, reason) ||
	      nla_put_u16(skb, SMC_NLA_FBACK_STATS_RSN_CNT, min(count, U16_MAX));
	return smc_nl_end(skb, hdr, nest, bad);
}

static int smc_nl_fback(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_nl_ctx *ctx = smc_nl_ctx(cb);
	struct net *net = sock_net(skb->sk);
	struct smc_fback_row row;
	u64 totals[2];

	totals[0] = smc_counter_sum(net, SMC_CNT_CLNT_FALLBACK);
	totals[1] = smc_counter_sum(net, SMC_CNT_SRV_FALLBACK);
	/* two messages a row: position counts (row, role) */
	for (; smc_stats_fback_get(net, ctx->after / 2, &row); ctx->after++) {
		u8 server = !(ctx->after & 1);
		u32 count = server ? row.srv : row.clnt;

		if (!count)
			continue;
		if (smc_nl_put_fback(skb, cb, server, row.reason, count,
				     ctx->done ? NULL : totals))
			return skb->len ?: -EMSGSIZE;
		ctx->done = 1;
	}
	return skb->len;
}

static int smc_nl_dump_ueid(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_nl_ctx *ctx = smc_nl_ctx(cb);
	u8 eids[SMC_EID_MAX][SMC_EID_BYTES];
	unsigned int n;
	void *hdr;

	n = smc_eid_snapshot(eids, SMC_EID_MAX);
	for (; ctx->after < n; ctx->after++) {
		hdr = smc_nl_start(skb, cb, SMC_NETLINK_DUMP_UEID);
		if (!hdr)
			break;
		if (smc_nl_put_text32(skb, SMC_NLA_EID_TABLE_ENTRY,
				      eids[ctx->after])) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
	}
	return skb->len;
}

/* 32 characters and a NUL, as all tools send it */
static int smc_nl_change_ueid(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *attr = info->attrs[SMC_NLA_EID_TABLE_ENTRY];

	if (GENL_REQ_ATTR_CHECK(info, SMC_NLA_EID_TABLE_ENTRY))
		return -EINVAL;
	if (nla_len(attr) != SMC_EID_BYTES + 1) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "an EID has 32 characters, blank padded, and a NUL");
		return -EINVAL;
	}
	if (info->genlhdr->cmd == SMC_NETLINK_ADD_UEID)
		return smc_eid_add(nla_data(attr), info->extack);
	return smc_eid_del(nla_data(attr), info->extack);
}

static int smc_nl_flush_ueid(struct sk_buff *skb, struct genl_info *info)
{
	smc_eid_flush();
	return 0;
}

/* without SMC-Dv2 capability the message has no attribute */
static int smc_nl_dump_seid(struct sk_buff *skb, struct netlink_callback *cb)
{
	return smc_nl_single(skb, cb, SMC_NETLINK_DUMP_SEID, NULL);
}

static int smc_nl_set_seid(struct sk_buff *skb, struct genl_info *info)
{
	return smc_eid_set_seid(info->genlhdr->cmd == SMC_NETLINK_ENABLE_SEID,
				info->extack);
}

static int smc_nl_put_hs(struct sk_buff *skb)
{
	const struct smc_net *sn = smc_net(sock_net(skb->sk));

	return nla_put_u8(skb, SMC_NLA_HS_LIMITATION_ENABLED,
			  READ_ONCE(sn->limit_smc_hs));
}

static int smc_nl_dump_hs(struct sk_buff *skb, struct netlink_callback *cb)
{
	return smc_nl_single(skb, cb, SMC_NETLINK_DUMP_HS_LIMITATION,
			     smc_nl_put_hs);
}

static int smc_nl_set_hs(struct sk_buff *skb, struct genl_info *info)
{
	WRITE_ONCE(smc_net(genl_info_net(info))->limit_smc_hs,
		   info->genlhdr->cmd == SMC_NETLINK_ENABLE_HS_LIMITATION);
	return 0;
}

#define SMC_NL_DUMP(_cmd, _fn)						\
	{ .cmd = SMC_NETLINK_##_cmd, .dumpit = _fn }
#define SMC_NL_DO(_cmd, _fn)						\
	{ .cmd = SMC_NETLINK_##_cmd, .flags = GENL_ADMIN_PERM, .doit = _fn }
#define SMC_NL_EID(_cmd, _fn)						\
	{ .cmd = SMC_NETLINK_##_cmd, .flags = GENL_ADMIN_PERM,		\
	  .policy = smc_nl_eid_policy, .maxattr = SMC_NLA_EID_TABLE_MAX,	\
	  .doit = _fn }

static const struct genl_ops smc_nl_ops[] = {
	SMC_NL_DUMP(GET_SYS_INFO, smc_nl_sys_info),
	SMC_NL_DUMP(GET_LGR_SMCR, smc_nl_groups),
	SMC_NL_DUMP(GET_LINK_SMCR, smc_nl_groups),
	SMC_NL_DUMP(GET_LGR_SMCD, smc_nl_none),
	SMC_NL_DUMP(GET_DEV_SMCD, smc_nl_none),
	SMC_NL_DUMP(GET_DEV_SMCR, smc_nl_dev_smcr),
	SMC_NL_DUMP(GET_FBACK_STATS, smc_nl_fback),
	SMC_NL_DUMP(DUMP_UEID, smc_nl_dump_ueid),
	SMC_NL_EID(ADD_UEID, smc_nl_change_ueid),
	SMC_NL_EID(REMOVE_UEID, smc_nl_change_ueid),
	SMC_NL_DO(FLUSH_UEID, smc_nl_flush_ueid),
	SMC_NL_DUMP(DUMP_SEID, smc_nl_dump_seid),
	SMC_NL_DO(ENABLE_SEID, smc_nl_set_seid),
	SMC_NL_DO(DISABLE_SEID, smc_nl_set_seid),
	SMC_NL_DUMP(DUMP_HS_LIMITATION, smc_nl_dump_hs),
	SMC_NL_DO(ENABLE_HS_LIMITATION, smc_nl_set_hs),
	SMC_NL_DO(DISABLE_HS_LIMITATION, smc_nl_set_hs),
};

static struct genl_family smc_nl_family __ro_after_init = {
	.name = SMC_GENL_FAMILY_NAME,
	.version = SMC_GENL_FAMILY_VERSION,
	.maxattr = ARRAY_SIZE(smc_nl_no_attr) - 1,
	.policy = smc_nl_no_attr,
	.netnsok = true,
	.module = THIS_MODULE,
	.ops = smc_nl_ops,
	.n_ops = ARRAY_SIZE(smc_nl_ops),
	.resv_start_op = SMC_NETLINK_DISABLE_HS_LIMITATION + 1,
};

/**
 * smc_netlink_init() - register the family; whatever the dumps show is ready
 *
 * Return: 0 or a negative errno.
 */
int __init smc_netlink_init(void)
{
	return genl_register_family(&smc_nl_family);
}

/**
 * smc_netlink_exit() - unregister it; no callback runs afterwards
 */
void smc_netlink_exit(void)
{
	genl_unregister_family(&smc_nl_family);
}
