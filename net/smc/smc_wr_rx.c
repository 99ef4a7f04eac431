// SPDX-License-Identifier: GPL-2.0
/*
 * Work requests: the receive ring.
 *
 * Every receive has a buffer of its own that takes the largest message the
 * link may get: 44 bytes in v1 (48 are provided), SMC_WR_LARGE_LEN in v2.
 * Nothing is shared, so no two messages can meet in one buffer; in v2 the ring
 * is held to SMC_WR_RX_LARGE_MAX receives, because a queue pair loses nothing
 * when it runs dry. Buffers are linear memory, one mapping each, and therefore
 * share no cache line with anything.
 *
 * A receive is posted, or completed and collected for the next repost; it
 * leaves that cycle by an error only, which ends the link.
 */
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <kunit/visibility.h>

#include "smc_wr_priv.h"

#define SMC_WR_RX_SMALL		48
#define SMC_WR_RX_LARGE_MAX	512	/* 4 MiB per link */
#define SMC_WR_RX_CHAIN		8	/* receives reposted at once */

static void smc_wr_rx_collect(struct smc_wr *wr, struct smc_wr_rx *rx)
{
	rx->wr.next = NULL;
	*wr->rx_ptail = &rx->wr;
	wr->rx_ptail = &rx->wr.next;
	wr->rx_npending++;
}

/* posts what was collected; what is refused stays collected, in order */
static int smc_wr_rx_repost(struct smc_wr *wr)
{
	struct ib_recv_wr *first = wr->rx_pending;
	const struct ib_recv_wr *bad = NULL;
	unsigned int n = 0;
	int err;

	err = ib_post_recv(wr->qp, first, &bad);
	if (!err) {
		bad = NULL;
	} else if (!bad) {
		/* the driver did not say how far it came */
		bad = first;
	}
	while (first != bad) {
		first = first->next;
		n++;
	}
	wr->rx_posted += n;
	wr->rx_npending -= n;
	wr->rx_pending = first;
	if (!first)
		wr->rx_ptail = &wr->rx_pending;
	return err;
}

/* in chains, but never with less than half of the ring posted. A repost that
 * fails is tried again at the next completion, as long as enough of those can
 * come.
 */
static void smc_wr_rx_refill(struct smc_wr *wr)
{
	int err;

	if (wr->rx_npending < SMC_WR_RX_CHAIN && wr->rx_posted > wr->nrx / 2)
		return;
	/* teardown waits for users: nothing is posted behind its marker */
	if (!percpu_ref_tryget_live(&wr->users))
		return;
	err = smc_wr_rx_repost(wr);
	smc_wr_user_put(wr);
	if (!err)
		return;
	smc_wr_count(wr, SMC_CNT_WR_RX_REPOST_FAIL);
	if (wr->rx_posted <= wr->nrx / 4)
		smc_wr_fail(wr, err, 0);
}

static void smc_wr_rx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct smc_wr_rx *rx = container_of(wc->wr_cqe, struct smc_wr_rx, cqe);
	struct smc_wr *wr = rx->owner;
	u32 len;

	smc_wr_count_cqe(wr);
	wr->rx_posted--;
	if (wc->status != IB_WC_SUCCESS) {
		smc_wr_fail(wr, wc->status, wc->vendor_err);
		return;
	}
	len = min(wc->byte_len, wr->rx_room);
	ib_dma_sync_single_for_cpu(wr->ibdev, rx->sge.addr, len,
				   DMA_FROM_DEVICE);
	WRITE_ONCE(wr->last_rx, jiffies);
	wr->ops->recv(wr, rx->data, len);
	ib_dma_sync_single_for_device(wr->ibdev, rx->sge.addr, wr->rx_room,
				      DMA_FROM_DEVICE);
	smc_wr_rx_collect(wr, rx);
	smc_wr_rx_refill(wr);
}

/**
 * smc_wr_rx_start - post all receives
 * @wr: engine, queue pair in INIT (or, in tests, one that completes nothing
 *	until this returns)
 *
 * Return: 0 or the error of ib_post_recv().
 */
int smc_wr_rx_start(struct smc_wr *wr)
{
	WRITE_ONCE(wr->last_rx, jiffies);
	return smc_wr_rx_repost(wr);
}
EXPORT_SYMBOL_IF_KUNIT(smc_wr_rx_start);

static int smc_wr_rx_init_one(struct smc_wr *wr, struct smc_wr_rx *rx)
{
	rx->data = kzalloc(wr->rx_room, GFP_KERNEL | __GFP_NOWARN);
	if (!rx->data)
		return -ENOMEM;
	rx->sge.addr = ib_dma_map_single(wr->ibdev, rx->data, wr->rx_room,
					 DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(wr->ibdev, rx->sge.addr)) {
		kfree(rx->data);
		rx->data = NULL;
		return -ENOMEM;
	}
	rx->owner = wr;
	rx->cqe.done = smc_wr_rx_done;
	rx->sge.length = wr->rx_room;
	rx->sge.lkey = wr->pd->local_dma_lkey;
	rx->wr.wr_cqe = &rx->cqe;
	rx->wr.sg_list = &rx->sge;
	rx->wr.num_sge = 1;
	smc_wr_rx_collect(wr, rx);
	return 0;
}

/**
 * smc_wr_rx_limit - receives an engine will have
 * @nrx: receives wanted
 * @large: for large messages
 *
 * Return: the number to size queues with.
 */
unsigned int smc_wr_rx_limit(unsigned int nrx, bool large)
{
	return large ? min(nrx, SMC_WR_RX_LARGE_MAX) : nrx;
}

/**
 * smc_wr_rx_init - allocate and map the receives
 * @wr: engine with a protection domain
 * @nrx: receives
 * @large: of SMC_WR_LARGE_LEN bytes each, else of 48
 *
 * Return: 0 or -ENOMEM, then smc_wr_rx_free() is not needed.
 */
int smc_wr_rx_init(struct smc_wr *wr, unsigned int nrx, bool large)
{
	unsigned int i;
	int err;

	wr->rx = kvzalloc_objs(*wr->rx, nrx);
	if (!wr->rx)
		return -ENOMEM;
	wr->nrx = nrx;
	wr->rx_room = large ? SMC_WR_LARGE_LEN : SMC_WR_RX_SMALL;
	wr->rx_posted = 0;
	wr->rx_npending = 0;
	wr->rx_pending = NULL;
	wr->rx_ptail = &wr->rx_pending;
	for (i = 0; i < nrx; i++) {
		err = smc_wr_rx_init_one(wr, &wr->rx[i]);
		if (err) {
			smc_wr_rx_free(wr);
			return err;
		}
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(smc_wr_rx_init);

/**
 * smc_wr_rx_free - unmap and free the receives
 * @wr: engine; drained or nothing was posted; harmless if there are none
 */
void smc_wr_rx_free(struct smc_wr *wr)
{
	unsigned int i;

	for (i = 0; wr->rx && i < wr->nrx && wr->rx[i].data; i++) {
		ib_dma_unmap_single(wr->ibdev, wr->rx[i].sge.addr, wr->rx_room,
				    DMA_FROM_DEVICE);
		kfree(wr->rx[i].data);
	}
	kvfree(wr->rx);
	wr->rx = NULL;
}
EXPORT_SYMBOL_IF_KUNIT(smc_wr_rx_free);
