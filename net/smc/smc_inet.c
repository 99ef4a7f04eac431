// SPDX-License-Identifier: GPL-2.0
/*
 * IPPROTO_SMC: SMC sockets in the families AF_INET and AF_INET6 (layer 7). The
 * core creates them; everything else is shared with AF_SMC.
 */
#include <linux/ipv6.h>
#include <linux/module.h>
#include <net/protocol.h>

#include "smc_af.h"
#include "smc_data.h"
#include "smc_inet.h"
#include "smc_sockopt.h"

static int smc_inet_init_sock(struct sock *sk)
{
	return smc_af_setup(sk, sk->sk_family);
}

static struct proto smc_inet_prot = {
	.name		= "INET_SMC",
	.owner		= THIS_MODULE,
	.init		= smc_inet_init_sock,
	.destroy	= smc_af_destroy,
	.unhash		= smc_sk_unhash,
	.ioctl		= smc_prot_ioctl,
	.release_cb	= smc_conn_release_cb,
	.obj_size	= sizeof(struct smc_sock),
};

static struct inet_protosw smc_inet_protosw = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_SMC,
	.prot		= &smc_inet_prot,
	.ops		= &smc_inet_ops,
};

#if IS_ENABLED(CONFIG_IPV6)
static struct proto smc_inet6_prot = {
	.name			= "INET6_SMC",
	.owner			= THIS_MODULE,
	.init			= smc_inet_init_sock,
	.destroy		= smc_af_destroy,
	.unhash			= smc_sk_unhash,
	.ioctl			= smc_prot_ioctl,
	.release_cb		= smc_conn_release_cb,
	.obj_size		= sizeof(struct smc6_sock),
	.ipv6_pinfo_offset	= offsetof(struct smc6_sock, pinet6),
};

static struct inet_protosw smc_inet6_protosw = {
	.type		= SOCK_STREAM,
	.protocol	= IPPROTO_SMC,
	.prot		= &smc_inet6_prot,
	.ops		= &smc_inet6_ops,
};

static int __init smc_inet6_register(void)
{
	int rc;

	rc = proto_register(&smc_inet6_prot, 1);
	if (rc)
		return rc;
	rc = inet6_register_protosw(&smc_inet6_protosw);
	if (rc)
		proto_unregister(&smc_inet6_prot);
	return rc;
}

static void smc_inet6_unregister(void)
{
	inet6_unregister_protosw(&smc_inet6_protosw);
}

static void smc_inet6_proto_exit(void)
{
	proto_unregister(&smc_inet6_prot);
}
#else
static inline int smc_inet6_register(void)
{
	return 0;
}

static inline void smc_inet6_unregister(void)
{
}

static inline void smc_inet6_proto_exit(void)
{
}
#endif

/**
 * smc_inet_init() - register IPPROTO_SMC
 *
 * Return: 0 or a negative errno.
 */
int __init smc_inet_init(void)
{
	int rc;

	rc = proto_register(&smc_inet_prot, 1);
	if (rc)
		return rc;
	rc = smc_inet6_register();
	if (rc) {
		proto_unregister(&smc_inet_prot);
		return rc;
	}
	inet_register_protosw(&smc_inet_protosw);
	return 0;
}

/**
 * smc_inet_exit() - undo smc_inet_init(); no socket is left
 */
void smc_inet_exit(void)
{
	inet_unregister_protosw(&smc_inet_protosw);
	smc_inet6_unregister();
	/* sockets are freed by RCU callbacks */
	rcu_barrier();
	smc_inet6_proto_exit();
	proto_unregister(&smc_inet_prot);
}

/* numbers, since the macro makes strings of them: IPPROTO_SMC, SOCK_STREAM */
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET, 256, 1);
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_INET6, 256, 1);
