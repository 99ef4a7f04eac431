// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the close states: every event in every state against a list
 * written independently of the table, and everything two ends can do to each
 * other.
 */
#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "../smc_conn.h"

#define INIT	SMC_INIT
#define LISTEN	SMC_LISTEN
#define ACT	SMC_ACTIVE
#define PCW1	SMC_PEERCLOSEWAIT1
#define PCW2	SMC_PEERCLOSEWAIT2
#define ACW1	SMC_APPCLOSEWAIT1
#define ACW2	SMC_APPCLOSEWAIT2
#define AFCW	SMC_APPFINCLOSEWAIT
#define PFCW	SMC_PEERFINCLOSEWAIT
#define PABW	SMC_PEERABORTWAIT
#define PRAB	SMC_PROCESSABORT
#define CLOSED	SMC_CLOSED

#define DONE	SMC_ACT_DONE
#define FIN	SMC_ACT_FIN
#define ABORT	SMC_ACT_ABORT
#define ERR	SMC_ACT_ERR
#define REFUSE	SMC_ACT_REFUSE

static const u8 close_states[] = {
	INIT, LISTEN, ACT, PCW1, PCW2, ACW1, ACW2, AFCW, PFCW, PABW, PRAB,
	CLOSED,
};

/* @next[0] without the guard, @next[1] with it */
struct close_row {
	u8 state;
	u8 ev;
	u8 next[2];
	u8 act;
};

static const struct close_row close_rows[] = {
	{ INIT, SMC_EV_ESTABLISHED, { ACT, ACT }, 0 },
	/* close(2): C behind all data; the peer's C decides how it goes on */
	{ INIT, SMC_EV_CLOSE, { CLOSED, CLOSED }, ABORT },
	{ LISTEN, SMC_EV_CLOSE, { CLOSED, CLOSED }, 0 },
	{ ACT, SMC_EV_CLOSE, { PCW1, PCW1 }, FIN },
	{ PCW1, SMC_EV_CLOSE, { PCW1, PCW1 }, FIN },
	{ PCW2, SMC_EV_CLOSE, { PCW2, PCW2 }, FIN },
	{ ACW1, SMC_EV_CLOSE, { PFCW, CLOSED }, FIN },
	{ ACW2, SMC_EV_CLOSE, { PFCW, CLOSED }, FIN },
	{ AFCW, SMC_EV_CLOSE, { CLOSED, CLOSED }, FIN },
	{ PFCW, SMC_EV_CLOSE, { PFCW, PFCW }, FIN },
	{ PABW, SMC_EV_CLOSE, { CLOSED, CLOSED }, ABORT },
	{ PRAB, SMC_EV_CLOSE, { CLOSED, CLOSED }, ABORT },
	/* shutdown(SHUT_RDWR): as close, but the file stays */
	{ INIT, SMC_EV_SHUT_RDWR, { INIT, INIT }, REFUSE },
	{ LISTEN, SMC_EV_SHUT_RDWR, { LISTEN, LISTEN }, REFUSE },
	{ ACT, SMC_EV_SHUT_RDWR, { PCW1, PCW1 }, FIN },
	{ PCW1, SMC_EV_SHUT_RDWR, { PCW1, PCW1 }, FIN },
	{ PCW2, SMC_EV_SHUT_RDWR, { PCW2, PCW2 }, FIN },
	{ ACW1, SMC_EV_SHUT_RDWR, { PFCW, AFCW }, FIN },
	{ ACW2, SMC_EV_SHUT_RDWR, { PFCW, AFCW }, FIN },
	{ AFCW, SMC_EV_SHUT_RDWR, { AFCW, AFCW }, FIN },
	{ PABW, SMC_EV_SHUT_RDWR, { PABW, PABW }, REFUSE },
	{ PRAB, SMC_EV_SHUT_RDWR, { PRAB, PRAB }, REFUSE },
	{ CLOSED, SMC_EV_SHUT_RDWR, { CLOSED, CLOSED }, REFUSE },
	/* shutdown(SHUT_WR): D behind all data */
	{ INIT, SMC_EV_SHUT_WR, { INIT, INIT }, REFUSE },
	{ LISTEN, SMC_EV_SHUT_WR, { LISTEN, LISTEN }, REFUSE },
	{ ACT, SMC_EV_SHUT_WR, { PCW1, PCW1 }, DONE },
	{ ACW1, SMC_EV_SHUT_WR, { ACW2, ACW2 }, DONE },
	{ PABW, SMC_EV_SHUT_WR, { PABW, PABW }, REFUSE },
	{ PRAB, SMC_EV_SHUT_WR, { PRAB, PRAB }, REFUSE },
	{ CLOSED, SMC_EV_SHUT_WR, { CLOSED, CLOSED }, REFUSE },
	/* D */
	{ ACT, SMC_EV_RX_DONE, { ACW1, ACW1 }, 0 },
	{ PCW1, SMC_EV_RX_DONE, { PCW2, PCW2 }, 0 },
	/* C; the guard: the application has closed */
	{ ACT, SMC_EV_RX_CLOSED, { ACW1, ACW1 }, 0 },
	{ PCW1, SMC_EV_RX_CLOSED, { AFCW, CLOSED }, 0 },
	{ PCW2, SMC_EV_RX_CLOSED, { AFCW, CLOSED }, 0 },
	{ PFCW, SMC_EV_RX_CLOSED, { AFCW, CLOSED }, 0 },
	/* A */
	{ ACT, SMC_EV_RX_ABORT, { PRAB, PRAB }, ABORT | ERR },
	{ PCW1, SMC_EV_RX_ABORT, { PRAB, CLOSED }, ABORT | ERR },
	{ PCW2, SMC_EV_RX_ABORT, { PRAB, CLOSED }, ABORT | ERR },
	{ ACW1, SMC_EV_RX_ABORT, { PRAB, PRAB }, ABORT | ERR },
	{ ACW2, SMC_EV_RX_ABORT, { PRAB, PRAB }, ABORT | ERR },
	{ AFCW, SMC_EV_RX_ABORT, { PRAB, PRAB }, ABORT },
	{ PFCW, SMC_EV_RX_ABORT, { PRAB, CLOSED }, ABORT | ERR },
	{ PABW, SMC_EV_RX_ABORT, { CLOSED, CLOSED }, ABORT },
	/* own abort */
	{ INIT, SMC_EV_ABORT, { CLOSED, CLOSED }, ABORT | ERR },
	{ ACT, SMC_EV_ABORT, { CLOSED, CLOSED }, ABORT | ERR },
	{ PCW1, SMC_EV_ABORT, { CLOSED, CLOSED }, ABORT | ERR },
	{ PCW2, SMC_EV_ABORT, { CLOSED, CLOSED }, ABORT | ERR },
	{ ACW1, SMC_EV_ABORT, { CLOSED, CLOSED }, ABORT | ERR },
	{ ACW2, SMC_EV_ABORT, { CLOSED, CLOSED }, ABORT | ERR },
	{ AFCW, SMC_EV_ABORT, { CLOSED, CLOSED }, ABORT },
	{ PFCW, SMC_EV_ABORT, { CLOSED, CLOSED }, ABORT | ERR },
	{ PABW, SMC_EV_ABORT, { CLOSED, CLOSED }, ABORT },
	{ PRAB, SMC_EV_ABORT, { CLOSED, CLOSED }, ABORT },
	{ CLOSED, SMC_EV_ABORT, { CLOSED, CLOSED }, ABORT },
	/* the group died: nothing can be sent */
	{ ACT, SMC_EV_KILL, { CLOSED, CLOSED }, ERR },
	{ PCW1, SMC_EV_KILL, { CLOSED, CLOSED }, ERR },
	{ PCW2, SMC_EV_KILL, { CLOSED, CLOSED }, ERR },
	{ ACW1, SMC_EV_KILL, { CLOSED, CLOSED }, ERR },
	{ ACW2, SMC_EV_KILL, { CLOSED, CLOSED }, ERR },
	{ AFCW, SMC_EV_KILL, { CLOSED, CLOSED }, 0 },
	{ PFCW, SMC_EV_KILL, { CLOSED, CLOSED }, ERR },
	{ PABW, SMC_EV_KILL, { CLOSED, CLOSED }, 0 },
	{ PRAB, SMC_EV_KILL, { CLOSED, CLOSED }, 0 },
};

static const struct close_row *close_find(u8 state, u8 ev)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(close_rows); i++) {
		if (close_rows[i].state == state && close_rows[i].ev == ev)
			return &close_rows[i];
	}
	return NULL;
}

static void close_every_pair(struct kunit *test)
{
	const struct close_row *row;
	unsigned int i, ev, guard;
	u8 state, next, act;

	for (i = 0; i < ARRAY_SIZE(close_states); i++) {
		state = close_states[i];
		for (ev = 0; ev < SMC_EV_MAX; ev++) {
			row = close_find(state, ev);
			for (guard = 0; guard < 2; guard++) {
				next = smc_close_next(state, ev, guard, &act);
				KUNIT_EXPECT_EQ_MSG(test, next,
						    row ? row->next[guard] : state,
						    "state %u event %u guard %u",
						    state, ev, guard);
				KUNIT_EXPECT_EQ_MSG(test, act, row ? row->act : 0,
						    "state %u event %u", state, ev);
			}
		}
	}
}

static bool close_known(u8 state)
{
	return memchr(close_states, state, sizeof(close_states));
}

/* Numbers that are no state or event change nothing. */
static void close_unknown(struct kunit *test)
{
	unsigned int state, ev;
	u8 act;

	for (state = 0; state < 256; state++) {
		if (close_known(state))
			continue;
		for (ev = 0; ev < SMC_EV_MAX; ev++) {
			KUNIT_ASSERT_EQ(test, smc_close_next(state, ev, false, &act),
					state);
			KUNIT_ASSERT_EQ(test, act, 0);
		}
	}
	KUNIT_EXPECT_EQ(test, smc_close_next(ACT, SMC_EV_MAX, false, &act), ACT);
	KUNIT_EXPECT_EQ(test, act, 0);
}

/* ---- two ends ---- */

#define F_D	BIT(0)
#define F_C	BIT(1)
#define F_A	BIT(2)

/* one end: 5 bits of state, released, 3 bits of flags sent, 3 bits of flags
 * that arrived from the other end
 */
struct close_end {
	u8 state;
	bool released;
	u8 tx;
	u8 rx;
};

struct close_pair {
	struct close_end end[2];
};

static u32 close_key(const struct close_pair *p)
{
	u32 key = 0;
	int i;

	for (i = 0; i < 2; i++)
		key = key << 12 | p->end[i].state << 7 |
		      p->end[i].released << 6 | p->end[i].tx << 3 |
		      p->end[i].rx;
	return key;
}

static void close_unkey(u32 key, struct close_pair *p)
{
	int i;

	for (i = 1; i >= 0; i--, key >>= 12) {
		p->end[i].state = key >> 7 & 31;
		p->end[i].released = key >> 6 & 1;
		p->end[i].tx = key >> 3 & 7;
		p->end[i].rx = key & 7;
	}
}

static void close_do(struct close_end *e, u8 ev, bool guard, bool reset)
{
	u8 act;

	e->state = smc_close_next(e->state, ev, guard, &act);
	if (act & DONE)
		e->tx |= F_D;
	if (act & FIN)
		e->tx |= reset ? F_A : F_C;
	if (act & ABORT)
		e->tx |= F_A;
}

/* as smc_close_peer() */
static void close_deliver(struct close_pair *p, int to)
{
	struct close_end *e = &p->end[to];
	u8 before = e->rx;
	u8 new = p->end[!to].tx & ~before;

	e->rx |= new;
	if (new & F_A) {
		if (before & F_C)
			e->tx |= F_A;
		else
			close_do(e, SMC_EV_RX_ABORT, e->released, true);
		return;
	}
	if (new & F_D)
		close_do(e, SMC_EV_RX_DONE, e->released, false);
	if (new & F_C)
		close_do(e, SMC_EV_RX_CLOSED, e->released, false);
}

#define CLOSE_OPS	6

/* operation @op of one end, or a message to it; false if not possible now */
static bool close_op(struct close_pair *p, int i, int op)
{
	struct close_end *e = &p->end[i];
	bool guard = e->rx & F_C;

	if (op == 0) {
		close_deliver(p, i);
		return true;
	}
	if (e->released && op != 5)
		return false;
	switch (op) {
	case 1:
		close_do(e, SMC_EV_SHUT_WR, guard, false);
		break;
	case 2:
		close_do(e, SMC_EV_SHUT_RDWR, guard, false);
		break;
	case 3:	/* clean close */
	case 4:	/* with unread data */
		e->released = true;
		close_do(e, SMC_EV_CLOSE, guard, op == 4);
		break;
	case 5:
		close_do(e, SMC_EV_ABORT, false, true);
		break;
	}
	return true;
}

/* From any situation: once both have closed and all messages have arrived, both
 * are CLOSED, and have said so to each other.
 */
static void close_check_end(struct kunit *test, struct close_pair p)
{
	struct close_pair start = p;
	int i;

	for (i = 0; i < 2; i++)
		close_op(&p, i, 3);
	for (i = 0; i < 4; i++)
		close_deliver(&p, i & 1);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ_MSG(test, p.end[i].state, CLOSED,
				    "from %u/%u", start.end[0].state,
				    start.end[1].state);
		KUNIT_EXPECT_TRUE(test, p.end[i].tx & (F_C | F_A));
	}
}

static void close_both_ends(struct kunit *test)
{
	struct close_pair p = {
		.end = { { .state = ACT }, { .state = ACT } },
	};
	unsigned long *seen = vzalloc(BITS_TO_LONGS(BIT(24)) * sizeof(long));
	u32 *todo = vmalloc_array(BIT(20), sizeof(*todo));
	unsigned int n = 0, total = 0;
	struct close_pair q;
	u32 key;
	int op;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	KUNIT_ASSERT_NOT_NULL(test, todo);
	todo[n++] = close_key(&p);
	set_bit(todo[0], seen);
	while (n) {
		close_unkey(todo[--n], &p);
		total++;
		close_check_end(test, p);
		for (op = 0; op < 2 * CLOSE_OPS; op++) {
			q = p;
			if (!close_op(&q, op & 1, op >> 1))
				continue;
			key = close_key(&q);
			if (!test_and_set_bit(key, seen) && n < BIT(20))
				todo[n++] = key;
		}
		cond_resched();
	}
	kunit_info(test, "%u situations", total);
	KUNIT_EXPECT_GT(test, total, 100);
	vfree(todo);
	vfree(seen);
}

static struct kunit_case close_cases[] = {
	KUNIT_CASE(close_every_pair),
	KUNIT_CASE(close_unknown),
	KUNIT_CASE(close_both_ends),
	{}
};

static struct kunit_suite close_suite = {
	.name = "smc_close",
	.test_cases = close_cases,
};

kunit_test_suite(close_suite);

MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
MODULE_DESCRIPTION("KUnit tests of the SMC close states");
MODULE_LICENSE("GPL");
