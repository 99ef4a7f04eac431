#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Size of files and functions of net/smc.

usage: sizes.py FILE..

Limits: 800 lines a file, 80 lines a function (name line to closing brace), 4
labels a function. Exit status 1 and a line for each that is larger.
"""
import re
import sys

FILE, FUNC, LABELS = 800, 80, 4
START = re.compile(r"^[A-Za-z_][\w \t\*]*?\**(\w+)\(")
LABEL = re.compile(r"^(\w+):\s*(/\*.*)?$")


def functions(lines):
    """(name, first line, last line, labels) by the kernel's brace style."""
    name = first = None
    for no, line in enumerate(lines, 1):
        m = START.match(line)
        if m and not line.rstrip().endswith(";"):
            name, first = m.group(1), no
        if line == "{" and name:
            start, labels = first, 0
        elif line == "}" and name:
            yield name, start, no, labels
            name = None
        elif name and LABEL.match(line):
            labels += 1


def main():
    bad = []
    for path in sys.argv[1:]:
        with open(path) as f:
            lines = f.read().splitlines()
        if len(lines) > FILE:
            bad.append(f"{path}: {len(lines)} lines")
        for name, start, end, labels in functions(lines):
            if end - start + 1 > FUNC:
                bad.append(f"{path}:{start}: {name} has {end - start + 1} lines")
            if labels > LABELS:
                bad.append(f"{path}:{start}: {name} has {labels} labels")
    print("\n".join(bad) if bad else "sizes are within the limits")
    return 1 if bad else 0


sys.exit(main())
