#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# redis: pipelines, big values, pub/sub, blocking commands, replication by RDB
# file and without a file, threads for input and output.
. "$(dirname "$0")/lib.sh"

redis() # HOST PORT ARG..
{
	local host=$1 port=$2 ip=10.0.0.2

	shift 2
	[ "$host" = B ] || ip=10.0.0.1
	mkdir -p "$OUT/redis-$port"
	serve "$host" "$port" $RUN redis-server --bind $ip --port "$port" --save '' \
		--appendonly no --protected-mode no --enable-debug-command yes \
		--dir "$OUT/redis-$port" "$@"
}

# a client of the server in B, from A; of the one in A, from B
cli() { A $RUN redis-cli -h 10.0.0.2 -p $PORT "$@"; }
cli2() { B $RUN redis-cli -h 10.0.0.1 -p $((PORT + 1)) "$@"; }

pipeline()
{
	local i

	for ((i = 0; i < 3000; i++)); do
		echo "SET key:$i value-$i-0123456789012345678901234567890123456789"
		echo "RPUSH list:$((i % 7)) $i"
	done >"$OUT/commands"
	cli --pipe <"$OUT/commands" | tail -1
	cli debug digest
	cli lrange list:3 0 -1 | sum
}

big_value()
{
	cli -x set big <"$DATA/big" && cli get big | head -c "$(stat -c %s "$DATA/big")" | sum
	cli strlen big
}

bench()
{
	A $RUN redis-benchmark -h 10.0.0.2 -p $PORT -q -n 1000 -c 10 "$@" | tr '\r' '\n' |
		sed -n 's/: .* requests per second.*//p'
}

pubsub()
{
	local i pid

	A $RUN redis-cli -h 10.0.0.2 -p $PORT psubscribe 'news.*' >"$OUT/heard" &
	pid=$!
	until_ok 120 grep -q psubscribe "$OUT/heard"
	for ((i = 0; i < 300; i++)); do
		echo "PUBLISH news.$((i % 3)) item-$i"
	done | cli | sort | uniq -c
	until_ok 120 grep -q item-299 "$OUT/heard"
	kill $pid
	wait $pid
	echo $?
	sum <"$OUT/heard"
}

waits_in_blpop() { cli client list | grep -q cmd=blpop; }

blocking()
{
	local pid

	cli blpop queue 30 >"$OUT/popped" &
	pid=$!
	until_ok 120 waits_in_blpop
	cli rpush queue job
	wait $pid
	echo $?
	cat "$OUT/popped"
	cli blpop empty 0.2
}

linked() { cli2 info replication | grep -q master_link_status:up; }

same_data()
{
	local i

	cli set mark "$1" >/dev/null
	for ((i = 0; i < 200; i++)); do
		[ "$(cli2 get mark)" = "$1" ] && break
		nap 0.1
	done
	[ "$(cli debug digest)" = "$(cli2 debug digest)" ] && echo "same data" && cli2 dbsize
}

replicate() # yes|no
{
	cli2 replicaof no one
	cli2 flushall
	cli config set repl-diskless-sync "$1"
	cli config set repl-diskless-sync-delay 0
	cli2 replicaof 10.0.0.2 $PORT
	until_ok 120 linked || { echo "no link"; cli2 info replication >&2; }
	same_data "diskless-$1"
	bench -t set,lpush -P 10
	same_data "later-$1"
}

run()
{
	redis B $PORT || return
	step "commands in a pipeline" pipeline
	step "a big value" big_value
	step "benchmark, one command at a time" bench -t set,get,incr
	step "benchmark, pipelines of 32" bench -t set,get,lpush,lrange_100 -P 32
	step "publish and subscribe" pubsub
	step "blocking commands" blocking
	redis A $((PORT + 1)) || return
	step "replication by an RDB file" replicate no
	step "replication without a file" replicate yes
	step -k "no server there" no_server
	stopped "replica ends"
}

no_server() { A $RUN redis-cli -h 10.0.0.2 -p $((PORT + 9)) ping 2>&1 | sed "s/:$((PORT + 9))//"; }

threads()
{
	redis B $PORT --io-threads 3 --io-threads-do-reads yes || return
	# clients that are not needed any more are closed in their handshake: few
	step "input and output by threads" bench -t set,get,lpush -P 16 -c 12 -d 2000
	step "commands in a pipeline, threads" pipeline
	stopped "server ends"
}

PORT=6400
both run
both threads
tap_end
