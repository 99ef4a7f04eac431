#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# sockperf: messages with sequence numbers over one and several sockets.
. "$(dirname "$0")/lib.sh"

# sockperf has no count of messages, only a time; too short a time on a busy
# machine gives no observation, and status 0: then longer
again() # ARG..
{
	local secs rc

	for secs in 1 4 16; do
		A $RUN sockperf "$@" -t $secs >"$OUT/perf.txt" 2>&1
		rc=$?
		grep -q '# dropped\|Summary:' "$OUT/perf.txt" && break
		[ $rc != 0 ] || rc=99
	done
	sed 's/\x1b\[[0-9;]*m//g' "$OUT/perf.txt" | grep -o '# dropped messages = .*'
	[ $rc = 0 ] || tail -3 "$OUT/perf.txt" >&2
	return $rc
}

perf() # MODE ARG..
{
	local mode=$1

	shift
	again "$mode" --tcp -i 10.0.0.2 -p $PORT "$@"
}

one()
{
	serve B $PORT $RUN sockperf server --tcp -i 10.0.0.2 -p $PORT || return
	step "ping-pong" perf ping-pong
	step "ping-pong, 8000 bytes" perf ping-pong -m 8000
	step "under load" perf under-load --mps 500 -m 200
	step "throughput" perf throughput -m 1000
	step "does not block" perf ping-pong --nonblocked
	stopped "server ends"
}

# several sockets, and how they are waited for
several()
{
	local i how

	for ((i = 0; i < 4; i++)); do
		echo "T:10.0.0.2:$((PORT + i))"
	done >"$OUT/feed"
	serve B $PORT $RUN sockperf server -f "$OUT/feed" -F epoll || return
	for how in epoll poll select; do
		step "4 sockets, $how" perf_feed $how
	done
	stopped "server ends, 4 sockets"
}

perf_feed() { again ping-pong -f "$OUT/feed" -F "$1"; }

PORT=10000
both one
both several
tap_end
