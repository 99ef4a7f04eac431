// SPDX-License-Identifier: GPL-2.0
/*
 * smcraw: what two RDMA devices of this kernel can carry, without any SMC.
 *
 * A message is an RDMA WRITE and a 44-byte SEND in one chain, as for SMC-R, in
 * a closed loop inside completion handlers: every 4th SEND signaled, pooled
 * softirq completion queues, receives reposted in chains of 8. The figure is
 * the ceiling of any SMC-R on these devices.
 *
 * /proc/smcraw takes one command per write and shows the result of the last
 * one as a line of JSON:
 *
 *   a=DEV b=DEV req=N rsp=N window=N qps=N msecs=N [stream]
 *
 * req and rsp are the bytes of the WRITEs, window the messages outstanding on
 * each of the queue pairs. Without stream, b answers each request. With it, b
 * only receives, and an operation is over when a's work requests are.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/parser.h>
#include <linux/proc_fs.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#include "cmdfile.h"
#include "hist.h"

#define PORT		1
#define SEND_LEN	44	/* of a CDC message */
#define CHAIN		8	/* receives reposted together */
#define SPARE		16	/* work requests above the window */
#define SIGNAL_EVERY	4
#define MAX_QPS		16
#define MAX_WINDOW	2048
#define MAX_LEN		(1024 * 1024)

struct params {
	char dev[2][IB_DEVICE_NAME_MAX];
	bool stream;
	int req;
	int rsp;
	int window;
	int qps;
	int msecs;
};

struct pair;

/* one end of a queue pair */
struct end {
	struct pair *pair;
	struct end *peer;
	struct ib_device *dev;
	const struct ib_gid_attr *gid;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct ib_mr *mr;
	void *buf;		/* WRITEs come from and go to here */
	u64 dma;
	u8 *msg;		/* SENDs and receives: their content is not used */
	u64 msg_dma;
	int cqes;
	int wrs;		/* receives */
	spinlock_t lock;	/* posting: order and count of SENDs */
	u32 sent;
	int consumed;		/* receives since the last repost */
	struct ib_recv_wr recv[CHAIN];
	struct ib_sge recv_sge;
	struct ib_cqe send_done;
	struct ib_cqe recv_done;
	struct ib_cqe reg_done;
	struct completion registered;
};

struct pair {
	struct run *run;
	struct end end[2];
	struct hist hist;	/* touched by one completion queue only */
	u32 next;		/* oldest request: answers come in order */
	u64 *started;		/* ns, of each message from end[0] */
};

struct run {
	struct params p;
	bool stop;
	int err;
	atomic_t outstanding;
	struct completion idle;
	struct pair pair[MAX_QPS];
};

struct raw_dev {
	struct list_head node;
	struct ib_device *dev;
};

static LIST_HEAD(devices);

static void op_over(struct run *r)
{
	if (atomic_dec_and_test(&r->outstanding))
		complete(&r->idle);
}

static void failed(struct run *r, const struct ib_wc *wc)
{
	if (wc->status == IB_WC_WR_FLUSH_ERR && READ_ONCE(r->stop))
		return;
	if (!xchg(&r->err, -EIO))
		pr_err("smcraw: %s\n", ib_wc_status_msg(wc->status));
	complete(&r->idle);
}

static int signal_every(int window)
{
	return min(SIGNAL_EVERY, max(window / 2, 1));
}

static int post_message(struct end *e, int len)
{
	int window = e->pair->run->p.window;
	struct ib_sge sge[2] = {
		{ e->dma, len, e->pd->local_dma_lkey },
		{ e->msg_dma, SEND_LEN, e->pd->local_dma_lkey },
	};
	struct ib_send_wr send = {
		.wr_cqe = &e->send_done,
		.sg_list = &sge[1],
		.num_sge = 1,
		.opcode = IB_WR_SEND,
	};
	struct ib_rdma_wr write = {
		.wr.next = &send,
		.wr.wr_cqe = &e->send_done,
		.wr.sg_list = &sge[0],
		.wr.num_sge = 1,
		.wr.opcode = IB_WR_RDMA_WRITE,
		.remote_addr = e->peer->mr->iova,
		.rkey = e->peer->mr->rkey,
	};
	int rc;

	spin_lock_bh(&e->lock);
	if (e == &e->pair->end[0])
		e->pair->started[e->sent % window] = ktime_get_ns();
	if (!(++e->sent % signal_every(window)))
		send.send_flags = IB_SEND_SIGNALED;
	rc = ib_post_send(e->qp, &write.wr, NULL);
	spin_unlock_bh(&e->lock);
	if (rc && !xchg(&e->pair->run->err, rc))
		complete(&e->pair->run->idle);
	return rc;
}

static void request(struct pair *pair)
{
	post_message(&pair->end[0], pair->run->p.req);
}

/* the oldest request of @pair is over: count it, go on with another */
static void op_done(struct pair *pair)
{
	struct run *r = pair->run;
	u32 nr = pair->next++;

	if (READ_ONCE(r->stop) || READ_ONCE(r->err)) {
		op_over(r);
		return;
	}
	hist_add(&pair->hist,
		 ktime_get_ns() - pair->started[nr % r->p.window]);
	request(pair);
}

static void refill(struct end *e)
{
	if (++e->consumed < CHAIN)
		return;
	e->consumed = 0;
	if (ib_post_recv(e->qp, e->recv, NULL))
		WRITE_ONCE(e->pair->run->err, -ENOMEM);
}

static void on_recv(struct ib_cq *cq, struct ib_wc *wc)
{
	struct end *e = container_of(wc->wr_cqe, struct end, recv_done);
	struct run *r = e->pair->run;

	if (wc->status != IB_WC_SUCCESS) {
		failed(r, wc);
		return;
	}
	refill(e);
	if (e == &e->pair->end[0])
		op_done(e->pair);
	else if (!r->p.stream)
		post_message(e, r->p.rsp);
}

static void on_send(struct ib_cq *cq, struct ib_wc *wc)
{
	struct end *e = container_of(wc->wr_cqe, struct end, send_done);
	struct params *p = &e->pair->run->p;
	int i;

	if (wc->status != IB_WC_SUCCESS) {
		failed(e->pair->run, wc);
		return;
	}
	if (p->stream)
		for (i = signal_every(p->window); i; i--)
			op_done(e->pair);
}

static void on_reg(struct ib_cq *cq, struct ib_wc *wc)
{
	struct end *e = container_of(wc->wr_cqe, struct end, reg_done);

	if (wc->status != IB_WC_SUCCESS)
		e->pair->run->err = -EIO;
	complete(&e->registered);
}

static const struct ib_gid_attr *find_gid(struct ib_device *dev)
{
	const struct ib_gid_attr *attr;
	int i;

	for (i = 0; i < 32; i++) {
		attr = rdma_get_gid_attr(dev, PORT, i);
		if (IS_ERR(attr))
			continue;
		if (attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
		    ipv6_addr_v4mapped((struct in6_addr *)&attr->gid))
			return attr;
		rdma_put_gid_attr(attr);
	}
	return NULL;
}

static void end_free(struct end *e, int len)
{
	if (e->qp && !IS_ERR(e->qp))
		ib_destroy_qp(e->qp);
	if (e->mr && !IS_ERR(e->mr))
		ib_dereg_mr(e->mr);
	if (e->cq && !IS_ERR(e->cq))
		ib_cq_pool_put(e->cq, e->cqes);
	if (e->dma)
		ib_dma_unmap_single(e->dev, e->dma, len, DMA_BIDIRECTIONAL);
	if (e->msg_dma)
		ib_dma_unmap_single(e->dev, e->msg_dma, 2 * SEND_LEN,
				    DMA_BIDIRECTIONAL);
	if (e->pd && !IS_ERR(e->pd))
		ib_dealloc_pd(e->pd);
	if (e->gid)
		rdma_put_gid_attr(e->gid);
	kfree(e->msg);
	kfree(e->buf);
}

static int end_buffers(struct end *e, int len)
{
	u64 dma;

	e->buf = kzalloc(len, GFP_KERNEL);
	e->msg = kzalloc(2 * SEND_LEN, GFP_KERNEL);
	if (!e->buf || !e->msg)
		return -ENOMEM;
	dma = ib_dma_map_single(e->dev, e->buf, len, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(e->dev, dma))
		return -EIO;
	e->dma = dma;
	dma = ib_dma_map_single(e->dev, e->msg, 2 * SEND_LEN,
				DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(e->dev, dma))
		return -EIO;
	e->msg_dma = dma;
	e->pd = ib_alloc_pd(e->dev, 0);
	return PTR_ERR_OR_ZERO(e->pd);
}

static int end_queues(struct end *e, int window, int vector)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = {
			.max_send_wr = 2 * (2 * window + SPARE),
			.max_recv_wr = window + SPARE + 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};

	e->wrs = round_down(window + SPARE, CHAIN);
	/* any work request may yield an entry; two more to drain */
	e->cqes = init.cap.max_send_wr + init.cap.max_recv_wr + 2;
	e->cq = ib_cq_pool_get(e->dev, e->cqes, vector, IB_POLL_SOFTIRQ);
	if (IS_ERR(e->cq))
		return PTR_ERR(e->cq);
	init.send_cq = e->cq;
	init.recv_cq = e->cq;
	e->qp = ib_create_qp(e->pd, &init);
	return PTR_ERR_OR_ZERO(e->qp);
}

static int end_receives(struct end *e)
{
	int i, rc;

	e->recv_sge.addr = e->msg_dma + SEND_LEN;
	e->recv_sge.length = SEND_LEN;
	e->recv_sge.lkey = e->pd->local_dma_lkey;
	for (i = 0; i < CHAIN; i++) {
		e->recv[i].wr_cqe = &e->recv_done;
		e->recv[i].sg_list = &e->recv_sge;
		e->recv[i].num_sge = 1;
		e->recv[i].next = i < CHAIN - 1 ? &e->recv[i + 1] : NULL;
	}
	for (i = 0; i < e->wrs; i += CHAIN) {
		rc = ib_post_recv(e->qp, e->recv, NULL);
		if (rc)
			return rc;
	}
	return 0;
}

static int end_connect(struct end *e)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = PORT,
		.qp_access_flags = IB_ACCESS_LOCAL_WRITE |
				   IB_ACCESS_REMOTE_WRITE,
	};
	struct ib_port_attr own, theirs;
	union ib_gid dgid = e->peer->gid->gid;
	int rc;

	rc = ib_modify_qp(e->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			  IB_QP_PORT | IB_QP_ACCESS_FLAGS) ?:
	     end_receives(e) ?:
	     ib_query_port(e->dev, PORT, &own) ?:
	     ib_query_port(e->peer->dev, PORT, &theirs);
	if (rc)
		return rc;
	attr.qp_state = IB_QPS_RTR;
	attr.path_mtu = min(own.active_mtu, theirs.active_mtu);
	attr.dest_qp_num = e->peer->qp->qp_num;
	attr.max_dest_rd_atomic = 1;
	attr.min_rnr_timer = 12;
	attr.ah_attr.type = rdma_ah_find_type(e->dev, PORT);
	rdma_ah_set_port_num(&attr.ah_attr, PORT);
	rdma_ah_set_grh(&attr.ah_attr, &dgid, 0, e->gid->index, 2, 0);
	rc = rdma_read_gid_l2_fields(e->peer->gid, NULL,
				     attr.ah_attr.roce.dmac) ?:
	     ib_modify_qp(e->qp, &attr, IB_QP_STATE | IB_QP_AV |
			  IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			  IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	if (rc)
		return rc;
	attr.qp_state = IB_QPS_RTS;
	attr.timeout = 15;
	attr.retry_cnt = 6;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 1;
	return ib_modify_qp(e->qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT |
			    IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
			    IB_QP_MAX_QP_RD_ATOMIC);
}

/* The buffer becomes a target of RDMA the way SMC-R does it. */
static int end_register(struct end *e, int len)
{
	int pages = DIV_ROUND_UP(len, PAGE_SIZE), rc;
	struct ib_reg_wr reg = {
		.wr.wr_cqe = &e->reg_done,
		.wr.opcode = IB_WR_REG_MR,
		.wr.send_flags = IB_SEND_SIGNALED,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};
	struct scatterlist sg;

	e->mr = ib_alloc_mr(e->pd, IB_MR_TYPE_MEM_REG, pages);
	if (IS_ERR(e->mr))
		return PTR_ERR(e->mr);
	sg_init_one(&sg, e->buf, len);
	sg_dma_address(&sg) = e->dma;
	sg_dma_len(&sg) = len;
	if (ib_map_mr_sg(e->mr, &sg, 1, NULL, PAGE_SIZE) != 1)
		return -EIO;
	e->mr->iova = (uintptr_t)e->buf;
	reg.mr = e->mr;
	reg.key = e->mr->rkey;
	rc = ib_post_send(e->qp, &reg.wr, NULL);
	if (rc)
		return rc;
	if (!wait_for_completion_timeout(&e->registered, 5 * HZ))
		return -ETIMEDOUT;
	return e->pair->run->err;
}

static struct ib_device *find_device(const char *name)
{
	struct raw_dev *d;

	list_for_each_entry(d, &devices, node)
		if (!strcmp(dev_name(&d->dev->dev), name))
			return d->dev;
	return NULL;
}

static int pair_setup(struct run *r, int nr)
{
	int len = PAGE_ALIGN(max(r->p.req, r->p.rsp)), i, rc = 0;
	struct pair *pair = &r->pair[nr];
	struct end *e;

	pair->run = r;
	pair->started = kvcalloc(r->p.window, sizeof(u64), GFP_KERNEL);
	if (!pair->started)
		return -ENOMEM;
	for (i = 0; i < 2 && !rc; i++) {
		e = &pair->end[i];
		e->pair = pair;
		e->peer = &pair->end[!i];
		spin_lock_init(&e->lock);
		init_completion(&e->registered);
		e->send_done.done = on_send;
		e->recv_done.done = on_recv;
		e->reg_done.done = on_reg;
		e->dev = find_device(r->p.dev[i]);
		if (!e->dev)
			return -ENODEV;
		e->gid = find_gid(e->dev);
		if (!e->gid)
			return -EADDRNOTAVAIL;
		rc = end_buffers(e, len) ?: end_queues(e, r->p.window, nr);
	}
	for (i = 0; i < 2 && !rc; i++)
		rc = end_connect(&pair->end[i]);
	for (i = 0; i < 2 && !rc; i++)
		rc = end_register(&pair->end[i], len);
	return rc;
}

static void pair_free(struct run *r, int nr)
{
	int len = PAGE_ALIGN(max(r->p.req, r->p.rsp)), i;
	struct pair *pair = &r->pair[nr];

	/* neither may complete into the other once that is gone */
	for (i = 0; i < 2; i++)
		if (pair->end[i].mr)
			ib_drain_qp(pair->end[i].qp);
	for (i = 0; i < 2; i++)
		if (pair->end[i].dev)
			end_free(&pair->end[i], len);
	kvfree(pair->started);
}

static void report(struct run *r, u64 ns)
{
	struct hist *h = &r->pair[0].hist;
	int i;

	for (i = 1; i < r->p.qps; i++)
		hist_merge(h, &r->pair[i].hist);
	snprintf(result, sizeof(result),
		 "{\"ops\": %llu, \"msecs\": %llu, \"conns\": %d, \"req\": %d, \"rsp\": %d, \"mean_us\": %llu, \"max_us\": %llu, \"p50_tenths_us\": %llu, \"p99_tenths_us\": %llu, \"p999_tenths_us\": %llu, \"connect_fails\": 0, \"errors\": %d}\n",
		 h->n, div_u64(ns, NSEC_PER_MSEC), r->p.window * r->p.qps,
		 r->p.req, r->p.stream ? 0 : r->p.rsp,
		 div_u64(hist_mean_tenths_us(h), 10), div_u64(h->max, 1000),
		 hist_tenths_us(h, 500), hist_tenths_us(h, 990),
		 hist_tenths_us(h, 999), r->err ? 1 : 0);
}

static void load(struct run *r)
{
	u64 t0 = ktime_get_ns(), ns;
	int i, k;

	atomic_set(&r->outstanding, r->p.qps * r->p.window);
	for (k = 0; k < r->p.window; k++)
		for (i = 0; i < r->p.qps; i++)
			request(&r->pair[i]);
	/* ends early on errors only */
	wait_for_completion_timeout(&r->idle, msecs_to_jiffies(r->p.msecs));
	WRITE_ONCE(r->stop, true);
	ns = ktime_get_ns() - t0;
	if (!r->err && !wait_for_completion_timeout(&r->idle, 10 * HZ))
		pr_warn("smcraw: %d of %d outstanding\n",
			atomic_read(&r->outstanding), r->p.window);
	report(r, ns);
}

static int run(const struct params *p)
{
	struct run *r;
	int i, rc = 0;

	r = kvzalloc_obj(*r);
	if (!r)
		return -ENOMEM;
	r->p = *p;
	init_completion(&r->idle);
	for (i = 0; i < p->qps && !rc; i++)
		rc = pair_setup(r, i);
	if (!rc)
		load(r);
	WRITE_ONCE(r->stop, true);
	while (i--)
		pair_free(r, i);
	rc = rc ?: r->err;
	kvfree(r);
	return rc;
}

enum { OPT_A, OPT_B, OPT_REQ, OPT_RSP, OPT_WINDOW, OPT_QPS, OPT_MSECS,
       OPT_STREAM, OPT_BAD };

static const match_table_t tokens = {
	{ OPT_A, "a=%s" },
	{ OPT_B, "b=%s" },
	{ OPT_REQ, "req=%d" },
	{ OPT_RSP, "rsp=%d" },
	{ OPT_WINDOW, "window=%d" },
	{ OPT_QPS, "qps=%d" },
	{ OPT_MSECS, "msecs=%d" },
	{ OPT_STREAM, "stream" },
	{ OPT_BAD, NULL },
};

static int parse_one(char *word, struct params *p)
{
	substring_t args[MAX_OPT_ARGS];
	int val = 0, tok;

	tok = match_token(word, tokens, args);
	if (tok > OPT_B && tok < OPT_STREAM &&
	    (match_int(args, &val) || val < 0))
		return -EINVAL;
	switch (tok) {
	case OPT_A:
	case OPT_B:
		match_strlcpy(p->dev[tok], args, IB_DEVICE_NAME_MAX);
		return 0;
	case OPT_REQ:
		p->req = clamp(val, 1, MAX_LEN);
		return 0;
	case OPT_RSP:
		p->rsp = clamp(val, 1, MAX_LEN);
		return 0;
	case OPT_WINDOW:
		p->window = clamp(val, 1, MAX_WINDOW);
		return 0;
	case OPT_QPS:
		p->qps = clamp(val, 1, MAX_QPS);
		return 0;
	case OPT_MSECS:
		p->msecs = val;
		return 0;
	case OPT_STREAM:
		p->stream = true;
		return 0;
	}
	return -EINVAL;
}

static int command(char *line)
{
	struct params p = { .req = 1, .rsp = 1, .window = 1, .qps = 1,
			    .msecs = 1000 };
	char *word;
	int rc;

	while ((word = strsep(&line, " \n"))) {
		if (!*word)
			continue;
		rc = parse_one(word, &p);
		if (rc)
			return rc;
	}
	/* no unsignaled message at the end of a stream */
	if (p.stream)
		p.window = rounddown(p.window, signal_every(p.window));
	return run(&p);
}

static struct ib_client raw_client;

static int raw_add(struct ib_device *dev)
{
	struct raw_dev *d = kzalloc_obj(*d);

	if (!d)
		return -ENOMEM;
	d->dev = dev;
	mutex_lock(&lock);
	list_add(&d->node, &devices);
	mutex_unlock(&lock);
	ib_set_client_data(dev, &raw_client, d);
	return 0;
}

/* a run on the device ends first: it holds the lock */
static void raw_remove(struct ib_device *dev, void *data)
{
	struct raw_dev *d = data;

	mutex_lock(&lock);
	list_del(&d->node);
	mutex_unlock(&lock);
	kfree(d);
}

static struct ib_client raw_client = {
	.name = "smcraw",
	.add = raw_add,
	.remove = raw_remove,
};

static int __init raw_init(void)
{
	int rc = ib_register_client(&raw_client);

	if (!rc && !proc_create("smcraw", 0600, NULL, &cmdfile_ops)) {
		ib_unregister_client(&raw_client);
		rc = -ENOMEM;
	}
	return rc;
}

static void __exit raw_exit(void)
{
	remove_proc_entry("smcraw", NULL);
	ib_unregister_client(&raw_client);
}

module_init(raw_init);
module_exit(raw_exit);
MODULE_DESCRIPTION("Ceiling of SMC-R: RDMA WRITE and SEND between two devices");
MODULE_LICENSE("GPL");
