/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Link layer control (layer 3): receive and order requests, match responses to
 * whoever waits, test links. Knows engines and messages, neither buffers nor
 * groups: what a request means is decided above, through struct smc_llc_ops.
 *
 * Lock: ctl->lock (BH, inner to nothing of layer 4, takes nothing).
 */
#ifndef SMC_LLC_H
#define SMC_LLC_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "smc_llc_msg.h"
#include "smc_wr.h"

struct smc_llc_ctl;
struct smc_llc_link;

/* times the protocol gives, llc-links document; jiffies */
#define SMC_LLC_WAIT_FIRST_SRV	(2 * HZ)	/* first CONFIRM LINK response */
#define SMC_LLC_WAIT_FIRST_CLNT	(4 * HZ)	/* first CONFIRM LINK request */
#define SMC_LLC_WAIT_TIME	(2 * HZ)	/* any other answer */
#define SMC_LLC_WAIT_FLOW	(20 * HZ)	/* for one's turn */

#define SMC_LLC_ENTRIES		16	/* requests kept per group */
/* longest request of which anything is used: DELETE RKEY with 255 keys */
#define SMC_LLC_ENTRY_LEN	(8 + 4 * SMC_LLC_MAX_RKEYS)

/**
 * struct smc_llc_ops - layer 4, as LLC sees it
 * @request: process, may sleep; one at a time per group, in order of arrival:
 *	the peer's message that no waiter expects. @raw are its first 44 bytes
 * @lost: process or softirq: the link does not answer
 */
struct smc_llc_ops {
	void (*request)(struct smc_llc_link *ll, const struct smc_llc *msg,
			const u8 *raw);
	void (*lost)(struct smc_llc_link *ll, int err);
};

/**
 * struct smc_llc_entry - a request that waits for the worker
 * @node: in ctl->queue or ctl->idle, under ctl->lock
 * @ll: where it came in
 * @len: bytes in @data
 * @data: message
 */
struct smc_llc_entry {
	struct list_head node;
	struct smc_llc_link *ll;
	u32 len;
	u8 data[SMC_LLC_ENTRY_LEN];
};

/**
 * struct smc_llc_ctl - LLC state of a group, embedded in it
 * @ops: up-calls
 * @net: counts
 * @lgr_id: for traces
 * @version: 1 or 2; messages of the other one are refused
 * @lock: BH; @waits, @queue, @idle, @dead
 * @waits: struct smc_llc_wait, in order of arrival
 * @queue: requests in order
 * @idle: free entries
 * @entries: their memory
 * @dead: no wait begins or goes on
 * @wq: waiters sleep here
 * @work: handles @queue
 * @local: turn of the own flow that changes keys; FIFO
 */
struct smc_llc_ctl {
	const struct smc_llc_ops *ops;
	struct net *net;
	u32 lgr_id;
	u8 version;
	spinlock_t lock;		/* BH; down to dead */
	struct list_head waits;
	struct list_head queue;
	struct list_head idle;
	struct smc_llc_entry *entries;
	bool dead;
	wait_queue_head_t wq;
	struct work_struct work;
	struct semaphore local;
};

/**
 * struct smc_llc_link - LLC state of a link, embedded in it
 * @ctl: its group
 * @wr: its engine
 * @id: link number, for traces
 * @interval: jiffies without a receive until the link is tested, 0 off
 * @probe: number of the last TEST LINK, its user data
 * @test_now: test without waiting for @interval
 * @test_work: link test
 */
struct smc_llc_link {
	struct smc_llc_ctl *ctl;
	struct smc_wr *wr;
	u8 id;
	unsigned long interval;
	u32 probe;
	unsigned long test_now;
	struct delayed_work test_work;
};

/**
 * struct smc_llc_wait - somebody expects a message
 * @node: in ctl->waits
 * @ll: link on which it has to come
 * @type: enum smc_llc_type
 * @response: response or request
 * @key: key that a CONFIRM RKEY response has to repeat, or number of the TEST
 *	LINK; 0 any
 * @done: @msg is valid
 * @msg: the message; its list is gone
 */
struct smc_llc_wait {
	struct list_head node;
	struct smc_llc_link *ll;
	u8 type;
	bool response;
	u32 key;
	bool done;
	struct smc_llc msg;
};

/* smc_llc.c */
int smc_llc_init(struct smc_llc_ctl *ctl, const struct smc_llc_ops *ops,
		 struct net *net, u32 lgr_id, u8 version);
void smc_llc_kill(struct smc_llc_ctl *ctl);
void smc_llc_stop(struct smc_llc_ctl *ctl);
void smc_llc_free(struct smc_llc_ctl *ctl);
void smc_llc_rx(struct smc_llc_link *ll, const u8 *data, u32 len);
int smc_llc_send(struct smc_llc_link *ll, const struct smc_llc *msg,
		 unsigned int flags, struct completion *sent);
int smc_llc_reply(struct smc_llc_link *ll, const u8 *raw, u8 flags,
		  unsigned int get_flags);
void smc_llc_later(struct delayed_work *work, unsigned long delay);
int smc_llc_wq_init(void);
void smc_llc_wq_exit(void);

void smc_llc_expect(struct smc_llc_wait *wait, struct smc_llc_link *ll,
		    u8 type, bool response, u32 key);
int smc_llc_await(struct smc_llc_wait *wait, unsigned long timeout);
void smc_llc_forget(struct smc_llc_wait *wait);

/* smc_llc_flow.c */
void smc_llc_link_init(struct smc_llc_link *ll, struct smc_llc_ctl *ctl,
		       struct smc_wr *wr, u8 id);
void smc_llc_link_stop(struct smc_llc_link *ll);
int smc_llc_confirm_rkey(struct smc_llc_link *ll,
			 const struct smc_llc_rkey *own,
			 const struct smc_llc_rkey *other, unsigned int nother,
			 unsigned long deadline);
int smc_llc_delete_rkeys(struct smc_llc_link *ll, const u32 *keys,
			 unsigned int n);
void smc_llc_test_start(struct smc_llc_link *ll, unsigned long interval);
void smc_llc_test_now(struct smc_llc_link *ll);

#define SMC_LLC_DEL_BATCH	8	/* keys of one DELETE RKEY in any version */

#endif /* SMC_LLC_H */
