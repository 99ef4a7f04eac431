# SPDX-License-Identifier: GPL-2.0
"""Tables and plots of make bench."""
import os
import statistics
import subprocess

from core import BASE
from groups import LOWER, Sizes

NAMES = {"ours": "ours", "ref": "kernel's SMC", "tcp": "TCP", "device": "device"}
NEAR_DEVICE = 0.85
ANY_TUNED = 1.1
MEMORY_OVER = "tcp"


def show(x):
    return f"{x:.0f}" if abs(x) >= 100 else f"{x:.3g}"


def markdown(title, rows):
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return f"### {title}\n\n" + "".join("| " + " | ".join(r) + " |\n" for r in lines)


def rst(title, rows):
    rows = [[x or "\\" for x in r] for r in rows]
    width = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    rule = "  ".join("=" * w for w in width)
    lines = ["  ".join(x.ljust(w) for x, w in zip(r, width)).rstrip() for r in rows]
    return "\n".join([title, "~" * len(title), "", rule, lines[0], rule, *lines[1:], rule]) + "\n"


class Report:
    def __init__(self, bench):
        self.bench = bench
        self.values = {}
        for r in bench.results:
            for k, v in r["values"].items():
                key = (r["group"], r["load"], r["setting"], r["mtu"], k, r["stack"])
                self.values.setdefault(key, []).append(v)

    def get(self, group, load, variant, figure, stack):
        return self.values.get((group, load, *variant, figure, stack), [])

    def median(self, *key):
        got = self.get(*key)
        return statistics.median(got) if got else None

    def cell(self, *key):
        got = self.get(*key)
        if not got:
            return "-"
        mid = show(statistics.median(got))
        return f"{mid} ({show(min(got))}-{show(max(got))})" if len(got) > 1 else mid

    def ratio(self, group, load, variant, figure, other):
        a, b = (self.median(group.name, load, variant, figure, s) for s in ("ours", other))
        if group.name == "memory" and other == "ref":
            # what SMC adds to TCP and to the threads of the load
            tcp = self.median(group.name, load, variant, figure, MEMORY_OVER) or 0
            a, b = a and a - tcp, b and b - tcp
        return a / b if a and b else None

    def verdict(self, group, load, variant, figure):
        want = group.wanted.get(load)
        if want is None:
            return ""
        if variant[0] == "tuned":
            want = ANY_TUNED
        ref = self.ratio(group, load, variant, figure, "ref")
        dev = self.ratio(group, load, variant, figure, "device")
        if figure in LOWER:
            ok = ref is not None and ref <= want
            return f"yes, <= {want}" if ok else f"no, <= {want} wanted"
        if ref is not None and ref >= want:
            return f"yes, >= {want}"
        if dev is not None and dev >= NEAR_DEVICE:
            return f"yes, device {dev:.2f}"
        return f"no, {want} wanted" + (f", device {dev:.2f}" if dev else "")

    def variants(self, group):
        return [v for v in self.bench.variants if group.wants(v)]

    def table(self, group, loads, variant, figure):
        rows = []
        stacks = [s for s in NAMES if any(self.get(group.name, x, variant, figure, s)
                                          for x in loads)]
        others = [s for s in stacks if s != "ours"] if "ours" in stacks else []
        judged = figure == group.shown[0] or group.name == "memory"
        for load in loads:
            if not any(self.get(group.name, load, variant, figure, s) for s in stacks):
                continue
            row = [load] + [self.cell(group.name, load, variant, figure, s) for s in stacks]
            for s in others:
                r = self.ratio(group, load, variant, figure, s)
                row.append(f"{r:.2f}" if r is not None else "-")
            if judged and group.wanted:
                row.append(self.verdict(group, load, variant, figure))
            rows.append(row)
        if not rows:
            return []
        head = ["load", *(NAMES[s] for s in stacks), *(f"ours / {NAMES[s]}" for s in others)]
        if judged and group.wanted:
            head.append("reached")
        return [head, *rows]

    def other_goals(self, variant):
        """(text, figure, wanted, whether it is reached) of what no table judges."""
        def mid(group, load, figure, stack="ours"):
            return self.median(group, load, variant, figure, stack)

        def part(a, b):
            return a / b if a and b else None
        raw = mid("perftest", "ib_write_bw", "rate", "device")
        goals = [("1x1, 250 connections / 16 connections",
                  part(mid("kernel", "rr1x1-250", "rate"), mid("kernel", "rr1x1-16", "rate")),
                  0.8, False),
                 ("1x1, 16 connections beside a stalled one / without it",
                  part(mid("kernel", "rr1x1-16-stalled", "rate"), mid("kernel", "rr1x1-16", "rate")),
                  0.9, False),
                 ("slowest connection / mean, 1x1, 250 connections",
                  mid("kernel", "rr1x1-250", "slowest"), 0.5, False),
                 ("buffer, 10000 connections alive / 10",
                  part(mid("buffers", "acquire-10000", "acquire_ns"),
                       mid("buffers", "acquire-10", "acquire_ns")), 1.3, True),
                 ("buffer, 10000 connections alive, ns",
                  mid("buffers", "acquire-10000", "acquire_ns"), 200, True),
                 ("posts / message, 1x1, 250 connections",
                  mid("cost", "cost-rr1x1-250", "posts_per_msg"), 1.05, True),
                 ("CQEs / message, 1x1, 250 connections",
                  mid("cost", "cost-rr1x1-250", "cqes_per_msg"), 1.5, True)]
        for n in (1, 4):
            rate = mid("kernel", f"stream64k-{n}", "rate")
            # perftest counts in MiB, a stream in 64 KiB
            goals.append((f"stream, {n} connection(s) / ib_write_bw",
                          part(rate, raw and raw * 16), 0.9, False))
        rates = [mid("sizes", f"size-{n}", "rate") for n in Sizes.sizes]
        if all(rates):
            worst = min(range(1, len(rates)), key=lambda i: rates[i] / max(rates[:i]))
            goals.append((f"messages of {Sizes.sizes[worst]} bytes / best smaller size",
                          rates[worst] / max(rates[:worst]), 0.8, False))
        waits = [mid("sizes", x, "waits_40ms") for x, (_, way) in Sizes.loads.items()
                 if way != "stream"]
        if all(w is not None for w in waits):
            goals.append(("waits of 40 ms, 2.5-8 KiB held back", sum(waits), 0, True))
        return [(t, v, want, v <= want if low else v >= want)
                for t, v, want, low in goals if v is not None]

    def tables(self):
        """(title, rows with the heads first) of all there is."""
        for group, loads in self.bench.groups:
            for variant in self.variants(group):
                for figure in group.shown:
                    yield (f"{group.name}: {figure}, sysctls {variant[0]}, MTU {variant[1]}",
                           self.table(group, loads, variant, figure))
        for variant in self.bench.variants:
            rows = [[t, f"{v:.3g}", f"{want}", "yes" if ok else "no"]
                    for t, v, want, ok in self.other_goals(variant)]
            yield (f"other goals, sysctls {variant[0]}, MTU {variant[1]}",
                   rows and [["figure", "ours", "wanted", "reached"], *rows])

    def text(self, form):
        out = [form(title, rows) for title, rows in self.tables() if rows]
        if self.bench.failed:
            out.append("Without result:\n\n" +
                       "".join(f"- {x}\n" for x in sorted(set(self.bench.failed))))
        return "\n".join(out)

    def markdown(self):
        return self.text(markdown)

    def rst(self):
        return self.text(rst)

    def plots(self, outdir):
        """One bar chart for each group, sysctls, MTU and first figure."""
        for group, loads in self.bench.groups:
            for variant in self.variants(group):
                name = group.name + ("" if variant == BASE else f"-{variant[0]}-{variant[1]}")
                figures = group.shown if group.name == "buffers" else group.shown[:1]
                for figure in figures:
                    if len(figures) > 1:
                        name = f"{group.name}-{figure}"
                    self.plot(group, loads, variant, figure, os.path.join(outdir, name))

    def plot(self, group, loads, variant, figure, path):
        stacks = [s for s in NAMES if any(self.get(group.name, x, variant, figure, s)
                                          for x in loads)]
        lines = []
        for load in loads:
            w = [f'"{load}"']
            for s in stacks:
                got = self.get(group.name, load, variant, figure, s)
                w += [f"{f(got):.6g}" for f in (statistics.median, min, max)] if got \
                    else ["NaN"] * 3
            if set(w[1:]) != {"NaN"}:
                lines.append(" ".join(w))
        if not stacks or not lines:
            return
        with open(path + ".dat", "w") as f:
            f.write("\n".join(lines) + "\n")
        bars = ", ".join(f"'{path}.dat' using {2 + 3 * i}:{3 + 3 * i}:{4 + 3 * i}:xtic(1) "
                         f'title "{NAMES[s]}"' for i, s in enumerate(stacks))
        for term, ext in (("svg size 1100,500 font 'sans,12' background '#ffffff'", "svg"),
                          ("pngcairo size 1100,500 font 'sans,10'", "png")):
            script = f"""set terminal {term}
set output '{path}.{ext}'
set title "{group.name}: {figure}, sysctls {variant[0]}, MTU {variant[1]}" noenhanced
set style data histograms
set style histogram errorbars gap 2 lw 1
set style fill solid 0.8 border -1
set logscale y
set xtics rotate by -30 noenhanced
set grid y
set key outside right top
plot {bars}
"""
            subprocess.run(["gnuplot"], input=script, text=True, check=False)
