/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Socket families, options and ioctls (layer 7).
 */
#ifndef SMC_AF_H
#define SMC_AF_H

#include <linux/net.h>
#include <linux/sockptr.h>

#include "smc_sock.h"

int smc_af_init(void);
void smc_af_exit(void);

/* smc_sockopt.c: what a socket is told */
int smc_setsockopt(struct socket *sock, int level, int optname,
		   sockptr_t optval, unsigned int optlen);
int smc_set_rcvlowat(struct sock *sk, int val);

/* and what it is asked */
int smc_getsockopt(struct socket *sock, int level, int optname,
		   char __user *optval, int __user *optlen);
int smc_prot_ioctl(struct sock *sk, int cmd, int *answer);
int smc_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg);
#ifdef CONFIG_COMPAT
int smc_compat_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg);
#endif

#endif /* SMC_AF_H */
