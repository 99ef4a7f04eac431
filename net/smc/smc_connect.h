/* SPDX-License-Identifier: GPL-2.0 */
/*
 * connect(2) and what happens to its TCP connection later (layer 6).
 */
#ifndef SMC_CONNECT_H
#define SMC_CONNECT_H

#include "smc_sock.h"

/* a connection attempt is under way; socket lock, or a hint without */
static inline bool smc_connecting(const struct smc_sock *smc)
{
	u8 state = READ_ONCE(smc->connect_state);

	return state == SMC_CONN_TCP || state == SMC_CONN_CLC;
}

void smc_connect_init_sock(struct smc_sock *smc);
int smc_connect(struct socket *sock, struct sockaddr_unsized *addr, int len,
		int flags);
int smc_connect_wait(struct smc_sock *smc, long *timeo);
int smc_disconnect(struct socket *sock);
bool smc_connect_cancel(struct smc_sock *smc);
void smc_tcp_watch(struct smc_sock *smc);
void smc_sock_drop(struct smc_sock *smc);

#endif /* SMC_CONNECT_H */
