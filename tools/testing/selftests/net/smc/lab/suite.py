# SPDX-License-Identifier: GPL-2.0
"""What the suites in ../suites share: building, TAP, output of a guest."""
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import labvm  # noqa: E402

TOP = labvm.TOP
KERNEL = os.environ.get("CHECK_KERNEL", "debug")
TESTS = os.path.abspath(os.path.join(HERE, ".."))
BUILD = os.path.join(TOP, "build/tests")
TOOLS = os.path.join(TOP, "build/tools")
RESULT = re.compile(r"(not )?ok\b\s*\d*\s*-?\s*(.*)")


def logdir(name):
    path = os.environ.get("LAB_LOGDIR") or os.path.join(TOP, "build/check", name)
    os.makedirs(path, exist_ok=True)
    return path


class Tap:
    """Collects results and prints them with numbers of its own."""

    def __init__(self):
        self.n = self.bad = 0

    def result(self, ok, name, notes=()):
        self.n += 1
        self.bad += not ok
        print(f"{'' if ok else 'not '}ok {self.n} {name}", flush=True)
        for line in notes:
            print("# " + line.rstrip(), flush=True)

    def skip(self, name, why):
        self.n += 1
        print(f"ok {self.n} {name} # SKIP {why}", flush=True)

    def end(self):
        print(f"1..{self.n}")
        sys.exit(1 if self.bad else 0)

    def splats(self, session, name):
        """One result for what the kernels of a session reported."""
        notes = []
        for guest, block in session.splats:
            notes += [f"guest {guest}:"] + [f"  {line}" for line in block[:40]]
        self.result(not session.splats, f"{name}: no report of the kernels", notes)


class Sink:
    """Turns TAP of a guest into results; prefix names where it comes from."""

    def __init__(self, tap, prefix):
        self.tap, self.prefix = tap, prefix
        self.buf, self.notes, self.count = b"", [], 0

    def feed(self, data):
        *lines, self.buf = (self.buf + data).split(b"\n")
        for raw in lines:
            self.line(raw.decode(errors="replace"))

    def line(self, text):
        m = RESULT.match(text)
        if not m:
            if text and not re.match(r"TAP version|1\.\.\d+", text):
                self.notes.append(text.lstrip("# "))
            return
        self.count += 1
        why = re.search(r"#\s*skip\s*(.*)", m.group(2), re.I)
        if why:
            self.tap.skip(self.prefix + m.group(2).split("#")[0].strip(), why.group(1))
        else:
            self.tap.result(not m.group(1), self.prefix + m.group(2),
                            self.notes[-20:] if m.group(1) else ())
        self.notes = []


def make(tap, args, log, what):
    """A build step; ends the suite when it fails."""
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "SUITE")}
    with open(log, "w") as f:
        rc = subprocess.call(["make", "-s", "-C", TOP, *args], stdout=f,
                             stderr=subprocess.STDOUT, env=env)
    if rc:
        with open(log) as f:
            tap.result(False, what, f.read().splitlines()[-20:])
        tap.end()


def build(tap, logs):
    """Our modules, the tools and the test programs."""
    make(tap, ["modules", f"KERNEL={KERNEL}"], os.path.join(logs, "modules.log"),
         "build of the modules")
    make(tap, ["tools", "tests"], os.path.join(logs, "tools.log"),
         "build of the tools and test programs")


def run_tap(tap, session, guest, cmd, prefix, timeout=600):
    """A command of a guest that prints TAP; at least one result is owed."""
    sink = Sink(tap, prefix)
    try:
        rc, _ = session.run(guest, cmd, timeout, sink.feed)
    except labvm.LabError as e:
        tap.result(False, f"{prefix}runs to its end", [str(e), *sink.notes[-20:]])
        return 1
    if rc and not sink.count:
        tap.result(False, f"{prefix}starts", [f"exit status {rc}", *sink.notes[-20:]])
    return rc
