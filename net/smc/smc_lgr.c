// SPDX-License-Identifier: GPL-2.0
/*
 * Link groups, the part common to transports (layer 4).
 *
 * Life: a group is CREATING while the handshake that made it brings up its
 * first link; other handshakes that want the same peer wait for it without
 * holding anything. ACTIVE it takes members. Without members it stays for some
 * minutes, so that the next connection to the peer is cheap. Whatever ends it
 * (idle time, peer, device, namespace, failure) goes through smc_lgr_kill(),
 * callable from any context: the state becomes DYING under the lock under which
 * members join, so nobody joins a group that ends, and one work item does the
 * rest:
 *
 *   transport's end: peer told, queue pair drained, keys and mappings given
 *   back, device released; then each member is told by died(); then DEAD.
 *
 * Nothing in that order waits for an application. Members keep their ring
 * memory and a reference to the group until they leave on their own. The
 * group's namespace is not pinned by an idle group; namespace exit kills its
 * groups and waits until they are DEAD.
 *
 * Members are found by token without a lock. A member in the list is alive,
 * because it leaves the list before its memory goes; a member found by token
 * is pinned by ops->get() under RCU, and may get a message while it leaves.
 */
#include <kunit/visibility.h>
#include <linux/jiffies.h>

#include "smc_lgr.h"
#include "smc_smcr.h"
#include "smc_stats.h"
#include "smc_trace.h"

DECLARE_WAIT_QUEUE_HEAD(smc_lgr_gone_wq);

static struct workqueue_struct *smc_lgr_wq;
static atomic_t smc_lgr_last_token = ATOMIC_INIT(0);
static atomic_t smc_lgr_last_id = ATOMIC_INIT(0);

static const u8 smc_lgr_next[SMC_LGR_STATES] = {
	[SMC_LGR_CREATING]	= BIT(SMC_LGR_ACTIVE) | BIT(SMC_LGR_DYING),
	[SMC_LGR_ACTIVE]	= BIT(SMC_LGR_DYING),
	[SMC_LGR_DYING]		= BIT(SMC_LGR_DEAD),
	[SMC_LGR_DEAD]		= 0,
};

/**
 * smc_lgr_state_ok() - is there such a step
 * @from: enum smc_lgr_state
 * @to: enum smc_lgr_state
 *
 * Return: true if a group may go from @from to @to
 */
bool smc_lgr_state_ok(u8 from, u8 to)
{
	return from < SMC_LGR_STATES && to < SMC_LGR_STATES &&
	       smc_lgr_next[from] & BIT(to);
}
EXPORT_SYMBOL_IF_KUNIT(smc_lgr_state_ok);

/* the one setter of lgr->state */
static bool smc_lgr_set_state_locked(struct smc_lgr *lgr, u8 state)
{
	lockdep_assert_held(&lgr->lock);
	if (!smc_lgr_state_ok(lgr->state, state))
		return false;
	trace_smc_lgr_state(lgr->id, lgr->net_cookie, lgr->state, state);
	/* pairs with smc_core_gone(): all use of the namespace is before */
	smp_store_release(&lgr->state, state);
	wake_up_all(&lgr->wq);
	return true;
}

static bool smc_lgr_kill_locked(struct smc_lgr *lgr, int err)
{
	if (!smc_lgr_set_state_locked(lgr, SMC_LGR_DYING))
		return false;
	lgr->err = err;
	if (err)
		SMC_INC(lgr->net, LGR_TERMINATED);
	queue_work(smc_lgr_wq, &lgr->end_work);
	return true;
}

static void smc_lgr_idle_work(struct work_struct *work)
{
	struct smc_lgr *lgr = container_of(to_delayed_work(work),
					   struct smc_lgr, idle_work);

	spin_lock_bh(&lgr->lock);
	if (!lgr->nmembers && lgr->state == SMC_LGR_ACTIVE &&
	    (lgr->stale ||
	     !time_before(jiffies, lgr->idle_since + lgr->idle_time)))
		smc_lgr_kill_locked(lgr, 0);
	spin_unlock_bh(&lgr->lock);
}

/* next member with a pending failure, pinned */
static struct smc_member *smc_lgr_next_sick(struct smc_lgr *lgr)
{
	struct smc_member *m, *found = NULL;

	spin_lock_bh(&lgr->lock);
	list_for_each_entry(m, &lgr->members, lgr_node) {
		if (!READ_ONCE(m->failed))
			continue;
		list_move_tail(&m->lgr_node, &lgr->told);
		if (m->ops->get(m))
			found = m;
		break;
	}
	spin_unlock_bh(&lgr->lock);
	return found;
}

static void smc_lgr_sick_work(struct work_struct *work)
{
	struct smc_lgr *lgr = container_of(work, struct smc_lgr, sick_work);
	struct smc_member *m;

	while ((m = smc_lgr_next_sick(lgr))) {
		m->ops->died(m, -EPROTO);
		m->ops->put(m);
	}
}

static void smc_lgr_tell_members(struct smc_lgr *lgr)
{
	struct smc_member *m;

	spin_lock_bh(&lgr->lock);
	while ((m = list_first_entry_or_null(&lgr->members, struct smc_member,
					     lgr_node))) {
		list_move_tail(&m->lgr_node, &lgr->told);
		if (!m->ops->get(m))
			continue;
		spin_unlock_bh(&lgr->lock);
		m->ops->died(m, lgr->err ?: -ECONNABORTED);
		m->ops->put(m);
		spin_lock_bh(&lgr->lock);
	}
	SMC_INC(lgr->net, LGR_FREED);
	smc_lgr_set_state_locked(lgr, SMC_LGR_DEAD);
	spin_unlock_bh(&lgr->lock);
	wake_up_all(&smc_lgr_gone_wq);
}

static void smc_lgr_end_work(struct work_struct *work)
{
	struct smc_lgr *lgr = container_of(work, struct smc_lgr, end_work);

	lgr->ops->end(lgr);
	disable_delayed_work_sync(&lgr->idle_work);
	disable_work_sync(&lgr->sick_work);
	smc_lgr_tell_members(lgr);
	smc_lgr_put(lgr);
}

/**
 * smc_lgr_init() - start the life of a group
 * @lgr: zeroed memory; the transport has set idle_time and max_members
 * @ops: transport's part
 * @net: namespace of the socket that wants the group
 *
 * The caller owns the reference for the life, which smc_lgr_kill() ends.
 */
void smc_lgr_init(struct smc_lgr *lgr, const struct smc_lgr_ops *ops,
		  struct net *net)
{
	/* the low byte is for link numbers; 0 is no id */
	do {
		lgr->id = (u32)atomic_add_return(256, &smc_lgr_last_id);
	} while (!lgr->id);
	lgr->ops = ops;
	lgr->net = net;
	lgr->net_cookie = net->net_cookie;
	refcount_set(&lgr->refs, 1);
	spin_lock_init(&lgr->lock);
	lgr->state = SMC_LGR_CREATING;
	INIT_HLIST_NODE(&lgr->node);
	INIT_LIST_HEAD(&lgr->members);
	INIT_LIST_HEAD(&lgr->told);
	init_waitqueue_head(&lgr->wq);
	xa_init(&lgr->tokens);
	INIT_DELAYED_WORK(&lgr->idle_work, smc_lgr_idle_work);
	INIT_WORK(&lgr->sick_work, smc_lgr_sick_work);
	INIT_WORK(&lgr->end_work, smc_lgr_end_work);
}

/**
 * smc_lgr_uninit() - undo smc_lgr_init()
 * @lgr: group without references
 */
void smc_lgr_uninit(struct smc_lgr *lgr)
{
	xa_destroy(&lgr->tokens);
}

/**
 * smc_lgr_put() - drop a reference
 * @lgr: group
 *
 * Context: process.
 */
void smc_lgr_put(struct smc_lgr *lgr)
{
	if (refcount_dec_and_test(&lgr->refs))
		lgr->ops->free(lgr);
}

/**
 * __smc_lgr_join() - make a connection a member
 * @lgr: group; lock held
 * @m: member of no group
 *
 * The member takes a reference. It may be told of the end of the group from now
 * on. Context: any.
 *
 * Return: 0; -EAGAIN: group in creation by another member; -ENOLINK: it ends or
 * takes nobody; -ENOSPC: full
 */
int __smc_lgr_join(struct smc_lgr *lgr, struct smc_member *m)
{
	lockdep_assert_held(&lgr->lock);
	if (lgr->state > SMC_LGR_ACTIVE || lgr->stale)
		return -ENOLINK;
	if (lgr->state == SMC_LGR_CREATING) {
		if (lgr->creator)
			return -EAGAIN;
		lgr->creator = m;
	}
	if (lgr->nmembers >= lgr->max_members)
		return -ENOSPC;
	if (!lgr->nmembers++)
		cancel_delayed_work(&lgr->idle_work);
	m->failed = false;
	list_add_tail(&m->lgr_node, &lgr->members);
	smc_lgr_hold(lgr);
	m->lgr = lgr;
	return 0;
}

/**
 * smc_lgr_token() - give a member its token
 * @lgr: its group
 * @m: member
 *
 * Tokens are never 0 and unique in the group. The token is only reserved;
 * messages to it find nobody before smc_lgr_publish(). RFC 7609, 4.4.3.
 * Context: process.
 *
 * Return: 0 or -ENOMEM
 */
int smc_lgr_token(struct smc_lgr *lgr, struct smc_member *m)
{
	u32 token;
	int rc;

	do {
		token = (u32)atomic_inc_return(&smc_lgr_last_token);
		rc = token ? xa_insert(&lgr->tokens, token, NULL, GFP_KERNEL) :
			     -EBUSY;
	} while (rc == -EBUSY);
	if (!rc)
		m->token = token;
	return rc;
}

/**
 * smc_lgr_publish() - let received messages find a member
 * @lgr: its group
 * @m: member with token and rings
 *
 * Context: process.
 *
 * Return: 0 or -ENOMEM
 */
int smc_lgr_publish(struct smc_lgr *lgr, struct smc_member *m)
{
	return xa_err(xa_store(&lgr->tokens, m->token, m, GFP_KERNEL));
}

/**
 * smc_lgr_leave() - end a membership
 * @lgr: group of @m; the reference of the member is left to the caller
 * @m: member
 *
 * Up-calls with a member that were under way may still run when this returns
 * (rx_cdc, died); they hold a reference of the member. Context: process.
 */
void smc_lgr_leave(struct smc_lgr *lgr, struct smc_member *m)
{
	if (m->token)
		xa_erase(&lgr->tokens, m->token);
	m->token = 0;

	spin_lock_bh(&lgr->lock);
	list_del_init(&m->lgr_node);
	if (lgr->creator == m)
		lgr->creator = NULL;
	if (!--lgr->nmembers && lgr->state == SMC_LGR_ACTIVE) {
		lgr->idle_since = jiffies;
		mod_delayed_work(smc_lgr_wq, &lgr->idle_work,
				 lgr->stale ? 0 : lgr->idle_time);
	}
	spin_unlock_bh(&lgr->lock);
}

/**
 * smc_lgr_rx_cdc() - hand a received CDC message to its member
 * @lgr: group of the link it came on
 * @cdc: message
 *
 * Context: softirq; one at a time per link.
 *
 * Return: false if the token belongs to nobody
 */
bool smc_lgr_rx_cdc(struct smc_lgr *lgr, const struct smc_cdc *cdc)
{
	struct smc_member *m;

	rcu_read_lock();
	m = xa_load(&lgr->tokens, cdc->token);
	if (m && !m->ops->get(m))
		m = NULL;
	if (m) {
		m->ops->rx_cdc(m, cdc);
		m->ops->put(m);
	}
	rcu_read_unlock();
	return m;
}

/**
 * smc_lgr_sick() - have members with the mark "failed" told
 * @lgr: group
 *
 * Each such member gets died() as if the group had ended for it alone.
 * Context: any.
 */
void smc_lgr_sick(struct smc_lgr *lgr)
{
	queue_work(smc_lgr_wq, &lgr->sick_work);
}

/**
 * smc_lgr_established() - creation has succeeded
 * @lgr: group, called by its creator
 *
 * Context: process.
 */
void smc_lgr_established(struct smc_lgr *lgr)
{
	spin_lock_bh(&lgr->lock);
	lgr->creator = NULL;
	if (smc_lgr_set_state_locked(lgr, SMC_LGR_ACTIVE))
		SMC_INC(lgr->net, LGR_CREATED);
	spin_unlock_bh(&lgr->lock);
}

/**
 * smc_lgr_wait_created() - wait while another handshake creates a group
 * @lgr: group, reference held by the caller
 * @timeout: jiffies
 *
 * Context: process, sleeps, no lock held.
 *
 * Return: false if it is still being created
 */
bool smc_lgr_wait_created(struct smc_lgr *lgr, unsigned long timeout)
{
	return wait_event_idle_timeout(lgr->wq, READ_ONCE(lgr->state) !=
				       SMC_LGR_CREATING, timeout);
}

/**
 * smc_lgr_out_of_sync() - take no more members
 * @lgr: group
 *
 * Context: any.
 */
void smc_lgr_out_of_sync(struct smc_lgr *lgr)
{
	spin_lock_bh(&lgr->lock);
	lgr->stale = true;
	spin_unlock_bh(&lgr->lock);
}

/**
 * smc_lgr_kill() - end a group
 * @lgr: group, reference held by the caller
 * @err: negative errno for members, 0 for an orderly end without any
 *
 * Returns at once; the work is done by lgr->end_work. Context: any.
 *
 * Return: true if this call did it, false if the group ended already
 */
bool smc_lgr_kill(struct smc_lgr *lgr, int err)
{
	bool first;

	spin_lock_bh(&lgr->lock);
	first = smc_lgr_kill_locked(lgr, err);
	spin_unlock_bh(&lgr->lock);
	return first;
}

/**
 * smc_lgr_queue() - run a work item of a group
 * @work: work
 *
 * Context: any.
 */
void smc_lgr_queue(struct work_struct *work)
{
	queue_work(smc_lgr_wq, work);
}

/**
 * smc_lgr_wq_init() - make the workqueue of link groups
 *
 * Return: 0 or -ENOMEM
 */
int smc_lgr_wq_init(void)
{
	smc_lgr_wq = alloc_workqueue("smc_lgr", WQ_MEM_RECLAIM | WQ_UNBOUND,
				     0);
	return smc_lgr_wq ? 0 : -ENOMEM;
}

/**
 * smc_lgr_wq_exit() - undo smc_lgr_wq_init(); no group exists any more
 */
void smc_lgr_wq_exit(void)
{
	destroy_workqueue(smc_lgr_wq);
}
