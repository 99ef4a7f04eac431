/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters (layer 0): per namespace and CPU. Every protocol event, each kind
 * of bad input and each fallback has one. The list makes enum and names.
 */
#ifndef SMC_STATS_H
#define SMC_STATS_H

#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/u64_stats_sync.h>

#include "smc_net.h"

/* add at the end of the fitting block; names show in /proc/net/smc_stat */
#define SMC_COUNTERS(X)							\
	/* handshake */							\
	X(CLNT_V1_SUCC)		/* client connections over SMC, v1 */	\
	X(CLNT_V2_SUCC)							\
	X(SRV_V1_SUCC)							\
	X(SRV_V2_SUCC)							\
	X(CLNT_HS_ERR)		/* client handshakes that failed */	\
	X(SRV_HS_ERR)							\
	X(CLNT_FALLBACK)						\
	X(SRV_FALLBACK)							\
	X(CLC_RX_BAD)		/* malformed CLC messages */		\
	X(CLC_RX_DECLINE)						\
	X(CLC_TX_DECLINE)						\
	X(CLC_NO_PROPOSAL)	/* first bytes were no CLC message */	\
	X(HS_DROP_BACKLOG)	/* SYN-ACK answers dropped, queue full */ \
	X(HS_CONGESTED)		/* SYNs answered without SMC */		\
	/* link groups and links */					\
	X(LGR_CREATED)							\
	X(LGR_REUSED)							\
	X(LGR_FREED)							\
	X(LGR_TERMINATED)						\
	X(LINK_UP)							\
	X(LINK_DOWN)							\
	X(LLC_RX)							\
	X(LLC_TX)							\
	X(LLC_RX_BAD)		/* malformed, wrong version or link */	\
	X(LLC_RX_UNEXPECTED)	/* legal form, no flow waits for it */	\
	X(LLC_TIMEOUT)							\
	X(LLC_ADD_REJECT)						\
	X(RKEY_CONFIRM)							\
	X(RKEY_DELETE)							\
	X(RTOKEN_FULL)							\
	/* work requests */						\
	X(WR_POSTS)		/* calls of ib_post_send */		\
	X(WR_CQES)							\
	X(WR_SLOT_WAITS)	/* control messages that had to wait */	\
	X(WR_SLOT_TIMEOUTS)						\
	X(WR_FIFO_QUEUED)	/* data messages queued for a slot */	\
	X(WR_RX_REPOST_FAIL)						\
	X(WR_ERRORS)		/* error completions, first of a link */ \
	/* buffers */							\
	X(BUF_NEW_SND)							\
	X(BUF_NEW_RMB)							\
	X(BUF_REUSE_SND)						\
	X(BUF_REUSE_RMB)						\
	X(BUF_DOWNGRADE_SND)						\
	X(BUF_DOWNGRADE_RMB)						\
	X(BUF_TAINTED)		/* not reused: peer may still write */	\
	X(BUF_SHRUNK)		/* given back under memory pressure */	\
	/* CDC and data */						\
	X(CDC_RX)							\
	X(CDC_TX)							\
	X(CDC_RX_BAD)		/* malformed */				\
	X(CDC_RX_NO_CONN)	/* unknown token, late */		\
	X(CDC_RX_OLD)		/* old sequence number */		\
	X(CDC_RX_CURSOR)	/* cursor violation, connection aborted */ \
	X(TX_BYTES)							\
	X(RX_BYTES)							\
	X(TX_CORKED)							\
	X(TX_BLOCKED)		/* pushes limited by the window */	\
	X(URG_TX)							\
	X(URG_RX)							\
	X(ABORT_TX)		/* connections ended with A by us */	\
	X(ABORT_RX)							\
	X(ORPHAN_TIMEOUT)	/* closing connections given up */

enum smc_counter {
#define X(name) SMC_CNT_##name,
	SMC_COUNTERS(X)
#undef X
	SMC_CNT_MAX
};

struct smc_counters {
	u64_stats_t val[SMC_CNT_MAX];
	struct u64_stats_sync syncp;
};

void smc_count(const struct net *net, enum smc_counter c, u64 n);
u64 smc_counter_sum(const struct net *net, enum smc_counter c);

#define SMC_INC(net, name)	smc_count(net, SMC_CNT_##name, 1)
#define SMC_ADD(net, name, n)	smc_count(net, SMC_CNT_##name, n)

void smc_stats_fallback(const struct net *net, bool server, u32 reason);

struct smc_fback_row {
	u32 reason;
	const char *text;
	u32 clnt;
	u32 srv;
};

bool smc_stats_fback_get(const struct net *net, unsigned int idx,
			 struct smc_fback_row *row);

int smc_stats_net_init(struct net *net);
void smc_stats_net_exit(struct net *net);

#endif /* SMC_STATS_H */
