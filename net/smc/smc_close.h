/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Close states (layer 5): events, the table as a pure function, and the steps
 * that other files of the data path start.
 */
#ifndef SMC_CLOSE_H
#define SMC_CLOSE_H

#include <linux/bits.h>
#include <linux/types.h>

#include "smc_sock.h"

enum smc_close_event {
	SMC_EV_ESTABLISHED,	/* handshake succeeded */
	SMC_EV_CLOSE,		/* close(2) */
	SMC_EV_SHUT_RDWR,	/* shutdown(2) */
	SMC_EV_SHUT_WR,
	SMC_EV_RX_DONE,		/* D received */
	SMC_EV_RX_CLOSED,	/* C received */
	SMC_EV_RX_ABORT,	/* A received */
	SMC_EV_ABORT,		/* own decision: error, time limit */
	SMC_EV_KILL,		/* link group died */
	SMC_EV_MAX,
	SMC_EV_SET = SMC_EV_MAX,	/* socket layer; trace only */
};

/* what goes with a step */
#define SMC_ACT_DONE	BIT(0)	/* send D behind all data */
#define SMC_ACT_FIN	BIT(1)	/* send C behind all data (or A, see there) */
#define SMC_ACT_ABORT	BIT(2)	/* send A now */
#define SMC_ACT_ERR	BIT(3)	/* the application has to learn an error */
#define SMC_ACT_REFUSE	BIT(4)	/* the call fails with ENOTCONN */

enum smc_state smc_close_next(enum smc_state state, enum smc_close_event ev,
			      bool guard, u8 *act);
bool smc_close_allowed(enum smc_state old, enum smc_state new);

void smc_close_established(struct smc_sock *smc);
void smc_close_peer(struct smc_sock *smc);
void smc_close_kill(struct smc_sock *smc);
bool smc_close_finished(const struct smc_sock *smc);
unsigned long smc_close_orphan(struct smc_sock *smc);
void smc_close_tcp(struct smc_sock *smc);

#endif /* SMC_CLOSE_H */
