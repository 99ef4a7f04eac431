#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Nothing is lost at the end of a connection. EOF_FAST and EOF_SLOW: how many
# transfers of each kind.
. "$(dirname "$0")/lib.sh"

check "module and two hosts" smc_up || { tap_end; exit 1; }
timeout 1500 smc_eof -k smc -A A -B B -n "${EOF_FAST:-30}" -l "${EOF_SLOW:-8}" 2>&1 |
	grep -v '^TAP\|^1\.\.' >/tmp/eof.out
while read -r line; do
	case $line in
	"ok "*) tap 0 "${line#ok * }" ;;
	"not ok "*) tap 1 "${line#not ok * }" ;;
	*) echo "$line" ;;
	esac
done </tmp/eof.out
check "all 12 kinds ran" test "$(grep -c '^\(not \)\?ok' /tmp/eof.out)" = 12
check "no connection is left" wait_for 100 sh -c 'test -z "$(ip netns exec A smcstat -H -a conns; ip netns exec B smcstat -H -a conns)"'
check "module unloads" smc_down
tap_end
