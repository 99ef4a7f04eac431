#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# memcached with threads: pipelines, a large item, many clients at once; bash
# and netcat are the clients.
. "$(dirname "$0")/lib.sh"

client() { A $RUN nc -N 10.0.0.2 $PORT; }

pipeline()
{
	local i

	for ((i = 0; i < 2000; i++)); do
		printf 'set k%d 0 0 20 noreply\r\nvalue-%014d\r\n' $i $i
	done >"$OUT/sets"
	for ((i = 0; i < 2000; i += 50)); do
		printf 'get k%s\r\n' "$(seq -s ' k' $i $((i + 49)))"
	done >"$OUT/gets"
	printf 'quit\r\n' >>"$OUT/gets"
	cat "$OUT/sets" "$OUT/gets" | client | sum
}

large()
{
	{
		printf 'set large 0 0 900000\r\n'
		head -c 900000 "$DATA/big"
		printf '\r\nget large\r\nquit\r\n'
	} | client | sum
	printf 'set huge 0 0 9000000\r\nquit\r\n' | client
}

many()
{
	local i pids=()

	for ((i = 0; i < 20; i++)); do
		printf 'set c%d 0 0 3\r\nabc\r\nincr n 1\r\nappend c%d 0 0 2\r\n%02d\r\nget c%d\r\nquit\r\n' \
			$i $i $i $i | client >"$OUT/many-$i" &
		pids+=($!)
	done
	wait "${pids[@]}"
	cat "$OUT"/many-* | sum
}

# a socket of bash itself, kept over many requests
kept()
{
	A $RUN bash -c '
		exec 3<>/dev/tcp/10.0.0.2/'$PORT'
		for ((i = 0; i < 300; i++)); do
			printf "set x 0 0 4\r\n%04d\r\nget x\r\n" $i >&3
			for ((j = 0; j < 4; j++)); do read -r line <&3; echo "$line"; done
		done
		printf "quit\r\n" >&3
		cat <&3' | sum
}

items() { printf 'stats\r\nquit\r\n' | client | grep -a 'curr_items\|curr_conn\|total_items'; }

run()
{
	serve B $PORT $RUN memcached -u nobody -l 10.0.0.2 -p $PORT -U 0 -t 3 -m 64 || return
	step "commands in a pipeline" pipeline
	step "large items" large
	step "20 clients at once" many
	step "one connection of bash, 600 requests" kept
	step "statistics" items
	stopped "server ends"
}

PORT=6800
both run
tap_end
