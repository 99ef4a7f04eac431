#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The stack under load: signals while blocked, scarce slots shared, a stopped
# reader beside others, TEST LINK behind a full queue, loss of what carries
# blocked calls, the ends of the range of queue depths. LOAD_SECS: length of the
# run that keeps the queues full.
. "$(dirname "$0")/lib.sh"
PORT=5200

# load NAME KIND ARGS... TEST: one run of smc_load; its figures are kept
load()
{
	local name=$1 kind=$2

	shift 2
	echo "# $name, after $SECONDS s" >>"$LAB_OUT/load.txt"
	check "$name" run_load "$kind" "$@"
}

run_load()
{
	local rc

	PORT=$((PORT + 1))
	timeout 200 smc_load -k "$1" -A A -B B -p "$PORT" "${@:2}" >/tmp/load.out 2>&1
	rc=$?
	cat /tmp/load.out
	grep '^#' /tmp/load.out >>"$LAB_OUT/load.txt"
	return $rc
}

# limits SEND RECV [SEND RECV]: queue depths of A, or of both, and of B
limits()
{
	inA sysctl -qw net.smc.smcr_max_send_wr="$1" net.smc.smcr_max_recv_wr="$2" &&
	inB sysctl -qw net.smc.smcr_max_send_wr="${3:-$1}" net.smc.smcr_max_recv_wr="${4:-$2}"
}

# both COUNTER: its sum over the two hosts
both() { echo $(($(counter A "$1") + $(counter B "$1"))); }

# how many links and groups have ended badly, and of what makes them end
lost()
{
	local c n=0

	c='LINK_DOWN|LGR_TERMINATED|WR_ERRORS|WR_SLOT_TIMEOUTS|LLC_TIMEOUT'
	c="^($c|LLC_RX_BAD|CDC_RX_BAD|CDC_RX_CURSOR)\$"
	for h in A B; do
		n=$((n + $(ip netns exec $h awk -v c="$c" '$1 ~ c { n += $2 }
			END { print n + 0 }' /proc/net/smc_stat)))
	done
	echo $n
}

# groups and links of both hosts, without what changes in good health
links()
{
	for h in A B; do
		ip netns exec $h smcstat groups | sed 's/ conns.*//'
	done
}

# the RDMA devices again, after one was taken away
devices()
{
	inA rdma dev show rxeA >/dev/null 2>&1 || rxe_add v0 rxeA A || return 1
	inB rdma dev show rxeB >/dev/null 2>&1 || rxe_add v1 rxeB B || return 1
	wait_for 10 gid_there
}

# smallest queues, and silence is noticed soon
quick()
{
	limits 2 2 && inA sysctl -qw net.smc.smcr_testlink_time=1 &&
		inB sysctl -qw net.smc.smcr_testlink_time=1
}

# For so long, by the kernel's clock, RDMA packets get lost on their way to NS;
# at the input, because a drop at the output is an error for the sender.
cut() # NS MSECS
{
	ip netns exec "$1" nft add element ip load cut "{ 4791 timeout ${2}ms }"
}

lossy() # NS
{
	ip netns exec "$1" nft -f - <<-END
		table ip load {
			set cut { type inet_service; flags timeout; }
			chain in { type filter hook input priority 0; udp dport @cut drop; }
		}
	END
}

# The queues are full both ways for LOAD_SECS seconds. Something is received all
# the time, so nobody sends a TEST LINK. Therefore the network is cut twice for
# longer than the test-link time, but not so long that the queue pairs give up:
# the requests in the queue stay there, and TEST LINK and its answer go behind
# them, by the slot kept for LLC.
full_queues()
{
	local secs=${LOAD_SECS:-12} before rc

	lossy A && lossy B || return 1
	before=$(both LLC_RX)
	(
		for _ in 1 2; do
			sleep $((secs / 3))
			cut A 1600
			cut B 1600
		done
	) &
	run_load smc -n 4 -t "$secs" both
	rc=$?
	wait $!
	echo "# LLC messages received: $(($(both LLC_RX) - before))" |
		tee -a "$LAB_OUT/load.txt"
	return $rc
}

check "module and two hosts" smc_up || { tap_end; exit 1; }
check "two slots for data" quick
load "signals to blocked senders, oracle TCP" tcp -b 2048 signal
load "signals to blocked senders" smc -b 2048 signal
first=$(links)
queued=$(both WR_FIFO_QUEUED)
load "16 senders share two slots" smc -b 384 share
check "they had to wait for slots" test "$(both WR_FIFO_QUEUED)" -gt "$queued"
load "a stopped reader does not slow others" smc -t 1 stalled
llc=$(both LLC_RX)
check "queues full both ways, network away for a while" full_queues
check "TEST LINK was sent and answered" test "$(both LLC_RX)" -gt "$llc"
check "the link never failed" test "$(lost)" = 0
check "it is the same link" test "$(links)" = "$first"

load "blocked calls end when the peer's RDMA device goes" smc \
	-x 'ip netns exec B rdma link delete rxeB' teardown

# depths SEND RECV SEND RECV: traffic both ways over a new link with them
depths()
{
	local before

	limits "$@" && devices && before=$(lost) && run_load smc -b 256 both &&
		test "$(lost)" = "$before"
}

# In two runs each host has each pair of extremes, and each depth of a sender
# meets each depth of a receiver. Both 2 was all that went before.
check "traffic with depths 2 2 and 2048 2048" depths 2 2 2048 2048
load "blocked calls end when the own RDMA device goes" smc \
	-x 'ip netns exec A rdma link delete rxeA' teardown
check "traffic with depths 2 2048 and 2048 2" depths 2 2048 2048 2
# not a word from B any more, by RDMA or TCP, then no process, no namespace
load "blocked calls end when the peer's namespace goes silently" smc -K -x '
	ip netns exec B nft "add table ip t
		add chain ip t in { type filter hook input priority 0; policy drop; }
		add chain ip t out { type filter hook output priority 0; policy drop; }" &&
	kill -9 $PEER && ip netns del B' teardown
check "module unloads" smc_down
tap_end
