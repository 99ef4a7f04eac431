# SPDX-License-Identifier: GPL-2.0
"""Finds in a console log what a healthy kernel does not print."""
import os
import re

TITLE = re.compile(
    r"(\bBUG: |\bKASAN: |\bWARNING: |\bINFO: task .* blocked|\bINFO: rcu_|rcu: INFO:|"
    r"possible recursive locking|possible circular locking|suspicious RCU usage|"
    r"inconsistent lock state|INFO: trying to register non-static key|"
    r"refcount_t: |unregister_netdevice: waiting|ref_tracker: .*(leaked|used|has)|"
    r"kmemleak: \d+ new suspected|unreferenced object 0x|"
    r"general protection fault|kernel BUG at|Kernel panic|Oops: |"
    r"soft lockup|hard LOCKUP|workqueue lockup|UBSAN: |ODEBUG: |"
    r"list_(add|del) corruption|sleeping function called|scheduling while atomic|"
    r"Bad page state|Slab cache still has objects|Objects remaining in|"
    r"kmem_cache_destroy|stack guard page|double fault|"
    r"page dumped because|leaked (lock|netns|socket)|"
    r"net_devmem|DMA-API: .*(leak|error)|possible deadlock)")

# lines that look alike and are harmless for every kernel
NOISE = re.compile(r"\] lab: |WARNING: Spectre|kmemleak: Kernel memory leak detector|"
                   r"FAULT_INJECTION: forcing a failure|lockdep is turned off|"
                   r"\d+ messages suppressed")
BLOCK = 90      # lines that may belong to one report


def load_allow(path):
    """Entries 'TITLE-RE || BLOCK-RE'; the reason is the comment above."""
    out = []
    if not os.path.exists(path):
        return out
    with open(path) as f:
        for line in f:
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            title, _, block = line.partition("||")
            out.append((re.compile(title.strip()), re.compile(block.strip(), re.S)))
    return out


def scan(text, allow):
    """Returns the reports in text that no entry of allow explains.

    Each is the list of its lines.  A title within a report (before its end
    mark) belongs to that report.
    """
    lines = text.splitlines()
    found, i = [], 0
    while i < len(lines):
        line = lines[i]
        if not TITLE.search(line) or NOISE.search(line):
            i += 1
            continue
        end = i + 1
        while end < len(lines) and end < i + BLOCK:
            if "end trace" in lines[end] or "lab: run " in lines[end]:
                end += 1
                break
            if end > i + 3 and ("unreferenced object" in lines[end] or
                                "==========" in lines[end]):
                break
            end += 1
        block = lines[i:end]
        body = "\n".join(block)
        if not any(t.search(line) and b.search(body) for t, b in allow):
            found.append(block)
        i = end
    return found
