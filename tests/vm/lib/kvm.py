# SPDX-License-Identifier: LGPL-2.1-or-later
"""Detects whether KVM works on this machine: boots a small guest once per run and prints the result once.

KVM may fail although /dev/kvm can be opened: in some nested virtual machines every guest ends with "KVM internal error"
or prints nothing.
"""

import os
import re
import selectors
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

DEVICE = "/dev/kvm"
LIMIT_S = 20
MARKER = "subtick-vm: the probe runs"
# Environment variable that passes the result of the KVM test to all processes of one ./check.
VARIABLE = "SUBTICK_KVM"
WORKS, ABSENT = "KVM: works", "KVM: absent; emulation instead"
# Messages that QEMU prints if KVM fails.
BROKE = re.compile(r"KVM internal error|KVM: entry failed|kvm run failed")
PROBE = Path(__file__).resolve().parent.parent / "probe"
TARGET = {"arm64": "aarch64-linux-gnu", "amd64": "x86_64-linux-gnu"}

_lock = threading.Lock()
_verdict = None


def image(arch, scratch):
    """Assembles the small guest in probe/ to a flat binary, with clang, which supports both architectures. Returns the
    path."""
    thing, flat = Path(scratch) / "probe.o", Path(scratch) / "probe.bin"
    for command in (["clang", f"--target={TARGET[arch]}", "-c", "-o", thing, PROBE / f"{arch}.S"],
                    ["llvm-objcopy", "-O", "binary", "--only-section=.text", thing, flat]):
        subprocess.run(command, check=True, capture_output=True, text=True)
    return flat


def listen(process, limit_s):
    """Reads the output of QEMU until the marker, a failure of KVM, the exit of QEMU, or the timeout. Returns the
    output, and True if QEMU exited."""
    said, end = "", time.monotonic() + limit_s
    with selectors.DefaultSelector() as chooser:
        chooser.register(process.stdout, selectors.EVENT_READ)
        while MARKER not in said and not BROKE.search(said) and time.monotonic() < end:
            if not chooser.select(0.2):
                continue
            chunk = os.read(process.stdout.fileno(), 65536)
            if not chunk:
                return said, True
            said += chunk.decode(errors="replace")
    return said, False


def boot(command, arch, limit_s=LIMIT_S):
    """Boots the small guest with this QEMU command. Returns None if the guest ran, else the reason of the failure."""
    with tempfile.TemporaryDirectory() as scratch:
        try:
            flat = image(arch, scratch)
        except (OSError, subprocess.CalledProcessError) as why:
            return f"the guest to try it with was not built: {why}"
        process = subprocess.Popen([*command, "-serial", "stdio", "-kernel", str(flat)],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        try:
            said, ended = listen(process, limit_s)
        finally:
            process.kill()
            code = process.wait()
            process.stdout.close()
    if MARKER in said:
        return None
    broke = [line.strip() for line in said.splitlines() if BROKE.search(line)]
    if broke:
        return f"\"{broke[0]}\""
    if ended:
        last = said.splitlines() if said.strip() else ["no message"]
        last = [line.strip() for line in last if line.strip()][-1]
        return f"QEMU ended with code {code}: {last}"
    return f"a guest of a few instructions did not speak within {limit_s:g} s"


def judge(arch, command, limit_s=LIMIT_S):
    """Returns a sentence that describes whether KVM works on this machine. command() returns the QEMU command with
    KVM."""
    if not os.path.exists(DEVICE):
        return ABSENT
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        return f"KVM: {DEVICE} is there but this user may not open it; emulation instead"
    why = boot(command(), arch, limit_s)
    return WORKS if why is None else (f"KVM: {DEVICE} is there but runs no guest: {why}; "
                                      "emulation instead")


def verdict(arch, command):
    """Returns the result of judge(), which is determined and printed once for all guests of one ./check or of this
    process."""
    global _verdict
    with _lock:
        if not _verdict:
            _verdict = os.environ.get(VARIABLE)
            if not _verdict:
                _verdict = judge(arch, command)
                print(f"# {_verdict}", file=sys.stderr, flush=True)
    return _verdict


def disproved(line):
    """Disables KVM, because a guest of the suite failed with a KVM error although the small guest ran."""
    global _verdict
    with _lock:
        _verdict = f"KVM: ran a small guest but not this one: \"{line}\"; emulation instead"
        print(f"# {_verdict}", file=sys.stderr, flush=True)
