# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Shell of the tests that run in a guest: TAP, hosts, programs.
. "$LAB_DIR/guest-lib.sh"

PATH=$TOP/build/tests:$TOP/build/tools:$PATH
TAP_NO=0

# tap RC NAME: one result
tap()
{
	TAP_NO=$((TAP_NO + 1))
	if [ "$1" = 0 ]; then
		echo "ok $TAP_NO $2"
	else
		echo "not ok $TAP_NO $2"
	fi
}

tap_end() { echo "1..$TAP_NO"; }

# check NAME CMD...: ok if CMD succeeds; its output is shown when it does not
check()
{
	local name=$1 out rc

	shift
	out=$("$@" 2>&1)
	rc=$?
	[ $rc = 0 ] || echo "$out" | tail -15 | sed 's/^/# /'
	tap $rc "$name"
	return $rc
}

# check_fails NAME CMD...: ok if CMD fails (but does not crash)
check_fails()
{
	local name=$1 out rc

	shift
	out=$("$@" 2>&1)
	rc=$?
	[ $rc != 0 ] && [ $rc -lt 126 ] || echo "$out" | tail -5 | sed 's/^/# /'
	[ $rc != 0 ] && [ $rc -lt 126 ]
	tap $? "$name"
}

# smc_up: our module, two hosts, a common EID
smc_up()
{
	mod_load ours || return 1
	two_hosts || return 1
	smcstat ueid add "$LAB_UEID" || return 1
	wait_for 10 gid_there
}

smc_down()
{
	two_hosts_down
	mod_unload
}

# RoCE v2 GIDs follow the addresses with some delay. Each namespace has a
# sysfs of its own.
gid_there()
{
	inA sh -c 'cat /sys/class/infiniband/rxeA/ports/1/gids/[0-9]' 2>/dev/null |
		grep -q ffff:0a00:0001 &&
	inB sh -c 'cat /sys/class/infiniband/rxeB/ports/1/gids/[0-9]' 2>/dev/null |
		grep -q ffff:0a00:0002
}

# counter NS NAME
counter()
{
	ip netns exec "$1" awk -v n="$2" '$1 == n { print $2 }' /proc/net/smc_stat
}

# server_up NS ADDR PORT ARGS...: smc_xfer server; SERVER_PID
server_up()
{
	local ns=$1 addr=$2 port=$3 log=/tmp/xfer-$3.log

	shift 3
	ip netns exec "$ns" smc_xfer -s -p "$port" "$@" "$addr" >"$log" 2>&1 &
	SERVER_PID=$!
	wait_for 20 grep -q listening "$log"
}

server_down()
{
	kill "$SERVER_PID" 2>/dev/null
	wait "$SERVER_PID"
}
