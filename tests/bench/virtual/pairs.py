# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures, in virtual time, how many instructions it takes to disable and enable interrupts or preemption. `subtick
crit` with the kernel module runs these pairs of operations."""

import json
import re
from pathlib import Path

import apt
import choose
import figures
import guest
import image
import kbuild
import page
import qemu
import userspace

KEPT = Path(__file__).resolve().parent / "pairs.json"
BEGIN = "<!-- written by tests/bench/crit-cost --write-docs from here -->\n"
DOC = page.DOCS / "methods/crit.md"
OPS = ("irq", "preempt", "irq_save")
MODULE = userspace.TOP / "kmod/tracerbench"
# The guest has one processor, so that the clock counts no instructions of other processors. With
# fine=True, the clock counter of an arm64 guest counts each instruction.
BOOT = qemu.Boot("crit", smp=1, icount=0, fine=True, says="virtual time, 1 processor")
CRIT = "subtick crit --engine module --samples 2000 --rounds 3 --json"
# The script sleeps first, because the kernel calibrates its clocks for some seconds after boot. The
# script enables the preemptirq trace events in a separate trace instance, as `subtick crit
# --tracepoints` does. The script cannot use --tracepoints, because the option does not work on a
# kernel without a network.
SCRIPT = f"""\
measure() {{
	out=$({CRIT}) || exit 1
	echo "pairs $1 $out"
}}
sleep 10
(zcat /proc/config.gz || cat /boot/config-*) 2>/dev/null | grep '=y$' | sed 's/^/pairs config /'
insmod /modules/tracerbench.ko || exit 1
measure off
[ -d /sys/kernel/tracing/events/preemptirq ] || exit 0
mkdir /sys/kernel/tracing/instances/pairs && cd /sys/kernel/tracing/instances/pairs || exit 1
echo 64 >buffer_size_kb
echo 1 >events/preemptirq/enable && measure on
"""
CALIBRATION = 1e-4
# Kernel options that are saved with the figures. SCRIPT reads the kernel options from the
# configuration of the guest's kernel.
OPTIONS = ("PREEMPT_COUNT", "PREEMPT_DYNAMIC", "PARAVIRT_XXL", "ARM64_PSEUDO_NMI", "TRACE_IRQFLAGS",
           "TRACE_PREEMPT_TOGGLE", "IRQSOFF_TRACER", "PREEMPT_TRACER")


def default_kernels(arch):
    custom = [e.name for e in choose.every() if e.arch == arch and e.name.startswith(f"custom-{arch}-")]
    return [guest.kernel(arch).name, *custom]


def configured(lines):
    """Returns the kernel options of OPTIONS that are enabled in the guest's kernel."""
    on = {m[1] for m in (re.match(r"pairs config CONFIG_(\w+)=y", l) for l in lines) if m}
    if not on:
        raise apt.Broken("the guest lacks its kernel's configuration", lines[-30:])
    return [o for o in OPTIONS if o in on]


def figures_of(data):
    """Returns {operation: instructions} from the JSON of crit. In virtual time an operation must
    have the same median in all rounds of crit."""
    # Allow a clock step that differs slightly from 1 ns, because the kernel's calibration of the
    # TSC is not exact.
    if data["unit"] != "cycles" or abs(data["quality"]["clock_step_ns"] - 1) > CALIBRATION:
        raise apt.Broken(f"the clock does not count instructions: {data['quality']}")
    apart = [o["op"] for o in data["ops"] if o["median_low"] != o["median_high"]]
    if apart:
        raise apt.Broken(f"the rounds differ: {', '.join(apart)}")
    return {o["op"]: o["median"] for o in data["ops"]}


def measure(name, scratch, timeout_s):
    entry = choose.find(name)
    build = userspace.build(entry.arch)
    script = scratch / "script"
    script.write_text(SCRIPT)
    initrd = image.build(entry, scratch / "initrd.cpio", suites=[script], programs=[build / "subtick"],
                         modules=kbuild.build(entry, MODULE)[0])
    outcome = qemu.run(entry, BOOT, initrd, {"suites": "script", "kernel": name, "limit_s": int(timeout_s)},
                       timeout_s)
    codes = [int(m[1]) for m in map(guest.EXIT.match, outcome.lines) if m]
    said = dict(m.groups() for m in (re.match(r"pairs (off|on) (.*)", l) for l in outcome.lines) if m)
    if outcome.trouble or codes != [0] or "off" not in said:
        raise apt.Broken(f"the guest did not end well: {outcome.trouble or f'exit {codes}'}",
                         outcome.lines[-30:])
    return {"release": entry.release, "options": configured(outcome.lines),
            "figures": {state: figures_of(json.loads(text)) for state, text in said.items()}}


def state_of(kernel, state):
    if state == "on":
        return "compiled in, on"
    return "compiled in, off" if "TRACE_IRQFLAGS" in kernel["options"] else "not compiled in"


def number(value):
    return "-" if value is None else f"{value:,.0f}"


def table(found):
    """Yields the lines of a Markdown table. found: {architecture: {kernel: figures}}"""
    yield "| kernel | tracepoints | " + " | ".join(f"`{o}`" for o in OPS) + " |"
    yield "| --- | --- |" + " --: |" * len(OPS)
    # The rows of Debian's kernels come before the rows of the custom kernels.
    for name, kernel in (item for of in found.values()
                         for item in sorted(of.items(), key=lambda i: (i[0].startswith("custom-"), i[0]))):
        for state, figures in kernel["figures"].items():
            cells = [number(figures.get(o)) for o in OPS]
            yield f"| {name} | {state_of(kernel, state)} | " + " | ".join(cells) + " |"


def kept():
    return json.loads(KEPT.read_text()) if KEPT.exists() else {}


def keep(arch, found):
    data = kept()
    data.setdefault(arch, {}).update(found)
    figures.save_rows(KEPT, data)


def files():
    return [(DOC, page.between_marks(DOC, table(kept()), begin=BEGIN))]


def write():
    for path, text in files():
        path.write_text(text)
