# SPDX-License-Identifier: GPL-2.0
"""Boots lab guests under QEMU and runs commands in them.

    import labvm
    with labvm.Session("debug", guests=2, logdir="build/check/x") as s:
        rc, text = s.run("A", "uname -r", timeout=60)
        job = s.start("B", "server ...")        # runs on
        ...
        job.wait(30)
    # leaving the block ends the guests; s.splats has what the consoles said
"""
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import splats

LAB_DIR = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.abspath(os.path.join(LAB_DIR, "../../../../../.."))
SMC_LAB = os.path.realpath(os.environ.get("SMC_LAB") or
                           os.path.expanduser("~/.cache/smc-lab"))
BOOT_ATTEMPTS = 3
BOOT_LIMIT = {"fast": 120, "debug": 300}
KMEMLEAK = """K=/sys/kernel/debug/kmemleak
[ -w $K ] || exit 0
echo scan >$K; sleep 6; echo scan >$K; cat $K"""


class LabError(Exception):
    """Something about the lab itself, not about the code under test."""


def kernel_dir(kernel):
    d = os.path.join(SMC_LAB, "current", kernel)
    if not os.path.exists(os.path.join(d, "bzImage")):
        raise LabError(f"no {kernel} kernel in {SMC_LAB}; run: make lab KERNELS={kernel}")
    return d


def is_debug(kernel):
    return kernel.startswith("debug")


def _die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def accel():
    """'kvm' where a guest really boots with it, else 'tcg'."""
    if os.environ.get("SMC_LAB_ACCEL"):
        return os.environ["SMC_LAB_ACCEL"]
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    with open("/proc/sys/kernel/random/boot_id") as f:
        key = f.read().strip()
    cache = os.path.join(SMC_LAB, "accel")
    try:
        with open(cache) as f:
            known, what = f.read().split()
        if known == key:
            return what
    except (OSError, ValueError):
        pass
    for kernel in ("fast", "debug"):
        if os.path.exists(os.path.join(SMC_LAB, "current", kernel, "bzImage")):
            what = "kvm" if _kvm_boots(kernel) else "tcg"
            break
    else:
        return "tcg"
    with open(cache, "w") as f:
        f.write(f"{key} {what}\n")
    return what


def _kvm_boots(kernel):
    with tempfile.TemporaryDirectory(prefix="smc-kvm") as d:
        g = Guest("kvm", kernel, d, accel_name="kvm")
        try:
            g.boot(limit=20)
            return g.command("echo works").wait(10)[1].strip() == "works"
        except LabError:
            return False
        finally:
            g.kill()


class Job:
    """A command that runs in a guest."""

    def __init__(self, guest, ident, sink):
        self.guest, self.ident, self.sink = guest, ident, sink
        self.done = threading.Event()
        self.rc = None
        self.chunks = []

    def feed(self, data):
        if self.sink:
            self.sink(data)
        else:
            self.chunks.append(data)

    def finish(self, rc):
        self.rc = rc
        self.done.set()

    def text(self):
        return b"".join(self.chunks).decode(errors="replace")

    def wait(self, timeout=None):
        """(exit status, output); 124 when the time is up, 125 without guest."""
        if not self.done.wait(timeout):
            self.kill()
            self.done.wait(5)
            return 124, self.text()
        return self.rc, self.text()

    def kill(self):
        self.guest.send(b"kill %s\n" % self.ident)


class Guest:
    def __init__(self, name, kernel, workdir, accel_name=None, nics=None,
                 idle_poll=False, mem=None, smp=2, number=1, append="", icount=False,
                 kmemleak=True):
        self.name, self.kernel, self.number = name, kernel, number
        self.workdir = os.path.abspath(workdir)
        self.accel = accel_name or accel()
        self.nics = nics or []
        self.idle_poll, self.smp, self.append = idle_poll, smp, append
        self.icount, self.kmemleak = icount, kmemleak
        self.mem = mem or (3072 if is_debug(kernel) else 2048)
        self.console = os.path.join(self.workdir, f"console-{name}.log")
        self.out = os.path.join(self.workdir, f"out-{name}")
        self.sockdir = tempfile.mkdtemp(prefix="smclab")
        self.proc = self.sock = None
        self.jobs, self.seq = {}, 0
        self.lock = threading.Lock()
        self.ready = threading.Event()
        self.gone = threading.Event()

    def cmdline(self, mode):
        w = ["root=/dev/root", "rootfstype=9p",
             "rootflags=trans=virtio,version=9p2000.L,cache=loose,msize=131072",
             "ro", "bonding.max_bonds=0", "dummy.numdummies=0", "console=ttyS0", "panic=-1", "oops=panic", "no_hash_pointers",
             f"init={LAB_DIR}/guest-init", f"lab.dir={LAB_DIR}", f"lab.top={TOP}",
             f"lab.mode={mode}", f"lab.name={self.name}", f"lab.cache={SMC_LAB}",
             f"lab.kernel={self.kernel}", "lab.out=1",
             f"lab.nics={self.nic_count()}", f"lab.k={self.number}",
             "lsm="]    # Smack has other errors for TCP; a later lsm= counts
        if mode == "shell":
            w.append("loglevel=3")
        if self.idle_poll:
            w.append("idle=poll")
        if self.append:
            w.append(self.append)
        return " ".join(w)

    def nic_count(self):
        return self.nics[0] if self.nics else 0

    def net_args(self):
        """self.nics: (count, own path, peer's path) or nothing."""
        if not self.nics:
            return ["-nic", "none"]
        count, own, peer = self.nics
        a = ["-netdev", f"dgram,id=u0,local.type=unix,local.path={own},"
                        f"remote.type=unix,remote.path={peer}"]
        if count == 1:
            return a + ["-device", "virtio-net-pci,netdev=u0,host_mtu=9000,"
                        f"mac=52:54:00:00:00:0{self.number}"]
        a += ["-netdev", "hubport,id=h0,hubid=0,netdev=u0"]
        for i in range(count):
            a += ["-netdev", f"hubport,id=h{i + 1},hubid=0",
                  "-device", f"virtio-net-pci,netdev=h{i + 1},host_mtu=9000,"
                  f"mac=52:54:00:00:0{i}:0{self.number}"]
        return a

    def qemu(self, mode):
        # No 5-level paging: identify_cpu() clears the capabilities of the boot
        # CPU for a moment, and an interrupt just then makes KASAN compute
        # wrong bounds and report a wild access.
        if self.accel == "kvm":
            cpu = ["-accel", "kvm", "-cpu", "host,la57=off"]
        elif self.icount:
            cpu = ["-accel", "tcg,thread=single", "-icount", "shift=1,sleep=off",
                   "-cpu", "max,la57=off"]
        else:
            cpu = ["-accel", "tcg,thread=multi", "-cpu", "max,la57=off"]
        a = ["qemu-system-x86_64", "-M", "q35", *cpu, "-smp", str(self.smp),
             "-m", str(self.mem), "-nodefaults", "-no-user-config", "-display", "none",
             "-no-reboot", "-kernel", os.path.join(kernel_dir(self.kernel), "bzImage"),
             "-append", self.cmdline(mode),
             "-fsdev", "local,id=r,path=/,security_model=none,readonly=on,multidevs=remap",
             "-device", "virtio-9p-pci,fsdev=r,mount_tag=/dev/root",
             "-fsdev", f"local,id=o,path={self.out},security_model=none",
             "-device", "virtio-9p-pci,fsdev=o,mount_tag=out",
             *self.net_args()]
        if mode == "shell":
            return a + ["-serial", "mon:stdio"]
        return a + ["-chardev", f"file,id=s,path={self.console},append=on",
                    "-serial", "chardev:s",
                    "-chardev", f"socket,id=c,path={self.sockdir}/cmd,server=on,wait=off",
                    "-device", "virtio-serial-pci",
                    "-device", "virtserialport,chardev=c,name=lab.cmd"]

    def launch(self):
        """Start QEMU; wait_ready() then waits for the guest's agent."""
        os.makedirs(self.out, exist_ok=True)
        open(self.console, "w").close()
        self.qlog = open(os.path.join(self.workdir, f"qemu-{self.name}.log"), "w")
        self.t0 = time.monotonic()
        self.proc = subprocess.Popen(self.qemu("agent"), stdin=subprocess.DEVNULL,
                                     stdout=self.qlog, stderr=self.qlog,
                                     preexec_fn=_die_with_parent)
        self.connect()
        threading.Thread(target=self.reader, daemon=True).start()

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        for _ in range(200):
            try:
                self.sock.connect(os.path.join(self.sockdir, "cmd"))
                return
            except OSError:
                if self.proc.poll() is not None:
                    break
                time.sleep(0.05)
        raise LabError(f"qemu for guest {self.name} did not start: "
                       + open(self.qlog.name).read()[-500:])

    def wait_ready(self, limit=None):
        limit = limit or BOOT_LIMIT["debug" if is_debug(self.kernel) else "fast"]
        end = time.monotonic() + limit
        while not self.ready.wait(0.2):
            if self.gone.is_set() or time.monotonic() > end:
                raise LabError(f"guest {self.name} did not boot ({self.accel}); "
                               f"console {self.console}:\n" + self.tail())
        self.boot_time = time.monotonic() - self.t0

    def boot(self, limit=None):
        self.launch()
        self.wait_ready(limit)

    def tail(self, n=15):
        with open(self.console, errors="replace") as f:
            return "".join(f.readlines()[-n:])

    def reader(self):
        f = self.sock.makefile("rb")
        try:
            for line in f:
                w = line.split()
                if not w:
                    continue
                if w[0] == b"ready":
                    self.ready.set()
                elif w[0] == b"out":
                    data = f.read(int(w[2]))
                    job = self.jobs.get(w[1])
                    if job:
                        job.feed(data)
                elif w[0] == b"end":
                    job = self.jobs.pop(w[1], None)
                    if job:
                        job.finish(int(w[2]))
        except (OSError, ValueError):
            pass
        self.gone.set()
        for job in list(self.jobs.values()):
            job.finish(125)

    def send(self, data):
        with self.lock:
            try:
                self.sock.sendall(data)
            except OSError:
                self.gone.set()

    def command(self, cmd, sink=None):
        """Start a shell command; sink(bytes) gets its output as it comes."""
        with self.lock:
            self.seq += 1
            ident = b"%d" % self.seq
        job = Job(self, ident, sink)
        self.jobs[ident] = job
        data = cmd.encode()
        self.send(b"run %s %d\n" % (ident, len(data)) + data)
        if self.gone.is_set():
            job.finish(125)
        return job

    def check(self):
        """At the end of a run: reports of the kernel, memory leaks included."""
        if is_debug(self.kernel) and self.kmemleak and not self.gone.is_set():
            rc, text = self.command(KMEMLEAK).wait(300)
            with open(self.console, "a") as f:
                f.write(f"\nlab: kmemleak scan ended with {rc}\n{text}")
        with open(self.console, errors="replace") as f:
            text = f.read()
        return splats.scan(text, splats.load_allow(os.path.join(LAB_DIR, "splats.allow")))

    def stop(self):
        if self.proc and self.proc.poll() is None and not self.gone.is_set():
            self.send(b"quit\n")
            try:
                self.proc.wait(15)
            except subprocess.TimeoutExpired:
                pass
        self.kill()

    def kill(self):
        if self.proc and self.proc.poll() is None:
            self.proc.kill()
            self.proc.wait()
        if self.sock:
            self.sock.close()
        shutil.rmtree(self.sockdir, ignore_errors=True)


class Session:
    """One guest 'A', or two joined guests 'A' and 'B'."""

    def __init__(self, kernel="debug", guests=1, logdir=None, nics=1, kernels=None, **kw):
        self.logdir = os.path.abspath(logdir or tempfile.mkdtemp(prefix="smclab-log"))
        os.makedirs(self.logdir, exist_ok=True)
        self.splats = []
        self.how = (kernel, guests, nics, kernels or {}, kw)
        self.make()

    def make(self):
        kernel, guests, nics, kernels, kw = self.how
        self.netdir = tempfile.mkdtemp(prefix="smcnet")
        self.guests = {}
        for i, name in enumerate("AB"[:guests]):
            net = None
            if guests > 1:
                net = (nics, f"{self.netdir}/{i}", f"{self.netdir}/{1 - i}")
            self.guests[name] = Guest(name, kernels.get(name, kernel), self.logdir,
                                      nics=net, number=i + 1, **kw)

    def boot(self):
        try:
            for g in self.guests.values():
                g.launch()
            for g in self.guests.values():
                g.wait_ready()
        except BaseException:
            self.abort()
            raise

    def __enter__(self):
        """An emulated guest sometimes dies while its kernel patches its own
        code at boot, the more so on a busy host. No module of ours is loaded
        by then, so another attempt hides nothing of ours.
        """
        for attempt in range(1, BOOT_ATTEMPTS + 1):
            try:
                self.boot()
                return self
            except LabError as e:
                emulated = all(g.accel == "tcg" for g in self.guests.values())
                if not emulated or attempt == BOOT_ATTEMPTS:
                    raise
                print(f"# boot {attempt} failed, once more: {str(e).splitlines()[0]}",
                      file=sys.stderr, flush=True)
                for g in self.guests.values():
                    if os.path.exists(g.console):
                        os.replace(g.console, f"{g.console}.boot{attempt}")
                self.make()

    def __exit__(self, *exc):
        if exc and exc[0] is not None and issubclass(exc[0], KeyboardInterrupt):
            self.abort()
            return
        self.close()

    def start(self, name, cmd, sink=None):
        return self.guests[name].command(cmd, sink)

    def run(self, name, cmd, timeout=None, sink=None):
        return self.start(name, cmd, sink).wait(timeout)

    def close(self):
        """End the guests.  self.splats: list of (guest name, report lines)."""
        for g in self.guests.values():
            if g.proc:
                dead = g.gone.is_set()
                found = g.check()
                if dead and not found:
                    found = [["guest died without a report", *g.tail(30).splitlines()]]
                self.splats += [(g.name, block) for block in found]
        for g in self.guests.values():
            g.stop()
        shutil.rmtree(self.netdir, ignore_errors=True)
        return self.splats

    def abort(self):
        for g in self.guests.values():
            g.kill()
        shutil.rmtree(self.netdir, ignore_errors=True)

    def report(self, out=sys.stderr, lines=40):
        """Print what the kernels reported; True when there was nothing."""
        for name, block in self.splats:
            print(f"# guest {name}: kernel report "
                  f"({self.guests[name].console}):", file=out)
            for line in block[:lines]:
                print("#   " + line, file=out)
        return not self.splats
