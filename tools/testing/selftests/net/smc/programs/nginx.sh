#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# nginx and curl: keep-alive, sendfile, ranges, uploads, TLS, HTTP/2, kernel TLS
# that is not there, ends that come early.
. "$(dirname "$0")/lib.sh"

config()
{
	nginx_http 2 <<-EOF
		keepalive_requests 1000;
		ssl_certificate $DATA/tls/cert.pem;
		ssl_certificate_key $DATA/tls/key.pem;
		server {
			listen 10.0.0.2:$PORT reuseport so_keepalive=on backlog=64;
			sendfile on;
			tcp_nopush on;
			location /slow/ { alias $DATA/www/; limit_rate 400k; }
			location /up/ { root $OUT; dav_methods PUT DELETE; create_full_put_path on; }
			location /silent { return 444; }
		}
		server {
			listen 10.0.0.2:$((PORT + 1)) deferred rcvbuf=64k sndbuf=64k;
			sendfile off;
			tcp_nodelay on;
		}
		server {
			listen 10.0.0.2:$((PORT + 2)) ssl http2;
			sendfile on;
			location /up/ { root $OUT; dav_methods PUT; create_full_put_path on; }
		}
		server {
			listen 10.0.0.2:$((PORT + 3)) ssl;
			sendfile on;
			ssl_conf_command Options KTLS;
		}
	EOF
}

# url PATH [OFFSET-OF-PORT [s]]
curl_() { A $RUN curl -sS --max-time 60 --cacert "$DATA/tls/cert.pem" "$@"; }
url() { echo "http${3:-}://10.0.0.2:$((PORT + ${2:-0}))$1"; }

get() { curl_ "$@" | sum; echo "${PIPESTATUS[0]}"; }

keep_alive()
{
	local i urls=()

	for ((i = 0; i < 60; i++)); do
		urls+=("$(url /tree/file$((i % 30)))" -o "$OUT/kept-$i")
	done
	curl_ -w '%{http_code} %{num_connects} %{size_download}\n' "${urls[@]}"
	cat "$OUT"/kept-* | sum
}

parallel()
{
	local i urls=()

	for ((i = 0; i < 30; i++)); do
		urls+=("$(url /tree/file$i)" -o "$OUT/par-$i")
	done
	curl_ -Z --parallel-max 10 "${urls[@]}"
	echo $?
	cat "$OUT"/par-* | sum
}

upload() # OFFSET-OF-PORT [s]
{
	curl_ -T "$DATA/big" -w '%{http_code} %{size_upload}\n' "$(url /up/big "$1" "$2")"
	sums "$OUT/up/big"
	# chunked, and again over it
	curl_ -T - -w '%{http_code}\n' "$(url /up/big "$1" "$2")" <"$DATA/mid"
	sums "$OUT/up/big"
	curl_ -X POST --data-binary "@$DATA/mid" -w '%{http_code}\n' -o /dev/null "$(url /up/no "$1" "$2")"
}

ranges()
{
	curl_ -r 1000-200999 "$(url /big)" | sum
	curl_ -r -5 "$(url /big)" | sum
	curl_ -r 0-9,100-199,2000000-2000100 "$(url /big)" |
		grep -aci 'content-range'
	curl_ -r 99999999- -o /dev/null -w '%{http_code}\n' "$(url /big)"
	head -c 1000000 "$DATA/big" >"$OUT/part"
	curl_ -C - -o "$OUT/part" "$(url /big)"
	sums "$OUT/part"
}

head_and_errors()
{
	curl_ -I "$(url /big)" | grep -v Date:
	curl_ -o /dev/null -w '%{http_code}\n' "$(url /nothing)"
	curl_ -H 'Connection: close' -o /dev/null -w '%{http_code}\n' "$(url /mid)"
	printf 'GET / HTTP/1.0\r\n\r\n\r\nnonsense' | A $RUN nc 10.0.0.2 $PORT | head -1
}

early_end()
{
	curl_ "$(url /big)" 2>/dev/null | head -c 5000 | sum
	echo "${PIPESTATUS[0]}"
}

# the server still answers after clients that went away
all_well() { until_ok 120 sh -c "ls $OUT/nginx.pid" && get "$(url /mid)"; }

run()
{
	config >"$OUT/nginx.conf"
	serve B $PORT $RUN nginx -e "$OUT/nginx.err" -c "$OUT/nginx.conf" || return
	step "small file" get "$(url /small)"
	step "sendfile" get "$(url /big)"
	step "no sendfile, deferred accept" get "$(url /big 1)"
	step "60 requests on one connection" keep_alive
	step "10 connections at once" parallel
	step "limited rate" get "$(url /slow/mid)"
	step "ranges" ranges
	step "uploads" upload 0
	step "head, errors, half a request" head_and_errors
	step -s 52 "server closes without an answer" curl_ "$(url /silent)"
	step "client goes away in the middle" early_end
	step -s 28 "client runs out of time" curl_ --max-time 1 -o /dev/null "$(url /slow/big)"
	step -k -s 7 "no server there" curl_ "$(url / 9)"
	step "TLS, HTTP/2, sendfile" get "$(url /big 2 s)"
	step "TLS, HTTP/1.1" get --http1.1 "$(url /mid 2 s)"
	step "uploads, TLS" upload 2 s
	step "kernel TLS asked for" get "$(url /big 3 s)"
	step -s 60 "unknown certificate" curl_ --cacert /etc/ssl/certs/ca-certificates.crt "$(url / 2 s)"
	step "TLS client at a server without" no_tls
	step "still there" all_well
	stopped "nginx ends" QUIT
}

no_tls() { curl_ "$(url / 0 s)" 2>/dev/null; echo $?; }

PORT=8000
both run
tap_end
