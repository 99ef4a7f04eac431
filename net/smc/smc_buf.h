/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ring buffers of a link group (layer 4): size classes, memory, reuse. Mapping
 * and registration are those of smc_mr.c; here they are only carried along.
 */
#ifndef SMC_BUF_H
#define SMC_BUF_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct ib_mr;

#define SMC_BUF_CLASSES		16	/* 16 KiB << class */
#define SMC_BUF_BASE		16384U
#define SMC_BUF_LINKS		3
#define SMC_BUF_MAX		255	/* buffers of one direction: rkeys a peer keeps */

enum smc_buf_dir {
	SMC_BUF_SND,
	SMC_BUF_RMB,
	SMC_BUF_DIRS
};

/* values of net.smc.smcr_buf_type */
enum smc_buf_type {
	SMC_BUF_CONTIG,
	SMC_BUF_VIRT,
	SMC_BUF_MIXED,
};

/* events of trace event smc_buf */
enum smc_buf_event {
	SMC_BUF_EV_NEW,
	SMC_BUF_EV_REUSED,
	SMC_BUF_EV_IDLE,	/* back to the pool */
	SMC_BUF_EV_DOOMED,	/* not to be used again */
	SMC_BUF_EV_FREED,
};

/**
 * struct smcr_map - a buffer on one link
 * @sgt: pages; valid while @mapped
 * @mr: memory region, NULL for a send buffer that needs none
 * @addr: address of the first byte: for own scatter elements (send buffer) or
 *	for the peer (receive buffer)
 * @lkey: key for own scatter elements
 * @rkey: key for the peer
 * @mapped: DMA mapping exists
 * @registered: the device knows @mr
 * @confirmed: the peer knows @rkey and @addr
 * @need_sync: the CPU has to sync before or after access
 */
struct smcr_map {
	struct sg_table sgt;
	struct ib_mr *mr;
	u64 addr;
	u32 lkey;
	u32 rkey;
	bool mapped;
	bool registered;
	bool confirmed;
	bool need_sync;
};

/**
 * struct smcr_buf - one ring
 * @idle: in the class's list of idle buffers, or in the group's doomed list
 * @all: in bufs->all, under bufs->lock
 * @flags: SMC_BUF_F_*, atomic bits
 * @dir: send ring or receive ring
 * @cls: size class
 * @virt: vmalloc memory
 * @size: bytes
 * @mem: the ring
 * @map_lock: @map; process context. Held over mapping and registration, never
 *	over a wait for the peer. Inner to bufs->lock
 * @map: per link index
 *
 * Owned by a connection while SMC_BUF_F_USED is set, else by the idle list;
 * whoever pops it from there owns it.
 */
struct smcr_buf {
	struct llist_node idle;
	struct list_head all;
	unsigned long flags;
	u8 dir;
	u8 cls;
	bool virt;
	u32 size;
	u8 *mem;
	struct mutex map_lock;		/* map */
	struct smcr_map map[SMC_BUF_LINKS];
};

#define SMC_BUF_F_USED	0

/**
 * struct smc_buf_class - idle buffers of one size and direction
 * @idle: anybody adds
 * @pop_lock: one taker at a time (contract of llist_del_first())
 */
struct smc_buf_class {
	struct llist_head idle;
	spinlock_t pop_lock;		/* one taker at a time */
};

/**
 * struct smcr_bufs - buffers of a group
 * @type: enum smc_buf_type
 * @max_cls: highest class of contiguous [0] and virtual [1] buffers
 * @cls: idle buffers
 * @doomed: given up, to be taken back from the peer and freed; anybody adds
 * @lock: @all
 * @all: all buffers, idle ones included
 * @count: buffers per direction
 * @bytes: their memory
 * @nidle: idle ones, both directions
 */
struct smcr_bufs {
	u8 type;
	u8 max_cls[2];
	struct smc_buf_class cls[SMC_BUF_DIRS][SMC_BUF_CLASSES];
	struct llist_head doomed;
	struct mutex lock;		/* all */
	struct list_head all;
	atomic_t count[SMC_BUF_DIRS];
	atomic64_t bytes[SMC_BUF_DIRS];
	atomic_t nidle;
};

/* results of smcr_buf_get() */
#define SMC_BUF_REUSED	BIT(0)
#define SMC_BUF_SMALLER	BIT(1)	/* than wished, memory was short */

void smcr_bufs_init(struct smcr_bufs *b, u8 type);
void smcr_bufs_limit(struct smcr_bufs *b, size_t contig, size_t virt);
unsigned int smcr_buf_class(const struct smcr_bufs *b, u32 wish);
struct smcr_buf *smcr_buf_get(struct smcr_bufs *b, enum smc_buf_dir dir,
			      unsigned int cls, unsigned int *how);
void smcr_buf_recycle(struct smcr_bufs *b, struct smcr_buf *buf, u32 dirty);
void smcr_buf_doom(struct smcr_bufs *b, struct smcr_buf *buf);
struct smcr_buf *smcr_buf_pop_any(struct smcr_bufs *b, enum smc_buf_dir dir);
void smcr_buf_free(struct smcr_bufs *b, struct smcr_buf *buf);

long smcr_bufs_idle(void);

#endif /* SMC_BUF_H */
