/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CLC handshake (layer 6) over the internal TCP socket: client and server
 * side as plain blocking calls for a worker; no socket lock is held.
 */
#ifndef SMC_HS_H
#define SMC_HS_H

#include "smc_sock.h"

/**
 * smc_hs_client() - CLC client on an established TCP connection
 * @smc: socket; smc->tcp is ESTABLISHED and has negotiated SMC (syn_smc)
 *
 * Process context (worker), sleeps up to some seconds; not interrupted by
 * signals; ends early when smc->tcp is shut down or reset.
 *
 * Return: 0: SMC carries the connection (smc_conn_open() was called, caller
 * takes the lock and calls smc_conn_established()); > 0: enum smc_reason,
 * nothing is joined any more, the stream stands behind the last CLC message,
 * our Decline (if one is due) was sent: fall back; < 0: errno, the connection
 * has failed.
 */
int smc_hs_client(struct smc_sock *smc);

/**
 * smc_hs_server() - CLC server on an accepted TCP connection
 * @smc: child
 *
 * Falls back with PEERNOSMC and consumes nothing if the first bytes are no CLC
 * message.
 *
 * Return: as smc_hs_client().
 */
int smc_hs_server(struct smc_sock *smc);

#endif /* SMC_HS_H */
