#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# smc_run itself: a program must not notice it, but for its sockets.
. "$(dirname "$0")/lib.sh"

export DATA OTHER_OUT=$W/other
RUNNER=$(command -v smc_run)

# same NAME CMD...: output and status as without smc_run
same()
{
	local name=$1 a b

	shift
	a=$("$@" 2>&1; echo "status $?")
	b=$(smc_run "$@" 2>&1; echo "status $?")
	[ "$a" = "$b" ] || diff -u <(echo "$a") <(echo "$b") | tail -n +3 | head -8 | sed 's/^/# /'
	[ "$a" = "$b" ]
	tap $? "$name"
}

# says NAME STATUS TEXT CMD...: ends with that status, prints that text
says()
{
	local name=$1 status=$2 text=$3 out rc

	shift 3
	out=$("$@" 2>&1)
	rc=$?
	if [ $rc = "$status" ] && grep -q -- "$text" <<<"$out"; then
		tap 0 "$name"
	else
		echo "# status $rc: $out" | head -8 | sed '2,$s/^/# /'
		tap 1 "$name"
	fi
}

# as_smc NAME LINES CMD...: as without smc_run, but in these lines the protocol
# is SMC
as_smc()
{
	local name=$1 lines=$2

	shift 2
	check "$name" diff <("$@" 2>&1 | sed "${lines}s/protocol 6\$/protocol 256/") <(smc_run "$@" 2>&1)
}

# shellcheck disable=SC2016
command_line()
{
	same "arguments" printf '[%s]' '' 'a b' $'new\nline' '*' -d -r 1x -- '$HOME' '"'
	same "option-like first argument" sh -c 'printf "%s," "$@"' sh -h -v -t 5
	same "many arguments" sh -c 'echo $# $*' sh $(seq 6000)
	check "program after --" test "$(smc_run -- echo -v)" = -v
	same "environment" sh -c 'env | grep -v "^LD_PRELOAD=\|^_="'
	check "empty environment" test "$(env -i "$RUNNER" /usr/bin/env | sed 's/=.*//')" = LD_PRELOAD
	check "no PATH" test "$(env -i "$RUNNER" echo found)" = found
	same "directory and file mode mask" sh -c 'cd /usr; umask 27; exec sh -c "pwd; umask"'
	same "open files" sh -c 'ls -l /proc/self/fd | sed "s/.* \([0-9]* ->\)/\1/; s/\[.*//; s,/proc/[0-9]*,,"'
	check "a file that is open" sh -c 'smc_run sh -c "echo x >&9" 9>$0 && grep -q x $0' "$W/nine"
	check "process id" sh -c 'smc_run sh -c "echo \$\$" >$0 & wait $!; test "$(cat $0)" = $!' "$W/pid"
	check "standard input" test "$(echo text | smc_run cat)" = text
}

endings()
{
	local i

	for i in 0 1 42 255; do
		same "exit status $i" sh -c "exit $i"
	done
	for i in HUP INT QUIT KILL SEGV PIPE ALRM TERM USR1; do
		same "ended by SIG$i" sh -c 'ulimit -c 0; kill -'$i' $$; sleep 1'
	done
	smc_run sleep 100 &
	kill -USR2 $!
	wait $! 2>/dev/null
	check "signal from outside" test $? = 140
	trap '' INT PIPE
	same "ignored signals stay ignored" grep SigIgn /proc/self/status
	trap - INT PIPE
	check "signal handler of the program" test "$(smc_run sh -c 'trap "echo got; exit 5" TERM
		kill $$; sleep 1'; echo $?)" = $'got\n5'
	says "no such program" 127 "No such file" smc_run /no/such/program
	says "no such program in PATH" 127 "no-such: No such file" smc_run no-such
	says "no program" 126 "Permission denied" smc_run "$DATA/big"
	says "a directory" 126 "Permission denied" smc_run /usr
	printf 'echo script "$1"\n' >"$W/script"
	chmod +x "$W/script"
	same "script without a first line" "$W/script" arg
}

options()
{
	says "usage" 0 "Usage: smc_run" smc_run -h
	says "version" 0 "smc_run [0-9]" smc_run -v
	says "no command" 1 "Usage" smc_run
	says "unknown option" 1 "Usage" smc_run -x true
	says "option without its argument" 1 "Usage" smc_run -r
	for i in 0 -1 5x k 99999999999 1kk; do
		says "size $i" 1 "no buffer size" smc_run -t "$i" true
	done
	says "debug" 0 "socket 3 is SMC" smc_run -d "$DATA/sockets" flags
	says "buffer sizes" 0 "^stream 409600 614400$" smc_run -t 200k -r 300k "$DATA/sockets" buffers
	check "buffer sizes of datagram sockets" diff \
		<(smc_run -t 200k -r 300k "$DATA/sockets" buffers | grep datagram) \
		<("$DATA/sockets" buffers | grep datagram)
	SMC_SNDBUF=1x says "wrong size in the environment" 0 "stream" smc_run "$DATA/sockets" buffers
}

sockets()
{
	local i

	as_smc "only TCP streams become SMC" 1,4 "$DATA/sockets" kinds
	as_smc "flags of socket()" 1,4 "$DATA/sockets" flags
	same "errors" "$DATA/sockets" errors
	same "no free descriptor" "$DATA/sockets" full
	says "children" 0 "without SMC: 0" smc_run "$DATA/sockets" fork
	for i in 2 8 40; do
		says "first sockets of $i threads" 0 " 0 tcp $i smc" smc_run "$DATA/sockets" threads $i
	done
	check "and without smc_run they are TCP" grep -q " 8 tcp 0 smc" <("$DATA/sockets" threads 8)
}

preloads()
{
	rm -f "$OTHER_OUT"
	LD_PRELOAD=$DATA/other.so says "with another preload library" 0 " 0 tcp 8 smc" \
		smc_run "$DATA/sockets" threads 8
	check "which still works" grep -q "^8 sockets" "$OTHER_OUT"
	check "the other one comes first" test \
		"$(LD_PRELOAD=/a.so:/b.so smc_run sh -c 'echo $LD_PRELOAD' 2>/dev/null)" = \
		"/a.so:/b.so:$(dirname "$RUNNER")/libsmc-preload.so"
	says "smc_run within smc_run" 0 " 0 tcp 4 smc" smc_run smc_run "$DATA/sockets" threads 4
}

# over_tcp NAME CMD...: CMD, a client, gets the file of the server in B and no
# connection is made over SMC
over_tcp()
{
	local name=$1 conns got

	shift
	PORT=$((PORT + 1))
	B smc_run nc -l -N 10.0.0.2 $PORT <"$DATA/mid" &
	until_ok 120 listens $! $PORT
	counts
	conns=$CONNS
	got=$("$@" 10.0.0.2 $PORT 2>"$W/err" <&8 | sum)
	wait $!
	counts
	check "$name" test "$got $((CONNS - conns))" = "$(sums "$DATA/mid") ${SMC:-0}"
}

not_preloaded()
{
	local nobody=(setpriv --reuid=nobody --regid=nogroup --clear-groups)

	says "static program" 0 "busybox is static, it runs over TCP" smc_run busybox true
	over_tcp "its connection" A smc_run busybox nc
	check "nothing said of a dynamic one" test -z "$(smc_run true 2>&1)"
	printf '#! /bin/busybox sh\necho hi\n' >"$W/sh"
	chmod 755 "$W/sh"
	says "script of a static interpreter" 0 "busybox is static" smc_run "$W/sh"
	install -m 4755 "$(readlink -f "$(command -v nc)")" "$W/nc"
	says "setuid program" 0 "nc is setuid.*, it runs over TCP" "${nobody[@]}" smc_run "$W/nc" -h
	over_tcp "its connection, not as root" A "${nobody[@]}" smc_run "$W/nc" -d
	check "a message for it" grep -q setuid "$W/err"
	SMC=1 over_tcp "for root it is like another" A smc_run "$W/nc" -d
	check "no message then" test ! -s "$W/err"
	SMC=1 over_tcp "an ordinary user" A "${nobody[@]}" smc_run nc -d
}

PORT=9800
command_line
endings
options
sockets
preloads
not_preloaded
tap_end
