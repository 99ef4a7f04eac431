# SPDX-License-Identifier: GPL-2.0
"""CLC messages as bytes, good ones and any deviation from them.

Only what a peer needs that has no device: SMC-R, and enough of SMC-D to offer
it. RFC 7609, appendix A; IBM's SMC version 2 papers.
"""
import struct

SMCR = b"\xe2\xd4\xc3\xd9"
SMCD = b"\xe2\xd4\xc3\xc4"
PROPOSAL, ACCEPT, CONFIRM, DECLINE = 1, 2, 3, 4
R, D, N, B = 0, 1, 2, 3
HDR = 8


class Msg:
    """A message of the kernel."""

    def __init__(self, raw):
        self.raw, self.type, self.version, self.flags = raw, raw[4], raw[7] >> 4, raw[7] & 15


def put(msg, off, data):
    """@msg with @data at @off"""
    data = bytes([data]) if isinstance(data, int) else data
    return msg[:off] + data + msg[off + len(data):]


def setlen(msg, n):
    return put(msg, 5, struct.pack("!H", n))


def cut(msg, n):
    """@msg of @n bytes, length and trailer right"""
    return setlen(msg[:n - 4] + msg[-4:], n)


def eid(name):
    return name.encode().ljust(32)


def gid4(ip):
    return b"\0" * 10 + b"\xff\xff" + bytes(int(x) for x in ip.split("."))


def head(kind, version, low, eye=SMCR):
    return eye + bytes([kind, 0, 0, version << 4 | low])


def done(msg, eye=SMCR):
    return setlen(msg + eye, len(msg) + 4)


def prefix4(net="10.9.0.0", plen=16, n6=0, entries=b""):
    return bytes(int(x) for x in net.split(".")) + bytes([plen, 0, 0, n6]) + entries


def proposal_v1(peer, mode=R, prefix=None, ip_off=0, gap=b""):
    """RFC 7609 form, without SMC-D area unless that is in @gap"""
    return done(head(PROPOSAL, 1, mode) + peer.id + peer.gid1 + peer.mac +
                struct.pack("!H", ip_off) + gap + (prefix4() if prefix is None else prefix))


def proposal(peer, v1=N, v2=R, version=2, eids=("SMCLAB.UEID",), release=1, conns=255, links=2,
             n6=0, e=None, g=None, v2_off=None, d2_off=None, ip_off=None, gid=None,
             chids=(0xffff,), prefix=None, gap=b""):
    """Version 2; everything that is None is as it should be"""
    ents = b"".join(struct.pack("!QH", 0x1122334455664777 + i, c)
                    for i, c in enumerate(c for c in chids for _ in range(2)))
    pre = b""
    if v1 != N:
        pre = prefix4(n6=n6, entries=b"\x20\x01" + b"\0" * 14 + b"\x40" if n6 else b"") \
            if prefix is None else prefix
    has_d2 = v2 in (D, B)
    msg = head(PROPOSAL, version, v2 << 2 | v1) + peer.id + peer.gid1 + peer.mac
    msg += struct.pack("!H", (40 if v1 != N else 0) if ip_off is None else ip_off)
    msg += b"\0" * 10
    msg += struct.pack("!H", (0 if v2 == N else 28 + len(pre) + len(gap))
                       if v2_off is None else v2_off)
    msg += b"\0" * 28 + pre + gap
    if v2 != N:
        msg += bytes([len(eids) if e is None else e,
                      (len(ents) // 10 if has_d2 else 0) if g is None else g, 0, release << 4, 0, 0])
        msg += struct.pack("!H", (32 + 32 * len(eids) if has_d2 else 0)
                           if d2_off is None else d2_off)
        msg += (peer.gid2 if gid is None else gid) + bytes([conns, links, 0, 1]) + b"\0" * 12
        msg += b"".join(eid(x) for x in eids)
    if has_d2:
        msg += b"\0" * 48 + ents
    return done(msg)


def fce(peer, direct=1, os=2, release=1, conns=None, links=None):
    """First contact extension; limits that @peer has agreed to, or others"""
    return bytes([direct << 7, os << 4 | release, 0, 0]) + b"peer".ljust(32) + \
        bytes([peer.conns if conns is None else conns, peer.links if links is None else links,
               0, 1]) + b"\0" * 12


def ac_r(kind, peer, version=2, low=8, qpn=0x1a2b, rkey=0x112233, idx=1, token=0x101, size=2, mtu=3,
         addr=0x12345000, psn=0xabcdef, name="SMCLAB.UEID", gid=None, ext=None, gids=1, rest=b""):
    """Accept or Confirm, SMC-R; first contact unless @low says otherwise"""
    msg = head(kind, version, low) + peer.id
    msg += (peer.gid2 if version > 1 else peer.gid1) if gid is None else gid
    msg += peer.mac + struct.pack("!I", qpn)[1:] + struct.pack("!IBI", rkey, idx, token)
    msg += bytes([size << 4 | mtu, 0]) + struct.pack("!Q", addr) + struct.pack("!I", psn)
    if version > 1:
        msg += (eid(name) if isinstance(name, str) else name) + b"\0" * 8
        if low & 8:
            msg += fce(peer) if ext is None else ext
            if kind == CONFIRM and ext != b"":
                msg += bytes([gids, 0, 0, 0]) + peer.gid2
    return done(msg + rest)


def ac_d(kind, peer, version=2, low=9, size=2, chid=0xffff):
    msg = head(kind, version, low, SMCD) + b"\x11\x22\x33\x44\x55\x66\x47\x77"
    msg += b"\x5e\xed" * 4 + bytes([0, size << 4, 0, 0]) + b"\0\0\1\0"
    if version > 1:
        msg += struct.pack("!H", chid) + eid("SMCLAB.UEID") + b"\x88\x99\0\xaa\xbb\xcc\xdd\xee"
        if low & 8:
            msg += fce(peer, direct=0)
    else:
        msg += b"\0" * 12
    return done(msg, SMCD)


def decline(peer, diag=0x03030000, version=2, oos=False):
    msg = head(DECLINE, version, 8 if oos else 0) + peer.id + struct.pack("!I", diag)
    return done(msg + b"\x20\0\0\0" + (b"\0" * 16 if version > 1 else b""))


def limits(m):
    """connections and links a group may have: of a Proposal or a first contact"""
    off = 52 + struct.unpack_from("!H", m.raw, 50)[0] + 24 if m.type == PROPOSAL else 140
    return m.raw[off], m.raw[off + 1]


def diagnosis(m):
    return struct.unpack_from("!I", m.raw, 16)[0]


def check(m):
    """Is a message of the kernel well-formed? Text of what is not."""
    want = {(DECLINE, 1): (28,), (DECLINE, 2): (44,), (ACCEPT, 1): (68,), (ACCEPT, 2): (108, 160),
            (CONFIRM, 1): (68,), (CONFIRM, 2): (108, 180, 196, 212, 228)}
    n = len(m.raw)
    if m.raw[:4] != SMCR or m.raw[-4:] != SMCR:
        return "eyecatcher"
    if m.type == PROPOSAL:
        return "" if m.version == 2 and 84 <= n <= 652 else f"Proposal of {n} bytes"
    if n not in want.get((m.type, m.version), ()):
        return f"type {m.type} version {m.version} of {n} bytes"
    if m.type == DECLINE and (m.flags & 8) != (8 if diagnosis(m) == 0x04000000 else 0):
        return "out-of-sync bit"
    return ""


async def read_clc(conn, limit):
    """Exactly one message off the stream"""
    h = await conn.peek(HDR, limit)
    if h[:4] not in (SMCR, SMCD):
        raise ValueError(f"no CLC message: {bytes(conn.rx[:60])!r}")
    raw = await conn.read(struct.unpack_from("!H", h, 5)[0], limit)
    m = Msg(raw)
    bad = check(m)
    if bad:
        raise ValueError(f"malformed: {bad}: {raw.hex()}")
    return m
