/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ring positions, their wire form, and arithmetic with them (layer 0).
 *
 * Inside the stack a position in a stream is an absolute 64-bit byte count
 * that starts at 0 and never wraps: space, window and readable bytes are plain
 * subtractions. Only the wire knows the pair (wrap number, offset in the ring).
 * All functions are pure. Positions may have been read at slightly different
 * times, hence the clamps.
 */
#ifndef SMC_CURSOR_H
#define SMC_CURSOR_H

#include <linux/math64.h>
#include <linux/minmax.h>
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

/* bytes between two positions, 0 if @to was read before @from moved past it */
static inline u64 smc_ring_dist(u64 from, u64 to)
{
	return to > from ? to - from : 0;
}

/* free bytes of a ring of @size: send space, or window of the peer's ring */
static inline u32 smc_ring_free(u64 start, u64 end, u32 size)
{
	u64 used = smc_ring_dist(start, end);

	return used < size ? size - (u32)used : 0;
}

/* bytes consumed before a window update is worth a message */
static inline u32 smc_ring_update_limit(u32 size, u32 floor)
{
	return max(size / 10, floor);
}

/**
 * smc_ring_update_due() - must the peer be told the consumer position now?
 * @prod: peer's producer position
 * @cons: own consumer position
 * @confirmed: consumer position the peer was told last
 * @size: own ring, bytes
 * @limit: smc_ring_update_limit()
 * @blocked: the peer has reported that it waits for window
 *
 * The peer sees size - (prod - confirmed) free bytes. While that is more than
 * half of the ring it is told with the next data in the other direction.
 *
 * Return: true if it must
 */
static inline bool smc_ring_update_due(u64 prod, u64 cons, u64 confirmed,
				       u32 size, u32 limit, bool blocked)
{
	if (smc_ring_dist(confirmed, cons) <= limit)
		return false;
	return blocked || smc_ring_free(confirmed, prod, size) <= size / 2;
}

#endif /* SMC_CURSOR_H */
