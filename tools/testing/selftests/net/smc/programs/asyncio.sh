#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Python's asyncio, also with SMC sockets of its own.
. "$(dirname "$0")/lib.sh"

HERE=$(cd "$(dirname "$0")" && pwd)

python() # PROTO
{
	serve B $PORT $RUN "$PY" "$HERE/aio.py" server 10.0.0.2 $PORT "$1" "$DATA/www/big" || return
	step "$2" A $RUN "$PY" "$HERE/aio.py" client 10.0.0.2 $PORT "$1" "$DATA/www/big"
	stopped "$2, server ends"
}

asyncio() { python 0 "asyncio"; }
native() { RUN=; python $PROTO "asyncio, protocol chosen by the program"; }

PORT=9400
both asyncio
both native
tap_end
