#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Who calls whom in net/smc, from the symbols of the built objects.

usage: layers.py OBJECT_DIR

Calls go down the layers of the architecture document, or stay in a layer
without forming a cycle of rooms; layer 0 may be called by all, side rooms by none but
side rooms. Exit status 1 and a line for each call that does not.
"""
import glob
import os
import subprocess
import sys

SIDE = 8
LAYERS = {
    8: "main netlink nl_pnet sysctl diag hs_bpf",
    7: "af sockopt",
    6: "connect listen fallback sock hs hs_client hs_server hs_smcr hs_rules clc",
    5: "conn event cdc tx rx splice close",
    4: "smcr smcr_hs smcr_lgr core lgr link link_add link_del llc_serve mr rtoken buf",
    3: "llc llc_flow",
    2: "wr wr_sched wr_slot wr_rx wr_reg wr_qp",
    1: "ib gid prefix tcp",
    0: "clc_msg clc_enc llc_msg llc_enc cdc_msg cursor pnet pnet_table stats trace eid net",
}


# one room in several files: these may call each other
ROOMS = [
    {"smc_hs", "smc_hs_client", "smc_hs_server", "smc_hs_smcr", "smc_hs_rules"},
    {"smc_wr", "smc_wr_sched", "smc_wr_slot", "smc_wr_rx", "smc_wr_reg", "smc_wr_qp"},
]


def layer_of(name):
    short = name.removeprefix("smc_")
    if name == "af_smc":
        short = "af"
    for layer, names in LAYERS.items():
        if short in names.split():
            return layer
    return None


def symbols(path):
    defined, used = set(), set()
    out = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        *_, kind, sym = line.split()
        if kind in "TDBRV":
            defined.add(sym)
        elif kind == "U":
            used.add(sym)
    return defined, used


def main():
    objs = {}
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*smc*.o"))):
        name = os.path.basename(path)[:-2]
        if name in ("smc", "smc_diag.mod") or name.endswith(".mod"):
            continue
        objs[name] = symbols(path)
    owner = {s: n for n, (d, _) in objs.items() for s in d}
    bad, edges = [], {}
    for name, (_, used) in objs.items():
        layer = layer_of(name)
        if layer is None:
            bad.append(f"{name}.o has no layer in {__file__}")
            continue
        for sym in used:
            to = owner.get(sym)
            if to is None or to == name:
                continue
            below = layer_of(to)
            if below is None:
                continue
            if below > layer:
                bad.append(f"{name} (layer {layer}) calls up: {sym} of {to} (layer {below})")
            elif below == layer and not any({name, to} <= room for room in ROOMS):
                edges.setdefault(name, {}).setdefault(to, sym)

    def visit(node, path):
        for to, sym in edges.get(node, {}).items():
            if to in path:
                cycle = path[path.index(to):] + [to]
                key = "cycle in a layer: " + " -> ".join(cycle) + f" ({sym})"
                if not any(set(cycle) == c for c in seen):
                    seen.append(set(cycle))
                    bad.append(key)
            else:
                visit(to, path + [to])

    seen = []
    for name in edges:
        visit(name, [name])
    print("\n".join(bad) if bad else f"{len(objs)} objects, calls go down")
    return 1 if bad else 0


sys.exit(main())
