# SPDX-License-Identifier: LGPL-2.1-or-later
"""Boots a guest in virtual time, runs bench-cost in the guest, and parses the figures that bench-cost prints."""

import re

import apt
import choose
import figures
import image
import peers
import qemu
import userspace

EXIT = re.compile(r"subtick-vm: exit (\d+) script\b")
# Length of a measuring window of subtick. A window is longer than any run of a guest, so that no
# command reads counters or prints during a workload.
WINDOW_S = 80000


def kernel(arch):
    for entry in choose.every():
        if entry.arch == arch and "truth" in entry.flags:
            return entry
    raise apt.Unavailable(f"kernels.list has no kernel for {arch} with the flag truth")


def ours(command, window_s=WINDOW_S):
    """Returns the command line of subtick in the guest. A window length is appended to all commands except serve and
    trace. serve has an option for its interval, and trace has no windows."""
    parts = []
    for part in command.split(" & "):
        words = part.split()
        parts.append(" ".join(["/bin/subtick", *words] +
                              ([] if words[0] in ("serve", "trace") else [str(window_s)])))
    return " & ".join(parts)


def rest_boot(cpus):
    return qemu.Boot(f"rest{cpus}", smp=cpus, icount=0, fine=True, memory_mb=1024,
                     says=f"virtual time, {cpus} processors")


def boot(large, cpus, threads=1):
    """Configuration of the guest for the workloads. If @large is true, the guest has more memory, for the 200 MB of
    libraries that Debian's tools need.

    The workloads run on CPU 1. Without isolcpus, CPU 1 would try to take over tasks that wait on
    CPU 0. Each attempt to take over a task takes 593 instructions or more on amd64. A task of a
    measured command can wait on CPU 0 for several milliseconds."""
    return qemu.Boot("cost", smp=cpus, threads=threads, icount=0, fine=True, words=("isolcpus=domain,1",),
                     memory_mb=1536 if large else 1024 if cpus > 8 else 512,
                     says=f"virtual time, {cpus} processors, {threads} per core")


def run(entry, boot, text, scratch, programs, timeout_s, verbose, trees=()):
    """Runs the script @text in a guest. Returns the lines of the console, and the run time of the guest in seconds."""
    script = scratch / "script"
    script.write_text(text)
    initrd = image.build(entry, scratch / "initrd.cpio", suites=[script], trees=trees, programs=programs)
    outcome = qemu.run(entry, boot, initrd, {"suites": "script", "kernel": entry.name, "limit_s": WINDOW_S},
                       timeout_s, verbose=verbose)
    codes = [int(m[1]) for m in map(EXIT.match, outcome.lines) if m]
    if outcome.trouble or codes != [0]:
        raise apt.Broken(f"the guest did not end well: {outcome.trouble or f'exit {codes}'}",
                         outcome.lines[-30:])
    return outcome.lines, outcome.seconds


def bench(workloads, listed, empty=True):
    """Returns a script that measures the listed commands (name, command line), and empty programs on their tracepoints.
    """
    text = "".join(f"{name}\t{line}\n" for name, line in listed)
    return (f"cat >/tmp/list <<'END'\n{text}END\n"
            f"bench-cost {','.join(workloads)} /tmp/list{'' if empty else ' --no-empty'}\n")


def programs(entry):
    build = userspace.build(entry.arch, targets=("subtick", "tests/bench/virtual/bench-cost"))
    return [build / "subtick", build / "tests/bench/virtual/bench-cost"]


def measure_rest(found, arch, commands, cpus, scratch, timeout_s, verbose=False):
    """Measures the instructions per window of 1 s of exporters at rest, in a guest with @cpus
    processors. Adds the measured figures to @found."""
    entry = kernel(arch)
    lines, seconds = run(entry, rest_boot(cpus), bench(["rest"], [(c, ours(c, 1)) for c in commands]), scratch,
                         programs(entry), timeout_s, verbose)
    found.parse_lines(lines)
    found.seconds += seconds
    found.arch, found.kernel, found.compiler = arch, entry.release, userspace.bpf_compiler()


def measure(arch, commands, others, workloads, scratch, timeout_s, verbose=False, named=None, empty=True,
            cpus=2):
    """Measures the workloads without a command, with each command of subtick, and with each other tool (peers.Peer). If
    @empty is true, the function also measures empty programs on the same tracepoints. @named is the name of a kernel
    that the guest runs instead of Debian's kernel. Commands with --cores run in a separate guest with hyperthreads."""
    entry = choose.find(named) if named else kernel(arch)
    siblings = [c for c in commands if "--cores" in c.split()]
    listed, whys, versions = [(c, ours(c)) for c in commands if c not in siblings], {}, {}
    if others:
        more, whys, versions = peers.stage(others, arch, scratch / "peers")
        listed += more

    def measured(listed, boot, trees=()):
        # Create a cgroup without tasks for runq --cgroup /outside: all tasks of the workloads are outside the selected
        # cgroup.
        script = "mkdir -p /sys/fs/cgroup/outside\n" + bench(workloads, listed, empty)
        lines, seconds = run(entry, boot, script, scratch, programs(entry), timeout_s, verbose, trees)
        found = figures.Found.parse(lines)
        found.seconds = seconds
        return found
    found = measured(listed, boot(others, cpus), [(scratch / "peers", "peers")] if others else [])
    if siblings:
        apart = measured([(c, ours(c)) for c in siblings], boot(False, cpus, 2))
        found.adopt(apart, siblings)
        found.seconds += apart.seconds
    found.arch, found.kernel = named or arch, entry.release
    found.versions, found.compiler = versions, userspace.bpf_compiler()
    for name, why in whys.items():
        found.whys.setdefault(name, []).append(why)
    return found
