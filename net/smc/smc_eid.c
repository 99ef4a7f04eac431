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

#ifdef CONFIG_S390
#include <linux/processor.h>
#include <asm/cpu.h>
#endif

#include "smc_eid.h"

/* covers eid_table, eid_count, seid_on; process context only */
static DEFINE_SPINLOCK(eid_lock);
static u8 eid_table[SMC_EID_MAX][SMC_EID_BYTES];
static unsigned int eid_count;
static bool seid_on;
/* written once at init; zeroes if the platform has none */
static u8 seid[SMC_EID_BYTES];

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

/* length of a netlink string of exactly 32 characters, with or without NUL */
static bool eid_len_ok(const u8 *str, size_t len)
{
	if (!str)
		return false;
	return len == SMC_EID_BYTES ||
	       (len == SMC_EID_BYTES + 1 && !str[SMC_EID_BYTES]);
}

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
 * @str: 32 characters, blank padded; copied
 * @len: 32, or 33 with a NUL at the end
 * @extack: gets the reason of a refusal, may be NULL
 *
 * Context: process.
 * Return: 0, -EINVAL for bad syntax, -EEXIST, -ERANGE if the table is full.
 */
int smc_eid_add(const u8 *str, size_t len, struct netlink_ext_ack *extack)
{
	int rc = 0;

	if (!eid_len_ok(str, len)) {
		NL_SET_ERR_MSG(extack, "EID must have 32 characters, blank padded");
		return -EINVAL;
	}
	if (!smc_eid_valid_ueid(str)) {
		NL_SET_ERR_MSG(extack, "EID must be of A-Z, 0-9, '.', '-', letter or digit first");
		return -EINVAL;
	}
	spin_lock(&eid_lock);
	if (eid_index_locked(str) >= 0)
		rc = -EEXIST;
	else if (eid_count == SMC_EID_MAX)
		rc = -ERANGE;
	else
		memcpy(eid_table[eid_count++], str, SMC_EID_BYTES);
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
 * @str: 32 characters, blank padded; the syntax is not checked
 * @len: 32, or 33 with a NUL at the end
 * @extack: gets the reason of a refusal, may be NULL
 *
 * Context: process.
 * Return: 0, -EINVAL for a bad length, -ENOENT, or -EAGAIN: the last UEID was
 * removed and that enabled the SEID again (s390 only).
 */
int smc_eid_del(const u8 *str, size_t len, struct netlink_ext_ack *extack)
{
	bool restored = false;
	int i;

	if (!eid_len_ok(str, len)) {
		NL_SET_ERR_MSG(extack, "EID must have 32 characters, blank padded");
		return -EINVAL;
	}
	spin_lock(&eid_lock);
	i = eid_index_locked(str);
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
	spin_lock(&eid_lock);
	eid_count = 0;
	seid_restore_locked();
	spin_unlock(&eid_lock);
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

	spin_lock(&eid_lock);
	n = min(eid_count, max);
	memcpy(eids, eid_table, n * SMC_EID_BYTES);
	spin_unlock(&eid_lock);
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
	bool found = false;
	unsigned int i;

	spin_lock(&eid_lock);
	for (i = 0; i < n && !found; i++) {
		found = eid_index_locked(client[i]) >= 0;
		if (found)
			memcpy(out, client[i], SMC_EID_BYTES);
	}
	spin_unlock(&eid_lock);
	return found;
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
 * smc_eid_is_ours - may a peer choose this EID
 * @eid: 32 bytes from an Accept
 *
 * Context: process.
 * Return: true for a user EID of the table and for the SEID while enabled.
 */
bool smc_eid_is_ours(const u8 eid[SMC_EID_BYTES])
{
	bool ours;

	spin_lock(&eid_lock);
	ours = eid_index_locked(eid) >= 0 ||
	       (seid_on && !memcmp(eid, seid, SMC_EID_BYTES));
	spin_unlock(&eid_lock);
	return ours;
}
EXPORT_SYMBOL_IF_KUNIT(smc_eid_is_ours);

/**
 * smc_eid_seid - the system EID
 * @out: 32 bytes, zeroes where the platform has none
 *
 * Context: any.
 */
void smc_eid_seid(u8 out[SMC_EID_BYTES])
{
	memcpy(out, seid, SMC_EID_BYTES);
}

/**
 * smc_eid_seid_enabled - is the system EID offered and accepted
 *
 * Context: any.
 * Return: always false except on s390.
 */
bool smc_eid_seid_enabled(void)
{
	return READ_ONCE(seid_on);
}

/**
 * smc_eid_seid_enable - switch the system EID on
 * @extack: gets the reason of a refusal, may be NULL
 *
 * Context: process.
 * Return: 0, or -EOPNOTSUPP where the platform has none.
 */
int smc_eid_seid_enable(struct netlink_ext_ack *extack)
{
	if (!IS_ENABLED(CONFIG_S390)) {
		NL_SET_ERR_MSG(extack, "this platform has no system EID");
		return -EOPNOTSUPP;
	}
	spin_lock(&eid_lock);
	seid_on = true;
	spin_unlock(&eid_lock);
	return 0;
}

/**
 * smc_eid_seid_disable - switch the system EID off
 * @extack: gets the reason of a refusal, may be NULL
 *
 * Context: process.
 * Return: 0, -EOPNOTSUPP where the platform has none, -ENOENT if no user EID
 * would be left in its place.
 */
int smc_eid_seid_disable(struct netlink_ext_ack *extack)
{
	int rc = 0;

	if (!IS_ENABLED(CONFIG_S390)) {
		NL_SET_ERR_MSG(extack, "this platform has no system EID");
		return -EOPNOTSUPP;
	}
	spin_lock(&eid_lock);
	if (eid_count)
		seid_on = false;
	else
		rc = -ENOENT;
	spin_unlock(&eid_lock);
	if (rc)
		NL_SET_ERR_MSG(extack, "no user EID defined");
	return rc;
}

/**
 * smc_eid_init - work out the system EID
 *
 * Context: process, module init.
 * Return: 0.
 */
int smc_eid_init(void)
{
#ifdef CONFIG_S390
	char text[SMC_EID_BYTES + 1];
	struct cpuid id;

	/* fixed text, CPU ident and machine type in upper case hex */
	get_cpu_id(&id);
	snprintf(text, sizeof(text), "IBM-SYSZ-ISMSEID00000000%04X%04X",
		 (u16)id.ident, id.machine);
	memcpy(seid, text, SMC_EID_BYTES);
	seid_on = true;
#endif
	return 0;
}

/**
 * smc_eid_exit - empty the table
 *
 * Context: process, module exit; nobody uses EIDs any more.
 */
void smc_eid_exit(void)
{
	smc_eid_flush();
}
