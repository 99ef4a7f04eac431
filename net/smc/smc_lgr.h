/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Link group, the part common to transports (layer 4): references, state,
 * members, tokens, end.
 */
#ifndef SMC_LGR_H
#define SMC_LGR_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "smc_transport.h"

struct smc_lgr;

enum smc_lgr_state {
	SMC_LGR_CREATING,	/* belongs to one handshake, others may wait */
	SMC_LGR_ACTIVE,
	SMC_LGR_DYING,		/* end_work is due or runs */
	SMC_LGR_DEAD,		/* nothing left but members that have not left */
	SMC_LGR_STATES
};

/**
 * struct smc_lgr_ops - the transport's part of a group
 * @end: process, once, state is DYING: give everything back that is not memory
 *	of members (links, devices); must not wait for members
 * @free: process, last reference is gone
 */
struct smc_lgr_ops {
	void (*end)(struct smc_lgr *lgr);
	void (*free)(struct smc_lgr *lgr);
};

/**
 * struct smc_lgr - link group, embedded in the transport's
 * @ops: transport
 * @node: registry, under its lock (smc_core.c)
 * @refs: one for the life up to the end of end_work, one per member and link
 * @rcu: for the transport's free
 * @id: shown to users, unique among groups; low byte 0
 * @net: namespace, not used once the state is DEAD; not pinned: its exit ends
 *	the group and waits for that state
 * @net_cookie: its cookie
 * @idle_time: jiffies after which an empty group ends
 * @max_members: limit
 * @lock: BH; everything below down to @told, and the state of links. Inner to
 *	the registry's lock, outer to no other
 * @state: enum smc_lgr_state, see smc_lgr_set_state_locked()
 * @err: why it ended, negative errno
 * @creator: member whose handshake creates the group
 * @stale: takes no new members
 * @idle_since: jiffies, valid without members
 * @nmembers: members that have not left
 * @members: those that were not told of the end
 * @told: those that were
 * @wq: woken on each change of @state
 * @tokens: members by token; a reserved token has no entry. Read under RCU
 * @idle_work: ends an idle group
 * @sick_work: tells single members that they cannot go on
 * @end_work: ends the group
 */
struct smc_lgr {
	const struct smc_lgr_ops *ops;
	struct hlist_node node;
	refcount_t refs;
	struct rcu_head rcu;
	u32 id;
	struct net *net;
	u64 net_cookie;
	unsigned long idle_time;
	unsigned int max_members;

	spinlock_t lock;		/* down to told; state of links */
	u8 state;
	bool stale;
	int err;
	struct smc_member *creator;
	unsigned long idle_since;
	unsigned int nmembers;
	struct list_head members;
	struct list_head told;

	wait_queue_head_t wq;
	struct xarray tokens;
	struct delayed_work idle_work;
	struct work_struct sick_work;
	struct work_struct end_work;
};

void smc_lgr_init(struct smc_lgr *lgr, const struct smc_lgr_ops *ops,
		  struct net *net);
void smc_lgr_uninit(struct smc_lgr *lgr);
void smc_lgr_put(struct smc_lgr *lgr);
bool smc_lgr_state_ok(u8 from, u8 to);
int __smc_lgr_join(struct smc_lgr *lgr, struct smc_member *m);
int smc_lgr_token(struct smc_lgr *lgr, struct smc_member *m);
int smc_lgr_publish(struct smc_lgr *lgr, struct smc_member *m);
void smc_lgr_leave(struct smc_lgr *lgr, struct smc_member *m);
bool smc_lgr_rx_cdc(struct smc_lgr *lgr, const struct smc_cdc *cdc);
void smc_lgr_sick(struct smc_lgr *lgr);
void smc_lgr_established(struct smc_lgr *lgr);
bool smc_lgr_wait_created(struct smc_lgr *lgr, unsigned long timeout);
void smc_lgr_out_of_sync(struct smc_lgr *lgr);
bool smc_lgr_kill(struct smc_lgr *lgr, int err);

/* woken when a group is DEAD or freed */
extern wait_queue_head_t smc_lgr_gone_wq;

int smc_lgr_wq_init(void);
void smc_lgr_wq_exit(void);
void smc_lgr_queue(struct work_struct *work);

static inline bool smc_lgr_is_dead(const struct smc_lgr *lgr)
{
	/* pairs with the setter: the namespace is not used any more */
	return smp_load_acquire(&lgr->state) == SMC_LGR_DEAD;
}

static inline void smc_lgr_hold(struct smc_lgr *lgr)
{
	refcount_inc(&lgr->refs);
}

static inline bool smc_lgr_tryget(struct smc_lgr *lgr)
{
	return refcount_inc_not_zero(&lgr->refs);
}

#endif /* SMC_LGR_H */
