// SPDX-License-Identifier: GPL-2.0
/*
 * Registry of link groups (layer 4): each group from its creation until its
 * memory goes, by peer.
 *
 * A handshake that needs a group looks here under a spinlock; what fits and is
 * active it joins in the same step. A group that another handshake creates is
 * reported, and the seeker waits on that group alone. Adding repeats the look
 * under the lock, so of several seekers one becomes the creator and the others
 * find its group.
 *
 * The registry holds no reference: a group leaves it when its last one goes.
 */
#include <linux/hashtable.h>
#include <linux/jhash.h>

#include "smc_core.h"

/* smc_lgrs, and the decision to join; outer to lgr->lock; process context */
static DEFINE_SPINLOCK(smc_core_lock);
static DEFINE_HASHTABLE(smc_lgrs, 7);
static atomic_t smc_core_gen = ATOMIC_INIT(0);

static struct smc_lgr *smc_core_find_locked(const struct smc_core_seek *seek,
					    bool *wait)
{
	struct smc_lgr *lgr, *created = NULL;

	lockdep_assert_held(&smc_core_lock);
	*wait = false;
	hash_for_each_possible(smc_lgrs, lgr, node, seek->key) {
		int m = seek->match(lgr, seek->arg);

		/* the seeker has a reference as a member, so get succeeds */
		if (m == SMC_MATCH_TAKEN && smc_lgr_tryget(lgr))
			return lgr;
		if (m == SMC_MATCH_WAIT)
			created = lgr;
	}
	if (!created || !smc_lgr_tryget(created))
		return NULL;
	*wait = true;
	return created;
}

/**
 * smc_core_find() - look for a group
 * @seek: what is wanted
 * @wait: the result fits but is still being created
 *
 * Context: process.
 * Return: group with a reference, or NULL
 */
struct smc_lgr *smc_core_find(const struct smc_core_seek *seek, bool *wait)
{
	guard(spinlock)(&smc_core_lock);
	return smc_core_find_locked(seek, wait);
}

/**
 * smc_core_add() - put a new group into the registry
 * @lgr: group
 * @seek: what it is made for; @seek->match NULL: add it in any case
 * @wait: as for smc_core_find()
 *
 * Context: process.
 * Return: NULL if it was added; else a group that fits, as from
 * smc_core_find()
 */
struct smc_lgr *smc_core_add(struct smc_lgr *lgr,
			     const struct smc_core_seek *seek, bool *wait)
{
	struct smc_lgr *other = NULL;

	guard(spinlock)(&smc_core_lock);
	if (seek->match)
		other = smc_core_find_locked(seek, wait);
	if (other)
		return other;
	hash_add(smc_lgrs, &lgr->node, seek->key);
	atomic_inc(&smc_core_gen);
	return NULL;
}

/**
 * smc_core_del() - the last reference of a group is gone
 * @lgr: group; ignored if it never was added
 *
 * The group must not use its namespace afterwards. Context: process.
 */
void smc_core_del(struct smc_lgr *lgr)
{
	spin_lock(&smc_core_lock);
	if (!hlist_unhashed(&lgr->node))
		hash_del(&lgr->node);
	atomic_inc(&smc_core_gen);
	spin_unlock(&smc_core_lock);
	wake_up_all(&smc_lgr_gone_wq);
}

/**
 * smc_core_next() - group with the next higher id
 * @after: id
 *
 * Context: process.
 * Return: group with a reference, or NULL at the end
 */
struct smc_lgr *smc_core_next(u32 after)
{
	struct smc_lgr *lgr, *best;
	u32 floor = after;
	int bkt;

	guard(spinlock)(&smc_core_lock);
	do {
		best = NULL;
		hash_for_each(smc_lgrs, bkt, lgr, node)
			if (lgr->id > floor && (!best || lgr->id < best->id))
				best = lgr;
		if (best)
			floor = best->id;
	} while (best && !smc_lgr_tryget(best));
	return best;
}

/**
 * smc_core_visit() - call a function for all groups
 * @fn: registry's lock held: no sleep, no allocation, no call of the registry
 * @arg: for @fn
 *
 * Context: process, memory reclaim included.
 */
void smc_core_visit(void (*fn)(struct smc_lgr *lgr, void *arg), void *arg)
{
	struct smc_lgr *lgr;
	int bkt;

	guard(spinlock)(&smc_core_lock);
	hash_for_each(smc_lgrs, bkt, lgr, node)
		fn(lgr, arg);
}

/* a dead group is memory of members that have not left; it does not use its
 * namespace
 */
static bool smc_core_gone(const struct net *net)
{
	struct smc_lgr *lgr;
	int bkt;

	guard(spinlock)(&smc_core_lock);
	hash_for_each(smc_lgrs, bkt, lgr, node)
		if (!net || (lgr->net == net && !smc_lgr_is_dead(lgr)))
			return false;
	return true;
}

/**
 * smc_core_wait_gone() - wait for groups that were killed
 * @net: until those of this namespace have given all back, or NULL: until all
 *	groups are freed, which takes that there are no members any more
 *
 * Context: process, sleeps.
 */
void smc_core_wait_gone(const struct net *net)
{
	wait_event(smc_lgr_gone_wq, smc_core_gone(net));
}

/**
 * smc_core_generation() - changes with the set of groups
 *
 * Return: number of additions and removals
 */
u32 smc_core_generation(void)
{
	return atomic_read(&smc_core_gen);
}
