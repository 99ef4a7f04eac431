// SPDX-License-Identifier: GPL-2.0
/*
 * Work requests: protection domain, completion queue, queue pair; creation,
 * state changes, drain, destruction.
 *
 * Teardown: stop (no new sender, waiters woken, ready clients dropped), queue
 * pair to ERR (ends registrations that are under way), wait until no poster is
 * left, drain, retire what is left. Only then the resources go.
 */
#include <linux/errno.h>
#include <linux/etherdevice.h>
#include <kunit/visibility.h>

#include "smc_wr_priv.h"

/* send queue entries besides three for each data slot */
#define SMC_WR_SQ_EXTRA							\
	(1 +			/* reserved slot, LLC: no WRITEs */	\
	 1 +			/* large slot */			\
	 1 +			/* flush marker */			\
	 SMC_WR_NREG +		/* registrations */			\
	 1)			/* ib_drain_sq() */
#define SMC_WR_SQ_DEPTH(n)	(3 * (n) + SMC_WR_SQ_EXTRA)
#define SMC_WR_RQ_DEPTH(n)	((n) + 1)	/* ib_drain_rq() */

#define SMC_WR_RNR_TIMER	5	/* 0.06 ms */
/* 4.096 us << 17: 0.5 s; a path counts as dead after 7 of them, since a starved
 * peer (a busy virtual machine with a software device) is late by seconds
 */
#define SMC_WR_ACK_TIMEOUT	17
#define SMC_WR_RETRY_CNT	6	/* 7 is without end on some devices */
#define SMC_WR_RNR_RETRY	7	/* without end */

#define SMC_WR_24BIT		GENMASK(23, 0)

/* possibly hardirq: leave it to the timer. Once that is shut down nobody is
 * interested any more.
 */
static void smc_wr_qp_event(struct ib_event *event, void *context)
{
	struct smc_wr *wr = context;

	switch (event->event) {
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		set_bit(SMC_WR_S_QP_EVENT, &wr->state);
		mod_timer(&wr->flush_timer, jiffies);
		break;
	default:
		break;
	}
}

/* inline messages save the device a fetch; nothing tells beforehand whether it
 * takes them
 */
static int smc_wr_create_qp(struct smc_wr *wr, unsigned int nsend,
			    unsigned int nrecv)
{
	struct ib_qp_init_attr attr = {
		.event_handler = smc_wr_qp_event,
		.qp_context = wr,
		.send_cq = wr->cq,
		.recv_cq = wr->cq,
		.cap = {
			.max_send_wr = SMC_WR_SQ_DEPTH(nsend),
			.max_recv_wr = SMC_WR_RQ_DEPTH(nrecv),
			.max_send_sge = 2,
			.max_recv_sge = 1,
			.max_inline_data = SMC_WR_MSG_LEN,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	struct ib_qp *qp;

	qp = ib_create_qp(wr->pd, &attr);
	if (IS_ERR(qp) && PTR_ERR(qp) != -ENOMEM) {
		attr.cap.max_inline_data = 0;
		qp = ib_create_qp(wr->pd, &attr);
	}
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	wr->qp = qp;
	/* the device may take more than was asked for */
	if (attr.cap.max_inline_data >= SMC_WR_MSG_LEN)
		wr->inline_max = attr.cap.max_inline_data;
	return 0;
}

/* CQ claim, queue pair and memory of these depths, all or nothing */
static int smc_wr_create_queues(struct smc_wr *wr, const struct smc_wr_cfg *cfg,
				unsigned int nsend, unsigned int nrecv)
{
	int err;

	wr->cq_claim = SMC_WR_SQ_DEPTH(nsend) + SMC_WR_RQ_DEPTH(nrecv);
	wr->cq = ib_cq_pool_get(wr->ibdev, wr->cq_claim, cfg->vector,
				IB_POLL_SOFTIRQ);
	if (IS_ERR(wr->cq))
		return PTR_ERR(wr->cq);
	err = smc_wr_create_qp(wr, nsend, nrecv);
	if (err)
		goto put_cq;
	err = smc_wr_slots_init(wr, nsend, cfg->large);
	if (err)
		goto destroy_qp;
	err = smc_wr_rx_init(wr, nrecv, cfg->large);
	if (err)
		goto free_slots;
	return 0;

free_slots:
	smc_wr_slots_free(wr);
destroy_qp:
	ib_destroy_qp(wr->qp);
put_cq:
	ib_cq_pool_put(wr->cq, wr->cq_claim);
	return err;
}

static void smc_wr_destroy_queues(struct smc_wr *wr)
{
	ib_destroy_qp(wr->qp);
	smc_wr_rx_free(wr);
	smc_wr_slots_free(wr);
	ib_cq_pool_put(wr->cq, wr->cq_claim);
}

/* depths the device can have; the pool would look for ever for a completion
 * queue that is larger than any
 */
static bool smc_wr_depths_fit(const struct ib_device *ibdev,
			      unsigned int nsend, unsigned int nrecv)
{
	unsigned int sq = SMC_WR_SQ_DEPTH(nsend);
	unsigned int rq = SMC_WR_RQ_DEPTH(nrecv);

	return sq <= ibdev->attrs.max_qp_wr && rq <= ibdev->attrs.max_qp_wr &&
	       sq + rq <= ibdev->attrs.max_cqe;
}

/* next smaller depths; false if there are none */
static bool smc_wr_halve(unsigned int *nsend, unsigned int *nrecv)
{
	if (*nsend == SMC_WR_MIN_DEPTH && *nrecv == SMC_WR_MIN_DEPTH)
		return false;
	*nsend = max(*nsend / 2, SMC_WR_MIN_DEPTH);
	*nrecv = max(*nrecv / 2, SMC_WR_MIN_DEPTH);
	return true;
}

/**
 * smc_wr_create - make an engine: PD, share of a pooled CQ, QP, slots, receives
 * @wr: engine, embedded in the link, any content
 * @ops: the link above
 * @cfg: wishes; depths are clamped to what the device can do, and halved as
 *	long as memory does not suffice
 *
 * The queue pair is in RESET. Process context, sleeps. Undone by
 * smc_wr_drain() and smc_wr_destroy().
 *
 * Return: 0, -ENOMEM, -EOPNOTSUPP: the device is too small, or an error of the
 * RDMA core; nothing is left allocated then.
 */
int smc_wr_create(struct smc_wr *wr, const struct smc_wr_ops *ops,
		  const struct smc_wr_cfg *cfg)
{
	unsigned int nsend, nrecv;
	int err;

	nsend = clamp(cfg->max_send, SMC_WR_MIN_DEPTH, SMC_WR_MAX_DEPTH);
	nrecv = clamp(cfg->max_recv, SMC_WR_MIN_DEPTH, SMC_WR_MAX_DEPTH);
	nrecv = smc_wr_rx_limit(nrecv, cfg->large);

	err = smc_wr_init(wr, ops, cfg->net, cfg->ibdev);
	if (err)
		return err;
	wr->port = cfg->port;
	wr->pd = ib_alloc_pd(cfg->ibdev, 0);
	if (IS_ERR(wr->pd)) {
		err = PTR_ERR(wr->pd);
		goto exit_users;
	}
	do {
		if (!smc_wr_depths_fit(cfg->ibdev, nsend, nrecv))
			err = -EOPNOTSUPP;
		else
			err = smc_wr_create_queues(wr, cfg, nsend, nrecv);
		if (!err)
			return 0;
	} while ((err == -EOPNOTSUPP || err == -ENOMEM) &&
		 smc_wr_halve(&nsend, &nrecv));

	ib_dealloc_pd(wr->pd);
exit_users:
	percpu_ref_exit(&wr->users);
	return err;
}

/**
 * smc_wr_destroy - undo smc_wr_create()
 * @wr: engine after smc_wr_drain(); all MRs of wr->pd are gone
 *
 * Process context, sleeps.
 */
void smc_wr_destroy(struct smc_wr *wr)
{
	smc_wr_destroy_queues(wr);
	ib_dealloc_pd(wr->pd);
	percpu_ref_exit(&wr->users);
}

static int smc_wr_to_init(struct smc_wr *wr)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.pkey_index = 0,
		.port_num = wr->port,
		.qp_access_flags = IB_ACCESS_LOCAL_WRITE |
				   IB_ACCESS_REMOTE_WRITE,
	};
	int err;

	err = ib_modify_qp(wr->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			   IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	if (!err)
		wr->qp_used = true;
	return err;
}

/* the values come from the peer */
static bool smc_wr_path_valid(const struct smc_wr_path *path)
{
	return path->mtu >= IB_MTU_256 && path->mtu <= IB_MTU_4096 &&
	       path->dest_qpn && path->dest_qpn <= SMC_WR_24BIT &&
	       path->rq_psn <= SMC_WR_24BIT &&
	       path->sgid_attr->index <= U8_MAX;
}

/**
 * smc_wr_to_rtr - ready to receive
 * @wr: engine as created
 * @path: peer's end
 *
 * Receives are posted before the peer's first message can come. Process
 * context, sleeps.
 *
 * Return: 0, -EINVAL: the peer's MTU, QPN or PSN, or the GID index, is out of
 * range; or an error of the RDMA core: the engine can only be drained then.
 */
int smc_wr_to_rtr(struct smc_wr *wr, const struct smc_wr_path *path)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = path->mtu,
		.dest_qp_num = path->dest_qpn,
		.rq_psn = path->rq_psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = SMC_WR_RNR_TIMER,
	};
	union ib_gid dgid = path->dgid;
	int err;

	if (!smc_wr_path_valid(path))
		return -EINVAL;
	attr.ah_attr.type = rdma_ah_find_type(wr->ibdev, wr->port);
	rdma_ah_set_port_num(&attr.ah_attr, wr->port);
	rdma_ah_set_grh(&attr.ah_attr, &dgid, 0, path->sgid_attr->index,
			path->hop_limit, 0);
	ether_addr_copy(attr.ah_attr.roce.dmac, path->dmac);

	err = smc_wr_to_init(wr);
	if (!err)
		err = smc_wr_rx_start(wr);
	if (err)
		return err;
	return ib_modify_qp(wr->qp, &attr, IB_QP_STATE | IB_QP_AV |
			    IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			    IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
}

/**
 * smc_wr_to_rts - ready to send: senders are admitted
 * @wr: engine after smc_wr_to_rtr()
 * @sq_psn: own initial PSN, 24 bits
 *
 * Process context, sleeps.
 *
 * Return: 0 or an error of the RDMA core.
 */
int smc_wr_to_rts(struct smc_wr *wr, u32 sq_psn)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.timeout = SMC_WR_ACK_TIMEOUT,
		.retry_cnt = SMC_WR_RETRY_CNT,
		.rnr_retry = SMC_WR_RNR_RETRY,
		.sq_psn = sq_psn & SMC_WR_24BIT,
		.max_rd_atomic = 1,
	};
	int err;

	err = ib_modify_qp(wr->qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT |
			   IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
			   IB_QP_MAX_QP_RD_ATOMIC);
	if (!err)
		set_bit(SMC_WR_S_UP, &wr->state);
	return err;
}

/**
 * smc_wr_stop - admit no sender any more
 * @wr: engine
 *
 * Waiters get -EPIPE, ready clients are dropped from the FIFO. What is posted
 * goes on until smc_wr_drain(). Process or softirq; may be called again.
 */
void smc_wr_stop(struct smc_wr *wr)
{
	set_bit(SMC_WR_S_STOPPED, &wr->state);
	smc_wr_wake_waiters(wr);
	wake_up_all(&wr->reg_wq);
	smc_wr_fifo_drop(wr);
}
EXPORT_SYMBOL_IF_KUNIT(smc_wr_stop);

/**
 * smc_wr_drain - end all traffic
 * @wr: engine; stopped here if it was not before
 *
 * On return nobody posts, no callback of the engine runs or will run, each
 * posted slot was retired and is free again. Process context, sleeps; not from
 * a callback of the engine. Waits for holders of slots (they do not wait for
 * anything while they have one) and for registrations (SMC_WR_REG_MS at most).
 */
void smc_wr_drain(struct smc_wr *wr)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	smc_wr_stop(wr);
	if (wr->qp_used)
		ib_modify_qp(wr->qp, &attr, IB_QP_STATE);
	if (!percpu_ref_is_dying(&wr->users))
		percpu_ref_kill(&wr->users);
	wait_for_completion(&wr->users_gone);
	timer_shutdown_sync(&wr->flush_timer);
	if (wr->qp_used)
		ib_drain_qp(wr->qp);
	smc_wr_retire(wr, wr->posted_head, IB_WC_WR_FLUSH_ERR);
	smc_wr_unpark(wr);
}
EXPORT_SYMBOL_IF_KUNIT(smc_wr_drain);
