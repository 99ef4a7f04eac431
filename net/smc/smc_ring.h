/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arithmetic of the rings (layer 5): space, window and the rule for window
 * updates. All functions are pure; positions are absolute (smc_cursor.h) and
 * may have been read at slightly different times, hence the clamps.
 */
#ifndef SMC_RING_H
#define SMC_RING_H

#include <linux/minmax.h>
#include <linux/types.h>

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

#endif /* SMC_RING_H */
