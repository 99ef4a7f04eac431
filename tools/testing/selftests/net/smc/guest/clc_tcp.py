# SPDX-License-Identifier: GPL-2.0
"""A small TCP of our own on a packet socket, for peers no kernel would play.

The SMC option goes out in SYN and SYN-ACK where asked. Every address of the
network but the kernel's own is a host of ours: ARP is answered for all. Data is
taken in order only, acknowledged at once; own data is repeated after a second;
the window is fixed. Nothing is checked that a veth pair can not break.
"""
import ctypes
import os
import socket
import struct
import time

import clc_loop

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
OPT_MSS = b"\x02\x04\x05\x78"
OPT_SMC = b"\x01\x01\xfe\x06\xe2\xd4\xc3\xd9"
MSS = 1400
ETH_P_ALL = 3
SO_TIMESTAMPNS = 35
CLONE_NEWNET = 0x40000000


class TcpError(Exception):
    pass


class Eof(TcpError):
    pass


class Reset(TcpError):
    pass


def enter_ns(name):
    """Network namespace of this thread, for the sockets it makes from now on."""
    libc = ctypes.CDLL(None, use_errno=True)
    fd = os.open(f"/run/netns/{name}", os.O_RDONLY)
    if libc.setns(fd, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), f"setns {name}")
    os.close(fd)


def mac_of(ip):
    return b"\x02\x00" + socket.inet_aton(ip)


def csum(data):
    if len(data) & 1:
        data += b"\0"
    s = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while s >> 16:
        s = (s & 0xffff) + (s >> 16)
    return ~s & 0xffff


def diff(a, b):
    """a - b of two sequence numbers, signed"""
    return (a - b + 0x80000000 & 0xffffffff) - 0x80000000


class Conn:
    """One connection. What the kernel sent is in rx; fin and rst say how it
    ended; read() and the others wait."""

    def __init__(self, net, ip, port, hport):
        self.net, self.ip, self.port, self.hport = net, ip, port, hport
        self.snd_una = self.snd_nxt = int.from_bytes(os.urandom(4), "big")
        self.rcv_nxt = None
        self.unacked = []	# (seq, flags, data, options)
        self.sent_at = 0
        self.rx = bytearray()
        self.smc = None		# the other side has sent the option
        self.open = self.fin = self.rst = False
        self.on_data = None	# called once, when data arrives, in the act
        self.lag = 0		# seconds from the arrival to on_data()
        net.conns[ip, port, hport] = self

    # output

    def _out(self, flags, data=b"", seq=None, opts=b""):
        self.net.send_tcp(self, flags, self.snd_nxt if seq is None else seq, data, opts)

    def _queue(self, flags, data=b"", opts=b""):
        self.unacked.append((self.snd_nxt, flags, data, opts))
        self.sent_at = time.monotonic()
        self._out(flags, data, opts=opts)
        self.snd_nxt = self.snd_nxt + len(data) + bool(flags & (SYN | FIN)) & 0xffffffff

    def send(self, data):
        for i in range(0, len(data), MSS):
            self._queue(ACK | PSH, bytes(data[i:i + MSS]))

    def shut(self):
        self._queue(ACK | FIN)

    def reset(self):
        if self.rcv_nxt is not None and not self.rst:
            self._out(RST | ACK)
        self.drop()

    def drop(self):
        self.unacked.clear()
        self.net.conns.pop((self.ip, self.port, self.hport), None)

    def tick(self, now):
        if self.unacked and now - self.sent_at > 1 and not self.rst:
            self.sent_at = now
            for seq, flags, data, opts in self.unacked:
                self._out(flags, data, seq, opts)

    # input

    def segment(self, flags, seq, ack, opts, data):
        if flags & RST:
            self.rst = True
            self.drop()
        elif self._syn(flags, seq, ack, opts):
            self._data(flags, seq, ack, data)

    def _syn(self, flags, seq, ack, opts):
        if not flags & SYN:
            return self.rcv_nxt is not None
        if self.rcv_nxt is None:
            self.smc = OPT_SMC[2:] in opts
            self.rcv_nxt = seq + 1 & 0xffffffff
        if flags & ACK:
            self._acked(ack)
            self.open = True
            self._out(ACK)
        return False

    def _acked(self, ack):
        if diff(ack, self.snd_una) > 0:
            self.snd_una = ack
            self.open = True
        while self.unacked:
            seq, flags, data, _ = self.unacked[0]
            if diff(seq + len(data) + bool(flags & (SYN | FIN)), ack) > 0:
                break
            self.unacked.pop(0)

    def _data(self, flags, seq, ack, data):
        if flags & ACK:
            self._acked(ack)
        if not data and not flags & FIN:
            return
        skip = diff(self.rcv_nxt, seq)
        if 0 <= skip <= len(data) and not self.fin:
            self.rx += data[skip:]
            if self.on_data and data[skip:]:
                self.lag = time.time() - self.net.stamp
                call, self.on_data = self.on_data, None
                call()
            self.rcv_nxt = self.rcv_nxt + len(data) - skip & 0xffffffff
            if flags & FIN:
                self.rcv_nxt = self.rcv_nxt + 1 & 0xffffffff
                self.fin = True
        self._out(ACK)

    # waiting

    async def peek(self, n, limit):
        await clc_loop.until(lambda: len(self.rx) >= n or self.fin or self.rst, limit,
                             f"{n} bytes expected, {len(self.rx)} there and no more")
        if len(self.rx) < n:
            raise (Reset if self.rst else Eof)(f"want {n} bytes, have {bytes(self.rx[:80]).hex()}")
        return bytes(self.rx[:n])

    async def read(self, n, limit):
        data = await self.peek(n, limit)
        del self.rx[:n]
        return data

    async def ended(self, limit):
        """True: reset, False: FIN"""
        await clc_loop.until(lambda: self.fin or self.rst, limit)
        return self.rst and not self.fin


class Net:
    """All hosts at the far end of @dev, which the caller's namespace has."""

    def __init__(self, dev):
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.sock.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)	# SO_RCVBUFFORCE
        self.sock.bind((dev, 0))
        self.sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.sock.setblocking(False)
        self.stamp = 0		# arrival of the packet at hand
        self.conns = {}
        self.listeners = {}	# port -> (with option?, callback of a Conn)
        self.hwaddr = b"\xff" * 6
        self.udp = 0		# RoCE v2 packets seen
        clc_loop.on_input(self.sock.fileno(), self._readable)
        clc_loop.spawn(self._tick())

    async def _tick(self):
        while True:
            await clc_loop.sleep(0.25)
            self._readable()	# what we are late for needs no repetition
            for c in list(self.conns.values()):
                c.tick(time.monotonic())

    def _readable(self):
        for _ in range(64):
            try:
                pkt, anc, _, addr = self.sock.recvmsg(65600, 64)
            except BlockingIOError:
                return
            self.stamp = sum(x * y for x, y in zip(struct.unpack("qq", anc[0][2]), (1, 1e-9)))
            if addr[2] == socket.PACKET_OUTGOING:
                continue
            proto = pkt[12:14]
            if proto == b"\x08\x06":
                self._arp(pkt)
            elif proto == b"\x08\x00":
                self._ip(pkt[14:])

    def _arp(self, pkt):
        op, = struct.unpack_from("!H", pkt, 20)
        sha, spa, tpa = pkt[22:28], pkt[28:32], pkt[38:42]
        self.hwaddr = sha
        if op != 1 or spa == tpa:
            return
        mac = mac_of(socket.inet_ntoa(tpa))
        self.sock.send(sha + mac + pkt[12:20] + b"\0\x02" + mac + tpa + sha + spa)

    def _ip(self, ip):
        hlen = (ip[0] & 15) * 4
        total, = struct.unpack_from("!H", ip, 2)
        if ip[9] == 17:
            self.udp += struct.unpack_from("!H", ip, hlen + 2)[0] == 4791
        if ip[9] != 6:
            return
        tcp = ip[hlen:total]
        sport, dport, seq, ack, off, flags = struct.unpack_from("!HHIIBB", tcp)
        off = (off >> 4) * 4
        self.hostip = ip[12:16]
        key = socket.inet_ntoa(ip[16:20]), dport, sport
        conn = self.conns.get(key)
        if not conn and flags & (SYN | ACK) == SYN and dport in self.listeners:
            self._accept(key, seq, tcp[20:off])
        elif conn:
            known = conn.open
            conn.segment(flags, seq, ack, tcp[20:off], tcp[off:])
            if conn.open and not known and dport in self.listeners:
                self.listeners[dport][1](conn)

    def _accept(self, key, seq, opts):
        conn = Conn(self, *key)
        conn.smc = OPT_SMC[2:] in opts
        conn.rcv_nxt = seq + 1 & 0xffffffff
        conn._queue(SYN | ACK, opts=OPT_MSS + (OPT_SMC if self.listeners[key[1]][0] else b""))

    def send_tcp(self, c, flags, seq, data, opts):
        src, dst = socket.inet_aton(c.ip), self.kernel
        head = struct.pack("!HHIIBBHHH", c.port, c.hport, seq, c.rcv_nxt or 0,
                           (20 + len(opts)) // 4 << 4, flags, 65000, 0, 0) + opts
        pseudo = src + dst + struct.pack("!BBH", 0, 6, len(head) + len(data))
        head = head[:16] + struct.pack("!H", csum(pseudo + head + data)) + head[18:]
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(head) + len(data), 0, 0x4000, 64, 6, 0)
        ip += src + dst
        ip = ip[:10] + struct.pack("!H", csum(ip)) + ip[12:]
        try:
            self.sock.send(self.hwaddr + mac_of(c.ip) + b"\x08\x00" + ip + head + data)
        except OSError:
            pass	# repeated later

    async def find(self, kernel, ip):
        """Learn the hardware address of the kernel's side."""
        self.kernel = socket.inet_aton(kernel)
        ask = b"\xff" * 6 + mac_of(ip) + b"\x08\x06\0\x01\x08\0\x06\x04\0\x01" + \
            mac_of(ip) + socket.inet_aton(ip) + b"\0" * 6 + self.kernel
        for _ in range(50):
            self.sock.send(ask)
            await clc_loop.sleep(0.1)
            if self.hwaddr != b"\xff" * 6:
                return
        raise TcpError("no ARP answer")

    async def connect(self, ip, port, hport, smc=True, limit=20):
        c = Conn(self, ip, port, hport)
        c._queue(SYN, opts=OPT_MSS + (OPT_SMC if smc else b""))
        await clc_loop.until(lambda: c.open or c.rst, limit)
        if c.rst:
            raise Reset("connection refused")
        return c

    def close(self):
        for c in list(self.conns.values()):
            c.reset()
