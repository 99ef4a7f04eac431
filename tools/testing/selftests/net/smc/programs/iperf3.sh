#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# iperf3: every direction, parallel streams, sendfile, block sizes, buffer
# sizes. Compared is what was to be moved, not how fast.
. "$(dirname "$0")/lib.sh"

# iperf BYTES ARG..: streams, and whether the sender moved that much
iperf()
{
	local bytes=$1

	shift
	A $RUN iperf3 -c 10.0.0.2 -p $PORT -n "$bytes" -J "$@" >"$OUT/iperf.json" || {
		cat "$OUT/iperf.json"
		return 1
	}
	/usr/bin/python3 -S -E - "$OUT/iperf.json" "$bytes" <<-'EOF'
	import json, sys
	with open(sys.argv[1]) as f:
	    r = json.load(f)
	end, want = r["end"], int(sys.argv[2])
	print("error" in r, len(end["streams"]))
	for s in end["streams"]:
	    print(sorted(s), [s[k]["bytes"] > 0 for k in sorted(s)])
	for k in sorted(k for k in end if k.startswith("sum_sent")):
	    print(k, end[k]["bytes"] >= want)
	# the test ends with what was sent; the rest may still be in buffers
	for k in sorted(k for k in end if k.startswith("sum_received")):
	    print(k, end[k]["bytes"] > 0)
	EOF
}

timed()
{
	A $RUN iperf3 -c 10.0.0.2 -p $PORT -t 1 "$@" >"$OUT/iperf.txt"
	echo $?
	grep -c 'sender\|receiver' "$OUT/iperf.txt"
}

interrupted()
{
	A $RUN iperf3 -c 10.0.0.2 -p $PORT -t 60 --forceflush >"$OUT/iperf.txt" &
	until_ok 120 grep -q ' connected to ' "$OUT/iperf.txt"
	nap 0.5
	kill -INT $!
	finish $! 60
	echo $?
}

run()
{
	serve B $PORT $RUN iperf3 -s -B 10.0.0.2 -p $PORT || return
	step "forward" iperf 8000000
	step "reverse" iperf 8000000 -R
	step "both directions" timed --bidir
	step "4 streams" iperf 8000000 -P 4
	step "4 streams, reverse" iperf 8000000 -P 4 -R
	step "sendfile" iperf 8000000 -Z
	step "sendfile, 2 streams, reverse" iperf 8000000 -Z -R -P 2
	step "blocks of 100 bytes" iperf 200000 -l 100
	step "blocks of 100 bytes, reverse" iperf 200000 -l 100 -R
	step "blocks of 1 MiB" iperf 16777216 -l 1M
	step "blocks of 1 MiB, reverse" iperf 16777216 -l 1M -R
	step "buffers of 100 kB" iperf 4000000 -w 100K
	step "no delay, segment size, type of service" iperf 4000000 -N -M 1000 -S 16
	step "limited rate" timed -b 8M
	step "results of the server" timed --get-server-output -R -P 2
	step "interrupted" interrupted
	step "and once more" iperf 1000000
	stopped "server ends"
}

PORT=7000
both run
tap_end
