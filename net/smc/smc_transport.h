/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The border between connections (layer 5 and up) and transports (layer 4).
 *
 * A connection embeds a struct smc_member. A transport (SMC-R now) joins it to
 * a link group, moves its bytes and calls it back through smc_member_ops. Two
 * const tables are all that cross the border.
 */
#ifndef SMC_TRANSPORT_H
#define SMC_TRANSPORT_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <net/net_namespace.h>

#include "smc_cdc_msg.h"
#include "smc_wr.h"

struct smc_lgr;
struct smc_link;
struct smc_member;
struct smcr_buf;
struct smc_diag_lgrinfo;

/**
 * struct smc_tx_msg - one message of a connection
 * @pos: stream position of the first data byte, in the send ring and in the
 *	peer's ring alike
 * @len: data bytes, 0 for a message that carries a CDC only; never more than
 *	either ring
 * @cdc: token, sequence number, cursors and flags
 * @signal: a completion of this message is needed soon
 */
struct smc_tx_msg {
	u64 pos;
	u32 len;
	struct smc_cdc cdc;
	bool signal;
};

/* results of next_msg */
#define SMC_TX_NONE	0
#define SMC_TX_MSG	BIT(0)
#define SMC_TX_MORE	BIT(1)	/* more is ready after this one */

/**
 * struct smc_member_ops - a connection, as transports see it
 * @next_msg: member->tx_lock held (BH), no sleep. Fills @msg with the next
 *	message and commits it (positions, sequence number move); SMC_TX_*
 * @tx_failed: tx_lock held: the message just built was not posted: give its
 *	sequence number back; the link is going down
 * @tx_done: softirq or process, no sleep, tx_lock not held: everything up to
 *	stream position @pos and the message @seq has completed. Monotonic
 *	within a link; not called for failed messages
 * @rx_cdc: softirq (CQ context), under RCU; messages of one link come one at a
 *	time. The member is pinned for the call. May come as soon as there are
 *	rings, before the handshake has ended here: the peer can be ahead. A
 *	call that was under way may still run after ->leave() has returned
 * @died: process context, may sleep, no lock held: the group ends, or this
 *	member's part of it (the peer took back the ring it should still take
 *	data in); @err is a negative errno (-ECONNABORTED, -ETIMEDOUT, -EPROTO
 *	..). Comes once, at any time between join and leave, and the link may be
 *	gone already. After it returns the connection sends nothing more on this
 *	group; it leaves by ->leave()
 * @switched: moved to another link (failover); tx_lock held
 * @get: take a reference; false if the connection is being freed
 * @put: drop it, any context
 */
struct smc_member_ops {
	int (*next_msg)(struct smc_member *m, struct smc_tx_msg *msg);
	void (*tx_failed)(struct smc_member *m, const struct smc_tx_msg *msg);
	void (*tx_done)(struct smc_member *m, u64 pos, u16 seq);
	void (*rx_cdc)(struct smc_member *m, const struct smc_cdc *cdc);
	void (*died)(struct smc_member *m, int err);
	void (*switched)(struct smc_member *m);
	bool (*get)(struct smc_member *m);
	void (*put)(struct smc_member *m);
};

/**
 * struct smcr_member - the SMC-R part of a member, owned by layer 4
 * @client: the scheduler's view
 * @link: current link; written under tx_lock and the group's lock
 * @sndbuf: send ring, NULL while nothing is to be sent
 * @snd_wish: bytes wished for it
 * @rmb: receive ring
 * @rtoken: index of the peer's RMB in the group's table, -1 none
 * @peer_off: offset of the peer's element in its RMB
 * @named: own RMB was named to the peer, in CLC: it may write
 * @snd_high: highest offset of the send ring that was ever written, plus one
 * @pending: between next_msg and post, for tx_failed
 */
struct smcr_member {
	struct smc_wr_client client;
	struct smc_link __rcu *link;
	struct smcr_buf *sndbuf;
	u32 snd_wish;
	struct smcr_buf *rmb;
	int rtoken;
	u64 peer_off;
	bool named;
	u32 snd_high;
	struct smc_tx_msg pending;
};

/**
 * struct smc_member - a connection's membership in a link group
 * @ops: up-calls
 * @transport: set with the socket
 * @net: namespace of the socket
 * @tx_lock: BH; orders the messages of the connection: held over next_msg and
 *	post. Outer to the link's post_lock, inner to the socket lock
 * @lgr: group, NULL before join and after leave; stable while joined
 * @lgr_node: in the group's member lists, group's lock
 * @failed: it cannot go on and is to be told by died()
 * @token: own alert token, nonzero while joined
 * @peer_token: token of the peer's end
 * @snd_ring: send ring memory, NULL between snd_close() and snd_open(); all
 *	ring positions are done then (tx_lock)
 * @snd_size: its size in bytes; without a ring, what it will probably have
 * @rcv_ring: receive ring memory
 * @rcv_size: its size
 * @peer_size: size of the peer's ring, 0 unknown
 * @r: SMC-R part
 */
struct smc_member {
	const struct smc_member_ops *ops;
	const struct smc_transport *transport;
	struct net *net;
	spinlock_t tx_lock;		/* next_msg and post */
	struct smc_lgr *lgr;
	struct list_head lgr_node;
	bool failed;
	u32 token;
	u32 peer_token;
	u8 *snd_ring;
	u32 snd_size;
	u8 *rcv_ring;
	u32 rcv_size;
	u32 peer_size;
	struct smcr_member r;
};

/**
 * struct smc_transport - what connections ask of a transport
 * @name: "SMC-R"
 * @diag_mode: SMC_DIAG_MODE_*
 * @dev_name: any context, under RCU: device that carries the member, "" if none
 * @kick: any context, no sleep, tx_lock not held: the member has something to
 *	send (or owes a CDC); next_msg is called at once or when a slot is free
 * @snd_open: process, may sleep for memory and the device, no lock held; leave()
 *	is kept off. The member has a send ring afterwards, content zero. 0,
 *	-ENOMEM or another errno: try again later, or the group is ending
 * @snd_close: process, socket lock held, nothing unsent: give the send ring back
 *	to the system if all that was sent has completed, else false
 * @snd_written: process: user data was copied into [pos, pos + len) of the
 *	send ring (DMA sync)
 * @rcv_ready: process: [pos, pos + len) of the receive ring is about to be
 *	read (DMA sync)
 * @leave: process, may sleep: give buffers, token and group reference back.
 *	Waits for messages in flight (bounded by the life of the link). @clean:
 *	the peer has promised to write no more, so the RMB may be reused; it
 *	said to have written the first @used bytes of it.
 *	Idempotent. The rings are gone when it returns, but an rx_cdc that was
 *	under way may still run: the connection marks itself under a lock that
 *	its rx_cdc takes, before it calls this
 */
struct smc_transport {
	const char *name;
	u8 diag_mode;
	const char *(*dev_name)(const struct smc_member *m);
	void (*kick)(struct smc_member *m);
	int (*snd_open)(struct smc_member *m);
	bool (*snd_close)(struct smc_member *m);
	void (*snd_written)(struct smc_member *m, u64 pos, u32 len);
	void (*rcv_ready)(struct smc_member *m, u64 pos, u32 len);
	void (*leave)(struct smc_member *m, bool clean, u32 used);
};

extern const struct smc_transport smcr_transport;

void smcr_member_init(struct smc_member *m);
/* device that carries a member, for trace events; "" if there is none */
static inline const char *smc_member_dev_name(const struct smc_member *m)
{
	return m->transport->dev_name(m);
}

#endif /* SMC_TRANSPORT_H */
