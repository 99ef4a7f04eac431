#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""asyncio: server, or client that prints what it saw.

usage: aio.py server|client ADDRESS PORT PROTO FILE    (PROTO: 0, 6 or 256)
"""
import asyncio
import hashlib
import os
import socket
import ssl
import struct
import sys

MODE, ADDR, PORT, PROTO, FILE = sys.argv[1], sys.argv[2], int(sys.argv[3]), \
    int(sys.argv[4]), sys.argv[5]
TLS = FILE.rsplit("/", 2)[0] + "/tls"


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def pattern(n):
    block = bytes(range(251)) * 41
    return (block * (n // len(block) + 1))[:n]


async def serve_one(reader, writer):
    """The first line says what the client wants."""
    try:
        word, *arg = (await reader.readline()).split() or [b""]
        if word == b"echo":
            while data := await reader.read(30000):
                writer.write(data)
                await writer.drain()
        elif word == b"sum":
            writer.write(digest(await reader.readexactly(int(arg[0]))).encode() + b"\n")
        elif word == b"send":
            writer.write(pattern(int(arg[0])))
        elif word == b"file":
            with open(FILE, "rb") as f:
                await asyncio.get_running_loop().sendfile(writer.transport, f)
        elif word == b"reset":
            sock = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return
        elif word == b"lines":
            while line := await reader.readline():
                writer.write(line.upper())
        await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
        await reader.read()
    except (OSError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def server():
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, PROTO)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((ADDR, PORT))
    tls_sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, PROTO)
    tls_sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    tls_sock.bind((ADDR, PORT + 1))
    ctx = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    ctx.load_cert_chain(TLS + "/cert.pem", TLS + "/key.pem")
    a = await asyncio.start_server(serve_one, sock=sock, limit=2**16)
    b = await asyncio.start_server(serve_one, sock=tls_sock, ssl=ctx)
    async with a, b:
        await asyncio.gather(a.serve_forever(), b.serve_forever())


async def sock_connect(sock, port=PORT):
    """The event loop's own refuses protocols that getaddrinfo() does not know."""
    loop = asyncio.get_running_loop()
    if not PROTO:
        await loop.sock_connect(sock, (ADDR, port))
        return
    try:
        sock.connect((ADDR, port))
        return
    except BlockingIOError:
        pass
    done = loop.create_future()
    loop.add_writer(sock, lambda: done.done() or done.set_result(None))
    try:
        await done
    finally:
        loop.remove_writer(sock)
    err = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if err:
        raise OSError(err, os.strerror(err))


async def connect(port=PORT, **kw):
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, PROTO)
    sock.setblocking(False)
    try:
        await sock_connect(sock, port)
        return await asyncio.open_connection(sock=sock, **kw)
    except BaseException:
        sock.close()
        raise


async def echo(n):
    reader, writer = await connect()
    writer.write(b"echo\n")
    data = pattern(n)

    async def push():
        for i in range(0, n, 7000):
            writer.write(data[i:i + 7000])
            await writer.drain()
        writer.write_eof()
    task = asyncio.create_task(push())
    got = await reader.read(-1)
    await task
    writer.close()
    await writer.wait_closed()
    return len(got), got == data


async def ask(text, n=-1, send=b"", **kw):
    reader, writer = await connect(**kw)
    writer.write(text + b"\n" + send)
    await writer.drain()
    if n == 0:
        got = await reader.readline()
    else:
        got = await (reader.readexactly(n) if n > 0 else reader.read())
    writer.close()
    await writer.wait_closed()
    return digest(got), len(got)


async def lines():
    reader, writer = await connect()
    writer.write(b"lines\n")
    out = b""
    for i in range(200):
        writer.write(b"line %d\n" % i)
        out += await reader.readline()
    writer.close()
    return digest(out)


async def failure(coro):
    try:
        return "no error", await coro
    except Exception as e:
        return type(e).__name__


async def reset():
    reader, writer = await connect()
    writer.write(b"reset\n" + pattern(5000))
    await writer.drain()
    return await reader.read()


async def silent():
    reader, writer = await connect()
    try:
        return await asyncio.wait_for(reader.read(1), 0.3)
    finally:
        writer.close()


async def low_level():
    """The socket calls of the event loop itself."""
    loop = asyncio.get_running_loop()
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, PROTO)
    sock.setblocking(False)
    await sock_connect(sock)
    await loop.sock_sendall(sock, b"echo\n")
    h, n, size = hashlib.sha256(), 0, os.path.getsize(FILE)
    buf = bytearray(65536)
    with open(FILE, "rb") as f:
        task = asyncio.create_task(loop.sock_sendfile(sock, f))
        while n < size:
            r = await loop.sock_recv_into(sock, buf)
            if not r:
                break
            h.update(buf[:r])
            n += r
        sent = await task
    sock.shutdown(socket.SHUT_WR)
    rest = await loop.sock_recv(sock, 1)
    sock.close()
    return sent, n, h.hexdigest()[:16], rest


async def client():
    ctx = ssl.create_default_context(cafile=TLS + "/cert.pem")
    tls = {"port": PORT + 1, "ssl": ctx, "server_hostname": ADDR}
    print("echo at once", await asyncio.gather(*(echo(5000 + 1000 * i) for i in range(20))))
    print("low level", await low_level())
    # what differs with a protocol of its own is how sockets are made
    if not PROTO:
        print("echo", await echo(1_000_000))
        print("sum", await ask(b"sum 800000", 0, pattern(800000)))
        print("send", await ask(b"send 2000000"))
        print("part", await ask(b"send 2000000", 10))
        print("file", await ask(b"file"))
        print("lines", await lines())
    # all of it is read: asyncio raises an error for TLS data after a close
    print("TLS", await ask(b"sum 300000", 0, pattern(300000), **tls),
          await ask(b"file", os.path.getsize(FILE), **tls))
    print("reset", await failure(reset()))
    print("silent", await failure(silent()))
    print("refused", await failure(connect(PORT + 9)))
    print("still there", await ask(b"send 1000"))


asyncio.run(server() if MODE == "server" else client())
