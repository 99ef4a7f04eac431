#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Memory shortage at each allocation of socket, handshake and link set-up: the
# connection works, over SMC-R or TCP, or fails with an error; the next one
# works; nothing leaks (the run ends with a kmemleak scan).
. "$(dirname "$0")/lib.sh"
F=/sys/kernel/debug/failslab

if [ ! -d $F ]; then
	echo "ok 1 fault injection # SKIP kernel has no failslab"
	echo 1..1
	exit 0
fi
check "module and two hosts" smc_up || { tap_end; exit 1; }
# only what our module asks for, directly or through the core
text=$(awk '$1 == "smc" { print $NF == "(O)" || $NF == "(OE)" ? $(NF - 1) : $NF }' /proc/modules)
echo "$text" >$F/require-start
printf '0x%x' $((text + 0x80000)) >$F/require-end
echo 32 >$F/stacktrace-depth
echo N >$F/ignore-gfp-wait
echo 0 >$F/verbose

# with PERCENT of the allocations failing: every connection ends, in SMC-R, in
# TCP, or with an error
storm() # PERCENT RUNS
{
	local i

	server_up B 10.0.0.2 $((6400 + $1)) -k smc || return 1
	echo -1 >$F/times
	echo "$1" >$F/probability
	for ((i = 0; i < $2; i++)); do
		inA timeout 60 smc_xfer -c -k smc -p $((6400 + $1)) 10.0.0.2 short50 >/tmp/f.out 2>&1
		[ $? != 124 ] || { echo "run $i hangs"; return 1; }
	done
	echo 0 >$F/probability
	server_down
	return 0
}
for p in 1 3; do
	check "$p % of the allocations fail" storm $p 3
done
echo "# fell back: $(inA smcstat fallback | tr -s ' \n' ' ')"
server_up B 10.0.0.2 6450 -k smc -m smcr
check "SMC-R works afterwards" inA smc_xfer -c -k smc -m smcr -p 6450 10.0.0.2 short50 bulk4
server_down
check "module unloads" smc_down
tap_end
