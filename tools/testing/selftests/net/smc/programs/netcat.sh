#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# netcat and socat in pipes, of which some close early; socat also with SMC
# sockets of its own.
. "$(dirname "$0")/lib.sh"

# listen_nc ARG..: a server in B whose output and status are in $OUT/srv
listen_nc()
{
	rm -f "$OUT"/srv*
	( eval "$1" >"$OUT/srv"; echo "status ${PIPESTATUS[*]}" >>"$OUT/srv" ) &
	until_ok 120 in_B_listens
}
in_B_listens() { B grep -q " [0-9A-F]*:$(printf %04X $PORT) [0-9A-F:]* 0A " /proc/self/net/tcp; }
srv() { finish $! 60; cat "$OUT/srv"; }

up()
{
	listen_nc 'B $RUN nc -l -d 10.0.0.2 $PORT | sum'
	A $RUN nc -N 10.0.0.2 $PORT <"$DATA/big"
	echo $?
	srv
}

down()
{
	listen_nc 'B $RUN nc -l -N 10.0.0.2 $PORT <"$DATA/big"'
	A $RUN nc -d 10.0.0.2 $PORT | sum
	srv
}

both_ways()
{
	listen_nc 'B $RUN nc -l -N 10.0.0.2 $PORT <"$DATA/mid" | sum'
	A $RUN nc -N 10.0.0.2 $PORT <"$DATA/big" | sum
	srv
}

reader_ends()
{
	listen_nc 'B $RUN nc -l -N 10.0.0.2 $PORT <"$DATA/big"'
	A $RUN nc -d 10.0.0.2 $PORT | head -c 3000 | sum
	echo "${PIPESTATUS[0]}"
	srv
}

server_ends()
{
	listen_nc 'B $RUN nc -l -d 10.0.0.2 $PORT | head -c 3000 | sum'
	yes 0123456789 | A $RUN nc -N 10.0.0.2 $PORT
	echo "${PIPESTATUS[*]}"
	srv
}

nothing()
{
	listen_nc 'B $RUN nc -l -N 10.0.0.2 $PORT </dev/null | sum'
	A $RUN nc -N 10.0.0.2 $PORT </dev/null | sum
	srv
}

scan()
{
	listen_nc 'B $RUN nc -l 10.0.0.2 $PORT </dev/null | sum'
	A $RUN nc -z 10.0.0.2 $PORT
	echo $?
	srv
}

refused() { A $RUN nc -z 10.0.0.2 $((PORT + 1)); }

datagrams()
{
	rm -f "$OUT/dgram"
	B $RUN nc -u -l -W 1 10.0.0.2 $PORT >"$OUT/dgram" &
	until_ok 120 grep -q ":$(printf %04X $PORT) " "/proc/$!/net/udp"
	echo datagram | A $RUN nc -u -q 0 10.0.0.2 $PORT
	echo $?
	finish $! 60
	cat "$OUT/dgram"
}

run()
{
	step "up" up
	step "down" down
	step "both ways" both_ways
	step "client's reader closes early" reader_ends
	step "server's reader closes early" server_ends
	step -e "no data" nothing
	step -e "look whether a port is open" scan
	step -k -s 1 "closed port" refused
	step -k "datagrams" datagrams
	RUN=	# from here on programs choose SMC themselves
	step "socat, protocol by option" socat_option
	step "socat, generic socket" socat_generic
	step "socat, child for each connection" socat_fork
}

socat_option()
{
	listen_nc "B socat -u TCP4-LISTEN:$PORT,bind=10.0.0.2,so-prototype=$PROTO,reuseaddr - | sum"
	A socat -u "FILE:$DATA/big" "TCP4-CONNECT:10.0.0.2:$PORT,so-prototype=$PROTO"
	echo $?
	srv
}

# address: port and 10.0.0.2, as in struct sockaddr_in
socat_generic()
{
	local addr

	addr=x$(printf %04x $PORT)0a0000020000000000000000
	listen_nc "B socat -t 20 SOCKET-LISTEN:2:$PROTO:$addr,reuseaddr SYSTEM:'sha256sum'"
	A socat -t 20 - "SOCKET-CONNECT:2:$PROTO:$addr" <"$DATA/mid"
	echo $?
	srv
}

socat_fork()
{
	local i pid pids=()

	B socat -t 20 "TCP4-LISTEN:$PORT,bind=10.0.0.2,so-prototype=$PROTO,reuseaddr,fork" \
		SYSTEM:'sha256sum' &
	pid=$!
	until_ok 120 in_B_listens
	for ((i = 0; i < 8; i++)); do
		A socat -t 20 - "TCP4:10.0.0.2:$PORT,so-prototype=$PROTO" \
			<"$DATA/tree/file$i" >"$OUT/fork-$i" &
		pids+=($!)
	done
	wait "${pids[@]}"
	kill $pid
	finish $pid 60
	echo $?
	cat "$OUT"/fork-*
}

PORT=7800
both run
tap_end
