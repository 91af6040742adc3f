# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the kernel's dispatch counts of container tasks with the number of waits that an exporter counted."""
import contextlib
import os
import re
import signal
import time

import containers
from exporter import eventually

COUNT = "subtick_runqueue_latency_seconds_count"
UNKNOWN = 'subtick_losses_total{collector="runq",kind="unknown_start"}'
WINDOWS = 'subtick_collector_updates_total{collector="runq"}'


def tasks_now(path):
    """Returns the tasks in the cgroup of a container, from any cgroup hierarchy."""
    for root in containers.hierarchies():
        with contextlib.suppress(OSError), open(f"{root}{path}/cgroup.procs", encoding="ascii") as procs:
            pids = [int(pid) for pid in procs.read().split()]
            if pids:
                return pids
    return []


def tasks_of(path):
    """Waits until the three tasks of a container with the command SWITCHING run (its shell and two commands), and
    returns the tasks."""
    return eventually(lambda: tasks_now(path) if len(tasks_now(path)) == 3 else []) or tasks_now(path)


def dispatches(pids):
    """Returns the number of dispatches of the tasks, which must not run now. /proc/PID/status
    counts the switches away from a task."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            total += sum(int(count) for count in re.findall(r"^\w*voluntary_ctxt_switches:\s*(\d+)", file.read(), re.M))
    return total


def counts(metrics, *parts):
    """Returns the sum of waits of all series whose labels contain all @parts, and the number of these series."""
    found = [value for key, value in metrics.items()
             if key.startswith(COUNT + "{") and all(part in key for part in parts)]
    return sum(found), len(found)


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


@contextlib.contextmanager
def stopped(pids):
    """Stops the tasks for the duration of a with statement, so that the counts of the kernel and of the exporter do not
    change."""
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        if not eventually(lambda: all(state(pid) == "T" for pid in pids)):
            raise RuntimeError("tasks do not stop")
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def settled(server):
    """Waits until a window that starts after the call has ended, and returns the counters of the
    exporter."""
    ended = server.metrics()[WINDOWS]
    # The current window and the next window must end.
    if not eventually(lambda: server.metrics()[WINDOWS] >= ended + 2):
        raise RuntimeError("no window ends")
    return server.metrics()


def arrivals(pids):
    """Returns the sum of the tasks' dispatch counts in schedstat."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[2])
    return total


def await_cores(groups):
    """Waits for ten dispatches of each group's tasks, because a tracer misses a wait that began
    before the tracer was attached. On a machine with four busy tasks, a container once waited 3 s
    for a core."""
    was = [arrivals(pids) for pids in groups]
    if not eventually(lambda: all(arrivals(pids) >= before + 10 for pids, before in zip(groups, was))):
        raise RuntimeError(f"the kernel gave tasks no core: {[arrivals(pids) - old for pids, old in zip(groups, was)]}")


def around(groups, read):
    """Calls read(), lets the tasks of the groups run for at least 2 s, and calls read() again.
    Returns both results. SIGSTOP stops the tasks of all groups during both calls of read()."""
    pids = [pid for group in groups for pid in group]
    time.sleep(0.5)
    with stopped(pids):
        first = read()
    time.sleep(2)
    await_cores(groups)
    with stopped(pids):
        return first, read()


def compare(server, groups):
    """Yields a finding for each difference between the exporter's counters and the kernel's counts. @groups is {name:
    (parts of the labels, tasks)}."""
    init = containers.init_dispatches()
    (first, was), (last, now) = around([pids for _, pids in groups.values()], lambda: (
        settled(server), {name: dispatches(pids) for name, (_, pids) in groups.items()}))
    init = containers.init_dispatches() - init
    print(f"# init had a core {init} times")
    for name, (parts, pids) in groups.items():
        seen, series = counts(last, *parts)
        seen -= counts(first, *parts)[0]
        true = now[name] - was[name]
        print(f"# {name}: {seen:.0f} waits, the kernel gave its {len(pids)} tasks a core {true} times")
        if series != 1 or len(pids) % 3 or not pids:
            yield f"{name}: {series} series, {len(pids)} tasks"
        # If a task is preempted on its way to sleep, the kernel counts the next dispatch of the task without a wait.
        unknown = last[UNKNOWN] - first[UNKNOWN]
        if not true or not true - unknown - init <= seen <= true:
            yield f"{name}: {seen:.0f} waits instead of {true}"


def is_harmless(pid):
    """True if a process has no capabilities, has a seccomp filter, and has no_new_privs set."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        status = file.read()
    return all(re.search(line, status, re.M) for line in (r"^CapEff:\s*0+$", r"^CapPrm:\s*0+$", r"^Seccomp:\s*2$",
                                                          r"^NoNewPrivs:\s*1$"))
