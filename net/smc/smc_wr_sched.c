// SPDX-License-Identifier: GPL-2.0
/*
 * Work requests: the scheduler of data senders.
 *
 * No sender of data waits for a slot. With a free slot a ready client fills
 * and posts in the context of the kick. Without one it is queued once and the
 * completions that free slots serve the queue, one message per turn: scarcity
 * makes messages larger instead of waking writers.
 *
 * No wake-up is lost: who queues first queues, then looks for credits; who
 * frees a slot first gives the credit, then looks at the queue; a full barrier
 * is between the two on both sides.
 */
#include <linux/wait_bit.h>
#include <kunit/visibility.h>

#include "smc_wr_priv.h"

/**
 * smc_wr_client_init - set up a data sender
 * @client: embedded in the sender
 * @ops: callbacks, all mandatory
 * @lock: serialises fill and post, BH; lives as long as @client
 */
void smc_wr_client_init(struct smc_wr_client *client,
			const struct smc_wr_client_ops *ops, spinlock_t *lock)
{
	client->ops = ops;
	client->lock = lock;
	client->queued = NULL;
	client->barred = 0;
	INIT_LIST_HEAD(&client->node);
	atomic_set(&client->inflight, 0);
}
EXPORT_SYMBOL_IF_KUNIT(smc_wr_client_init);

/**
 * smc_wr_client_retired - a message of a client is not in flight any more
 * @client: may be gone afterwards
 *
 * Process or softirq; after the message's done().
 */
void smc_wr_client_retired(struct smc_wr_client *client)
{
	if (!atomic_dec_and_test(&client->inflight))
		return;
	wake_up_var(&client->inflight);
	client->ops->put(client);
}

static bool smc_wr_fifo_add(struct smc_wr *wr, struct smc_wr_client *client)
{
	bool add;

	spin_lock_bh(&wr->fifo_lock);
	add = !client->queued && client->barred != wr->id && smc_wr_up(wr);
	if (add) {
		client->ops->get(client);
		client->queued = wr;
		list_add_tail(&client->node, &wr->fifo);
	}
	spin_unlock_bh(&wr->fifo_lock);
	return add;
}

static bool smc_wr_fifo_del(struct smc_wr *wr, struct smc_wr_client *client)
{
	lockdep_assert_held(&wr->fifo_lock);

	if (client->queued != wr)
		return false;
	list_del_init(&client->node);
	client->queued = NULL;
	return true;
}

/* the reference of the queue goes to the caller */
static struct smc_wr_client *smc_wr_fifo_pop(struct smc_wr *wr)
{
	struct smc_wr_client *client;

	spin_lock_bh(&wr->fifo_lock);
	client = list_first_entry_or_null(&wr->fifo, struct smc_wr_client, node);
	if (client)
		smc_wr_fifo_del(wr, client);
	spin_unlock_bh(&wr->fifo_lock);
	return client;
}

/**
 * smc_wr_fifo_drop - forget all ready clients of a stopped engine
 * @wr: engine, SMC_WR_S_STOPPED set: nobody queues any more
 */
void smc_wr_fifo_drop(struct smc_wr *wr)
{
	struct smc_wr_client *client;

	while ((client = smc_wr_fifo_pop(wr)))
		client->ops->put(client);
}

static int smc_wr_client_send(struct smc_wr_client *client,
			      struct smc_slot *slot)
{
	int err;

	lockdep_assert_held(client->lock);

	slot->client = client;
	if (atomic_inc_return(&client->inflight) == 1)
		client->ops->get(client);
	err = smc_wr_send(slot);
	if (err) {
		client->ops->failed(client, slot);
		if (!slot->in_ring)
			smc_wr_release(slot);
		smc_wr_client_retired(client);
	}
	return err;
}

/* one message of @client, or none if it has nothing to send; takes the slot.
 * The caller holds a reference on @client.
 */
static void smc_wr_turn(struct smc_wr *wr, struct smc_wr_client *client,
			struct smc_slot *slot)
{
	int err = 0;
	int rc = 0;

	spin_lock_bh(client->lock);
	if (client->barred != wr->id)
		rc = client->ops->fill(client, slot);
	if (rc & SMC_WR_FILLED)
		err = smc_wr_client_send(client, slot);
	else
		smc_wr_release(slot);
	spin_unlock_bh(client->lock);

	if (err)
		smc_wr_fail(wr, err, 0);
	else if (rc & SMC_WR_MORE)
		smc_wr_fifo_add(wr, client);
}

/**
 * smc_wr_serve - give free slots to who wants one
 * @wr: engine, entered with smc_wr_user_get() or holding a slot
 *
 * First to the waiters, then to the ready clients, who fill and post here, in
 * the caller's context. Process or softirq, no client->lock held.
 */
void smc_wr_serve(struct smc_wr *wr)
{
	struct smc_wr_client *client;
	struct smc_slot *slot;

	for (;;) {
		smp_mb(); /* credits given or client queued, then look */
		smc_wr_feed(wr);
		if (list_empty(&wr->fifo))
			return;
		slot = smc_wr_take(wr);
		if (!slot)
			return;
		client = smc_wr_fifo_pop(wr);
		if (client) {
			smc_wr_turn(wr, client, slot);
			client->ops->put(client);
		} else {
			smc_wr_release(slot);
		}
	}
}

/**
 * smc_wr_kick - a client has something to send
 * @wr: engine of the client's link
 * @client: caller holds a reference, but not client->lock
 *
 * Calls fill() at once if a slot is free and nobody is before the client, else
 * queues it; fill() is then called from a completion. Nothing happens if the
 * engine is not up: whoever moves the client to another link kicks it there. A
 * client must be stopped on one engine before it is kicked on another.
 * Process or softirq; serves other clients too.
 */
void smc_wr_kick(struct smc_wr *wr, struct smc_wr_client *client)
{
	struct smc_slot *slot = NULL;

	if (!smc_wr_user_get(wr))
		return;
	if (list_empty(&wr->fifo))
		slot = smc_wr_take(wr);
	if (slot)
		smc_wr_turn(wr, client, slot);
	else if (smc_wr_fifo_add(wr, client))
		smc_wr_count(wr, SMC_CNT_WR_FIFO_QUEUED);
	smc_wr_serve(wr);
	smc_wr_user_put(wr);
}
EXPORT_SYMBOL_IF_KUNIT(smc_wr_kick);

/**
 * smc_wr_client_stop - an engine must not serve a client any more
 * @wr: engine
 * @client: caller holds a reference, but not client->lock
 *
 * On return no fill() for this engine runs or will run, late kicks included,
 * and the client is not in its FIFO. Messages posted before stay in flight.
 * Lasts until the client is stopped on another engine (it moved on).
 * Process or softirq.
 */
void smc_wr_client_stop(struct smc_wr *wr, struct smc_wr_client *client)
{
	bool queued;

	spin_lock_bh(client->lock);
	spin_lock(&wr->fifo_lock);
	client->barred = wr->id;
	queued = smc_wr_fifo_del(wr, client);
	spin_unlock(&wr->fifo_lock);
	spin_unlock_bh(client->lock);
	if (queued)
		client->ops->put(client);
}
EXPORT_SYMBOL_IF_KUNIT(smc_wr_client_stop);

/**
 * smc_wr_client_idle - wait until no message of a client is in flight
 * @wr: engine of the client's link
 * @client: caller holds a reference, but not client->lock
 * @timeout: jiffies
 *
 * Process context, sleeps. Messages on a link the client has left count too.
 *
 * Return: true if none is in flight.
 */
bool smc_wr_client_idle(struct smc_wr *wr, struct smc_wr_client *client,
			unsigned long timeout)
{
	smc_wr_flush(wr);
	return wait_var_event_timeout(&client->inflight,
				      !atomic_read_acquire(&client->inflight),
				      timeout);
}
EXPORT_SYMBOL_IF_KUNIT(smc_wr_client_idle);
