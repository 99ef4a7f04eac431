// SPDX-License-Identifier: GPL-2.0
/*
 * PNET ids: which interfaces and RDMA ports are on the same physical network.
 * Ids come from the firmware (s390) or from the table an administrator fills
 * (smc_pnet_table.c); here are the look-ups for devices, the rules of ADD and
 * DEL, and the netdevice notifier that keeps the table's bindings.
 *
 * The callbacks into smc_ib are called with no lock held.
 */
#include <linux/errno.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/string.h>

#ifdef CONFIG_HAVE_PNETID
#include <asm/pnet.h>
#endif

#include "smc_net.h"
#include "smc_pnet.h"

/* see smc_pnet_set_ib() */
static void (*pnet_changed)(void);
static bool (*pnet_taken)(const char *name, u8 port);

/* id from the firmware, s390 only; @port counts from 0 */
static bool pnet_hw_id(struct device *parent, u16 port,
		       u8 id[SMC_PNETID_BYTES])
{
#ifdef CONFIG_HAVE_PNETID
	return parent && !pnet_id_by_dev_port(parent, port, id);
#else
	return false;
#endif
}

/* first leaf of the depth first walk: the end of the first lower devices */
static int base_step(struct net_device *lower, struct netdev_nested_priv *priv)
{
	priv->data = lower;
	return list_empty(&lower->adj_list.lower);
}

/**
 * smc_pnet_base_rcu - the device at the bottom of a stack
 * @ndev: VLAN, bond, bridge.. or plain device
 *
 * Follows the first lower device at each step: the first slave of a bond.
 * Context: RCU read side.
 * Return: that device, @ndev itself if nothing is below it; never NULL.
 */
struct net_device *smc_pnet_base_rcu(struct net_device *ndev)
{
	struct netdev_nested_priv priv = { .data = ndev };

	netdev_walk_all_lower_dev_rcu(ndev, base_step, &priv);
	return priv.data;
}

/* id from the firmware of the device below @ndev, which the caller holds */
static bool pnet_hw_id_base(struct net_device *ndev, u8 id[SMC_PNETID_BYTES])
{
	netdevice_tracker tracker;
	struct net_device *base;
	bool found;

	if (!IS_ENABLED(CONFIG_HAVE_PNETID))
		return false;
	rcu_read_lock();
	base = smc_pnet_base_rcu(ndev);
	netdev_hold(base, &tracker, GFP_ATOMIC);
	rcu_read_unlock();
	/* reads the channel subsystem, so not under RCU */
	found = pnet_hw_id(base->dev.parent, base->dev_port, id);
	netdev_put(base, &tracker);
	return found;
}

struct pnet_walk {
	struct net *net;
	u8 *id;
	bool found;
};

/* rows act on interfaces of their own namespace only */
static bool pnet_walk_one(struct net_device *dev, struct pnet_walk *walk)
{
	if (!net_eq(dev_net(dev), walk->net))
		return false;
	return smc_pnet_table_netdev(smc_net(walk->net), dev->ifindex,
				     walk->id);
}

/* on the way down the last hit counts, so the base device wins */
static int pnet_walk_step(struct net_device *lower,
			  struct netdev_nested_priv *priv)
{
	struct pnet_walk *walk = priv->data;

	if (pnet_walk_one(lower, walk))
		walk->found = true;
	return list_empty(&lower->adj_list.lower);
}

/**
 * smc_pnet_of_netdev - PNET id that applies to an interface
 * @ndev: interface of a TCP connection; the caller holds it
 * @id: result, 16 bytes
 *
 * In this order: id of the base device from the firmware; row of the base
 * device; rows of the devices above it up to @ndev.
 * Context: process.
 * Return: true if there is one.
 */
bool smc_pnet_of_netdev(struct net_device *ndev, u8 id[SMC_PNETID_BYTES])
{
	struct pnet_walk walk = { .net = dev_net(ndev), .id = id };
	struct netdev_nested_priv priv = { .data = &walk };

	if (pnet_hw_id_base(ndev, id))
		return true;
	rcu_read_lock();
	walk.found = pnet_walk_one(ndev, &walk);
	netdev_walk_all_lower_dev_rcu(ndev, pnet_walk_step, &priv);
	rcu_read_unlock();
	return walk.found;
}

/**
 * smc_pnet_of_ibport - PNET id of an RDMA port
 * @ibdev: device
 * @port: 1-based
 * @id: result, 16 bytes
 * @user: set if an administrator gave it
 *
 * Firmware first, then the table of the initial namespace if the device may be
 * used there. Context: process.
 * Return: true if there is one; else @id and @user are untouched.
 */
bool smc_pnet_of_ibport(struct ib_device *ibdev, u8 port,
			u8 id[SMC_PNETID_BYTES], bool *user)
{
	struct device *parent = ibdev->dev.parent;

	if (pnet_hw_id(parent, port - 1, id)) {
		*user = false;
		return true;
	}
	if (!rdma_dev_access_netns(ibdev, &init_net) ||
	    !smc_pnet_table_ibport(smc_net(&init_net), dev_name(&ibdev->dev),
				   parent ? dev_name(parent) : NULL, port, id))
		return false;
	*user = true;
	return true;
}

/* has the interface of that name an id from the firmware? */
static bool add_hw_id(struct net *net, const char *name)
{
	u8 id[SMC_PNETID_BYTES];
	netdevice_tracker tracker;
	struct net_device *ndev;
	bool found;

	ndev = netdev_get_by_name(net, name, &tracker, GFP_KERNEL);
	if (!ndev)
		return false;
	found = pnet_hw_id_base(ndev, id);
	netdev_put(ndev, &tracker);
	return found;
}

/* which parts of @e can become rows; the last refusal goes to @extack */
static unsigned int add_parts(struct net *net, const struct smc_pnet_entry *e,
			      struct netlink_ext_ack *extack)
{
	unsigned int which = 0;

	if (!e->ndev[0] && !e->ibdev[0])
		NL_SET_ERR_MSG(extack, "neither interface nor RDMA device given");
	if (e->ndev[0]) {
		if (add_hw_id(net, e->ndev))
			NL_SET_ERR_MSG(extack, "interface has a PNET id from the firmware");
		else
			which |= SMC_PNET_ROW_ETH;
	}
	if (e->ibdev[0]) {
		if (!net_eq(net, &init_net))
			NL_SET_ERR_MSG(extack, "RDMA rows are in the initial namespace only");
		else if (pnet_taken && pnet_taken(e->ibdev, e->ibport))
			NL_SET_ERR_MSG(extack, "RDMA port has a PNET id");
		else
			which |= SMC_PNET_ROW_IB;
	}
	return which;
}

/* Bind to the interface of that name, if there is one; the row then takes the
 * interface's own name in place of an alternative one. The notifier takes
 * pnet_lock after the interface got or lost its name, so either it sees the
 * row or we see the change.
 */
static int add_bind_locked(struct net *net, struct smc_pnet_entry *e)
{
	struct net_device *ndev;
	int ifindex = 0;

	lockdep_assert_held(&smc_net(net)->pnet_lock);
	rcu_read_lock();
	ndev = dev_get_by_name_rcu(net, e->ndev);
	if (ndev) {
		ifindex = ndev->ifindex;
		strscpy(e->ndev, ndev->name);
	}
	rcu_read_unlock();
	return ifindex;
}

/**
 * smc_pnet_add - give an interface and/or an RDMA port a PNET id
 * @net: namespace
 * @e: the id, as smc_pnet_parse_id() makes it, and the names, copied; an
 *	alternative name of an interface is replaced by its own
 * @extack: gets the reason of a refusal, may be NULL
 *
 * The names may be those of devices that do not exist yet. Outside the initial
 * namespace the RDMA part is left out. Everything is checked before anything
 * is added. Context: process.
 *
 * Return: 0 if at least one part was added, -EEXIST if none, -EINVAL for a bad
 * port, -ENOMEM; on error nothing was added.
 */
int smc_pnet_add(struct net *net, struct smc_pnet_entry *e,
		 struct netlink_ext_ack *extack)
{
	struct smc_net *sn = smc_net(net);
	unsigned int which;
	int ifindex = 0;
	int rc;

	if (e->ibdev[0] && (e->ibport < 1 || e->ibport > SMC_PNET_MAX_PORT)) {
		NL_SET_ERR_MSG(extack, "RDMA port must be 1 or 2");
		return -EINVAL;
	}
	which = add_parts(net, e, extack);
	if (!which)
		return -EEXIST;

	mutex_lock(&sn->pnet_lock);
	if (which & SMC_PNET_ROW_ETH)
		ifindex = add_bind_locked(net, e);
	rc = smc_pnet_table_add(sn, e, which, ifindex);
	mutex_unlock(&sn->pnet_lock);
	if (rc == -EEXIST)
		NL_SET_ERR_MSG(extack, "interface or RDMA port is in the table");
	else if (!rc && (which & SMC_PNET_ROW_IB) && pnet_changed)
		pnet_changed();
	return rc;
}

/**
 * smc_pnet_del - remove rows
 * @net: namespace
 * @id: PNET id, NULL for all rows
 *
 * Context: process.
 * Return: number of rows removed.
 */
unsigned int smc_pnet_del(struct net *net, const u8 *id)
{
	unsigned int which;
	unsigned int n;

	n = smc_pnet_table_del(smc_net(net), id, &which);
	if ((which & SMC_PNET_ROW_IB) && pnet_changed)
		pnet_changed();
	return n;
}

/* under RTNL, which is outside of pnet_lock */
static int pnet_netdev_event(struct notifier_block *nb, unsigned long event,
			     void *ptr)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);
	struct smc_net *sn = smc_net(dev_net(ndev));

	switch (event) {
	case NETDEV_REGISTER:
	case NETDEV_CHANGENAME:
		smc_pnet_table_bind(sn, ndev->ifindex, ndev->name);
		break;
	case NETDEV_UNREGISTER:
		smc_pnet_table_unbind(sn, ndev->ifindex);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block pnet_netdev_nb = {
	.notifier_call = pnet_netdev_event,
};

/**
 * smc_pnet_set_ib - what the RDMA devices have to do with the table
 * @changed: called after RDMA rows changed
 * @taken: tells if a port of an RDMA device with that name or parent name has
 *	a PNET id
 *
 * Both are called in process context with no lock held. NULL: none. Context:
 * process, init and exit, when no table access can run.
 */
void smc_pnet_set_ib(void (*changed)(void),
		     bool (*taken)(const char *name, u8 port))
{
	pnet_changed = changed;
	pnet_taken = taken;
}

/**
 * smc_pnet_init - keep the bindings of all tables
 *
 * Context: process, module init, after the namespaces have their state.
 * Return: 0 or a negative errno of the notifier registration.
 */
int smc_pnet_init(void)
{
	return register_netdevice_notifier(&pnet_netdev_nb);
}

/**
 * smc_pnet_exit - undo smc_pnet_init(), before the namespaces lose their state
 *
 * Context: process, module exit.
 */
void smc_pnet_exit(void)
{
	unregister_netdevice_notifier(&pnet_netdev_nb);
}
