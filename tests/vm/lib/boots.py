# SPDX-License-Identifier: LGPL-2.1-or-later
"""Configurations of guest boots, and the test suites that each boot runs."""

from qemu import Boot

BOOTS = {b.name: b for b in (
    # QEMU's device edu raises the interrupt of the simulated network card (modules/launchcard).
    Boot("base", devices=("edu",), says="2 processors, cgroup v2"),
    Boot("smp8", smp=8, memory_mb=1024, says="8 processors"),
    Boot("cgroup1", cgroup="v1", says="cgroup v1 only"),
    Boot("hybrid", cgroup="hybrid", says="cgroup v1 controllers beside an empty v2 tree"),
    Boot("idle", idle_states=True, devices=("edu",), says="WFI and two deeper idle states"),
    Boot("disturbed", says="2 processors, a clock that is set, sleep, lockdown"),
    Boot("truth1", smp=1, icount=0, says="virtual time, 1 processor"),
    Boot("truth2", smp=2, icount=0, says="virtual time, 2 processors"),
    Boot("truthsmt", smp=4, threads=2, icount=0,
         says="virtual time, 2 cores of 2 hyperthreads"),
    Boot("truthfull", smp=2, icount=0, words=("nohz_full=1",),
         says="virtual time, 2 processors, the second one nohz_full"),
    Boot("truthkern", smp=2, icount=0,
         says="virtual time, 2 processors, for kernels of other configurations"),
    Boot("truthext", smp=2, icount=0,
         says="virtual time, 2 processors, for kernels with sched_ext"),
    Boot("truth16", smp=1, icount=4, says="virtual time, 16 ns an instruction"),
    Boot("incident2", smp=2, icount=3, devices=("edu",),
         says="virtual time, 2 processors, 8 ns an instruction"),
    Boot("incident1", smp=2, icount=3, devices=("edu",), cgroup="v1",
         says="virtual time, 2 processors, 8 ns an instruction, cgroup v1"),
)}
# INCIDENTS has the boots of `run --incidents`, and TRUTH has the boots of `run --truth`. tests/truth/meson.build lists
# the tests of each boot.
INCIDENTS = [name for name in BOOTS if name.startswith("incident")]
TRUTH = [b.name for b in BOOTS.values() if b.icount is not None and b.name not in INCIDENTS]

SUITES = ["doctor", "live", "hotplug", "nobtf", "noprivilege", "counters",
          "modules", "wake", "verifier", "log"]
# Suites (ONLY) and live tests (LIVE) of the boots other than "base". These boots omit tests that
# have the same result in every boot of a kernel.
ONLY = {
    "smp8": ["doctor", "live", "hotplug", "log"],
    "cgroup1": ["doctor", "live", "log"],
    "hybrid": ["doctor", "live", "log"],
    "idle": ["doctor", "idle", "wake", "live", "log"],
    # The suite lockdown runs after serve, because only a reboot ends the kernel's lockdown.
    "disturbed": ["serve", "lockdown", "log"],
    **{name: ["truth", "log"] for name in TRUTH + INCIDENTS},
}
LIVE = {
    "smp8": ["doctor", "load", "runq", "wake"],
    "cgroup1": ["doctor", "noise", "runq", "try", "wake_place"],
    "hybrid": ["doctor", "noise", "runq", "wake_place"],
    "idle": ["doctor", "load", "wake"],
}

# Live tests that are slow in an emulated guest, where most of their figures cannot be judged.
# ./check reports these tests as omitted, and ./check vm-all runs them. All other live tests take at
# most 6 minutes in two guests.
LONG = ["audit", "audit_left", "crit", "try", "runq_churn", "runq_cli", "runq_latency", "wake"]


def suites(entry, boot):
    chosen = ONLY.get(boot.name, SUITES)
    full = "custom" in entry.flags and boot.name not in TRUTH
    return ["events", *chosen] if full else chosen
