// SPDX-License-Identifier: GPL-2.0
/*
 * Work requests: registration of memory regions (IB_WR_REG_MR).
 *
 * Several registrations may be under way, each in a context of its own, so a
 * late completion is never taken for another one's. The wait is not
 * interruptible: the caller will free the region, which must not happen while
 * its request may still be executed.
 */
#include <linux/errno.h>
#include <linux/jiffies.h>

#include "smc_wr_priv.h"

#define SMC_WR_REG_MS	5000

static void smc_wr_reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct smc_wr_reg *reg = container_of(wc->wr_cqe, struct smc_wr_reg,
					      cqe);

	smc_wr_count_cqe(wc->qp->qp_context);
	reg->status = wc->status;
	complete(&reg->done);
}

/* free context, or NULL; a context is on loan until its completion came */
static struct smc_wr_reg *smc_wr_reg_get(struct smc_wr *wr)
{
	unsigned int i;

	for (i = 0; i < SMC_WR_NREG; i++)
		if (!test_and_set_bit_lock(i, &wr->reg_busy))
			return &wr->reg[i];
	return NULL;
}

static void smc_wr_reg_put(struct smc_wr *wr, struct smc_wr_reg *reg)
{
	clear_bit_unlock(reg - wr->reg, &wr->reg_busy);
	wake_up(&wr->reg_wq);
}

static int smc_wr_reg_post(struct smc_wr *wr, struct smc_wr_reg *reg,
			   struct ib_mr *mr, int access)
{
	struct ib_reg_wr reg_wr = {
		.wr = {
			.wr_cqe = &reg->cqe,
			.opcode = IB_WR_REG_MR,
			.send_flags = IB_SEND_SIGNALED,
		},
		.mr = mr,
		.key = mr->rkey,
		.access = access,
	};
	int err = -EPIPE;

	reg->cqe.done = smc_wr_reg_done;
	init_completion(&reg->done);
	spin_lock_bh(&wr->post_lock);
	if (!test_bit(SMC_WR_S_BROKEN, &wr->state))
		err = ib_post_send(wr->qp, &reg_wr.wr, NULL);
	if (!err)
		wr->n_posts++;
	spin_unlock_bh(&wr->post_lock);
	return err;
}

/* the device must let go of the region; if a dead device does not even flush
 * in time, the context stays on loan and nothing is posted any more
 */
static bool smc_wr_reg_abort(struct smc_wr *wr, struct smc_wr_reg *reg)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	smc_wr_fail(wr, -ETIMEDOUT, 0);
	ib_modify_qp(wr->qp, &attr, IB_QP_STATE);
	return wait_for_completion_timeout(&reg->done,
					   msecs_to_jiffies(SMC_WR_REG_MS));
}

static int smc_wr_reg_run(struct smc_wr *wr, struct smc_wr_reg *reg,
			  struct ib_mr *mr, int access)
{
	int err;

	err = smc_wr_reg_post(wr, reg, mr, access);
	if (err) {
		smc_wr_fail(wr, err, 0);
		smc_wr_reg_put(wr, reg);
		return -EPIPE;
	}
	smc_wr_count(wr, SMC_CNT_WR_POSTS);
	if (!wait_for_completion_timeout(&reg->done,
					 msecs_to_jiffies(SMC_WR_REG_MS))) {
		if (smc_wr_reg_abort(wr, reg))
			smc_wr_reg_put(wr, reg);
		return -EPIPE;
	}
	err = 0;
	if (reg->status != IB_WC_SUCCESS) {
		err = test_bit(SMC_WR_S_STOPPED, &wr->state) ? -EPIPE : -EIO;
		/* a refused registration has put the queue pair into ERR */
		smc_wr_fail(wr, reg->status, 0);
	}
	smc_wr_reg_put(wr, reg);
	return err;
}

/**
 * smc_wr_reg_mr - register a memory region
 * @wr: engine in RTS
 * @mr: region of wr->pd, mapped by ib_map_mr_sg(), not registered
 * @access: IB_ACCESS_*
 *
 * SMC_WR_NREG registrations run in parallel, more wait. Process context,
 * sleeps, not interruptible, a few hundred microseconds in general and 5 s for
 * each wait at most. On any error the region is unusable and may be freed.
 *
 * Return: 0, -EPIPE: engine not up or it broke (which includes the end of the
 * time), -EIO: the device refused, the link is broken.
 */
int smc_wr_reg_mr(struct smc_wr *wr, struct ib_mr *mr, int access)
{
	struct smc_wr_reg *reg = NULL;
	int err = -EPIPE;

	might_sleep();
	if (!smc_wr_user_get(wr))
		return -EPIPE;
	wait_event_timeout(wr->reg_wq,
			   (reg = smc_wr_reg_get(wr)) || !smc_wr_up(wr),
			   msecs_to_jiffies(SMC_WR_REG_MS));
	if (reg && smc_wr_up(wr))
		err = smc_wr_reg_run(wr, reg, mr, access);
	else if (reg)
		smc_wr_reg_put(wr, reg);
	smc_wr_user_put(wr);
	return err;
}
