// SPDX-License-Identifier: GPL-2.0
/*
 * LLC messages of a link group: receive side, sending, waiting (layer 3).
 * RFC 7609, section 4.5 and A.3; IBM's SMC version 2 documents.
 *
 * What comes in is decoded once in softirq. TEST LINK is answered there, with a
 * slot that is kept for LLC, so neither queued requests nor a full send queue
 * can make a peer believe that the link is dead. A message somebody waits for
 * is given to him. The rest is copied into one of a fixed number of entries and
 * handled by the group's worker in order of arrival. A peer that sends more
 * requests than there are entries breaks the protocol (it may have one of each
 * kind under way) and loses the surplus.
 *
 * Whoever wants an answer arms a struct smc_llc_wait, sends, waits and forgets.
 * An answer goes to the oldest waiter that fits type, direction, link and (where
 * the peer repeats it) key, under ctl->lock; whatever fits nobody has no
 * effect, so late, doubled and invented answers are harmless. Each wait is
 * bounded and ends at once when the group dies.
 *
 * Owner of everything here is the group. smc_llc_kill() ends all waits at once;
 * smc_llc_stop() returns when the worker is through and will not run again.
 */
#include <kunit/visibility.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "smc_llc.h"
#include "smc_stats.h"
#include "smc_trace.h"

static struct workqueue_struct *smc_llc_wq;

/* what becomes of a message */
enum {
	LLC_DROP,	/* nothing we understand */
	LLC_WAIT,	/* only for a waiter */
	LLC_QUEUE,	/* for a waiter, else for layer 4 */
	LLC_ANSWER,	/* answered at once */
};

static const u8 smc_llc_route[SMC_LLC_TYPE_MAX + 1][2] = {
	/*				request		response */
	[SMC_LLC_CONFIRM_LINK]	   = { LLC_WAIT,	LLC_WAIT },
	[SMC_LLC_ADD_LINK]	   = { LLC_QUEUE,	LLC_QUEUE },
	[SMC_LLC_ADD_LINK_CONT]	   = { LLC_WAIT,	LLC_WAIT },
	[SMC_LLC_DELETE_LINK]	   = { LLC_QUEUE,	LLC_QUEUE },
	[SMC_LLC_REQ_ADD_LINK]	   = { LLC_QUEUE,	LLC_WAIT },
	[SMC_LLC_CONFIRM_RKEY]	   = { LLC_QUEUE,	LLC_WAIT },
	[SMC_LLC_TEST_LINK]	   = { LLC_ANSWER,	LLC_WAIT },
	[SMC_LLC_CONFIRM_RKEY_CONT] = { LLC_DROP,	LLC_DROP },
	[SMC_LLC_DELETE_RKEY]	   = { LLC_QUEUE,	LLC_WAIT },
};

/**
 * smc_llc_expect() - arm the expectation of a message
 * @wait: where it goes
 * @ll: link on which it has to come
 * @type: enum smc_llc_type
 * @response: response (or request)
 * @key: see struct smc_llc_wait
 *
 * Call before the message that provokes it is posted. Ends with
 * smc_llc_forget(). Context: any but hard interrupt.
 */
void smc_llc_expect(struct smc_llc_wait *wait, struct smc_llc_link *ll,
		    u8 type, bool response, u32 key)
{
	wait->ll = ll;
	wait->type = type;
	wait->response = response;
	wait->key = key;
	wait->done = false;
	spin_lock_bh(&ll->ctl->lock);
	list_add_tail(&wait->node, &ll->ctl->waits);
	spin_unlock_bh(&ll->ctl->lock);
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_expect);

/**
 * smc_llc_forget() - end an expectation
 * @wait: armed or not, zeroed if it never was
 *
 * Context: any but hard interrupt.
 */
void smc_llc_forget(struct smc_llc_wait *wait)
{
	if (!wait->ll)
		return;
	spin_lock_bh(&wait->ll->ctl->lock);
	list_del_init(&wait->node);
	spin_unlock_bh(&wait->ll->ctl->lock);
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_forget);

/**
 * smc_llc_await() - wait for an expected message
 * @wait: armed expectation
 * @timeout: jiffies
 *
 * Context: process, sleeps, not interrupted by signals.
 *
 * Return: 0: @wait->msg is the message; -ETIMEDOUT; -ENOLINK: the group ends
 */
int smc_llc_await(struct smc_llc_wait *wait, unsigned long timeout)
{
	struct smc_llc_ctl *ctl = wait->ll->ctl;
	int rc = -ETIMEDOUT;

	wait_event_idle_timeout(ctl->wq, READ_ONCE(wait->done) ||
				READ_ONCE(ctl->dead), timeout);
	spin_lock_bh(&ctl->lock);
	if (wait->done)
		rc = 0;
	else if (ctl->dead)
		rc = -ENOLINK;
	spin_unlock_bh(&ctl->lock);
	if (rc == -ETIMEDOUT)
		SMC_INC(ctl->net, LLC_TIMEOUT);
	return rc;
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_await);

/* the key by which a message is told from an answer to an older request */
static u32 smc_llc_msg_key(const struct smc_llc *msg)
{
	switch (msg->type) {
	case SMC_LLC_CONFIRM_RKEY:
		return msg->rkey.rkey;
	case SMC_LLC_TEST_LINK:
		return get_unaligned_be32(msg->user_data);
	default:
		return 0;
	}
}

/* gives a message to whoever expects it; false if nobody does */
static bool smc_llc_match(struct smc_llc_link *ll, const struct smc_llc *msg)
{
	struct smc_llc_ctl *ctl = ll->ctl;
	u32 key = smc_llc_msg_key(msg);
	struct smc_llc_wait *wait;
	bool found = false;

	spin_lock_bh(&ctl->lock);
	list_for_each_entry(wait, &ctl->waits, node) {
		if (wait->done || wait->ll != ll || wait->type != msg->type ||
		    wait->response != msg->response)
			continue;
		if (wait->key && key && wait->key != key)
			continue;
		wait->msg = *msg;
		wait->msg.list = NULL;
		WRITE_ONCE(wait->done, true);
		found = true;
		break;
	}
	spin_unlock_bh(&ctl->lock);
	if (found)
		wake_up_all(&ctl->wq);
	return found;
}

static int smc_llc_enqueue(struct smc_llc_link *ll, const u8 *data, u32 len)
{
	struct smc_llc_ctl *ctl = ll->ctl;
	struct smc_llc_entry *e;

	spin_lock_bh(&ctl->lock);
	e = list_first_entry_or_null(&ctl->idle, struct smc_llc_entry, node);
	if (e && !ctl->dead) {
		e->ll = ll;
		e->len = min_t(u32, len, sizeof(e->data));
		memcpy(e->data, data, e->len);
		list_move_tail(&e->node, &ctl->queue);
	}
	spin_unlock_bh(&ctl->lock);
	if (!e)
		return -ENOBUFS;
	queue_work(smc_llc_wq, &ctl->work);
	return 0;
}

static struct smc_llc_entry *smc_llc_dequeue(struct smc_llc_ctl *ctl,
					     struct smc_llc_entry *done)
{
	struct smc_llc_entry *e;

	spin_lock_bh(&ctl->lock);
	if (done)
		list_add(&done->node, &ctl->idle);
	e = list_first_entry_or_null(&ctl->queue, struct smc_llc_entry, node);
	if (e)
		list_del_init(&e->node);
	spin_unlock_bh(&ctl->lock);
	return e;
}

static void smc_llc_worker(struct work_struct *work)
{
	struct smc_llc_ctl *ctl = container_of(work, struct smc_llc_ctl, work);
	struct smc_llc_entry *e = NULL;
	struct smc_llc msg;

	while ((e = smc_llc_dequeue(ctl, e))) {
		if (smc_llc_decode(e->data, e->len, &msg))
			continue;
		if (msg.type == SMC_LLC_TEST_LINK)
			smc_llc_reply(e->ll, e->data, 0, SMC_WR_GET_WAIT);
		else
			ctl->ops->request(e->ll, &msg, e->data);
	}
}

static int smc_llc_dispatch(struct smc_llc_link *ll, const struct smc_llc *msg,
			    const u8 *data, u32 len)
{
	switch (smc_llc_route[msg->type][msg->response]) {
	case LLC_ANSWER:
		if (!smc_llc_reply(ll, data, 0, 0))
			return 0;
		return smc_llc_enqueue(ll, data, len);
	case LLC_QUEUE:
		if (smc_llc_match(ll, msg))
			return 0;
		return smc_llc_enqueue(ll, data, len);
	case LLC_WAIT:
		return smc_llc_match(ll, msg) ? 0 : -ENOMSG;
	default:
		return -EOPNOTSUPP;
	}
}

/**
 * smc_llc_rx() - an LLC message came in
 * @ll: link it came on
 * @data: bytes received; not kept
 * @len: their number
 *
 * Malformed messages, those of the wrong version and those nobody expects are
 * counted, traced and have no other effect. Context: softirq, from the engine;
 * not after smc_wr_drain().
 */
void smc_llc_rx(struct smc_llc_link *ll, const u8 *data, u32 len)
{
	struct smc_llc_ctl *ctl = ll->ctl;
	struct smc_llc msg;
	int rc;

	rc = smc_llc_decode(data, len, &msg);
	if (!rc && msg.version != ctl->version)
		rc = -EPROTONOSUPPORT;
	if (rc) {
		SMC_INC(ctl->net, LLC_RX_BAD);
	} else {
		SMC_INC(ctl->net, LLC_RX);
		rc = smc_llc_dispatch(ll, &msg, data, len);
		if (rc)
			SMC_INC(ctl->net, LLC_RX_UNEXPECTED);
	}
	trace_smc_llc_rx(ctl->lgr_id, ll->id, len ? data[0] : 0,
			 len > 3 ? data[3] : 0, rc);
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_rx);

static void smc_llc_sent(struct smc_slot *slot, enum ib_wc_status status)
{
	complete(slot->owner);
}

static int smc_llc_post(struct smc_llc_link *ll, struct smc_slot *slot)
{
	u8 type = slot->msg[0], flags = slot->msg[3];
	int rc;

	rc = smc_wr_post(slot);
	if (!rc)
		SMC_INC(ll->ctl->net, LLC_TX);
	trace_smc_llc_tx(ll->ctl->lgr_id, ll->id, type, flags, rc);
	return rc;
}

/**
 * smc_llc_send() - send an LLC message
 * @ll: link to send on
 * @msg: message; its version is set here
 * @flags: SMC_WR_GET_WAIT in process context, SMC_WR_GET_LARGE for a message of
 *	more than 44 bytes
 * @sent: completed when the message has left or its queue pair is drained, if
 *	0 is returned; may be NULL. Has to live until then
 *
 * Context: any without SMC_WR_GET_WAIT.
 *
 * Return: 0; -EAGAIN or another errno of smc_wr_get() and smc_wr_post(),
 * -EINVAL or -EMSGSIZE for a message without wire form
 */
int smc_llc_send(struct smc_llc_link *ll, const struct smc_llc *msg,
		 unsigned int flags, struct completion *sent)
{
	struct smc_llc copy = *msg;
	struct smc_slot *slot;
	int len;

	copy.version = ll->ctl->version;
	slot = smc_wr_get(ll->wr, SMC_WR_GET_LLC | flags);
	if (IS_ERR(slot))
		return PTR_ERR(slot);
	len = smc_llc_encode(slot->msg, slot->room, &copy);
	if (len < 0) {
		smc_wr_put(slot);
		return len;
	}
	slot->msg_len = len;
	if (sent) {
		slot->done = smc_llc_sent;
		slot->owner = sent;
	}
	return smc_llc_post(ll, slot);
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_send);

/**
 * smc_llc_reply() - answer a request with its own bytes
 * @ll: link the request came on
 * @raw: 44 bytes of the request
 * @flags: SMC_LLC_F_* to set beside the response flag
 * @get_flags: SMC_WR_GET_WAIT in process context, or 0
 *
 * For TEST LINK, CONFIRM RKEY and DELETE RKEY. Context: any without
 * SMC_WR_GET_WAIT.
 *
 * Return: 0 or an errno of smc_wr_get() or smc_wr_post()
 */
int smc_llc_reply(struct smc_llc_link *ll, const u8 *raw, u8 flags,
		  unsigned int get_flags)
{
	struct smc_slot *slot;

	slot = smc_wr_get(ll->wr, SMC_WR_GET_LLC | get_flags);
	if (IS_ERR(slot))
		return PTR_ERR(slot);
	memcpy(slot->msg, raw, SMC_LLC_LEN);
	smc_llc_reply_echo(slot->msg, flags);
	slot->msg_len = SMC_LLC_LEN;
	return smc_llc_post(ll, slot);
}

/**
 * smc_llc_init() - LLC state of a new group
 * @ctl: zeroed memory
 * @ops: up-calls
 * @net: namespace that counts, outlives @ctl
 * @lgr_id: for traces
 * @version: 1 or 2
 *
 * Context: process.
 *
 * Return: 0 or -ENOMEM
 */
int smc_llc_init(struct smc_llc_ctl *ctl, const struct smc_llc_ops *ops,
		 struct net *net, u32 lgr_id, u8 version)
{
	unsigned int i;

	ctl->ops = ops;
	ctl->net = net;
	ctl->lgr_id = lgr_id;
	ctl->version = version;
	spin_lock_init(&ctl->lock);
	INIT_LIST_HEAD(&ctl->waits);
	INIT_LIST_HEAD(&ctl->queue);
	INIT_LIST_HEAD(&ctl->idle);
	init_waitqueue_head(&ctl->wq);
	INIT_WORK(&ctl->work, smc_llc_worker);
	sema_init(&ctl->local, 1);
	ctl->entries = kvzalloc_objs(*ctl->entries, SMC_LLC_ENTRIES);
	if (!ctl->entries)
		return -ENOMEM;
	for (i = 0; i < SMC_LLC_ENTRIES; i++)
		list_add(&ctl->entries[i].node, &ctl->idle);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_init);

/**
 * smc_llc_kill() - end all waits with -ENOLINK, now and in future
 * @ctl: state
 *
 * Context: any but hard interrupt.
 */
void smc_llc_kill(struct smc_llc_ctl *ctl)
{
	spin_lock_bh(&ctl->lock);
	ctl->dead = true;
	spin_unlock_bh(&ctl->lock);
	wake_up_all(&ctl->wq);
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_kill);

/**
 * smc_llc_stop() - wait for the worker, for good
 * @ctl: state; smc_llc_kill() was called and the engines are stopped
 *
 * Context: process, not from an up-call.
 */
void smc_llc_stop(struct smc_llc_ctl *ctl)
{
	disable_work_sync(&ctl->work);
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_stop);

/**
 * smc_llc_free() - undo smc_llc_init()
 * @ctl: stopped state
 */
void smc_llc_free(struct smc_llc_ctl *ctl)
{
	kvfree(ctl->entries);
}
EXPORT_SYMBOL_IF_KUNIT(smc_llc_free);

/**
 * smc_llc_later() - run delayed work on the queue of the LLC workers
 * @work: work
 * @delay: jiffies; replaces a delay that runs already
 *
 * Context: any.
 */
void smc_llc_later(struct delayed_work *work, unsigned long delay)
{
	mod_delayed_work(smc_llc_wq, work, delay);
}

/**
 * smc_llc_wq_init() - make the workqueue of the LLC workers
 *
 * Return: 0 or -ENOMEM
 */
int smc_llc_wq_init(void)
{
	smc_llc_wq = alloc_workqueue("smc_llc", WQ_MEM_RECLAIM | WQ_UNBOUND |
				     WQ_HIGHPRI, 0);
	return smc_llc_wq ? 0 : -ENOMEM;
}

/**
 * smc_llc_wq_exit() - undo smc_llc_wq_init(); no group exists any more
 */
void smc_llc_wq_exit(void)
{
	destroy_workqueue(smc_llc_wq);
}
