/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CLC handshake (layer 6) over the internal TCP socket: client and server
 * side as plain blocking calls for a worker; no socket lock is held.
 */
#ifndef SMC_HS_H
#define SMC_HS_H

#include "smc_sock.h"

int smc_hs_client(struct smc_sock *smc);
int smc_hs_server(struct smc_sock *smc);

#endif /* SMC_HS_H */
