// SPDX-License-Identifier: GPL-2.0
/*
 * The route device of a TCP connection and the subnet rule of SMC v1: both
 * hosts must be in the same IP subnet. The client proposes the subnet of its
 * IPv4 address or the prefixes of its IPv6 addresses, the server looks for the
 * same among the addresses of its own device (RFC 7609, 4.5.1 "prefix").
 *
 * Address lists are walked under RCU; the net device is held meanwhile.
 */
#include <linux/inetdevice.h>
#include <linux/net.h>
#include <net/addrconf.h>
#include <net/dst.h>
#include <net/if_inet6.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "smc_clc_msg.h"
#include "smc_prefix.h"

/**
 * smc_sock_route_dev - device of the cached route of a TCP socket
 * @tcpsk: TCP socket
 * @tracker: for netdev_put()
 *
 * Context: any, the socket need not be locked.
 * Return: device to be given back with netdev_put(), NULL if there is no
 * cached route.
 */
struct net_device *smc_sock_route_dev(struct sock *tcpsk,
				      netdevice_tracker *tracker)
{
	struct net_device *ndev;
	struct dst_entry *dst;

	guard(rcu)();
	dst = rcu_dereference(tcpsk->sk_dst_cache);
	if (!dst)
		return NULL;
	ndev = dst_dev_rcu(dst);
	netdev_hold(ndev, tracker, GFP_ATOMIC);
	return ndev;
}

/**
 * smc_sock_is_ipv4 - does a TCP connection run over IPv4?
 * @tcpsk: TCP socket, of either family
 *
 * Context: any.
 * Return: true if so
 */
bool smc_sock_is_ipv4(const struct sock *tcpsk)
{
	if (tcpsk->sk_family == AF_INET)
		return true;
#if IS_ENABLED(CONFIG_IPV6)
	return ipv6_addr_v4mapped(&tcpsk->sk_v6_rcv_saddr);
#else
	return false;
#endif
}

/* the first address of @ndev in one subnet with @addr; @len in bits, -1 any */
static const struct in_ifaddr *prefix4_find_rcu(const struct net_device *ndev,
						__be32 addr, int len)
{
	struct in_device *in_dev = __in_dev_get_rcu(ndev);
	const struct in_ifaddr *ifa;

	if (!in_dev)
		return NULL;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		if (inet_ifa_match(addr, ifa) &&
		    (len < 0 || inet_mask_len(ifa->ifa_mask) == len))
			return ifa;
	}
	return NULL;
}

static int prefix4_get_rcu(const struct net_device *ndev, __be32 saddr,
			   struct smc_clc_proposal *p)
{
	const struct in_ifaddr *ifa = prefix4_find_rcu(ndev, saddr, -1);

	if (!ifa)
		return -ENOENT;
	p->subnet4 = ifa->ifa_address & ifa->ifa_mask;
	p->prefix4_len = inet_mask_len(ifa->ifa_mask);
	return 0;
}

#if IS_ENABLED(CONFIG_IPV6)
static int prefix6_get_rcu(const struct net_device *ndev,
			   struct smc_clc_proposal *p)
{
	struct inet6_dev *idev = __in6_dev_get(ndev);
	const struct inet6_ifaddr *ifa;
	struct smc_clc_prefix6 *entry;
	struct in6_addr prefix;

	if (!idev)
		return -ENODEV;
	list_for_each_entry_rcu(ifa, &idev->addr_list, if_list) {
		if (ipv6_addr_type(&ifa->addr) & IPV6_ADDR_LINKLOCAL)
			continue;
		entry = &p->prefix6[p->num_prefix6++];
		entry->len = min(ifa->prefix_len, 128U);
		ipv6_addr_prefix(&prefix, &ifa->addr, entry->len);
		memcpy(entry->prefix, &prefix, sizeof(prefix));
		if (p->num_prefix6 == SMC_CLC_MAX_PREFIX6)
			break;
	}
	return p->num_prefix6 ? 0 : -ENOENT;
}

static bool prefix6_has(const struct smc_clc_proposal *p,
			const struct inet6_ifaddr *ifa)
{
	struct in6_addr prefix;
	unsigned int i;

	for (i = 0; i < p->num_prefix6; i++) {
		if (p->prefix6[i].len != ifa->prefix_len || ifa->prefix_len > 128)
			continue;
		memcpy(&prefix, p->prefix6[i].prefix, sizeof(prefix));
		if (ipv6_prefix_equal(&prefix, &ifa->addr, ifa->prefix_len))
			return true;
	}
	return false;
}

static bool prefix6_match_rcu(const struct net_device *ndev,
			      const struct smc_clc_proposal *p)
{
	struct inet6_dev *idev = __in6_dev_get(ndev);
	const struct inet6_ifaddr *ifa;

	if (!idev)
		return false;
	list_for_each_entry_rcu(ifa, &idev->addr_list, if_list) {
		if (!(ipv6_addr_type(&ifa->addr) & IPV6_ADDR_LINKLOCAL) &&
		    prefix6_has(p, ifa))
			return true;
	}
	return false;
}
#else
static int prefix6_get_rcu(const struct net_device *ndev,
			   struct smc_clc_proposal *p)
{
	return -ENODEV;
}

static bool prefix6_match_rcu(const struct net_device *ndev,
			      const struct smc_clc_proposal *p)
{
	return false;
}
#endif

/**
 * smc_prefix_get - subnet or prefixes to propose, client side
 * @tcp: connected TCP socket
 * @p: subnet4 and prefix4_len, or prefix6 and num_prefix6 are set, the others
 *	of these four are zeroed; nothing else changes
 *
 * IPv4, also mapped: subnet of the interface address that is in one subnet with
 * the local address. IPv6: prefixes of the first eight addresses that are not
 * link-local, duplicates kept, as peers expect.
 * Context: process.
 * Return: 0, -ENODEV without a route, -ENOENT or -ENODEV if no address fits.
 */
int smc_prefix_get(struct socket *tcp, struct smc_clc_proposal *p)
{
	netdevice_tracker tracker;
	struct net_device *ndev;
	int rc;

	p->subnet4 = 0;
	p->prefix4_len = 0;
	p->num_prefix6 = 0;
	memset(p->prefix6, 0, sizeof(p->prefix6));
	ndev = smc_sock_route_dev(tcp->sk, &tracker);
	if (!ndev)
		return -ENODEV;
	rcu_read_lock();
	if (smc_sock_is_ipv4(tcp->sk))
		rc = prefix4_get_rcu(ndev, inet_sk(tcp->sk)->inet_saddr, p);
	else
		rc = prefix6_get_rcu(ndev, p);
	rcu_read_unlock();
	netdev_put(ndev, &tracker);
	return rc;
}

/**
 * smc_prefix_match - are client and server in one subnet, server side
 * @tcp: accepted TCP socket
 * @p: decoded proposal with a prefix area
 *
 * Context: process.
 * Return: 0 or -ENOENT.
 */
int smc_prefix_match(struct socket *tcp, const struct smc_clc_proposal *p)
{
	netdevice_tracker tracker;
	struct net_device *ndev;
	bool match;

	ndev = smc_sock_route_dev(tcp->sk, &tracker);
	if (!ndev)
		return -ENOENT;
	rcu_read_lock();
	if (p->num_prefix6)
		match = prefix6_match_rcu(ndev, p);
	else
		match = prefix4_find_rcu(ndev, p->subnet4, p->prefix4_len);
	rcu_read_unlock();
	netdev_put(ndev, &tracker);
	return match ? 0 : -ENOENT;
}
