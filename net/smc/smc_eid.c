// SPDX-License-Identifier: GPL-2.0
/*
 * EIDs: the table of user EIDs and the system EID. One table for the whole
 * system because link groups are shared by all its namespaces and an EID names
 * the host. A change acts on later handshakes, link groups keep what they have
 * agreed on.
 */
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/netlink.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include <kunit/visibility.h>

#include "smc_eid.h"

/* covers eid_table, eid_count, seid_on; process context only */
static DEFINE_SPINLOCK(eid_lock);
static u8 eid_table[SMC_EID_MAX][SMC_EID_BYTES];
static unsigned int eid_count;
static bool seid_on = IS_ENABLED(CONFIG_S390);

static bool ueid_char(u8 c, bool first)
{
	/* isalnum() and friends take Latin-1 letters too */
	if (!isascii(c))
		return false;
	if (isupper(c) || isdigit(c))
		return true;
	return !first && (c == '.' || c == '-');
}

/**
 * smc_eid_valid_ueid - check the syntax of a user EID
 * @eid: 32 bytes
 *
 * Upper case letters, digits, '.' and '-'; a letter or digit first, no two dots
 * in a row, white space at the end only (architecture document, "user-defined
 * EID"). Any context.
 *
 * Return: true if @eid may be used as a UEID.
 */
bool smc_eid_valid_ueid(const u8 eid[SMC_EID_BYTES])
{
	unsigned int len = SMC_EID_BYTES;
	unsigned int i;

	while (len && isascii(eid[len - 1]) && isspace(eid[len - 1]))
		len--;
	if (!len)
		return false;
	for (i = 0; i < len; i++) {
		if (!ueid_char(eid[i], !i))
			return false;
		if (i && eid[i] == '.' && eid[i - 1] == '.')
			return false;
	}
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(smc_eid_valid_ueid);

/* index in the table, or -1 */
static int eid_index_locked(const u8 *eid)
{
	unsigned int i;

	lockdep_assert_held(&eid_lock);
	for (i = 0; i < eid_count; i++)
		if (!memcmp(eid_table[i], eid, SMC_EID_BYTES))
			return i;
	return -1;
}

/**
 * smc_eid_add - add a user EID
 * @eid: 32 characters, blank padded; copied
 * @extack: gets the reason of a refusal, may be NULL
 *
 * Context: process.
 * Return: 0, -EINVAL for bad syntax, -EEXIST, -ERANGE if the table is full.
 */
int smc_eid_add(const u8 eid[SMC_EID_BYTES], struct netlink_ext_ack *extack)
{
	int rc = 0;

	if (!smc_eid_valid_ueid(eid)) {
		NL_SET_ERR_MSG(extack, "EID must be of A-Z, 0-9, '.', '-', letter or digit first");
		return -EINVAL;
	}
	spin_lock(&eid_lock);
	if (eid_index_locked(eid) >= 0)
		rc = -EEXIST;
	else if (eid_count == SMC_EID_MAX)
		rc = -ERANGE;
	else
		memcpy(eid_table[eid_count++], eid, SMC_EID_BYTES);
	spin_unlock(&eid_lock);

	if (rc == -EEXIST)
		NL_SET_ERR_MSG(extack, "EID exists");
	else if (rc == -ERANGE)
		NL_SET_ERR_MSG(extack, "EID table is full");
	return rc;
}
EXPORT_SYMBOL_IF_KUNIT(smc_eid_add);

/* without a UEID the SEID must not stay off: true if it was switched on */
static bool seid_restore_locked(void)
{
	lockdep_assert_held(&eid_lock);
	if (!IS_ENABLED(CONFIG_S390) || eid_count || seid_on)
		return false;
	seid_on = true;
	return true;
}

/**
 * smc_eid_del - remove a user EID
 * @eid: 32 characters, blank padded; the syntax is not checked
 * @extack: gets the reason of a refusal, may be NULL
 *
 * Context: process.
 * Return: 0, -ENOENT, or -EAGAIN: the last UEID was removed and that enabled the
 * SEID again (s390 only).
 */
int smc_eid_del(const u8 eid[SMC_EID_BYTES], struct netlink_ext_ack *extack)
{
	bool restored = false;
	int i;

	spin_lock(&eid_lock);
	i = eid_index_locked(eid);
	if (i >= 0) {
		eid_count--;
		memmove(eid_table[i], eid_table[i + 1],
			(eid_count - i) * SMC_EID_BYTES);
		restored = seid_restore_locked();
	}
	spin_unlock(&eid_lock);

	if (i < 0) {
		NL_SET_ERR_MSG(extack, "no such EID");
		return -ENOENT;
	}
	return restored ? -EAGAIN : 0;
}
EXPORT_SYMBOL_IF_KUNIT(smc_eid_del);

/**
 * smc_eid_flush - remove all user EIDs
 *
 * Context: process.
 */
void smc_eid_flush(void)
{
	guard(spinlock)(&eid_lock);
	eid_count = 0;
	seid_restore_locked();
}
EXPORT_SYMBOL_IF_KUNIT(smc_eid_flush);

/**
 * smc_eid_snapshot - copy the user EIDs
 * @eids: room for @max EIDs
 * @max: number of EIDs that fit
 *
 * Context: process.
 * Return: number copied, in the order in which they were added.
 */
unsigned int smc_eid_snapshot(u8 eids[][SMC_EID_BYTES], unsigned int max)
{
	unsigned int n;

	guard(spinlock)(&eid_lock);
	n = min(eid_count, max);
	memcpy(eids, eid_table, n * SMC_EID_BYTES);
	return n;
}
EXPORT_SYMBOL_IF_KUNIT(smc_eid_snapshot);

/**
 * smc_eid_match - choose the common user EID, server side
 * @client: EIDs of the client's proposal, in its order
 * @n: their number
 * @out: the first of them that exists here; untouched if there is none
 *
 * Context: process.
 * Return: true if there is a common EID.
 */
bool smc_eid_match(const u8 client[][SMC_EID_BYTES], unsigned int n,
		   u8 out[SMC_EID_BYTES])
{
	unsigned int i;

	guard(spinlock)(&eid_lock);
	for (i = 0; i < n; i++) {
		if (eid_index_locked(client[i]) < 0)
			continue;
		memcpy(out, client[i], SMC_EID_BYTES);
		return true;
	}
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(smc_eid_match);

/**
 * smc_eid_have_any - is there a user EID at all
 *
 * Context: any; the answer may be outdated at once.
 * Return: true if the table is not empty.
 */
bool smc_eid_have_any(void)
{
	return READ_ONCE(eid_count);
}
EXPORT_SYMBOL_IF_KUNIT(smc_eid_have_any);

/**
 * smc_eid_set_seid - switch the system EID on or off
 * @on: which
 * @extack: gets the reason of a refusal, may be NULL
 *
 * Context: process.
 * Return: 0, -EOPNOTSUPP where the platform has none, -ENOENT if it goes off
 * and no user EID is left in its place.
 */
int smc_eid_set_seid(bool on, struct netlink_ext_ack *extack)
{
	int rc = 0;

	if (!IS_ENABLED(CONFIG_S390)) {
		NL_SET_ERR_MSG(extack, "this platform has no system EID");
		return -EOPNOTSUPP;
	}
	spin_lock(&eid_lock);
	if (on || eid_count)
		seid_on = on;
	else
		rc = -ENOENT;
	spin_unlock(&eid_lock);
	if (rc)
		NL_SET_ERR_MSG(extack, "no user EID defined");
	return rc;
}
