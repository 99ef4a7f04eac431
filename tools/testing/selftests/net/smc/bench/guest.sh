# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What make bench runs in a guest; see ../lab/bench. Each function prints what
# it measured for the host to read: lines of JSON, and counters as
# "before NAME VALUE", "after NAME VALUE".

. "$LAB_DIR/guest-lib.sh"
export LC_ALL=C
PATH=$TOP/build/tools:$PATH
B=/proc/smcbench
TRACE=/sys/kernel/tracing
PORTS="10000 65000"
ulimit -n 65536

# stack_up ours|ref default|tuned MTU MODULEDIR
stack_up()
{
	local h

	mod_load "$1" || return 1
	two_hosts || return 1
	for h in A B; do
		ip netns exec $h sysctl -qw net.ipv4.ip_local_port_range="$PORTS" \
			net.ipv4.tcp_tw_reuse=1 net.core.somaxconn=4096
		[ "$2" != tuned ] || ip netns exec $h sysctl -qw net.smc.smcr_max_send_wr=64 \
			net.smc.smcr_max_conns_per_lgr=32 net.smc.smcr_max_recv_wr=64
		ip -n $h link set "$([ $h = A ] && echo v0 || echo v1)" mtu "$3"
	done
	$PY "$LAB_DIR/ueid.py" add "$LAB_UEID" || return 1
	insmod "$4/smcbench.ko" && insmod "$4/smcraw.ko" || return 1
	first_contact
}

# From user space: the kernel's own SMC crashes when a connection that fell
# back is accepted inside the kernel.
first_contact()
{
	local x=$TOP/build/tests/smc_xfer i ok=1

	ip netns exec B "$x" -s -k smc -p 6999 10.0.0.2 >/tmp/warm.log 2>&1 &
	wait_for 20 grep -q listening /tmp/warm.log
	for i in 1 2 3 4 5 6 7 8; do
		ip netns exec A "$x" -c -k smc -m smcr -p 6999 10.0.0.2 short50 \
			>/dev/null 2>&1 && ok=0 && break
		sleep 1
	done
	kill $!
	wait
	return $ok
}

stack_down()
{
	echo stop >$B
	rmmod smcbench smcraw
	two_hosts_down
	mod_unload
}

# counters before|after
counters()
{
	local h dir

	awk -v t="$1" '$1 == "ctxt" || $1 == "intr" || $1 == "softirq" { print t, $1, $2 }
		$1 == "cpu" { print t, "idle", $5; print t, "busy", $2 + $3 + $4 + $7 + $8 }
	' /proc/stat
	for h in A B; do
		dir=/sys/class/infiniband/rxe$h/ports/1/hw_counters
		# the last file is there with ours only
		# shellcheck disable=SC2016
		ip netns exec $h awk -v t="$1" '
			FILENAME ~ /smc_stat/ { if ($1 ~ /^WR_/) print t, $1, $2; next }
			{ n = FILENAME; sub(/.*\//, "", n); print t, n, $1 }
		' $dir/sent_pkts $dir/rdma_sends $dir/rdma_recvs $dir/completer_retry_err \
			$dir/duplicate_request $dir/out_of_seq_request $dir/send_rnr_err \
			/proc/net/smc_stat 2>/dev/null
	done
	[ ! -r $TRACE/kprobe_profile ] || awk -v t="$1" '{ print t, $1, $2 }' $TRACE/kprobe_profile
}

server() # FAMILY PORT REQ RSP [stream]
{
	ip netns exec B sh -c "echo 'server family=$1 port=$2 req=$3 rsp=$4 $5' >$B"
}

client() # FAMILY PORT REQ RSP CONNS MSECS [stream|cps]
{
	local what="family=$1 port=$2 req=$3 rsp=$4 conns=$5 msecs=$6 $7"

	ip netns exec A sh -c "echo 'connect addr=10.0.0.2 $what' >$B"
}

# load FAMILY PORT REQ RSP CONNS MSECS [stream|cps]
load()
{
	local rc

	server "$1" "$2" "$3" "$4" "$([ "$7" != stream ] || echo stream)" || return 1
	client "$@" || return 1
	counters before
	if echo go >$B; then
		rc=0
	else
		rc=1
	fi
	counters after
	cat $B
	echo close >$B
	echo stop >$B
	return $rc
}

# the same with a connection beside them whose buffers are full, as its reader has
# stopped
beside_stalled() # FAMILY PORT REQ RSP CONNS MSECS stalled
{
	local pid rc

	"$TOP/build/tests/smc_load" -k "$1" -A A -B B -p $(($2 + 20000)) hold >/tmp/hold.log 2>&1 &
	pid=$!
	wait_for 30 grep -q full /tmp/hold.log && load "${@:1:6}" && kill -0 $pid
	rc=$?
	kill $pid
	wait $pid 2>/dev/null
	return $rc
}

# the same with the calls of the device counted, which costs time
load_counted()
{
	local e

	[ -e $TRACE/kprobe_events ] || mount -t tracefs t $TRACE || return 1
	for e in rxe_post_send rxe_post_recv rxe_cq_post ttwu_do_activate; do
		echo "p:bench/$e $e" >>$TRACE/kprobe_events
	done
	echo 1 >$TRACE/events/bench/enable
	load "$@"
	echo 0 >$TRACE/events/bench/enable
	: >$TRACE/kprobe_events
	: >$TRACE/trace
}

# raw REQ RSP WINDOW QPS MSECS [stream]
raw()
{
	echo "a=rxeA b=rxeB req=$1 rsp=$2 window=$3 qps=$4 msecs=$5 $6" >/proc/smcraw &&
		cat /proc/smcraw
}

# free memory in KiB once what is being freed is free; memory of threads, 16 KiB of
# stack and 7 of structures each, counts as free
mem_free()
{
	local new old=0 i

	for i in 1 2 3 4 5 6 7 8 9 10; do
		echo 3 >/proc/sys/vm/drop_caches
		sleep 1
		new=$(awk '$1 == "MemFree:" { free = $2 } $1 == "KernelStack:" { stacks = $2 }
			END { print int(free + stacks * (16 + 7) / 16) }' /proc/meminfo)
		[ $((new - old)) -gt 256 ] || break
		old=$new
	done
	echo "$new"
}

# idle FAMILY PORT CONNS: memory of idle connections, before and after they
# have carried data, both ends together
idle()
{
	local m0 m1 m2

	# whoever comes first fills the caches
	load tcp $(($2 + 10000)) 200 1000 "$3" 200 >/dev/null || return 1
	server "$1" "$2" 200 1000 || return 1
	m0=$(mem_free)
	client "$1" "$2" 200 1000 "$3" 1000 || return 1
	m1=$(mem_free)
	echo go >$B || return 1
	sleep 3
	m2=$(mem_free)
	cat $B
	echo "{\"fresh_kib\": $((m0 - m1)), \"used_kib\": $((m0 - m2))}"
	echo close >$B
	echo stop >$B
}

# alive FAMILY PORT CONNS MSECS: connects while so many others are alive
alive()
{
	server "$1" "$2" 1 1 && client "$1" "$2" 1 1 "$3" 0 && echo go >$B || return 1
	cat $B
	echo hold >$B && client "$1" "$2" 1 1 1 "$4" cps && echo go >$B || return 1
	cat $B
	echo close >$B
	echo release >$B
	echo stop >$B
}

buf() # MODULEDIR
{
	insmod "$1/smcbuf.ko" && cat /proc/smcbuf
	rmmod smcbuf
}

# under FAMILY: the way to run a program over it
under()
{
	[ "$1" != smc ] || echo smc_run
}

background() # PID...: kill them and wait for their end
{
	kill "$@" 2>/dev/null
	wait "$@" 2>/dev/null
}

# listening PORT: until a server in host B does, whatever it is under
listening()
{
	wait_for 30 sh -c "ip netns exec B ss -Hltn 'sport = :$1' | grep -q ."
}

# redis FAMILY PORT CLIENTS REQUESTS [PIPELINE]
redis()
{
	local pid rc

	# shellcheck disable=SC2046
	ip netns exec B $(under "$1") redis-server --bind 10.0.0.2 --port "$2" --save '' \
		--appendonly no --protected-mode no --maxclients 4096 --dir /tmp \
		>/tmp/redis.log 2>&1 &
	pid=$!
	listening "$2" || return 1
	counters before
	# shellcheck disable=SC2046
	ip netns exec A $(under "$1") timeout 100 redis-benchmark -h 10.0.0.2 -p "$2" -t set,get \
		-c "$3" -n "$4" -P "${5:-1}" --csv 2>&1
	rc=$?
	counters after
	background $pid
	return $rc
}

# wrk_short FAMILY PORT CLIENTS SECS: a connection for each request
wrk_short()
{
	local pid rc

	mkdir -p /tmp/ngx
	cat >/tmp/ngx/conf <<-END
		daemon off;
		worker_processes 1;
		pid /tmp/ngx/pid;
		error_log /tmp/ngx/log;
		events { worker_connections 4096; }
		http {
			access_log off;
			server {
				listen 10.0.0.2:$2 backlog=4096;
				location / { return 200 "short\n"; }
			}
		}
	END
	# shellcheck disable=SC2046
	ip netns exec B $(under "$1") nginx -c /tmp/ngx/conf -e /tmp/ngx/log &
	pid=$!
	listening "$2" || return 1
	counters before
	# shellcheck disable=SC2046
	ip netns exec A $(under "$1") timeout 100 wrk -t 1 -c "$3" -d "$4" --latency \
		-H 'Connection: close' "http://10.0.0.2:$2/" 2>&1
	rc=$?
	counters after
	background $pid
	return $rc
}

# iperf FAMILY PORT STREAMS SECS
iperf()
{
	local pid rc

	# shellcheck disable=SC2046
	ip netns exec B $(under "$1") iperf3 -s -1 -p "$2" -B 10.0.0.2 >/tmp/iperf.log 2>&1 &
	pid=$!
	listening "$2" || return 1
	counters before
	# shellcheck disable=SC2046
	ip netns exec A $(under "$1") timeout 100 iperf3 -c 10.0.0.2 -p "$2" -P "$3" -t "$4" -J
	rc=$?
	counters after
	background $pid
	return $rc
}

# sock_latency FAMILY PORT SECS
sock_latency()
{
	local pid rc

	# shellcheck disable=SC2046
	ip netns exec B $(under "$1") sockperf server --tcp -i 10.0.0.2 -p "$2" \
		>/tmp/sockperf.log 2>&1 &
	pid=$!
	listening "$2" || return 1
	counters before
	# shellcheck disable=SC2046
	ip netns exec A $(under "$1") timeout 100 sockperf ping-pong --tcp -i 10.0.0.2 -p "$2" \
		-t "$3" -m 64 2>&1
	rc=$?
	counters after
	background $pid
	return $rc
}

gid_index() # DEVICE ADDRESS: of the RoCE v2 GID
{
	local i

	for i in 0 1 2 3 4 5 6 7; do
		grep -q "$2" "/sys/class/infiniband/$1/ports/1/gids/$i" 2>/dev/null && echo $i && return
	done
}
export -f gid_index

# perftest PROGRAM SIZE PORT ITERATIONS
perftest()
{
	local run="$1 -s $2 -p $3 -n $4 -F" pid rc

	ip netns exec B bash -c "$run -d rxeB -x \$(gid_index rxeB 0a00:0002)" \
		>/tmp/perftest.log 2>&1 &
	pid=$!
	listening "$3" || return 1
	ip netns exec A timeout 100 bash -c \
		"$run -d rxeA -x \$(gid_index rxeA 0a00:0001) 10.0.0.2" 2>&1
	rc=$?
	background $pid
	return $rc
}
