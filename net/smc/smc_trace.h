/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events of system "smc". The first four are known to tools by name and
 * fields; all others take ids and plain values. Sockets, queue pairs and links
 * are correlated by hashed pointers (%p), groups by their id as smcstat shows
 * it.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM smc

#if !defined(SMC_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SMC_TRACE_H

#include <linux/tracepoint.h>
#include <net/net_namespace.h>

#include "smc_sock.h"

/* The four that tools know. Each tells the namespace by its cookie; what else
 * there is depends on whether it is about a socket or a link.
 */
#define SMC_TP_NET_FIELD	__field(u64, net_cookie)
#define SMC_TP_NET(sk)	(__entry->net_cookie = sock_net(sk)->net_cookie)

TRACE_EVENT(smc_switch_to_fallback,
	TP_PROTO(const struct smc_sock *smc, int reason),
	TP_ARGS(smc, reason),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(const void *, clcsk)
		SMC_TP_NET_FIELD
		__field(int, fallback_rsn)
	),
	TP_fast_assign(
		SMC_TP_NET(&smc->sk);
		__entry->fallback_rsn = reason;
		__entry->sk = &smc->sk;
		__entry->clcsk = smc->tcp ? smc->tcp->sk : NULL;
	),
	TP_printk("sk=%p clcsk=%p net=%llu fallback_rsn=%d",
		  __entry->sk, __entry->clcsk, __entry->net_cookie,
		  __entry->fallback_rsn)
);

/* bytes between a program and a ring */
DECLARE_EVENT_CLASS(smc_copy,
	TP_PROTO(const struct smc_sock *smc, size_t len),
	TP_ARGS(smc, len),
	TP_STRUCT__entry(
		__field(const void *, smc)
		SMC_TP_NET_FIELD
		__field(size_t, len)
		__string(name, smc_member_dev_name(&smc->conn.member))
	),
	TP_fast_assign(
		__assign_str(name);
		SMC_TP_NET(&smc->sk);
		__entry->smc = smc;
		__entry->len = len;
	),
	TP_printk("smc=%p net=%llu len=%zu dev=%s",
		  __entry->smc, __entry->net_cookie, __entry->len,
		  __get_str(name))
);

#define DEFINE_SMC_COPY(name)						\
	DEFINE_EVENT(smc_copy, name,					\
		TP_PROTO(const struct smc_sock *smc, size_t len),	\
		TP_ARGS(smc, len))
DEFINE_SMC_COPY(smc_tx_sendmsg);
DEFINE_SMC_COPY(smc_rx_recvmsg);

TRACE_EVENT(smcr_link_down,
	TP_PROTO(const void *lnk, const void *lgr, u64 net_cookie, int state,
		 const char *ibname, void *location),
	TP_ARGS(lnk, lgr, net_cookie, state, ibname, location),
	TP_STRUCT__entry(
		__field(const void *, lnk)
		__field(const void *, lgr)
		SMC_TP_NET_FIELD
		__field(int, state)
		__string(name, ibname)
		__field(void *, location)
	),
	TP_fast_assign(
		__assign_str(name);
		__entry->location = location;
		__entry->net_cookie = net_cookie;
		__entry->lgr = lgr;
		__entry->lnk = lnk;
		__entry->state = state;
	),
	TP_printk("lnk=%p lgr=%p net=%llu state=%d dev=%s location=%pS",
		  __entry->lnk, __entry->lgr, __entry->net_cookie,
		  __entry->state, __get_str(name), __entry->location)
);

/* state machines: @event is what caused the step (room specific) */
TRACE_EVENT(smc_state,
	TP_PROTO(const void *smc, int old, int new, int event),
	TP_ARGS(smc, old, new, event),
	TP_STRUCT__entry(
		__field(const void *, smc)
		__field(int, old)
		__field(int, new)
		__field(int, event)
	),
	TP_fast_assign(
		__entry->smc = smc;
		__entry->old = old;
		__entry->new = new;
		__entry->event = event;
	),
	TP_printk("smc=%p state=%d->%d event=%d",
		  __entry->smc, __entry->old, __entry->new, __entry->event)
);

TRACE_EVENT(smc_lgr_state,
	TP_PROTO(u32 lgr_id, u64 net_cookie, int old, int new),
	TP_ARGS(lgr_id, net_cookie, old, new),
	TP_STRUCT__entry(
		__field(u32, lgr_id)
		__field(u64, net_cookie)
		__field(int, old)
		__field(int, new)
	),
	TP_fast_assign(
		__entry->lgr_id = lgr_id;
		__entry->net_cookie = net_cookie;
		__entry->old = old;
		__entry->new = new;
	),
	TP_printk("lgr=%08x net=%llu state=%d->%d", __entry->lgr_id,
		  __entry->net_cookie, __entry->old, __entry->new)
);

TRACE_EVENT(smc_link_state,
	TP_PROTO(u32 lgr_id, u8 link_id, int old, int new),
	TP_ARGS(lgr_id, link_id, old, new),
	TP_STRUCT__entry(
		__field(u32, lgr_id)
		__field(u8, link_id)
		__field(int, old)
		__field(int, new)
	),
	TP_fast_assign(
		__entry->lgr_id = lgr_id;
		__entry->link_id = link_id;
		__entry->old = old;
		__entry->new = new;
	),
	TP_printk("lgr=%08x link=%u state=%d->%d", __entry->lgr_id,
		  __entry->link_id, __entry->old, __entry->new)
);

/* control messages: @result 0 or a negative errno (why it was not taken) */
DECLARE_EVENT_CLASS(smc_llc_event,
	TP_PROTO(u32 lgr_id, u8 link_id, u8 type, u8 flags, int result),
	TP_ARGS(lgr_id, link_id, type, flags, result),
	TP_STRUCT__entry(
		__field(u32, lgr_id)
		__field(u8, link_id)
		__field(u8, type)
		__field(u8, flags)
		__field(int, result)
	),
	TP_fast_assign(
		__entry->lgr_id = lgr_id;
		__entry->link_id = link_id;
		__entry->type = type;
		__entry->flags = flags;
		__entry->result = result;
	),
	TP_printk("lgr=%08x link=%u type=%u flags=0x%02x result=%d",
		  __entry->lgr_id, __entry->link_id, __entry->type,
		  __entry->flags, __entry->result)
);

DEFINE_EVENT(smc_llc_event, smc_llc_rx,
	TP_PROTO(u32 lgr_id, u8 link_id, u8 type, u8 flags, int result),
	TP_ARGS(lgr_id, link_id, type, flags, result)
);

DEFINE_EVENT(smc_llc_event, smc_llc_tx,
	TP_PROTO(u32 lgr_id, u8 link_id, u8 type, u8 flags, int result),
	TP_ARGS(lgr_id, link_id, type, flags, result)
);

DECLARE_EVENT_CLASS(smc_clc_event,
	TP_PROTO(const void *smc, u8 type, u8 version, u16 len, int result),
	TP_ARGS(smc, type, version, len, result),
	TP_STRUCT__entry(
		__field(const void *, smc)
		__field(u8, type)
		__field(u8, version)
		__field(u16, len)
		__field(int, result)
	),
	TP_fast_assign(
		__entry->smc = smc;
		__entry->type = type;
		__entry->version = version;
		__entry->len = len;
		__entry->result = result;
	),
	TP_printk("smc=%p type=%u version=%u len=%u result=%d",
		  __entry->smc, __entry->type, __entry->version, __entry->len,
		  __entry->result)
);

DEFINE_EVENT(smc_clc_event, smc_clc_rx,
	TP_PROTO(const void *smc, u8 type, u8 version, u16 len, int result),
	TP_ARGS(smc, type, version, len, result)
);

DEFINE_EVENT(smc_clc_event, smc_clc_tx,
	TP_PROTO(const void *smc, u8 type, u8 version, u16 len, int result),
	TP_ARGS(smc, type, version, len, result)
);

TRACE_EVENT(smc_hs_step,
	TP_PROTO(const void *smc, int step, int result),
	TP_ARGS(smc, step, result),
	TP_STRUCT__entry(
		__field(const void *, smc)
		__field(int, step)
		__field(int, result)
	),
	TP_fast_assign(
		__entry->smc = smc;
		__entry->step = step;
		__entry->result = result;
	),
	TP_printk("smc=%p step=%d result=%d", __entry->smc, __entry->step,
		  __entry->result)
);

/* @verdict of a received one: 1 new data, 0, or why it was not taken */
DECLARE_EVENT_CLASS(smc_cdc_event,
	TP_PROTO(const void *smc, const struct smc_cdc *cdc, u64 prod, u64 cons,
		 int verdict),
	TP_ARGS(smc, cdc, prod, cons, verdict),
	TP_STRUCT__entry(
		__field(const void *, smc)
		__field(u32, token)
		__field(u16, seq)
		__field(u64, prod)
		__field(u64, cons)
		__field(u8, pflags)
		__field(u8, cflags)
		__field(int, verdict)
	),
	TP_fast_assign(
		__entry->smc = smc;
		__entry->token = cdc->token;
		__entry->seq = cdc->seq;
		__entry->prod = prod;
		__entry->cons = cons;
		__entry->pflags = cdc->pflags;
		__entry->cflags = cdc->cflags;
		__entry->verdict = verdict;
	),
	TP_printk("smc=%p token=%08x seq=%u prod=%llu cons=%llu flags=0x%02x/0x%02x verdict=%d",
		  __entry->smc, __entry->token, __entry->seq, __entry->prod,
		  __entry->cons, __entry->pflags, __entry->cflags,
		  __entry->verdict)
);

DEFINE_EVENT(smc_cdc_event, smc_cdc_rx,
	TP_PROTO(const void *smc, const struct smc_cdc *cdc, u64 prod, u64 cons,
		 int verdict),
	TP_ARGS(smc, cdc, prod, cons, verdict)
);

DEFINE_EVENT(smc_cdc_event, smc_cdc_tx,
	TP_PROTO(const void *smc, const struct smc_cdc *cdc, u64 prod, u64 cons,
		 int verdict),
	TP_ARGS(smc, cdc, prod, cons, verdict)
);

TRACE_EVENT(smc_wr_error,
	TP_PROTO(const void *wr, int status, int vendor_err, u32 qpn),
	TP_ARGS(wr, status, vendor_err, qpn),
	TP_STRUCT__entry(
		__field(const void *, wr)
		__field(int, status)
		__field(int, vendor_err)
		__field(u32, qpn)
	),
	TP_fast_assign(
		__entry->wr = wr;
		__entry->status = status;
		__entry->vendor_err = vendor_err;
		__entry->qpn = qpn;
	),
	TP_printk("wr=%p status=%d vendor_err=0x%x qpn=%u", __entry->wr,
		  __entry->status, __entry->vendor_err, __entry->qpn)
);

TRACE_EVENT(smc_wr_wait,
	TP_PROTO(const void *wr, int result),
	TP_ARGS(wr, result),
	TP_STRUCT__entry(
		__field(const void *, wr)
		__field(int, result)
	),
	TP_fast_assign(
		__entry->wr = wr;
		__entry->result = result;
	),
	TP_printk("wr=%p result=%d", __entry->wr, __entry->result)
);

/* @dir 0 send, 1 receive; @event room specific, see smc_buf.h */
TRACE_EVENT(smc_buf,
	TP_PROTO(u32 lgr_id, int dir, u32 size, int event),
	TP_ARGS(lgr_id, dir, size, event),
	TP_STRUCT__entry(
		__field(u32, lgr_id)
		__field(int, dir)
		__field(u32, size)
		__field(int, event)
	),
	TP_fast_assign(
		__entry->lgr_id = lgr_id;
		__entry->dir = dir;
		__entry->size = size;
		__entry->event = event;
	),
	TP_printk("lgr=%08x dir=%d size=%u event=%d", __entry->lgr_id,
		  __entry->dir, __entry->size, __entry->event)
);

#endif /* SMC_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE smc_trace
#include <trace/define_trace.h>
