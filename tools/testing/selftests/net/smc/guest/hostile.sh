#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A CLC peer that sends what no kernel would (clc_peer.py), towards our server
# and our client, while honest hosts go on working.
# HOSTILE: words, only cases that contain one of them.
. "$(dirname "$0")/lib.sh"
LOG=/tmp/hostile.log
QUICK=4		# seconds granted for what should happen at once
[ "$LAB_KERNEL" = fast ] || QUICK=8

gid_h()
{
	inA sh -c 'cat /sys/class/infiniband/rxeH/ports/1/gids/*' 2>/dev/null |
		grep -q ffff:0a09:0001
}

# namespace H: the far end of a cable; it plays 10.9.0.0/16 but for our address
hostile_up()
{
	ip netns add H || return 1
	ip netns exec H sysctl -qw net.ipv6.conf.default.disable_ipv6=1
	ip link add h0 netns A type veth peer name h1 netns H || return 1
	inA ethtool -K h0 tso off gso off >/dev/null
	ip -n H link set h1 arp off up
	ip -n A addr add 10.9.0.1/16 dev h0
	ip -n A link set h0 up
	rxe_add h0 rxeH A && wait_for 10 gid_h
}

hostile_down()
{
	inA rdma link delete rxeH
	ip netns del H
}

# nothing but listeners
idle()
{
	local ns

	for ns in A B; do
		ip netns exec $ns smcstat -H -a conns | grep -v LISTEN | grep . && return 1
	done
	! inA smcstat -H groups | grep rxeH
}

results()
{
	local line

	while read -r line; do
		case $line in
		"ok "*) tap 0 "${line#ok }" ;;
		"not ok "*) tap 1 "${line#not ok }" ;;
		*) echo "# ${line#\# }" ;;
		esac
	done <$LOG
}

check "module and two hosts" smc_up || { tap_end; exit 1; }
check "a network of hostile hosts" hostile_up || { tap_end; exit 1; }
# shellcheck disable=SC2086
PYTHONDONTWRITEBYTECODE=1 $PY -S "$(dirname "$0")/clc_peer.py" -s $QUICK $HOSTILE >$LOG 2>&1
rc=$?
results
check "the peer ran to its end" test $rc -le 1 -a -z "$(grep Traceback $LOG)"
check "no socket and no link group is left" wait_for 15 idle
idle | sed 's/^/# /'
server_up B 10.0.0.2 6501 -k smc -m smcr
check "SMC-R works afterwards" inA smc_xfer -c -k smc -m smcr -p 6501 10.0.0.2 bulk4 halfclose-client
server_down
hostile_down
check "module unloads" smc_down
tap_end
