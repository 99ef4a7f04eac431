#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Nothing holds the module after the programs; and smc_run without it.
. "$(dirname "$0")/lib.sh"

# connections that are closing may take their time
until_ok 120 sh -c "! ip netns exec A smcstat -H conns | grep -q . && ! ip netns exec B smcstat -H conns | grep -q ."
check "no connection is left" test -z "$(A smcstat -H conns)$(B smcstat -H conns)"
check "module unloads" smc_down
check "without SMC in the kernel smc_run gives TCP" \
	diff <("$DATA/sockets" kinds) <(smc_run "$DATA/sockets" kinds)
tap_end
