// SPDX-License-Identifier: GPL-2.0
/*
 * Links join a group (layer 4): CONFIRM LINK of the first link, and what has to
 * be said about further ones. RFC 7609, 4.5.1 and 4.5.2.
 *
 * One link per group is what we bring up. A client says so when it is offered
 * another one. A server of a client with which nothing could be negotiated (v1,
 * v2.0) has to offer one, because some clients wait for that before connect()
 * returns: it offers its only adapter again. A client without a second adapter
 * declines by itself; one that accepts is told at once, by DELETE LINK, that
 * the new link is not to be. None of this is waited for.
 */
#include "smc_link.h"
#include "smc_stats.h"
#include "smc_trace.h"

static void smc_link_fill_confirm(const struct smc_link *link,
				  struct smc_llc *msg)
{
	const struct smcr_lgr *lgr = link->lgr;

	memset(msg, 0, sizeof(*msg));
	msg->type = SMC_LLC_CONFIRM_LINK;
	msg->no_eyecatcher = true;
	msg->link = link->id;
	memcpy(msg->mac, link->mac, sizeof(msg->mac));
	memcpy(msg->gid, link->gid, sizeof(msg->gid));
	msg->qpn = link->qpn;
	memcpy(msg->link_uid, link->uid, sizeof(msg->link_uid));
	msg->max_links = 2;
	if (lgr->release) {
		msg->max_links = lgr->max_links;
		msg->max_conns = lgr->max_conns;
	}
}

/**
 * smc_link_expect_confirm() - arm the expectation of the first CONFIRM LINK
 * @link: first link of a group
 *
 * Before the peer can send it: for the request, before CLC Confirm is sent; for
 * the response, before the request is. Ended by smc_link_confirm_*() or
 * smc_llc_forget(&lgr->confirm). Context: process, creator.
 *
 * Return: 0 or -EBUSY if it is armed
 */
int smc_link_expect_confirm(struct smc_link *link)
{
	struct smcr_lgr *lgr = link->lgr;

	if (lgr->confirm.ll)
		return -EBUSY;
	smc_llc_expect(&lgr->confirm, &link->llc, SMC_LLC_CONFIRM_LINK,
		       lgr->role == SMC_SERVER, 0);
	return 0;
}

/* waits for the message and takes what it says; -EPROTO: eyecatchers wanted */
static int smc_link_await_confirm(struct smc_link *link, unsigned long timeout)
{
	struct smc_llc_wait *wait = &link->lgr->confirm;
	int rc;

	rc = smc_llc_await(wait, timeout);
	smc_llc_forget(wait);
	if (rc)
		return rc;
	if (!wait->msg.no_eyecatcher)
		return -EPROTO;
	memcpy(link->peer_uid, wait->msg.link_uid, sizeof(link->peer_uid));
	return 0;
}

static int smc_link_activate(struct smc_link *link)
{
	return smc_link_set_state(link, SMC_LINK_ACTIVE) ? 0 : -ENOLINK;
}

static void smc_link_offer(struct smc_link *link)
{
	struct smcr_lgr *lgr = link->lgr;
	struct smc_llc msg = {
		.type = SMC_LLC_ADD_LINK,
		.qpn = link->qpn,
		.psn = link->psn,
		.mtu = link->mtu,
		.add_ext = lgr->version > 1,
		.direct = !link->gateway,
	};
	u8 id = smc_link_new_id(lgr);

	msg.link = id;
	memcpy(msg.mac, link->mac, sizeof(msg.mac));
	memcpy(msg.gid, link->gid, sizeof(msg.gid));
	memcpy(msg.target_gid, link->peer_gid, sizeof(msg.target_gid));

	spin_lock_bh(&lgr->base.lock);
	lgr->offered = id;
	spin_unlock_bh(&lgr->base.lock);
	/* a client that never sees it waits some seconds, no more */
	smc_llc_send(&link->llc, &msg, SMC_WR_GET_WAIT |
		     (lgr->version > 1 ? SMC_WR_GET_LARGE : 0), NULL);
}

/**
 * smc_link_confirm_server() - confirm the first link, server
 * @link: link in RTS, own buffers registered
 *
 * Context: process, sleeps 2 s at most; creator.
 *
 * Return: 0, link is ACTIVE; -ETIMEDOUT, -ENOLINK, -EPROTO (no "no eyecatcher"
 * flag), -EPIPE and others from sending
 */
int smc_link_confirm_server(struct smc_link *link)
{
	struct smc_llc msg;
	int rc;

	smc_link_set_id(link, smc_link_new_id(link->lgr));
	rc = smc_link_expect_confirm(link);
	if (rc)
		return rc;
	smc_link_fill_confirm(link, &msg);
	rc = smc_llc_send(&link->llc, &msg, SMC_WR_GET_WAIT, NULL);
	if (!rc)
		rc = smc_link_await_confirm(link, SMC_LLC_WAIT_FIRST_SRV);
	if (!rc)
		rc = smc_link_activate(link);
	if (!rc && link->lgr->max_links > 1)
		smc_link_offer(link);
	return rc;
}

/**
 * smc_link_confirm_client() - confirm the first link, client
 * @link: link in RTR, expectation armed
 * @ready: called when the link can send, before the answer is sent: registers
 *	own buffers
 * @arg: for @ready
 *
 * Context: process, sleeps 4 s at most; creator.
 *
 * Return: as smc_link_confirm_server(), and what @ready returned
 */
int smc_link_confirm_client(struct smc_link *link,
			    int (*ready)(struct smc_link *link, void *arg),
			    void *arg)
{
	struct smcr_lgr *lgr = link->lgr;
	struct smc_llc msg;
	int rc;

	rc = smc_link_await_confirm(link, SMC_LLC_WAIT_FIRST_CLNT);
	if (rc)
		return rc;
	if (!lgr->confirm.msg.link)
		return -EPROTO;
	smc_link_set_id(link, lgr->confirm.msg.link);
	rc = smc_link_to_rts(link);
	if (!rc)
		rc = ready(link, arg);
	if (!rc)
		rc = smc_link_activate(link);
	if (rc)
		return rc;
	smc_link_fill_confirm(link, &msg);
	msg.response = true;
	return smc_llc_send(&link->llc, &msg, SMC_WR_GET_WAIT, NULL);
}

static void smc_link_rx_add_response(struct smc_link *link,
				     const struct smc_llc *msg)
{
	struct smcr_lgr *lgr = link->lgr;

	if (!smc_link_offer_ends(lgr, msg->link)) {
		SMC_INC(lgr->base.net, LLC_RX_UNEXPECTED);
		return;
	}
	if (msg->rejected) {
		SMC_INC(lgr->base.net, LLC_ADD_REJECT);
		return;
	}
	smcr_send_delete(link, msg->link, SMC_LLC_DEL_LOST_PATH, false);
}

/**
 * smc_link_rx_add() - ADD LINK came in
 * @link: link it came on
 * @msg: request or response
 *
 * A client declines for lack of an alternate path. A client's suggestion to a
 * server, RFC 7609, A.3, asks for no answer. Context: process, LLC worker.
 */
void smc_link_rx_add(struct smc_link *link, const struct smc_llc *msg)
{
	struct smc_llc resp = *msg;

	if (msg->response) {
		smc_link_rx_add_response(link, msg);
		return;
	}
	if (link->lgr->role == SMC_SERVER)
		return;
	resp.response = true;
	resp.rejected = true;
	resp.reject_reason = SMC_LLC_REJ_NO_ALT_PATH;
	resp.num_rkeys = 0;
	resp.list = NULL;
	smc_llc_send(&link->llc, &resp, SMC_WR_GET_WAIT, NULL);
	SMC_INC(link->lgr->base.net, LLC_ADD_REJECT);
}

/**
 * smc_link_rx_req_add() - REQ ADD LINK came in
 * @link: link it came on
 * @msg: request
 *
 * A server has nothing to offer. A client never gets it.
 * Context: process, LLC worker.
 */
void smc_link_rx_req_add(struct smc_link *link, const struct smc_llc *msg)
{
	struct smc_llc resp = {
		.type = SMC_LLC_REQ_ADD_LINK,
		.response = true,
		.rejected = true,
		.reject_reason = SMC_LLC_REJ_NO_ALT_PATH,
	};

	if (link->lgr->role != SMC_SERVER) {
		SMC_INC(link->lgr->base.net, LLC_RX_UNEXPECTED);
		return;
	}
	smc_llc_send(&link->llc, &resp, SMC_WR_GET_WAIT, NULL);
}
