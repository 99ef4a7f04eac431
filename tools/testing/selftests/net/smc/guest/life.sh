#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Module and namespaces come and go under traffic. ROUNDS rounds of: load,
# connections with traffic, then the module's users, a namespace or a device
# are removed under them; no step may take longer than LIMIT seconds.
. "$(dirname "$0")/lib.sh"
LIMIT=${LIMIT:-20}

# timed NAME CMD...: within the limit
timed()
{
	local name=$1 t0 t

	shift
	t0=$(date +%s%N)
	"$@" >/tmp/timed.out 2>&1
	local rc=$?
	t=$((($(date +%s%N) - t0) / 1000000))
	[ $rc = 0 ] || tail -5 /tmp/timed.out | sed 's/^/# /'
	[ $rc = 0 ] && [ $t -le $((LIMIT * 1000)) ]
	tap $? "$name"
	echo "# $t ms"
}

# CLIENTS programs with 4 connections each, over and over
traffic()
{
	server_up B 10.0.0.2 6100 -k smc || return 1
	clients=
	for ((i = 0; i < ${CLIENTS:-3}; i++)); do
		# with its network gone it ends: no fork bomb that is measured instead
		inA sh -c 'while smc_xfer -c -k smc -p 6100 10.0.0.2 bulk4; do :; done' \
			>/dev/null 2>&1 &
		clients="$clients $!"
	done
	sleep 2
	wait_for 40 many_conns
}

many_conns()
{
	test "$(inA smcstat -H conns | grep -c SMC-R)" -ge $((${CLIENTS:-3} * 2))
}

end_programs()
{
	kill -9 $clients $SERVER_PID 2>/dev/null
	for h in A B; do
		[ -e /run/netns/$h ] && kill -9 $(ip netns pids $h) 2>/dev/null
	done
	wait $clients $SERVER_PID 2>/dev/null
	return 0
}

# A handshake that waits for its peer must not hold up a device: the Accept never
# comes, and the device is gone while the connect still waits for it.
stalled() # CMD...
{
	local pid rc=1

	smc_up && server_up B 10.0.0.2 6200 -k smc || return 1
	inB nft -f - <<-EOF
		add table ip t
		add chain ip t out { type filter hook output priority 0; }
		add rule ip t out tcp sport 6200 ip length > 80 drop
	EOF
	inA smc_xfer -c -k smc -p 6200 10.0.0.2 halfclose-client >/dev/null 2>&1 &
	pid=$!
	wait_for 20 accept_sent && "$@" && kill -0 $pid && rc=0
	kill -9 $pid
	wait $pid
	server_down
	smc_down
	return $rc
}

accept_sent()
{
	[ "$(counter B BUF_NEW_RMB)" = 1 ]
}

check "RDMA device removed while a handshake waits" stalled inA rdma link delete rxeA
check "net device removed while a handshake waits" stalled ip -n A link del v0

for ((r = 1; r <= ${ROUNDS:-3}; r++)); do
	check "round $r: module and two hosts" smc_up || break
	check "round $r: traffic" traffic
	case $((r % 3)) in
	1)	timed "round $r: RDMA device removed under traffic" inA rdma link delete rxeA ;;
	2)	timed "round $r: net device removed under traffic" ip -n A link del v0 ;;
	0)	timed "round $r: programs killed" end_programs ;;
	esac
	end_programs
	timed "round $r: namespaces removed" two_hosts_down
	timed "round $r: module unloaded" mod_unload
done
tap_end
