# SPDX-License-Identifier: GPL-2.0
"""Coroutines on one thread, for clc_peer.py. asyncio would do, but its import
alone takes many seconds in an emulated guest.

A task waits for a condition, which is looked at after each event; events come
from descriptors and, at least every TICK, from the clock.
"""
import select
import time

TICK = 0.05


class Late(Exception):
    """A wait took longer than allowed."""


class _Wait:
    def __init__(self, cond, end):
        self.cond, self.end = cond, end

    def __await__(self):
        yield self


class Task:
    def __init__(self, coro):
        self.coro, self.wait = coro, None
        self.done, self.result, self.error = False, None, None
        self.step()

    def step(self):
        """Run up to the next wait; True if it ran."""
        w = self.wait
        if w and not w.cond() and time.monotonic() < w.end:
            return False
        try:
            self.wait = self.coro.send(None)
        except StopIteration as e:
            self.done, self.result = True, e.value
        except Exception as e:	# shown by whoever waits for the task
            self.done, self.error = True, e
        return True


_epoll = select.epoll()
_callbacks = {}
_tasks = []


def spawn(coro):
    t = Task(coro)
    if not t.done:
        _tasks.append(t)
    return t


def run(coro):
    """Until @coro is done; other tasks are left as they are."""
    main = spawn(coro)
    while not main.done:
        next_end = min(t.wait.end for t in _tasks if not t.done)
        for fd, _ in _epoll.poll(min(max(next_end - time.monotonic(), 0.001), TICK)):
            if fd in _callbacks:
                _callbacks[fd]()
        _tasks[:] = [t for t in _tasks if not t.done]
        for t in list(_tasks):
            while not t.done and t.step():
                pass
    if main.error:
        raise main.error
    return main.result


def on_input(fd, callback):
    """@callback whenever @fd is readable"""
    _callbacks[fd] = callback
    _epoll.register(fd, select.EPOLLIN)


async def until(cond, limit, what=""):
    """Wait for cond(), seconds at most."""
    if cond():
        return
    await _Wait(cond, time.monotonic() + limit)
    if not cond():
        raise Late(f"{what or 'nothing'} within {limit:.1f} s")


async def sleep(seconds):
    await _Wait(lambda: False, time.monotonic() + seconds)


async def join(tasks, limit=600):
    await until(lambda: all(t.done for t in tasks), limit, "tasks")
    for t in tasks:
        if t.error:
            raise t.error
    return [t.result for t in tasks]


async def ready(sock, out=False, limit=600):
    """Wait until @sock is readable or writable, or in error."""
    hit = []
    fd = sock.fileno()

    def callback():
        hit.append(1)

    _callbacks[fd] = callback
    _epoll.register(fd, (select.EPOLLOUT if out else select.EPOLLIN) | select.EPOLLONESHOT)
    try:
        await until(lambda: hit or sock.fileno() != fd, limit, "socket event")
    finally:
        # once closed, the number may be somebody else's
        if sock.fileno() == fd:
            _epoll.unregister(fd)
        if _callbacks.get(fd) is callback:
            del _callbacks[fd]
