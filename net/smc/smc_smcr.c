// SPDX-License-Identifier: GPL-2.0
/*
 * SMC-R as a transport (layer 4): from a member's message to work requests,
 * from received bytes to members; device events; init and exit.
 *
 * A message is one chain: RDMA WRITEs for the data, at most two because it may
 * wrap at the end of the peer's ring, each with at most two elements because it
 * may wrap at the end of ours, and the SEND with the CDC message that reports
 * them. Positions are absolute; only here they become offsets.
 */
#include <linux/shrinker.h>
#include <linux/smc_diag.h>
#include <rdma/ib_verbs.h>

#include "smc_core.h"
#include "smc_link.h"
#include "smc_mr.h"
#include "smc_smcr.h"
#include "smc_stats.h"
#include "smc_trace.h"

/* a message that is not through after this time never will be */
#define SMC_LEAVE_TIME	(10 * HZ)

static struct smc_member *smcr_client_member(struct smc_wr_client *client)
{
	return container_of(client, struct smc_member, r.client);
}

/* elements of our ring, which starts at @ring, for [pos, pos + len) */
static int smcr_fill_sge(const struct smc_member *m, struct ib_sge *sge,
			 u64 ring, u32 lkey, u64 pos, u32 len)
{
	u32 off = smc_ring_offset(pos, m->snd_size);
	u32 first = min(len, m->snd_size - off);

	sge[0].addr = ring + off;
	sge[0].length = first;
	sge[0].lkey = lkey;
	if (first == len)
		return 1;
	sge[1].addr = ring;
	sge[1].length = len - first;
	sge[1].lkey = lkey;
	return 2;
}

/* RDMA WRITEs of a message; false if the peer has no buffer for it any more */
static bool smcr_fill_writes(const struct smc_member *m, struct smc_slot *slot,
			     const struct smc_link *link,
			     const struct smc_tx_msg *msg)
{
	u32 off, chunk, len = msg->len;
	const struct smcr_map *map;
	u64 addr, ring, pos = msg->pos;
	struct ib_rdma_wr *wr;
	u32 rkey;

	if (!len)
		return true;
	map = &m->r.sndbuf->map[link->idx];
	if (!smc_rtoken_at(&link->lgr->rtokens, m->r.rtoken, link->idx, &addr,
			   &rkey))
		return false;
	/* saves the device a fetch, as for the message itself */
	slot->write_inline = len <= slot->wr->inline_max;
	ring = slot->write_inline ? (uintptr_t)m->snd_ring : map->addr;
	while (len) {
		off = smc_ring_offset(pos, m->peer_size);
		chunk = min(len, m->peer_size - off);
		wr = &slot->write[slot->nwrite];
		wr->remote_addr = addr + m->r.peer_off + off;
		wr->rkey = rkey;
		wr->wr.num_sge = smcr_fill_sge(m, slot->write_sge[slot->nwrite],
					       ring, map->lkey, pos, chunk);
		slot->nwrite++;
		pos += chunk;
		len -= chunk;
	}
	return true;
}

static void smcr_tx_done(struct smc_slot *slot, enum ib_wc_status status)
{
	struct smc_member *m = slot->owner;

	/* the engine keeps the member while its messages are in flight */
	if (status == IB_WC_SUCCESS)
		m->ops->tx_done(m, slot->priv[0], slot->priv[1]);
}

/* the peer took back the ring it should take this data in: it breaks the
 * protocol, this connection has to end, not the link
 */
static void smcr_tx_refused(struct smc_member *m, const struct smc_tx_msg *msg)
{
	m->ops->tx_failed(m, msg);
	if (m->failed)
		return;
	WRITE_ONCE(m->failed, true);
	smc_lgr_sick(m->lgr);
}

static int smcr_fill(struct smc_wr_client *client, struct smc_slot *slot)
{
	struct smc_member *m = smcr_client_member(client);
	struct smc_tx_msg *msg = &m->r.pending;
	struct smc_link *link;
	int rc;

	lockdep_assert_held(&m->tx_lock);
	link = container_of(slot->wr, struct smc_link, wr);
	rc = m->ops->next_msg(m, msg);
	if (!(rc & SMC_TX_MSG))
		return 0;
	if (WARN_ON_ONCE(msg->len > min(m->snd_size, m->peer_size)) ||
	    !smcr_fill_writes(m, slot, link, msg)) {
		smcr_tx_refused(m, msg);
		return 0;
	}
	smc_cdc_encode(slot->msg, &msg->cdc);
	slot->msg_len = SMC_CDC_LEN;
	slot->signal = msg->signal;
	slot->done = smcr_tx_done;
	slot->owner = m;
	slot->priv[0] = msg->pos + msg->len;
	slot->priv[1] = msg->cdc.seq;
	SMC_INC(m->net, CDC_TX);
	return SMC_WR_FILLED | (rc & SMC_TX_MORE ? SMC_WR_MORE : 0);
}

static void smcr_failed(struct smc_wr_client *client, struct smc_slot *slot)
{
	struct smc_member *m = smcr_client_member(client);

	m->ops->tx_failed(m, &m->r.pending);
}

static void smcr_client_get(struct smc_wr_client *client)
{
	struct smc_member *m = smcr_client_member(client);

	/* whoever kicks has a reference, so this one cannot fail */
	WARN_ON_ONCE(!m->ops->get(m));
}

static void smcr_client_put(struct smc_wr_client *client)
{
	struct smc_member *m = smcr_client_member(client);

	m->ops->put(m);
}

static const struct smc_wr_client_ops smcr_client_ops = {
	.fill = smcr_fill,
	.failed = smcr_failed,
	.get = smcr_client_get,
	.put = smcr_client_put,
};

/**
 * smcr_member_init() - SMC-R's part of a new member
 * @m: member
 */
void smcr_member_init(struct smc_member *m)
{
	m->r.rtoken = -1;
	smc_wr_client_init(&m->r.client, &smcr_client_ops, &m->tx_lock);
}

static void smcr_kick(struct smc_member *m)
{
	struct smc_link *link;

	rcu_read_lock();
	link = rcu_dereference(m->r.link);
	if (link)
		smc_wr_kick(&link->wr, &m->r.client);
	rcu_read_unlock();
}

static int smcr_snd_open(struct smc_member *m)
{
	struct smc_link *link = smcr_member_link(m);
	struct smcr_buf *buf;
	int rc;

	buf = smc_mr_get_buf(link, SMC_BUF_SND, m->r.snd_wish);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	rc = smc_mr_register(link, buf);

	spin_lock_bh(&m->tx_lock);
	if (!rc && !m->snd_ring) {
		m->r.sndbuf = buf;
		WRITE_ONCE(m->snd_size, buf->size);
		m->snd_ring = buf->mem;
		buf = NULL;
	}
	spin_unlock_bh(&m->tx_lock);
	/* not registered, or another writer was faster */
	if (buf)
		smc_mr_put_buf(link, buf, true, 0);
	return rc;
}

static bool smcr_snd_close(struct smc_member *m)
{
	struct smc_link *link = smcr_member_link(m);
	struct smcr_buf *buf = m->r.sndbuf;

	if (!link || !smc_wr_client_idle(&link->wr, &m->r.client, 0))
		return false;
	spin_lock_bh(&m->tx_lock);
	m->r.sndbuf = NULL;
	m->r.snd_high = 0;
	m->snd_ring = NULL;
	spin_unlock_bh(&m->tx_lock);
	smc_mr_free_buf(link, buf);
	return true;
}

static void smcr_snd_written(struct smc_member *m, u64 pos, u32 len)
{
	u32 end = smc_ring_offset(pos, m->snd_size) + len;

	m->r.snd_high = max(m->r.snd_high, min(end, m->snd_size));
	smc_mr_sync(smcr_member_link(m), m->r.sndbuf);
}

static void smcr_rcv_ready(struct smc_member *m, u64 pos, u32 len)
{
	smc_mr_sync(smcr_member_link(m), m->r.rmb);
}

static bool smcr_idle(struct smc_member *m, unsigned long timeout)
{
	struct smc_link *link = smcr_member_link(m);

	if (!link)
		return true;
	return smc_wr_client_idle(&link->wr, &m->r.client, timeout);
}

static void smcr_quiesce(struct smc_member *m)
{
	struct smc_link *link = smcr_member_link(m);

	if (link)
		smc_wr_client_stop(&link->wr, &m->r.client);
}

static void smcr_put_rings(struct smc_member *m, struct smc_link *link,
			   bool idle, bool clean, u32 used)
{
	if (m->r.sndbuf)
		smc_mr_put_buf(link, m->r.sndbuf, idle, m->r.snd_high);
	if (m->r.rmb)
		smc_mr_put_buf(link, m->r.rmb, clean || !m->r.named, used);
	m->r.sndbuf = NULL;
	m->r.rmb = NULL;
	m->r.snd_high = 0;
	m->r.named = false;
	m->snd_ring = NULL;
	m->rcv_ring = NULL;
	m->snd_size = 0;
	m->rcv_size = 0;
	m->peer_size = 0;
}

static void smcr_leave(struct smc_member *m, bool clean, u32 used)
{
	struct smc_link *link = smcr_member_link(m);
	struct smc_lgr *base = m->lgr;
	bool idle;

	if (!base)
		return;
	smcr_quiesce(m);
	idle = smcr_idle(m, SMC_LEAVE_TIME);
	if (!idle) {
		/* flushed with the link, which is dead for all of its users */
		smc_link_lost(link, -ETIMEDOUT);
		idle = smcr_idle(m, SMC_LEAVE_TIME);
	}
	smc_lgr_leave(base, m);
	if (m->r.rtoken >= 0)
		smc_rtoken_put(&smcr_lgr_of(base)->rtokens, m->r.rtoken);
	m->r.rtoken = -1;
	if (link)
		smcr_put_rings(m, link, idle, clean, used);
	smcr_member_clear_link(m);
	m->peer_token = 0;
	m->lgr = NULL;
	smc_lgr_put(base);
}

/* the result is good in the caller's RCU or preempt section */
static const char *smcr_dev_name(const struct smc_member *m)
{
	const char *name = "";
	struct smc_link *link;

	rcu_read_lock();
	link = rcu_dereference(m->r.link);
	if (link && smc_link_usable(link))
		name = dev_name(&link->port->dev->ibdev->dev);
	rcu_read_unlock();
	return name;
}

const struct smc_transport smcr_transport = {
	.name = "SMC-R",
	.diag_mode = SMC_DIAG_MODE_SMCR,
	.dev_name = smcr_dev_name,
	.kick = smcr_kick,
	.snd_open = smcr_snd_open,
	.snd_close = smcr_snd_close,
	.snd_written = smcr_snd_written,
	.rcv_ready = smcr_rcv_ready,
	.leave = smcr_leave,
};

static void smcr_rx_cdc(struct smc_link *link, const u8 *data, u32 len)
{
	struct net *net = link->lgr->base.net;
	struct smc_cdc cdc;

	if (smc_cdc_decode(data, len, &cdc)) {
		SMC_INC(net, CDC_RX_BAD);
		return;
	}
	SMC_INC(net, CDC_RX);
	if (!smc_lgr_rx_cdc(&link->lgr->base, &cdc))
		SMC_INC(net, CDC_RX_NO_CONN);
}

static void smcr_wr_recv(struct smc_wr *wr, const u8 *data, u32 len)
{
	struct smc_link *link = container_of(wr, struct smc_link, wr);

	if (len && data[0] == SMC_CDC_TYPE)
		smcr_rx_cdc(link, data, len);
	else
		smc_llc_rx(&link->llc, data, len);
}

static void smcr_wr_broken(struct smc_wr *wr, int status)
{
	smc_link_lost(container_of(wr, struct smc_link, wr),
		      status == -ETIMEDOUT ? status : -EPIPE);
}

const struct smc_wr_ops smcr_wr_ops = {
	.recv = smcr_wr_recv,
	.broken = smcr_wr_broken,
};

/* first usable link of a group on a port (or any port of the device), held */
static struct smc_link *smcr_link_on(struct smcr_lgr *lgr,
				     const struct smc_ib_dev *dev,
				     const struct smc_ib_port *port)
{
	struct smc_link *link = NULL;
	int i;

	spin_lock_bh(&lgr->base.lock);
	for (i = 0; i < SMC_LINKS && !link; i++) {
		if (!lgr->link[i] || !smc_link_usable(lgr->link[i]) ||
		    lgr->link[i]->port->dev != dev ||
		    (port && lgr->link[i]->port != port))
			continue;
		link = lgr->link[i];
		refcount_inc(&link->refs);
	}
	spin_unlock_bh(&lgr->base.lock);
	return link;
}

static void smcr_port_up(struct smc_ib_port *port)
{
	/* one link per group: none is added for it */
}

static void smcr_port_down(struct smc_ib_port *port)
{
	struct smc_link *link;
	struct smc_lgr *base;

	smc_core_for_each(base) {
		link = smcr_link_on(smcr_lgr_of(base), port->dev, port);
		if (!link)
			continue;
		smc_link_lost(link, -ENETDOWN);
		smc_link_put(link);
	}
}

static void smcr_gid_change(struct smc_ib_port *port)
{
	struct smc_link *link;
	struct smc_lgr *base;
	union ib_gid gid;

	smc_core_for_each(base) {
		struct smcr_lgr *lgr = smcr_lgr_of(base);

		link = smcr_link_on(lgr, port->dev, port);
		if (!link)
			continue;
		memcpy(gid.raw, link->gid, sizeof(gid.raw));
		if (!smc_gid_alive(port, &gid, lgr->version > 1))
			smc_link_lost(link, -ENETDOWN);
		smc_link_put(link);
	}
}

static void smcr_dev_leaving(struct smc_ib_dev *dev)
{
	struct smc_link *link;
	struct smc_lgr *base;

	smc_core_for_each(base) {
		link = smcr_link_on(smcr_lgr_of(base), dev, NULL);
		if (!link)
			continue;
		WRITE_ONCE(smcr_lgr_of(base)->hurry, true);
		smcr_lgr_kill(smcr_lgr_of(base), -ECONNABORTED,
			      SMC_LLC_DEL_OP_INIT);
		smc_link_put(link);
	}
}

static const struct smc_dev_ops smcr_dev_ops = {
	.port_up = smcr_port_up,
	.port_down = smcr_port_down,
	.gid_change = smcr_gid_change,
	.dev_leaving = smcr_dev_leaving,
};

/* @net NULL: all groups */
static void smcr_end_groups(const struct net *net)
{
	struct smc_lgr *base;

	smc_core_for_each(base)
		if (!net || base->net == net)
			smcr_lgr_kill(smcr_lgr_of(base), -ECONNABORTED,
				      SMC_LLC_DEL_OP_INIT);
	smc_core_wait_gone(net);
}

/**
 * smcr_net_exit() - end the groups of a namespace
 * @net: namespace without sockets
 *
 * Context: process, sleeps until they are freed.
 */
void smcr_net_exit(struct net *net)
{
	smcr_end_groups(net);
}

static unsigned long smcr_shrink_count(struct shrinker *s,
				       struct shrink_control *sc)
{
	return smcr_bufs_idle() ?: SHRINK_EMPTY;
}

struct smcr_shrink {
	unsigned long wanted;
	unsigned long done;
};

/* Idle buffers have to be taken back from the peer first: that is started here
 * and done by each group's worker.
 */
static void smcr_shrink_lgr(struct smc_lgr *base, void *arg)
{
	struct smcr_lgr *lgr = smcr_lgr_of(base);
	struct smcr_shrink *want = arg;
	unsigned long n;

	n = min_t(unsigned long, atomic_read(&lgr->bufs.nidle),
		  want->wanted - want->done);
	if (!n || atomic_read(&lgr->shrink) || base->state > SMC_LGR_ACTIVE)
		return;
	smc_mr_shrink(lgr, DIV_ROUND_UP(n, SMC_BUF_DIRS));
	want->done += n;
}

static unsigned long smcr_shrink_scan(struct shrinker *s,
				      struct shrink_control *sc)
{
	struct smcr_shrink want = { .wanted = sc->nr_to_scan };

	smc_core_visit(smcr_shrink_lgr, &want);
	return want.done ?: SHRINK_STOP;
}

static struct shrinker *smcr_shrinker;

static int smcr_shrinker_init(void)
{
	smcr_shrinker = shrinker_alloc(0, "smc-bufs");
	if (!smcr_shrinker)
		return -ENOMEM;
	smcr_shrinker->count_objects = smcr_shrink_count;
	smcr_shrinker->scan_objects = smcr_shrink_scan;
	shrinker_register(smcr_shrinker);
	return 0;
}

/**
 * smcr_init() - start SMC-R: queues, shrinker, RDMA devices
 *
 * Context: process, module init.
 *
 * Return: 0, -ENOMEM, errno of smc_ib_init()
 */
int smcr_init(void)
{
	int rc;

	rc = smc_lgr_wq_init();
	if (rc)
		return rc;
	rc = smc_llc_wq_init();
	if (rc)
		goto lgr_wq;
	rc = smcr_shrinker_init();
	if (rc)
		goto llc_wq;
	rc = smc_ib_init(&smcr_dev_ops);
	if (rc)
		goto shrinker;
	return 0;

shrinker:
	shrinker_free(smcr_shrinker);
llc_wq:
	smc_llc_wq_exit();
lgr_wq:
	smc_lgr_wq_exit();
	return rc;
}

/**
 * smcr_exit() - undo smcr_init(): groups end, devices are released
 *
 * No socket exists any more. Context: process, module exit.
 */
void smcr_exit(void)
{
	smcr_end_groups(NULL);
	smc_ib_exit();
	shrinker_free(smcr_shrinker);
	smc_llc_wq_exit();
	smc_lgr_wq_exit();
}
