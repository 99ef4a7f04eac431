/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CLC messages over the internal TCP socket (layer 6): send a message whole,
 * receive exactly one message within a deadline.
 */
#ifndef SMC_CLC_H
#define SMC_CLC_H

#include "smc_clc_msg.h"
#include "smc_sock.h"

#define SMC_CLC_DECLINE_ROOM	44	/* largest Decline, bytes */

/**
 * struct smc_clc_in - what smc_clc_recv() says about a message
 * @hdr: its header, all zero if none was read
 * @out_of_sync: a Decline whose sender has lost the link group
 */
struct smc_clc_in {
	struct smc_clc_hdr hdr;
	bool out_of_sync;
};

int smc_clc_send(struct smc_sock *smc, const void *msg, size_t len);
int smc_clc_send_decline(struct smc_sock *smc, u8 version, u32 reason);

int smc_clc_recv(struct smc_sock *smc, u8 type, void *buf, size_t room,
		 unsigned long deadline, struct smc_clc_in *in);
bool smc_clc_swallow_decline(struct smc_sock *smc, unsigned long deadline);

#endif /* SMC_CLC_H */
