#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A hostile CLC peer: handshakes that end badly, towards our server and client.

usage: clc_peer.py [-k KINDS] [-s SECONDS] [TEXT]..

In the guest of hostile.sh: namespace A has 10.9.0.1/16 on h0 and the sockets
under test, all other hosts of that network are scripted here (clc_tcp.py) at
h1 in namespace H; B is an honest peer. One line of TAP a case, without number.
-k: kinds of sockets, of smc, ipsmc, tcp (tcp: only to prove this program).
-s: seconds granted for what should happen at once. TEXT: only cases whose name
contains one of the texts.

What must come out: an error or a fallback within the time of the step; no byte
lost, added or changed by a fallback; honest connections are not delayed.
"""
import _thread
import errno
import os
import socket
import sys
import time
import zlib

import clc_cases
import clc_msg
from clc_loop import Late, join, ready, run, sleep, spawn, until
from clc_tcp import Net, Reset, TcpError, enter_ns, mac_of

HOST = "10.9.0.1"	# kernel side, in A
HONEST = "10.0.0.1"	# the same namespace towards B
HONEST_B = "10.0.0.2"
PORT = 7000
END = b"\n\n"
AF_SMC, IPPROTO_SMC = 43, 256


class Failed(Exception):
    pass


class Skipped(Exception):
    """This machine was too slow to do what the case is about."""


def kind_socket(kind):
    if kind == "smc":	# Python can not make addresses for AF_SMC
        fd = socket.socket(AF_SMC, socket.SOCK_STREAM, 0).detach()
        s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fd)
    else:
        s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC if kind == "ipsmc" else 0)
    s.setblocking(False)
    return s


def answer(data):
    return (b"%08x" % zlib.crc32(data)) * 300 + END


def counters():
    try:
        with open("/proc/self/net/smc_stat") as f:
            return {w[0]: int(w[1]) for w in map(str.split, f) if len(w) == 2 and w[1].isdigit()}
    except OSError:
        return {}


# applications on sockets of the kernel

async def app_connect(sock, addr):
    """errno"""
    rc = sock.connect_ex(addr)
    if rc == errno.EINPROGRESS:
        await ready(sock, out=True)
        rc = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    return rc


async def app_recv(sock, limit=600):
    while True:
        try:
            return sock.recv(65536)
        except BlockingIOError:
            await ready(sock, limit=limit)


async def app_send(sock, data):
    while data:
        try:
            data = data[sock.send(data):]
        except BlockingIOError:
            await ready(sock, out=True)


async def app_read(sock, n=None, limit=600):
    """@n bytes; or up to END or the end"""
    got = b""
    while (len(got) < n) if n else (END not in got):
        data = await app_recv(sock, limit)
        if not data:
            break
        got += data
    return got


class Peer:
    """One host of ours."""

    def __init__(self, i):
        self.ip = f"10.9.{1 + i // 200}.{2 + i % 200}"
        self.mac = mac_of(self.ip)
        self.id = b"\x0a\x01" + self.mac
        self.gid1 = b"\xfe\x80" + b"\0" * 6 + self.mac[:3] + b"\xff\xfe" + self.mac[3:]
        self.gid2 = clc_msg.gid4(self.ip)
        self.conns, self.links = 255, 2	# until the kernel says less


class Env:
    def __init__(self, net, kinds, quick):
        self.net, self.kinds, self.quick = net, kinds, quick
        self.served = {}	# peer address: what the application has read
        self.kernel_id = None	# peer id of the kernel
        self.cases = 0

    def listen(self, kind, port, backlog=512, greeting=b""):
        s = kind_socket(kind)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("0.0.0.0", port))
        s.listen(backlog)
        spawn(self._accept(s, greeting))
        return s

    async def _accept(self, lsock, greeting):
        while lsock.fileno() >= 0:
            try:
                sock, addr = lsock.accept()
                sock.setblocking(False)
                spawn(self._serve(sock, addr, greeting))
            except BlockingIOError:
                await ready(lsock)

    async def _serve(self, sock, addr, greeting):
        try:
            await app_send(sock, greeting)
            data = await app_read(sock)
            self.served[addr] = data
            await app_send(sock, answer(data))
            while await app_recv(sock):
                pass
        except OSError as e:
            self.served.setdefault(addr, repr(e))
        finally:
            sock.close()

    def new_case(self, spec):
        self.cases += 1
        i = self.cases
        return ROLES[spec.role](self, spec, Peer(i), self.kinds[i % len(self.kinds)], i)

    def listen_b(self):
        """Server of the honest peer"""
        enter_ns("B")
        self.listen(self.kinds[0], PORT)
        enter_ns("A")

    async def honest_open(self, port, ns="B"):
        enter_ns(ns)
        s = kind_socket(self.kinds[0])
        enter_ns("A")
        rc = await app_connect(s, (HONEST if ns == "B" else HONEST_B, port))
        if rc:
            s.close()
            raise OSError(rc, f"honest connect(): {os.strerror(rc)}")
        return s

    async def honest_talk(self, s):
        req = b"honest" + os.urandom(100).hex().encode() + END
        await app_send(s, req)
        want = answer(req)
        if await app_read(s, len(want), 20) != want:
            raise Failed("wrong answer")

    async def honest(self, port, ns="B"):
        """Connection from @ns, request and answer, seconds."""
        start = time.monotonic()
        s = await self.honest_open(port, ns)
        try:
            await self.honest_talk(s)
        finally:
            s.close()
        return time.monotonic() - start


class Case:
    """Common to both roles. What a case is expected to count: bad: CLC_RX_BAD;
    err: *_HS_ERR; fall: *_FALLBACK; rx, tx: CLC_*_DECLINE; raw:
    CLC_NO_PROPOSAL."""

    def __init__(self, env, spec, peer, kind, no):
        self.env, self.spec, self.peer, self.kind, self.no = env, spec, peer, kind, no
        self.net, self.quick = env.net, env.quick
        self.conn = None
        self.bad = self.rx = self.tx = self.raw = self.err = self.fall = 0
        self.stalled = False
        self.since = 0
        self.late = b""	# Decline that crosses
        self.skip = ""

    def mark(self):
        """time counts from here"""
        self.since = time.monotonic()

    def send(self, data):
        self.mark()
        self.conn.send(data)

    async def dribble(self, data, pause):
        """byte by byte, until the other side ends it"""
        self.mark()
        due = time.monotonic()
        for b in data:
            if self.conn.rst or self.conn.fin:
                return
            self.conn.send(bytes([b]))
            due += pause
            if due > time.monotonic():	# else we are late
                await sleep(due - time.monotonic())

    def took(self, lo, hi, what):
        t = time.monotonic() - self.since
        if not lo * 0.75 <= t <= hi + self.quick:
            raise Failed(f"{what} after {t:.1f} s, not {lo}..{hi}")

    def in_time(self, limit):
        t = time.monotonic() - self.since
        if t > limit:
            raise Skipped(f"too slow: {t:.1f} s")

    def cross(self, decline, data):
        """Both go out the moment the kernel sends something."""
        self.stalled = True
        self.late = decline
        self.rx = 1
        self.conn.on_data = lambda: self.conn.send(decline + data)

    def was_late(self, got, want):
        """Our crossing Decline came too late: the kernel waits 10 ms at least.
        Then it is data by rights."""
        if not self.late or got != self.late + want or self.conn.lag < 0.01:
            return False
        self.rx = 0
        self.skip = f"too slow to cross: {self.conn.lag:.3f} s"
        return True

    async def clc(self, kind, limit=None):
        m = await clc_msg.read_clc(self.conn, limit or self.quick)
        if m.type != kind:
            raise Failed(f"CLC type {m.type}, not {kind}: {m.raw.hex()}")
        return m

    async def declined(self, code, version=2, limit=0):
        m = await self.clc(clc_msg.DECLINE, self.quick + limit)
        self.tx += 1
        if clc_msg.diagnosis(m) != code or m.version != version:
            raise Failed(f"Decline v{m.version} {clc_msg.diagnosis(m):#010x}, "
                         f"not v{version} {code:#010x}")

    def nothing_sent(self):
        if self.conn.rx:
            raise Failed(f"unexpected: {bytes(self.conn.rx[:60]).hex()}")

    def close(self):
        if self.conn:
            self.conn.reset()


class Server(Case):
    """Towards a server of the kernel: we are the client."""

    async def open(self):
        port = PORT + self.env.kinds.index(self.kind)
        self.mark()
        try:
            self.conn = await self.net.connect(self.peer.ip, 30000 + self.no, port, self.spec.smc)
        except Reset:
            self.in_time(4)	# the server's patience may be over
            raise
        self.mark()
        if self.spec.smc and self.kind != "tcp" and not self.conn.smc:
            raise Failed("SYN-ACK without option")

    def seen(self):
        return self.env.served.get((self.peer.ip, self.conn.port))

    def unseen(self):
        if self.seen() is not None:
            raise Failed(f"application got {self.seen()!r}")

    async def application(self, limit):
        await until(lambda: self.seen() is not None, limit, "data at the application")
        return self.seen()

    async def dead(self, lo=0, hi=0):
        """The connection has failed: reset, the application never sees it."""
        self.err += 1
        self.stalled = True
        await self.conn.ended(hi + self.quick)
        self.took(lo, hi, "ended")
        self.nothing_sent()
        self.unseen()

    async def tcp(self, early=b"", code=None, version=2, lo=0, hi=0):
        """Fallback: a Decline with @code, if any, and then it is a TCP
        connection whose application has got @early and what we send now."""
        req = b"GET /%d HTTP/1.0\n" % self.no + b"x" * 2000 + END
        self.fall += 1
        self.stalled = True
        if code is not None:
            await self.declined(code, version, hi)
            self.took(lo, hi, "Decline")
        if END in early:
            req = b""
        else:
            self.conn.send(req)
        got = await self.application(hi + self.quick)
        if got != early + req and not self.was_late(got, early + req):
            raise Failed(f"application got {got!r}")
        want = answer(got)
        got = await self.conn.read(len(want), self.quick)
        if got != want:
            raise Failed(f"answer {got[:60].hex()}")
        self.conn.shut()
        if await self.conn.ended(self.quick):
            raise Failed("reset at the end")
        self.nothing_sent()


class Client(Case):
    """Towards a client of the kernel: we are the server."""

    sock = None
    rc = None	# of connect()

    async def open(self):
        port = 20000 + self.no
        got = []
        self.net.listeners[port] = (self.spec.smc, got.append)
        self.sock = kind_socket(self.kind)
        addr = (self.peer.ip, port)
        self.mark()
        if self.spec.blocking:
            self.sock.setblocking(True)
            _thread.start_new_thread(self._block, (addr,))
        else:
            spawn(self._connect(addr))
        await until(lambda: got, 15, "SYN")
        self.conn = got[0]
        if self.kind != "tcp" and not self.conn.smc:
            raise Failed("SYN without option")
        if self.spec.smc and self.kind != "tcp":
            m = await self.clc(clc_msg.PROPOSAL)
            self.peer.conns, self.peer.links = clc_msg.limits(m)
            self.env.kernel_id = m.raw[8:16]
            self.mark()

    async def _connect(self, addr):
        self.rc = await app_connect(self.sock, addr)

    def _block(self, addr):
        self.rc = self.sock.connect_ex(addr)

    async def outcome(self, lo, hi):
        self.stalled = True
        await until(lambda: self.rc is not None, hi + self.quick, "connect() not done")
        self.took(lo, hi, f"connect() = {self.rc}")

    def unexpected(self):
        raise Failed(f"connect() = {self.rc} {errno.errorcode.get(self.rc)}")

    async def fails(self, err, lo=0, hi=0):
        self.err += 1
        await self.outcome(lo, hi)
        if self.rc not in (err if isinstance(err, tuple) else (err,)):
            self.unexpected()
        self.nothing_sent()
        self.sock.close()
        await self.conn.ended(self.quick)

    async def tcp(self, early=b"", code=None, version=2, lo=0, hi=0):
        """Fallback: connect() works, and it is a TCP connection; @early of the
        answer has been sent already."""
        self.fall += 1
        await self.outcome(lo, hi)
        if self.rc:
            self.unexpected()
        if code is not None:
            await self.declined(code, version)
        self.sock.setblocking(False)
        req = b"request %d" % self.no + b"y" * 3000 + END
        await app_send(self.sock, req)
        got = await self.conn.read(len(req), self.quick)
        if got != req:
            raise Failed(f"request came as {got[:80].hex()}")
        rest = answer(req)
        self.conn.send(rest)
        self.conn.shut()
        got = await app_read(self.sock, 1 << 30, self.quick)
        if got != early + rest and not self.was_late(got, early + rest):
            raise Failed(f"application got {got[:80].hex()}..., {len(got)} bytes")
        self.sock.close()
        if await self.conn.ended(self.quick):
            raise Failed("reset at the end")

    def close(self):
        self.net.listeners.pop(20000 + self.no, None)
        super().close()
        if self.sock:
            self.sock.close()


ROLES = {"server": Server, "client": Client}
FAILED = 0


def tap(ok, name, why=""):
    global FAILED
    FAILED += not ok
    if why:
        print("#", str(why)[:600].replace("\n", " "))
    print("ok" if ok else "not ok", name, flush=True)


async def run_case(case):
    name = f"{case.spec.role}: {case.spec.name}"
    try:
        await case.open()
        await case.spec.func(case)
        tap(True, name + (f" # SKIP {case.skip}" if case.skip else ""))
    except Skipped as e:
        case.err = None
        tap(True, f"{name} # SKIP {e}")
    except (TcpError, Failed, Late, ValueError, OSError) as e:
        case.err = None	# its counts are unknown
        tap(False, name, f"{case.kind} {type(e).__name__}: {e}")
    finally:
        case.stalled = True
        case.close()
    return case


async def pool(env, specs, size):
    """@size at a time"""
    todo = list(specs)
    done = []

    async def worker():
        while todo:
            done.append(await run_case(env.new_case(todo.pop(0))))

    await join([spawn(worker()) for _ in range(size)])
    return done


def check_counts(done, before, after):
    if any(c.err is None for c in done):
        print("# counters not compared, there were failures")
        return
    for name, field, cls in (
            ("CLC_RX_BAD", "bad", Case), ("CLC_RX_DECLINE", "rx", Case),
            ("CLC_TX_DECLINE", "tx", Case), ("CLC_NO_PROPOSAL", "raw", Case),
            ("SRV_HS_ERR", "err", Server), ("CLNT_HS_ERR", "err", Client),
            ("SRV_FALLBACK", "fall", Server), ("CLNT_FALLBACK", "fall", Client)):
        want = sum(getattr(c, field) for c in done if isinstance(c, cls))
        got = after[name] - before[name]
        tap(want == got, f"{name} counts each", f"{got}, not {want}" if want != got else "")


async def overload(env):
    """Silent clients use up a short backlog; an honest one gets through."""
    name = "server: silent clients use up the backlog, another one gets through"
    lsock = env.listen(env.kinds[0], PORT + 10, 4)
    for i in range(12):
        spawn(env.net.connect(f"10.9.8.{2 + i}", 30000, PORT + 10))
    await sleep(1)
    try:
        t = await env.honest(PORT + 10)
        tap(t < 1 + env.quick / 4, name, f"{t:.2f} s")
    except (OSError, Failed) as e:
        tap(False, name, repr(e))
    lsock.close()


def spoofed(env, i):
    """A hostile host that claims to be B."""
    peer = Peer(0)
    peer.ip = f"10.9.8.{100 + i}"
    peer.mac = mac_of(peer.ip)
    peer.id = env.kernel_id
    peer.gid2 = clc_msg.gid4("10.0.0.2")
    return peer


async def spoof_open(env, i, port=PORT):
    """Connection and Accept of a host that claims to be B"""
    peer = spoofed(env, i)
    conn = await env.net.connect(peer.ip, 30000, port)
    conn.send(clc_msg.proposal(peer))
    m = await clc_msg.read_clc(conn, env.quick)
    if m.type != clc_msg.ACCEPT:
        raise Failed(f"no Accept: {m.raw.hex()}")
    return peer, conn, m


async def spoof_sync(env):
    """Declines that say B has lost its link group: it has not."""
    s = await env.honest_open(PORT)
    try:
        peer, conn, m = await spoof_open(env, 0)
        if m.flags:
            raise Failed("no group of B was offered")
        conn.send(clc_msg.decline(peer, clc_cases.SYNCERR, oos=True))
        await sleep(1)
        await env.honest_talk(s)
    finally:
        s.close()
    return await env.honest(PORT)


async def spoof_confirm(env):
    """A Confirm that names memory B never announced, and the server speaks"""
    lsock = env.listen(env.kinds[0], PORT + 20, greeting=b"220 ready\r\n")
    s = await env.honest_open(PORT)
    try:
        peer, conn, m = await spoof_open(env, 1, PORT + 20)
        if m.flags:
            raise Failed("no group of B was offered")
        conn.send(clc_msg.ac_r(clc_msg.CONFIRM, peer, low=0))
        await sleep(1)
        conn.reset()
        await sleep(1)
        await env.honest_talk(s)
    finally:
        s.close()
        lsock.close()
    return await env.honest(PORT)


async def spoof_create(env):
    """First contact in the name of B that never ends"""
    peer, conn, m = await spoof_open(env, 2)
    if not m.flags:
        # use the group up: no new connection may join it
        conn.send(clc_msg.decline(peer, clc_cases.SYNCERR, oos=True))
        await sleep(0.5)
        peer, conn, m = await spoof_open(env, 3)
    if not m.flags:
        raise Failed("no first contact")
    t = await env.honest(PORT)
    if t > 1 + env.quick / 4:
        raise Failed(f"honest connection took {t:.2f} s")
    return t


async def spoofs(env):
    for func in (spoof_sync, spoof_confirm, spoof_create):
        name = f"spoofed peer: {func.__doc__}"
        try:
            tap(True, name, f"{await func(env):.2f} s")
        except (TcpError, Failed, Late, ValueError, OSError) as e:
            tap(False, name, repr(e))
        await sleep(1)


async def series(env, count, seconds):
    """Times of honest connections, either direction in turn, sorted"""
    end = time.monotonic() + seconds
    times = []
    while len(times) < count and (time.monotonic() < end or len(times) < 2):
        times.append(await env.honest(PORT, "AB"[len(times) % 2]))
    return sorted(times)


async def stall(env, slow):
    """Start the cases that wait for timers; honest connections meanwhile."""
    if not slow:
        return []
    cases = [env.new_case(s) for s in slow]
    await series(env, 2, 0)	# makes the link groups
    base = await series(env, 16, 10)
    tasks = [spawn(run_case(c)) for c in cases]
    try:
        await until(lambda: all(c.stalled for c in cases), 3)
    except Late:
        print("# not stalled yet:", *(c.spec.name for c in cases if not c.stalled), sep="; ")
    now = await series(env, 32, 3)
    left = sum(not t.done for t in tasks)
    tap(now[len(now) // 2] < base[len(base) // 2] * 2 + 0.5 and left,
        "honest connections to and fro during stalled handshakes",
        " / ".join(f"median {x[len(x) // 2] * 1000:.0f} max {x[-1] * 1000:.0f} ms of {len(x)}"
                   for x in (base, now)) + f", {left} of {len(tasks)} stalled")
    return tasks


async def main(kinds, quick, words):
    enter_ns("H")
    net = Net("h1")
    enter_ns("A")
    await net.find(HOST, "10.9.8.1")
    env = Env(net, kinds, quick)
    for i, k in enumerate(kinds):
        env.listen(k, PORT + i)
    env.listen_b()
    specs = [s for s in clc_cases.SPECS
             if (not words or any(w in f"{s.role}: {s.name}" for w in words)) and
             (kinds != ["tcp"] or s.plain)]
    before = counters()
    start = time.monotonic()
    tasks = await stall(env, [s for s in specs if s.slow == clc_cases.TIMER])
    link = spawn(pool(env, [s for s in specs if s.slow == clc_cases.LINK], 5))
    done = await pool(env, [s for s in specs if not s.slow], 6)
    done += await join(tasks) + (await join([link]))[0]
    print(f"# {len(done)} cases in {time.monotonic() - start:.0f} s")
    await sleep(0.5)
    if before and done:
        check_counts(done, before, counters())
    if not words and kinds != ["tcp"]:
        await spoofs(env)
        await overload(env)
    print(f"# {net.udp} RoCE packets seen")
    net.close()


def arguments(args):
    opts = {"-k": "smc,ipsmc", "-s": "5"}
    while len(args) > 1 and args[0] in opts:
        opts[args[0]] = args[1]
        args = args[2:]
    return opts["-k"].split(","), float(opts["-s"]), args


run(main(*arguments(sys.argv[1:])))
sys.exit(FAILED != 0)
