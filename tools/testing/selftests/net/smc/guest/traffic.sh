#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Checked traffic between two hosts over each kind of socket, over SMC-R and
# over fallback, with TCP itself as the oracle.
. "$(dirname "$0")/lib.sh"

# run NAME SERVER_KIND CLIENT_KIND ADDR PORT MODE [CASE..]
run()
{
	local name=$1 sk=$2 ck=$3 addr=$4 port=$5 mode=$6 margs=() smargs=() rc

	shift 6
	[ "$mode" = - ] || [ "$ck" = tcp ] || margs=(-m "$mode")
	[ "$mode" = - ] || [ "$sk" = tcp ] || smargs=(-m "$mode")
	server_up B "$addr" "$port" -k "$sk" "${smargs[@]}" || { tap 1 "$name: server"; return; }
	inA timeout 400 smc_xfer -c -k "$ck" -p "$port" "${margs[@]}" "$addr" "$@" 2>&1 |
		grep -v '^TAP\|^1\.\.' >/tmp/run.out
	while read -r line; do
		case $line in
		"ok "*) tap 0 "$name: ${line#ok * }" ;;
		"not ok "*) tap 1 "$name: ${line#not ok * }" ;;
		*) echo "$line" ;;
		esac
	done </tmp/run.out
	server_down
	rc=$?
	[ $rc = 0 ] || tail -5 "/tmp/xfer-$port.log"
	tap $rc "$name: server saw no failure"
}

check "module and two hosts" smc_up || { tap_end; exit 1; }
run "oracle TCP" tcp tcp 10.0.0.2 6000 -
run "AF_SMC" smc smc 10.0.0.2 6001 smcr
run "IPPROTO_SMC" ipsmc ipsmc 10.0.0.2 6002 smcr
run "IPPROTO_SMC client, AF_SMC server" smc ipsmc 10.0.0.2 6003 smcr short50 bulk4
run "fallback, server without SMC" tcp smc 10.0.0.2 6004 tcp
run "fallback, client without SMC" smc tcp 10.0.0.2 6005 tcp
run "IPv6 addresses" smc smc fd00::2 6006 tcp short50 bulk4 halfclose-client
run "IPv6 addresses, IPPROTO_SMC" ipsmc ipsmc fd00::2 6007 tcp short50 bulk4
smcstat groups | sed 's/^/# /'
check "one group of each role" test "$(smcstat groups | grep -c '^group')" = 2
check "both know the host name of the peer" \
	test "$(smcstat groups | grep -c "^group.* peer $(uname -n)")" = 2
check "module unloads" smc_down
tap_end
