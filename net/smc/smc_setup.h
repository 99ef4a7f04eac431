/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a connection comes about (layer 6): connect(2), listen(2) and accept(2),
 * the CLC handshake in their workers, handing a socket over to TCP.
 */
#ifndef SMC_SETUP_H
#define SMC_SETUP_H

#include <linux/net.h>

#include "smc_sock.h"

/* a connection attempt is under way; socket lock, or a hint without */
static inline bool smc_connecting(const struct smc_sock *smc)
{
	u8 state = READ_ONCE(smc->connect_state);

	return state == SMC_CONN_TCP || state == SMC_CONN_CLC;
}

/* smc_connect.c */
void smc_connect_init_sock(struct smc_sock *smc);
int smc_connect(struct socket *sock, struct sockaddr_unsized *addr, int len,
		int flags);
int smc_connect_wait(struct smc_sock *smc, long *timeo);
int smc_disconnect(struct socket *sock);
bool smc_connect_cancel(struct smc_sock *smc);
void smc_tcp_watch(struct smc_sock *smc);
void smc_sock_drop(struct smc_sock *smc);

/* smc_listen.c */
void smc_listen_init_sock(struct smc_sock *smc);
int smc_listen(struct socket *sock, int backlog);
void smc_listen_stop(struct smc_sock *smc);
int smc_accept(struct socket *sock, struct socket *newsock,
	       struct proto_accept_arg *arg);

/* smc_hs_client.c, smc_hs_server.c */
int smc_hs_client(struct smc_sock *smc);
int smc_hs_server(struct smc_sock *smc);

/* smc_fallback.c */
void smc_switch_to_fallback(struct smc_sock *smc, int reason_code);
void smc_fallback_give_file(struct smc_sock *smc, struct socket *sock);
void smc_fallback_take_file(struct smc_sock *smc, struct socket *sock);

#endif /* SMC_SETUP_H */
