# SPDX-License-Identifier: GPL-2.0
"""make bench: the run as a whole. Which loads there are: groups.py."""
import json
import os
import subprocess
import sys
import time

import suite
from suite import labvm

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(suite.TOP, "build/bench")
MODDIR = os.path.join(OUT, "mod")
BASE = ("default", 9000)        # where loads run that need no other setting
# ours: (work requests for sending, connections of a link group)
SETTINGS = {"default": (64, 255), "tuned": (64, 32)}


class Fail(Exception):
    """A load that gave no figure."""


def numbers(text):
    """The counters and the last JSON line of what a guest function printed."""
    count = {"before": {}, "after": {}}
    found = []
    for line in text.splitlines():
        w = line.split()
        if len(w) == 3 and w[0] in count and w[2].isdigit():
            count[w[0]][w[1]] = count[w[0]].get(w[1], 0) + int(w[2])
        elif line.startswith("{") and line.rstrip().endswith("}"):
            try:
                found.append(json.loads(line))
            except ValueError:
                pass
    grown = {k: v - count["before"].get(k, 0) for k, v in count["after"].items()}
    return found, grown


class Guest:
    """One guest with one of the stacks loaded."""

    def __init__(self, session, secs):
        self.session, self.secs = session, secs
        self.port = 7000
        self.setting = None

    def sh(self, cmd, timeout=180):
        rc, out = self.session.run("A", f". {HERE}/guest.sh\n{cmd}", timeout)
        if rc:
            raise Fail(f"exit {rc}: {' '.join(out.split())[-300:]}")
        return out

    def next_port(self):
        self.port += 1
        return self.port

    def up(self, which, setting, mtu):
        self.sh(f"stack_up {which} {setting} {mtu} {MODDIR}")
        self.setting = setting

    def down(self):
        self.sh("stack_down")

    def family(self, stack):
        return "tcp" if stack == "tcp" else "smc"


class Bench:
    def __init__(self, groups, rounds, secs, variants, icount=False):
        self.groups, self.rounds, self.secs = groups, rounds, secs
        self.variants, self.icount = variants, icount
        self.results = []
        self.failed = []
        self.t0 = time.monotonic()
        self.done = 0
        self.total = sum(len(loads) * len(g.stacks) * (rounds if g.repeated else 1) *
                         len([v for v in variants if g.wants(v)])
                         for g, loads in groups)

    def say(self, text):
        t = int(time.monotonic() - self.t0)
        print(f"[{t // 60:3}:{t % 60:02} {self.done:4}/{self.total}] {text}",
              file=sys.stderr, flush=True)

    def one(self, guest, group, load, stack, variant, rnd):
        self.done += 1
        try:
            res = group.run(guest, load, stack)
        except Fail as e:
            self.failed.append(f"{group.name} {load} {stack}")
            self.say(f"{load:14} {stack:6} no result: {e}")
            return
        self.results.append(dict(group=group.name, load=load, stack=stack, setting=variant[0],
                                 mtu=variant[1], round=rnd, values=res))
        text = "  ".join(f"{k} {v:.5g}" for k, v in res.items() if k in group.shown)
        self.say(f"{load:14} {stack:6} {text}")

    def phase(self, guest, which, variant, rnd, groups):
        """All loads on one of the two SMC, and what needs none beside ours."""
        guest.up(which, *variant)
        beside = ["ref"] if which == "ref" else ["ours", "tcp", "device"]
        for group, loads in groups:
            for load in loads:
                for stack in beside:
                    if stack in group.stacks and group.has(load, stack):
                        self.one(guest, group, load, stack, variant, rnd)
        guest.down()

    def boot(self, groups, **kw):
        with labvm.Session("fast", logdir=OUT, idle_poll=True, **kw) as s:
            guest = Guest(s, self.secs)
            for rnd in range(self.rounds):
                for variant in self.variants:
                    todo = [(g, loads) for g, loads in groups
                            if g.wants(variant) and (g.repeated or not rnd)]
                    for which in (("ours", "ref") if rnd % 2 == 0 else ("ref", "ours")):
                        if todo:
                            self.say(f"round {rnd + 1} of {self.rounds}, {which}, "
                                     f"sysctls {variant[0]}, MTU {variant[1]}")
                            self.phase(guest, which, variant, rnd, todo)
        if not s.report():
            self.failed.append("the kernel reported something")

    def run(self):
        for kind, kw in (("normal", {}), ("icount", {"icount": True, "smp": 1})):
            groups = [(g, loads) for g, loads in self.groups
                      if ("icount" if self.icount else g.boot) == kind]
            if groups:
                self.say(f"booting a guest ({kind})")
                self.boot(groups, **kw)


def build():
    """The modules and programs that the loads need."""
    os.makedirs(MODDIR, exist_ok=True)
    kdir = os.path.join(labvm.kernel_dir("fast"), "build")
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS")}
    for args in (["-C", kdir, f"M={HERE}/mod", f"MO={MODDIR}", "modules"],
                 ["-C", suite.TOP, "modules", "tests", "tools", "KERNEL=fast"]):
        subprocess.check_call(["make", "-s", *args], env=env, stdout=sys.stderr)
