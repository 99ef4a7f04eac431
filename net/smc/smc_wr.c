// SPDX-License-Identifier: GPL-2.0
/*
 * Work requests: posting, completion, failure.
 *
 * Posted slots are in a ring in post order: wr->post_lock serialises the
 * producers; the consumer is the completion side, serial because the queue
 * pair has one completion queue. Completions come in order, so most SENDs are
 * unsignalled and a completion of a later slot retires them. If the queue goes
 * idle with unsignalled slots in it, a timer posts an empty signalled RDMA
 * WRITE (the marker) behind them.
 *
 * In the error case every posted request may report, so more than one
 * completion of a slot may come: its WRITE failed and its SEND was flushed.
 * The ring position tells whether the slot was retired already, and from the
 * first failure on retired slots are parked until the queue is drained, so
 * that a late completion never meets a slot in new use.
 */
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <kunit/visibility.h>

#include "smc_trace.h"
#include "smc_wr_priv.h"

/* unsignalled slots older than this are flushed out by the timer */
#define SMC_WR_IDLE_MS		6

/**
 * smc_wr_user_get - enter the engine as somebody who may post
 * @wr: engine
 *
 * Return: false if the engine is not up. Teardown waits for each
 * smc_wr_user_put(). Process or softirq.
 */
bool smc_wr_user_get(struct smc_wr *wr)
{
	if (!percpu_ref_tryget_live(&wr->users))
		return false;
	if (smc_wr_up(wr))
		return true;
	percpu_ref_put(&wr->users);
	return false;
}

/**
 * smc_wr_fail - the queue pair is of no use any more
 * @wr: engine
 * @status: enum ib_wc_status, or negative errno
 * @vendor_err: of an error completion, else 0
 *
 * The first caller wakes all waiters and tells the link. Process or softirq;
 * no lock held, ops->broken() may take its own.
 */
void smc_wr_fail(struct smc_wr *wr, int status, u32 vendor_err)
{
	set_bit(SMC_WR_S_BROKEN, &wr->state);
	if (test_and_set_bit(SMC_WR_S_TOLD, &wr->state))
		return;
	smc_wr_wake_waiters(wr);
	wake_up_all(&wr->reg_wq);
	/* a stopped queue is drained: being flushed is no failure */
	if (test_bit(SMC_WR_S_STOPPED, &wr->state))
		return;
	smc_wr_count(wr, SMC_CNT_WR_ERRORS);
	trace_smc_wr_error(wr, status, vendor_err, wr->qp->qp_num);
	wr->ops->broken(wr, status);
}
EXPORT_SYMBOL_IF_KUNIT(smc_wr_fail);

static void smc_wr_error_cqe(struct smc_wr *wr, const struct ib_wc *wc)
{
	/* A chain queued in part can complete while its poster still is in
	 * ib_post_send(): let it settle what the slot's fate is.
	 */
	spin_lock_bh(&wr->post_lock);
	set_bit(SMC_WR_S_BROKEN, &wr->state);
	spin_unlock_bh(&wr->post_lock);
	smc_wr_fail(wr, wc->status, wc->vendor_err);
}

static void smc_wr_retire_one(struct smc_wr *wr, struct smc_slot *slot,
			      enum ib_wc_status status)
{
	struct smc_wr_client *client = slot->client;

	if (slot->done)
		slot->done(slot, status);
	if (client)
		smc_wr_client_retired(client);
	if (test_bit(SMC_WR_S_BROKEN, &wr->state))
		llist_add(&slot->free, &wr->parked);
	else
		smc_wr_release(slot);
}

/**
 * smc_wr_retire - end the oldest posted slots
 * @wr: engine
 * @end: ring position behind the last one to retire
 * @status: for their done()
 *
 * Completion side, or drained. The caller serves who waits for slots.
 */
void smc_wr_retire(struct smc_wr *wr, unsigned int end,
		   enum ib_wc_status status)
{
	while ((int)(end - wr->posted_tail) > 0) {
		struct smc_slot *slot;

		slot = wr->posted[wr->posted_tail++ & wr->posted_mask];
		smc_wr_retire_one(wr, slot, status);
	}
}

/* slots came back: serve, unless teardown has begun to wait for posters */
static void smc_wr_serve_unless_dying(struct smc_wr *wr)
{
	if (!smc_wr_user_get(wr))
		return;
	smc_wr_serve(wr);
	smc_wr_user_put(wr);
}

static void smc_wr_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct smc_slot *slot = container_of(wc->wr_cqe, struct smc_slot, cqe);
	struct smc_wr *wr = slot->wr;

	smc_wr_count_cqe(wr);
	if (wc->status != IB_WC_SUCCESS)
		smc_wr_error_cqe(wr, wc);
	/* all before it completed well, or they had reported themselves */
	smc_wr_retire(wr, slot->pos, IB_WC_SUCCESS);
	/* nothing if it was retired by a completion before this one */
	smc_wr_retire(wr, slot->pos + 1, wc->status);
	smc_wr_serve_unless_dying(wr);
}

/* no address is looked at for an empty WRITE, neither here nor at the peer */
static int smc_wr_marker_locked(struct smc_wr *wr)
{
	int err;

	lockdep_assert_held(&wr->post_lock);

	if (!wr->unsignalled || test_bit(SMC_WR_S_BROKEN, &wr->state))
		return 0;
	if (wr->flush_busy) {
		wr->flush_again = true;
		return 0;
	}
	wr->flush_busy = true;
	wr->flush_pos = wr->posted_head;
	err = ib_post_send(wr->qp, &wr->flush_wr.wr, NULL);
	if (err) {
		set_bit(SMC_WR_S_BROKEN, &wr->state);
		return err;
	}
	wr->unsignalled = 0;
	wr->n_posts++;
	smc_wr_count(wr, SMC_CNT_WR_POSTS);
	return 0;
}

static void smc_wr_flush_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct smc_wr *wr = container_of(wc->wr_cqe, struct smc_wr, flush_cqe);
	int err = 0;

	smc_wr_count_cqe(wr);
	if (wc->status != IB_WC_SUCCESS) {
		smc_wr_error_cqe(wr, wc);
		return;
	}
	smc_wr_retire(wr, wr->flush_pos, IB_WC_SUCCESS);
	if (!smc_wr_user_get(wr))
		return;
	spin_lock_bh(&wr->post_lock);
	wr->flush_busy = false;
	if (wr->flush_again)
		err = smc_wr_marker_locked(wr);
	wr->flush_again = false;
	spin_unlock_bh(&wr->post_lock);
	if (err)
		smc_wr_fail(wr, err, 0);
	smc_wr_serve(wr);
	smc_wr_user_put(wr);
}

/**
 * smc_wr_flush - have all posted messages completed soon
 * @wr: engine
 *
 * Posts a marker behind messages that asked for no completion. Does not wait.
 * Process or softirq.
 */
void smc_wr_flush(struct smc_wr *wr)
{
	int err;

	if (!smc_wr_user_get(wr))
		return;
	spin_lock_bh(&wr->post_lock);
	err = smc_wr_marker_locked(wr);
	spin_unlock_bh(&wr->post_lock);
	if (err)
		smc_wr_fail(wr, err, 0);
	smc_wr_user_put(wr);
}
EXPORT_SYMBOL_IF_KUNIT(smc_wr_flush);

/* armed by the first unsignalled post; moves on as long as others follow. Also
 * brings QP events, which may come in hardirq, into softirq.
 */
static void smc_wr_flush_timer(struct timer_list *t)
{
	struct smc_wr *wr = timer_container_of(wr, t, flush_timer);
	unsigned long due;

	if (test_bit(SMC_WR_S_QP_EVENT, &wr->state)) {
		smc_wr_fail(wr, -EIO, 0);
		return;
	}
	due = READ_ONCE(wr->last_post) + wr->idle_delay;
	if (time_before(jiffies, due))
		mod_timer(&wr->flush_timer, due);
	else
		smc_wr_flush(wr);
}

/* Every quarter of the queue; with slots scarce, or clients waiting for one,
 * twice as often: each completion costs, so not every time. A queue whose slots
 * are all posted thus always has a completion to come.
 */
static bool smc_wr_want_signal(struct smc_wr *wr, const struct smc_slot *slot)
{
	struct smc_wr_pool *pool = &wr->pool[SMC_WR_POOL_NORMAL];
	unsigned int every = wr->signal_every;

	lockdep_assert_held(&wr->post_lock);

	if (slot->signal || READ_ONCE(pool->nwaiters))
		return true;
	if (atomic_read(&pool->credits) <= (int)every || !list_empty(&wr->fifo))
		every /= 2;
	return wr->unsignalled + 1 >= every;
}

/* WRITEs before the SEND, one chain; returns its head */
static struct ib_send_wr *smc_wr_chain(struct smc_slot *slot, bool inlined)
{
	struct ib_send_wr *first = &slot->send;
	int i;

	slot->send_sge.length = slot->msg_len;
	slot->send_sge.lkey = slot->wr->pd->local_dma_lkey;
	slot->send_sge.addr = inlined ? (uintptr_t)slot->msg : slot->msg_dma;
	slot->send.wr_cqe = &slot->cqe;
	slot->send.sg_list = &slot->send_sge;
	slot->send.num_sge = 1;
	slot->send.opcode = IB_WR_SEND;
	slot->send.send_flags = IB_SEND_SOLICITED;
	if (inlined)
		slot->send.send_flags |= IB_SEND_INLINE;

	for (i = slot->nwrite - 1; i >= 0; i--) {
		struct ib_send_wr *write = &slot->write[i].wr;

		write->wr_cqe = &slot->cqe;
		write->sg_list = slot->write_sge[i];
		write->opcode = IB_WR_RDMA_WRITE;
		write->send_flags = slot->write_inline ? IB_SEND_INLINE : 0;
		write->next = first;
		first = write;
	}
	return first;
}

/* post failed. Nothing queued: the slot is the caller's again. A part queued:
 * that part will complete, so the slot stays in the ring, without an owner.
 */
static void smc_wr_unpost_locked(struct smc_slot *slot, bool nothing_queued)
{
	struct smc_wr *wr = slot->wr;

	lockdep_assert_held(&wr->post_lock);

	set_bit(SMC_WR_S_BROKEN, &wr->state);
	slot->done = NULL;
	slot->client = NULL;
	if (nothing_queued) {
		slot->in_ring = false;
		wr->posted_head--;
	}
}

static int smc_wr_post_locked(struct smc_slot *slot, struct ib_send_wr *first)
{
	const struct ib_send_wr *bad = NULL;
	struct smc_wr *wr = slot->wr;
	bool signal;
	int err;

	lockdep_assert_held(&wr->post_lock);

	if (test_bit(SMC_WR_S_BROKEN, &wr->state))
		return -EPIPE;
	signal = smc_wr_want_signal(wr, slot);
	if (signal)
		slot->send.send_flags |= IB_SEND_SIGNALED;
	slot->in_ring = true;
	slot->pos = wr->posted_head++;
	wr->posted[slot->pos & wr->posted_mask] = slot;

	/* from here on the slot can be retired and taken by somebody else */
	err = ib_post_send(wr->qp, first, &bad);
	if (err) {
		smc_wr_unpost_locked(slot, bad == first);
		return err;
	}
	wr->n_posts++;
	wr->n_msgs++;
	if (signal) {
		wr->unsignalled = 0;
		return 0;
	}
	wr->unsignalled++;
	WRITE_ONCE(wr->last_post, jiffies);
	if (!timer_pending(&wr->flush_timer))
		mod_timer(&wr->flush_timer, jiffies + wr->idle_delay);
	return 0;
}

/**
 * smc_wr_send - post the message of a slot
 * @slot: filled
 *
 * The caller entered with smc_wr_user_get() and still does so on return. It
 * calls smc_wr_fail() with the error once its locks are dropped.
 *
 * Return: 0, the slot is gone; -EPIPE broken before, or the error of
 * ib_post_send(): the slot can still be read, and is to be released by the
 * caller unless slot->in_ring.
 */
int smc_wr_send(struct smc_slot *slot)
{
	struct smc_wr *wr = slot->wr;
	struct ib_send_wr *first;
	bool inlined;
	int err;

	if (WARN_ON_ONCE(!slot->msg_len || slot->msg_len > slot->room ||
			 slot->nwrite > ARRAY_SIZE(slot->write)))
		return -EINVAL;

	inlined = wr->inline_max && slot->room == SMC_WR_MSG_LEN;
	if (!inlined)
		ib_dma_sync_single_for_device(wr->ibdev, slot->msg_dma,
					      slot->msg_len, DMA_TO_DEVICE);
	slot->cqe.done = smc_wr_send_done;
	first = smc_wr_chain(slot, inlined);

	spin_lock_bh(&wr->post_lock);
	err = smc_wr_post_locked(slot, first);
	spin_unlock_bh(&wr->post_lock);
	if (!err)
		smc_wr_count(wr, SMC_CNT_WR_POSTS);
	return err;
}

/**
 * smc_wr_post - post a control message
 * @slot: from smc_wr_get(), filled: msg, msg_len and, if wanted, done, owner,
 *	priv, signal, WRITEs
 *
 * Takes the slot in any case. Process or softirq, client->lock not held.
 *
 * Return: 0: slot->done() is called exactly once, by the end of
 * smc_wr_drain() at the latest, possibly before this returns. -EPIPE: the
 * engine is broken; others: ib_post_send() failed and the link is broken now;
 * slot->done() is not called.
 */
int smc_wr_post(struct smc_slot *slot)
{
	struct smc_wr *wr = slot->wr;
	int err;

	err = smc_wr_send(slot);
	if (err) {
		if (!slot->in_ring)
			smc_wr_release(slot);
		smc_wr_fail(wr, err, 0);
	}
	smc_wr_user_put(wr);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(smc_wr_post);

static void smc_wr_users_gone(struct percpu_ref *ref)
{
	struct smc_wr *wr = container_of(ref, struct smc_wr, users);

	complete_all(&wr->users_gone);
}

/**
 * smc_wr_init - set up an engine that has no queue pair yet
 * @wr: engine, any content
 * @ops: the link above
 * @net: namespace that counts, or NULL
 * @ibdev: RDMA device
 *
 * Return: 0, or -ENOMEM. Undone by percpu_ref_exit(&wr->users).
 */
int smc_wr_init(struct smc_wr *wr, const struct smc_wr_ops *ops,
		struct net *net, struct ib_device *ibdev)
{
	static atomic64_t ids = ATOMIC64_INIT(0);
	int i;

	memset(wr, 0, sizeof(*wr));
	wr->ops = ops;
	wr->net = net;
	wr->ibdev = ibdev;
	wr->id = atomic64_inc_return(&ids);
	wr->wait_budget = msecs_to_jiffies(SMC_WR_WAIT_MS);
	wr->idle_delay = msecs_to_jiffies(SMC_WR_IDLE_MS);
	for (i = 0; i < SMC_WR_NPOOLS; i++) {
		init_llist_head(&wr->pool[i].free);
		spin_lock_init(&wr->pool[i].lock);
		INIT_LIST_HEAD(&wr->pool[i].waiters);
	}
	init_llist_head(&wr->parked);
	spin_lock_init(&wr->post_lock);
	spin_lock_init(&wr->fifo_lock);
	INIT_LIST_HEAD(&wr->fifo);
	init_waitqueue_head(&wr->reg_wq);
	init_completion(&wr->users_gone);
	timer_setup(&wr->flush_timer, smc_wr_flush_timer, 0);
	wr->flush_cqe.done = smc_wr_flush_done;
	wr->flush_wr.wr.wr_cqe = &wr->flush_cqe;
	wr->flush_wr.wr.opcode = IB_WR_RDMA_WRITE;
	wr->flush_wr.wr.send_flags = IB_SEND_SIGNALED;
	return percpu_ref_init(&wr->users, smc_wr_users_gone, 0, GFP_KERNEL);
}
EXPORT_SYMBOL_IF_KUNIT(smc_wr_init);
