// SPDX-License-Identifier: GPL-2.0
/*
 * SMC-R in the CLC handshake (layer 6): devices to offer, group and buffers,
 * the first link. The one file of the handshake that knows SMC-R.
 *
 * The order of the calls is part of the protocol. First contact: the peer's
 * key and QP number are stored and the QP receives before our Confirm goes out
 * (client), and CONFIRM LINK follows on the link. Reuse: own buffers are
 * announced on the link before Accept or Confirm names them. RFC 7609, 4.5.
 */
#include "smc_eid.h"
#include "smc_hs_priv.h"
#include "smc_ib.h"
#include "smc_prefix.h"

static struct smc_ib_choice *hs_choice(struct smc_hs *hs, u8 version)
{
	return &hs->r.choice[version > 1];
}

/* nothing is held afterwards that a leaving net or RDMA device waits for */
static int hs_choose(struct smc_hs *hs, u8 version, const u8 *peer_gid)
{
	netdevice_tracker tracker;
	struct smc_ib_want want = {
		.net = hs->net,
		.v2 = version > 1,
		.vlan = hs->vlan,
		.saddr = hs->saddr,
		.peer_gid = peer_gid,
	};
	int rc;

	want.ndev = smc_sock_route_dev(hs->tcp, &tracker);
	if (!want.ndev)
		return -ENODEV;
	rc = smc_ib_choose(&want, hs_choice(hs, version));
	netdev_put(want.ndev, &tracker);
	return rc;
}

static int hs_smcr_offer(struct smc_hs *hs, const struct smc_hs_cand *cand)
{
	if (cand->version > 1 && (!hs->ipv4 || !smc_eid_have_any()))
		return cand->absent;
	return hs_choose(hs, cand->version, NULL) ? cand->absent : 0;
}

/* peer id and MAC go out with any version, a direct server needs the MAC */
static void hs_smcr_propose(struct smc_hs *hs)
{
	struct smc_clc_proposal *prop = &hs->prop;
	const struct smc_ib_choice *choice = NULL;

	if (smc_clc_mode_has(prop->mode_v2, SMC_MODE_R)) {
		choice = hs_choice(hs, 2);
		memcpy(prop->gid_v2, choice->gid.raw,
		       sizeof(prop->gid_v2));
	} else {
		prop->max_conns = 0;
		prop->max_links = 0;
	}
	if (smc_clc_mode_has(prop->mode_v1, SMC_MODE_R)) {
		choice = hs_choice(hs, 1);
		memcpy(prop->gid_v1, choice->gid.raw,
		       sizeof(prop->gid_v1));
	}
	if (!choice)
		return;
	memcpy(prop->mac, choice->port->mac, sizeof(prop->mac));
	if (!smc_ib_peer_id(prop->peer_id))
		memset(prop->peer_id, 0, sizeof(prop->peer_id));
}

static int hs_reason(int err, int other)
{
	if (!err)
		return 0;
	return err == -ENOMEM ? SMC_DECL_MEM : other;
}

/* what the group has to be, but for the peer's part */
static void hs_fill_want(struct smc_hs *hs, u8 version)
{
	struct smcr_want *want = &hs->r.want;

	memset(want, 0, sizeof(*want));
	want->net = hs->net;
	want->choice = hs_choice(hs, version);
	want->role = hs->server ? SMC_SERVER : SMC_CLIENT;
	want->version = version;
	want->vlan = hs->vlan;
	want->max_conns = SMC_HS_DEF_CONNS;
	want->max_links = SMC_HS_DEF_LINKS;
	if (version > 1) {
		want->release = hs->lim.release;
		want->saddr = hs->saddr;
		want->max_conns = hs->lim.max_conns;
		want->max_links = hs->lim.max_links;
	}
}

static int hs_join(struct smc_hs *hs, unsigned int how, int no_link)
{
	struct smc_member *m = &hs->smc->conn.member;
	struct smcr_want *want = &hs->r.want;
	int rc;

	rc = smcr_join(m, want, how, SMC_HS_JOIN_TIME, &hs->first);
	switch (rc) {
	case 0:
		break;
	case -ENOENT:
		return SMC_DECL_SYNCERR;
	case -ENOLINK:
		return no_link;
	default:
		return hs_reason(rc, SMC_DECL_INTERR);
	}
	hs->r.joined = true;
	rc = smcr_get_buffers(m, READ_ONCE(hs->smc->sk.sk_sndbuf) / 2,
			      READ_ONCE(hs->smc->sk.sk_rcvbuf) / 2);
	return rc ? SMC_DECL_MEM : 0;
}

static int hs_announce(struct smc_hs *hs)
{
	int rc;

	rc = smcr_announce_rmb(&hs->smc->conn.member,
			       hs->start + SMC_HS_TURN_TIME);
	return hs_reason(rc, SMC_DECL_ERR_REGBUF);
}

/* server: next hop to the client. Direct: the client names its MAC, but some
 * do not
 */
static void hs_server_path(struct smc_hs *hs, u8 version)
{
	const struct smc_ib_choice *choice = hs_choice(hs, version);
	const struct smc_clc_proposal *prop = &hs->prop;
	struct smcr_peer_link *peer = &hs->r.peer;

	memset(peer, 0, sizeof(*peer));
	memcpy(peer->gid, version > 1 ? prop->gid_v2 : prop->gid_v1,
	       sizeof(peer->gid));
	memcpy(peer->mac, prop->mac, sizeof(peer->mac));
	if (version < 2)
		return;
	peer->gateway = choice->gateway;
	if (peer->gateway || is_zero_ether_addr(peer->mac))
		memcpy(peer->mac, choice->nexthop_mac, sizeof(peer->mac));
}

static int hs_server_device(struct smc_hs *hs, const struct smc_hs_cand *cand)
{
	const struct smc_clc_proposal *prop = &hs->prop;
	const u8 *peer_gid = NULL;

	if (cand->version > 1) {
		if (!hs->ipv4)
			return cand->absent;
		if (!smc_eid_match(prop->eid, prop->num_eids, hs->accept.eid))
			return SMC_DECL_NOUEID;
		peer_gid = prop->gid_v2;
	}
	return hs_choose(hs, cand->version, peer_gid) ? cand->absent : 0;
}

static int hs_smcr_listen(struct smc_hs *hs, const struct smc_hs_cand *cand)
{
	struct smc_member *m = &hs->smc->conn.member;
	struct smcr_want *want = &hs->r.want;
	int rc;

	rc = hs_server_device(hs, cand);
	if (rc)
		return rc;
	hs_server_path(hs, cand->version);
	hs_fill_want(hs, cand->version);
	memcpy(want->peer_id, hs->prop.peer_id, sizeof(want->peer_id));
	memcpy(want->peer_gid, hs->r.peer.gid, sizeof(want->peer_gid));
	memcpy(want->peer_mac, hs->r.peer.mac, sizeof(want->peer_mac));
	memcpy(want->eid, hs->accept.eid, sizeof(want->eid));

	rc = hs_join(hs, SMCR_JOIN_REUSE | SMCR_JOIN_CREATE,
		     SMC_DECL_NOACTLINK);
	if (!rc && !hs->first)
		rc = hs_announce(hs);
	if (rc)
		return rc;
	smcr_fill_clc(m, &hs->accept);
	hs->accept.direct = !hs->r.peer.gateway;
	return 0;
}

/* client, first contact: the server says whether its GID is reached directly;
 * if not we must know the way ourselves
 */
static int hs_client_path(struct smc_hs *hs)
{
	const struct smc_clc_ac *accept = &hs->accept;
	struct smcr_peer_link *peer = &hs->r.peer;

	memcpy(peer->gid, accept->r.gid, sizeof(peer->gid));
	memcpy(peer->mac, accept->r.mac, sizeof(peer->mac));
	if (accept->version < 2 || accept->direct)
		return 0;
	if (smc_gid_route(hs->net, hs->saddr, peer->gid, peer->mac,
			  &peer->gateway))
		return SMC_DECL_NOROUTE;
	return peer->gateway ? 0 : SMC_DECL_NOINDIRECT;
}

static void hs_client_want(struct smc_hs *hs)
{
	const struct smc_clc_ac *accept = &hs->accept;
	struct smc_ib_choice *choice = hs_choice(hs, accept->version);
	struct smcr_want *want = &hs->r.want;

	/* the way to the server's GID is known now */
	choice->gateway = hs->r.peer.gateway;
	memcpy(choice->nexthop_mac, hs->r.peer.mac,
	       sizeof(choice->nexthop_mac));
	hs_fill_want(hs, accept->version);
	memcpy(want->peer_id, accept->r.peer_id, sizeof(want->peer_id));
	memcpy(want->peer_gid, accept->r.gid, sizeof(want->peer_gid));
	memcpy(want->peer_mac, accept->r.mac, sizeof(want->peer_mac));
	want->peer_qpn = accept->r.qpn;
	memcpy(want->eid, accept->eid, sizeof(want->eid));
}

static int hs_store_peer(struct smc_hs *hs, const struct smc_clc_ac *ac)
{
	struct smcr_peer_link *peer = &hs->r.peer;
	int rc;

	peer->qpn = ac->r.qpn;
	peer->psn = ac->r.psn;
	peer->mtu = ac->r.mtu;
	rc = smcr_set_peer(&hs->smc->conn.member, ac);
	return hs_reason(rc, SMC_DECL_ERR_RTOK);
}

static int hs_link_ready(struct smc_hs *hs)
{
	int rc;

	rc = smcr_link_ready(&hs->smc->conn.member, &hs->r.peer);
	return hs_reason(rc, SMC_DECL_ERR_RDYLNK);
}

static int hs_smcr_connect(struct smc_hs *hs)
{
	const struct smc_clc_ac *accept = &hs->accept;
	struct smc_clc_ac *confirm = &hs->confirm;
	bool first = accept->first_contact;
	int rc;

	/* what the server waits for counts from here */
	hs->start = jiffies;
	rc = first ? hs_client_path(hs) : 0;
	if (rc)
		return rc;
	hs_client_want(hs);
	rc = hs_join(hs, first ? SMCR_JOIN_CREATE : SMCR_JOIN_REUSE,
		     SMC_DECL_NOSRVLINK);
	if (!rc)
		rc = hs_store_peer(hs, accept);
	if (!rc)
		rc = first ? hs_link_ready(hs) : hs_announce(hs);
	if (rc)
		return rc;

	smcr_fill_clc(&hs->smc->conn.member, confirm);
	confirm->r.mtu = min(confirm->r.mtu, accept->r.mtu);
	confirm->direct = !hs->r.peer.gateway;
	if (first && accept->version > 1) {
		confirm->num_gids = 1;
		memcpy(confirm->gids[0], confirm->r.gid,
		       sizeof(confirm->gids[0]));
	}
	return 0;
}

/* No CONFIRM LINK came: ask TCP why. The peer may have given up before us. It
 * waits another time than we do, so that its Decline arrives in this wait. RFC
 * 7609, 4.5.
 */
static int hs_late_decline(struct smc_hs *hs)
{
	int rc;

	rc = smc_clc_recv(hs->smc, SMC_CLC_DECLINE, hs->buf, sizeof(hs->buf),
			  jiffies + SMC_HS_LATE_TIME, &hs->in);
	return rc == -ETIMEDOUT ? SMC_DECL_TIMEOUT_CL : rc;
}

/* first contact: LLC phase, up to some seconds */
static int hs_confirm_link(struct smc_hs *hs)
{
	struct smc_member *m = &hs->smc->conn.member;
	int rc;

	rc = smcr_confirm_link(m);
	switch (rc) {
	case 0:
		smcr_established(m);
		return 0;
	case -EPROTO:
		return SMC_DECL_RMBE_EC;
	case -ENOMEM:
		return SMC_DECL_MEM;
	case -EIO:
		return SMC_DECL_ERR_RDYLNK;
	default:
		return hs_late_decline(hs);
	}
}

static int hs_smcr_finish(struct smc_hs *hs)
{
	int rc = 0;

	if (hs->server) {
		rc = hs_store_peer(hs, &hs->confirm);
		if (!rc && hs->first)
			rc = hs_link_ready(hs);
	}
	if (!rc && hs->first)
		rc = hs_confirm_link(hs);
	if (!rc)
		hs->r.joined = false;
	return rc;
}

static void hs_smcr_out_of_sync(struct smc_hs *hs)
{
	smcr_out_of_sync(&hs->smc->conn.member);
}

static void hs_smcr_cleanup(struct smc_hs *hs)
{
	if (hs->r.joined)
		smcr_abort(&hs->smc->conn.member);
	hs->r.joined = false;
	smc_ib_choice_put(hs_choice(hs, 1));
	smc_ib_choice_put(hs_choice(hs, 2));
}

const struct smc_hs_ops smc_hs_smcr_ops = {
	.offer = hs_smcr_offer,
	.propose = hs_smcr_propose,
	.listen = hs_smcr_listen,
	.connect = hs_smcr_connect,
	.finish = hs_smcr_finish,
	.out_of_sync = hs_smcr_out_of_sync,
	.cleanup = hs_smcr_cleanup,
};
