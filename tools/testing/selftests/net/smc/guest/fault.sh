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
server_up B 10.0.0.2 6400 -k smc
echo N >$F/ignore-gfp-wait
echo Y >$F/task-filter 2>/dev/null
echo 1 >$F/verbose 2>/dev/null

# the Nth allocation of the client's task fails; its worker is another task, so
# the second pass fails one allocation in 40 of all tasks for a while
passed=0
for ((n = 1; n <= 40; n++)); do
	bash -c 'echo '$n' >/proc/self/fail-nth
		exec ip netns exec A smc_xfer -c -k smc -p 6400 10.0.0.2 short50' >/tmp/f.out 2>&1 &&
		passed=$((passed + 1))
done
echo "# $passed of 40 runs passed"
echo N >$F/task-filter 2>/dev/null
tap 0 "failures in the client's own calls"

echo 40 >$F/interval
echo 100 >$F/probability
echo -1 >$F/times
for ((n = 0; n < 8; n++)); do
	inA timeout 60 smc_xfer -c -k smc -p 6400 10.0.0.2 short50 >/tmp/f.out 2>&1
done
echo 0 >$F/probability
tap 0 "failures everywhere"
server_down
server_up B 10.0.0.2 6401 -k smc -m smcr
check "SMC-R works afterwards" inA smc_xfer -c -k smc -m smcr -p 6401 10.0.0.2 short50 bulk4
server_down
check "module unloads" smc_down
tap_end
