#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""ueid.py add|del NAME, or flush, or dump: user EIDs over raw generic netlink."""
import os
import socket
import struct
import sys

NETLINK_GENERIC = 16
GENL_ID_CTRL, CTRL_CMD_GETFAMILY = 16, 3
CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 1, 2
NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 1, 4, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
FAMILY = "SMC_GEN_NETLINK"
DUMP, ADD, REMOVE, FLUSH = 9, 10, 11, 12
EID_TABLE_ENTRY = 1


def attr(kind, data):
    n = 4 + len(data)
    return struct.pack("=HH", n, kind) + data + b"\0" * (-n % 4)


def attrs(data):
    while len(data) >= 4:
        n, kind = struct.unpack_from("=HH", data)
        if n < 4:
            return
        yield kind & 0x3fff, data[4:n]
        data = data[(n + 3) & ~3:]


def talk(s, kind, flags, cmd, version, payload=b""):
    """Send one request; yields the payload of each answer."""
    body = struct.pack("=BBH", cmd, version, 0) + payload
    s.send(struct.pack("=IHHII", 16 + len(body), kind, flags | NLM_F_REQUEST, 1, 0) + body)
    while True:
        data = s.recv(65536)
        while data:
            n, mtype = struct.unpack_from("=IH", data)
            msg, data = data[16:n], data[(n + 3) & ~3:]
            if mtype == NLMSG_DONE:
                return
            if mtype == NLMSG_ERROR:
                err = -struct.unpack_from("=i", msg)[0]
                if err:
                    raise OSError(err, os.strerror(err))
                return
            yield msg[4:]
            if not flags & (NLM_F_DUMP | NLM_F_ACK):
                return


def main():
    verb = sys.argv[1] if len(sys.argv) > 1 else ""
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
    s.bind((0, 0))
    fam = None
    for msg in talk(s, GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY, 1,
                    attr(CTRL_ATTR_FAMILY_NAME, FAMILY.encode() + b"\0")):
        for kind, data in attrs(msg):
            if kind == CTRL_ATTR_FAMILY_ID:
                fam = struct.unpack("=H", data)[0]
    if verb in ("add", "del"):
        name = sys.argv[2].ljust(32).encode() + b"\0"
        list(talk(s, fam, NLM_F_ACK, ADD if verb == "add" else REMOVE, 1,
                  attr(EID_TABLE_ENTRY, name)))
    elif verb == "flush":
        list(talk(s, fam, NLM_F_ACK, FLUSH, 1))
    elif verb == "dump":
        for msg in talk(s, fam, NLM_F_DUMP, DUMP, 1):
            for kind, data in attrs(msg):
                if kind == EID_TABLE_ENTRY:
                    print(data.split(b"\0")[0].decode())
    else:
        sys.exit(__doc__)


try:
    main()
except OSError as e:
    sys.exit(f"ueid.py: {e}")
