// SPDX-License-Identifier: GPL-2.0
/*
 * Work requests: slots, the pools they are free in, and who waits for one.
 *
 * A slot is free, or owned by its acquirer, or posted. Freeing one takes no
 * lock: the record and the message are cleared, the slot goes to the lock-less
 * list and the credit that admits the next taker is given after that. Takers
 * serialise on pool->lock.
 *
 * A waiter is handed its slot by whoever frees one; it does not race for it.
 * So service is in order of arrival, one freed slot wakes one waiter, and
 * neither a signal nor the end of the budget can lose a slot.
 */
#include <linux/errno.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <kunit/visibility.h>

#include "smc_trace.h"
#include "smc_wr_priv.h"

/* messages do not straddle words */
#define SMC_WR_MSG_STRIDE	ALIGN(SMC_WR_MSG_LEN, 8)

/* the last free slots that only LLC may take */
#define SMC_WR_RESERVED		1

struct smc_wr_waiter {
	struct list_head node;	/* pool->waiters, under pool->lock */
	struct completion woken;
	struct smc_slot *slot;	/* handed over, under pool->lock */
	unsigned int reserve;	/* free slots it must leave */
};

static struct smc_wr_pool *smc_wr_pool_of(struct smc_slot *slot)
{
	return &slot->wr->pool[slot->room > SMC_WR_MSG_LEN];
}

/**
 * smc_wr_release - clear a slot and make it available
 * @slot: not posted, or retired; no completion of it can come any more
 *
 * Record and message are zeroed in full, the pointers stay. The caller then
 * calls smc_wr_serve() where somebody may be waiting. Any context.
 */
void smc_wr_release(struct smc_slot *slot)
{
	struct smc_wr_pool *pool = smc_wr_pool_of(slot);

	memset_startat(slot, 0, cqe);
	memset(slot->msg, 0, slot->room);
	llist_add(&slot->free, &pool->free);
	/* pairs with smc_wr_take_locked(): first the slot, then its credit */
	atomic_inc_return_release(&pool->credits);
}
EXPORT_SYMBOL_IF_KUNIT(smc_wr_release);

static struct smc_slot *smc_wr_take_locked(struct smc_wr_pool *pool,
					   unsigned int reserve)
{
	lockdep_assert_held(&pool->lock);

	if (atomic_read_acquire(&pool->credits) <= (int)reserve)
		return NULL;
	atomic_dec(&pool->credits);
	return llist_entry(llist_del_first(&pool->free), struct smc_slot, free);
}

/* free slots go to the waiters, in order of arrival. One who must not touch
 * the reserve does not stand in the way of one who may.
 */
static void smc_wr_feed_locked(struct smc_wr_pool *pool)
{
	struct smc_wr_waiter *waiter, *tmp;

	lockdep_assert_held(&pool->lock);

	list_for_each_entry_safe(waiter, tmp, &pool->waiters, node) {
		waiter->slot = smc_wr_take_locked(pool, waiter->reserve);
		if (!waiter->slot)
			continue;
		list_del_init(&waiter->node);
		WRITE_ONCE(pool->nwaiters, pool->nwaiters - 1);
		complete(&waiter->woken);
	}
}

/**
 * smc_wr_feed - hand free slots to waiters
 * @wr: engine
 *
 * To be called after each smc_wr_release() and a full barrier. Process or
 * softirq.
 */
void smc_wr_feed(struct smc_wr *wr)
{
	struct smc_wr_pool *pool;

	for (pool = wr->pool; pool < wr->pool + SMC_WR_NPOOLS; pool++) {
		if (!READ_ONCE(pool->nwaiters))
			continue;
		spin_lock_bh(&pool->lock);
		smc_wr_feed_locked(pool);
		spin_unlock_bh(&pool->lock);
	}
}

static struct smc_slot *smc_wr_take_from(struct smc_wr_pool *pool,
					 unsigned int reserve)
{
	struct smc_slot *slot;

	spin_lock_bh(&pool->lock);
	smc_wr_feed_locked(pool);
	slot = smc_wr_take_locked(pool, reserve);
	spin_unlock_bh(&pool->lock);
	return slot;
}

/**
 * smc_wr_take - take a slot for data, after the waiters and not the reserve
 * @wr: engine
 *
 * Return: a slot, or NULL. Process or softirq.
 */
struct smc_slot *smc_wr_take(struct smc_wr *wr)
{
	struct smc_wr_pool *pool = &wr->pool[SMC_WR_POOL_NORMAL];

	if (!smc_wr_up(wr) || atomic_read(&pool->credits) <= SMC_WR_RESERVED)
		return NULL;
	return smc_wr_take_from(pool, SMC_WR_RESERVED);
}

/**
 * smc_wr_wake_waiters - end all waits for a slot
 * @wr: engine, not up any more: no slot will come
 *
 * Each waiter returns -EPIPE. Process or softirq.
 */
void smc_wr_wake_waiters(struct smc_wr *wr)
{
	struct smc_wr_waiter *waiter, *tmp;
	struct smc_wr_pool *pool;

	for (pool = wr->pool; pool < wr->pool + SMC_WR_NPOOLS; pool++) {
		spin_lock_bh(&pool->lock);
		list_for_each_entry_safe(waiter, tmp, &pool->waiters, node) {
			list_del_init(&waiter->node);
			complete(&waiter->woken);
		}
		WRITE_ONCE(pool->nwaiters, 0);
		spin_unlock_bh(&pool->lock);
	}
}

/* get in line; false if the engine went down, which is checked under the lock
 * that smc_wr_wake_waiters() takes after the state changed
 */
static bool smc_wr_line_up(struct smc_wr *wr, struct smc_wr_pool *pool,
			   struct smc_wr_waiter *waiter)
{
	bool up;

	spin_lock_bh(&pool->lock);
	up = smc_wr_up(wr);
	if (up) {
		wr->n_waits++;
		list_add_tail(&waiter->node, &pool->waiters);
		WRITE_ONCE(pool->nwaiters, pool->nwaiters + 1);
		smp_mb(); /* pairs with smc_wr_serve(): waiter or credit is seen */
		smc_wr_feed_locked(pool);
	}
	spin_unlock_bh(&pool->lock);
	return up;
}

static struct smc_slot *smc_wr_wait(struct smc_wr *wr, struct smc_wr_pool *pool,
				    unsigned int reserve)
{
	struct smc_wr_waiter waiter = { .reserve = reserve };
	long left;

	init_completion(&waiter.woken);
	if (!smc_wr_line_up(wr, pool, &waiter))
		return ERR_PTR(-EPIPE);

	smc_wr_count(wr, SMC_CNT_WR_SLOT_WAITS);
	left = wait_for_completion_interruptible_timeout(&waiter.woken,
							 wr->wait_budget);
	/* a slot that came meanwhile counts before timeout and signal */
	spin_lock_bh(&pool->lock);
	smc_wr_feed_locked(pool);
	if (!list_empty(&waiter.node)) {
		list_del(&waiter.node);
		WRITE_ONCE(pool->nwaiters, pool->nwaiters - 1);
	}
	spin_unlock_bh(&pool->lock);

	if (waiter.slot)
		return waiter.slot;
	if (!smc_wr_up(wr))
		return ERR_PTR(-EPIPE);
	if (left < 0)
		return ERR_PTR(left);
	smc_wr_count(wr, SMC_CNT_WR_SLOT_TIMEOUTS);
	smc_wr_fail(wr, -ETIMEDOUT, 0);
	return ERR_PTR(-EPIPE);
}

/**
 * smc_wr_get - acquire a slot for a control message
 * @wr: engine
 * @flags: SMC_WR_GET_*
 *
 * With SMC_WR_GET_WAIT (process context, no lock held) waits in order of
 * arrival, interruptible, SMC_WR_WAIT_MS at most; without it any context but
 * hardirq. The slot belongs to the caller, record and message zeroed, until
 * smc_wr_post() or smc_wr_put(); teardown waits for that.
 *
 * Return: the slot, or ERR_PTR:
 * -EPIPE (waiting) the engine is not up, went down, or the budget is used up,
 * which breaks the link; -ERESTARTSYS (waiting) signal, the link stays up;
 * -ENOLINK (not waiting) the engine is not up; -EBUSY (not waiting) no free
 * slot; -EOPNOTSUPP no large slot on this engine.
 */
struct smc_slot *smc_wr_get(struct smc_wr *wr, unsigned int flags)
{
	bool large = flags & SMC_WR_GET_LARGE;
	struct smc_wr_pool *pool = &wr->pool[large];
	bool wait = flags & SMC_WR_GET_WAIT;
	unsigned int reserve = 0;
	struct smc_slot *slot;

	if (wait)
		might_sleep();
	if (large && !wr->large)
		return ERR_PTR(-EOPNOTSUPP);
	if (!smc_wr_user_get(wr))
		return ERR_PTR(wait ? -EPIPE : -ENOLINK);

	if (!large && !(flags & SMC_WR_GET_LLC))
		reserve = SMC_WR_RESERVED;
	slot = smc_wr_take_from(pool, reserve);
	if (!slot && !wait)
		slot = ERR_PTR(-EBUSY);
	if (!slot) {
		slot = smc_wr_wait(wr, pool, reserve);
		trace_smc_wr_wait(wr, PTR_ERR_OR_ZERO(slot));
	}
	if (IS_ERR(slot))
		smc_wr_user_put(wr);
	else
		slot->signal = flags & (SMC_WR_GET_LLC | SMC_WR_GET_LARGE);
	return slot;
}
EXPORT_SYMBOL_IF_KUNIT(smc_wr_get);

/**
 * smc_wr_put - give an acquired slot back unused
 * @slot: from smc_wr_get(), not posted; not the caller's any more
 *
 * Process or softirq, client->lock not held: a waiter or a ready client may
 * be served in the caller's context.
 */
void smc_wr_put(struct smc_slot *slot)
{
	struct smc_wr *wr = slot->wr;

	smc_wr_release(slot);
	smc_wr_serve(wr);
	smc_wr_user_put(wr);
}
EXPORT_SYMBOL_IF_KUNIT(smc_wr_put);

/**
 * smc_wr_unpark - bring the slots home that were retired after a failure
 * @wr: drained engine: no completion can refer to a slot any more
 */
void smc_wr_unpark(struct smc_wr *wr)
{
	struct llist_node *list = llist_del_all(&wr->parked);
	struct smc_slot *slot, *tmp;

	llist_for_each_entry_safe(slot, tmp, list, free)
		smc_wr_release(slot);
}

static int smc_wr_msgs_init(struct smc_wr *wr, unsigned int n)
{
	wr->msg_mem_len = n * SMC_WR_MSG_STRIDE;
	/* linear memory: what local_dma_lkey reaches on every device */
	wr->msg_mem = kzalloc(wr->msg_mem_len, GFP_KERNEL | __GFP_NOWARN);
	if (!wr->msg_mem)
		return -ENOMEM;
	wr->msg_dma = ib_dma_map_single(wr->ibdev, wr->msg_mem, wr->msg_mem_len,
					DMA_TO_DEVICE);
	if (ib_dma_mapping_error(wr->ibdev, wr->msg_dma)) {
		kfree(wr->msg_mem);
		wr->msg_mem = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int smc_wr_large_init(struct smc_wr *wr)
{
	wr->large_mem = kzalloc(SMC_WR_LARGE_LEN, GFP_KERNEL);
	if (!wr->large_mem)
		return -ENOMEM;
	wr->large_dma = ib_dma_map_single(wr->ibdev, wr->large_mem,
					  SMC_WR_LARGE_LEN, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(wr->ibdev, wr->large_dma)) {
		kfree(wr->large_mem);
		wr->large_mem = NULL;
		return -ENOMEM;
	}
	return 0;
}

static void smc_wr_slot_init(struct smc_wr *wr, unsigned int i)
{
	struct smc_slot *slot = &wr->slots[i];
	size_t off = i * SMC_WR_MSG_STRIDE;

	slot->wr = wr;
	if (i <= wr->nslots) {
		slot->room = SMC_WR_MSG_LEN;
		slot->msg = wr->msg_mem + off;
		slot->msg_dma = wr->msg_dma + off;
	} else {
		slot->room = SMC_WR_LARGE_LEN;
		slot->msg = wr->large_mem;
		slot->msg_dma = wr->large_dma;
	}
	smc_wr_release(slot);
}

/**
 * smc_wr_slots_init - allocate and map the send slots
 * @wr: engine after smc_wr_init()
 * @nslots: data slots; one more is allocated for the reserve
 * @large: and a large one
 *
 * Return: 0 or -ENOMEM, then smc_wr_slots_free() is not needed.
 */
int smc_wr_slots_init(struct smc_wr *wr, unsigned int nslots, bool large)
{
	unsigned int total = nslots + SMC_WR_RESERVED + large;
	unsigned int ring = roundup_pow_of_two(total);
	unsigned int i;
	int err;

	wr->nslots = nslots;
	wr->large = large;
	wr->signal_every = max(nslots / 4, 1U);
	wr->posted_mask = ring - 1;
	wr->slots = kvzalloc_objs(*wr->slots, total);
	wr->posted = kvzalloc_objs(*wr->posted, ring);
	err = wr->slots && wr->posted ? 0 : -ENOMEM;
	if (!err)
		err = smc_wr_msgs_init(wr, nslots + SMC_WR_RESERVED);
	if (!err && large)
		err = smc_wr_large_init(wr);
	if (err) {
		smc_wr_slots_free(wr);
		return err;
	}
	for (i = 0; i < total; i++)
		smc_wr_slot_init(wr, i);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(smc_wr_slots_init);

/**
 * smc_wr_slots_free - unmap and free the send slots
 * @wr: engine; no slot may be in use; harmless if there are none
 */
void smc_wr_slots_free(struct smc_wr *wr)
{
	unsigned int i;

	if (wr->large_mem)
		ib_dma_unmap_single(wr->ibdev, wr->large_dma, SMC_WR_LARGE_LEN,
				    DMA_TO_DEVICE);
	if (wr->msg_mem)
		ib_dma_unmap_single(wr->ibdev, wr->msg_dma, wr->msg_mem_len,
				    DMA_TO_DEVICE);
	for (i = 0; i < SMC_WR_NPOOLS; i++) {
		init_llist_head(&wr->pool[i].free);
		atomic_set(&wr->pool[i].credits, 0);
	}
	kfree(wr->large_mem);
	kfree(wr->msg_mem);
	kvfree(wr->posted);
	kvfree(wr->slots);
	wr->large_mem = NULL;
	wr->msg_mem = NULL;
	wr->posted = NULL;
	wr->slots = NULL;
}
EXPORT_SYMBOL_IF_KUNIT(smc_wr_slots_free);
