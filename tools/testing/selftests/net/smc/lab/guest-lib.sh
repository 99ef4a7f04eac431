# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# In-guest helpers; a test sources it:  . "$LAB_DIR/guest-lib.sh"
# Environment of the agent: LAB_DIR TOP LAB_NAME LAB_KERNEL LAB_MODS LAB_OUT

PY=/usr/bin/python3
LAB_UEID=${LAB_UEID:-SMCLAB.UEID}
# where 'make modules' put ours; LAB_OURS overrides
LAB_OURS=${LAB_OURS:-$TOP/build/modules/${LAB_KERNEL%%-*}}

# mod NAME...: load modules of the lab kernel that are not loaded yet
mod()
{
	local m

	for m in "$@"; do
		[ -d "/sys/module/${m//-/_}" ] || insmod "$LAB_MODS/$m.ko" || return 1
	done
}

mod_rxe()
{
	mod udp_tunnel ip6_udp_tunnel || return 1
	[ -d /sys/module/rdma_rxe ] && return 0
	case ${1:-plain} in
	v1)	insmod "$LAB_MODS/rdma_rxe_v1.ko" ;;
	*)	insmod "$LAB_MODS/rdma_rxe.ko" ;;
	esac
}

# mod_load ours|ref [v1] [lo] [PARAM=VALUE...]: everything below SMC, then
# smc.ko and smc_diag.ko of the tree or of the kernel.  v1: rxe with RoCE v1
# GIDs; lo: dibs with its loopback device (connections within the kernel
# become SMC-D); nodiag: without smc_diag.
mod_load()
{
	local which=$1 rxe=plain dibs=dibs diag=1 args=() dir

	shift
	while [ $# -gt 0 ]; do
		case $1 in
		v1)	rxe=v1 ;;
		lo)	dibs=dibs_lo ;;
		nodiag)	diag= ;;
		*)	args+=("$1") ;;
		esac
		shift
	done
	mod_rxe $rxe || return 1
	[ -d /sys/module/dibs ] || insmod "$LAB_MODS/$dibs.ko" || return 1
	case $which in
	ours)	dir=$LAB_OURS ;;
	ref)	dir=$LAB_MODS ;;
	*)	echo "mod_load: ours or ref, not '$which'" >&2; return 2 ;;
	esac
	[ -d /sys/module/smc ] || insmod "$dir/smc.ko" "${args[@]}" || return 1
	[ -z "$diag" ] || [ ! -e "$dir/smc_diag.ko" ] || [ -d /sys/module/smc_diag ] ||
		insmod "$dir/smc_diag.ko"
}

# mod_unload: SMC only, or with 'all' what is below too
mod_unload()
{
	[ ! -d /sys/module/smc_diag ] || rmmod smc_diag || return 1
	[ ! -d /sys/module/smc ] || rmmod smc || return 1
	[ "$1" = all ] || return 0
	[ ! -d /sys/module/dibs ] || rmmod dibs || return 1
	[ ! -d /sys/module/rdma_rxe ] || rmmod rdma_rxe
}

# wait_for SECONDS CMD...: until CMD succeeds
wait_for()
{
	local end=$((SECONDS + $1 + 1))

	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

# rxe_add NETDEV NAME [NETNS]
rxe_add()
{
	if [ -n "$3" ]; then
		ip netns exec "$3" rdma link add "$2" type rxe netdev "$1" &&
			rdma_move "$2" "$3"
	else
		rdma link add "$2" type rxe netdev "$1"
	fi
}

# In exclusive mode 'rdma link add' makes the device in the namespace of the
# caller or in the first one, as the rdma tool likes; put it where it belongs.
rdma_move()
{
	ip netns exec "$2" rdma dev show "$1" >/dev/null 2>&1 && return 0
	rdma dev set "$1" netns "$2"
}

# two_hosts [norxe]: namespaces A and B on a veth pair (MTU 9000): 10.0.0.1/2,
# fd00::1/2; each with its own rxe device, rxeA and rxeB
two_hosts()
{
	local h n peer

	rdma system set netns exclusive 2>/dev/null
	ip netns add A || return 1
	ip netns add B || return 1
	ip link add v0 netns A type veth peer name v1 netns B || return 1
	n=0
	for h in A B; do
		ip netns exec $h sysctl -qw net.ipv6.conf.v$n.accept_dad=0
		ip -n $h link set lo up
		ip -n $h link set v$n mtu 9000 up
		ip -n $h addr add 10.0.0.$((n + 1))/24 dev v$n
		ip -n $h -6 addr add fd00::$((n + 1))/64 dev v$n nodad
		n=$((n + 1))
	done
	[ "$1" = norxe ] && return 0
	rxe_add v0 rxeA A && rxe_add v1 rxeB B
}

two_hosts_down()
{
	local h p

	for h in A B; do
		[ -e /run/netns/$h ] || continue
		for p in $(ip netns pids $h); do
			kill -9 "$p" 2>/dev/null
		done
		# a device of a namespace that goes moves to the first one
		ip netns exec $h rdma link delete rxe$h 2>/dev/null
		ip netns del $h
	done
	for h in A B; do
		rdma link delete rxe$h 2>/dev/null
	done
	return 0
}

inA() { ip netns exec A "$@"; }
inB() { ip netns exec B "$@"; }

# ueid_add [NAME]: in this network namespace; with inA/inB use ueid.py
ueid_add()
{
	$PY "$LAB_DIR/ueid.py" add "${1:-$LAB_UEID}"
}

# UEIDs are per module, not per namespace, in Linux; once is enough
ueid_both()
{
	ueid_add "$@"
}

# one guest of a pair: rxe on each NIC (rxe0, rxe1, ...) and the UEID
pair_host()
{
	local i

	for ((i = 0; i < LAB_NICS; i++)); do
		rxe_add eth$i rxe$i || return 1
	done
	ueid_add
}

# kmsg TEXT: a mark in the console log
kmsg() { echo "lab: $*" >/dev/kmsg; }
