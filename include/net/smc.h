/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the rest of the kernel needs of SMC: TCP asks the handshake control of
 * the namespace whether to send the SMC option.
 */
#ifndef _SMC_H
#define _SMC_H

#include <linux/device.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/dibs.h>

struct inet_request_sock;
struct sock;
struct tcp_sock;

#define SMC_HS_CTRL_NAME_MAX		16

/* a namespace created later takes the control of the initial namespace */
#define SMC_HS_CTRL_FLAG_INHERITABLE	0x1
#define SMC_HS_CTRL_ALL_FLAGS		SMC_HS_CTRL_FLAG_INHERITABLE

/**
 * struct smc_hs_ctrl - policy for the SMC option of TCP, a BPF struct_ops
 * @list: all registered controls, private
 * @owner: set by the BPF core
 * @name: selected by it in net.smc.hs_ctrl
 * @flags: SMC_HS_CTRL_FLAG_*
 * @syn_option: 0: do not offer SMC on this SYN. RCU, process or softirq
 * @synack_option: 0: do not answer with SMC. RCU, softirq
 */
struct smc_hs_ctrl {
	struct list_head list;
	struct module *owner;
	char name[SMC_HS_CTRL_NAME_MAX];
	int flags;
	int (*syn_option)(struct tcp_sock *tp);
	int (*synack_option)(const struct tcp_sock *tp,
			     struct inet_request_sock *ireq);
};

#if IS_ENABLED(CONFIG_SMC_HS_CTRL_BPF)
#define smc_call_hsbpf(dflt, tp, op, ...)				\
({									\
	const struct smc_hs_ctrl *__hs;					\
	typeof(dflt) __verdict = (dflt);				\
									\
	rcu_read_lock();						\
	__hs = rcu_dereference(sock_net((struct sock *)(tp))->smc.hs_ctrl); \
	if (__hs && __hs->op)						\
		__verdict = __hs->op(tp, ##__VA_ARGS__);		\
	rcu_read_unlock();						\
	__verdict;							\
})
#else
#define smc_call_hsbpf(dflt, tp, op, ...) ({ (void)(tp); (dflt); })
#endif

#endif	/* _SMC_H */
