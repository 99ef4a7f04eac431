// SPDX-License-Identifier: GPL-2.0
/*
 * Ring buffers of a link group (layer 4).
 *
 * A buffer is made for a connection, and when the connection leaves it goes to
 * the idle list of its class and direction, content zeroed, mappings and keys
 * kept. The next connection pops it from there: O(1), no walk, no lock against
 * those who give buffers back, one small lock among takers of the same class.
 * The list of all buffers is only for those who need each of them: loss of a
 * link, end of the group, statistics.
 *
 * A buffer that a peer may still write to is never idle: it is doomed, and
 * freed when the peer has answered DELETE RKEY or its queue pair is gone.
 * The same end takes idle buffers when memory is short.
 */
#include <kunit/visibility.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "smc_buf.h"

/* idle buffers of all groups, for the shrinker */
static atomic_long_t smc_bufs_idle_total = ATOMIC_LONG_INIT(0);

/* highest class that fits into @max bytes */
static u8 smc_buf_max_class(size_t max)
{
	if (max <= SMC_BUF_BASE)
		return 0;
	return min_t(unsigned int, ilog2(max / SMC_BUF_BASE),
		     SMC_BUF_CLASSES - 1);
}

/**
 * smcr_bufs_init() - make an empty set
 * @b: zeroed memory
 * @type: enum smc_buf_type
 */
void smcr_bufs_init(struct smcr_bufs *b, u8 type)
{
	unsigned int dir, cls;

	b->type = type;
	b->max_cls[0] = smc_buf_max_class(PAGE_SIZE << MAX_PAGE_ORDER);
	b->max_cls[1] = SMC_BUF_CLASSES - 1;
	for (dir = 0; dir < SMC_BUF_DIRS; dir++) {
		for (cls = 0; cls < SMC_BUF_CLASSES; cls++) {
			init_llist_head(&b->cls[dir][cls].idle);
			spin_lock_init(&b->cls[dir][cls].pop_lock);
		}
	}
	init_llist_head(&b->doomed);
	mutex_init(&b->lock);
	INIT_LIST_HEAD(&b->all);
}
EXPORT_SYMBOL_IF_KUNIT(smcr_bufs_init);

/**
 * smcr_bufs_limit() - largest buffers that a device can register
 * @b: set
 * @contig: bytes of physically contiguous memory
 * @virt: bytes of virtually contiguous memory
 */
void smcr_bufs_limit(struct smcr_bufs *b, size_t contig, size_t virt)
{
	b->max_cls[0] = min(b->max_cls[0], smc_buf_max_class(contig));
	b->max_cls[1] = min(b->max_cls[1], smc_buf_max_class(virt));
}
EXPORT_SYMBOL_IF_KUNIT(smcr_bufs_limit);

/**
 * smcr_buf_class() - size class for a wish
 * @b: set
 * @wish: bytes, rounded up to a class and down to the largest possible one
 *
 * Return: class, its buffers have 16 KiB << class bytes
 */
unsigned int smcr_buf_class(const struct smcr_bufs *b, u32 wish)
{
	unsigned int max = b->max_cls[b->type == SMC_BUF_VIRT];
	unsigned int cls = 0;

	if (b->type == SMC_BUF_MIXED)
		max = max(b->max_cls[0], b->max_cls[1]);
	if (wish > SMC_BUF_BASE)
		cls = order_base_2((wish - 1) / SMC_BUF_BASE + 1);
	return min(cls, max);
}
EXPORT_SYMBOL_IF_KUNIT(smcr_buf_class);

static u8 *smc_buf_alloc_contig(u32 size)
{
	struct page *page;

	page = alloc_pages(GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_NORETRY |
			   __GFP_ZERO | __GFP_COMP, get_order(size));
	return page ? page_address(page) : NULL;
}

static bool smc_buf_alloc_mem(struct smcr_bufs *b, struct smcr_buf *buf)
{
	if (b->type != SMC_BUF_VIRT && buf->cls <= b->max_cls[0])
		buf->mem = smc_buf_alloc_contig(buf->size);
	if (!buf->mem && b->type != SMC_BUF_CONTIG &&
	    buf->cls <= b->max_cls[1]) {
		buf->mem = __vmalloc(buf->size, GFP_KERNEL_ACCOUNT |
				     __GFP_ZERO | __GFP_NOWARN);
		buf->virt = true;
	}
	return buf->mem;
}

static struct smcr_buf *smc_buf_new(struct smcr_bufs *b, enum smc_buf_dir dir,
				    unsigned int cls)
{
	struct smcr_buf *buf;

	if (atomic_inc_return(&b->count[dir]) > SMC_BUF_MAX) {
		atomic_dec(&b->count[dir]);
		return ERR_PTR(-ENOSPC);
	}
	buf = kzalloc(sizeof(*buf), GFP_KERNEL_ACCOUNT);
	if (!buf)
		goto err;
	buf->dir = dir;
	buf->cls = cls;
	buf->size = SMC_BUF_BASE << cls;
	if (!smc_buf_alloc_mem(b, buf)) {
		kfree(buf);
		goto err;
	}
	mutex_init(&buf->map_lock);
	__set_bit(SMC_BUF_F_USED, &buf->flags);
	atomic64_add(buf->size, &b->bytes[dir]);
	mutex_lock(&b->lock);
	list_add(&buf->all, &b->all);
	mutex_unlock(&b->lock);
	return buf;

err:
	atomic_dec(&b->count[dir]);
	return ERR_PTR(-ENOMEM);
}

static struct smcr_buf *smc_buf_pop(struct smcr_bufs *b, enum smc_buf_dir dir,
				    unsigned int cls)
{
	struct smc_buf_class *class = &b->cls[dir][cls];
	struct llist_node *node;
	struct smcr_buf *buf;

	if (llist_empty(&class->idle))
		return NULL;
	spin_lock(&class->pop_lock);
	node = llist_del_first(&class->idle);
	spin_unlock(&class->pop_lock);
	if (!node)
		return NULL;

	buf = llist_entry(node, struct smcr_buf, idle);
	atomic_dec(&b->nidle);
	atomic_long_dec(&smc_bufs_idle_total);
	WARN_ON_ONCE(test_and_set_bit(SMC_BUF_F_USED, &buf->flags));
	return buf;
}

/**
 * smcr_buf_get() - a buffer for a connection
 * @b: set
 * @dir: send or receive ring
 * @cls: class from smcr_buf_class()
 * @how: SMC_BUF_* flags on success
 *
 * An idle buffer if there is one, else a new one; a smaller one where memory is
 * short. The content is zero. Context: process.
 *
 * Return: buffer owned by the caller until smcr_buf_recycle(), smcr_buf_doom()
 * or smcr_buf_free(); ERR_PTR(-ENOMEM); ERR_PTR(-ENOSPC) if the set is full and
 * something idle has to go first
 */
struct smcr_buf *smcr_buf_get(struct smcr_bufs *b, enum smc_buf_dir dir,
			      unsigned int cls, unsigned int *how)
{
	struct smcr_buf *buf;
	int c;

	for (c = cls; c >= 0; c--) {
		*how = c < cls ? SMC_BUF_SMALLER : 0;
		buf = smc_buf_pop(b, dir, c);
		if (buf) {
			*how |= SMC_BUF_REUSED;
			return buf;
		}
		buf = smc_buf_new(b, dir, c);
		if (buf != ERR_PTR(-ENOMEM))
			break;
	}
	return buf;
}
EXPORT_SYMBOL_IF_KUNIT(smcr_buf_get);

/**
 * smcr_buf_recycle() - make a buffer idle
 * @b: set
 * @buf: buffer, not the caller's any more
 * @dirty: bytes from the start that may have been written; they are zeroed
 *
 * Only for a buffer that nobody writes to any more, mapped and registered
 * without error. Context: process, may take long for large buffers.
 */
void smcr_buf_recycle(struct smcr_bufs *b, struct smcr_buf *buf, u32 dirty)
{
	memset(buf->mem, 0, min(dirty, buf->size));
	WARN_ON_ONCE(!test_bit(SMC_BUF_F_USED, &buf->flags));
	atomic_inc(&b->nidle);
	atomic_long_inc(&smc_bufs_idle_total);
	clear_bit(SMC_BUF_F_USED, &buf->flags);
	/* a full barrier: whoever pops it sees the zeroes and the flag */
	llist_add(&buf->idle, &b->cls[buf->dir][buf->cls].idle);
}
EXPORT_SYMBOL_IF_KUNIT(smcr_buf_recycle);

/**
 * smcr_buf_doom() - give a buffer up that cannot be freed at once
 * @b: set
 * @buf: buffer, not the caller's any more; it never becomes idle again
 *
 * Context: any.
 */
void smcr_buf_doom(struct smcr_bufs *b, struct smcr_buf *buf)
{
	llist_add(&buf->idle, &b->doomed);
}
EXPORT_SYMBOL_IF_KUNIT(smcr_buf_doom);

/**
 * smcr_buf_pop_any() - take the largest idle buffer out
 * @b: set
 * @dir: direction
 *
 * Context: process.
 * Return: buffer owned by the caller, or NULL
 */
struct smcr_buf *smcr_buf_pop_any(struct smcr_bufs *b, enum smc_buf_dir dir)
{
	struct smcr_buf *buf;
	int cls;

	for (cls = SMC_BUF_CLASSES - 1; cls >= 0; cls--) {
		buf = smc_buf_pop(b, dir, cls);
		if (buf)
			return buf;
	}
	return NULL;
}
EXPORT_SYMBOL_IF_KUNIT(smcr_buf_pop_any);

/**
 * smcr_buf_free() - free a buffer
 * @b: set
 * @buf: buffer that the caller owns, mapped on no link
 *
 * Context: process.
 */
void smcr_buf_free(struct smcr_bufs *b, struct smcr_buf *buf)
{
	mutex_lock(&b->lock);
	list_del(&buf->all);
	mutex_unlock(&b->lock);
	atomic64_sub(buf->size, &b->bytes[buf->dir]);
	atomic_dec(&b->count[buf->dir]);
	if (buf->virt)
		vfree(buf->mem);
	else
		free_pages((unsigned long)buf->mem, get_order(buf->size));
	kfree(buf);
}
EXPORT_SYMBOL_IF_KUNIT(smcr_buf_free);

/**
 * smcr_bufs_idle() - idle buffers of all groups
 *
 * Return: their number
 */
long smcr_bufs_idle(void)
{
	return max(atomic_long_read(&smc_bufs_idle_total), 0L);
}
