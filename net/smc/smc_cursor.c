// SPDX-License-Identifier: GPL-2.0
/*
 * Between absolute ring positions and the cursors of the wire (layer 0).
 *
 * A cursor names a position only modulo 65536 passes over the ring, so it can
 * be understood relative to a position that is already known: the candidate
 * nearest to it, up to 32767 passes ahead, is meant. What is behind is an old
 * message that was overtaken; what is farther ahead than the ring allows is a
 * lie of the peer.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <kunit/visibility.h>

#include "smc_cursor.h"

/* number of complete passes over a ring of @size bytes */
static u64 smc_ring_passes(u64 pos, u32 size)
{
	if (likely(is_power_of_2(size)))
		return pos >> ilog2(size);
	return div_u64(pos, size);
}

/**
 * smc_cursor_from_pos() - wire form of a position
 * @pos: absolute position in the stream, bytes
 * @size: size of the ring, bytes, not zero; need not be a power of two
 *
 * RFC 7609, 4.4.1 and A.4. Context: any.
 *
 * Return: the cursor, wrap number modulo 65536
 */
struct smc_cursor smc_cursor_from_pos(u64 pos, u32 size)
{
	struct smc_cursor cur = {
		.count = smc_ring_offset(pos, size),
		.wrap = (u16)smc_ring_passes(pos, size),
	};

	return cur;
}
EXPORT_SYMBOL_GPL(smc_cursor_from_pos);	/* smc_diag */

/**
 * smc_cursor_advance() - apply a received cursor to a known position
 * @pos: position known so far, bytes
 * @to: cursor received, from an untrusted peer
 * @size: size of the ring, bytes
 * @limit: highest position that the peer may report, bytes, not below @pos:
 *	own consumer + @size for a producer, own producer for a consumer cursor
 * @new_pos: where the new position goes; written on success only
 *
 * Wrap numbers compare modulo 65536. RFC 7609, 4.4.1. Context: any.
 *
 * Return: 0 (also if nothing moved), -ESTALE if the cursor lies behind @pos (an
 * overtaken message, to be ignored), -ERANGE if it is no position in the ring
 * or lies beyond @limit (protocol violation, the connection must not go on)
 */
int smc_cursor_advance(u64 pos, struct smc_cursor to, u32 size, u64 limit,
		       u64 *new_pos)
{
	struct smc_cursor from;
	s64 diff;

	if (to.count >= size)
		return -ERANGE;

	from = smc_cursor_from_pos(pos, size);
	diff = (s64)(s16)(u16)(to.wrap - from.wrap) * size;
	diff += (s64)to.count - from.count;
	if (diff < 0)
		return -ESTALE;
	if (pos > limit || (u64)diff > limit - pos)
		return -ERANGE;

	*new_pos = pos + diff;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(smc_cursor_advance);
