/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work requests of one RC queue pair (layer 2): send slots, the send
 * scheduler, the receive ring, drain. Knows neither LLC nor CDC content.
 *
 * Slots. One kind of object for every message, whatever its size: a normal
 * slot carries up to two RDMA WRITEs and one SEND of at most SMC_WR_MSG_LEN
 * bytes in one chain, a large slot one SEND of up to SMC_WR_LARGE_LEN. Acquire,
 * post, completion and release are one code path; a released slot is zeroed
 * (record and message, never the pointers) before it can be acquired again.
 * The queue completes in order, so a completion of a signalled slot retires
 * all slots posted before it.
 *
 * Scheduler. A data sender (struct smc_wr_client, one per connection) never
 * waits for a slot. smc_wr_kick() lets it fill and post a message at once if a
 * slot is free; otherwise it is queued once on the FIFO of ready clients and
 * served, one message per turn, when completions free slots.
 *
 * Control messages in process context may wait: exclusive, FIFO, at most
 * SMC_WR_WAIT_MS; waiters go before the FIFO of clients. One slot is reserved
 * for SMC_WR_GET_LLC.
 *
 * Failure. The first error completion, failed post or exhausted wait makes the
 * engine BROKEN: ops->broken() is called once, waiters get -EPIPE and from then
 * on a retired slot is parked, not handed out again, because more than one
 * completion of it may still come. smc_wr_drain() brings all slots home.
 *
 * Locks: client->lock (BH, outer) is held over fill and post and keeps the
 * order of a client's messages; below it, each innermost and BH:
 * wr->post_lock (queue of posted slots, ib_post_send), pool->lock (takers of
 * free slots, waiters) and wr->fifo_lock (FIFO of ready clients). Whoever
 * frees a slot takes none of them unless somebody waits.
 */
#ifndef SMC_WR_H
#define SMC_WR_H

#include <linux/completion.h>
#include <linux/if_ether.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/percpu-refcount.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

#define SMC_WR_MSG_LEN		44
#define SMC_WR_LARGE_LEN	8192
#define SMC_WR_WAIT_MS		10000
#define SMC_WR_MIN_DEPTH	2
#define SMC_WR_MAX_DEPTH	2048
#define SMC_WR_NREG		4	/* concurrent registrations */

struct net;
struct smc_wr;
struct smc_wr_client;
struct smc_wr_rx;

/**
 * struct smc_slot - one send message, owned by its acquirer until post or put
 * @wr: engine
 * @free: in the pool's free list, or among the parked slots
 * @msg: message buffer of @room bytes
 * @msg_dma: DMA address of @msg
 * @room: SMC_WR_MSG_LEN or SMC_WR_LARGE_LEN
 * @cqe: completion of the SEND (and, on error, of the WRITEs)
 * @nwrite: RDMA WRITEs used, 0..2 (normal slots only)
 * @write_inline: @write_sge has addresses of memory, not of the device; each
 *	WRITE has at most wr->inline_max bytes
 * @signal: ask for a completion of this slot; set by smc_wr_get() for LLC and
 *	large slots
 * @in_ring: in wr->posted
 * @pos: position in wr->posted
 * @write: RDMA WRITEs; the acquirer fills remote_addr, rkey, wr.sg_list's
 *	elements in @write_sge and wr.num_sge of write[0..nwrite-1]; everything
 *	else is set by smc_wr_post()
 * @write_sge: two scatter elements for each WRITE
 * @send: the SEND
 * @send_sge: describes @msg
 * @msg_len: bytes to send, set by the acquirer
 * @done: called once when the posted slot is retired (softirq or process, no
 *	sleep, no lock of the engine held), before it is cleared; may be NULL.
 *	@status is IB_WC_SUCCESS or an error
 * @owner: for @done
 * @priv: for @done
 * @client: sender, set by the scheduler
 *
 * From @cqe on, and in @msg, all is zero when a slot is acquired.
 */
struct smc_slot {
	struct smc_wr *wr;
	struct llist_node free;
	u8 *msg;
	u64 msg_dma;
	u32 room;
	struct ib_cqe cqe;
	u8 nwrite;
	bool write_inline;
	bool signal;
	bool in_ring;
	unsigned int pos;
	struct ib_rdma_wr write[2];
	struct ib_sge write_sge[2][2];
	struct ib_send_wr send;
	struct ib_sge send_sge;
	u32 msg_len;
	void (*done)(struct smc_slot *slot, enum ib_wc_status status);
	void *owner;
	u64 priv[4];
	struct smc_wr_client *client;
};

/**
 * struct smc_wr_client_ops - a data sender, as the scheduler sees it
 * @fill: softirq or process, client->lock held, no sleep. Builds the next
 *	message into @slot. Returns 0: nothing to send (slot goes back), else a
 *	mask of SMC_WR_FILLED and SMC_WR_MORE (serve me again)
 * @failed: client->lock held: the message just filled could not be posted
 *	(link broken); its slot's @done is not called
 * @get: take a reference: for the time in the FIFO, and for the time in which
 *	messages are in flight (one for all of them)
 * @put: drop it; may be called in softirq
 */
struct smc_wr_client_ops {
	int (*fill)(struct smc_wr_client *client, struct smc_slot *slot);
	void (*failed)(struct smc_wr_client *client, struct smc_slot *slot);
	void (*get)(struct smc_wr_client *client);
	void (*put)(struct smc_wr_client *client);
};

#define SMC_WR_FILLED	BIT(0)
#define SMC_WR_MORE	BIT(1)

/**
 * struct smc_wr_client - data sender, embedded in the SMC-R part of a member
 * @ops: callbacks
 * @node: in the FIFO of @queued
 * @queued: engine whose FIFO the client is in, NULL if none; under that
 *	engine's fifo_lock
 * @barred: id of the engine that must not serve the client any more; written
 *	under @lock and that engine's fifo_lock
 * @lock: serialises fill and post of this client (see above)
 * @inflight: posted messages of this client that are not retired; counted by
 *	the scheduler, smc_wr_client_idle() waits for it
 */
struct smc_wr_client {
	const struct smc_wr_client_ops *ops;
	struct list_head node;
	struct smc_wr *queued;
	u64 barred;
	spinlock_t *lock;	/* BH; fill and post, @barred */
	atomic_t inflight;
};

/**
 * struct smc_wr_ops - the link above
 * @recv: softirq (CQ context), no sleep: one message of @len received bytes;
 *	messages of one engine come one at a time, in order
 * @broken: process or softirq, no sleep, at most once and not after
 *	smc_wr_stop(): the queue pair is dead. @status is an enum ib_wc_status
 *	(> 0, error completion) or a negative errno (post failed, wait
 *	exhausted, QP event)
 */
struct smc_wr_ops {
	void (*recv)(struct smc_wr *wr, const u8 *data, u32 len);
	void (*broken)(struct smc_wr *wr, int status);
};

/**
 * struct smc_wr_cfg - what smc_wr_create() needs
 * @net: namespace that counts, may be NULL; must outlive the engine
 * @ibdev: RDMA device
 * @port: 1-based
 * @max_send: data slots wanted (net.smc.smcr_max_send_wr)
 * @max_recv: receives wanted (net.smc.smcr_max_recv_wr)
 * @large: v2: receive buffers of SMC_WR_LARGE_LEN and a large send slot
 * @vector: completion vector hint, -1 round robin
 */
struct smc_wr_cfg {
	struct net *net;
	struct ib_device *ibdev;
	u8 port;
	u16 max_send;
	u16 max_recv;
	bool large;
	int vector;
};

/**
 * struct smc_wr_pool - free slots of one size
 * @free: slots; anybody adds, takers hold @lock
 * @credits: number of slots in @free
 * @lock: BH, innermost: takers, @waiters, @nwaiters
 * @waiters: who waits for a slot, in order of arrival
 * @nwaiters: length of @waiters, read without the lock
 */
struct smc_wr_pool {
	struct llist_head free;
	atomic_t credits;
	spinlock_t lock;	/* BH; takers, waiters, nwaiters */
	struct list_head waiters;
	unsigned int nwaiters;
};

enum {
	SMC_WR_POOL_NORMAL,
	SMC_WR_POOL_LARGE,
	SMC_WR_NPOOLS
};

/* a registration on its way; busy from smc_wr_reg_mr() to its completion */
struct smc_wr_reg {
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
};

/* struct smc_wr is embedded in a link; members belong to smc_wr*.c */
struct smc_wr {
	const struct smc_wr_ops *ops;
	struct net *net;		/* counts; may be NULL */
	u64 id;				/* unique, never 0 */
	struct ib_device *ibdev;
	struct ib_pd *pd;
	struct ib_cq *cq;
	unsigned int cq_claim;		/* entries claimed from the CQ pool */
	struct ib_qp *qp;
	u8 port;
	bool qp_used;			/* left RESET, hence must be drained */
	u32 inline_max;			/* bytes; 0, or a normal message fits */
	unsigned long state;		/* SMC_WR_S_*, atomic bits */

	/* nslots data slots and one reserved for LLC; the large slot last */
	struct smc_slot *slots;
	unsigned int nslots;
	bool large;
	u8 *msg_mem;			/* messages of the normal slots */
	size_t msg_mem_len;
	u64 msg_dma;
	u8 *large_mem;
	u64 large_dma;
	struct smc_wr_pool pool[SMC_WR_NPOOLS];
	struct llist_head parked;	/* retired while broken, until drain */
	unsigned long wait_budget;	/* jiffies a waiter may wait */
	unsigned long idle_delay;	/* jiffies a message may be unsignalled */

	spinlock_t post_lock;		/* BH; down to flush_*, ib_post_send */
	struct smc_slot **posted;	/* ring in post order, size power of 2 */
	unsigned int posted_mask;
	unsigned int posted_head;
	unsigned int unsignalled;	/* slots since the last signalled one */
	unsigned int signal_every;
	unsigned long last_post;	/* jiffies of the last unsignalled one */
	struct ib_rdma_wr flush_wr;	/* marker: an empty RDMA WRITE */
	struct ib_cqe flush_cqe;
	unsigned int flush_pos;		/* marker retires up to here */
	bool flush_busy;		/* marker is in flight */
	bool flush_again;		/* asked for another meanwhile */
	u64 n_posts;			/* calls of ib_post_send */
	u64 n_msgs;			/* messages posted */

	struct timer_list flush_timer;	/* an idle queue ends with all reaped */
	unsigned int posted_tail;	/* completion side only */
	u64 n_cqes;			/* completion side only */
	u64 n_waits;			/* under the pool's lock */

	spinlock_t fifo_lock;		/* BH; fifo, client->queued */
	struct list_head fifo;

	struct percpu_ref users;	/* whoever may post */
	struct completion users_gone;

	struct smc_wr_reg reg[SMC_WR_NREG];
	unsigned long reg_busy;		/* bit per reg[] */
	wait_queue_head_t reg_wq;	/* for a free reg[] */

	/* receive ring; completion side only, once receives are posted */
	struct smc_wr_rx *rx;
	unsigned int nrx;
	unsigned int rx_room;		/* bytes of one receive buffer */
	struct ib_recv_wr *rx_pending;	/* completed, to be reposted in a chain */
	struct ib_recv_wr **rx_ptail;
	unsigned int rx_npending;
	unsigned int rx_posted;
	unsigned long last_rx;		/* jiffies of the last receive */
};

#define SMC_WR_S_UP		0	/* RTS: senders are admitted */
#define SMC_WR_S_STOPPED	1	/* no new sender, waiters woken */
#define SMC_WR_S_BROKEN		2	/* failed; nothing is posted any more */
#define SMC_WR_S_TOLD		3	/* the failure was reported */
#define SMC_WR_S_QP_EVENT	4	/* the device reported the QP dead */

int smc_wr_create(struct smc_wr *wr, const struct smc_wr_ops *ops,
		  const struct smc_wr_cfg *cfg);
void smc_wr_stop(struct smc_wr *wr);
void smc_wr_drain(struct smc_wr *wr);	/* sleeps, bounded; stops if need be */
void smc_wr_destroy(struct smc_wr *wr);	/* after drain */

/**
 * struct smc_wr_path - peer end of the queue pair, for INIT -> RTR
 * @sgid_attr: own GID, caller keeps its reference
 * @dgid: peer GID
 * @dmac: where frames go, peer or next hop
 * @hop_limit: 1, or 64 through a gateway
 * @mtu: path MTU
 * @dest_qpn: 24 bits
 * @rq_psn: peer's initial PSN, 24 bits
 */
struct smc_wr_path {
	const struct ib_gid_attr *sgid_attr;
	union ib_gid dgid;
	u8 dmac[ETH_ALEN];
	u8 hop_limit;
	enum ib_mtu mtu;
	u32 dest_qpn;
	u32 rq_psn;
};

int smc_wr_to_rtr(struct smc_wr *wr, const struct smc_wr_path *path);
int smc_wr_to_rts(struct smc_wr *wr, u32 sq_psn);

/* flags of smc_wr_get() */
#define SMC_WR_GET_LLC		BIT(0)	/* may use the reserved slot */
#define SMC_WR_GET_WAIT		BIT(1)	/* process context: wait */
#define SMC_WR_GET_LARGE	BIT(2)	/* the large slot (v2) */

struct smc_slot *smc_wr_get(struct smc_wr *wr, unsigned int flags);
void smc_wr_put(struct smc_slot *slot);
int smc_wr_post(struct smc_slot *slot);

void smc_wr_client_init(struct smc_wr_client *client,
			const struct smc_wr_client_ops *ops, spinlock_t *lock);
void smc_wr_kick(struct smc_wr *wr, struct smc_wr_client *client);
void smc_wr_client_stop(struct smc_wr *wr, struct smc_wr_client *client);
bool smc_wr_client_idle(struct smc_wr *wr, struct smc_wr_client *client,
			unsigned long timeout);
void smc_wr_flush(struct smc_wr *wr);

int smc_wr_reg_mr(struct smc_wr *wr, struct ib_mr *mr, int access);

static inline bool smc_wr_up(const struct smc_wr *wr)
{
	return (READ_ONCE(wr->state) &
		(BIT(SMC_WR_S_UP) | BIT(SMC_WR_S_STOPPED) |
		 BIT(SMC_WR_S_BROKEN))) == BIT(SMC_WR_S_UP);
}

#endif /* SMC_WR_H */
