#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Java's channels and sockets.
. "$(dirname "$0")/lib.sh"

JAVA=(java -Xmx96m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -cp "$DATA/java" Nio)

nio()
{
	serve B $PORT $RUN "${JAVA[@]}" server 10.0.0.2 $PORT - || return
	step "Java channels and sockets" A $RUN "${JAVA[@]}" client 10.0.0.2 $PORT "$DATA/www/big"
	stopped "Java server ends"
}

PORT=8800
both nio
tap_end
