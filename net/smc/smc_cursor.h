/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ring positions and their wire form (layer 0).
 *
 * Inside the stack a position in a stream is an absolute 64-bit byte count
 * that starts at 0 and never wraps: space, window and readable bytes are plain
 * subtractions. Only the wire knows the pair (wrap number, offset in the ring).
 * All functions are pure.
 */
#ifndef SMC_CURSOR_H
#define SMC_CURSOR_H

#include <linux/math64.h>
#include <linux/types.h>

/**
 * struct smc_cursor - wire form of a position, host byte order
 * @count: offset of the next byte in the ring, 0 .. ring size - 1
 * @wrap: number of passes over the end of the ring, modulo 65536
 */
struct smc_cursor {
	u32 count;
	u16 wrap;
};

/* offset in a ring of @size bytes of absolute position @pos */
static inline u32 smc_ring_offset(u64 pos, u32 size)
{
	u32 rem;

	if (likely(!(size & (size - 1))))
		return (u32)pos & (size - 1);
	div_u64_rem(pos, size, &rem);
	return rem;
}

struct smc_cursor smc_cursor_from_pos(u64 pos, u32 size);
int smc_cursor_advance(u64 pos, struct smc_cursor to, u32 size, u64 limit,
		       u64 *new_pos);

#endif /* SMC_CURSOR_H */
