/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside of the CLC handshake (layer 6): context of one handshake, the table
 * of what can be negotiated, and the border to what a transport adds. For
 * smc_hs*.c and their test only.
 */
#ifndef SMC_HS_PRIV_H
#define SMC_HS_PRIV_H

#include <linux/netdevice.h>

#include "smc_clc.h"
#include "smc_clc_msg.h"
#include "smc_reason.h"
#include "smc_setup.h"
#include "smc_smcr.h"
#include "smc_trace.h"

/* waits, jiffies */
#define SMC_HS_STEP_TIME	(6 * HZ)	/* Proposal, Accept, Confirm */
#define SMC_HS_LATE_TIME	HZ		/* Decline after an LLC timeout */
/* for a group that another handshake creates: the client waits
 * SMC_HS_STEP_TIME for our Accept
 */
#define SMC_HS_JOIN_TIME	(3 * HZ / 2)

/* for the LLC flows of others before an announcement; then it is declined, while
 * the peer, who waits SMC_HS_STEP_TIME for our Accept or Confirm, still listens
 */
#define SMC_HS_TURN_TIME	(3 * HZ)

/* limits of a link group; the last ones where nothing is negotiated */
#define SMC_HS_MIN_CONNS	16
#define SMC_HS_MAX_LINKS	2
#define SMC_HS_DEF_CONNS	255
#define SMC_HS_DEF_LINKS	2

/* steps in trace event smc_hs_step */
enum smc_hs_step {
	SMC_HS_STEP_CHECK	= 1,	/* may SMC be used at all */
	SMC_HS_STEP_OFFER	= 2,	/* client: devices chosen */
	SMC_HS_STEP_PROPOSAL	= 3,	/* sent or received */
	SMC_HS_STEP_SELECT	= 4,	/* server: candidate chosen, joined */
	SMC_HS_STEP_ACCEPT	= 5,	/* sent or received */
	SMC_HS_STEP_JOIN	= 6,	/* client: joined */
	SMC_HS_STEP_CONFIRM	= 7,	/* sent or received */
	SMC_HS_STEP_LINK	= 8,	/* peer's end known, link works */
	SMC_HS_STEP_END		= 9,	/* result of the handshake */
};

struct smc_hs;
struct smc_hs_cand;

/**
 * struct smc_hs_ops - what a transport does in a handshake
 * @offer: client: find a device for this candidate
 * @propose: client: all offers were made: fill own fields of hs->prop by its
 *	modes
 * @listen: server: find a device, join a group, get buffers, fill hs->accept
 *	and hs->first
 * @connect: client: hs->accept is valid: join, get buffers, fill hs->confirm
 *	and hs->first
 * @finish: the Confirm was sent, or was received and is valid: bring the
 *	connection to a state in which data may flow; on success the member is
 *	the connection's
 * @out_of_sync: peer says it does not know the group of this connection
 * @cleanup: put devices, and leave the group unless @finish succeeded;
 *	idempotent, also between two attempts
 *
 * All mandatory. Process context, may sleep. Results: 0; > 0 enum smc_reason;
 * < 0 errno, the connection fails. A step that failed is followed by @cleanup.
 */
struct smc_hs_ops {
	int (*offer)(struct smc_hs *hs, const struct smc_hs_cand *cand);
	void (*propose)(struct smc_hs *hs);
	int (*listen)(struct smc_hs *hs, const struct smc_hs_cand *cand);
	int (*connect)(struct smc_hs *hs);
	int (*finish)(struct smc_hs *hs);
	void (*out_of_sync)(struct smc_hs *hs);
	void (*cleanup)(struct smc_hs *hs);
};

/**
 * struct smc_hs_cand - a transport in a CLC version
 * @version: 1 or 2
 * @mode: enum smc_clc_mode
 * @absent: enum smc_reason if we have no device for it
 * @ops: NULL: not spoken by this host; known for the reason only
 */
struct smc_hs_cand {
	u8 version;
	u8 mode;
	u32 absent;
	const struct smc_hs_ops *ops;
};

#define SMC_HS_CANDS	4

/* in order of preference */
extern const struct smc_hs_cand smc_hs_cands[SMC_HS_CANDS];

/**
 * struct smc_hs_limits - what release 2.1 negotiates
 * @release: 0 for v1 and v2.0
 * @max_conns: connections in a link group
 * @max_links: links in a link group
 */
struct smc_hs_limits {
	u8 release;
	u8 max_conns;
	u8 max_links;
};

/**
 * struct smc_hs_smcr - SMC-R's part of the context
 * @choice: device for v1 and v2; port is NULL if there is none
 * @want: for smcr_join()
 * @peer: peer's end of the first link
 * @joined: smcr_abort() is due
 */
struct smc_hs_smcr {
	struct smc_ib_choice choice[2];
	struct smcr_want want;
	struct smcr_peer_link peer;
	bool joined;
};

/**
 * struct smc_hs - one handshake; owned by the thread that runs it, no lock
 * @smc: socket
 * @net: namespace of the socket
 * @tcp: TCP socket
 * @server: our role
 * @vlan: of the TCP route, after smc_hs_route()
 * @ipv4: the TCP connection is one over IPv4
 * @saddr: own address, if so
 * @start: jiffies, begin; later of the arrival of the Proposal
 * @version: CLC version of our Decline
 * @mute: no Decline must be sent: peer has sent one, or speaks no CLC
 * @may_cross: the peer may send a Decline while we send one
 * @peer_active: the peer may use SMC already: a Decline would split the two
 * @first: a group is made for this connection
 * @cand: chosen
 * @lim: negotiated
 * @prop: sent or received
 * @accept: sent or received
 * @confirm: sent or received
 * @in: last message received
 * @r: SMC-R
 * @buf: one message
 */
struct smc_hs {
	struct smc_sock *smc;
	struct net *net;
	struct sock *tcp;
	bool server;

	u16 vlan;
	bool ipv4;
	__be32 saddr;

	unsigned long start;
	u8 version;
	bool mute;
	bool may_cross;
	bool peer_active;
	bool first;

	const struct smc_hs_cand *cand;
	struct smc_hs_limits lim;
	struct smc_clc_proposal prop;
	struct smc_clc_ac accept;
	struct smc_clc_ac confirm;
	struct smc_clc_in in;
	struct smc_hs_smcr r;
	u8 buf[SMC_CLC_MAX_LEN];
};

/* trace the result of a step, and hand it on */
static inline int smc_hs_step(const struct smc_hs *hs, enum smc_hs_step step,
			      int rc)
{
	trace_smc_hs_step(hs->smc, step, rc);
	return rc;
}

/* smc_hs.c */
struct smc_hs *smc_hs_new(struct smc_sock *smc, bool server);
int smc_hs_end(struct smc_hs *hs, int rc);
int smc_hs_check(const struct sock *tcp);
int smc_hs_route(struct smc_hs *hs);
void smc_hs_own_limits(const struct smc_hs *hs, struct smc_hs_limits *own);
int smc_hs_send_ac(struct smc_hs *hs, struct smc_clc_ac *ac);

/* smc_hs_rules.c: pure decisions */
unsigned int smc_hs_filter(const struct smc_clc_proposal *prop,
			   const struct smc_hs_limits *own,
			   struct smc_hs_limits *lim, int *reason);
int smc_hs_check_accept(const struct smc_clc_proposal *prop,
			const struct smc_clc_ac *accept,
			struct smc_hs_limits *lim);
int smc_hs_check_confirm(const struct smc_clc_proposal *prop,
			 const struct smc_clc_ac *accept,
			 const struct smc_clc_ac *confirm);
const struct smc_hs_cand *smc_hs_find_cand(u8 version, u8 mode);

/* smc_hs_smcr.c */
extern const struct smc_hs_ops smc_hs_smcr_ops;

#endif /* SMC_HS_PRIV_H */
