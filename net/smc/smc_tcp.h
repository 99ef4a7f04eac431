/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The internal TCP socket of an SMC socket (layer 6): creation, callbacks,
 * settings, release.
 */
#ifndef SMC_TCP_H
#define SMC_TCP_H

#include <linux/rcupdate.h>
#include <net/sock.h>

#include "smc_sock.h"

/* callbacks to put into the TCP socket; NULL: the original one */
struct smc_tcp_cbs {
	void (*state_change)(struct sock *tsk);
	void (*data_ready)(struct sock *tsk);
	void (*write_space)(struct sock *tsk);
	void (*error_report)(struct sock *tsk);
};

/* The SMC socket of @tsk, for callbacks. RCU read side, or callback lock held:
 * the memory is good until the end of the section, no more than that. NULL if
 * the callbacks were taken away meanwhile, or for a child of a listener.
 */
static inline struct smc_sock *smc_tcp_owner(const struct sock *tsk)
{
	return rcu_dereference_sk_user_data(tsk);
}

/* Closed, and no data path that would end the TCP socket. Socket locked. */
static inline bool smc_sock_over(const struct smc_sock *smc)
{
	return smc->sk.sk_state == SMC_CLOSED && !smc->conn.joined;
}

int smc_tcp_create(struct smc_sock *smc, int family);
void smc_sock_tcp_release(struct smc_sock *smc);
void smc_tcp_hook(struct smc_sock *smc, const struct smc_tcp_cbs *cbs);
void smc_tcp_restore(struct smc_sock *smc, struct sock *tsk);
void smc_tcp_unhook(struct smc_sock *smc);
void smc_tcp_set_syn(struct smc_sock *smc, bool on);
void smc_tcp_copy_early(struct smc_sock *smc);
void smc_tcp_copy_late(struct smc_sock *smc);
int smc_tcp_unspec(struct smc_sock *smc);
void smc_tcp_disconnect(struct smc_sock *smc);

#endif /* SMC_TCP_H */
