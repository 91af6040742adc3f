# SPDX-License-Identifier: LGPL-2.1-or-later
"""Boots a guest in virtual time, runs bench-cost in it and reads its figures."""

import re

import apt
import choose
import figures
import image
import peers
import qemu
import userspace

EXIT = re.compile(r"subtick-vm: exit (\d+) script\b")
# Longer than any run: nothing is read or printed while a workload runs.
WINDOW_S = 80000


def kernel(arch):
    for entry in choose.every():
        if entry.arch == arch and "truth" in entry.flags:
            return entry
    raise apt.Unavailable(f"kernels.list has no kernel for {arch} with the flag truth")


def ours(command):
    """The command line of subtick in the guest. The exporter has its own intervals, a trace none."""
    parts = []
    for part in command.split(" & "):
        words = part.split()
        parts.append(" ".join(["/bin/subtick", *words] +
                              ([] if words[0] in ("serve", "trace") else [str(WINDOW_S)])))
    return " & ".join(parts)


def boot(large):
    """Programs of Debian come with 200 MB of libraries."""
    return qemu.Boot("cost", smp=2, icount=0, fine=True, memory_mb=1536 if large else 512,
                     says="virtual time, 2 processors")


def measure(arch, commands, others, workloads, scratch, timeout_s, verbose=False, named=None):
    """Figures of nothing, of each command of subtick and each of the other tools (peers.Peer),
    and of empty programs on their events. @named: a kernel other than Debian's, by whose name they go."""
    entry = choose.find(named) if named else kernel(arch)
    build = userspace.build(entry.arch)
    script = scratch / "script"
    listed, whys, versions = [(c, ours(c)) for c in commands], {}, {}
    if others:
        more, whys, versions = peers.stage(others, arch, scratch / "peers")
        listed += more
    text = "".join(f"{name}\t{line}\n" for name, line in listed)
    # The workloads are not in it: what a cgroup that was not asked for costs.
    script.write_text(f"mkdir -p /sys/fs/cgroup/outside\ncat >/tmp/list <<'END'\n{text}END\n"
                      f"bench-cost {','.join(workloads)} /tmp/list\n")
    initrd = image.build(entry, scratch / "initrd.cpio", suites=[script],
                         trees=[(scratch / "peers", "peers")] if others else [],
                         programs=[build / "subtick", build / "tests/bench/virtual/bench-cost"])
    outcome = qemu.run(entry, boot(others), initrd,
                       {"suites": "script", "kernel": entry.name, "limit_s": WINDOW_S},
                       timeout_s, verbose=verbose)
    codes = [int(m[1]) for m in map(EXIT.match, outcome.lines) if m]
    if outcome.trouble or codes != [0]:
        raise apt.Broken(f"the guest did not end well: {outcome.trouble or f'exit {codes}'}",
                         outcome.lines[-30:])
    found = figures.Found.parse(outcome.lines)
    found.seconds, found.arch, found.kernel = outcome.seconds, named or arch, entry.release
    found.versions, found.compiler = versions, userspace.bpf_compiler()
    for name, why in whys.items():
        found.whys.setdefault(name, []).append(why)
    return found
