// SPDX-License-Identifier: GPL-2.0
/*
 * Remote tokens (layer 4).
 *
 * Entries come from CLC Accept and Confirm, CONFIRM RKEY and the lists of ADD
 * LINK, and go with DELETE RKEY. A connection holds the entry it writes to: it
 * cannot become the entry of another buffer under a writer, so a key that the
 * peer takes back too early makes the write fail here and never hits the link.
 *
 * Entries without a holder are only a promise of the peer: CLC names key and
 * address again before a connection uses them. So a full table gives up the
 * oldest of them instead of refusing a connection.
 */
#include <kunit/visibility.h>
#include <linux/errno.h>

#include "smc_rtoken.h"

/**
 * smc_rtokens_init() - make an empty table
 * @t: zeroed memory
 */
void smc_rtokens_init(struct smc_rtokens *t)
{
	spin_lock_init(&t->lock);
}
EXPORT_SYMBOL_IF_KUNIT(smc_rtokens_init);

/* entry with @rkey (and @addr, if not NULL) on @link, or -ENOENT */
static int __smc_rtoken_find(struct smc_rtokens *t, unsigned int link,
			     const u64 *addr, u32 rkey)
{
	unsigned int i;

	lockdep_assert_held(&t->lock);
	for_each_set_bit(i, t->busy, SMC_RTOKENS) {
		const struct smc_rtoken *tok = &t->tok[i];

		if (tok->live && tok->at[link].rkey == rkey &&
		    (!addr || tok->at[link].addr == *addr))
			return i;
	}
	return -ENOENT;
}

/* free entry, or the oldest one that nobody holds */
static int __smc_rtoken_slot(struct smc_rtokens *t)
{
	unsigned int i = find_first_zero_bit(t->busy, SMC_RTOKENS);
	int oldest = -ENOSPC;

	lockdep_assert_held(&t->lock);
	if (i < SMC_RTOKENS)
		return i;
	for (i = 0; i < SMC_RTOKENS; i++) {
		if (t->tok[i].users)
			continue;
		if (oldest < 0 ||
		    (s32)(t->tok[i].used - t->tok[oldest].used) < 0)
			oldest = i;
	}
	return oldest;
}

static void __smc_rtoken_hold(struct smc_rtokens *t, int idx)
{
	lockdep_assert_held(&t->lock);
	if (!t->tok[idx].users++)
		t->nheld++;
}

/* takes key and address of a link; the key is what makes both visible */
static void __smc_rtoken_store(struct smc_rtoken *tok, unsigned int link,
			       u64 addr, u32 rkey)
{
	WRITE_ONCE(tok->at[link].rkey, 0);
	smp_wmb();	/* pairs with smp_rmb() in smc_rtoken_at() */
	WRITE_ONCE(tok->at[link].addr, addr);
	/* pairs with smp_load_acquire() in smc_rtoken_at() */
	smp_store_release(&tok->at[link].rkey, rkey);
}

static void __smc_rtoken_wipe(struct smc_rtoken *tok)
{
	unsigned int i;

	for (i = 0; i < SMC_RTOKEN_LINKS; i++)
		WRITE_ONCE(tok->at[i].rkey, 0);
	tok->live = false;
}

/**
 * smc_rtoken_add() - take a buffer of the peer into the table
 * @t: table
 * @link: link index on which @addr and @rkey are valid
 * @addr: address, not zero
 * @rkey: key, not zero
 * @hold: take a reference for a connection, see smc_rtoken_put()
 *
 * The same buffer announced again gives the same entry. RFC 7609, 4.5.4 and
 * A.3. Context: any but hard interrupt.
 *
 * Return: index of the entry, -EINVAL for a zero key or address, -ENOSPC if all
 * entries are held
 */
int smc_rtoken_add(struct smc_rtokens *t, unsigned int link, u64 addr,
		   u32 rkey, bool hold)
{
	int idx;

	if (!addr || !rkey || link >= SMC_RTOKEN_LINKS)
		return -EINVAL;

	spin_lock_bh(&t->lock);
	idx = __smc_rtoken_find(t, link, &addr, rkey);
	if (idx < 0) {
		idx = __smc_rtoken_slot(t);
		if (idx < 0)
			goto out;
		__smc_rtoken_wipe(&t->tok[idx]);
		__smc_rtoken_store(&t->tok[idx], link, addr, rkey);
		t->tok[idx].live = true;
		__set_bit(idx, t->busy);
	}
	t->tok[idx].used = ++t->clock;
	if (hold)
		__smc_rtoken_hold(t, idx);
out:
	spin_unlock_bh(&t->lock);
	return idx;
}
EXPORT_SYMBOL_IF_KUNIT(smc_rtoken_add);

/**
 * smc_rtoken_hold() - a connection will write to a buffer that was announced
 * @t: table
 * @link: link index on which @addr and @rkey are valid
 * @addr: address
 * @rkey: key
 *
 * RFC 7609, 4.5.4: in an existing group a buffer is announced over the link
 * before the handshake names it, so one that was not comes from somebody else.
 * Context: any but hard interrupt.
 *
 * Return: index of the entry, for smc_rtoken_put(); -ENOENT
 */
int smc_rtoken_hold(struct smc_rtokens *t, unsigned int link, u64 addr,
		    u32 rkey)
{
	int idx = -ENOENT;

	if (!addr || !rkey || link >= SMC_RTOKEN_LINKS)
		return idx;
	spin_lock_bh(&t->lock);
	idx = __smc_rtoken_find(t, link, &addr, rkey);
	if (idx >= 0) {
		t->tok[idx].used = ++t->clock;
		__smc_rtoken_hold(t, idx);
	}
	spin_unlock_bh(&t->lock);
	return idx < 0 ? -ENOENT : idx;
}
EXPORT_SYMBOL_IF_KUNIT(smc_rtoken_hold);

/**
 * smc_rtoken_put() - give back what smc_rtoken_add() held
 * @t: table
 * @idx: index
 *
 * Context: any but hard interrupt.
 */
void smc_rtoken_put(struct smc_rtokens *t, int idx)
{
	spin_lock_bh(&t->lock);
	if (!--t->tok[idx].users) {
		t->nheld--;
		if (!t->tok[idx].live)
			__clear_bit(idx, t->busy);
	}
	spin_unlock_bh(&t->lock);
}
EXPORT_SYMBOL_IF_KUNIT(smc_rtoken_put);

/**
 * smc_rtoken_set_link() - key and address of an entry on a further link
 * @t: table
 * @idx: index from smc_rtoken_add()
 * @link: link index
 * @addr: address, not zero
 * @rkey: key, not zero
 *
 * Context: any but hard interrupt.
 *
 * Return: 0, -EINVAL, or -ENOENT if the peer took the buffer back meanwhile
 */
int smc_rtoken_set_link(struct smc_rtokens *t, int idx, unsigned int link,
			u64 addr, u32 rkey)
{
	int rc = 0;

	if (!addr || !rkey || link >= SMC_RTOKEN_LINKS)
		return -EINVAL;

	spin_lock_bh(&t->lock);
	if (!t->tok[idx].live)
		rc = -ENOENT;
	else if (t->tok[idx].at[link].rkey != rkey ||
		 t->tok[idx].at[link].addr != addr)
		__smc_rtoken_store(&t->tok[idx], link, addr, rkey);
	spin_unlock_bh(&t->lock);
	return rc;
}
EXPORT_SYMBOL_IF_KUNIT(smc_rtoken_set_link);

/**
 * smc_rtoken_extend() - as smc_rtoken_set_link(), entry named by a known key
 * @t: table
 * @known_link: link index on which @known_rkey is known
 * @known_rkey: key on that link
 * @link: index of the new link
 * @addr: address on the new link
 * @rkey: key on the new link
 *
 * For the lists of ADD LINK and ADD LINK CONT, RFC 7609, A.3.
 * Context: any but hard interrupt.
 *
 * Return: 0, -EINVAL, or -ENOENT if no entry has @known_rkey
 */
int smc_rtoken_extend(struct smc_rtokens *t, unsigned int known_link,
		      u32 known_rkey, unsigned int link, u64 addr, u32 rkey)
{
	int idx;

	if (!addr || !rkey || !known_rkey || link >= SMC_RTOKEN_LINKS ||
	    known_link >= SMC_RTOKEN_LINKS)
		return -EINVAL;

	spin_lock_bh(&t->lock);
	idx = __smc_rtoken_find(t, known_link, NULL, known_rkey);
	if (idx >= 0)
		__smc_rtoken_store(&t->tok[idx], link, addr, rkey);
	spin_unlock_bh(&t->lock);
	return min(idx, 0);
}
EXPORT_SYMBOL_IF_KUNIT(smc_rtoken_extend);

/**
 * smc_rtoken_del() - the peer takes a buffer back
 * @t: table
 * @link: index of the link on which the request came
 * @rkey: key on that link
 *
 * Writers that still hold the entry see no key any more; the entry is free when
 * the last of them has left. Context: any but hard interrupt.
 *
 * Return: 0 or -ENOENT
 */
int smc_rtoken_del(struct smc_rtokens *t, unsigned int link, u32 rkey)
{
	int idx = -ENOENT;

	if (!rkey || link >= SMC_RTOKEN_LINKS)
		return -ENOENT;

	spin_lock_bh(&t->lock);
	idx = __smc_rtoken_find(t, link, NULL, rkey);
	if (idx >= 0) {
		__smc_rtoken_wipe(&t->tok[idx]);
		if (!t->tok[idx].users)
			__clear_bit(idx, t->busy);
	}
	spin_unlock_bh(&t->lock);
	return min(idx, 0);
}
EXPORT_SYMBOL_IF_KUNIT(smc_rtoken_del);

/**
 * smc_rtoken_at() - where to write to
 * @t: table
 * @idx: entry held by the caller
 * @link: link index
 * @addr: address of the buffer on that link
 * @rkey: its key
 *
 * Context: any, no lock.
 *
 * Return: false if the peer has taken the buffer back or never announced it for
 * that link: nothing may be written
 */
bool smc_rtoken_at(const struct smc_rtokens *t, int idx, unsigned int link,
		   u64 *addr, u32 *rkey)
{
	const struct smc_rtoken *tok;

	if (idx < 0 || idx >= SMC_RTOKENS || link >= SMC_RTOKEN_LINKS)
		return false;
	tok = &t->tok[idx];
	/* pairs with smp_store_release() in __smc_rtoken_store() */
	*rkey = smp_load_acquire(&tok->at[link].rkey);
	*addr = READ_ONCE(tok->at[link].addr);
	smp_rmb();	/* pairs with smp_wmb() in __smc_rtoken_store() */
	return *rkey && READ_ONCE(tok->at[link].rkey) == *rkey;
}
EXPORT_SYMBOL_IF_KUNIT(smc_rtoken_at);

/**
 * smc_rtoken_clear_link() - forget the keys of a link that is gone
 * @t: table
 * @link: link index
 *
 * Entries known on no other link are free unless held.
 * Context: any but hard interrupt.
 */
void smc_rtoken_clear_link(struct smc_rtokens *t, unsigned int link)
{
	unsigned int i, j;

	spin_lock_bh(&t->lock);
	for_each_set_bit(i, t->busy, SMC_RTOKENS) {
		struct smc_rtoken *tok = &t->tok[i];
		bool known = false;

		WRITE_ONCE(tok->at[link].rkey, 0);
		for (j = 0; j < SMC_RTOKEN_LINKS; j++)
			known |= tok->at[j].rkey;
		if (known)
			continue;
		tok->live = false;
		if (!tok->users)
			__clear_bit(i, t->busy);
	}
	spin_unlock_bh(&t->lock);
}
EXPORT_SYMBOL_IF_KUNIT(smc_rtoken_clear_link);

/**
 * smc_rtoken_room() - may one more connection find an entry
 * @t: table
 *
 * Context: any but hard interrupt.
 *
 * Return: false if all entries are held
 */
bool smc_rtoken_room(struct smc_rtokens *t)
{
	return READ_ONCE(t->nheld) < SMC_RTOKENS;
}
EXPORT_SYMBOL_IF_KUNIT(smc_rtoken_room);
