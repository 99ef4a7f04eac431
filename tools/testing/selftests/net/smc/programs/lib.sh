# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Programs from Debian, each run twice: over TCP, and over SMC by smc_run. What
# they print and how they end must be the same.
#
#   serve B 6400 redis-server ...     a server, in both runs
#   step "pipeline" redis_pipe        one comparison: output and exit status
#   both FUNCTION                     FUNCTION (serve, step, ..) over each
#
# In FUNCTION: $RUN is empty or smc_run, $WAY tcp or smc, $PROTO 6 or 256. A
# step prints on its standard output only what must be equal.
. "$(dirname "${BASH_SOURCE[0]}")/../guest/lib.sh"

DATA=$TOP/build/programs
W=/tmp/programs/$(basename "$0" .sh)
PORT=0		# first port of a script; the run over SMC uses the next hundred
LIMIT=${LIMIT:-600}	# seconds for a step; a busy machine is slow
export LC_ALL=C HOME=/tmp
rm -rf "$W"
mkdir -p "$W"
mkfifo "$W/never"
exec 8<>"$W/never"

# In host A, in host B; cheaper than 'ip netns exec', which mounts a sysfs. The
# aliases are for 'A CMD &': $! has to be CMD, no shell in between.
A() { nsenter --net=/run/netns/A "$@"; }
B() { nsenter --net=/run/netns/B "$@"; }
shopt -s expand_aliases
alias A='nsenter --net=/run/netns/A' B='nsenter --net=/run/netns/B'

nap() { read -r -t "${1:-0.05}" <&8; }

# until SECONDS CMD...: wait without a new process for each look
until_ok()
{
	local end=$((SECONDS + $1 + 1))

	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		nap
	done
	return 0
}

# counts: what both hosts have done so far over SMC
counts()
{
	local host name val

	CONNS=0 FALLS=0 BYTES=0
	for host in A B; do
		while read -r name val; do
			case $name in
			CLNT_V2_SUCC)	CONNS=$((CONNS + val)) ;;
			CLNT_FALLBACK | SRV_FALLBACK | CLNT_HS_ERR | SRV_HS_ERR)
					FALLS=$((FALLS + val)) ;;
			TX_BYTES)	BYTES=$((BYTES + val)) ;;
			esac
		done < <($host smcstat counters)
	done
}

# finish PID SECONDS: its exit status; 124 when it had to be killed
finish()
{
	local end=$((SECONDS + $2 + 1))

	while kill -0 "$1" 2>/dev/null; do
		if [ $SECONDS -ge $end ]; then
			kill -9 -- "-$1" 2>/dev/null || kill -9 "$1" 2>/dev/null
			wait "$1" 2>/dev/null
			return 124
		fi
		nap
	done
	wait "$1"
}

# step [-s STATUS] [-k] NAME CMD...: one comparison. -s: the status that CMD
# ends with; -k: no new connection (it uses one that is there, or none); -o:
# one that is there; -e: a connection without data
step()
{
	local want=0 fresh=1 data=1 f conns falls bytes opt OPTIND=1

	while getopts s:koe opt; do
		case $opt in
		s)	want=$OPTARG ;;
		k)	fresh=0 data=0 ;;
		o)	fresh=0 ;;
		e)	data=0 ;;
		*)	return 1 ;;
		esac
	done
	shift $((OPTIND - 1))
	STEP=$((STEP + 1))
	f=$OUT/$STEP
	echo "$1" >"$f.name"
	kmsg "$WAY: $1"
	shift
	conns=$CONNS falls=$FALLS bytes=$BYTES
	set -m
	( "$@" ) >"$f.out" 2>"$f.err" </dev/null &
	set +m
	finish $! "$LIMIT"
	echo "$? $want" >"$f.rc"
	counts
	echo "$fresh $data $((CONNS - conns)) $((FALLS - falls)) $((BYTES - bytes))" >"$f.smc"
	[ $FALLS = $falls ] || { reasons A; reasons B; } >"$f.why"
}

# reasons HOST: why connections did not become SMC's, all until now
reasons()
{
	$1 smcstat fallback
	$1 smcstat counters | grep "FALLBACK\|HS_\|CLC"
}

listens()
{
	grep -qs " [0-9A-F]*:$(printf %04X "$2") [0-9A-F:]* 0A " "/proc/$1/net/tcp" "/proc/$1/net/tcp6"
}

up_or_dead() { listens "$@" || ! kill -0 "$1"; }

# serve HOST PORT CMD...: a server; the run ends when it does not listen. Its
# output is in $LOG, its process SERVER
serve()
{
	local host=$1 port=$2

	shift 2
	LOG=$OUT/server-$port.log
	nsenter "--net=/run/netns/$host" "$@" >"$LOG" 2>&1 </dev/null &
	SERVER=$!
	SERVERS+=("$SERVER")
	if ! until_ok 300 up_or_dead $SERVER "$port" || ! listens $SERVER "$port"; then
		echo "# no server on port $port ($WAY): $*"
		tail -5 "$LOG" | sed 's/^/# /'
		return 1
	fi
}

# stopped NAME [SIGNAL]: the last server ends by itself, as it does over TCP.
# Not INT for one without a handler: bash ignores that for what is started by &
stopped()
{
	local rc

	STEP=$((STEP + 1))
	echo "$1" >"$OUT/$STEP.name"
	kill "-${2:-TERM}" "$SERVER"
	finish "$SERVER" 60 2>/dev/null
	rc=$?
	echo $rc >"$OUT/$STEP.out"
	tail -5 "$LOG" >"$OUT/$STEP.err"
	echo "$((rc == 124 ? rc : 0)) 0" >"$OUT/$STEP.rc"
	echo "0 0 0 0 0" >"$OUT/$STEP.smc"
	counts
}

# both FUNCTION
both()
{
	local pid

	for WAY in tcp smc; do
		RUN='' PROTO=6
		[ $WAY = tcp ] || RUN=smc_run PROTO=256
		PORT=$((PORT + 100))
		OUT=$W/$1-$WAY
		STEP=0 SERVERS=()
		mkdir -p "$OUT"
		counts
		"$1"
		for pid in "${SERVERS[@]}"; do
			kill "$pid" 2>/dev/null
		done
		for pid in "${SERVERS[@]}"; do
			finish "$pid" 10 2>/dev/null
		done
	done
	compare "$W/$1-tcp" "$W/$1-smc"
}

# what differs between step $3 of the two runs
differences()
{
	local t=$1/$3 s=$2/$3 trc src want fresh data conns falls bytes

	read -r trc want <"$t.rc"
	[ "$trc" = "$want" ] || {
		echo "over TCP: status $trc instead of $want"; cat "$t.out" "$t.err" | tail -8; }
	[ -e "$s.rc" ] || { echo "over SMC: not run"; return; }
	read -r src want <"$s.rc"
	[ "$src" = "$trc" ] || {
		echo "over SMC: status $src, over TCP $trc"; tail -5 "$s.err"; }
	cmp -s "$t.out" "$s.out" || {
		echo "output differs, - TCP, + SMC:"
		diff -u "$t.out" "$s.out" | tail -n +3 | cut -c1-160 | head -12
		tail -3 "$s.err"; }
	read -r _ _ conns falls bytes <"$t.smc"
	[ "$conns$bytes" = 00 ] || echo "the run over TCP used SMC: $conns connections, $bytes bytes"
	read -r fresh data conns falls bytes <"$s.smc"
	[ "$falls" = 0 ] || {
		echo "$falls connections fell back or failed in the handshake; all until then:"
		cat "$s.why"; }
	[ $(((fresh && !conns) || (data && !bytes))) = 0 ] ||
		echo "$conns connections and $bytes bytes over SMC-R"
}

compare()
{
	local i text

	for ((i = 1; ; i++)); do
		[ -e "$1/$i.name" ] || break
		text=$(differences "$1" "$2" $i 2>&1)
		[ -z "$text" ] || sed 's/^/# /' <<<"$text"
		[ -z "$text" ]
		tap $? "$(cat "$1/$i.name")"
	done
	[ $i -gt 1 ] || tap 1 "$1: some step"
}

# sums FILE..: checksums without names
sums() { sha256sum "$@" | cut -d' ' -f1; }
sum() { sha256sum | cut -d' ' -f1; }

# nginx_http [WORKERS]: nginx.conf around what http{} holds, which comes on stdin
nginx_http()
{
	cat <<-EOF
	user root;
	daemon off;
	worker_processes ${1:-1};
	pid $OUT/nginx.pid;
	error_log $OUT/nginx.err;
	events { worker_connections 200; }
	http {
		access_log off;
		client_max_body_size 100m;
		client_body_temp_path $OUT/body;
		proxy_temp_path $OUT/proxy;
		fastcgi_temp_path $OUT/fastcgi;
		uwsgi_temp_path $OUT/uwsgi;
		scgi_temp_path $OUT/scgi;
		root $DATA/www;
	EOF
	cat
	echo "}"
}
