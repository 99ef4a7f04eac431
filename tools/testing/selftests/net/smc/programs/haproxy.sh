#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# haproxy in the middle, data spliced from socket to socket: client in A,
# haproxy in B, nginx in A.
. "$(dirname "$0")/lib.sh"

nginx_config()
{
	nginx_http <<-EOF
		server {
			listen 10.0.0.1:$((PORT + 10));
			sendfile on;
			location /up/ { root $OUT; dav_methods PUT; create_full_put_path on; }
		}
	EOF
}

haproxy_config()
{
	cat <<-EOF
	global
		stats socket $OUT/haproxy.sock
		nbthread 2
		maxconn 200
		maxpipes 50
	defaults
		timeout connect 10s
		timeout client 60s
		timeout server 60s
		option splice-request
		option splice-response
	listen stream
		mode tcp
		bind 10.0.0.2:$PORT
		server one 10.0.0.1:$((PORT + 10)) check inter 500ms
	listen web
		mode http
		bind 10.0.0.2:$((PORT + 1))
		http-reuse always
		server one 10.0.0.1:$((PORT + 10))
	listen nowhere
		mode http
		bind 10.0.0.2:$((PORT + 2))
		server one 10.0.0.1:$((PORT + 11))
	EOF
}

curl_() { A $RUN curl -sS --max-time 60 "$@"; }
get() { curl_ "$@" | sum; echo "${PIPESTATUS[0]}"; }
url() { echo "http://10.0.0.2:$((PORT + $2))$1"; }

put()
{
	curl_ -H Expect: -T "$DATA/big" -w '%{http_code}\n' "$(url /up/big "$1")"
	sums "$OUT/up/big"
}

many()
{
	local i urls=()

	for ((i = 0; i < 30; i++)); do
		urls+=("$(url /tree/file$i 1)" -o "$OUT/many-$i")
	done
	curl_ -Z --parallel-max 8 "${urls[@]}"
	echo $?
	cat "$OUT"/many-* | sum
}

early_end()
{
	curl_ "$(url /big 0)" 2>/dev/null | head -c 5000 | sum
	echo "${PIPESTATUS[0]}"
}

show() { echo "show $1" | socat - "UNIX-CONNECT:$OUT/haproxy.sock"; }

# that splice was used: haproxy leaves it when the kernel cannot
spliced() { show info | sed -n 's/^TotalSplic.*: *//p' | awk '{ print ($1 > 2000000) }'; }

up() { show "servers state" | awk '$4 == "one" && $2 == "stream" { print $6 }' | grep -q 2; }

run()
{
	nginx_config >"$OUT/nginx.conf"
	serve A $((PORT + 10)) $RUN nginx -e "$OUT/nginx.err" -c "$OUT/nginx.conf" || return
	haproxy_config >"$OUT/haproxy.conf"
	serve B $PORT $RUN haproxy -db -f "$OUT/haproxy.conf" || return
	step -k "checks of the server" until_ok 120 up
	step "stream, down" get "$(url /big 0)"
	step "stream, up" put 0
	step "HTTP, down" get "$(url /big 1)"
	step "HTTP, up" put 1
	step -k "splice was used" spliced
	step "30 files, 8 connections" many
	step "client goes away in the middle" early_end
	step "no server behind it" curl_ -o /dev/null -w '%{http_code}\n' "$(url / 2)"
	step "still there" get "$(url /mid 1)"
	stopped "haproxy ends" USR1
}

PORT=8400
both run
tap_end
