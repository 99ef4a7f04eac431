/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two connections and a wire that is none: messages are posted into a queue and
 * arrive, and complete, when the test says so. The real data path runs on it.
 * Each message is checked against what may be on the wire.
 */
#ifndef SMC_TESTS_CONN_KUNIT_H
#define SMC_TESTS_CONN_KUNIT_H

#include <kunit/test.h>
#include <linux/list.h>
#include <linux/prandom.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "../smc_conn.h"

#define CT_TOKEN	0x1000

struct ct_pair;

/**
 * struct ct_msg - a message on the wire
 * @node: in ct_end.wire, or .unreaped once it has arrived
 * @end: end of its data in the stream
 * @cdc: control data
 * @len: data bytes
 * @signal: the sender has asked for a completion
 */
struct ct_msg {
	struct list_head node;
	u64 end;
	struct smc_cdc cdc;
	u32 len;
	bool signal;
};

/**
 * struct ct_end - one end
 * @smc: socket
 * @sock: what the system call layer would have
 * @pair: fixture
 * @peer: other end
 * @wire: messages posted and not arrived
 * @unreaped: messages that have arrived and not completed
 * @inflight: number of both
 * @slots: highest number of messages in flight
 * @starved: kicked without a free slot
 * @fail_next: the next post fails
 * @ring: memory of the send ring
 * @opened: calls of snd_open() that gave it
 * @fail_open: the next one finds no memory
 * @die_open: the group dies during the next one
 * @posted: messages posted
 * @signalled: of these, with a completion
 * @bytes: data bytes posted
 * @last_seq: of the last message
 * @cflags: all connection flags posted
 * @pflags: producer flags of the last message
 * @left: leave() was called
 * @clean: as leave() was told
 * @used: as leave() was told
 */
struct ct_end {
	struct smc_sock *smc;
	struct socket_alloc *sock;
	struct ct_pair *pair;
	struct ct_end *peer;
	struct list_head wire;
	struct list_head unreaped;
	unsigned int inflight;
	unsigned int slots;
	bool starved;
	bool fail_next;
	u8 *ring;
	unsigned int opened;
	bool fail_open;
	bool die_open;
	unsigned int posted;
	unsigned int signalled;
	u64 bytes;
	u16 last_seq;
	u8 cflags;
	u8 pflags;
	bool left;
	bool clean;
	u32 used;
};

struct ct_pair {
	struct kunit *test;
	struct ct_end end[2];
};

struct ct_pair *ct_pair_new(struct kunit *test, u32 ring0, u32 ring1);
void ct_pair_free(struct ct_pair *p);
void ct_established(struct ct_end *e);
bool ct_deliver(struct ct_end *from);		/* next message arrives */
void ct_complete(struct ct_end *e);		/* what arrived completes */
void ct_pump(struct ct_pair *p);		/* until nothing moves */

int ct_send(struct ct_end *e, const void *buf, size_t len, int flags);
int ct_recv(struct ct_end *e, void *buf, size_t len, int flags);
void ct_fill(u8 *buf, size_t len, u64 pos);	/* test pattern of a stream */
bool ct_match(const u8 *buf, size_t len, u64 pos);
void ct_close(struct ct_end *e, long linger);
int ct_shutdown(struct ct_end *e, int how);
void ct_linger(struct ct_end *e, unsigned long jiffs);
bool ct_gone(struct ct_end *e);			/* freed by itself, waits for it */
u8 ct_state(const struct ct_end *e);

#endif /* SMC_TESTS_CONN_KUNIT_H */
