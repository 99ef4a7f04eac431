# SPDX-License-Identifier: GPL-2.0
"""The cases of clc_peer.py. A case gets an open connection that has the SMC
option on both sides and says what it sends and what must come out."""
import errno

import clc_msg as msg
from clc_loop import sleep
from clc_msg import ACCEPT, B, CONFIRM, D, DECLINE, N, R, put, setlen

# reasons
NOSMCDEV, NOSMCRDEV, NOISM2SUPP, NOUEID = 0x03030000, 0x03030002, 0x03030003, 0x03030008
RELEASEERR, MAXCONNERR, MAXLINKERR = 0x03030009, 0x0303000a, 0x0303000b
PEERNOSMC, MODEUNSUPP, DIFFPREFIX, SYNCERR = 0x03010000, 0x03040000, 0x03070000, 0x04000000
TIMEOUT_CL, NOROUTE, NOINDIRECT = 0x02010000, 0x030e0000, 0x030f0000

STEP = 6
# seconds until a side gives up the link: CONFIRM LINK and a late Decline
SRV_LLC, CLNT_LLC = 3, 5
HTTP = b"POST /index HTTP/1.1\r\nHost: ten\r\n" + bytes(range(1, 10)) + b"\n\n"

TIMER, LINK = 1, 2
SPECS = []


class Spec:
    """@smc: we send the option; @slow: TIMER: is stalled until a timer of the
    handshake ends it, LINK: by one of the link; @plain: also makes sense
    towards TCP; @blocking: connect() blocks"""

    def __init__(self, role, name, func, smc, slow, plain, blocking):
        self.role, self.name, self.func, self.smc = role, name, func, smc
        self.slow, self.plain, self.blocking = slow, plain, blocking


def case(role, name, smc=True, slow=0, plain=False, blocking=False):
    def add(func):
        SPECS.append(Spec(role, name, func, smc, slow, plain, blocking))
        return func
    return add


# Proposals

BAD_PROPOSALS = [
    ("length 0", lambda p: setlen(msg.proposal(p), 0)),
    ("length 7", lambda p: setlen(msg.proposal(p), 7)),
    ("length 27", lambda p: setlen(msg.proposal(p), 27)),
    ("length 4097", lambda p: setlen(msg.proposal(p), 4097)),
    ("length 65535", lambda p: setlen(msg.proposal(p), 65535)),
    ("length 51 of 52", lambda p: setlen(msg.proposal_v1(p), 51)),
    ("length 53 of 52", lambda p: setlen(msg.proposal_v1(p), 53) + b"\0"),
    ("28 bytes", lambda p: msg.cut(msg.proposal(p), 28)),
    ("fixed part alone", lambda p: msg.cut(msg.proposal(p), 44)),
    ("cut behind the SMC-D area", lambda p: msg.cut(msg.proposal(p), 84)),
    ("cut in the EIDs", lambda p: msg.cut(msg.proposal(p), 150)),
    ("trailer missing", lambda p: put(msg.proposal(p), 152, b"\0\0\0\0")),
    ("type 0", lambda p: put(msg.proposal(p), 4, 0)),
    ("type 5", lambda p: put(msg.proposal(p), 4, 5)),
    ("type 255", lambda p: put(msg.proposal(p), 4, 255)),
    ("an Accept", lambda p: msg.ac_r(ACCEPT, p)),
    ("a Confirm", lambda p: msg.ac_r(CONFIRM, p)),
    ("version 0", lambda p: put(msg.proposal(p), 7, 0x08)),
    ("v1 without a mode", lambda p: msg.proposal_v1(p, mode=N)),
    ("v1, IP offset 41", lambda p: msg.proposal_v1(p, ip_off=41)),
    ("v1, IP offset 65535", lambda p: msg.proposal_v1(p, ip_off=65535)),
    ("v1, prefix area missing", lambda p: msg.proposal_v1(p, prefix=b"")),
    ("v1, 9 prefixes", lambda p: msg.proposal_v1(p, prefix=msg.prefix4(n6=9, entries=b"\0" * 153))),
    ("v1, 3 prefixes announced, 1 there",
     lambda p: msg.proposal_v1(p, prefix=msg.prefix4(n6=3, entries=b"\0" * 17))),
    ("v1, IPv4 prefix length 33", lambda p: msg.proposal_v1(p, prefix=msg.prefix4(plen=33))),
    ("v1, IPv6 prefix length 129",
     lambda p: msg.proposal_v1(p, prefix=msg.prefix4(n6=1, entries=b"\0" * 16 + b"\x81"))),
    ("IP offset 41", lambda p: msg.proposal(p, v1=R, ip_off=41)),
    ("IP offset 0 with v2", lambda p: msg.proposal(p, v1=R, ip_off=0)),
    ("IP offset leads into the EIDs", lambda p: msg.proposal(p, v1=R, ip_off=90)),
    ("9 EIDs", lambda p: msg.proposal(p, e=9)),
    ("255 EIDs", lambda p: msg.proposal(p, e=255)),
    ("8 EIDs announced, 1 there", lambda p: msg.proposal(p, e=8)),
    ("v2 offset 0", lambda p: msg.proposal(p, v2_off=0)),
    ("v2 offset 173", lambda p: msg.proposal(p, v2_off=173)),
    ("v2 offset 65535", lambda p: msg.proposal(p, v2_off=65535)),
    ("v2 offset into the prefix area", lambda p: msg.proposal(p, v1=R, v2_off=30)),
    ("v2 extension missing", lambda p: msg.setlen(put(msg.proposal(p, v2=N), 7, 0x22), 84)),
    ("9 SMC-D devices", lambda p: msg.proposal(p, v2=B, g=9)),
    ("8 SMC-D devices announced, 2 there", lambda p: msg.proposal(p, v2=D, g=8)),
]


def bad_proposal(name, make):
    @case("server", f"Proposal, {name}")
    async def _(c):
        c.send(make(c.peer))
        c.bad = 1
        await c.dead()


# (name, message, reason, version of the Decline)
DECLINED_PROPOSALS = [
    ("v1", lambda p: msg.proposal_v1(p), NOSMCDEV, 1),
    ("v1, SMC-D", lambda p: msg.proposal_v1(p, mode=D), None, 1),
    ("v1, other subnet", lambda p: msg.proposal_v1(
        p, prefix=msg.prefix4("10.8.0.0")), DIFFPREFIX, 1),
    ("v1, IPv6 prefixes", lambda p: msg.proposal_v1(
        p, prefix=msg.prefix4(n6=1, entries=b"\x20" * 16 + b"\x40")), DIFFPREFIX, 1),
    ("v1, IP offset 41 and a gap", lambda p: msg.proposal_v1(p, ip_off=41, gap=b"\xff" * 41),
     NOSMCDEV, 1),
    ("no mode at all", lambda p: msg.proposal(p, v2=N), PEERNOSMC, 2),
    ("v1 modes in v2", lambda p: msg.proposal(p, v1=R, v2=N), NOSMCDEV, 2),
    ("other EID", lambda p: msg.proposal(p, eids=("OTHER",)), NOUEID, 2),
    ("8 other EIDs", lambda p: msg.proposal(p, eids=[f"OTHER.{i}" for i in range(8)]), NOUEID, 2),
    ("no EID", lambda p: msg.proposal(p, eids=()), NOUEID, 2),
    ("zero GID", lambda p: msg.proposal(p, gid=b"\0" * 16), NOSMCRDEV, 2),
    ("GID without a route", lambda p: msg.proposal(p, gid=msg.gid4("192.0.2.1")), NOSMCRDEV, 2),
    ("15 connections", lambda p: msg.proposal(p, conns=15), MAXCONNERR, 2),
    ("0 links", lambda p: msg.proposal(p, links=0), MAXLINKERR, 2),
    ("SMC-D v2", lambda p: msg.proposal(p, v2=D), NOISM2SUPP, 2),
    ("SMC-D v2, offset 0", lambda p: msg.proposal(p, v2=D, d2_off=0), NOISM2SUPP, 2),
    ("SMC-D v2, offset 289", lambda p: msg.proposal(p, v2=D, d2_off=289), NOISM2SUPP, 2),
    ("SMC-D v2, no EID", lambda p: msg.proposal(p, v2=D, eids=()), NOISM2SUPP, 2),
    ("SMC-D v2, two devices", lambda p: msg.proposal(p, v2=D, chids=(0xffff, 0xfffe)),
     NOISM2SUPP, 2),
    ("SMC-D v2, half a device", lambda p: put(msg.proposal(p, v2=D), 218, b"\xff\xfe"),
     NOISM2SUPP, 2),
    ("SMC-D v2, 9 in the GID where v1 has its prefixes",
     lambda p: put(msg.proposal(p, v2=D), 47, 9), NOISM2SUPP, 2),
]


def declined_proposal(name, make, code, version, data):
    @case("server", f"Proposal, {name}, is declined")
    async def _(c):
        c.send(make(c.peer))
        if code is None:
            m = await c.clc(DECLINE)
            c.tx += 1
            if m.version != version:
                raise ValueError(f"version {m.version}")
            await c.tcp()
        else:
            await c.tcp(code=code, version=version)

    if not data:
        return

    @case("server", f"Proposal, {name}, and data behind it at once")
    async def _(c):
        c.send(make(c.peer) + HTTP)
        await c.tcp(early=HTTP, code=code, version=version)


# what newer peers may send: goes as far as an Accept
GOOD_PROPOSALS = [
    ("version 3", lambda p: msg.proposal(p, version=3)),
    ("version 15", lambda p: msg.proposal(p, version=15)),
    ("release 0", lambda p: msg.proposal(p, release=0, conns=0, links=0)),
    ("release 15", lambda p: msg.proposal(p, release=15)),
    ("EID is the last of 8", lambda p: msg.proposal(
        p, eids=[f"OTHER.{i}" for i in range(7)] + ["SMCLAB.UEID"])),
    ("IP offset 41, v2 only", lambda p: msg.proposal(p, ip_off=41)),
    ("gap in front of the v2 extension", lambda p: msg.proposal(p, v1=R, gap=b"\xaa" * 100)),
    ("bytes behind the last area", lambda p: msg.done(msg.proposal(p)[:-4] + b"\xbb" * 500)),
    ("SMC-D eyecatchers", lambda p: msg.SMCD + msg.proposal(p)[4:-4] + msg.SMCD),
    ("all modes", lambda p: msg.proposal(p, v1=B, v2=B)),
    ("R and D, extension offset 0", lambda p: msg.proposal(p, v2=B, d2_off=0)),
    ("zero MAC", lambda p: put(msg.proposal(p), 32, b"\0" * 6)),
    ("zero peer id", lambda p: put(msg.proposal(p), 8, b"\0" * 8)),
]


def good_proposal(name, make):
    @case("server", f"Proposal, {name}, is accepted")
    async def _(c):
        c.send(make(c.peer))
        await accepted(c)
        c.send(msg.decline(c.peer))
        c.rx = 1
        await c.tcp()


async def accepted(c, limit=0):
    a = await c.clc(ACCEPT, c.quick + limit)
    if a.version != 2 or a.flags != 8:
        raise ValueError(f"Accept with byte 7 = {a.raw[7]:#x}")
    if a.raw[64:96] != msg.eid("SMCLAB.UEID"):
        raise ValueError("EID of the Accept")
    c.peer.conns, c.peer.links = msg.limits(a)
    return a


# bytes in place of a Proposal

RAW = [
    ("HTTP", HTTP),
    ("one byte and more later", None),
    ("wrong eyecatcher", b"\xe2\xd4\xc3\xd8" + b"\1\0\x34\x10" + HTTP),
    ("two bytes of an eyecatcher", b"\xe2\xd4" + HTTP),
    ("ASCII eyecatcher", b"SMCR\1\0\x34\x10" + HTTP),
    ("zeroes", b"\0" * 100 + HTTP),
]


def raw_bytes(name, data):
    @case("server", f"{name} in place of a Proposal", plain=True)
    async def _(c):
        c.raw = c.kind != "tcp"
        if data is None:
            c.send(HTTP[:1])
            await sleep(1)
            c.send(HTTP[1:])
        else:
            c.send(data)
        await c.tcp(early=data or HTTP)


@case("server", "HTTP byte by byte in place of a Proposal", plain=True)
async def _(c):
    c.raw = c.kind != "tcp"
    await c.dribble(HTTP, 0.01)
    await c.tcp(early=HTTP)


@case("server", "50 kB in place of a Proposal", plain=True)
async def _(c):
    data = bytes(i % 241 + 11 for i in range(50000)) + b"\n\n"
    c.raw = c.kind != "tcp"
    c.send(data)
    await c.tcp(early=data)


@case("server", "three bytes of an eyecatcher and FIN")
async def _(c):
    c.raw = c.fall = 1
    c.send(b"\xe2\xd4\xc3")
    c.conn.shut()
    got = await c.application(c.quick)
    if got != b"\xe2\xd4\xc3":
        raise ValueError(f"application got {got!r}")


@case("server", "client without the option", smc=False, plain=True)
async def _(c):
    await c.tcp()


# ends amid the stream

for k in (0, 8, 9, 40, 155):
    @case("server", f"FIN after {k} bytes of a Proposal")
    async def _(c, k=k):
        c.send(msg.proposal(c.peer)[:k])
        c.conn.shut()
        await c.dead()

for k in (0, 5, 8, 100, 156):
    @case("server", f"reset after {k} bytes of a Proposal")
    async def _(c, k=k):
        c.send(msg.proposal(c.peer)[:k])
        await sleep(0.2 if k < 156 else 0)
        if k == 156:
            await accepted(c)
        c.err = 1
        c.conn.reset()
        await sleep(0.5)
        c.unseen()


@case("server", "Proposal in 1 byte segments")
async def _(c):
    await c.dribble(msg.proposal(c.peer), 0.002)
    c.in_time(4)
    await accepted(c)
    await c.dribble(msg.decline(c.peer), 0.002)
    c.rx = 1
    await c.tcp()


@case("server", "one byte of a Proposal a second", slow=TIMER)
async def _(c):
    c.stalled = True
    await c.dribble(msg.proposal(c.peer), 1)
    await c.dead(STEP, STEP + 1)


@case("server", "silence", slow=TIMER)
async def _(c):
    await c.dead(STEP, STEP)

for k in (1, 7, 8, 155):
    @case("server", f"silence after {k} bytes of a Proposal", slow=TIMER)
    async def _(c, k=k):
        c.send(msg.proposal(c.peer)[:k])
        await c.dead(STEP, STEP)


@case("server", "length one too long, nothing follows", slow=TIMER)
async def _(c):
    p = msg.proposal(c.peer)
    c.send(setlen(p, len(p) + 1))
    await c.dead(STEP, STEP)


# Declines

for version, oos, how in ((1, False, ""), (1, True, ", out of sync"), (2, False, ""),
                          (2, True, ", out of sync")):
    @case("server", f"Decline v{version}{how} in place of a Proposal")
    async def _(c, version=version, oos=oos):
        c.rx = 1
        c.send(msg.decline(c.peer, version=version, oos=oos) + HTTP)
        await c.tcp(early=HTTP)

    @case("server", f"Decline v{version}{how} in place of a Confirm")
    async def _(c, version=version, oos=oos):
        c.rx = 1
        c.send(msg.proposal(c.peer))
        await accepted(c)
        c.send(msg.decline(c.peer, version=version, oos=oos) + HTTP)
        await c.tcp(early=HTTP)

    @case("client", f"Decline v{version}{how} in place of an Accept")
    async def _(c, version=version, oos=oos):
        c.rx = 1
        c.send(msg.decline(c.peer, version=version, oos=oos) + HTTP)
        await c.tcp(early=HTTP)


BAD_DECLINES = [
    ("v1 with 44 bytes", lambda p: put(msg.decline(p), 7, 0x10)),
    ("v2 with 28 bytes", lambda p: put(msg.decline(p, version=1), 7, 0x20)),
    ("of 4000 bytes", lambda p: msg.done(msg.decline(p)[:-4] + b"\0" * 3956)),
    ("version 0", lambda p: put(msg.decline(p), 7, 0)),
    ("length 0", lambda p: setlen(msg.decline(p), 0)),
]


def bad_decline(name, make):
    @case("server", f"Decline {name} in place of a Proposal")
    async def _(c):
        c.bad = 1
        c.send(make(c.peer))
        await c.dead()

    @case("client", f"Decline {name} in place of an Accept")
    async def _(c):
        c.bad = 1
        c.send(make(c.peer))
        await c.fails(errno.EPROTO)


@case("server", "Decline of version 3")
async def _(c):
    c.rx = 1
    c.send(put(msg.decline(c.peer), 7, 0x30))
    await c.tcp()


@case("server", "two Proposals, both answered by one Decline")
async def _(c):
    p = msg.proposal(c.peer, eids=("OTHER",))
    c.send(p + p)
    await c.tcp(early=p, code=NOUEID)


@case("server", "two Proposals, second is no Confirm")
async def _(c):
    p = msg.proposal(c.peer)
    c.send(p + p)
    await accepted(c)
    c.bad = 1
    await c.dead()


@case("server", "Proposal and data where a Confirm should be")
async def _(c):
    c.send(msg.proposal(c.peer) + HTTP)
    await accepted(c)
    c.bad = 1
    await c.dead()


# Confirms

BAD_CONFIRMS = [
    ("HTTP", lambda p, **k: HTTP),
    ("an Accept", lambda p, **k: msg.ac_r(ACCEPT, p, **k)),
    ("length 0", lambda p, **k: setlen(msg.ac_r(CONFIRM, p, **k), 0)),
    ("length 7", lambda p, **k: setlen(msg.ac_r(CONFIRM, p, **k), 7)),
    ("length 65535", lambda p, **k: setlen(msg.ac_r(CONFIRM, p, **k), 65535)),
    ("68 bytes", lambda p, **k: msg.cut(msg.ac_r(CONFIRM, p, **k), 68)),
    ("cut in front of the extension", lambda p, **k: msg.cut(msg.ac_r(CONFIRM, p, **k), 108)),
    ("cut in the extension", lambda p, **k: msg.cut(msg.ac_r(CONFIRM, p, **k), 150)),
    ("cut in the GID list", lambda p, **k: msg.cut(msg.ac_r(CONFIRM, p, **k), 170)),
    ("255 GIDs announced", lambda p, **k: msg.ac_r(CONFIRM, p, gids=255, **k)),
    ("trailer missing", lambda p, **k: msg.ac_r(CONFIRM, p, **k)[:-4] + b"\0" * 4),
    ("version 0", lambda p, **k: msg.ac_r(CONFIRM, p, version=0, **k)),
    ("version 1", lambda p, **k: msg.ac_r(CONFIRM, p, version=1, **k)),
    ("version 3", lambda p, **k: msg.ac_r(CONFIRM, p, version=3, **k)),
    ("not first contact", lambda p, **k: msg.ac_r(CONFIRM, p, low=0, **k)),
    ("mode D", lambda p, **k: msg.ac_d(CONFIRM, p)),
    ("mode 2", lambda p, **k: msg.ac_r(CONFIRM, p, low=10, **k)),
    ("mode 3", lambda p, **k: msg.ac_r(CONFIRM, p, low=11, **k)),
    ("other EID", lambda p, **k: msg.ac_r(CONFIRM, p, name="OTHER", **k)),
    ("other GID", lambda p, **k: msg.ac_r(CONFIRM, p, gid=msg.gid4("10.9.8.99"), **k)),
    ("GID of the server", lambda p, **k: msg.ac_r(CONFIRM, p, gid=msg.gid4("10.9.0.1"), **k)),
    ("QPN 0", lambda p, **k: msg.ac_r(CONFIRM, p, qpn=0)),
    ("RKey 0", lambda p, **k: msg.ac_r(CONFIRM, p, rkey=0)),
    ("token 0", lambda p, **k: msg.ac_r(CONFIRM, p, token=0)),
    ("RMBE index 0", lambda p, **k: msg.ac_r(CONFIRM, p, idx=0)),
    ("MTU 0", lambda p, **k: msg.ac_r(CONFIRM, p, mtu=0)),
    ("MTU 6", lambda p, **k: msg.ac_r(CONFIRM, p, mtu=6)),
    ("buffer beyond the address space",
     lambda p, **k: msg.ac_r(CONFIRM, p, size=15, idx=255, addr=(1 << 64) - 65536)),
]


def bad_confirm(name, make):
    @case("server", f"Confirm, {name}")
    async def _(c):
        c.send(msg.proposal(c.peer))
        await accepted(c)
        c.send(make(c.peer))
        c.bad = 1
        await c.dead()


for name, ext, code in (("release 0", dict(release=0), RELEASEERR),
                        ("release 2", dict(release=2), RELEASEERR),
                        ("254 connections", dict(conns=254), MAXCONNERR),
                        ("0 connections", dict(conns=0), MAXCONNERR),
                        ("7 links", dict(links=7), MAXLINKERR)):
    @case("server", f"Confirm, {name}, is declined")
    async def _(c, ext=ext, code=code):
        c.send(msg.proposal(c.peer))
        await accepted(c)
        c.send(msg.ac_r(CONFIRM, c.peer, ext=msg.fce(c.peer, **ext)))
        await c.tcp(code=code)


async def confirmed(c, extra=b"", **kw):
    c.send(msg.proposal(c.peer))
    await accepted(c)
    c.send(msg.ac_r(CONFIRM, c.peer, **kw) + extra)


@case("server", "silence in place of a Confirm", slow=TIMER)
async def _(c):
    c.send(msg.proposal(c.peer))
    await accepted(c)
    c.mark()
    await c.dead(STEP, STEP)

for k in (0, 8, 179):
    @case("server", f"FIN after {k} bytes of a Confirm")
    async def _(c, k=k):
        c.send(msg.proposal(c.peer))
        await accepted(c)
        c.send(msg.ac_r(CONFIRM, c.peer)[:k])
        c.conn.shut()
        await c.dead()


@case("server", "one byte of a Confirm a second", slow=TIMER)
async def _(c):
    c.send(msg.proposal(c.peer))
    await accepted(c)
    c.stalled = True
    await c.dribble(msg.ac_r(CONFIRM, c.peer), 1)
    await c.dead(STEP, STEP + 1)


@case("server", "Confirm, but nobody at the link", slow=LINK)
async def _(c):
    await confirmed(c)
    await c.tcp(code=TIMEOUT_CL, lo=2, hi=SRV_LLC)


@case("server", "Confirm with the largest buffer, nobody at the link", slow=LINK)
async def _(c):
    await confirmed(c, size=15, psn=0xffffff, qpn=0xffffff, token=0xffffffff)
    await c.tcp(code=TIMEOUT_CL, lo=2, hi=SRV_LLC)


@case("server", "Confirm, then a Decline and data", slow=LINK)
async def _(c):
    await confirmed(c)
    await sleep(0.5)
    c.in_time(1.5)
    c.rx = 1
    c.conn.send(msg.decline(c.peer, TIMEOUT_CL) + HTTP)
    await c.tcp(early=HTTP, hi=SRV_LLC)


@case("server", "Confirm, Declines cross", slow=LINK)
async def _(c):
    await confirmed(c)
    c.cross(msg.decline(c.peer, TIMEOUT_CL, version=1), HTTP)
    await c.declined(TIMEOUT_CL, limit=SRV_LLC)
    await c.tcp(early=HTTP, hi=SRV_LLC)


@case("server", "Confirm, then data", slow=LINK)
async def _(c):
    await confirmed(c, extra=HTTP)
    c.bad = 1
    await c.dead(0, SRV_LLC)


@case("server", "Confirm, then FIN", slow=LINK)
async def _(c):
    await confirmed(c)
    c.in_time(1.5)
    c.conn.shut()
    await c.dead(0, SRV_LLC)


@case("server", "Confirm, then reset", slow=LINK)
async def _(c):
    await confirmed(c)
    await sleep(0.2)
    c.in_time(1.5)
    c.conn.reset()
    c.err = 1
    c.stalled = True
    await sleep(SRV_LLC + 1)
    c.unseen()


@case("server", "two Confirms", slow=LINK)
async def _(c):
    await confirmed(c, extra=msg.ac_r(CONFIRM, c.peer))
    c.bad = 1
    await c.dead(0, SRV_LLC)


# Accepts

BAD_ACCEPTS = [
    ("HTTP", lambda p: HTTP),
    ("a Proposal", lambda p: msg.proposal(p)),
    ("a Confirm", lambda p: msg.ac_r(CONFIRM, p)),
    ("length 0", lambda p: setlen(msg.ac_r(ACCEPT, p), 0)),
    ("length 7", lambda p: setlen(msg.ac_r(ACCEPT, p), 7)),
    ("length 65535", lambda p: setlen(msg.ac_r(ACCEPT, p), 65535)),
    ("68 bytes", lambda p: msg.cut(msg.ac_r(ACCEPT, p), 68)),
    ("cut in front of the extension", lambda p: msg.cut(msg.ac_r(ACCEPT, p), 108)),
    ("cut in the extension", lambda p: msg.cut(msg.ac_r(ACCEPT, p), 159)),
    ("trailer missing", lambda p: msg.ac_r(ACCEPT, p)[:-4] + b"\0" * 4),
    ("wrong eyecatcher", lambda p: b"\xe2\xd4\xc3\xd8" + msg.ac_r(ACCEPT, p)[4:]),
    ("version 0", lambda p: msg.ac_r(ACCEPT, p, version=0)),
    ("version 3", lambda p: msg.ac_r(ACCEPT, p, version=3)),
    ("version 15", lambda p: msg.ac_r(ACCEPT, p, version=15)),
    ("version 3, mode D", lambda p: msg.ac_d(ACCEPT, p, version=3)),
    ("version 15, mode D", lambda p: msg.ac_d(ACCEPT, p, version=15, low=1)),
    ("mode 2", lambda p: msg.ac_r(ACCEPT, p, low=10)),
    ("mode 3", lambda p: msg.ac_r(ACCEPT, p, low=11)),
    ("SMC-D v1 with 44 bytes", lambda p: msg.cut(msg.ac_d(ACCEPT, p, version=1), 44)),
    ("SMC-D v2 with size code 15", lambda p: msg.ac_d(ACCEPT, p, size=15)),
    ("QPN 0", lambda p: msg.ac_r(ACCEPT, p, qpn=0)),
    ("RKey 0", lambda p: msg.ac_r(ACCEPT, p, rkey=0)),
    ("token 0", lambda p: msg.ac_r(ACCEPT, p, token=0)),
    ("RMBE index 0", lambda p: msg.ac_r(ACCEPT, p, idx=0)),
    ("MTU 0", lambda p: msg.ac_r(ACCEPT, p, mtu=0)),
    ("MTU 6", lambda p: msg.ac_r(ACCEPT, p, mtu=6)),
    ("MTU 15", lambda p: msg.ac_r(ACCEPT, p, mtu=15)),
    ("size code 15 beyond the address space",
     lambda p: msg.ac_r(ACCEPT, p, size=15, idx=255, addr=(1 << 64) - 65536)),
]


def bad_accept(name, make):
    @case("client", f"Accept, {name}")
    async def _(c):
        c.send(make(c.peer))
        c.bad = 1
        await c.fails(errno.EPROTO)


# (name, message, reason, version of the Decline)
DECLINED_ACCEPTS = [
    ("v1, not offered", lambda p: msg.ac_r(ACCEPT, p, version=1), MODEUNSUPP, 1),
    ("SMC-D v1, not offered", lambda p: msg.ac_d(ACCEPT, p, version=1), MODEUNSUPP, 1),
    ("SMC-D v2, not offered", lambda p: msg.ac_d(ACCEPT, p), MODEUNSUPP, 2),
    ("other EID", lambda p: msg.ac_r(ACCEPT, p, name="OTHER"), NOUEID, 2),
    ("zero EID", lambda p: msg.ac_r(ACCEPT, p, name=b"\0" * 32), NOUEID, 2),
    ("release 2", lambda p: msg.ac_r(ACCEPT, p, ext=msg.fce(p, release=2)), RELEASEERR, 2),
    ("15 connections", lambda p: msg.ac_r(ACCEPT, p, ext=msg.fce(p, conns=15)), MAXCONNERR, 2),
    ("0 links", lambda p: msg.ac_r(ACCEPT, p, ext=msg.fce(p, links=0)), MAXLINKERR, 2),
    ("more links than offered", lambda p: msg.ac_r(
        ACCEPT, p, ext=msg.fce(p, links=p.links + 1)), MAXLINKERR, 2),
    ("group that nobody knows", lambda p: msg.ac_r(ACCEPT, p, low=0), SYNCERR, 2),
    ("indirect, but it is not", lambda p: msg.ac_r(
        ACCEPT, p, ext=msg.fce(p, direct=0)), NOINDIRECT, 2),
    ("indirect without a route", lambda p: msg.ac_r(
        ACCEPT, p, gid=msg.gid4("192.0.2.9"), ext=msg.fce(p, direct=0)), NOROUTE, 2),
    ("indirect with a GID of no IPv4", lambda p: msg.ac_r(
        ACCEPT, p, gid=p.gid1, ext=msg.fce(p, direct=0)), NOROUTE, 2),
]


def declined_accept(name, make, code, version):
    @case("client", f"Accept, {name}, is declined")
    async def _(c):
        c.send(make(c.peer))
        await c.tcp(code=code, version=version)


@case("client", "server without the option", smc=False, plain=True)
async def _(c):
    await c.tcp()


@case("client", "server without the option, blocking connect()", smc=False, plain=True,
      blocking=True)
async def _(c):
    await c.tcp()


@case("client", "Decline byte by byte")
async def _(c):
    c.rx = 1
    await c.dribble(msg.decline(c.peer), 0.02)
    c.in_time(4)
    await c.tcp(lo=0, hi=2)


@case("client", "Decline byte by byte in four seconds, blocking connect()", slow=TIMER,
      blocking=True)
async def _(c):
    c.rx = 1
    c.stalled = True
    await c.dribble(msg.decline(c.peer, 0xffffffff, version=1), 0.15)
    c.in_time(5.5)
    await c.tcp(lo=4, hi=5)


@case("client", "Decline of version 3")
async def _(c):
    c.rx = 1
    c.send(put(msg.decline(c.peer), 7, 0x30) + HTTP)
    await c.tcp(early=HTTP)


@case("client", "silence in place of an Accept", slow=TIMER)
async def _(c):
    await c.fails(errno.ETIMEDOUT, STEP, STEP)


@case("client", "silence in place of an Accept, blocking connect()", slow=TIMER, blocking=True)
async def _(c):
    await c.fails(errno.ETIMEDOUT, STEP, STEP)

for k in (1, 8, 159):
    @case("client", f"silence after {k} bytes of an Accept", slow=TIMER)
    async def _(c, k=k):
        c.send(msg.ac_r(ACCEPT, c.peer)[:k])
        await c.fails(errno.ETIMEDOUT, STEP, STEP)


@case("client", "one byte of an Accept a second", slow=TIMER)
async def _(c):
    c.stalled = True
    await c.dribble(msg.ac_r(ACCEPT, c.peer)[:8], 1)
    await c.fails(errno.ETIMEDOUT, STEP, STEP + 2)

for k in (0, 8, 100):
    @case("client", f"FIN after {k} bytes of an Accept")
    async def _(c, k=k):
        c.send(msg.ac_r(ACCEPT, c.peer)[:k])
        c.conn.shut()
        await c.fails(errno.ECONNRESET)

for k in (0, 8, 100):
    @case("client", f"reset after {k} bytes of an Accept")
    async def _(c, k=k):
        c.send(msg.ac_r(ACCEPT, c.peer)[:k])
        await sleep(0.2)
        c.conn.rst = True
        c.conn.net.send_tcp(c.conn, 4 | 16, c.conn.snd_nxt, b"", b"")
        await c.fails(errno.ECONNRESET)


async def client_confirm(c, **kw):
    c.send(msg.ac_r(ACCEPT, c.peer, **kw))
    m = await c.clc(CONFIRM)
    c.mark()
    if m.version != 2 or m.flags != 8 or m.raw[64:96] != msg.eid("SMCLAB.UEID"):
        raise ValueError(f"Confirm: {m.raw.hex()}")
    return m


@case("client", "Accept, but nobody at the link", slow=LINK)
async def _(c):
    await client_confirm(c)
    await c.tcp(code=TIMEOUT_CL, lo=4, hi=CLNT_LLC)


@case("client", "Accept with size code 15, nobody at the link", slow=LINK)
async def _(c):
    await client_confirm(c, size=15, psn=0xffffff, qpn=0xffffff, token=0xffffffff)
    await c.tcp(code=TIMEOUT_CL, lo=4, hi=CLNT_LLC)


@case("client", "Accept with trailing bytes, then a Decline and data", slow=LINK)
async def _(c):
    await client_confirm(c, rest=b"\xcc" * 1000)
    await sleep(1)
    c.in_time(3)
    c.rx = 1
    c.conn.send(msg.decline(c.peer, TIMEOUT_CL) + HTTP)
    await c.tcp(early=HTTP, hi=CLNT_LLC)


@case("client", "Accept byte by byte, Declines cross", slow=LINK)
async def _(c):
    await c.dribble(msg.ac_r(ACCEPT, c.peer), 0.005)
    c.in_time(4)
    await c.clc(CONFIRM)
    c.mark()
    c.cross(msg.decline(c.peer, TIMEOUT_CL), HTTP)
    await c.declined(TIMEOUT_CL, limit=CLNT_LLC)
    await c.tcp(early=HTTP, hi=CLNT_LLC)


@case("client", "two Accepts", slow=LINK)
async def _(c):
    await client_confirm(c)
    c.in_time(3)
    c.conn.send(msg.ac_r(ACCEPT, c.peer))
    c.bad = 1
    await c.fails(errno.EPROTO, 0, CLNT_LLC)


@case("client", "Accept, then FIN", slow=LINK)
async def _(c):
    await client_confirm(c)
    c.in_time(3)
    c.conn.shut()
    await c.fails((errno.ECONNRESET, errno.ECONNABORTED), 0, CLNT_LLC)


@case("client", "Accept, then reset", slow=LINK)
async def _(c):
    await client_confirm(c)
    c.in_time(3)
    c.conn.rst = True
    c.conn.net.send_tcp(c.conn, 4 | 16, c.conn.snd_nxt, b"", b"")
    await c.fails((errno.ECONNRESET, errno.ECONNABORTED), 0, CLNT_LLC)


@case("client", "Accept with a zero GID", slow=LINK)
async def _(c):
    """fallback at once or when the link does not come up"""
    c.send(msg.ac_r(ACCEPT, c.peer, gid=b"\0" * 16))
    c.stalled = True
    m = await msg.read_clc(c.conn, c.quick)
    if m.type == CONFIRM:
        m = await msg.read_clc(c.conn, c.quick + CLNT_LLC)
    if m.type != DECLINE:
        raise ValueError(f"type {m.type}")
    c.tx += 1
    await c.tcp(hi=CLNT_LLC)


for row in BAD_PROPOSALS:
    bad_proposal(*row)
for i, row in enumerate(DECLINED_PROPOSALS):
    declined_proposal(*row, i % 4 == 0)
for row in GOOD_PROPOSALS:
    good_proposal(*row)
for row in RAW:
    raw_bytes(*row)
for row in BAD_DECLINES:
    bad_decline(*row)
for row in BAD_CONFIRMS:
    bad_confirm(*row)
for row in BAD_ACCEPTS:
    bad_accept(*row)
for row in DECLINED_ACCEPTS:
    declined_accept(*row)
