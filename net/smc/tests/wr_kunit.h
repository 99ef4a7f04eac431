/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A queue pair that is none: it records what is posted and completes when the
 * test says so, in order, unsignalled successes silently, as devices do. The
 * real code of the work requests runs on it.
 */
#ifndef SMC_TESTS_WR_KUNIT_H
#define SMC_TESTS_WR_KUNIT_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/slab.h>

#include "../smc_wr_priv.h"

#define WRT_SQ_LEN	32768
#define WRT_RQ_LEN	64

struct wrt_wqe {
	struct ib_cqe *cqe;
	enum ib_wr_opcode opcode;
	int flags;
	int num_sge;
	u32 call;			/* number of the post call */
	u32 head[2];			/* first 8 bytes of a SEND */
};

/**
 * struct wrt - fixture
 * @lock: BH; @sq, @posted, @calls, @fail_after, also completion side
 * @sq: send queue entries, never reused
 * @fail_after: requests that are accepted until a post fails, < 0 never
 * @hide_bad: a failing post does not say where it failed
 * @rq: receives posted, a ring
 * @recv_fail: receives that are accepted until a post fails, < 0 never
 */
struct wrt {
	struct smc_wr wr;
	struct ib_device *ibdev;
	struct ib_qp qp;
	struct ib_pd pd;
	spinlock_t lock; /* BH; send queue */
	struct wrt_wqe *sq;
	unsigned int posted;
	unsigned int reaped;
	unsigned int calls;
	int fail_after;
	bool hide_bad;
	struct ib_cqe *rq[WRT_RQ_LEN];
	unsigned int rq_head;
	unsigned int rq_tail;
	int recv_fail;
	atomic_t broken;
	int broken_status;
	unsigned int received;
	u32 received_len;
};

static inline int wrt_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
				const struct ib_send_wr **bad)
{
	struct wrt *t = container_of(qp, struct wrt, qp);
	struct wrt_wqe *wqe;
	int err = 0;

	spin_lock_bh(&t->lock);
	t->calls++;
	for (; wr; wr = wr->next) {
		if (!t->fail_after || t->posted == WRT_SQ_LEN) {
			if (!t->hide_bad)
				*bad = wr;
			err = -ENOMEM;
			break;
		}
		if (t->fail_after > 0)
			t->fail_after--;
		wqe = &t->sq[t->posted++];
		wqe->cqe = wr->wr_cqe;
		wqe->opcode = wr->opcode;
		wqe->flags = wr->send_flags;
		wqe->num_sge = wr->num_sge;
		wqe->call = t->calls;
		if (wr->opcode == IB_WR_SEND)
			memcpy(wqe->head, ib_virt_dma_to_ptr(wr->sg_list->addr),
			       sizeof(wqe->head));
	}
	spin_unlock_bh(&t->lock);
	return err;
}

static inline int wrt_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
				const struct ib_recv_wr **bad)
{
	struct wrt *t = container_of(qp, struct wrt, qp);

	for (; wr; wr = wr->next) {
		if (!t->recv_fail) {
			*bad = wr;
			return -ENOMEM;
		}
		if (t->recv_fail > 0)
			t->recv_fail--;
		t->rq[t->rq_head++ % WRT_RQ_LEN] = wr->wr_cqe;
	}
	return 0;
}

static inline void wrt_recv(struct smc_wr *wr, const u8 *data, u32 len)
{
	struct wrt *t = container_of(wr, struct wrt, wr);

	t->received++;
	t->received_len = len;
}

static inline void wrt_broken(struct smc_wr *wr, int status)
{
	struct wrt *t = container_of(wr, struct wrt, wr);

	t->broken_status = status;
	atomic_inc(&t->broken);
}

static const struct smc_wr_ops wrt_ops = {
	.recv = wrt_recv,
	.broken = wrt_broken,
};

static inline void wrt_cqe(struct wrt *t, struct ib_cqe *cqe,
			   enum ib_wc_status status, u32 len)
{
	struct ib_wc wc = {
		.wr_cqe = cqe,
		.status = status,
		.byte_len = len,
		.qp = &t->qp,
	};

	local_bh_disable();
	cqe->done(NULL, &wc);
	local_bh_enable();
}

/* complete the oldest request; false if there is none */
static inline bool wrt_reap_one(struct wrt *t, enum ib_wc_status status)
{
	struct wrt_wqe wqe;
	bool any;

	spin_lock_bh(&t->lock);
	any = t->reaped < t->posted;
	if (any)
		wqe = t->sq[t->reaped++];
	spin_unlock_bh(&t->lock);
	if (any && (status || wqe.flags & IB_SEND_SIGNALED))
		wrt_cqe(t, wqe.cqe, status, 0);
	return any;
}

static inline void wrt_reap(struct wrt *t)
{
	while (wrt_reap_one(t, IB_WC_SUCCESS))
		;
}

static inline int wrt_credits(struct wrt *t)
{
	return atomic_read(&t->wr.pool[SMC_WR_POOL_NORMAL].credits);
}

static inline unsigned int wrt_waiting(struct wrt *t)
{
	return READ_ONCE(t->wr.pool[SMC_WR_POOL_NORMAL].nwaiters);
}

/* a condition that a thread or a timer brings about, within 30 s */
#define wrt_until(cond) ({				\
	int __i;					\
							\
	for (__i = 0; __i < 30000 && !(cond); __i++)	\
		usleep_range(500, 1000);		\
	(cond);						\
})

static inline void wrt_fini(void *arg)
{
	struct wrt *t = arg;

	smc_wr_stop(&t->wr);
	if (!percpu_ref_is_dying(&t->wr.users))
		percpu_ref_kill(&t->wr.users);
	/* a failed test may have kept slots: leave all as it is then */
	if (!wait_for_completion_timeout(&t->wr.users_gone, 2 * HZ))
		return;
	smc_wr_drain(&t->wr);
	smc_wr_slots_free(&t->wr);
	smc_wr_rx_free(&t->wr);
	percpu_ref_exit(&t->wr.users);
	kfree(t->ibdev);
	kvfree(t->sq);
	kfree(t);
}

/* an engine in RTS with @nslots data slots and, if @nrx, posted receives; it
 * does not flush by itself
 */
static inline struct wrt *wrt_new(struct kunit *test, unsigned int nslots,
				  unsigned int nrx, bool large)
{
	struct wrt *t = kzalloc_obj(*t);

	KUNIT_ASSERT_NOT_NULL(test, t);
	spin_lock_init(&t->lock);
	t->fail_after = -1;
	t->recv_fail = -1;
	t->sq = kvzalloc_objs(*t->sq, WRT_SQ_LEN);
	t->ibdev = kzalloc_obj(*t->ibdev);
	KUNIT_ASSERT_NOT_NULL(test, t->sq);
	KUNIT_ASSERT_NOT_NULL(test, t->ibdev);
	if (!ib_uses_virt_dma(t->ibdev))
		kunit_skip(test, "no virtual DMA in this kernel");
	t->ibdev->ops.post_send = wrt_post_send;
	t->ibdev->ops.post_recv = wrt_post_recv;
	t->qp.device = t->ibdev;
	t->qp.qp_context = &t->wr;

	KUNIT_ASSERT_EQ(test, smc_wr_init(&t->wr, &wrt_ops, NULL, t->ibdev), 0);
	t->wr.pd = &t->pd;
	t->wr.qp = &t->qp;
	t->wr.inline_max = SMC_WR_MSG_LEN;
	t->wr.idle_delay = 3600 * HZ;
	KUNIT_ASSERT_EQ(test, smc_wr_slots_init(&t->wr, nslots, large), 0);
	if (nrx) {
		KUNIT_ASSERT_EQ(test, smc_wr_rx_init(&t->wr, nrx, large), 0);
		KUNIT_ASSERT_EQ(test, smc_wr_rx_start(&t->wr), 0);
	}
	set_bit(SMC_WR_S_UP, &t->wr.state);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, wrt_fini, t), 0);
	return t;
}

/* what done() saw of one message */
struct wrt_msg {
	unsigned int done;
	unsigned int when;		/* order among all messages */
	enum ib_wc_status status;
	bool intact;			/* not cleared before done() */
};

static inline void wrt_msg_done(struct smc_slot *slot, enum ib_wc_status status)
{
	struct wrt_msg *msg = slot->owner;
	unsigned int *clock = (unsigned int *)(uintptr_t)slot->priv[0];

	msg->done++;
	msg->when = ++*clock;
	msg->status = status;
	msg->intact = slot->msg[SMC_WR_MSG_LEN - 1] == 0xff;
}

/* post a message with @nwrite RDMA WRITEs; result of smc_wr_post() */
static inline int wrt_post(struct kunit *test, struct smc_slot *slot,
			   struct wrt_msg *msg, unsigned int *clock, u8 nwrite)
{
	KUNIT_ASSERT_FALSE(test, IS_ERR(slot));
	memset(slot->msg, 0xff, slot->room);
	slot->msg_len = slot->room;
	slot->nwrite = nwrite;
	slot->write[0].wr.num_sge = 1;
	slot->write[1].wr.num_sge = 2;
	slot->owner = msg;
	slot->priv[0] = (uintptr_t)clock;
	slot->done = wrt_msg_done;
	return smc_wr_post(slot);
}

#endif /* SMC_TESTS_WR_KUNIT_H */
