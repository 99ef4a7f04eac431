#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# ssh, scp, sftp, a forwarded port, rsync over ssh and from its own daemon.
. "$(dirname "$0")/lib.sh"

sshd_config()
{
	cat <<-EOF
	ListenAddress 10.0.0.2
	Port $PORT
	HostKey $W/host
	AuthorizedKeysFile $W/user.pub
	PidFile none
	StrictModes no
	UsePAM no
	PermitRootLogin prohibit-password
	UseDNS no
	Subsystem sftp internal-sftp
	MaxStartups 50
	GatewayPorts clientspecified
	EOF
}

rsyncd_config()
{
	cat <<-EOF
	address = 10.0.0.2
	port = $((PORT + 1))
	use chroot = no
	uid = 0
	[tree]
	path = $DATA/www
	[up]
	path = $OUT/up
	read only = no
	EOF
}

# cheap ciphers: a guest is slow
SSH=(-F none -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null
	-o LogLevel=ERROR -i "$W/user" -o KexAlgorithms=curve25519-sha256
	-o Ciphers=aes128-gcm@openssh.com)
# one connection for many commands; alone: one for itself
ssh_() { A $RUN ssh "${SSH[@]}" -S "$OUT/shared" -p $PORT root@10.0.0.2 "$@"; }
alone() { A $RUN ssh "${SSH[@]}" -S none -p $PORT root@10.0.0.2 "$@"; }

shared() { A $RUN ssh "${SSH[@]}" -S "$OUT/shared" -M -N -f -p $PORT root@10.0.0.2; }

status()
{
	ssh_ 'echo out; echo err >&2; exit 7' 2>&1
	echo $?
	ssh_ 'kill -9 $$' 2>/dev/null
	echo $?
	echo from stdin | ssh_ cat
}

pipes()
{
	ssh_ 'sha256sum; echo done' <"$DATA/big"
	ssh_ "cat $DATA/big" | sum
	ssh_ "cat $DATA/big" | head -c 3000 | sum
	echo "${PIPESTATUS[0]}"
}

early_end()
{
	alone 'head -c 3000 | sha256sum; exit 3' <"$DATA/big"
	echo $?
	alone "cat $DATA/big" | head -c 3000 | sum
	echo "${PIPESTATUS[0]}"
}

copies()
{
	A $RUN scp -q "${SSH[@]}" -P $PORT "$DATA/big" "root@10.0.0.2:$OUT/scp-up" && sums "$OUT/scp-up"
	A $RUN scp -q "${SSH[@]}" -o ControlPath="$OUT/shared" -P $PORT "root@10.0.0.2:$DATA/big" \
		"$OUT/scp-down" && sums "$OUT/scp-down"
	printf 'cd %s/www\nget mid %s/sftp-mid\nput %s/mid %s/sftp-up\nls tree\nget none\n' \
		"$DATA" "$OUT" "$DATA" "$OUT" |
		A $RUN sftp -q "${SSH[@]}" -P $PORT -b - root@10.0.0.2 2>/dev/null |
		sed "s,$OUT,,g" | sum
	echo "${PIPESTATUS[1]}"
	sums "$OUT/sftp-mid" "$OUT/sftp-up"
}

tree_sum() { (cd "$1" && find . -type f | sort | xargs sha256sum | sum); }

rsync_ssh()
{
	A $RUN rsync -a --stats -e "ssh ${SSH[*]} -p $PORT" "$DATA/www/" "root@10.0.0.2:$OUT/rs/" |
		grep '^Number of'
	tree_sum "$OUT/rs"
	echo changed >"$OUT/rs/mid"
	A $RUN rsync -ac -i -e "ssh ${SSH[*]} -S $OUT/shared -p $PORT" "$DATA/www/" \
		"root@10.0.0.2:$OUT/rs/"
	tree_sum "$OUT/rs"
}

rsync_daemon()
{
	mkdir -p "$OUT/down"
	A $RUN rsync -a "rsync://10.0.0.2:$((PORT + 1))/tree/" "$OUT/down/"
	echo $?
	tree_sum "$OUT/down"
	echo more >>"$OUT/down/big"
	A $RUN rsync -az -i "$OUT/down/" "rsync://10.0.0.2:$((PORT + 1))/up/"
	tree_sum "$OUT/up"
	A $RUN rsync "rsync://10.0.0.2:$((PORT + 1))/none/" 2>/dev/null
	echo $?
}

# Each of the two connections that ssh and sshd make and take goes to the other
# host: one within a host is TCP, which has no RDMA device there.
forwarded()
{
	local a=10.0.0.1:$((PORT + 2)) b=10.0.0.2:$((PORT + 3))

	ssh_ -O forward -L "$a:10.0.0.1:$((PORT + 4))"
	A $RUN nc -l -N 10.0.0.1 $((PORT + 4)) <"$DATA/big" &
	until_ok 120 listens $! $((PORT + 4))
	B $RUN nc -d 10.0.0.1 $((PORT + 2)) | sum
	wait $!
	echo $?
	ssh_ -O forward -R "$b:10.0.0.2:$((PORT + 1))"
	mkdir -p "$OUT/forw"
	A $RUN rsync -a "rsync://$b/tree/big" "$OUT/forw/"
	sums "$OUT/forw/big"
}

refused()
{
	A $RUN ssh "${SSH[@]}" -p $((PORT + 9)) root@10.0.0.2 true
}

run()
{
	mkdir -p "$OUT/up"
	sshd_config >"$OUT/sshd.conf"
	serve B $PORT $RUN /usr/sbin/sshd -D -e -f "$OUT/sshd.conf" || return
	step "connection" shared
	step -o "status of the command" status
	step -o "pipes" pipes
	step "pipes closed early" early_end
	step "scp and sftp" copies
	step "rsync over ssh" rsync_ssh
	rsyncd_config >"$OUT/rsyncd.conf"
	serve B $((PORT + 1)) $RUN rsync --daemon --no-detach --config="$OUT/rsyncd.conf" || return
	step "rsync daemon" rsync_daemon
	step "forwarded ports" forwarded
	step -o "shared connection ends" ssh_ -O exit
	step -k -s 255 "no server there" refused
	stopped "rsync daemon ends"
}

# bash started by sshd reads it; it is the host's
[ ! -e /root/.bashrc ] || mount --bind /dev/null /root/.bashrc
mkdir -p /run/sshd
install -m 600 "$DATA"/ssh/* "$W"
PORT=7600
both run
tap_end
