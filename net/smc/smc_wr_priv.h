/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work requests (layer 2): what smc_wr*.c share among themselves, and with
 * their KUnit suite. Others use smc_wr.h.
 */
#ifndef SMC_WR_PRIV_H
#define SMC_WR_PRIV_H

#include "smc_stats.h"
#include "smc_wr.h"

/**
 * struct smc_wr_rx - one receive
 * @cqe: completion
 * @wr: the receive, posted again and again
 * @sge: describes @data
 * @owner: engine
 * @data: buffer of owner->rx_room bytes
 */
struct smc_wr_rx {
	struct ib_cqe cqe;
	struct ib_recv_wr wr;
	struct ib_sge sge;
	struct smc_wr *owner;
	u8 *data;
};

static inline void smc_wr_count(const struct smc_wr *wr, enum smc_counter c)
{
	if (wr->net)
		smc_count(wr->net, c, 1);
}

/* completion side */
static inline void smc_wr_count_cqe(struct smc_wr *wr)
{
	wr->n_cqes++;
	smc_wr_count(wr, SMC_CNT_WR_CQES);
}

/* smc_wr_slot.c */
int smc_wr_slots_init(struct smc_wr *wr, unsigned int nslots, bool large);
void smc_wr_slots_free(struct smc_wr *wr);
struct smc_slot *smc_wr_take(struct smc_wr *wr);
void smc_wr_release(struct smc_slot *slot);
void smc_wr_feed(struct smc_wr *wr);
void smc_wr_wake_waiters(struct smc_wr *wr);
void smc_wr_unpark(struct smc_wr *wr);

/* smc_wr.c */
int smc_wr_init(struct smc_wr *wr, const struct smc_wr_ops *ops,
		struct net *net, struct ib_device *ibdev);
int smc_wr_send(struct smc_slot *slot);
void smc_wr_fail(struct smc_wr *wr, int status, u32 vendor_err);
void smc_wr_retire(struct smc_wr *wr, unsigned int end,
		   enum ib_wc_status last);
bool smc_wr_user_get(struct smc_wr *wr);

static inline void smc_wr_user_put(struct smc_wr *wr)
{
	percpu_ref_put(&wr->users);
}

/* smc_wr_sched.c */
void smc_wr_serve(struct smc_wr *wr);
void smc_wr_client_retired(struct smc_wr_client *client);
void smc_wr_fifo_drop(struct smc_wr *wr);

/* smc_wr_rx.c */
unsigned int smc_wr_rx_limit(unsigned int nrx, bool large);
int smc_wr_rx_init(struct smc_wr *wr, unsigned int nrx, bool large);
void smc_wr_rx_free(struct smc_wr *wr);
int smc_wr_rx_start(struct smc_wr *wr);

#endif /* SMC_WR_PRIV_H */
