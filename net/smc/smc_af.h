/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The socket family, and what IPPROTO_SMC shares with it (layer 7).
 */
#ifndef SMC_AF_H
#define SMC_AF_H

#include <linux/net.h>

#include "smc_sock.h"

extern const struct proto_ops smc_ops;
extern const struct proto_ops smc_inet_ops;
extern const struct proto_ops smc_inet6_ops;

int smc_release(struct socket *sock);
int smc_af_setup(struct sock *sk, int family);
void smc_af_destroy(struct sock *sk);
int smc_af_init(void);
void smc_af_exit(void);

#endif /* SMC_AF_H */
