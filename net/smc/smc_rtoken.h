/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Remote tokens (layer 4): keys and addresses of the peer's receive buffers,
 * one entry per buffer with a column for each link of the group.
 */
#ifndef SMC_RTOKEN_H
#define SMC_RTOKEN_H

#include <linux/bitmap.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#define SMC_RTOKENS		255	/* buffers of one peer in one group */
#define SMC_RTOKEN_LINKS	3

/**
 * struct smc_rtoken - a buffer of the peer
 * @at: address and key per link index; key 0: not known on that link. A holder
 *	reads them without the lock: the address of a held entry changes only
 *	while its key is 0, and a key once taken back stays 0
 * @users: connections that write to it; a held entry is never given to another
 *	buffer, even after the peer has taken its key back
 * @live: the peer has not taken it back
 * @used: clock of the last add, for eviction
 */
struct smc_rtoken {
	struct {
		u64 addr;
		u32 rkey;
	} at[SMC_RTOKEN_LINKS];
	u16 users;
	bool live;
	u32 used;
};

/**
 * struct smc_rtokens - the table of a group
 * @lock: BH; everything below
 * @clock: counts adds
 * @nheld: entries with users
 * @busy: entries that are live or have users
 * @tok: entries
 */
struct smc_rtokens {
	spinlock_t lock;		/* BH; all below */
	u32 clock;
	unsigned int nheld;
	DECLARE_BITMAP(busy, SMC_RTOKENS);
	struct smc_rtoken tok[SMC_RTOKENS];
};

void smc_rtokens_init(struct smc_rtokens *t);
int smc_rtoken_add(struct smc_rtokens *t, unsigned int link, u64 addr,
		   u32 rkey, bool hold);
int smc_rtoken_hold(struct smc_rtokens *t, unsigned int link, u64 addr,
		    u32 rkey);
void smc_rtoken_put(struct smc_rtokens *t, int idx);
int smc_rtoken_set_link(struct smc_rtokens *t, int idx, unsigned int link,
			u64 addr, u32 rkey);
int smc_rtoken_extend(struct smc_rtokens *t, unsigned int known_link,
		      u32 known_rkey, unsigned int link, u64 addr, u32 rkey);
int smc_rtoken_del(struct smc_rtokens *t, unsigned int link, u32 rkey);
bool smc_rtoken_at(const struct smc_rtokens *t, int idx, unsigned int link,
		   u64 *addr, u32 *rkey);
void smc_rtoken_clear_link(struct smc_rtokens *t, unsigned int link);
bool smc_rtoken_room(struct smc_rtokens *t);

#endif /* SMC_RTOKEN_H */
