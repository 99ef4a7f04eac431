// SPDX-License-Identifier: GPL-2.0
/*
 * Own LLC flows: keys announced and taken back, link test (layer 3). RFC 7609,
 * 4.5.
 *
 * Own flows that change keys take turns, first come first served; the peer's
 * run beside them in the worker, so crossing requests do not wait for each
 * other. A turn whose request stays unanswered has the link tested, so that
 * those behind it do not pay the timeout again and again.
 */
#include <kunit/visibility.h>
#include <linux/jiffies.h>
#include <linux/unaligned.h>

#include "smc_llc.h"
#include "smc_stats.h"
#include "smc_trace.h"

static int smc_llc_turn(struct smc_llc_ctl *ctl, unsigned long deadline)
{
	long left = max((long)(deadline - jiffies), 0L);

	if (down_timeout(&ctl->local, left)) {
		SMC_INC(ctl->net, LLC_TIMEOUT);
		return -ETIMEDOUT;
	}
	if (!READ_ONCE(ctl->dead))
		return 0;
	up(&ctl->local);
	return -ENOLINK;
}

/* one request of ours and its answer, which is left in @wait */
static int smc_llc_ask(struct smc_llc_link *ll, const struct smc_llc *msg,
		       u32 key, unsigned long deadline,
		       struct smc_llc_wait *wait)
{
	int rc;

	rc = smc_llc_turn(ll->ctl, deadline);
	if (rc)
		return rc;
	smc_llc_expect(wait, ll, msg->type, true, key);
	rc = smc_llc_send(ll, msg, SMC_WR_GET_WAIT, NULL);
	if (!rc)
		rc = smc_llc_await(wait, SMC_LLC_WAIT_TIME);
	smc_llc_forget(wait);
	up(&ll->ctl->local);
	if (rc == -ETIMEDOUT)
		smc_llc_test_now(ll);
	return rc;
}

/**
 * smc_llc_confirm_rkey() - announce a receive buffer
 * @ll: link of the connection
 * @own: key and address on that link
 * @other: the same for the other links of the group
 * @nother: their number, at most 2
 * @deadline: jiffies, for one's turn: who waits for the handshake behind it has
 *	less patience than the link
 *
 * RFC 7609, 4.5.4. Context: process, sleeps until @deadline and a round trip.
 *
 * Return: 0: the peer has taken it; -EIO: refused; -ETIMEDOUT, -ENOLINK,
 * -ERESTARTSYS (signal while no slot was free), -EPIPE
 */
int smc_llc_confirm_rkey(struct smc_llc_link *ll,
			 const struct smc_llc_rkey *own,
			 const struct smc_llc_rkey *other, unsigned int nother,
			 unsigned long deadline)
{
	struct smc_llc msg = {
		.type = SMC_LLC_CONFIRM_RKEY,
		.rkey = *own,
		.num_rkeys = nother,
	};
	struct smc_llc_wait wait = {};
	int rc;

	if (nother)
		memcpy(msg.other, other, nother * sizeof(*other));
	rc = smc_llc_ask(ll, &msg, own->rkey, deadline, &wait);
	if (!rc && wait.msg.rejected)
		rc = -EIO;
	if (!rc)
		SMC_INC(ll->ctl->net, RKEY_CONFIRM);
	return rc;
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_confirm_rkey);

/**
 * smc_llc_delete_rkeys() - take receive buffers back from the peer
 * @ll: any usable link
 * @keys: keys on that link
 * @n: their number, at most SMC_LLC_DEL_BATCH
 *
 * After success the peer has sent its last write to them; a key that the peer
 * does not know is a success, too. RFC 7609, 4.5.5. Context: process, sleeps up
 * to 22 s, usually for a round trip.
 *
 * Return: 0, -ETIMEDOUT, -ENOLINK, -ERESTARTSYS, -EPIPE
 */
int smc_llc_delete_rkeys(struct smc_llc_link *ll, const u32 *keys,
			 unsigned int n)
{
	struct smc_llc msg = {
		.type = SMC_LLC_DELETE_RKEY,
		.num_rkeys = n,
	};
	__be32 list[SMC_LLC_DEL_BATCH];
	struct smc_llc_wait wait = {};
	unsigned int i;
	int rc;

	for (i = 0; i < n; i++)
		list[i] = cpu_to_be32(keys[i]);
	msg.list = (const u8 *)list;
	rc = smc_llc_ask(ll, &msg, 0, jiffies + SMC_LLC_WAIT_FLOW, &wait);
	if (!rc)
		SMC_ADD(ll->ctl->net, RKEY_DELETE, n);
	return rc;
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_delete_rkeys);

/* one TEST LINK; what else the peer sends in the meantime proves life, too */
static int smc_llc_probe(struct smc_llc_link *ll)
{
	struct smc_llc msg = { .type = SMC_LLC_TEST_LINK };
	unsigned long start = jiffies;
	struct smc_llc_wait wait = {};
	int rc;

	if (!++ll->probe)
		ll->probe = 1;
	put_unaligned_be32(ll->probe, msg.user_data);
	smc_llc_expect(&wait, ll, SMC_LLC_TEST_LINK, true, ll->probe);
	rc = smc_llc_send(ll, &msg, SMC_WR_GET_WAIT, NULL);
	if (!rc)
		rc = smc_llc_await(&wait, SMC_LLC_WAIT_TIME);
	smc_llc_forget(&wait);
	if (rc == -ETIMEDOUT && time_after(READ_ONCE(ll->wr->last_rx), start))
		rc = 0;
	return rc;
}

/* Body of ll->test_work: tests a link on which nothing came in for
 * ll->interval, or which somebody wants to have tested; reports it lost if
 * there is no answer. RFC 7609, 4.5.6.
 */
static void smc_llc_test_work(struct work_struct *work)
{
	struct smc_llc_link *ll = container_of(to_delayed_work(work),
					       struct smc_llc_link, test_work);
	unsigned long due = READ_ONCE(ll->wr->last_rx) + ll->interval;
	int rc = 0;

	if (!smc_wr_up(ll->wr))
		return;
	if (test_and_clear_bit(0, &ll->test_now) || !time_before(jiffies, due)) {
		rc = smc_llc_probe(ll);
		due = jiffies + ll->interval;
	}
	if (rc == -ETIMEDOUT) {
		ll->ctl->ops->lost(ll, rc);
		return;
	}
	if (ll->interval)
		smc_llc_later(&ll->test_work, max((long)(due - jiffies), 0L));
}

/**
 * smc_llc_test_start() - test a link regularly from now on
 * @ll: link that has become active
 * @interval: jiffies without a receive, 0 never
 *
 * Context: any.
 */
void smc_llc_test_start(struct smc_llc_link *ll, unsigned long interval)
{
	ll->interval = interval;
	if (interval)
		smc_llc_later(&ll->test_work, interval);
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_test_start);

/**
 * smc_llc_test_now() - test a link at once
 * @ll: link
 *
 * Context: any.
 */
void smc_llc_test_now(struct smc_llc_link *ll)
{
	set_bit(0, &ll->test_now);
	smc_llc_later(&ll->test_work, 0);
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_test_now);

/**
 * smc_llc_link_init() - LLC state of a new link
 * @ll: zeroed memory
 * @ctl: its group's state
 * @wr: its engine
 * @id: link number
 */
void smc_llc_link_init(struct smc_llc_link *ll, struct smc_llc_ctl *ctl,
		       struct smc_wr *wr, u8 id)
{
	ll->ctl = ctl;
	ll->wr = wr;
	ll->id = id;
	INIT_DELAYED_WORK(&ll->test_work, smc_llc_test_work);
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_link_init);

/**
 * smc_llc_link_stop() - no link test any more
 * @ll: link whose engine is stopped
 *
 * Context: process, not from an up-call.
 */
void smc_llc_link_stop(struct smc_llc_link *ll)
{
	disable_delayed_work_sync(&ll->test_work);
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_link_stop);
