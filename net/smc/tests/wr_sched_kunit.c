// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the work requests: the scheduler of data senders, and the
 * receive ring.
 */
#include <linux/module.h>
#include <linux/prandom.h>

#include "wr_kunit.h"

/* ---- senders ---- */

/**
 * struct sender - a connection with something to send
 * @lock: client->lock
 * @id: in the first word of its messages
 * @pending: units to send
 * @sent: units in messages
 * @fills: calls of fill()
 * @failed: calls of failed()
 * @done: messages retired
 * @refs: references taken by the scheduler
 * @unit: send one unit per message and ask for more
 */
struct sender {
	struct smc_wr_client client;
	spinlock_t lock; /* BH; the members below, refs aside */
	u32 id;
	unsigned int pending;
	unsigned int sent;
	unsigned int fills;
	unsigned int failed;
	unsigned int done;
	atomic_t refs;
	bool unit;
};

static struct sender *to_sender(struct smc_wr_client *client)
{
	return container_of(client, struct sender, client);
}

static void sender_done(struct smc_slot *slot, enum ib_wc_status status)
{
	struct sender *s = slot->owner;

	spin_lock_bh(&s->lock);
	s->done++;
	spin_unlock_bh(&s->lock);
}

/* message: id, and the units sent up to and with it */
static int sender_fill(struct smc_wr_client *client, struct smc_slot *slot)
{
	struct sender *s = to_sender(client);
	unsigned int n = s->unit ? min(s->pending, 1U) : s->pending;
	u32 *msg = (u32 *)slot->msg;

	lockdep_assert_held(&s->lock);
	s->fills++;
	if (!n)
		return 0;
	s->pending -= n;
	s->sent += n;
	msg[0] = s->id;
	msg[1] = s->sent;
	slot->msg_len = SMC_WR_MSG_LEN;
	slot->owner = s;
	slot->done = sender_done;
	return SMC_WR_FILLED | (s->pending ? SMC_WR_MORE : 0);
}

static void sender_failed(struct smc_wr_client *client, struct smc_slot *slot)
{
	struct sender *s = to_sender(client);

	s->failed += ((u32 *)slot->msg)[0] == s->id;
}

static void sender_get(struct smc_wr_client *client)
{
	atomic_inc(&to_sender(client)->refs);
}

static void sender_put(struct smc_wr_client *client)
{
	atomic_dec(&to_sender(client)->refs);
}

static const struct smc_wr_client_ops sender_ops = {
	.fill = sender_fill,
	.failed = sender_failed,
	.get = sender_get,
	.put = sender_put,
};

static struct sender *senders_new(struct kunit *test, unsigned int n)
{
	struct sender *s = kunit_kcalloc(test, n, sizeof(*s), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, s);
	for (i = 0; i < n; i++) {
		s[i].id = i;
		spin_lock_init(&s[i].lock);
		smc_wr_client_init(&s[i].client, &sender_ops, &s[i].lock);
	}
	return s;
}

static void add(struct wrt *t, struct sender *s, unsigned int n)
{
	spin_lock_bh(&s->lock);
	s->pending += n;
	spin_unlock_bh(&s->lock);
	smc_wr_kick(&t->wr, &s->client);
}

static void expect_sent(struct kunit *test, struct wrt *t, unsigned int i,
			u32 id, u32 units)
{
	KUNIT_EXPECT_LT(test, i, t->posted);
	KUNIT_EXPECT_EQ(test, t->sq[i].opcode, IB_WR_SEND);
	KUNIT_EXPECT_EQ(test, t->sq[i].head[0], id);
	KUNIT_EXPECT_EQ(test, t->sq[i].head[1], units);
}

static void expect_settled(struct kunit *test, struct wrt *t, struct sender *s,
			   unsigned int n)
{
	KUNIT_EXPECT_EQ(test, wrt_credits(t), t->wr.nslots + 1);
	while (n--) {
		KUNIT_EXPECT_EQ(test, s[n].pending, 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&s[n].client.inflight), 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&s[n].refs), 0);
		KUNIT_EXPECT_NULL(test, s[n].client.queued);
	}
}

/* three senders, two slots: in turn, each turn one message with all there is */
static void sched_gathers(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 2, 0, false);
	struct sender *s = senders_new(test, 3);

	add(t, &s[0], 1);
	add(t, &s[1], 1);
	add(t, &s[2], 1);
	add(t, &s[0], 1);
	add(t, &s[1], 1);
	add(t, &s[2], 4);
	add(t, &s[0], 8);
	KUNIT_ASSERT_EQ(test, t->posted, 2);
	KUNIT_EXPECT_EQ(test, s[2].fills, 0);
	wrt_reap_one(t, IB_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, t->posted, 3);
	wrt_reap_one(t, IB_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, t->posted, 4);
	add(t, &s[1], 16);
	wrt_reap_one(t, IB_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, t->posted, 5);
	expect_sent(test, t, 0, 0, 1);
	expect_sent(test, t, 1, 1, 1);
	expect_sent(test, t, 2, 2, 5);
	expect_sent(test, t, 3, 0, 10);
	expect_sent(test, t, 4, 1, 18);
	wrt_reap(t);
	KUNIT_EXPECT_EQ(test, t->posted, 5);
	expect_settled(test, t, s, 3);
}

/* senders that always have more go round */
static void sched_round_robin(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 2, 0, false);
	struct sender *s = senders_new(test, 3);
	unsigned int i;

	for (i = 0; i < 3; i++)
		s[i].unit = true;
	add(t, &s[0], 10);
	add(t, &s[1], 10);
	add(t, &s[2], 10);
	KUNIT_EXPECT_EQ(test, t->posted, 2);
	wrt_reap(t);
	KUNIT_ASSERT_EQ(test, t->posted, 30);
	/* the first one had the second slot too before others came */
	expect_sent(test, t, 0, 0, 1);
	expect_sent(test, t, 1, 0, 2);
	for (i = 2; i < 26; i++)
		expect_sent(test, t, i, (i - 2) % 3,
			    (i - 2) / 3 + (i % 3 == 2 ? 3 : 1));
	expect_settled(test, t, s, 3);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, s[i].done, 10);
}

/* data leaves the reserve alone, and an LLC message gets through at once */
static void sched_leaves_reserve(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 2, 0, false);
	struct sender *s = senders_new(test, 1);
	struct smc_slot *llc;
	struct wrt_msg msg = {};
	unsigned int clock = 0;

	s->unit = true;
	add(t, s, 5);
	KUNIT_EXPECT_EQ(test, t->posted, 2);
	KUNIT_EXPECT_EQ(test, wrt_credits(t), 1);
	llc = smc_wr_get(&t->wr, SMC_WR_GET_LLC);
	KUNIT_ASSERT_FALSE(test, IS_ERR(llc));
	KUNIT_EXPECT_EQ(test, wrt_post(test, llc, &msg, &clock, 0), 0);
	KUNIT_EXPECT_EQ(test, t->posted, 3);
	wrt_reap(t);
	KUNIT_EXPECT_EQ(test, t->posted, 6);
	KUNIT_EXPECT_EQ(test, msg.done, 1);
	expect_settled(test, t, s, 1);
}

/* a control message that does not need its slot hands it on */
static void sched_served_by_put(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 2, 0, false);
	struct sender *s = senders_new(test, 2);
	struct smc_slot *a = smc_wr_get(&t->wr, 0);
	struct smc_slot *b = smc_wr_get(&t->wr, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(a) || IS_ERR(b));
	add(t, &s[0], 1);
	add(t, &s[1], 1);
	KUNIT_EXPECT_EQ(test, t->posted, 0);
	smc_wr_put(a);
	KUNIT_EXPECT_EQ(test, t->posted, 1);
	expect_sent(test, t, 0, 0, 1);
	smc_wr_put(b);
	KUNIT_EXPECT_EQ(test, t->posted, 2);
	expect_sent(test, t, 1, 1, 1);
	wrt_reap(t);
	expect_settled(test, t, s, 2);
}

/* a slot that comes free goes to who was ready first, not to a newcomer */
static void sched_no_overtaking(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 2, 0, false);
	struct sender *s = senders_new(test, 2);
	struct smc_slot *a = smc_wr_get(&t->wr, 0);
	struct smc_slot *b = smc_wr_get(&t->wr, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(a) || IS_ERR(b));
	add(t, &s[0], 1);
	/* smc_wr_put() in slow motion */
	smc_wr_release(a);
	add(t, &s[1], 1);
	percpu_ref_put(&t->wr.users);
	expect_sent(test, t, 0, 0, 1);
	smc_wr_put(b);
	expect_sent(test, t, 1, 1, 1);
	wrt_reap(t);
	expect_settled(test, t, s, 2);
}

struct one_waiter {
	struct wrt *t;
	struct smc_slot *slot;
	struct completion ended;
};

static int one_waiter_main(void *arg)
{
	struct one_waiter *w = arg;

	w->slot = smc_wr_get(&w->t->wr, SMC_WR_GET_WAIT);
	complete_all(&w->ended);
	while (!kthread_should_stop())
		usleep_range(200, 500);
	return 0;
}

/* a waiter is served before senders that were ready earlier */
static void sched_after_waiters(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 2, 0, false);
	struct sender *s = senders_new(test, 2);
	struct one_waiter w = { .t = t };
	struct task_struct *task;

	init_completion(&w.ended);
	s[0].unit = true;
	add(t, &s[0], 2);
	add(t, &s[1], 1);
	task = kthread_run(one_waiter_main, &w, "wr_waiter");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	KUNIT_EXPECT_TRUE(test, wrt_until(wrt_waiting(t) == 1));
	wrt_reap_one(t, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, wait_for_completion_timeout(&w.ended, 30 * HZ));
	KUNIT_EXPECT_EQ(test, t->posted, 2);
	if (!IS_ERR_OR_NULL(w.slot))
		smc_wr_put(w.slot);
	KUNIT_EXPECT_EQ(test, t->posted, 3);
	kthread_stop(task);
	wrt_reap(t);
	expect_settled(test, t, s, 2);
}

/* nothing to send: the slot comes back, nothing is posted, fill asked once */
static void sched_nothing_to_send(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 2, 0, false);
	struct sender *s = senders_new(test, 1);

	add(t, s, 0);
	KUNIT_EXPECT_EQ(test, s->fills, 1);
	KUNIT_EXPECT_EQ(test, t->calls, 0);
	expect_settled(test, t, s, 1);
}

static void sched_client_stop(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 2, 0, false);
	struct wrt *next = wrt_new(test, 2, 0, false);
	struct sender *s = senders_new(test, 3);
	unsigned int fills;

	add(t, &s[0], 1);
	add(t, &s[1], 1);
	add(t, &s[0], 1);
	add(t, &s[1], 1);
	add(t, &s[2], 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&s[1].refs), 2);
	smc_wr_client_stop(&t->wr, &s[1].client);
	KUNIT_EXPECT_EQ(test, atomic_read(&s[1].refs), 1);
	fills = s[1].fills;
	wrt_reap(t);
	/* a late kick, with slots free and without */
	add(t, &s[1], 1);
	KUNIT_EXPECT_EQ(test, s[1].fills, fills);
	KUNIT_EXPECT_NULL(test, s[1].client.queued);
	s[0].unit = true;
	add(t, &s[0], 3);
	add(t, &s[1], 1);
	KUNIT_EXPECT_NULL(test, s[1].client.queued);
	wrt_reap(t);
	KUNIT_EXPECT_EQ(test, s[1].fills, fills);
	KUNIT_EXPECT_EQ(test, s[2].sent, 1);
	KUNIT_EXPECT_EQ(test, s[1].done, 1);

	/* it goes on where it moved to, and can come back */
	add(next, &s[1], 0);
	expect_sent(test, next, 0, 1, 4);
	wrt_reap(next);
	smc_wr_client_stop(&next->wr, &s[1].client);
	add(next, &s[1], 1);
	KUNIT_EXPECT_EQ(test, next->posted, 1);
	add(t, &s[1], 0);
	wrt_reap(t);
	KUNIT_EXPECT_EQ(test, s[1].sent, 5);
	expect_settled(test, t, s, 3);
}

static void sched_stop_drops(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 2, 0, false);
	struct sender *s = senders_new(test, 3);
	unsigned int i;

	s[0].unit = true;
	add(t, &s[0], 3);
	add(t, &s[1], 1);
	add(t, &s[2], 1);
	smc_wr_stop(&t->wr);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_NULL(test, s[i].client.queued);
	KUNIT_EXPECT_EQ(test, atomic_read(&s[1].refs), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s[2].refs), 0);
	wrt_reap(t);
	add(t, &s[1], 1);
	KUNIT_EXPECT_EQ(test, t->posted, 2);
	KUNIT_EXPECT_EQ(test, s[1].fills, 0);
	smc_wr_drain(&t->wr);
	KUNIT_EXPECT_EQ(test, s[0].done, 2);
	for (i = 0; i < 3; i++)
		s[i].pending = 0;
	expect_settled(test, t, s, 3);
}

/* a post that fails: failed() once, no done(), nothing is kept */
static void sched_post_fails(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 8, 0, false);
	struct sender *s = senders_new(test, 2);

	add(t, &s[0], 1);
	t->fail_after = 0;
	add(t, &s[1], 1);
	KUNIT_EXPECT_EQ(test, s[1].failed, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->broken), 1);
	add(t, &s[0], 1);
	KUNIT_EXPECT_EQ(test, s[0].fills, 1);
	smc_wr_drain(&t->wr);
	KUNIT_EXPECT_EQ(test, s[0].done, 1);
	KUNIT_EXPECT_EQ(test, s[1].done, 0);
	s[0].pending = 0;
	expect_settled(test, t, s, 2);
}

/* ---- threads ---- */

#define NTHREADS	6
#define NROUNDS		1500

struct producer {
	struct wrt *t;
	struct sender *s;
	struct task_struct *task;
	unsigned int n;
	unsigned int nsenders;
	struct completion ended;
};

static int producer_main(void *arg)
{
	struct producer *p = arg;
	unsigned int i;

	for (i = 0; i < NROUNDS; i++)
		add(p->t, &p->s[(p->n + i) % p->nsenders], 1);
	complete_all(&p->ended);
	while (!kthread_should_stop())
		usleep_range(200, 500);
	return 0;
}

static int completer_main(void *arg)
{
	struct wrt *t = arg;

	while (!kthread_should_stop()) {
		unsigned int n = get_random_u32_below(6);

		while (n-- && wrt_reap_one(t, IB_WC_SUCCESS))
			;
		cond_resched();
		if (t->reaped == READ_ONCE(t->posted))
			usleep_range(20, 50);
	}
	return 0;
}

static bool all_sent(struct sender *s, unsigned int n)
{
	unsigned int i, sent = 0;

	for (i = 0; i < n; i++)
		sent += READ_ONCE(s[i].sent);
	return sent == NTHREADS * NROUNDS;
}

/* the messages of each sender were posted in the order they were filled */
static void expect_ordered(struct kunit *test, struct wrt *t)
{
	u32 last[3] = {};
	unsigned int i;

	for (i = 0; i < t->posted; i++) {
		struct wrt_wqe *wqe = &t->sq[i];

		if (wqe->opcode != IB_WR_SEND)
			continue;
		KUNIT_ASSERT_LT(test, wqe->head[0], ARRAY_SIZE(last));
		KUNIT_ASSERT_GT(test, wqe->head[1], last[wqe->head[0]]);
		last[wqe->head[0]] = wqe->head[1];
	}
}

static void run_threads(struct kunit *test, unsigned int nslots,
			unsigned int nsenders)
{
	struct wrt *t = wrt_new(test, nslots, 0, false);
	struct sender *s = senders_new(test, nsenders);
	struct producer *p;
	struct task_struct *completer;
	unsigned int i;

	t->wr.idle_delay = msecs_to_jiffies(6);
	p = kunit_kcalloc(test, NTHREADS, sizeof(*p), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	s[nsenders / 2].unit = true;
	completer = kthread_run(completer_main, t, "wr_completer");
	KUNIT_ASSERT_FALSE(test, IS_ERR(completer));
	for (i = 0; i < NTHREADS; i++) {
		p[i] = (struct producer){ .t = t, .s = s, .n = i,
					  .nsenders = nsenders };
		init_completion(&p[i].ended);
		p[i].task = kthread_run(producer_main, &p[i], "wr_producer");
		KUNIT_ASSERT_FALSE(test, IS_ERR(p[i].task));
	}
	for (i = 0; i < NTHREADS; i++)
		KUNIT_EXPECT_TRUE(test, wait_for_completion_timeout(&p[i].ended,
								    60 * HZ));
	/* no sender is forgotten, all messages come home */
	KUNIT_EXPECT_TRUE(test, wrt_until(all_sent(s, nsenders)));
	KUNIT_EXPECT_TRUE(test, wrt_until(wrt_credits(t) == nslots + 1));
	for (i = 0; i < NTHREADS; i++)
		kthread_stop(p[i].task);
	kthread_stop(completer);
	expect_ordered(test, t);
	expect_settled(test, t, s, nsenders);
}

/* slots scarce: most messages are posted by completions */
static void sched_threads_scarce(struct kunit *test)
{
	run_threads(test, 4, 3);
}

/* slots plenty: several threads at once post for the same sender */
static void sched_threads_plenty(struct kunit *test)
{
	run_threads(test, 1024, 1);
}

/* waits for own messages only, and asks for their completion */
static void sched_client_idle(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 16, 0, false);
	struct sender *s = senders_new(test, 2);
	struct task_struct *completer;
	unsigned long start;

	KUNIT_EXPECT_TRUE(test, smc_wr_client_idle(&t->wr, &s[0].client, 0));
	add(t, &s[0], 1);
	KUNIT_EXPECT_TRUE(test, smc_wr_client_idle(&t->wr, &s[1].client, 0));
	KUNIT_EXPECT_FALSE(test, smc_wr_client_idle(&t->wr, &s[0].client,
						    HZ / 50));
	add(t, &s[0], 1);
	completer = kthread_run(completer_main, t, "wr_completer");
	KUNIT_ASSERT_FALSE(test, IS_ERR(completer));
	start = jiffies;
	KUNIT_EXPECT_TRUE(test, smc_wr_client_idle(&t->wr, &s[0].client,
						   20 * HZ));
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, start + 10 * HZ));
	KUNIT_EXPECT_EQ(test, s[0].done, 2);
	kthread_stop(completer);
	expect_settled(test, t, s, 2);
}

/* ---- receive ring ---- */

static void recv_one(struct wrt *t, enum ib_wc_status status, u32 len)
{
	wrt_cqe(t, t->rq[t->rq_tail++ % WRT_RQ_LEN], status, len);
}

static unsigned int on_queue(struct wrt *t)
{
	return t->rq_head - t->rq_tail;
}

/* any length, any size of ring: no receive is lost, at least half is posted */
static void rx_constant(struct kunit *test)
{
	static const u32 lens[] = { 0, 1, 16, 43, 44, 45, 48, 49, 8192, ~0 };
	static const unsigned int sizes[] = { 2, 3, 8, 48 };
	unsigned int i, n;
	struct wrt *t;

	for (n = 0; n < ARRAY_SIZE(sizes); n++) {
		t = wrt_new(test, 2, sizes[n], n & 1);
		KUNIT_EXPECT_EQ(test, on_queue(t), sizes[n]);
		for (i = 0; i < 500; i++) {
			u32 len = lens[i % ARRAY_SIZE(lens)];

			KUNIT_ASSERT_NE(test, on_queue(t), 0);
			recv_one(t, IB_WC_SUCCESS, len);
			KUNIT_EXPECT_EQ(test, t->received, i + 1);
			KUNIT_EXPECT_EQ(test, t->received_len,
					min(len, t->wr.rx_room));
			KUNIT_EXPECT_EQ(test, on_queue(t), t->wr.rx_posted);
			KUNIT_EXPECT_EQ(test, sizes[n], t->wr.rx_posted +
					t->wr.rx_npending);
			KUNIT_EXPECT_GT(test, t->wr.rx_posted, sizes[n] / 2);
		}
		KUNIT_EXPECT_EQ(test, atomic_read(&t->broken), 0);
	}
}

/* refused for some time, in the middle of a chain too: all come back */
static void rx_repost_fails(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 2, 32, false);
	unsigned int i;

	t->recv_fail = 3;
	for (i = 0; i < 20; i++)
		recv_one(t, IB_WC_SUCCESS, 44);
	KUNIT_EXPECT_EQ(test, t->wr.rx_posted, 15);
	KUNIT_EXPECT_EQ(test, t->wr.rx_npending, 17);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->broken), 0);
	t->recv_fail = -1;
	recv_one(t, IB_WC_SUCCESS, 44);
	KUNIT_EXPECT_EQ(test, t->wr.rx_posted, 32);
	KUNIT_EXPECT_EQ(test, on_queue(t), 32);
	/* none twice */
	for (i = 1; i < 32; i++)
		KUNIT_EXPECT_PTR_NE(test, t->rq[(t->rq_tail + i) % WRT_RQ_LEN],
				    t->rq[t->rq_tail % WRT_RQ_LEN]);
}

/* refused for good: the link ends before the ring is dry */
static void rx_runs_low(struct kunit *test)
{
	static const unsigned int sizes[] = { 2, 3, 32 };
	struct wrt *t;
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(sizes); n++) {
		t = wrt_new(test, 2, sizes[n], false);
		t->recv_fail = 0;
		while (on_queue(t) && !atomic_read(&t->broken))
			recv_one(t, IB_WC_SUCCESS, 44);
		KUNIT_EXPECT_EQ(test, atomic_read(&t->broken), 1);
		KUNIT_EXPECT_EQ(test, on_queue(t), sizes[n] / 4);
	}
}

static void rx_error(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 2, 8, false);
	unsigned int i;

	recv_one(t, IB_WC_SUCCESS, 44);
	for (i = 1; i < 8; i++)
		recv_one(t, IB_WC_WR_FLUSH_ERR, 0);
	KUNIT_EXPECT_EQ(test, t->received, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->broken), 1);
	KUNIT_EXPECT_EQ(test, t->broken_status, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, t->rq_head, 8);
}

/* nothing is posted once teardown has waited for all posters */
static void rx_teardown(struct kunit *test)
{
	struct wrt *t = wrt_new(test, 2, 4, false);
	unsigned int i;

	smc_wr_drain(&t->wr);
	for (i = 0; i < 4; i++)
		recv_one(t, IB_WC_SUCCESS, 44);
	KUNIT_EXPECT_EQ(test, t->rq_head, 4);
	KUNIT_EXPECT_EQ(test, atomic_read(&t->broken), 0);
}

static struct kunit_case wr_sched_cases[] = {
	KUNIT_CASE(sched_gathers),
	KUNIT_CASE(sched_round_robin),
	KUNIT_CASE(sched_leaves_reserve),
	KUNIT_CASE(sched_served_by_put),
	KUNIT_CASE(sched_no_overtaking),
	KUNIT_CASE(sched_after_waiters),
	KUNIT_CASE(sched_nothing_to_send),
	KUNIT_CASE(sched_client_stop),
	KUNIT_CASE(sched_stop_drops),
	KUNIT_CASE(sched_post_fails),
	KUNIT_CASE_SLOW(sched_threads_scarce),
	KUNIT_CASE_SLOW(sched_threads_plenty),
	KUNIT_CASE(sched_client_idle),
	KUNIT_CASE(rx_constant),
	KUNIT_CASE(rx_repost_fails),
	KUNIT_CASE(rx_runs_low),
	KUNIT_CASE(rx_error),
	KUNIT_CASE(rx_teardown),
	{}
};

static struct kunit_suite wr_sched_suite = {
	.name = "smc_wr_sched",
	.test_cases = wr_sched_cases,
};

kunit_test_suite(wr_sched_suite);

MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
MODULE_DESCRIPTION("KUnit tests of the scheduler of SMC work requests");
MODULE_LICENSE("GPL");
