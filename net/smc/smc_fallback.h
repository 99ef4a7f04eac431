/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handing a socket over to TCP (layer 6).
 */
#ifndef SMC_FALLBACK_H
#define SMC_FALLBACK_H

#include <linux/net.h>

#include "smc_sock.h"

void smc_switch_to_fallback(struct smc_sock *smc, int reason_code);
void smc_fallback_give_file(struct smc_sock *smc, struct socket *sock);
void smc_fallback_take_file(struct smc_sock *smc, struct socket *sock);

#endif /* SMC_FALLBACK_H */
