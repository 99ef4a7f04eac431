// SPDX-License-Identifier: GPL-2.0
/* Instances of the trace events (layer 0). */
#define CREATE_TRACE_POINTS
#include "smc_trace.h"

EXPORT_TRACEPOINT_SYMBOL(smc_switch_to_fallback);
EXPORT_TRACEPOINT_SYMBOL(smc_tx_sendmsg);
EXPORT_TRACEPOINT_SYMBOL(smc_rx_recvmsg);
EXPORT_TRACEPOINT_SYMBOL(smcr_link_down);
