/* SPDX-License-Identifier: GPL-2.0 */
/*
 * listen(2), accept(2) and the handshakes of the server side (layer 6).
 */
#ifndef SMC_LISTEN_H
#define SMC_LISTEN_H

#include "smc_sock.h"

void smc_listen_init_sock(struct smc_sock *smc);
int smc_listen(struct socket *sock, int backlog);
void smc_listen_stop(struct smc_sock *smc);
int smc_accept(struct socket *sock, struct socket *newsock,
	       struct proto_accept_arg *arg);

#endif /* SMC_LISTEN_H */
