// SPDX-License-Identifier: GPL-2.0
/*
 * CDC messages of SMC-R, bytes to host struct and back (layer 0). RFC 7609,
 * A.4; the layout is the same in SMC-R v1, v2 and v2.1.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/stddef.h>
#include <asm/byteorder.h>
#include <kunit/visibility.h>

#include "smc_cdc_msg.h"

struct smc_wire_cursor {
	__be16 reserved;
	__be16 wrap;
	__be32 count;
} __packed;

struct smc_wire_cdc {
	u8 type;
	u8 len;
	__be16 seq;
	__be32 token;
	struct smc_wire_cursor prod;
	struct smc_wire_cursor cons;
	u8 pflags;
	u8 cflags;
	u8 reserved[18];
} __packed;

static_assert(sizeof(struct smc_wire_cdc) == SMC_CDC_LEN);

/* what lies behind the flags is reserved: peers may leave it out */
#define SMC_CDC_MIN_LEN		offsetof(struct smc_wire_cdc, reserved)

static struct smc_wire_cursor smc_cdc_put_cursor(struct smc_cursor cur)
{
	struct smc_wire_cursor wire = {
		.wrap = cpu_to_be16(cur.wrap),
		.count = cpu_to_be32(cur.count),
	};

	return wire;
}

static struct smc_cursor smc_cdc_get_cursor(const struct smc_wire_cursor *wire)
{
	struct smc_cursor cur = {
		.wrap = be16_to_cpu(wire->wrap),
		.count = be32_to_cpu(wire->count),
	};

	return cur;
}

/**
 * smc_cdc_encode() - write a CDC message
 * @buf: at least SMC_CDC_LEN bytes, any alignment; all of them are written
 * @cdc: what to write
 *
 * RFC 7609, A.4. Context: any.
 */
void smc_cdc_encode(void *buf, const struct smc_cdc *cdc)
{
	struct smc_wire_cdc *wire = buf;

	*wire = (struct smc_wire_cdc) {
		.type = SMC_CDC_TYPE,
		.len = SMC_CDC_LEN,
		.seq = cpu_to_be16(cdc->seq),
		.token = cpu_to_be32(cdc->token),
		.prod = smc_cdc_put_cursor(cdc->prod),
		.cons = smc_cdc_put_cursor(cdc->cons),
		.pflags = cdc->pflags,
		.cflags = cdc->cflags,
	};
}
EXPORT_SYMBOL_IF_KUNIT(smc_cdc_encode);

/**
 * smc_cdc_decode() - read a CDC message
 * @data: message as received, any alignment
 * @len: number of bytes received; 26 are enough, more than 44 are not looked at
 * @cdc: filled on success
 *
 * Cursors are not checked here, that takes the ring: smc_cursor_advance().
 * Flag bytes are handed on as they came, reserved bits included.
 * RFC 7609, A.4. Context: any.
 *
 * Return: 0, or -EPROTO if this is no CDC message or a cut one
 */
int smc_cdc_decode(const void *data, size_t len, struct smc_cdc *cdc)
{
	const struct smc_wire_cdc *wire = data;

	if (len < SMC_CDC_MIN_LEN)
		return -EPROTO;
	if (wire->type != SMC_CDC_TYPE || wire->len != SMC_CDC_LEN)
		return -EPROTO;

	cdc->token = be32_to_cpu(wire->token);
	cdc->seq = be16_to_cpu(wire->seq);
	cdc->prod = smc_cdc_get_cursor(&wire->prod);
	cdc->cons = smc_cdc_get_cursor(&wire->cons);
	cdc->pflags = wire->pflags;
	cdc->cflags = wire->cflags;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(smc_cdc_decode);
