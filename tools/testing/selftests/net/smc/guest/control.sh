#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# UEIDs, PNET table, sysctls, counters and sock_diag.
. "$(dirname "$0")/lib.sh"

# refused TEXT CMD...: fails with that text on stderr
refused()
{
	local text=$1 out

	shift
	out=$("$@" 2>&1) && { echo "not refused"; return 1; }
	echo "$out"
	grep -q "$text" <<<"$out"
}

check "module and two hosts" smc_up || { tap_end; exit 1; }

# user EIDs
check "UEID is listed" grep -q "^$LAB_UEID *$" <(smcstat ueid)
check "same UEID twice" refused "exists" smcstat ueid add "$LAB_UEID"
check "lower case UEID" refused "Invalid" smcstat ueid add lower
check "UEID that starts with a dot" refused "Invalid" smcstat ueid add .A
check "UEID with a blank inside" refused "Invalid" smcstat ueid add "A B"
for i in 2 3 4; do
	check "UEID $i" smcstat ueid add "EID-$i"
done
check "fifth UEID" refused "" smcstat ueid add EID-5
check "unknown UEID is not removed" refused "No such" smcstat ueid del EID-9
check "UEID is removed" smcstat ueid del EID-3
check "three are left" test "$(smcstat ueid | wc -l)" = 3
check "flush" smcstat ueid flush
check "none is left" test -z "$(smcstat ueid)"
check "flush of nothing" smcstat ueid flush
check "a UEID for the rest" smcstat ueid add "$LAB_UEID"

# PNET table
check "PNET row of an interface" inA smcstat pnet add NETA eth v0
check "PNET row is listed" grep -q "^NETA *v0 *n/a *255" <(inA smcstat pnet)
check "PNET rows stay in their namespace" test -z "$(inB smcstat pnet)"
check "same interface twice" refused "exists" inA smcstat pnet add NETB eth v0
check "bad PNET id" refused "letters and digits" inA smcstat pnet add "A-B" eth v1
check "unknown PNET id is not removed" refused "No such" inA smcstat pnet del NOPE
check "PNET row is removed" inA smcstat pnet del NETA
check "PNET table is empty" test -z "$(inA smcstat pnet)"
check "RDMA row for a device to come" smcstat pnet add IBNET ib mlx5_9 2
check "RDMA row is listed" grep -q "^IBNET *n/a *mlx5_9 *2" <(smcstat pnet)
check "second port of a device" smcstat pnet add IBNET ib mlx5_9 1
check "PNET flush" smcstat pnet flush
check "nothing is left" test -z "$(smcstat pnet)"

# sysctls: bounds, and a namespace of its own
bounds() # NAME GOOD.. / BAD..
{
	local name=$1 v bad=

	shift
	for v in "$@"; do
		[ "$v" = / ] && { bad=1; continue; }
		if [ -z "$bad" ]; then
			inA sysctl -qw "net.smc.$name=$v" || { echo "$v refused"; return 1; }
			[ "$(inA sysctl -n "net.smc.$name")" = "$v" ] || { echo "$v not kept"; return 1; }
		else
			inA sysctl -qw "net.smc.$name=$v" 2>/dev/null && { echo "$v accepted"; return 1; }
		fi
	done
	return 0
}
check "autocorking_size" bounds autocorking_size 0 4294967295 65536 / -1
check "smcr_buf_type" bounds smcr_buf_type 2 1 0 / 3 -1
check "smcr_testlink_time" bounds smcr_testlink_time 0 2147483 30 / -1
check "wmem" bounds wmem 16384 1073741823 65536 / 16383 0 -1
check "rmem" bounds rmem 16384 1073741823 65536 / 16383 0 -1
check "smcr_max_links_per_lgr" bounds smcr_max_links_per_lgr 1 2 / 0 3
check "smcr_max_conns_per_lgr" bounds smcr_max_conns_per_lgr 16 255 / 15 256
check "smcr_max_send_wr" bounds smcr_max_send_wr 2 2048 64 / 1 2049
check "smcr_max_recv_wr" bounds smcr_max_recv_wr 2 2048 128 / 1 2049
check "limit_smc_hs" bounds limit_smc_hs 1 0 / 2 -1
inA sysctl -qw net.smc.wmem=131072
check "other namespaces keep theirs" test "$(inB sysctl -n net.smc.wmem)" = 65536
inA sysctl -qw net.smc.wmem=65536

# counted NAME BEFORE: 50 more than that; else what happened
counted()
{
	local n=$(($(counter A "$1") - $2))

	[ $n = 50 ] && return
	echo "$1 $n"
	inA smcstat counters | grep "FALLBACK\|HS_\|CLC_\|CLNT"
	inA smcstat fallback
	inB smcstat fallback
	return 1
}

# counters and sock_diag against a known load
before=$(counter A CLNT_V2_SUCC)
server_up B 10.0.0.2 6200 -k smc
check "a listener is shown" grep -q "LISTEN .*10.0.0.2:6200" <(inB smcstat -a conns)
inA smc_xfer -c -k smc -p 6200 10.0.0.2 short50 >/dev/null
check "50 connections are counted once" counted CLNT_V2_SUCC "$before"
server_down
server_up B 10.0.0.2 6201 -k tcp
before=$(counter A CLNT_FALLBACK)
inA smc_xfer -c -k smc -p 6201 10.0.0.2 short50 >/dev/null
check "50 fallbacks are counted once" counted CLNT_FALLBACK "$before"
check "their reason is counted" grep -q "^client *50 0x03010000" <(inA smcstat fallback)
server_down
check "system information" grep -q "version 2.1" <(smcstat info)
check "devices" grep -q "^rxeA *port 1 ACTIVE" <(inA smcstat devs)
check "devices of others are hidden" test -z "$(inA smcstat devs | grep rxeB)"
check "protocols" test "$(grep -c '^SMC\|^INET_SMC\|^INET6_SMC\|^SMC6' /proc/net/protocols)" = 4
check "module unloads" smc_down
tap_end
