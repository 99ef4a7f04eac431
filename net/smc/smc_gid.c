// SPDX-License-Identifier: GPL-2.0
/*
 * Which port and GID carry a connection, and where its frames go. Holds no
 * state: asks the RDMA core's GID cache, the IPv4 routing and the neighbour
 * table. Net devices found on the way are used under RCU only.
 */
#include <linux/delay.h>
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <net/arp.h>
#include <net/ipv6.h>
#include <net/neighbour.h>
#include <net/route.h>
#include <rdma/ib_cache.h>

#include "smc_ib.h"
#include "smc_pnet.h"

/* the index goes through address handles of 8 bits */
#define GID_INDEX_MAX		255
#define NEIGH_POLL_MS		10
#define NEIGH_WAIT		(HZ / 2)

/* IPv4 address inside a GID: mapped, or behind 96 zero bits */
static bool gid_ipv4(const u8 raw[16], __be32 *addr)
{
	struct in6_addr in6;

	memcpy(&in6, raw, sizeof(in6));
	*addr = in6.s6_addr32[3];
	if (!*addr || *addr == htonl(INADDR_BROADCAST))
		return false;
	return ipv6_addr_v4mapped(&in6) ||
	       !(in6.s6_addr32[0] | in6.s6_addr32[1] | in6.s6_addr32[2]);
}

static bool ndev_has_vlan(const struct net_device *ndev, u16 vlan)
{
	if (!vlan)
		return !is_vlan_dev(ndev);
	return is_vlan_dev(ndev) && vlan_dev_vlan_id(ndev) == vlan;
}

enum gid_fit {
	GID_NO,
	GID_USABLE,	/* the device is in the subnet of the connection */
	GID_BEST,	/* and so is the address in the GID */
};

static enum gid_fit ndev_subnet_fit_rcu(const struct net_device *ndev,
					__be32 saddr, __be32 gid_addr)
{
	struct in_device *in_dev = __in_dev_get_rcu(ndev);
	enum gid_fit fit = GID_NO;
	const struct in_ifaddr *ifa;

	if (!in_dev)
		return GID_NO;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		if (!inet_ifa_match(saddr, ifa))
			continue;
		if (inet_ifa_match(gid_addr, ifa))
			return GID_BEST;
		fit = GID_USABLE;
	}
	return fit;
}

static bool gid_is_v2(const struct ib_gid_attr *attr)
{
	return attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP;
}

static enum gid_fit gid_fit(const struct ib_gid_attr *attr, bool v2, u16 vlan,
			    __be32 saddr)
{
	enum gid_fit fit = GID_NO;
	struct net_device *ndev;
	__be32 addr = 0;

	if (attr->gid_type != (v2 ? IB_GID_TYPE_ROCE_UDP_ENCAP :
				    IB_GID_TYPE_ROCE))
		return GID_NO;
	if (v2 && !gid_ipv4(attr->gid.raw, &addr))
		return GID_NO;
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	if (!IS_ERR(ndev) && ndev_has_vlan(ndev, vlan))
		fit = v2 ? ndev_subnet_fit_rcu(ndev, saddr, addr) : GID_BEST;
	rcu_read_unlock();
	return fit;
}

/**
 * smc_gid_find - pick the GID of a port for a connection
 * @port: port of a device in use by the caller
 * @v2: RoCE v2 GID with an IPv4 address inside, else RoCE v1
 * @vlan: VLAN id of the GID's net device, 0: no VLAN device
 * @saddr: v2: local IPv4 address, in a subnet of the GID's net device
 *
 * Of several RoCE v2 GIDs one whose own address is in that subnet is
 * preferred, else the lowest index counts. Context: process.
 *
 * Return: GID to be put with rdma_put_gid_attr() while the device is in use,
 * or NULL.
 */
const struct ib_gid_attr *smc_gid_find(struct smc_ib_port *port, bool v2,
				       u16 vlan, __be32 saddr)
{
	struct ib_device *ibdev = port->dev->ibdev;
	const struct ib_gid_attr *attr, *found = NULL;
	enum gid_fit fit;
	int i, n;

	if (!(v2 ? rdma_protocol_roce_udp_encap(ibdev, port->num) :
		   rdma_protocol_roce_eth_encap(ibdev, port->num)))
		return NULL;
	n = min(ibdev->port_data[port->num].immutable.gid_tbl_len,
		GID_INDEX_MAX + 1);
	for (i = 0; i < n; i++) {
		attr = rdma_get_gid_attr(ibdev, port->num, i);
		if (IS_ERR(attr))
			continue;
		fit = gid_fit(attr, v2, vlan, saddr);
		if (fit == GID_NO || (fit == GID_USABLE && found)) {
			rdma_put_gid_attr(attr);
			continue;
		}
		if (found)
			rdma_put_gid_attr(found);
		found = attr;
		if (fit == GID_BEST)
			break;
	}
	return found;
}

/**
 * smc_gid_alive - does a port still have a GID
 * @port: port of a device in use by the caller
 * @gid: GID of a link
 * @v2: as RoCE v2 GID, else RoCE v1
 *
 * Context: process.
 * Return: true if it is in the port's table.
 */
bool smc_gid_alive(struct smc_ib_port *port, const union ib_gid *gid, bool v2)
{
	const struct ib_gid_attr *attr;

	attr = rdma_find_gid_by_port(port->dev->ibdev, gid,
				     v2 ? IB_GID_TYPE_ROCE_UDP_ENCAP :
					  IB_GID_TYPE_ROCE,
				     port->num, NULL);
	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}

/* wait, bounded, until the neighbour entry is valid and copy its address */
static int neigh_resolve(struct neighbour *neigh, u8 mac[ETH_ALEN])
{
	unsigned long end = jiffies + NEIGH_WAIT;
	u8 state;

	if (neigh->dev->addr_len != ETH_ALEN)
		return -EHOSTUNREACH;
	neigh_event_send(neigh, NULL);
	for (;;) {
		state = READ_ONCE(neigh->nud_state);
		if (state & NUD_VALID)
			break;
		if ((state & NUD_FAILED) || time_after(jiffies, end))
			return -EHOSTUNREACH;
		msleep(NEIGH_POLL_MS);
	}
	neigh_ha_snapshot(mac, neigh, neigh->dev);
	return 0;
}

/**
 * smc_gid_route - where frames for a RoCE v2 GID go
 * @net: namespace
 * @saddr: own IPv4 address
 * @peer_gid: GID with an IPv4 address inside
 * @nexthop_mac: MAC of the next hop, zero for an address of this host
 * @gateway: the next hop is a gateway
 *
 * Resolves the neighbour if needed. Context: process, may wait half a second;
 * no lock held.
 *
 * Return: 0, -EINVAL if there is no IPv4 address in @peer_gid, -EHOSTUNREACH
 * without an IPv4 route or neighbour.
 */
int smc_gid_route(struct net *net, __be32 saddr, const u8 peer_gid[16],
		  u8 nexthop_mac[ETH_ALEN], bool *gateway)
{
	struct flowi4 fl4 = { .saddr = saddr };
	int rc = -EHOSTUNREACH;
	struct neighbour *neigh;
	struct rtable *rt;

	if (!gid_ipv4(peer_gid, &fl4.daddr))
		return -EINVAL;
	rt = ip_route_output_key(net, &fl4);
	if (IS_ERR(rt))
		return -EHOSTUNREACH;
	if ((rt->rt_type == RTN_UNICAST || rt->rt_type == RTN_LOCAL) &&
	    rt->rt_gw_family != AF_INET6) {
		*gateway = rt->rt_gw_family == AF_INET;
		neigh = dst_neigh_lookup(&rt->dst, &fl4.daddr);
		if (neigh) {
			rc = neigh_resolve(neigh, nexthop_mac);
			neigh_release(neigh);
		}
	}
	ip_rt_put(rt);
	return rc;
}

static int vlan_step(struct net_device *lower, struct netdev_nested_priv *priv)
{
	if (!is_vlan_dev(lower))
		return 0;
	*(u16 *)priv->data = vlan_dev_vlan_id(lower);
	return 1;
}

/**
 * smc_route_vlan - VLAN id of a connection
 * @ndev: device of its route, held by the caller; may be NULL
 * @vlan: id of @ndev, else of the first VLAN device below it, else 0
 *
 * Context: any.
 * Return: 0, or -ENODEV without a device.
 */
int smc_route_vlan(struct net_device *ndev, u16 *vlan)
{
	struct netdev_nested_priv priv = { .data = vlan };

	*vlan = 0;
	if (!ndev)
		return -ENODEV;
	rcu_read_lock();
	if (!vlan_step(ndev, &priv))
		netdev_walk_all_lower_dev_rcu(ndev, vlan_step, &priv);
	rcu_read_unlock();
	return 0;
}

/* what smc_ib_choose() looks for */
struct port_search {
	const struct smc_ib_want *want;
	struct net_device *base;	/* compared only */
	bool has_id;
	u8 id[SMC_PNETID_BYTES];
};

static bool port_on_netdev(struct smc_ib_port *port,
			   const struct port_search *search)
{
	struct net_device *ndev;
	bool hit;

	ndev = ib_device_get_netdev(port->dev->ibdev, port->num);
	if (!ndev)
		return false;
	hit = ndev == search->base || ndev == search->want->ndev;
	dev_put(ndev);
	return hit;
}

static bool port_fits(struct smc_ib_port *port, void *arg)
{
	const struct port_search *search = arg;

	if (port->known && !port->active)
		return false;
	if (!rdma_dev_access_netns(port->dev->ibdev, search->want->net))
		return false;
	if (!search->has_id)
		return port_on_netdev(port, search);
	return port->pnetid[0] && smc_pnet_equal(port->pnetid, search->id);
}

static bool gid_in_net(const struct ib_gid_attr *attr, const struct net *net)
{
	struct net_device *ndev;
	bool in;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	in = !IS_ERR(ndev) && net_eq(dev_net(ndev), net);
	rcu_read_unlock();
	return in;
}

static const struct ib_gid_attr *port_gid(struct smc_ib_port *port,
					  const struct smc_ib_want *want,
					  bool own_net)
{
	const struct ib_gid_attr *attr;

	/* the device has just appeared, its first query is still to come */
	if (!port->known)
		smc_ib_port_refresh(port);
	if (!port->active)
		return NULL;
	attr = smc_gid_find(port, want->v2, want->vlan, want->saddr);
	if (attr && own_net && !gid_in_net(attr, want->net)) {
		rdma_put_gid_attr(attr);
		return NULL;
	}
	return attr;
}

static bool search_ports(struct port_search *search, bool own_net,
			 struct smc_ib_choice *choice)
{
	const struct ib_gid_attr *attr;
	struct smc_ib_port *port;
	unsigned int n;

	for (n = 0; (port = smc_ib_port_get(port_fits, search, n)); n++) {
		attr = port_gid(port, search->want, own_net);
		if (attr) {
			choice->port = port;
			choice->gid = attr->gid;
			choice->index = attr->index;
			choice->v2 = search->want->v2;
			smc_ib_dev_hold(port->dev);
			rdma_put_gid_attr(attr);
		}
		smc_ib_port_put(port);
		if (attr)
			return true;
	}
	return false;
}

/**
 * smc_ib_choose - pick port and GID for a connection
 * @want: what the connection needs
 * @choice: result, to be ended with smc_ib_choice_put(); empty on error
 *
 * If the interface has a PNET id: the first port with that id, one whose GID
 * belongs to an interface of the connection's namespace before others (all
 * namespaces see all devices in the RDMA core's shared mode). Else: the first
 * port of the interface itself or of the device below it. A port must be
 * active, usable in the namespace and have a GID (architecture document,
 * "RNIC selection").
 *
 * Context: process, may sleep; with @want->peer_gid it may wait half a second
 * for a neighbour.
 * Return: 0, -ENODEV, -EHOSTUNREACH without a path to @want->peer_gid, -EINVAL
 * if there is no IPv4 address in that.
 */
int smc_ib_choose(const struct smc_ib_want *want, struct smc_ib_choice *choice)
{
	struct port_search search = { .want = want };
	int rc = 0;

	memset(choice, 0, sizeof(*choice));
	search.has_id = smc_pnet_of_netdev(want->ndev, search.id);
	rcu_read_lock();
	search.base = smc_pnet_base_rcu(want->ndev);
	rcu_read_unlock();

	if (!(search.has_id && search_ports(&search, true, choice)) &&
	    !search_ports(&search, false, choice))
		return -ENODEV;
	if (want->v2 && want->peer_gid)
		rc = smc_gid_route(want->net, want->saddr, want->peer_gid,
				   choice->nexthop_mac, &choice->gateway);
	if (rc)
		smc_ib_choice_put(choice);
	return rc;
}

/**
 * smc_ib_choice_put - forget a choice
 * @choice: choice, or an empty one; is empty afterwards
 *
 * Context: any.
 */
void smc_ib_choice_put(struct smc_ib_choice *choice)
{
	if (!choice->port)
		return;
	smc_ib_dev_put(choice->port->dev);
	memset(choice, 0, sizeof(*choice));
}

/**
 * smc_ib_choice_use - begin to use what was chosen
 * @choice: choice, stays the caller's
 *
 * Context: process.
 * Return: the GID; the device stays until the caller has put that with
 * rdma_put_gid_attr() and then called smc_ib_link_put(). ERR_PTR(-ENODEV): the
 * device is leaving, or its table has another GID in that place by now.
 */
const struct ib_gid_attr *smc_ib_choice_use(const struct smc_ib_choice *choice)
{
	struct smc_ib_port *port = choice->port;
	const struct ib_gid_attr *attr;

	if (!smc_ib_link_get(port))
		return ERR_PTR(-ENODEV);
	attr = rdma_get_gid_attr(port->dev->ibdev, port->num, choice->index);
	if (!IS_ERR(attr)) {
		if (gid_is_v2(attr) == choice->v2 &&
		    !memcmp(&attr->gid, &choice->gid, sizeof(attr->gid)))
			return attr;
		rdma_put_gid_attr(attr);
	}
	smc_ib_link_put(port);
	return ERR_PTR(-ENODEV);
}
