// SPDX-License-Identifier: GPL-2.0
/*
 * The CLC handshake (layer 6): what client and server have in common.
 *
 * A handshake is a chain of steps, run by one worker that owns a struct
 * smc_hs. A step gives 0, or a reason (> 0, enum smc_reason: SMC is not
 * possible, the stream is in order), or an errno (< 0: the connection is
 * lost). The first step that gives no 0 ends the chain; smc_hs_end() then
 * leaves the link group, sends the Decline that is due and frees the context.
 *
 * No lock is held in any wait. Only layer 4 serialises handshakes, and only
 * those that need a link group which is being created.
 */
#include <linux/slab.h>
#include <linux/utsname.h>
#include <net/dst.h>
#include <net/tcp.h>
#include <net/xfrm.h>

#include "smc_data.h"
#include "smc_hs_priv.h"
#include "smc_prefix.h"
#include "smc_stats.h"

/* how long to look for a Decline that crossed ours, jiffies */
#define HS_CROSS_MIN	msecs_to_jiffies(10)
#define HS_CROSS_MAX	msecs_to_jiffies(200)

/**
 * smc_hs_new() - begin a handshake
 * @smc: socket; the caller holds a reference until smc_hs_end()
 * @server: role
 *
 * Context: process.
 * Return: context, to be ended with smc_hs_end(); NULL without memory
 */
struct smc_hs *smc_hs_new(struct smc_sock *smc, bool server)
{
	struct smc_hs *hs;

	hs = kzalloc_obj(*hs);
	if (!hs)
		return NULL;
	hs->smc = smc;
	hs->net = sock_net(&smc->sk);
	hs->tcp = smc->tcp->sk;
	hs->server = server;
	hs->version = 1;
	hs->start = jiffies;
	hs->ipv4 = smc_sock_is_ipv4(hs->tcp);
	if (hs->ipv4)
		hs->saddr = hs->tcp->sk_rcv_saddr;
	return hs;
}

static void hs_cleanup(struct smc_hs *hs)
{
	int i;

	for (i = 0; i < SMC_HS_CANDS; i++) {
		if (smc_hs_cands[i].ops)
			smc_hs_cands[i].ops->cleanup(hs);
	}
}

/* a Decline of the peer that crossed ours left there before ours arrived */
static unsigned long hs_cross_time(const struct smc_hs *hs)
{
	u32 srtt_us = READ_ONCE(tcp_sk(hs->tcp)->srtt_us) >> 3;

	return clamp(usecs_to_jiffies(2 * srtt_us), HS_CROSS_MIN,
		     HS_CROSS_MAX);
}

static int hs_decline(struct smc_hs *hs, int reason)
{
	int rc;

	/* the peer may use SMC already: the two would part, so end it */
	if (hs->peer_active)
		return -ECONNABORTED;
	if (hs->mute)
		return reason;
	rc = smc_clc_send_decline(hs->smc, hs->version, reason);
	if (rc)
		return rc;
	if (hs->may_cross)
		smc_clc_swallow_decline(hs->smc, jiffies + hs_cross_time(hs));
	return reason;
}

static void hs_count(const struct smc_hs *hs, int rc)
{
	bool v2 = hs->accept.version > 1;
	enum smc_counter c;

	if (rc > 0)
		return;
	if (hs->server)
		c = rc ? SMC_CNT_SRV_HS_ERR :
		    v2 ? SMC_CNT_SRV_V2_SUCC : SMC_CNT_SRV_V1_SUCC;
	else
		c = rc ? SMC_CNT_CLNT_HS_ERR :
		    v2 ? SMC_CNT_CLNT_V2_SUCC : SMC_CNT_CLNT_V1_SUCC;
	smc_count(hs->net, c, 1);
}

/**
 * smc_hs_end() - end a handshake
 * @hs: context, freed
 * @rc: result of the last step
 *
 * On success the data path is opened. Otherwise the group is left, which may
 * tell the peer over the link, and then the Decline goes out.
 *
 * Context: process, may sleep.
 * Return: result for the caller of smc_hs_client() or smc_hs_server()
 */
int smc_hs_end(struct smc_hs *hs, int rc)
{
	if (!rc)
		smc_conn_open(hs->smc);
	hs_cleanup(hs);
	if (rc == SMC_DECL_PEERDECL)
		hs->mute = true;
	if (rc > 0)
		rc = hs_decline(hs, rc);
	hs_count(hs, rc);
	smc_hs_step(hs, SMC_HS_STEP_END, rc);
	kfree(hs);
	return rc;
}

static bool hs_tcp_signed(const struct sock *sk)
{
#ifdef CONFIG_TCP_MD5SIG
	if (rcu_access_pointer(tcp_sk(sk)->md5sig_info))
		return true;
#endif
#ifdef CONFIG_TCP_AO
	if (rcu_access_pointer(tcp_sk(sk)->ao_info))
		return true;
#endif
	return false;
}

/**
 * smc_hs_check() - must the bytes of this connection stay on TCP?
 * @tcp: TCP socket
 *
 * So it is if they are protected there: by a policy of the socket, by IPsec on
 * the route, or by TCP-MD5 or TCP-AO.
 *
 * Context: process.
 * Return: 0 or SMC_DECL_IPSEC
 */
int smc_hs_check(const struct sock *tcp)
{
	struct dst_entry *dst;
	bool secured;

	secured = hs_tcp_signed(tcp);
#ifdef CONFIG_XFRM
	secured = secured || rcu_access_pointer(tcp->sk_policy[0]) ||
		  rcu_access_pointer(tcp->sk_policy[1]);
#endif
	rcu_read_lock();
	dst = rcu_dereference(tcp->sk_dst_cache);
	secured = secured || (dst && dst_xfrm(dst));
	rcu_read_unlock();
	return secured ? SMC_DECL_IPSEC : 0;
}

/**
 * smc_hs_route() - learn the VLAN of the TCP route
 * @hs: handshake; vlan is set
 *
 * Context: process.
 * Return: 0, or -ENODEV: the route has no device
 */
int smc_hs_route(struct smc_hs *hs)
{
	netdevice_tracker tracker;
	struct net_device *ndev;
	int rc;

	ndev = smc_sock_route_dev(hs->tcp, &tracker);
	rc = smc_route_vlan(ndev, &hs->vlan);
	netdev_put(ndev, &tracker);
	return rc;
}

/**
 * smc_hs_own_limits() - what this host offers
 * @hs: handshake
 * @own: filled from the sysctls of the namespace
 *
 * Context: any.
 */
void smc_hs_own_limits(const struct smc_hs *hs, struct smc_hs_limits *own)
{
	const struct smc_net *sn = smc_net(hs->net);

	own->release = SMC_CLC_RELEASE;
	own->max_conns = READ_ONCE(sn->max_conns_per_lgr);
	own->max_links = min(READ_ONCE(sn->max_links_per_lgr),
			     SMC_MAX_LINKS_SUPPORTED);
}

static void hs_own_name(u8 host[SMC_CLC_HOST_LEN])
{
	const char *name = init_uts_ns.name.nodename;
	size_t i;

	/* no lock: a name that is being changed may come out mixed */
	memset(host, ' ', SMC_CLC_HOST_LEN);
	for (i = 0; i < SMC_CLC_HOST_LEN && name[i]; i++)
		host[i] = name[i] > ' ' && name[i] < 0x7f ? name[i] : '?';
}

/**
 * smc_hs_send_ac() - send Accept or Confirm
 * @hs: handshake
 * @ac: message; what describes this host and the negotiated release is added
 *
 * Context: process, may sleep.
 * Return: 0 or negative errno, the connection is lost
 */
int smc_hs_send_ac(struct smc_hs *hs, struct smc_clc_ac *ac)
{
	int len;

	ac->version = hs->cand->version;
	ac->mode = hs->cand->mode;
	ac->first_contact = hs->first;
	ac->has_fce = hs->first && ac->version > 1;
	if (ac->has_fce) {
		ac->os = SMC_CLC_OS_LINUX;
		hs_own_name(ac->host);
		ac->release = hs->lim.release;
		if (ac->release) {
			ac->max_conns = hs->lim.max_conns;
			ac->max_links = hs->lim.max_links;
		}
	}
	len = smc_clc_encode_ac(hs->buf, sizeof(hs->buf), ac);
	if (len < 0)
		return len;
	return smc_clc_send(hs->smc, hs->buf, len);
}
