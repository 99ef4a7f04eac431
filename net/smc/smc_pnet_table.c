// SPDX-License-Identifier: GPL-2.0
/*
 * The PNET table of a namespace, apart from devices.
 *
 * A row names either an interface or an RDMA port. Rows hold no references: an
 * interface row remembers the index of its interface, kept up to date by the
 * netdevice notifier of smc_pnet.c (register, unregister, rename), so it
 * follows a rename and waits for an interface that is not there yet. RDMA rows
 * are looked up by name whenever a port is set up or the table changes.
 *
 * Writers and those who read interface names hold smc_net.pnet_lock (inside
 * RTNL). Look-ups are RCU: they read pnetid and ifindex, and of RDMA rows the
 * name, which therefore changes by replacing the row.
 */
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <kunit/visibility.h>

#include "smc_net.h"
#include "smc_pnet.h"

struct smc_pnet_row {
	struct list_head node;		/* smc_net.pnet_list */
	int ifindex;			/* bound interface, 0 none; ONCE */
	struct smc_pnet_entry e;
	struct rcu_head rcu;
};

static bool id_end(u8 c)
{
	return !c || c == ' ';
}

/**
 * smc_pnet_equal - compare two PNET ids
 * @a: 16 bytes, blank or NUL padded
 * @b: 16 bytes, blank or NUL padded
 *
 * Context: any.
 * Return: true if they are equal up to the padding.
 */
bool smc_pnet_equal(const u8 a[SMC_PNETID_BYTES], const u8 b[SMC_PNETID_BYTES])
{
	unsigned int i;

	for (i = 0; i < SMC_PNETID_BYTES; i++) {
		if (id_end(a[i]) && id_end(b[i]))
			break;
		if (a[i] != b[i])
			return false;
	}
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(smc_pnet_equal);

/**
 * smc_pnet_parse_id - PNET id from text
 * @str: text, need not be NUL terminated
 * @len: length in bytes; a NUL ends the text earlier
 * @id: result, upper case, blank padded; undefined on error
 *
 * White space around the id is dropped. Context: any.
 * Return: 0, or -EINVAL unless 1 to 16 ASCII letters and digits are left.
 */
int smc_pnet_parse_id(const char *str, size_t len, u8 id[SMC_PNETID_BYTES])
{
	size_t i;

	len = strnlen(str, len);
	while (len && isspace(str[len - 1]))
		len--;
	while (len && isspace(*str)) {
		str++;
		len--;
	}
	if (!len || len > SMC_PNETID_BYTES)
		return -EINVAL;

	memset(id, ' ', SMC_PNETID_BYTES);
	for (i = 0; i < len; i++) {
		if (!isascii(str[i]) || !isalnum(str[i]))
			return -EINVAL;
		id[i] = toupper(str[i]);
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(smc_pnet_parse_id);

/**
 * smc_pnet_id_text - PNET id as a string
 * @id: 16 bytes, blank or NUL padded
 * @text: result, without padding, NUL terminated
 *
 * Context: any.
 */
void smc_pnet_id_text(const u8 id[SMC_PNETID_BYTES],
		      char text[SMC_PNETID_BYTES + 1])
{
	unsigned int i;

	for (i = 0; i < SMC_PNETID_BYTES && !id_end(id[i]); i++)
		text[i] = id[i];
	text[i] = '\0';
}
EXPORT_SYMBOL_IF_KUNIT(smc_pnet_id_text);

/**
 * smc_pnet_table_init - empty table
 * @sn: namespace state
 *
 * Context: process, @sn is not visible to others yet.
 */
void smc_pnet_table_init(struct smc_net *sn)
{
	mutex_init(&sn->pnet_lock);
	INIT_LIST_HEAD(&sn->pnet_list);
}
EXPORT_SYMBOL_IF_KUNIT(smc_pnet_table_init);

static bool row_same_key(const struct smc_pnet_entry *a,
			 const struct smc_pnet_entry *b)
{
	if (a->ibdev[0])
		return a->ibport == b->ibport && !strcmp(a->ibdev, b->ibdev);
	return !b->ibdev[0] && !strcmp(a->ndev, b->ndev);
}

static bool row_exists_locked(struct smc_net *sn,
			      const struct smc_pnet_entry *e, int ifindex)
{
	struct smc_pnet_row *row;

	lockdep_assert_held(&sn->pnet_lock);
	list_for_each_entry(row, &sn->pnet_list, node) {
		if (row_same_key(&row->e, e))
			return true;
		if (ifindex && row->ifindex == ifindex)
			return true;
	}
	return false;
}

static struct smc_pnet_row *row_new(const struct smc_pnet_entry *e)
{
	struct smc_pnet_row *row = kzalloc_obj(*row);

	if (row)
		memcpy(row->e.pnetid, e->pnetid, SMC_PNETID_BYTES);
	return row;
}

/* @row is used up */
static bool row_insert_locked(struct smc_net *sn, struct smc_pnet_row *row)
{
	if (row_exists_locked(sn, &row->e, row->ifindex)) {
		kfree(row);
		return false;
	}
	list_add_tail_rcu(&row->node, &sn->pnet_list);
	return true;
}

/**
 * smc_pnet_table_add - add rows
 * @sn: namespace state; the caller holds its pnet_lock
 * @e: what to add, copied; valid (smc_pnet_add() checks)
 * @which: SMC_PNET_ROW_ETH for its interface, SMC_PNET_ROW_IB for its RDMA
 *	port, or both
 * @ifindex: interface that has the name now, or 0
 *
 * A row that exists does not keep the other one from being added.
 * Return: 0 if a row was added, -EEXIST if none, -ENOMEM (nothing added).
 */
int smc_pnet_table_add(struct smc_net *sn, const struct smc_pnet_entry *e,
		       unsigned int which, int ifindex)
{
	struct smc_pnet_row *eth = NULL, *ib = NULL;
	bool added = false;

	lockdep_assert_held(&sn->pnet_lock);
	if (which & SMC_PNET_ROW_ETH) {
		eth = row_new(e);
		if (!eth)
			return -ENOMEM;
		strscpy(eth->e.ndev, e->ndev);
		eth->ifindex = ifindex;
	}
	if (which & SMC_PNET_ROW_IB) {
		ib = row_new(e);
		if (!ib) {
			kfree(eth);
			return -ENOMEM;
		}
		strscpy(ib->e.ibdev, e->ibdev);
		ib->e.ibport = e->ibport;
	}
	if (eth)
		added |= row_insert_locked(sn, eth);
	if (ib)
		added |= row_insert_locked(sn, ib);
	return added ? 0 : -EEXIST;
}
EXPORT_SYMBOL_IF_KUNIT(smc_pnet_table_add);

/**
 * smc_pnet_table_del - remove rows
 * @sn: namespace state; takes its pnet_lock
 * @id: PNET id, NULL for all
 * @which: set to the kinds of rows removed; may be NULL
 *
 * Context: process.
 * Return: number of rows removed.
 */
unsigned int smc_pnet_table_del(struct smc_net *sn, const u8 *id,
				unsigned int *which)
{
	struct smc_pnet_row *row, *next;
	unsigned int n = 0, kinds = 0;

	mutex_lock(&sn->pnet_lock);
	list_for_each_entry_safe(row, next, &sn->pnet_list, node) {
		if (id && !smc_pnet_equal(row->e.pnetid, id))
			continue;
		kinds |= row->e.ibdev[0] ? SMC_PNET_ROW_IB : SMC_PNET_ROW_ETH;
		list_del_rcu(&row->node);
		kfree_rcu(row, rcu);
		n++;
	}
	mutex_unlock(&sn->pnet_lock);
	if (which)
		*which = kinds;
	return n;
}
EXPORT_SYMBOL_IF_KUNIT(smc_pnet_table_del);

/**
 * smc_pnet_table_get - read a row
 * @sn: namespace state; takes its pnet_lock
 * @id: count rows of this PNET id only, or NULL
 * @idx: number of the row, from 0
 * @e: filled with the row
 *
 * Context: process.
 * Return: false if there is no such row.
 */
bool smc_pnet_table_get(struct smc_net *sn, const u8 *id, unsigned int idx,
			struct smc_pnet_entry *e)
{
	struct smc_pnet_row *row;

	guard(mutex)(&sn->pnet_lock);
	list_for_each_entry(row, &sn->pnet_list, node) {
		if (id && !smc_pnet_equal(row->e.pnetid, id))
			continue;
		if (idx--)
			continue;
		*e = row->e;
		return true;
	}
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(smc_pnet_table_get);

/**
 * smc_pnet_table_netdev - PNET id of an interface
 * @sn: namespace state of the interface
 * @ifindex: interface
 * @id: result
 *
 * Context: any.
 * Return: true if there is a row for it.
 */
bool smc_pnet_table_netdev(struct smc_net *sn, int ifindex,
			   u8 id[SMC_PNETID_BYTES])
{
	struct smc_pnet_row *row;

	guard(rcu)();
	list_for_each_entry_rcu(row, &sn->pnet_list, node) {
		if (READ_ONCE(row->ifindex) != ifindex)
			continue;
		memcpy(id, row->e.pnetid, SMC_PNETID_BYTES);
		return true;
	}
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(smc_pnet_table_netdev);

/**
 * smc_pnet_table_ibport - PNET id of an RDMA port
 * @sn: namespace state of the initial namespace
 * @name: device name
 * @parent: name of the parent device (PCI id), or NULL
 * @port: 1-based
 * @id: result
 *
 * Context: any.
 * Return: true if there is a row for it; the first one added wins.
 */
bool smc_pnet_table_ibport(struct smc_net *sn, const char *name,
			   const char *parent, u8 port,
			   u8 id[SMC_PNETID_BYTES])
{
	struct smc_pnet_row *row;

	guard(rcu)();
	list_for_each_entry_rcu(row, &sn->pnet_list, node) {
		if (row->e.ibport != port || !row->e.ibdev[0])
			continue;
		if (strcmp(row->e.ibdev, name) &&
		    (!parent || strcmp(row->e.ibdev, parent)))
			continue;
		memcpy(id, row->e.pnetid, SMC_PNETID_BYTES);
		return true;
	}
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(smc_pnet_table_ibport);

static struct smc_pnet_row *row_find_locked(struct smc_net *sn, int ifindex,
					    const char *name)
{
	struct smc_pnet_row *row;

	lockdep_assert_held(&sn->pnet_lock);
	list_for_each_entry(row, &sn->pnet_list, node)
		if (!row->e.ibdev[0] && row->ifindex == ifindex &&
		    (!name || !strcmp(row->e.ndev, name)))
			return row;
	return NULL;
}

/**
 * smc_pnet_table_bind - an interface has this name now
 * @sn: namespace state of the interface; takes its pnet_lock
 * @ifindex: interface, just registered or renamed
 * @name: its name
 *
 * A row that is bound to it takes the new name, else a row that has waited for
 * the name is bound. Context: process, RTNL.
 */
void smc_pnet_table_bind(struct smc_net *sn, int ifindex, const char *name)
{
	struct smc_pnet_row *row;

	guard(mutex)(&sn->pnet_lock);
	row = row_find_locked(sn, ifindex, NULL);
	if (row) {
		strscpy(row->e.ndev, name);
		return;
	}
	row = row_find_locked(sn, 0, name);
	if (row)
		WRITE_ONCE(row->ifindex, ifindex);
}
EXPORT_SYMBOL_IF_KUNIT(smc_pnet_table_bind);

/**
 * smc_pnet_table_unbind - an interface leaves the namespace
 * @sn: namespace state of the interface; takes its pnet_lock
 * @ifindex: interface
 *
 * Its row stays and waits for the name. Context: process, RTNL.
 */
void smc_pnet_table_unbind(struct smc_net *sn, int ifindex)
{
	struct smc_pnet_row *row;

	guard(mutex)(&sn->pnet_lock);
	row = row_find_locked(sn, ifindex, NULL);
	if (row)
		WRITE_ONCE(row->ifindex, 0);
}
EXPORT_SYMBOL_IF_KUNIT(smc_pnet_table_unbind);

/**
 * smc_pnet_table_ib_renamed - an RDMA device has a new name
 * @sn: namespace state of the initial namespace; takes its pnet_lock
 * @from: old name
 * @to: new name
 *
 * Its rows follow. They are replaced, because look-ups read the name under RCU;
 * one for which there is no memory keeps the old name. Context: process.
 */
void smc_pnet_table_ib_renamed(struct smc_net *sn, const char *from,
			       const char *to)
{
	struct smc_pnet_row *row, *next, *copy;

	mutex_lock(&sn->pnet_lock);
	list_for_each_entry_safe(row, next, &sn->pnet_list, node) {
		if (!row->e.ibdev[0] || strcmp(row->e.ibdev, from))
			continue;
		copy = kmemdup(row, sizeof(*row), GFP_KERNEL);
		if (!copy)
			break;
		strscpy(copy->e.ibdev, to);
		list_replace_rcu(&row->node, &copy->node);
		kfree_rcu(row, rcu);
	}
	mutex_unlock(&sn->pnet_lock);
}
EXPORT_SYMBOL_IF_KUNIT(smc_pnet_table_ib_renamed);
