// SPDX-License-Identifier: GPL-2.0
/*
 * Links leave a group, and groups end (layer 4). RFC 7609, 4.5.3.
 *
 * With one link per group the loss of a link is the end of its group. All
 * causes lead to smcr_lgr_kill(); the group's end work tells the peer, if the
 * link still carries something, and takes the link apart.
 */
#include "smc_link.h"
#include "smc_mr.h"
#include "smc_stats.h"
#include "smc_trace.h"

/* DELETE LINK ALL is given so long to leave; less if there may be nobody who
 * acknowledges it: some devices are deaf when they say that they go
 */
#define SMC_DELETE_TIME		(2 * HZ)
#define SMC_DELETE_HURRY	(HZ / 10)

/**
 * smc_link_lost() - a link does not work any more
 * @link: link, kept by the caller or by its engine
 * @err: negative errno
 *
 * Takes effect once per link. Context: any but hard interrupt, no sleep.
 */
void smc_link_lost(struct smc_link *link, int err)
{
	struct smcr_lgr *lgr = link->lgr;

	if (test_and_set_bit(0, &link->lost))
		return;
	spin_lock_bh(&lgr->base.lock);
	/* a usable link has its device */
	if (smc_link_usable(link))
		trace_smcr_link_down(link, lgr, lgr->base.net_cookie,
				     link->state,
				     dev_name(&link->port->dev->ibdev->dev),
				     __builtin_return_address(0));
	spin_unlock_bh(&lgr->base.lock);
	WRITE_ONCE(link->silent, true);
	smcr_lgr_kill(lgr, err == -ETIMEDOUT ? err : -ECONNABORTED,
		      SMC_LLC_DEL_LOST_PATH);
}

/**
 * smcr_send_delete() - send a DELETE LINK request for one link
 * @link: link to send on
 * @id: number of the link to be deleted
 * @reason: SMC_LLC_DEL_*
 * @orderly: orderly bit
 *
 * Context: process, sleeps while there is no slot.
 *
 * Return: 0 or errno of smc_llc_send()
 */
int smcr_send_delete(struct smc_link *link, u8 id, u32 reason, bool orderly)
{
	struct smc_llc msg = {
		.type = SMC_LLC_DELETE_LINK,
		.link = id,
		.reason = reason,
		.orderly = orderly,
	};

	return smc_llc_send(&link->llc, &msg, SMC_WR_GET_WAIT, NULL);
}

static bool smcr_has_link_id(struct smcr_lgr *lgr, u8 id)
{
	bool found = false;
	int i;

	spin_lock_bh(&lgr->base.lock);
	for (i = 0; i < SMC_LINKS; i++)
		found |= lgr->link[i] && lgr->link[i]->id == id;
	spin_unlock_bh(&lgr->base.lock);
	return found && id;
}

static void smc_link_rx_delete_client(struct smc_link *link,
				      const struct smc_llc *msg)
{
	struct smcr_lgr *lgr = link->lgr;
	bool known = smcr_has_link_id(lgr, msg->link);
	struct smc_llc resp = {
		.type = SMC_LLC_DELETE_LINK,
		.response = true,
		.link = msg->link,
		.orderly = msg->orderly,
		.reason = known ? 0 : SMC_LLC_DEL_UNKNOWN_LINK,
	};

	smc_llc_send(&link->llc, &resp, SMC_WR_GET_WAIT, NULL);
	if (known)
		smcr_lgr_kill(lgr, -ECONNABORTED, 0);
}

static void smc_link_rx_delete_server(struct smc_link *link,
				      const struct smc_llc *msg)
{
	struct smcr_lgr *lgr = link->lgr;

	if (smc_link_offer_ends(lgr, msg->link))
		return;
	if (!smcr_has_link_id(lgr, msg->link)) {
		SMC_INC(lgr->base.net, LLC_RX_UNEXPECTED);
		return;
	}
	/* a client's request is answered by the server's own */
	smcr_send_delete(link, msg->link, msg->reason, msg->orderly);
	smcr_lgr_kill(lgr, -ECONNABORTED, msg->reason);
}

/**
 * smc_link_rx_delete() - DELETE LINK came in
 * @link: link it came on
 * @msg: request, or response that nobody waits for
 *
 * Context: process, LLC worker.
 */
void smc_link_rx_delete(struct smc_link *link, const struct smc_llc *msg)
{
	bool server = link->lgr->role == SMC_SERVER;

	/* nobody waits for the answer to the end of an offer */
	if (msg->response)
		return;
	if (msg->all) {
		/* a server says it back */
		WRITE_ONCE(link->lgr->hurry, true);
		if (!server)
			WRITE_ONCE(link->silent, true);
		smcr_lgr_kill(link->lgr, -ECONNABORTED,
			      server ? msg->reason : 0);
	} else if (server) {
		smc_link_rx_delete_server(link, msg);
	} else {
		smc_link_rx_delete_client(link, msg);
	}
}

/* the peer learns of the end of the group on the first link that can say it */
static void smcr_say_goodbye(struct smcr_lgr *lgr, struct smc_link *link)
{
	struct smc_llc msg = {
		.type = SMC_LLC_DELETE_LINK,
		.all = true,
		.orderly = true,
		.reason = lgr->end_reason ?: SMC_LLC_DEL_PROG_INIT,
	};

	if (READ_ONCE(link->silent) || completion_done(&lgr->deleted))
		return;
	if (!smc_llc_send(&link->llc, &msg, 0, &lgr->deleted))
		wait_for_completion_timeout(&lgr->deleted,
					    READ_ONCE(lgr->hurry) ?
					    SMC_DELETE_HURRY :
					    SMC_DELETE_TIME);
}

/**
 * smcr_lgr_end() - SMC-R's part of the end of a group
 * @base: group in state DYING
 *
 * Order: waiters woken, peer told, engines stopped and drained, workers
 * finished, keys and mappings given back, devices released, idle memory freed.
 * Context: process, sleeps, bounded.
 */
void smcr_lgr_end(struct smc_lgr *base)
{
	struct smcr_lgr *lgr = smcr_lgr_of(base);
	int i;

	smc_llc_kill(&lgr->llc);
	for (i = 0; i < SMC_LINKS; i++)
		if (lgr->link[i])
			smcr_say_goodbye(lgr, lgr->link[i]);
	for (i = 0; i < SMC_LINKS; i++)
		if (lgr->link[i])
			smc_link_halt(lgr->link[i]);
	disable_work_sync(&lgr->buf_work);
	smc_llc_stop(&lgr->llc);
	for (i = 0; i < SMC_LINKS; i++) {
		if (!lgr->link[i])
			continue;
		smc_mr_unmap_link(lgr, i);
		smc_rtoken_clear_link(&lgr->rtokens, i);
		smc_link_clear(lgr->link[i]);
	}
	smc_mr_free_all(lgr);
}
