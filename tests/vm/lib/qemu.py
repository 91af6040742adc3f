# SPDX-License-Identifier: LGPL-2.1-or-later
"""Boots a kernel and an initramfs under QEMU and reads the guest's console."""

import os
import re
import selectors
import shutil
import subprocess
import tempfile
import threading
import time
import zlib
from pathlib import Path

import apt
import idle
import kernels
import kvm

QEMU = {"arm64": "qemu-system-aarch64", "amd64": "qemu-system-x86_64"}
PACKAGE = {"arm64": "qemu-system-arm", "amd64": "qemu-system-x86"}
MACHINE_TYPE = {"arm64": "virt", "amd64": "q35"}
CONSOLE = {"arm64": "ttyAMA0", "amd64": "ttyS0"}
# The option no_timer_check disables a check at boot: an x86 kernel waits for ten ticks in a
# calibrated loop of 100 ms, and panics if the ticks are missing ("IO-APIC + timer doesn't work").
# On a busy host an emulated timer is late, so ticks may be missing. Under KVM the kernel skips this
# check of the timer.
WORDS = {"arm64": [], "amd64": ["no_timer_check"]}
# Time without console output after which a guest counts as hung. SILENCE_S is longer than the
# default timeout of a suite in guest/lib/tap.sh and longer than LIMIT_S of tests/vm/run, because a
# suite may print nothing before its end.
SILENCE_S = 360
VIRTUAL_BEGIN_S = 1767225600  # start time of a guest in virtual time: 2026-01-01
END_MARKER = "subtick-vm: end of run"
# Escape sequences that the firmware may print before the kernel's first line.
ESCAPES = re.compile(r"\x1b(c|\[[0-9;?]*[A-Za-z])")
# Fatal kernel messages. The pattern begins with a kernel timestamp, so test output that contains
# the text of a fatal message does not match.
FATAL = re.compile(r"^\[ *\d+\.\d+\].*(Kernel panic|Oops|BUG:|Unable to handle kernel|"
                   r"general protection fault|kernel BUG at|invalid opcode|"
                   r"blocked for more than|soft lockup|hard LOCKUP)")


class Boot:
    """Configuration of a guest: processors, hyperthreads per core, cgroup layout, idle states, memory.

    With icount the guest has virtual time: each executed instruction advances the guest's clock by 2^icount ns,
    independent of the host's load. If fine is true, the counter of an arm64 guest advances with each instruction,
    not with each 16th. words are additional words of the kernel's command line, and devices additional devices of
    QEMU."""

    def __init__(self, name, smp=2, threads=1, cgroup="v2", idle_states=False, memory_mb=512, icount=None,
                 fine=False, words=(), devices=(), says=""):
        self.name, self.smp, self.cgroup, self.icount, self.fine = name, smp, cgroup, icount, fine
        self.idle_states, self.memory_mb, self.says = idle_states, memory_mb, says
        self.threads = threads
        self.words, self.devices = words, devices


def plain_arguments(arch, boot):
    program = shutil.which(QEMU[arch])
    if not program:
        raise apt.Unavailable(f"no {QEMU[arch]}; install {PACKAGE[arch]}")
    # The default interrupt controller of "virt" supports only 8 processors.
    machine = "virt,gic-version=3" if arch == "arm64" and boot.smp > 8 else MACHINE_TYPE[arch]
    smp = str(boot.smp)
    if boot.threads > 1:
        smp += f",sockets=1,cores={boot.smp // boot.threads},threads={boot.threads}"
    return [program, "-M", machine, "-smp", smp,
            "-m", str(boot.memory_mb), "-nographic", "-no-reboot", "-nodefaults",
            *(word for device in boot.devices for word in ("-device", device))]


def kvm_arguments(arch, boot=Boot("base")):
    return plain_arguments(arch, boot) + ["-accel", "kvm", "-cpu", "host"]


def emulation_arguments(arch, boot=Boot("base")):
    # Option pauth-impdef avoids the emulation of architected pointer authentication, which makes an arm64 guest two to
    # four times slower.
    cpu = "max,pauth-impdef=on" if arch == "arm64" else "max"
    # One host thread emulates all CPUs of an x86-64 guest. With one host thread per CPU (QEMU 7.2),
    # a guest with Linux 5.10 hung in two of about ten runs. In the guests that hung, a CPU waited
    # forever for another CPU while BPF programs were loaded or released.
    accel = "tcg" if arch == "arm64" else "tcg,thread=single"
    return plain_arguments(arch, boot) + ["-accel", accel, "-cpu", cpu]


def seed(initrd):
    """Returns the random seed of a guest in virtual time: a checksum of its initramfs. A failure is reproducible on
    every machine with the same compilers and QEMU, and changed programs get another seed."""
    return int(os.environ.get("SUBTICK_VM_SEED") or zlib.crc32(Path(initrd).read_bytes()))


def virtual_time_arguments(arch, boot):
    # With sleep=off, the clock of an idle guest jumps to the guest's next timer. With clock=vm, the RTC does not depend
    # on the host's time.
    command = emulation_arguments(arch, boot)
    command[command.index("-accel") + 1] = "tcg,thread=single"
    # Use a CPU model that is the same in every version of QEMU, because the model `max` differs
    # between versions. The counter of the model neoverse-n1 runs at 62.5 MHz unless cntfrq is set.
    if arch == "arm64":
        command[command.index("-cpu") + 1] = \
            "neoverse-n1,cntfrq=1000000000" if boot.fine else "neoverse-n1"
    begin = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(VIRTUAL_BEGIN_S))
    return command + ["-rtc", f"base={begin},clock=vm", "-icount", f"shift={boot.icount},sleep=off"]


def kvm_usable(arch):
    """True if a small guest ran with KVM. kvm.py tests this once per run."""
    return (arch == kernels.MACHINE
            and kvm.verdict(arch, lambda: kvm_arguments(arch)) == kvm.WORKS)


def machine_arguments(arch, boot):
    if boot.icount is not None:
        return virtual_time_arguments(arch, boot)
    return (kvm_arguments if kvm_usable(arch) else emulation_arguments)(arch, boot)


def command_line(entry, boot, initrd, settings, scratch):
    command = machine_arguments(entry.arch, boot)
    if boot.idle_states:
        command += ["-dtb", str(idle.device_tree(command, boot.smp, scratch))]
    # Show only fatal kernel messages on the console, because other messages could split a result
    # line. At an oops the kernel itself raises the console's log level. The suite `log` reads the
    # messages that are not on the console.
    words = [f"console={CONSOLE[entry.arch]}", "panic=-1", "loglevel=2", "printk.time=1",
             *WORDS[entry.arch]]
    words += boot.words
    clock = int(time.time()) - 60 if boot.icount is None else VIRTUAL_BEGIN_S
    words += [f"SUBTICK_VM_CGROUP={boot.cgroup}", f"SUBTICK_VM_TIME={clock}"]
    if boot.icount is not None:
        command += ["-seed", str(seed(initrd))]
        words += [f"SUBTICK_VIRTUAL_TIME={1 << boot.icount}"]
    elif kvm_usable(entry.arch):
        # Slow tests are omitted only under emulation.
        settings = {k: v for k, v in settings.items() if k != "omit"}
    else:
        # The clock of an emulated guest also advances while other programs of the host have the
        # core. On a busy host, a kernel without preemption can verify a BPF program for longer than
        # the default limit for soft lockups (20 s). The largest watchdog_thresh (60 s) raises the
        # limit to 120 s.
        words += ["SUBTICK_EMULATED=1", "watchdog_thresh=60"]
    words += [f"SUBTICK_VM_{k.upper()}={v}" for k, v in settings.items()]
    return command + ["-serial", "stdio", "-kernel", str(entry.vmlinuz()),
                      "-initrd", str(initrd), "-append", " ".join(words)]


def shell(entry, boot, initrd):
    with tempfile.TemporaryDirectory() as scratch:
        settings = {"suites": "shell", "kernel": entry.name}
        command = command_line(entry, boot, initrd, settings, Path(scratch))
        command[command.index("stdio")] = "mon:stdio"
        return subprocess.run(command).returncode


STOPPED, KVM_BROKE = "stopped from outside", "KVM gave up on the guest"
# Event that stops all guests of the run. The results of completed tests are still reported.
stopping = threading.Event()


class Outcome:
    """Console output of a guest, the reason why its run is invalid or None, and the duration of the run."""

    def __init__(self, lines, trouble, seconds):
        self.lines, self.trouble, self.seconds = lines, trouble, seconds


def watch(process, timeout_s, silence_s, on_line):
    """Reads console lines until QEMU exits, KVM or the kernel fails, or a timeout expires. Returns the reason why the
    run is invalid, or None."""
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
            line = ESCAPES.sub("", raw.decode(errors="replace").rstrip("\r"))
            on_line(line)
            if kvm.BROKE.search(line):
                return KVM_BROKE
            if FATAL.search(line) and not fatal_at:
                # Read the console for 5 more seconds after a fatal kernel message, to include the stack trace.
                fatal_at = time.monotonic()
    return None


def run_once(entry, boot, initrd, settings, timeout_s, silence_s, on_line):
    """Boots a guest once. Returns (reason why the run is invalid or None, duration in seconds)."""
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
            process.stdout.close()
    return trouble, time.monotonic() - started


def run(entry, boot, initrd, settings, timeout_s, silence_s=SILENCE_S, verbose=False):
    """Boots a guest. If KVM fails, the guest is booted again under emulation. Returns an Outcome. Raises Unavailable if
    the guest cannot start. A failure of the guest raises no exception."""
    lines = []

    def on_line(line):
        lines.append(line)
        if verbose:
            print(f"# {entry.name}/{boot.name}| {line}", flush=True)

    with_kvm = kvm_usable(entry.arch)
    trouble, seconds = run_once(entry, boot, initrd, settings, timeout_s, silence_s, on_line)
    if trouble == KVM_BROKE and with_kvm:
        # KVM failed, so run the guest again under emulation.
        kvm.disproved(lines[-1].strip())
        lines.clear()
        trouble, seconds = run_once(entry, boot, initrd, settings, timeout_s, silence_s, on_line)
    fatal = [l for l in lines if FATAL.search(l)]
    if fatal and trouble != STOPPED:
        trouble = f"the kernel said: {fatal[0].strip()}"
    elif not trouble and not any(l.startswith(END_MARKER) for l in lines):
        trouble = "the guest ended before its end marker"
    return Outcome(lines, trouble, seconds)
