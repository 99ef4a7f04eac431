#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Programs that bring their own event loop: Python's asyncio, also with SMC
# sockets of its own, and Java's channels.
. "$(dirname "$0")/lib.sh"

HERE=$(cd "$(dirname "$0")" && pwd)
JAVA=(java -Xmx96m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -cp "$DATA/java" Nio)

python() # PROTO
{
	serve B $PORT $RUN "$PY" "$HERE/aio.py" server 10.0.0.2 $PORT "$1" "$DATA/www/big" || return
	step "$2" A $RUN "$PY" "$HERE/aio.py" client 10.0.0.2 $PORT "$1" "$DATA/www/big"
	stopped "$2, server ends" INT
}

asyncio() { python 0 "asyncio"; }
native() { RUN=; python $PROTO "asyncio, protocol chosen by the program"; }

nio()
{
	serve B $PORT $RUN "${JAVA[@]}" server 10.0.0.2 $PORT - || return
	step "Java channels and sockets" A $RUN "${JAVA[@]}" client 10.0.0.2 $PORT "$DATA/www/big"
	stopped "Java server ends"
}

PORT=9400
both asyncio
both native
both nio
tap_end
