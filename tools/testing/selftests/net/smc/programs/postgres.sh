#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# PostgreSQL: COPY both ways, large fields, cancelling, a connection ended by
# the server, pgbench with its three protocols.
. "$(dirname "$0")/lib.sh"

BIN=$(echo /usr/lib/postgresql/*/bin)
BIN=${BIN##* }

psql_() { A $RUN "$BIN/psql" -h 10.0.0.2 -p $PORT -U postgres -qAtX -d postgres "$@"; }

copy()
{
	psql_ -c "copy (select i, md5(i::text) from generate_series(1, 10000) i) to stdout" >"$OUT/rows"
	sum <"$OUT/rows"
	psql_ -c "create table t (i int, m text)" -c "\\copy t from '$OUT/rows'" \
		-c "select count(*), sum(i) from t"
	psql_ -c "copy t to stdout" | sum
}

large()
{
	psql_ -c "select repeat('0123456789', 300000)" | sum
	{ echo "select length('"; head -c 1500000 /dev/zero | tr '\0' x; echo "');"; } | psql_
}

sleeps() { psql_ -c "select query from pg_stat_activity where wait_event = 'PgSleep'" | grep -q sleep; }

cancelled()
{
	A $RUN "$BIN/psql" -h 10.0.0.2 -p $PORT -U postgres -qAtX -c 'select pg_sleep(60)' 2>&1 &
	until_ok 120 sleeps
	kill -INT $!
	finish $! 60
	echo $?
}

ended()
{
	psql_ -c 'select pg_terminate_backend(pg_backend_pid())' 2>/dev/null
	echo $?
	psql_ -c 'select 1'
}

bench() # ARG..
{
	A $RUN "$BIN/pgbench" -h 10.0.0.2 -p $PORT -U postgres -n -c 4 -j 2 -t 25 \
		--random-seed=7 "$@" postgres 2>/dev/null | grep 'actually\|failed'
	psql_ -c 'select count(*), sum(delta) from pgbench_history'
}

listens_to_news()
{
	psql_ -c "select state from pg_stat_activity where query like 'listen%'" | grep -q idle
}

notified()
{
	(echo 'listen news;'; until_ok 120 test -e "$OUT/told"; echo 'select 1;') | psql_ | sed 's/ PID .*//' &
	until_ok 120 listens_to_news
	psql_ -c "notify news, 'hello'"
	touch "$OUT/told"
	wait $!
}

run()
{
	# the cluster that the host made is read-only here
	mkdir -p "$W/$WAY"
	mount -t overlay overlay -o "lowerdir=$DATA/pg,upperdir=$RAM/$WAY/u,workdir=$RAM/$WAY/w" \
		"$W/$WAY" || return
	serve B $PORT setpriv --reuid=postgres --regid=postgres --clear-groups \
		$RUN "$BIN/postgres" -D "$W/$WAY" -p $PORT \
		-c listen_addresses=10.0.0.2 -c unix_socket_directories= -c fsync=off || return
	step "first connection" until_ok 120 psql_ -c 'select 1'
	step "copy in and out" copy
	step "large rows and statements" large
	step "pgbench, simple protocol" bench
	step "pgbench, extended protocol" bench -M extended
	step "pgbench, prepared, a connection for each" bench -M prepared -C
	step "notifications" notified
	step "statement cancelled" cancelled
	step "connection ended by the server" ended
	step -k -s 2 "no server there" "$BIN/psql" -h 10.0.0.2 -p $((PORT + 9)) -U postgres
	stopped "server ends" INT
	umount -l "$W/$WAY"
}

RAM=/run/pg
mkdir -p $RAM/{tcp,smc}/{u,w}
chown postgres:postgres $RAM/*/u
chmod 700 $RAM/*/u
PORT=9000
both run
tap_end
