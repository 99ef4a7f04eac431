// SPDX-License-Identifier: GPL-2.0
/*
 * sock_diag for SMC sockets (side room, own module): what smcss and smcstat
 * show. Sockets are walked in the order of creation, newest first, and a dump
 * resumes by the id of the last socket shown, so that each socket which lives
 * through it appears exactly once.
 */
#include <linux/device/driver.h>
#include <linux/module.h>
#include <linux/sock_diag.h>
#include <net/ipv6.h>
#include <net/netlink.h>
#include <uapi/linux/smc_diag.h>

#include "smc_cursor.h"
#include "smc_net.h"
#include "smc_snapshot.h"
#include "smc_sock.h"

static_assert(sizeof(struct smc_diag_req) == 52);
static_assert(sizeof(struct smc_diag_msg) == 64);
static_assert(sizeof(struct smc_diag_cursor) == 8);
static_assert(sizeof(struct smc_diag_conninfo) == 76);
static_assert(sizeof(struct smc_diag_linkinfo) == 146);
static_assert(sizeof(struct smc_diag_lgrinfo) == 147);
static_assert(sizeof(struct smc_diag_fallback) == 8);
static_assert(sizeof(struct smcd_diag_dmbinfo) == 56);

#define SMC_DIAG_SKB_MIN	SKB_WITH_OVERHEAD(32768)

/* position of a dump: id of the last socket shown; 0 at the start */
struct smc_diag_ctx {
	u64 last;
};

static bool smc_diag_wants(const struct smc_diag_req *req, u8 ext)
{
	return req->diag_ext & BIT(ext - 1);
}

/* Addresses come from the internal TCP socket; its own family decides, since
 * IPPROTO_SMC sockets have the family of the program.
 */
static void smc_diag_id(struct smc_sock *smc, struct smc_diag_msg *msg)
{
	struct sock *tcp = smc->tcp ? READ_ONCE(smc->tcp->sk) : NULL;

	sock_diag_save_cookie(&smc->sk, msg->id.idiag_cookie);
	if (!tcp)
		return;
	msg->id.idiag_sport = htons(tcp->sk_num);
	msg->id.idiag_dport = tcp->sk_dport;
	msg->id.idiag_if = READ_ONCE(tcp->sk_bound_dev_if);
#if IS_ENABLED(CONFIG_IPV6)
	if (tcp->sk_family == AF_INET6) {
		memcpy(msg->id.idiag_src, &tcp->sk_v6_rcv_saddr,
		       sizeof(tcp->sk_v6_rcv_saddr));
		memcpy(msg->id.idiag_dst, &tcp->sk_v6_daddr,
		       sizeof(tcp->sk_v6_daddr));
		return;
	}
#endif
	msg->id.idiag_src[0] = tcp->sk_rcv_saddr;
	msg->id.idiag_dst[0] = tcp->sk_daddr;
}

static void smc_diag_cursor(struct smc_diag_cursor *out, u64 pos, u32 size)
{
	struct smc_cursor c;

	if (!size)
		return;
	c = smc_cursor_from_pos(pos, size);
	out->wrap = c.wrap;
	out->count = c.count;
}

static int smc_diag_put_conn(struct sk_buff *skb, struct smc_sock *smc)
{
	struct smc_conn *conn = &smc->conn;
	struct smc_member *m = &conn->member;
	struct smc_diag_conninfo info = {};
	u32 snd = READ_ONCE(m->snd_size);
	u32 rcv = READ_ONCE(m->rcv_size);
	u32 peer = READ_ONCE(m->peer_size);

	info.token = READ_ONCE(m->token);
	info.sndbuf_size = snd;
	info.rmbe_size = rcv;
	info.peer_rmbe_size = peer;
	smc_diag_cursor(&info.rx_prod, atomic64_read(&conn->rx_prod), rcv);
	smc_diag_cursor(&info.rx_cons, atomic64_read(&conn->peer_cons), peer);
	smc_diag_cursor(&info.tx_prod, atomic64_read(&conn->tx_sent), peer);
	smc_diag_cursor(&info.tx_cons, READ_ONCE(conn->rx_cons), rcv);
	info.rx_prod_flags = READ_ONCE(conn->rx_pflags);
	info.rx_conn_state_flags = READ_ONCE(conn->rx_cflags);
	info.tx_prod_flags = READ_ONCE(conn->tx_pflags);
	info.tx_conn_state_flags = READ_ONCE(conn->tx_cflags);
	smc_diag_cursor(&info.tx_prep, atomic64_read(&conn->tx_prep), snd);
	smc_diag_cursor(&info.tx_sent, atomic64_read(&conn->tx_sent), snd);
	smc_diag_cursor(&info.tx_fin, atomic64_read(&conn->tx_done), snd);
	return nla_put(skb, SMC_DIAG_CONNINFO, sizeof(info), &info);
}

static int smc_diag_put_lgr(struct sk_buff *skb, struct smc_sock *smc)
{
	struct smc_diag_lgrinfo info = {};
	struct smc_link_snap link;

	if (!smcr_snap_member(&smc->conn.member, &info.role, &link))
		return 0;
	info.lnk[0].link_id = link.link_id;
	strscpy((char *)info.lnk[0].ibname, link.ibname,
		sizeof(info.lnk[0].ibname));
	info.lnk[0].ibport = link.port;
	snprintf((char *)info.lnk[0].gid, sizeof(info.lnk[0].gid), "%pI6",
		 link.gid);
	snprintf((char *)info.lnk[0].peer_gid, sizeof(info.lnk[0].peer_gid),
		 "%pI6", link.peer_gid);
	return nla_put(skb, SMC_DIAG_LGRINFO, sizeof(info), &info);
}

static int smc_diag_fill(struct sk_buff *skb, struct netlink_callback *cb,
			 const struct smc_diag_req *req, struct smc_sock *smc)
{
	struct user_namespace *user_ns = sk_user_ns(NETLINK_CB(cb->skb).sk);
	struct smc_diag_fallback fallback = {
		.reason = READ_ONCE(smc->fallback_rsn),
		.peer_diagnosis = READ_ONCE(smc->peer_diagnosis),
	};
	struct sock *sk = &smc->sk;
	struct smc_diag_msg *msg;
	struct nlmsghdr *nlh;

	nlh = nlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			cb->nlh->nlmsg_type, sizeof(*msg), NLM_F_MULTI);
	if (!nlh)
		return -EMSGSIZE;
	msg = nlmsg_data(nlh);
	memset(msg, 0, sizeof(*msg));
	msg->diag_family = sk->sk_family;
	msg->diag_state = READ_ONCE(sk->sk_state);
	msg->diag_mode = READ_ONCE(smc->use_fallback) ?
			 SMC_DIAG_MODE_FALLBACK_TCP : SMC_DIAG_MODE_SMCR;
	msg->diag_uid = from_kuid_munged(user_ns, sk_uid(sk));
	msg->diag_inode = sock_i_ino(sk);
	smc_diag_id(smc, msg);

	if (nla_put_u8(skb, SMC_DIAG_SHUTDOWN, READ_ONCE(sk->sk_shutdown)) ||
	    nla_put(skb, SMC_DIAG_FALLBACK, sizeof(fallback), &fallback) ||
	    (smc_diag_wants(req, SMC_DIAG_CONNINFO) &&
	     READ_ONCE(smc->conn.member.token) && smc_diag_put_conn(skb, smc)) ||
	    (smc_diag_wants(req, SMC_DIAG_LGRINFO) &&
	     smc_diag_put_lgr(skb, smc))) {
		nlmsg_cancel(skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(skb, nlh);
	return 0;
}

static int smc_diag_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_diag_ctx *ctx = (struct smc_diag_ctx *)cb->ctx;
	const struct smc_diag_req *req = nlmsg_data(cb->nlh);
	struct smc_net *sn = smc_net(sock_net(skb->sk));
	struct sock *sk;

	NL_ASSERT_CTX_FITS(struct smc_diag_ctx);
	spin_lock_bh(&sn->sk_lock);
	sk_for_each(sk, &sn->sk_list) {
		struct smc_sock *smc = smc_sk(sk);

		if (ctx->last && smc->diag_id >= ctx->last)
			continue;
		if (smc_diag_fill(skb, cb, req, smc))
			break;
		ctx->last = smc->diag_id;
	}
	spin_unlock_bh(&sn->sk_lock);
	return skb->len;
}

static int smc_diag_handler_dump(struct sk_buff *skb, struct nlmsghdr *h)
{
	struct netlink_dump_control ctl = {
		.dump = smc_diag_dump,
		.min_dump_alloc = SMC_DIAG_SKB_MIN,
	};

	if (nlmsg_len(h) < sizeof(struct smc_diag_req))
		return -EINVAL;
	/* smcss sets one of the two dump bits only */
	if (!(h->nlmsg_flags & NLM_F_DUMP))
		return -EOPNOTSUPP;
	return netlink_dump_start(sock_net(skb->sk)->diag_nlsk, skb, h, &ctl);
}

static const struct sock_diag_handler smc_diag_handler = {
	.owner = THIS_MODULE,
	.family = AF_SMC,
	.dump = smc_diag_handler_dump,
};

#define module_sock_diag(handler)					\
	module_driver(handler, sock_diag_register, sock_diag_unregister)
module_sock_diag(smc_diag_handler);

MODULE_DESCRIPTION("sock_diag for SMC sockets");
MODULE_LICENSE("GPL");
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_NETLINK, NETLINK_SOCK_DIAG, 43 /* AF_SMC */);
