#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Reasons of fallback: the connection works over TCP and both ends say why.
. "$(dirname "$0")/lib.sh"

# falls NAME CLIENT_REASON SERVER_REASON: short connections and bulk over TCP,
# with these reasons counted ("-": not looked at)
port=6300
falls()
{
	local name=$1 cr=$2 sr=$3 rc=0

	port=$((port + 1))
	server_up B 10.0.0.2 $port -k smc -m tcp || { tap 1 "$name: server"; return; }
	inA timeout 100 smc_xfer -c -k smc -m tcp -p $port 10.0.0.2 short50 bulk4 >/tmp/falls.out 2>&1
	rc=$?
	[ $rc = 0 ] || tail -6 /tmp/falls.out
	tap $rc "$name: over TCP"
	server_down
	tap $? "$name: server saw no failure"
	[ "$cr" = - ] || check "$name: client's reason" grep -q "^client .*$cr" <(inA smcstat fallback)
	[ "$sr" = - ] || check "$name: server's reason" grep -q "^server .*$sr" <(inB smcstat fallback)
}

check "module and two hosts" smc_up || { tap_end; exit 1; }
smcstat ueid flush
falls "no EID" 0x03030000 0x05000000
smcstat ueid add "$LAB_UEID"
inB rdma link delete rxeB
sleep 1
falls "no device at the server" 0x05000000 0x03030002
rxe_add v1 rxeB B
wait_for 10 gid_there
inA rdma link delete rxeA
sleep 1
falls "no device at the client" 0x03030000 0x05000000
rxe_add v0 rxeA A
wait_for 10 gid_there

# and SMC again afterwards
server_up B 10.0.0.2 6390 -k smc -m smcr
check "SMC-R once the devices are back" inA smc_xfer -c -k smc -m smcr -p 6390 10.0.0.2 short50
server_down
check "module unloads" smc_down
tap_end
