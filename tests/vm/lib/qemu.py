# SPDX-License-Identifier: LGPL-2.1-or-later
"""Boots a kernel and an initramfs under QEMU and watches its console."""

import os
import re
import selectors
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import apt
import idle
import kernels

QEMU = {"arm64": "qemu-system-aarch64", "amd64": "qemu-system-x86_64"}
PACKAGE = {"arm64": "qemu-system-arm", "amd64": "qemu-system-x86"}
MACHINE_TYPE = {"arm64": "virt", "amd64": "q35"}
CONSOLE = {"arm64": "ttyAMA0", "amd64": "ttyS0"}
# Longer than a suite may take (guest/lib/tap.sh, LIMIT_S of run): one that prints only at its end
# is no hang.
SILENCE_S = 360
END_MARKER = "subtick-vm: end of run"
# What a kernel says when it dies or is about to; none of these may appear in a good run.
# The prefix keeps a test's own sentence that mentions one of them from counting.
FATAL = re.compile(r"^\[ *\d+\.\d+\].*(Kernel panic|Oops|BUG:|Unable to handle kernel|"
                   r"general protection fault|kernel BUG at|invalid opcode|"
                   r"blocked for more than|soft lockup|hard LOCKUP)")


class Boot:
    """How a guest is started: processors, cgroup layout, idle states, memory. With icount its clock
    counts executed instructions, each 2^icount ns: virtual time, which the host's load cannot move."""

    def __init__(self, name, smp=2, cgroup="v2", idle_states=False, memory_mb=512, icount=None,
                 says=""):
        self.name, self.smp, self.cgroup, self.icount = name, smp, cgroup, icount
        self.idle_states, self.memory_mb, self.says = idle_states, memory_mb, says


def kvm_usable(arch):
    return arch == kernels.MACHINE and os.access("/dev/kvm", os.R_OK | os.W_OK)


def on_kvm(arch, boot):
    return boot.icount is None and kvm_usable(arch)


def machine_arguments(arch, boot):
    program = shutil.which(QEMU[arch])
    if not program:
        raise apt.Unavailable(f"no {QEMU[arch]}; install {PACKAGE[arch]}")
    command = [program, "-M", MACHINE_TYPE[arch], "-smp", str(boot.smp),
               "-m", str(boot.memory_mb), "-nographic", "-no-reboot", "-nodefaults"]
    if on_kvm(arch, boot):
        return command + ["-accel", "kvm", "-cpu", "host"]
    # pauth-impdef: the architected pointer authentication is so slow to emulate that it
    # alone makes an arm64 guest two to four times slower.
    cpu = "max,pauth-impdef=on" if arch == "arm64" else "max"
    if boot.icount is None:
        return command + ["-accel", "tcg", "-cpu", cpu]
    # A model that is the same in every QEMU, with a counter of 62.5 MHz: `max` changes both.
    if arch == "arm64":
        cpu = "neoverse-n1"
    # sleep=off: an idle guest jumps to its next timer. The clock chip must not follow the host.
    return command + ["-accel", "tcg,thread=single", "-cpu", cpu, "-rtc", "clock=vm",
                      "-icount", f"shift={boot.icount},sleep=off"]


def command_line(entry, boot, initrd, settings, scratch):
    command = machine_arguments(entry.arch, boot)
    if boot.idle_states:
        command += ["-dtb", str(idle.device_tree(command, boot.smp, scratch))]
    # Only what a dying kernel says may share the console: a lesser message could come in the
    # middle of a result. An oops raises the level itself; the suite `log` reads the rest.
    words = [f"console={CONSOLE[entry.arch]}", "panic=-1", "loglevel=2", "printk.time=1"]
    words += [f"SUBTICK_VM_{k.upper()}={v}" for k, v in settings.items()]
    words += [f"SUBTICK_VM_CGROUP={boot.cgroup}", f"SUBTICK_VM_TIME={int(time.time()) - 60}"]
    if boot.icount is not None:
        words += [f"SUBTICK_VIRTUAL_TIME={1 << boot.icount}"]
    elif not kvm_usable(entry.arch):
        words += ["SUBTICK_EMULATED=1"]
    return command + ["-serial", "stdio", "-kernel", str(entry.vmlinuz()),
                      "-initrd", str(initrd), "-append", " ".join(words)]


def shell(entry, boot, initrd):
    with tempfile.TemporaryDirectory() as scratch:
        settings = {"suites": "shell", "kernel": entry.name}
        command = command_line(entry, boot, initrd, settings, Path(scratch))
        command[command.index("stdio")] = "mon:stdio"
        return subprocess.run(command).returncode


STOPPED = "stopped from outside"
# Set when someone wants the run to end now: every guest does, and what it said is still told.
stopping = threading.Event()


class Outcome:
    """What came over the console, and why the run must not be trusted (None: it may)."""

    def __init__(self, lines, trouble, seconds):
        self.lines, self.trouble, self.seconds = lines, trouble, seconds


def watch(process, timeout_s, silence_s, on_line):
    """Reads console lines until the guest ends, dies, falls silent or runs out of time."""
    started = heard = time.monotonic()
    pending, trouble, fatal_at = b"", None, None
    chooser = selectors.DefaultSelector()
    chooser.register(process.stdout, selectors.EVENT_READ)
    while trouble is None:
        now = time.monotonic()
        if stopping.is_set():
            return STOPPED
        if fatal_at and now - fatal_at > 5:
            break
        if now - started > timeout_s:
            return f"hang: no end after {timeout_s} s"
        if now - heard > silence_s:
            return f"hang: silent for {silence_s} s"
        if not chooser.select(1):
            continue
        chunk = os.read(process.stdout.fileno(), 65536)
        if not chunk:
            break
        heard = time.monotonic()
        *complete, pending = (pending + chunk).split(b"\n")
        for raw in complete:
            line = raw.decode(errors="replace").rstrip("\r")
            on_line(line)
            if FATAL.search(line) and not fatal_at:
                # The trace that follows is what a person needs: read on for a while.
                fatal_at = time.monotonic()
    return None


def run(entry, boot, initrd, settings, timeout_s, silence_s=SILENCE_S, verbose=False):
    """Boots once. Never raises for what the guest does; Unavailable if it cannot start."""
    lines = []

    def on_line(line):
        lines.append(line)
        if verbose:
            print(f"# {entry.name}/{boot.name}| {line}", flush=True)

    with tempfile.TemporaryDirectory() as scratch:
        command = command_line(entry, boot, initrd, settings, Path(scratch))
        started = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        try:
            trouble = watch(process, timeout_s, silence_s, on_line)
        finally:
            process.kill()
            process.wait()
    seconds = time.monotonic() - started
    fatal = [l for l in lines if FATAL.search(l)]
    if fatal and trouble != STOPPED:
        trouble = f"the kernel said: {fatal[0].strip()}"
    elif not trouble and not any(l.startswith(END_MARKER) for l in lines):
        trouble = "the guest ended before its end marker"
    return Outcome(lines, trouble, seconds)
