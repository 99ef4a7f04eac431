// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices: the ib_client, ports, events, removal, the system's peer id.
 *
 * A struct smc_ib_dev is made by the client's add. Its memory goes with the
 * last of smc_ib_dev.refs: the list holds one until remove has ended, each link
 * and each choice one. The verbs device behind it must not be touched after
 * remove has returned, so its users (links, and walks for as long as a query
 * takes) are counted in smc_ib_dev.links and remove waits for zero. A choice is
 * no use: a handshake keeps it while it waits for its peer. A new use is
 * refused once smc_ib_dev.leaving is set; the counter goes up before the flag
 * is read, and the flag is set before the counter is read, so one of both sides
 * sees the other.
 *
 * Events come with locks of the RDMA core held (GID changes: the mutex of the
 * GID table). The handler therefore only marks bits and queues event_work,
 * which reads the port anew and tells layer 4. What an event said is not
 * trusted for longer than that.
 *
 * Removal: mark leaving; no more events; drain the work; layer 4 ends its
 * links; wait for the last use; off the list; put.
 */
#include <linux/etherdevice.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/ib_cache.h>

#include "smc_ib.h"
#include "smc_net.h"
#include "smc_pnet.h"

#define LINKS_GONE_WARN		(10 * HZ)

/* kinds of events in smc_ib_dev.port_event_mask, one set of bits per port */
enum port_event {
	PORT_EV_STATE,
	PORT_EV_GID,
	PORT_EV_FATAL,
	PORT_EV_KINDS
};

#define PORT_EV_BIT(idx, kind)	((idx) * PORT_EV_KINDS + (kind))

/* Covers ib_devs, the queried values and PNET ids of the ports, device names
 * and peer_mac. Inside the RDMA core's client and device locks.
 */
static DEFINE_MUTEX(ib_lock);
static LIST_HEAD(ib_devs);		/* in order of registration */
static u8 peer_mac[ETH_ALEN];		/* part of the peer id, zero: unknown */

/* both written once at init */
static u8 peer_instance[2];
static const struct smc_dev_ops *dev_ops;

static struct ib_client smc_ib_client;

/**
 * smc_ib_dev_hold - keep the memory of a device
 * @dev: device on which the caller has a reference, or that is on the list
 *
 * Does not keep the RDMA device behind it. Context: any.
 */
void smc_ib_dev_hold(struct smc_ib_dev *dev)
{
	refcount_inc(&dev->refs);
}

/**
 * smc_ib_dev_put - give a memory reference back
 * @dev: device, may be freed
 *
 * Context: any.
 */
void smc_ib_dev_put(struct smc_ib_dev *dev)
{
	if (refcount_dec_and_test(&dev->refs))
		kfree(dev);
}

static void dev_unuse(struct smc_ib_dev *dev)
{
	if (atomic_dec_and_test(&dev->links))
		wake_up(&dev->links_gone);
	smc_ib_dev_put(dev);
}

/* keeps memory and RDMA device; false if the device is leaving */
static bool dev_use(struct smc_ib_dev *dev)
{
	smc_ib_dev_hold(dev);
	atomic_inc(&dev->links);
	/* pairs with the barrier in ib_client_remove() */
	smp_mb__after_atomic();
	if (READ_ONCE(dev->leaving)) {
		dev_unuse(dev);
		return false;
	}
	return true;
}

/**
 * smc_ib_link_get - a link will use a port
 * @port: port of a device whose memory the caller keeps
 *
 * Context: any.
 * Return: false if the device is leaving; else the device stays usable until
 * smc_ib_link_put().
 */
bool smc_ib_link_get(struct smc_ib_port *port)
{
	if (READ_ONCE(port->leaving) || !dev_use(port->dev))
		return false;
	atomic_inc(&port->links);
	return true;
}

/**
 * smc_ib_link_put - a link is gone
 * @port: its port; all verbs objects and GID references of the link are gone
 *
 * Context: any.
 */
void smc_ib_link_put(struct smc_ib_port *port)
{
	atomic_dec(&port->links);
	dev_unuse(port->dev);
}

static bool port_read_mac(struct smc_ib_port *port, u8 mac[ETH_ALEN])
{
	struct ib_device *ibdev = port->dev->ibdev;
	const struct ib_gid_attr *attr;
	struct net_device *ndev;
	int rc = -ENOENT;

	attr = rdma_get_gid_attr(ibdev, port->num, 0);
	if (!IS_ERR(attr)) {
		rc = rdma_read_gid_l2_fields(attr, NULL, mac);
		rdma_put_gid_attr(attr);
	}
	if (!rc)
		return true;
	/* the table may still be empty right after registration */
	ndev = ib_device_get_netdev(ibdev, port->num);
	if (!ndev)
		return false;
	ether_addr_copy(mac, ndev->dev_addr);
	dev_put(ndev);
	return true;
}

static int port_read_ifindex(struct smc_ib_port *port)
{
	struct net_device *ndev;
	int ifindex = 0;

	ndev = ib_device_get_netdev(port->dev->ibdev, port->num);
	if (ndev) {
		ifindex = ndev->ifindex;
		dev_put(ndev);
	}
	return ifindex;
}

/**
 * smc_ib_port_refresh - read a port's attributes anew
 * @port: port of a device in use by the caller
 *
 * Sets known, active, mtu, mac and ifindex. A change of the MTU is not
 * signalled by any event, so call this when a link is set up. The first port
 * seen active gives its MAC to the peer id.
 * Context: process, may sleep; not from smc_ib_for_each().
 *
 * Return: 0 or the errno of the query, the port is inactive then.
 */
int smc_ib_port_refresh(struct smc_ib_port *port)
{
	struct ib_port_attr attr = {};
	u8 mac[ETH_ALEN] = {};
	int ifindex;
	int rc;

	rc = ib_query_port(port->dev->ibdev, port->num, &attr);
	ifindex = port_read_ifindex(port);
	port_read_mac(port, mac);

	mutex_lock(&ib_lock);
	WRITE_ONCE(port->active, !rc && attr.state == IB_PORT_ACTIVE);
	if (!rc)
		WRITE_ONCE(port->mtu, attr.active_mtu);
	WRITE_ONCE(port->ifindex, ifindex);
	if (!is_zero_ether_addr(mac))
		ether_addr_copy(port->mac, mac);
	WRITE_ONCE(port->known, true);
	if (port->active && is_zero_ether_addr(peer_mac))
		ether_addr_copy(peer_mac, port->mac);
	mutex_unlock(&ib_lock);
	return rc;
}

/* no port was active yet: any will do, as long as the id never changes again */
static void peer_mac_any_locked(void)
{
	struct smc_ib_dev *dev;
	unsigned int i;

	lockdep_assert_held(&ib_lock);
	list_for_each_entry(dev, &ib_devs, node) {
		for (i = 0; i < dev->nports; i++) {
			if (dev->port[i].valid &&
			    port_read_mac(&dev->port[i], peer_mac) &&
			    !is_zero_ether_addr(peer_mac))
				return;
		}
	}
}

/**
 * smc_ib_peer_id - id of this system
 * @id: 8 bytes: two random ones chosen at load, then the MAC of the first port
 *	that was active (RFC 7609, 2.3 "peer ID"); if none was, of any port
 *
 * Constant from the first success until unload. Context: process.
 * Return: false while there never was a port.
 */
bool smc_ib_peer_id(u8 id[8])
{
	bool known;

	mutex_lock(&ib_lock);
	if (is_zero_ether_addr(peer_mac))
		peer_mac_any_locked();
	known = !is_zero_ether_addr(peer_mac);
	memcpy(id, peer_instance, sizeof(peer_instance));
	memcpy(id + sizeof(peer_instance), peer_mac, ETH_ALEN);
	mutex_unlock(&ib_lock);
	return known;
}

static void port_events(struct smc_ib_port *port, unsigned int events)
{
	bool was = port->active;

	if (events & BIT(PORT_EV_FATAL))
		WRITE_ONCE(port->leaving, true);
	smc_ib_port_refresh(port);
	if (port->active && (events & BIT(PORT_EV_STATE)) &&
	    !(events & BIT(PORT_EV_FATAL)))
		WRITE_ONCE(port->leaving, false);

	/* the links first, so that none counts whose GID is gone */
	if (events & BIT(PORT_EV_GID))
		dev_ops->gid_change(port);
	if (port->active && !port->leaving)
		dev_ops->port_up(port);
	else if (was || events != BIT(PORT_EV_GID))
		dev_ops->port_down(port);
}

static void ib_event_work(struct work_struct *work)
{
	struct smc_ib_dev *dev = container_of(work, struct smc_ib_dev,
					      event_work);
	unsigned long mask = xchg(&dev->port_event_mask, 0);
	unsigned int events;
	unsigned int i;

	for (i = 0; i < dev->nports; i++) {
		events = mask >> PORT_EV_BIT(i, 0);
		events &= BIT(PORT_EV_KINDS) - 1;
		if (events && dev->port[i].valid)
			port_events(&dev->port[i], events);
	}
}

/* @num: 1-based port, 0 for all */
static void dev_mark_event(struct smc_ib_dev *dev, u32 num, enum port_event kind)
{
	unsigned int i;

	for (i = 0; i < dev->nports; i++)
		if (!num || num == dev->port[i].num)
			set_bit(PORT_EV_BIT(i, kind), &dev->port_event_mask);
	queue_work(system_dfl_wq, &dev->event_work);
}

/* may be called with the mutex of a GID table held */
static void ib_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct smc_ib_dev *dev = container_of(handler, struct smc_ib_dev,
					      event_handler);

	switch (event->event) {
	case IB_EVENT_PORT_ACTIVE:
	case IB_EVENT_PORT_ERR:
		dev_mark_event(dev, event->element.port_num, PORT_EV_STATE);
		break;
	case IB_EVENT_GID_CHANGE:
		dev_mark_event(dev, event->element.port_num, PORT_EV_GID);
		break;
	case IB_EVENT_DEVICE_FATAL:
		dev_mark_event(dev, 0, PORT_EV_FATAL);
		break;
	default:
		break;
	}
}

static void dev_update_pnetid_locked(struct smc_ib_dev *dev)
{
	struct smc_ib_port *port;
	unsigned int i;

	lockdep_assert_held(&ib_lock);
	for (i = 0; i < dev->nports; i++) {
		port = &dev->port[i];
		if (smc_pnet_of_ibport(dev->ibdev, port->num, port->pnetid,
				       &port->pnetid_user))
			continue;
		memset(port->pnetid, 0, sizeof(port->pnetid));
		port->pnetid_user = false;
	}
}

/* For smc_pnet: the table has other RDMA rows, so look the id of each port up
 * again. Existing link groups keep theirs. Process context.
 */
static void ib_pnet_changed(void)
{
	struct smc_ib_dev *dev;

	mutex_lock(&ib_lock);
	list_for_each_entry(dev, &ib_devs, node)
		dev_update_pnetid_locked(dev);
	mutex_unlock(&ib_lock);
}

static bool dev_has_name(struct smc_ib_dev *dev, const char *name)
{
	struct device *parent = dev->ibdev->dev.parent;

	return !strcmp(dev_name(&dev->ibdev->dev), name) ||
	       (parent && !strcmp(dev_name(parent), name));
}

/* for smc_pnet: has a port of a device with that name an id? */
static bool ib_pnet_taken(const char *name, u8 num)
{
	struct smc_ib_dev *dev;
	bool taken = false;

	mutex_lock(&ib_lock);
	list_for_each_entry(dev, &ib_devs, node) {
		if (num > dev->nports || !dev_has_name(dev, name) ||
		    !rdma_dev_access_netns(dev->ibdev, &init_net))
			continue;
		if (dev->port[num - 1].pnetid[0])
			taken = true;
	}
	mutex_unlock(&ib_lock);
	return taken;
}

/**
 * smc_ib_for_each - visit all devices
 * @fn: called for each, in order of registration, with the list's mutex held:
 *	must not call back into smc_ib; nonzero ends the walk
 * @arg: for @fn
 *
 * Context: process.
 * Return: 0 or what @fn returned.
 */
int smc_ib_for_each(int (*fn)(struct smc_ib_dev *dev, void *arg), void *arg)
{
	struct smc_ib_dev *dev;
	int rc = 0;

	mutex_lock(&ib_lock);
	list_for_each_entry(dev, &ib_devs, node) {
		rc = fn(dev, arg);
		if (rc)
			break;
	}
	mutex_unlock(&ib_lock);
	return rc;
}

/**
 * smc_ib_port_get - n-th port that fits
 * @fits: test, called with the list's mutex held, must not call back
 * @arg: for @fits
 * @n: skip so many ports that fit
 *
 * Context: process.
 * Return: port of a device in use, give it back with smc_ib_port_put(); NULL if
 * there is none.
 */
struct smc_ib_port *smc_ib_port_get(bool (*fits)(struct smc_ib_port *port,
						 void *arg),
				    void *arg, unsigned int n)
{
	struct smc_ib_port *port = NULL;
	struct smc_ib_dev *dev;
	unsigned int i;

	mutex_lock(&ib_lock);
	list_for_each_entry(dev, &ib_devs, node) {
		for (i = 0; i < dev->nports && !port; i++) {
			if (!dev->port[i].valid || dev->port[i].leaving ||
			    !fits(&dev->port[i], arg) || n--)
				continue;
			if (dev_use(dev))
				port = &dev->port[i];
		}
		if (port)
			break;
	}
	mutex_unlock(&ib_lock);
	return port;
}

/**
 * smc_ib_port_put - end the use of smc_ib_port_get()
 * @port: port
 *
 * Context: any.
 */
void smc_ib_port_put(struct smc_ib_port *port)
{
	dev_unuse(port->dev);
}

static struct smc_ib_dev *dev_alloc(struct ib_device *ibdev)
{
	struct smc_ib_dev *dev;
	unsigned int roce = 0;
	unsigned int i;

	dev = kzalloc_obj(*dev);
	if (!dev)
		return ERR_PTR(-ENOMEM);
	dev->ibdev = ibdev;
	dev->max_reg_pages = ibdev->attrs.max_fast_reg_page_list_len;
	dev->page_sizes = ibdev->attrs.page_size_cap;
	strscpy(dev->name, dev_name(&ibdev->dev));
	refcount_set(&dev->refs, 1);
	init_waitqueue_head(&dev->links_gone);
	INIT_WORK(&dev->event_work, ib_event_work);
	INIT_IB_EVENT_HANDLER(&dev->event_handler, ibdev, ib_event);
	dev->nports = min_t(u32, ibdev->phys_port_cnt, SMC_IB_MAX_PORTS);
	for (i = 0; i < dev->nports; i++) {
		dev->port[i].dev = dev;
		dev->port[i].num = i + 1;
		dev->port[i].valid = rdma_protocol_roce(ibdev, i + 1);
		roce += dev->port[i].valid;
	}
	if (!roce) {
		kfree(dev);
		return ERR_PTR(-EOPNOTSUPP);
	}
	return dev;
}

/* must not block for long: ports are queried by the event work, or by a
 * connection that comes earlier
 */
static int ib_client_add(struct ib_device *ibdev)
{
	struct smc_ib_dev *dev;

	if (ibdev->node_type != RDMA_NODE_IB_CA)
		return -EOPNOTSUPP;
	dev = dev_alloc(ibdev);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	ib_set_client_data(ibdev, &smc_ib_client, dev);

	mutex_lock(&ib_lock);
	dev_update_pnetid_locked(dev);
	list_add_tail(&dev->node, &ib_devs);
	mutex_unlock(&ib_lock);

	ib_register_event_handler(&dev->event_handler);
	dev_mark_event(dev, 0, PORT_EV_STATE);
	pr_info_ratelimited("smc: adding RDMA device %s with %u port(s)\n",
			    dev_name(&ibdev->dev), dev->nports);
	return 0;
}

static void ib_client_remove(struct ib_device *ibdev, void *client_data)
{
	struct smc_ib_dev *dev = client_data;

	WRITE_ONCE(dev->leaving, true);
	/* pairs with the barrier in dev_use() */
	smp_mb();
	ib_unregister_event_handler(&dev->event_handler);
	cancel_work_sync(&dev->event_work);
	dev_ops->dev_leaving(dev);
	while (!wait_event_timeout(dev->links_gone, !atomic_read(&dev->links),
				   LINKS_GONE_WARN))
		pr_warn_ratelimited("smc: removal of RDMA device %s waits for %d link(s)\n",
				    dev_name(&ibdev->dev),
				    atomic_read(&dev->links));

	mutex_lock(&ib_lock);
	list_del(&dev->node);
	mutex_unlock(&ib_lock);
	pr_info_ratelimited("smc: removing RDMA device %s\n",
			    dev_name(&ibdev->dev));
	smc_ib_dev_put(dev);
}

static void ib_client_rename(struct ib_device *ibdev, void *client_data)
{
	struct smc_ib_dev *dev = client_data;
	char old[IB_DEVICE_NAME_MAX];

	mutex_lock(&ib_lock);
	strscpy(old, dev->name);
	strscpy(dev->name, dev_name(&ibdev->dev));
	mutex_unlock(&ib_lock);
	smc_pnet_table_ib_renamed(smc_net(&init_net), old,
				  dev_name(&ibdev->dev));
	ib_pnet_changed();
}

static struct ib_client smc_ib_client = {
	.name	= "smc_ib",
	.add	= ib_client_add,
	.remove	= ib_client_remove,
	.rename	= ib_client_rename,
};

/**
 * smc_ib_init - start to use RDMA devices
 * @ops: layer 4; all members are mandatory
 *
 * Devices that exist are added before this returns, their events may come at
 * once. Context: process, module init.
 *
 * Return: 0, -EINVAL for an incomplete table, errno of the registration.
 */
int smc_ib_init(const struct smc_dev_ops *ops)
{
	int rc;

	if (WARN_ON_ONCE(!ops->port_up || !ops->port_down ||
			 !ops->gid_change || !ops->dev_leaving))
		return -EINVAL;
	dev_ops = ops;
	get_random_bytes(peer_instance, sizeof(peer_instance));
	smc_pnet_set_ib(ib_pnet_changed, ib_pnet_taken);
	rc = ib_register_client(&smc_ib_client);
	if (rc)
		smc_pnet_set_ib(NULL, NULL);
	return rc;
}

/**
 * smc_ib_exit - give all RDMA devices up
 *
 * Each is removed as if it were unplugged. Context: process, module exit.
 */
void smc_ib_exit(void)
{
	ib_unregister_client(&smc_ib_client);
	smc_pnet_set_ib(NULL, NULL);
}
