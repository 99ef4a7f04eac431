# SPDX-License-Identifier: GPL-2.0
"""The loads of make bench, in groups; each says how one of them is run.

run() gives a dict of figures. wanted: for a load and figure, what ours has to
be against the kernel's own SMC at the default sysctls.
"""
import csv
import json
import re

from core import BASE, MODDIR, SETTINGS, Fail, numbers

ALL = ("ours", "ref", "tcp")
LOWER = {"p50_us", "p99_us", "p999_us", "fresh_kib", "used_kib", "instructions", "switches_per_op",
         "connect_us", "acquire_ns", "posts_per_msg", "cqes_per_msg", "wakeups_per_op", "latency_us",
         "interrupts_per_op", "packets_per_op", "recv_posts_per_msg", "max_gap_ms", "waits_40ms",
         "waits_200ms"}


class Group:
    name = ""
    boot = "normal"
    stacks = ALL
    repeated = True             # in each round
    shown = ("rate",)           # figures in the progress and in the tables
    loads = {}
    wanted = {}

    def wants(self, variant):
        """Whether it runs with these sysctls and MTU; else only at BASE."""
        return variant == BASE

    def has(self, load, stack):
        return True


def over_rdma(grown, messages, stack):
    """Connections that fell back would make a figure one of TCP."""
    sends = grown.get("rdma_sends", 0)
    if stack in ("ours", "ref") and sends < 0.9 * messages:
        raise Fail(f"{sends} RDMA SENDs for {messages} messages: not all over SMC")
    return sends


def rate_and_times(res):
    v = {"rate": res["ops"] * 1000 / res["msecs"], "mean_us": res["mean_us"],
         "max_us": res["max_us"]}
    for p in ("p50", "p99", "p999"):
        v[f"{p}_us"] = res[f"{p}_tenths_us"] / 10
    if res.get("slowest_ops") is not None and res["ops"]:
        v["slowest"] = res["slowest_ops"] * res["conns"] / res["ops"]
    return v


class Kernel(Group):
    """Request/response, streams, short connections on kernel sockets."""
    name = "kernel"
    stacks = (*ALL, "device")
    shown = ("rate", "p50_us", "p99_us", "p999_us", "slowest")
    # name: (request, response, connections, kind)
    loads = {
        "rr1x1-1": (1, 1, 1, ""),
        "rr1x1-16": (1, 1, 16, ""),
        "rr1x1-16-stalled": (1, 1, 16, "stalled"),
        "rr1x1-64": (1, 1, 64, ""),
        "rr1x1-250": (1, 1, 250, ""),
        "rr200x1000-50": (200, 1000, 50, ""),
        "stream64k-1": (65536, 0, 1, "stream"),
        "stream64k-4": (65536, 0, 4, "stream"),
        "cps-1": (1, 1, 1, "cps"),
        "cps-8": (1, 1, 8, "cps"),
    }
    wanted = {
        "rr1x1-1": 1.2, "rr1x1-16": 1.5, "rr1x1-64": 4, "rr1x1-250": 10, "rr200x1000-50": 3.5,
        "stream64k-1": 1.1, "stream64k-4": 1.1, "cps-1": 1.5, "cps-8": 3,
    }
    stream_window = 4

    def wants(self, variant):
        return True

    def has(self, load, stack):
        return stack != "device" or self.loads[load][3] not in ("cps", "stalled")

    def messages(self, load):
        """SENDs of an operation at the least; streams may gather."""
        return 0.25 if self.loads[load][3] == "stream" else 2

    def command(self, guest, load, stack):
        req, rsp, conns, kind = self.loads[load]
        msecs = int(guest.secs * 1000)
        if stack != "device":
            return f"{guest.family(stack)} {guest.next_port()} {req} {rsp} {conns} {msecs} {kind}"
        slots, per_group = SETTINGS[guest.setting]
        qps = -(-conns // per_group)
        window = min(-(-conns // qps), slots)
        if kind == "stream":
            qps, window = 1, self.stream_window
        return f"{req} {rsp or 1} {window} {qps} {msecs} {kind}"

    def run(self, guest, load, stack):
        verb = "load"
        if stack == "device":
            verb = "raw"
        elif self.loads[load][3] == "stalled":
            verb = "beside_stalled"
        found, grown = numbers(guest.sh(f"{verb} {self.command(guest, load, stack)}"))
        if not found or not found[-1]["ops"]:
            raise Fail("nothing done")
        res = found[-1]
        if res["errors"] or res["connect_fails"]:
            raise Fail(f"{res['errors']} errors, {res['connect_fails']} failed connects")
        v = rate_and_times(res)
        if stack != "device":
            over_rdma(grown, res["ops"] * self.messages(load), stack)
            v["switches_per_op"] = grown["ctxt"] / res["ops"]
            v["retransmits"] = grown.get("completer_retry_err", 0)
        return v


class Device(Group):
    """What a request costs the device and the scheduler, calls counted."""
    name = "cost"
    stacks = ("ours", "ref")
    repeated = False
    shown = ("posts_per_msg", "recv_posts_per_msg", "cqes_per_msg", "packets_per_op",
             "wakeups_per_op", "switches_per_op", "interrupts_per_op")
    loads = {f"cost-{n}": Kernel.loads[n] for n in
             ("rr1x1-1", "rr1x1-16", "rr1x1-64", "rr1x1-250", "rr200x1000-50", "stream64k-1")}

    def run(self, guest, load, stack):
        req, rsp, conns, kind = self.loads[load]
        out = guest.sh(f"load_counted smc {guest.next_port()} {req} {rsp} {conns} "
                       f"{int(guest.secs * 1000)} {kind}")
        found, g = numbers(out)
        ops = found[-1]["ops"]
        sends = over_rdma(g, ops * (0.25 if kind else 2), stack)
        if not g.get("rxe_post_send"):
            raise Fail("the calls were not counted")
        return {"posts_per_msg": g["rxe_post_send"] / sends,
                "recv_posts_per_msg": g["rxe_post_recv"] / sends,
                "cqes_per_msg": g["rxe_cq_post"] / sends, "messages_per_op": sends / ops,
                "packets_per_op": g["sent_pkts"] / ops,
                "wakeups_per_op": g["ttwu_do_activate"] / ops, "switches_per_op": g["ctxt"] / ops,
                "interrupts_per_op": g["intr"] / ops}


class Perftest(Group):
    """The device with perftest, from user space."""
    name = "perftest"
    stacks = ("device",)
    shown = ("rate", "latency_us", "p99_us", "p999_us")
    loads = {"ib_write_bw": (65536, 1500), "ib_write_lat": (64, 1000), "ib_send_lat": (44, 1000)}

    def wants(self, variant):
        return variant[0] == BASE[0]

    def run(self, guest, load, stack):
        size, count = self.loads[load]
        out = guest.sh(f"perftest {load} {size} {guest.next_port()} {count}")
        rows = [line.split() for line in out.splitlines()
                if re.match(rf"\s*{size}\s+\d+\s+[\d.]", line)]
        if not rows:
            raise Fail("no line of figures: " + out[-200:])
        w = [float(x) for x in rows[-1]]
        if load.endswith("_bw"):
            return {"rate": w[3]}       # MB/s
        return {"latency_us": w[4], "p99_us": w[7], "p999_us": w[8]}


class Programs(Group):
    """Real programs; over SMC under smc_run."""
    name = "programs"
    shown = ("rate", "set", "get", "p50_us", "p99_us", "p999_us")
    redis = {f"redis-{n}": (n, 1) for n in (1, 2, 16, 32, 64, 128, 256, 512)}
    piped = {f"redis-p16-{n}": (n, 16) for n in (1, 16, 64)}
    loads = {**redis, **piped, "wrk-1": 1, "wrk-16": 16, "wrk-64": 64, "iperf3-1": 1, "iperf3-4": 4,
             "sockperf": 0}
    wanted = {**{n: 1.8 if c >= 64 else 1.3 for n, (c, _) in {**redis, **piped}.items()},
              "wrk-1": 2, "wrk-16": 2, "wrk-64": 2, "iperf3-1": 1.1, "iperf3-4": 1.1}

    def run(self, guest, load, stack):
        fam, port, secs = guest.family(stack), guest.next_port(), guest.secs
        kind = load.split("-")[0]
        if kind == "redis":
            clients, depth = self.loads[load]
            # about as long as the others, whatever the speed
            n = int((1500 if stack != "tcp" else 6000) * secs * (4 if depth > 1 else 1))
            n = max(n, 40 * clients)     # or it is connects that are measured
            out = guest.sh(f"redis {fam} {port} {clients} {n} {depth}")
            v = self.redis_figures(out)
            # n of each kind, with an answer; batches may share messages
            over_rdma(numbers(out)[1], 4 * n if depth == 1 else 2 * n / depth, stack)
            return v
        if kind == "wrk":
            out = guest.sh(f"wrk_short {fam} {port} {self.loads[load]} {max(int(secs), 1)}")
        elif kind == "iperf3":
            out = guest.sh(f"iperf {fam} {port} {self.loads[load]} {max(int(secs), 1)}")
        else:
            out = guest.sh(f"sock_latency {fam} {port} {max(int(secs), 1)}")
        v = getattr(self, kind + "_figures")(out)
        over_rdma(numbers(out)[1], v.pop("messages"), stack)
        return v

    def redis_figures(self, out):
        v = {}
        for row in csv.reader(x for x in out.splitlines() if x.startswith('"')):
            if row[0] in ("SET", "GET"):
                v[row[0].lower()] = float(row[1])
                v["p50_us"], v["p99_us"] = float(row[4]) * 1000, float(row[6]) * 1000
        if len(v) != 4:
            raise Fail("no figures: " + out[-200:])
        v["rate"] = 2 / (1 / v["set"] + 1 / v["get"])
        return v

    def wrk_figures(self, out):
        m = re.search(r"Requests/sec:\s+([\d.]+)", out)
        n = re.search(r"(\d+) requests in", out)
        bad = re.search(r"Socket errors: (.*)|Non-2xx.*", out)
        if not m or not int(n.group(1)) or bad and not re.match(
                r"Socket errors: connect 0, read 0, write 0", bad.group(0)):
            raise Fail(bad.group(0) if bad else out[-200:])
        v = {"rate": float(m.group(1)), "messages": 2 * int(n.group(1))}
        for p, name in (("50", "p50_us"), ("99", "p99_us")):
            t = re.search(rf"^\s+{p}%\s+([\d.]+)(us|ms|s)\s*$", out, re.M)
            v[name] = float(t.group(1)) * {"us": 1, "ms": 1e3, "s": 1e6}[t.group(2)]
        return v

    def iperf3_figures(self, out):
        end = json.loads(out[out.index("\n{\n") + 1:out.rindex("\n}") + 2])["end"]
        return {"rate": end["sum_received"]["bits_per_second"] / 8e6,
                "messages": end["sum_received"]["bytes"] / 262144}

    def sockperf_figures(self, out):
        v = {}
        for p, name in (("50.000", "p50_us"), ("99.000", "p99_us"), ("99.900", "p999_us")):
            m = re.search(rf"percentile {p}\s*=\s*([\d.]+)", out)
            if not m:
                raise Fail(out[-200:])
            v[name] = float(m.group(1))
        m = re.search(r"ReceivedMessages=(\d+)", out)
        v["messages"] = 2 * int(m.group(1))
        return v


class Memory(Group):
    """Memory of an idle connection, both ends and their TCP, without threads."""
    name = "memory"
    repeated = False
    shown = ("fresh_kib", "used_kib")
    loads = {"idle-200": 200}
    wanted = {"idle-200": 0.6}

    def run(self, guest, load, stack):
        n = self.loads[load]
        found, _ = numbers(guest.sh(f"idle {guest.family(stack)} {guest.next_port()} {n}"))
        if len(found) != 2 or found[0]["connect_fails"]:
            raise Fail("not all connected")
        return {k: v / n for k, v in found[1].items()}


class Buffers(Group):
    """Buffers with many connections alive: direct, and seen by connect()."""
    name = "buffers"
    shown = ("acquire_ns", "release_ns", "connect_us")
    direct = {f"acquire-{n}": n for n in (10, 200, 1000, 10000)}
    loads = {**direct, "connect-10": 10, "connect-200": 200, "connect-1000": 1000}

    def has(self, load, stack):
        return stack == "ours" or load not in self.direct

    def run(self, guest, load, stack):
        n = self.loads[load]
        if load in self.direct:
            found, _ = numbers(guest.sh(f"buf {MODDIR}"))
            cost = next(f for f in found if f["conns"] == n)
            return {"acquire_ns": cost["acquire"] / 1000, "release_ns": cost["release"] / 1000}
        found, _ = numbers(guest.sh(f"alive {guest.family(stack)} {guest.next_port()} {n} "
                                    f"{int(guest.secs * 1000)}", 300))
        if len(found) != 2 or found[0]["connect_fails"] or not found[1]["ops"]:
            raise Fail("not all connected")
        return {"connect_us": found[1]["mean_us"]}


class Instructions(Group):
    """Instructions per request, on one CPU with a clock that counts them."""
    name = "icount"
    boot = "icount"
    repeated = False
    stacks = (*ALL, "device")
    shown = ("instructions", "rate")
    per_sec = 5e8
    loads = {f"instr-{n}": Kernel.loads[n] for n in ("rr1x1-1", "rr1x1-16", "rr1x1-64", "cps-1")}
    kernel = Kernel()

    def has(self, load, stack):
        return stack != "device" or load != "instr-cps-1"

    def run(self, guest, load, stack):
        cmd = self.kernel.command(guest, load[len("instr-"):], stack)
        if stack == "device":
            found, grown = numbers(guest.sh(f"counters before; raw {cmd}; rc=$?; counters after; "
                                            "(exit $rc)", 600))
        else:
            found, grown = numbers(guest.sh(f"load {cmd}", 600))
            over_rdma(grown, found[-1]["ops"] * 2, stack)
        ops = found[-1]["ops"]
        busy = grown["busy"] / max(grown["busy"] + grown["idle"], 1)
        secs = found[-1]["msecs"] / 1000
        return {"instructions": self.per_sec * secs * busy / ops, "rate": ops / secs}


class Sizes(Group):
    """Messages of each size from user space: MB/s, and the longest wait between two."""
    name = "sizes"
    shown = ("rate", "max_gap_ms", "waits_40ms", "waits_200ms")
    sizes = [1 << i for i in range(19)]
    ways = ("auto", "cork", "held", "ping-auto", "ping-cork")
    # name: (bytes, way)
    loads = {**{f"size-{n}": (n, "stream") for n in sizes},
             **{f"{way}-{n}": (n, way) for way in ways for n in (2500, 4096, 8192)}}

    def run(self, guest, load, stack):
        size, way = self.loads[load]
        out = guest.sh(f"$TOP/build/tests/smc_sizes {guest.family(stack)} {guest.next_port()} "
                       f"{size} {int(guest.secs * 1000)} {way}")
        found, _ = numbers(out)
        if not found or found[-1]["messages"] < 2:
            raise Fail("no messages: " + out[-200:])
        r = found[-1]
        return {"rate": r["bytes"] / max(r["usecs"], 1), "max_gap_ms": r["max_gap_us"] / 1000,
                "waits_40ms": r["late40"], "waits_200ms": r["late200"]}


# memory first: idle buffers of earlier connections would be used again
GROUPS = [Memory(), Kernel(), Programs(), Device(), Perftest(), Buffers(), Sizes(),
          Instructions()]
