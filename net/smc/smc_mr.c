// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers on links (layer 4).
 *
 * A buffer is mapped when a connection gets it, registered as soon as the queue
 * pair can carry the request, and announced to the peer; all of that stays
 * while the buffer is idle, so a connection that reuses one pays nothing.
 *
 * Keys. A receive buffer has a key of its own that lets the peer write to this
 * buffer and nothing else. The address that goes with it is an offset we
 * choose, not an address of ours. A send buffer has no key for anybody else:
 * contiguous memory is read with the protection domain's local key, other
 * memory through a region without remote access.
 *
 * Return. Only what the peer cannot write to any more becomes idle again. A
 * buffer whose connection ended badly is doomed: the group's buf_work asks the
 * peer to forget the key and frees the buffer after the answer, which comes
 * behind the peer's last write. Without an answer it stays until the queue pair
 * is dead.
 *
 * Locks: bufs->lock > buf->map_lock. Neither is held while the peer is waited
 * for. What the send path reads of a mapping is written before the buffer is
 * given to a connection and after its queue pair is drained.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "smc_link.h"
#include "smc_mr.h"
#include "smc_stats.h"
#include "smc_trace.h"

/* address of each buffer as its peer knows it; any page size divides it, and it
 * is not zero, which peers take for "none"
 */
#define SMC_MR_IOVA	BIT_ULL(32)

static enum dma_data_direction smc_mr_dir(const struct smcr_buf *buf)
{
	return buf->dir == SMC_BUF_RMB ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
}

static int smc_mr_sg_contig(struct smcr_buf *buf, unsigned int seg,
			    struct sg_table *sgt)
{
	unsigned int i, n = DIV_ROUND_UP(buf->size, seg);
	struct scatterlist *sg;
	int rc;

	rc = sg_alloc_table(sgt, n, GFP_KERNEL);
	if (rc)
		return rc;
	for_each_sgtable_sg(sgt, sg, i)
		sg_set_buf(sg, buf->mem + i * seg, min(seg, buf->size));
	return 0;
}

static int smc_mr_sg_virt(struct smcr_buf *buf, unsigned int seg,
			  struct sg_table *sgt)
{
	unsigned int i, n = buf->size >> PAGE_SHIFT;
	struct page **pages;
	int rc;

	pages = kvmalloc_objs(*pages, n);
	if (!pages)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		pages[i] = vmalloc_to_page(buf->mem + i * PAGE_SIZE);
	rc = sg_alloc_table_from_pages_segment(sgt, pages, n, 0, buf->size, seg,
					       GFP_KERNEL);
	kvfree(pages);
	return rc;
}

static bool smc_mr_is_contig(const struct sg_table *sgt)
{
	struct scatterlist *sg;
	u64 next = 0;
	int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		if (i && sg_dma_address(sg) != next)
			return false;
		next = sg_dma_address(sg) + sg_dma_len(sg);
	}
	return true;
}

/* smallest page size with which the device can describe the buffer */
static unsigned int smc_mr_page_size(const struct ib_device *dev,
				     const struct sg_table *sgt, u32 size)
{
	unsigned int page = PAGE_SIZE;
	struct scatterlist *sg;
	int i;

	while (size / page > dev->attrs.max_fast_reg_page_list_len) {
		page <<= 1;
		if (page > size)
			return 0;
	}
	if (page == PAGE_SIZE)
		return page;
	for_each_sgtable_dma_sg(sgt, sg, i)
		if (!IS_ALIGNED(sg_dma_address(sg) | sg_dma_len(sg), page))
			return 0;
	return dev->attrs.page_size_cap & page ? page : 0;
}

static int smc_mr_alloc(struct smc_link *link, struct smcr_buf *buf,
			struct smcr_map *map)
{
	unsigned int page = smc_mr_page_size(link->wr.ibdev, &map->sgt,
					     buf->size);
	struct ib_mr *mr;
	int n;

	if (!page)
		return -E2BIG;
	mr = ib_alloc_mr(link->wr.pd, IB_MR_TYPE_MEM_REG, buf->size / page);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	n = ib_map_mr_sg(mr, map->sgt.sgl, map->sgt.nents, NULL, page);
	if (n != map->sgt.nents) {
		ib_dereg_mr(mr);
		return n < 0 ? n : -EINVAL;
	}
	mr->iova = SMC_MR_IOVA;
	map->mr = mr;
	map->lkey = mr->lkey;
	map->rkey = mr->rkey;
	map->addr = SMC_MR_IOVA;
	return 0;
}

static bool smc_mr_need_sync(struct ib_device *dev, const struct sg_table *sgt)
{
	struct scatterlist *sg;
	int i;

	if (ib_uses_virt_dma(dev))
		return false;
	for_each_sgtable_dma_sg(sgt, sg, i)
		if (dma_need_sync(dev->dma_device, sg_dma_address(sg)))
			return true;
	return false;
}

static void smc_mr_unmap_locked(struct ib_device *dev, struct smcr_buf *buf,
				struct smcr_map *map)
{
	lockdep_assert_held(&buf->map_lock);
	if (!map->mapped)
		return;
	if (map->mr)
		ib_dereg_mr(map->mr);
	ib_dma_unmap_sgtable_attrs(dev, &map->sgt, smc_mr_dir(buf), 0);
	sg_free_table(&map->sgt);
	memset(map, 0, sizeof(*map));
}

static int smc_mr_map_locked(struct smc_link *link, struct smcr_buf *buf)
{
	struct smcr_map *map = &buf->map[link->idx];
	struct ib_device *dev = link->wr.ibdev;
	unsigned int seg;
	int rc;

	lockdep_assert_held(&buf->map_lock);
	if (!smc_link_usable(link))
		return -ENOLINK;
	if (map->mapped)
		return 0;
	seg = rounddown_pow_of_two(min_t(unsigned int, SZ_1G,
					 ib_dma_max_seg_size(dev)));
	rc = buf->virt ? smc_mr_sg_virt(buf, seg, &map->sgt) :
			 smc_mr_sg_contig(buf, seg, &map->sgt);
	if (rc)
		return rc;
	rc = ib_dma_map_sgtable_attrs(dev, &map->sgt, smc_mr_dir(buf), 0);
	if (rc) {
		sg_free_table(&map->sgt);
		return rc;
	}
	map->mapped = true;
	map->need_sync = smc_mr_need_sync(dev, &map->sgt);
	if (buf->dir == SMC_BUF_RMB || !smc_mr_is_contig(&map->sgt)) {
		rc = smc_mr_alloc(link, buf, map);
	} else {
		map->lkey = link->wr.pd->local_dma_lkey;
		map->addr = sg_dma_address(map->sgt.sgl);
	}
	if (rc)
		smc_mr_unmap_locked(dev, buf, map);
	return rc;
}

/**
 * smc_mr_map() - map a buffer for the device of a link
 * @link: link; a reference keeps it
 * @buf: buffer of the caller
 *
 * Keys and addresses are known afterwards. Context: process, sleeps.
 *
 * Return: 0 (also if it was mapped), -ENOLINK, -ENOMEM, -E2BIG if the device
 * cannot describe so large a buffer, other errors of the RDMA core
 */
int smc_mr_map(struct smc_link *link, struct smcr_buf *buf)
{
	int rc;

	mutex_lock(&buf->map_lock);
	rc = smc_mr_map_locked(link, buf);
	mutex_unlock(&buf->map_lock);
	return rc;
}

/**
 * smc_mr_register() - make the device know a buffer
 * @link: link, its queue pair in RTS
 * @buf: buffer of the caller, mapped
 *
 * Context: process, sleeps.
 *
 * Return: 0 (also if it was registered or needs none), -ENOLINK, -EIO, -EPIPE
 */
int smc_mr_register(struct smc_link *link, struct smcr_buf *buf)
{
	struct smcr_map *map = &buf->map[link->idx];
	int access = 0;
	int rc = 0;

	if (buf->dir == SMC_BUF_RMB)
		access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	mutex_lock(&buf->map_lock);
	if (!map->mapped)
		rc = -ENOLINK;
	else if (map->mr && !map->registered)
		rc = smc_wr_reg_mr(&link->wr, map->mr, access);
	if (!rc)
		map->registered = true;
	mutex_unlock(&buf->map_lock);
	return rc;
}

/**
 * smc_mr_announce() - make the peer know a receive buffer
 * @link: link of the connection
 * @buf: registered receive buffer of the caller
 * @deadline: jiffies, see smc_llc_confirm_rkey()
 *
 * Nothing is sent if the peer still knows it from its last user.
 * Context: process, sleeps for a round trip.
 *
 * Return: 0, or errno of smc_llc_confirm_rkey()
 */
int smc_mr_announce(struct smc_link *link, struct smcr_buf *buf,
		    unsigned long deadline)
{
	struct smcr_map *map = &buf->map[link->idx];
	struct smc_llc_rkey own = {
		.rkey = map->rkey,
		.addr = map->addr,
	};
	int rc;

	if (map->confirmed)
		return 0;
	rc = smc_llc_confirm_rkey(&link->llc, &own, NULL, 0, deadline);
	if (!rc)
		smc_mr_set_confirmed(link, buf);
	return rc;
}

/**
 * smc_mr_set_confirmed() - the peer knows a receive buffer
 * @link: link for which it was announced
 * @buf: buffer of the caller
 *
 * Context: process.
 */
void smc_mr_set_confirmed(struct smc_link *link, struct smcr_buf *buf)
{
	mutex_lock(&buf->map_lock);
	if (buf->map[link->idx].mapped)
		buf->map[link->idx].confirmed = true;
	mutex_unlock(&buf->map_lock);
}

static void smc_mr_free(struct smcr_lgr *lgr, struct smcr_buf *buf)
{
	trace_smc_buf(lgr->base.id, buf->dir, buf->size, SMC_BUF_EV_FREED);
	smcr_buf_free(&lgr->bufs, buf);
}

static void smc_mr_doom(struct smcr_lgr *lgr, struct smcr_buf *buf)
{
	trace_smc_buf(lgr->base.id, buf->dir, buf->size, SMC_BUF_EV_DOOMED);
	smcr_buf_doom(&lgr->bufs, buf);
}

/**
 * smc_mr_free_buf() - free a buffer that the peer cannot reach
 * @link: link where it is mapped. If that is going down the mapping goes with
 *	it, and the buffer after it
 * @buf: buffer, not the caller's any more
 *
 * Context: process.
 */
void smc_mr_free_buf(struct smc_link *link, struct smcr_buf *buf)
{
	struct smcr_map *map = &buf->map[link->idx];
	bool mapped;

	mutex_lock(&buf->map_lock);
	if (smc_link_usable(link))
		smc_mr_unmap_locked(link->wr.ibdev, buf, map);
	mapped = map->mapped;
	mutex_unlock(&buf->map_lock);
	if (mapped)
		smc_mr_doom(link->lgr, buf);
	else
		smc_mr_free(link->lgr, buf);
}

static void smc_mr_count_get(struct smcr_lgr *lgr, const struct smcr_buf *buf,
			     unsigned int how)
{
	static const enum smc_counter cnt[SMC_BUF_DIRS][3] = {
		{ SMC_CNT_BUF_NEW_SND, SMC_CNT_BUF_REUSE_SND,
		  SMC_CNT_BUF_DOWNGRADE_SND },
		{ SMC_CNT_BUF_NEW_RMB, SMC_CNT_BUF_REUSE_RMB,
		  SMC_CNT_BUF_DOWNGRADE_RMB },
	};
	bool reused = how & SMC_BUF_REUSED;

	smc_count(lgr->base.net, cnt[buf->dir][reused], 1);
	if (how & SMC_BUF_SMALLER)
		smc_count(lgr->base.net, cnt[buf->dir][2], 1);
	trace_smc_buf(lgr->base.id, buf->dir, buf->size,
		      reused ? SMC_BUF_EV_REUSED : SMC_BUF_EV_NEW);
}

/**
 * smc_mr_get_buf() - a mapped buffer for a connection
 * @link: link of the connection
 * @dir: send or receive ring
 * @wish: bytes
 *
 * Rounded up to a size class; smaller if memory is short or the device cannot
 * describe so much. Context: process, sleeps; if the group has as many buffers
 * as a peer can know, an idle one is taken back from it first.
 *
 * Return: buffer, to be ended with smc_mr_put_buf(); ERR_PTR: -ENOMEM, -ENOSPC,
 * -ENOLINK
 */
struct smcr_buf *smc_mr_get_buf(struct smc_link *link, enum smc_buf_dir dir,
				u32 wish)
{
	struct smcr_lgr *lgr = link->lgr;
	unsigned int how, less = 0;
	struct smcr_buf *buf;
	int rc, cls;

	for (cls = smcr_buf_class(&lgr->bufs, wish); cls >= 0;) {
		buf = smcr_buf_get(&lgr->bufs, dir, cls, &how);
		if (buf == ERR_PTR(-ENOSPC)) {
			smc_mr_shrink(lgr, 1);
			flush_work(&lgr->buf_work);
			buf = smcr_buf_get(&lgr->bufs, dir, cls, &how);
		}
		if (IS_ERR(buf))
			return buf;
		rc = smc_mr_map(link, buf);
		if (!rc) {
			smc_mr_count_get(lgr, buf, how | less);
			return buf;
		}
		cls = (int)buf->cls - 1;
		less = SMC_BUF_SMALLER;
		smc_mr_free_buf(link, buf);
		if (rc == -ENOLINK)
			return ERR_PTR(rc);
	}
	return ERR_PTR(-ENOMEM);
}

/**
 * smc_mr_put_buf() - a connection gives its buffer back
 * @link: link of the connection
 * @buf: buffer, not the caller's any more
 * @clean: nobody writes to it or reads from it any more
 * @dirty: bytes from its start that may have been written
 *
 * Context: process.
 */
void smc_mr_put_buf(struct smc_link *link, struct smcr_buf *buf, bool clean,
		    u32 dirty)
{
	struct smcr_map *map = &buf->map[link->idx];
	struct smcr_lgr *lgr = link->lgr;
	bool sound;

	mutex_lock(&buf->map_lock);
	sound = map->mapped && (!map->mr || map->registered);
	mutex_unlock(&buf->map_lock);

	if (READ_ONCE(lgr->base.state) > SMC_LGR_ACTIVE) {
		/* freed at the end of the group */
		smc_mr_doom(lgr, buf);
	} else if (clean && sound) {
		trace_smc_buf(lgr->base.id, buf->dir, buf->size,
			      SMC_BUF_EV_IDLE);
		smcr_buf_recycle(&lgr->bufs, buf, dirty);
	} else if (clean) {
		smc_mr_free_buf(link, buf);
	} else {
		SMC_INC(lgr->base.net, BUF_TAINTED);
		smc_mr_doom(lgr, buf);
		smc_lgr_queue(&lgr->buf_work);
	}
}

/**
 * smc_mr_sync() - pass a buffer between CPU and device
 * @link: link of the connection
 * @buf: send ring after data was copied in; receive ring before it is read
 *
 * Nothing to do on coherent devices. Context: process.
 */
void smc_mr_sync(struct smc_link *link, struct smcr_buf *buf)
{
	struct smcr_map *map = &buf->map[link->idx];

	if (!READ_ONCE(map->need_sync))
		return;
	mutex_lock(&buf->map_lock);
	if (map->mapped && buf->dir == SMC_BUF_RMB)
		dma_sync_sgtable_for_cpu(link->wr.ibdev->dma_device, &map->sgt,
					 DMA_FROM_DEVICE);
	else if (map->mapped)
		dma_sync_sgtable_for_device(link->wr.ibdev->dma_device,
					    &map->sgt, DMA_TO_DEVICE);
	mutex_unlock(&buf->map_lock);
}

/**
 * smc_mr_unmap_link() - end all mappings of a link
 * @lgr: group
 * @idx: slot of a halted link
 *
 * Context: process, sleeps.
 */
void smc_mr_unmap_link(struct smcr_lgr *lgr, unsigned int idx)
{
	struct ib_device *dev = lgr->link[idx]->wr.ibdev;
	struct smcr_buf *buf;

	mutex_lock(&lgr->bufs.lock);
	list_for_each_entry(buf, &lgr->bufs.all, all) {
		mutex_lock(&buf->map_lock);
		smc_mr_unmap_locked(dev, buf, &buf->map[idx]);
		mutex_unlock(&buf->map_lock);
	}
	mutex_unlock(&lgr->bufs.lock);
}

/**
 * smc_mr_free_all() - free what no connection owns
 * @lgr: group that ends, without links
 *
 * Context: process.
 */
void smc_mr_free_all(struct smcr_lgr *lgr)
{
	struct smcr_buf *buf, *tmp;
	struct llist_node *list;
	int dir;

	for (dir = 0; dir < SMC_BUF_DIRS; dir++)
		while ((buf = smcr_buf_pop_any(&lgr->bufs, dir)))
			smc_mr_free(lgr, buf);
	list = llist_del_all(&lgr->bufs.doomed);
	llist_for_each_entry_safe(buf, tmp, list, idle)
		smc_mr_free(lgr, buf);
}

/* has the peer forget @n buffers, then frees them; keeps them otherwise */
static void smc_mr_take_back(struct smc_link *link, struct smcr_buf **bufs,
			     unsigned int n)
{
	u32 keys[SMC_LLC_DEL_BATCH];
	unsigned int i;
	int rc;

	for (i = 0; i < n; i++)
		keys[i] = bufs[i]->map[link->idx].rkey;
	rc = smc_llc_delete_rkeys(&link->llc, keys, n);
	for (i = 0; i < n; i++) {
		if (rc)
			smcr_buf_doom(&link->lgr->bufs, bufs[i]);
		else
			smc_mr_free_buf(link, bufs[i]);
	}
}

/* doomed buffers and, as long as they are wanted, idle ones */
static unsigned int smc_mr_collect(struct smcr_lgr *lgr, struct smc_link *link,
				   struct llist_node **doomed,
				   struct smcr_buf **bufs)
{
	struct smcr_buf *buf;
	unsigned int n = 0;

	while (n < SMC_LLC_DEL_BATCH) {
		if (*doomed) {
			buf = llist_entry(*doomed, struct smcr_buf, idle);
			*doomed = (*doomed)->next;
			if (buf->dir == SMC_BUF_RMB)
				bufs[n++] = buf;
			else
				smcr_buf_doom(&lgr->bufs, buf);
			continue;
		}
		if (atomic_dec_if_positive(&lgr->shrink) < 0)
			break;
		buf = smcr_buf_pop_any(&lgr->bufs, SMC_BUF_SND);
		if (buf)
			smc_mr_free_buf(link, buf);
		buf = smcr_buf_pop_any(&lgr->bufs, SMC_BUF_RMB);
		if (buf)
			bufs[n++] = buf;
		SMC_INC(lgr->base.net, BUF_SHRUNK);
	}
	return n;
}

/**
 * smc_mr_reclaim_work() - body of the group's buf_work
 * @work: lgr->buf_work
 *
 * Takes doomed buffers and surplus idle ones back from the peer and frees
 * them. A send buffer whose messages were still in flight waits for the end of
 * the group.
 */
void smc_mr_reclaim_work(struct work_struct *work)
{
	struct smcr_lgr *lgr = container_of(work, struct smcr_lgr, buf_work);
	struct smc_link *link = smc_link_get_first(lgr);
	struct smcr_buf *bufs[SMC_LLC_DEL_BATCH];
	struct llist_node *doomed;
	unsigned int n;

	if (!link)
		return;
	doomed = llist_del_all(&lgr->bufs.doomed);
	while ((n = smc_mr_collect(lgr, link, &doomed, bufs)))
		smc_mr_take_back(link, bufs, n);
	smc_link_put(link);
}

/**
 * smc_mr_shrink() - give idle buffers up
 * @lgr: group
 * @n: how many of each direction; done later by its buf_work
 *
 * Context: any.
 */
void smc_mr_shrink(struct smcr_lgr *lgr, unsigned int n)
{
	atomic_add(n, &lgr->shrink);
	smc_lgr_queue(&lgr->buf_work);
}
