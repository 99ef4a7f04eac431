/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registry of link groups (layer 4).
 */
#ifndef SMC_CORE_H
#define SMC_CORE_H

#include "smc_lgr.h"

/* results of a match */
enum smc_core_match {
	SMC_MATCH_NO,
	SMC_MATCH_WAIT,		/* fits, but another handshake creates it */
	SMC_MATCH_TAKEN,	/* the seeker has joined it */
};

/**
 * struct smc_core_seek - who looks for a group
 * @key: hash key, equal for all groups of a peer
 * @match: registry's lock held, no sleep: enum smc_core_match
 * @arg: for @match
 */
struct smc_core_seek {
	u32 key;
	int (*match)(struct smc_lgr *lgr, void *arg);
	void *arg;
};

struct smc_lgr *smc_core_find(const struct smc_core_seek *seek, bool *wait);
struct smc_lgr *smc_core_add(struct smc_lgr *lgr,
			     const struct smc_core_seek *seek, bool *wait);
void smc_core_del(struct smc_lgr *lgr);
struct smc_lgr *smc_core_next(u32 after);
void smc_core_visit(void (*fn)(struct smc_lgr *lgr, void *arg), void *arg);
void smc_core_wait_gone(const struct net *net);
u32 smc_core_generation(void);

/* smc_core_next() in a loop; @lgr is held in the body and dropped by the next
 * step, so the body must not be left by break
 */
#define smc_core_for_each(lgr)						\
	for (lgr = smc_core_next(0); lgr; lgr = smc_core_step(lgr))

static inline struct smc_lgr *smc_core_step(struct smc_lgr *lgr)
{
	u32 id = lgr->id;

	smc_lgr_put(lgr);
	return smc_core_next(id);
}

#endif /* SMC_CORE_H */
