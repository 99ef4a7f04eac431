// SPDX-License-Identifier: GPL-2.0
/*
 * The SMC socket as an object (layer 6): initial state, list of the namespace,
 * children of listeners, destruction.
 *
 * References: one of the struct socket, from creation to release; a child has
 * it for its handshake, then for the accept queue, then for its struct socket.
 * Further ones: one while event_work is queued, one of each child on its
 * listener, and those of the data path. The list for sock_diag has none: a
 * socket leaves it in its destructor.
 *
 * The memory is freed by RCU, so that callbacks of the TCP socket, which find
 * the SMC socket by sk_user_data, may look at it in an RCU section.
 */
#include <net/inet_common.h>
#include <net/ipv6.h>

#include "smc_data.h"
#include "smc_net.h"
#include "smc_sock.h"

/* what setsockopt() has set and an accepted socket starts with */
#define SMC_INHERIT_FLAGS	(BIT(SOCK_URGINLINE) | BIT(SOCK_KEEPOPEN) | \
				 BIT(SOCK_LINGER) | BIT(SOCK_BROADCAST) | \
				 BIT(SOCK_DBG) | BIT(SOCK_RCVTSTAMP) | \
				 BIT(SOCK_RCVTSTAMPNS) | \
				 BIT(SOCK_LOCALROUTE) | BIT(SOCK_RXQ_OVFL) | \
				 BIT(SOCK_WIFI_STATUS) | BIT(SOCK_NOFCS) | \
				 BIT(SOCK_SELECT_ERR_QUEUE) | \
				 BIT(SOCK_FILTER_LOCKED) | \
				 BIT(SOCK_TSTAMP_NEW) | BIT(SOCK_RCVMARK))
#define SMC_INHERIT_LOCKS	(SOCK_SNDBUF_LOCK | SOCK_RCVBUF_LOCK)

static struct lock_class_key smc_inet_slock_key[2];
static struct lock_class_key smc_inet_lock_key[2];

/* IPPROTO_SMC sockets would share the classes of TCP sockets of programs */
static void smc_sk_lock_class(struct sock *sk)
{
	if (sk->sk_family == AF_INET)
		sock_lock_init_class_and_name(sk, "slock-AF_INET-SMC",
					      &smc_inet_slock_key[0],
					      "sk_lock-AF_INET-SMC",
					      &smc_inet_lock_key[0]);
	else if (sk->sk_family == AF_INET6)
		sock_lock_init_class_and_name(sk, "slock-AF_INET6-SMC",
					      &smc_inet_slock_key[1],
					      "sk_lock-AF_INET6-SMC",
					      &smc_inet_lock_key[1]);
}

static void smc_sk_destruct(struct sock *sk)
{
	smc_sk_unhash(sk);
	DEBUG_NET_WARN_ON_ONCE(smc_sk(sk)->tcp);
	smc_conn_destroy(smc_sk(sk));
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		inet6_sock_destruct(sk);
		return;
	}
#endif
	inet_sock_destruct(sk);
}

/**
 * smc_sk_init() - initial state of an SMC socket
 * @sk: socket after sock_init_data(), not reachable yet
 *
 * Context: process.
 */
void smc_sk_init(struct sock *sk)
{
	struct smc_net *sn = smc_net(sock_net(sk));
	struct smc_sock *smc = smc_sk(sk);

	smc_sk_lock_class(sk);
	sk->sk_state = SMC_INIT;
	sk->sk_destruct = smc_sk_destruct;
	sock_set_flag(sk, SOCK_RCU_FREE);
	sk->sk_sndbuf = 2 * READ_ONCE(sn->wmem);
	sk->sk_rcvbuf = 2 * READ_ONCE(sn->rmem);
	smc->limit_hs = READ_ONCE(sn->limit_smc_hs);
	spin_lock_init(&smc->accept_lock);
	INIT_LIST_HEAD(&smc->accept_q);
	INIT_LIST_HEAD(&smc->hs_q);
	INIT_LIST_HEAD(&smc->accept_node);
	smc_conn_init(smc);
}

/**
 * smc_sk_publish() - put a complete socket on the list of its namespace
 * @sk: socket
 *
 * Context: process.
 */
void smc_sk_publish(struct sock *sk)
{
	struct smc_net *sn = smc_net(sock_net(sk));

	spin_lock_bh(&sn->sk_lock);
	smc_sk(sk)->diag_id = ++sn->sk_gen;
	hlist_add_head(&sk->sk_node, &sn->sk_list);
	spin_unlock_bh(&sn->sk_lock);
	sock_prot_inuse_add(sock_net(sk), sk->sk_prot, 1);
}

/**
 * smc_sk_unhash() - take a socket from the list of its namespace
 * @sk: socket, maybe not on it
 *
 * Also proto.unhash, for sockets whose creation fails late. Idempotent.
 *
 * Context: any but hard interrupt.
 */
void smc_sk_unhash(struct sock *sk)
{
	struct smc_net *sn = smc_net(sock_net(sk));
	bool listed;

	spin_lock_bh(&sn->sk_lock);
	listed = !hlist_unhashed(&sk->sk_node);
	if (listed)
		hlist_del_init(&sk->sk_node);
	spin_unlock_bh(&sn->sk_lock);
	if (listed)
		sock_prot_inuse_add(sock_net(sk), sk->sk_prot, -1);
}

/* The settings a TCP child takes from its listener, but those of segments,
 * which its TCP socket has.
 */
static void smc_sk_inherit(struct sock *sk, const struct sock *lsk)
{
	sk->sk_type = lsk->sk_type;
	sk->sk_protocol = lsk->sk_protocol;
	sk->sk_flags |= READ_ONCE(lsk->sk_flags) & SMC_INHERIT_FLAGS;
	sk->sk_userlocks |= lsk->sk_userlocks & SMC_INHERIT_LOCKS;
	if (sk->sk_userlocks & SOCK_SNDBUF_LOCK)
		sk->sk_sndbuf = READ_ONCE(lsk->sk_sndbuf);
	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK)
		sk->sk_rcvbuf = READ_ONCE(lsk->sk_rcvbuf);
	sk->sk_lingertime = READ_ONCE(lsk->sk_lingertime);
	sk->sk_rcvtimeo = READ_ONCE(lsk->sk_rcvtimeo);
	sk->sk_sndtimeo = READ_ONCE(lsk->sk_sndtimeo);
	sk->sk_rcvlowat = READ_ONCE(lsk->sk_rcvlowat);
	sk->sk_peek_off = READ_ONCE(lsk->sk_peek_off);
	sk->sk_reuse = lsk->sk_reuse;
	sk->sk_reuseport = lsk->sk_reuseport;
	sk->sk_uid = sk_uid(lsk);
}

/**
 * smc_sk_alloc_child() - socket for a connection of a listener
 * @lsk: listener, pinned; the socket gets its family, protocol, proto and
 *	settings
 *
 * Not on the list yet, without a TCP socket.
 *
 * Context: process.
 * Return: the socket with one reference, or NULL without memory.
 */
struct smc_sock *smc_sk_alloc_child(struct sock *lsk)
{
	struct sock *sk;

	sk = sk_alloc(sock_net(lsk), lsk->sk_family, GFP_KERNEL, lsk->sk_prot,
		      lsk->sk_kern_sock);
	if (!sk)
		return NULL;
	sock_init_data(NULL, sk);
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		inet_sk(sk)->pinet6 = &((struct smc6_sock *)sk)->pinet6;
#endif
	smc_sk_init(sk);
	smc_sk_inherit(sk, lsk);
	smc_sk(sk)->limit_hs = READ_ONCE(smc_sk(lsk)->limit_hs);
	return smc_sk(sk);
}
