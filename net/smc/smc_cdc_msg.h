/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CDC wire form of SMC-R (layer 0, pure functions): RFC 7609 A.4, data-path
 * document of ours in Documentation/networking/smc/.
 */
#ifndef SMC_CDC_MSG_H
#define SMC_CDC_MSG_H

#include <linux/types.h>

#include "smc_cursor.h"

#define SMC_CDC_TYPE		0xFE
#define SMC_CDC_LEN		44	/* bytes on the wire, always */

/* producer flags, byte 24 */
#define SMC_CDC_P_BLOCKED	0x80	/* writer blocked by the window */
#define SMC_CDC_P_URG_PENDING	0x40	/* an urgent byte exists, not yet written */
#define SMC_CDC_P_URG_PRESENT	0x20	/* byte before the producer is urgent */
#define SMC_CDC_P_UPDATE_REQ	0x10	/* receiver shall answer with a CDC */
#define SMC_CDC_P_FAILOVER	0x08	/* failover validation only */

/* connection state flags, byte 25; once set they stay set */
#define SMC_CDC_C_DONE		0x80	/* sender writes no more */
#define SMC_CDC_C_CLOSED	0x40	/* sender neither writes nor reads */
#define SMC_CDC_C_ABORT		0x20	/* abnormal close */

/**
 * struct smc_cdc - decoded CDC message
 * @token: alert token that the receiver of the message gave out
 * @seq: sequence number
 * @prod: producer cursor, in the receiver's ring
 * @cons: consumer cursor, in the sender's own ring
 * @pflags: SMC_CDC_P_*
 * @cflags: SMC_CDC_C_*
 */
struct smc_cdc {
	u32 token;
	u16 seq;
	struct smc_cursor prod;
	struct smc_cursor cons;
	u8 pflags;
	u8 cflags;
};

void smc_cdc_encode(void *buf, const struct smc_cdc *cdc);
int smc_cdc_decode(const void *data, size_t len, struct smc_cdc *cdc);

#endif /* SMC_CDC_MSG_H */
