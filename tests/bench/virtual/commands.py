# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables of the commands that tests/bench/cost measures. To measure a new option of subtick, add one line to OURS."""

from peers import Peer

# Commands of subtick. The BPF programs of a command stay attached until the command is stopped. Commands separated by "
# & " run at the same time.
OURS = (
    # `subtick --json` without a subcommand measures the overview.
    "--json",
    "load",
    "load --softirq",
    "load --bursts",
    "load --cores",
    "load --cores --cgroups",
    "noise",
    "runq",
    "runq --causes",
    "runq --blame",
    "runq --per task",
    "runq --source wakeup",
    "runq --sample 0.1",
    "runq --sample 0.1 --causes",
    "runq --cgroup /outside",
    "runq --idle-states",
    "runq --pressure",
    "wake --source passive",
    "trace --for 80000",
    "trace --on wait=1000",
    "serve",
    "serve --collect load,runq,wake",
    "serve --collect load,runq,wake --sample 0.1",
    "serve --collect load,runq,wake --exclude cgroup=/",
    "serve --collect load,runq,wake --idle-states",
    "load & runq",
)

# Command lines of the exporter that are measured at rest, which means without scrapes. Only the
# command lines in REST_LIMITS have a limit of instructions. A command line with a single collector
# measures the cost of the collector.
REST = ("serve", "serve --collect load,runq,wake", "serve --collect load", "serve --collect runq", "serve --collect wake")
REST_CPUS = (2, 8, 64)
# Pairs (workload, command) that have a limit for an exporter at rest. ./check cost measures guests with REST_CHECKED
# processors, and ./check vm-all measures guests with 64 processors. A guest with 64 processors takes 50 s of CPU time,
# a guest with 16 processors 12 s.
REST_LIMITS = (("rest16", "serve --collect load,runq,wake"), ("rest64", "serve --collect load,runq,wake"))
REST_CHECKED = 16

# Commands that tests/bench/cost --cpus measures with each number of processors.
BY_CPUS = ("load", "runq --causes", "runq --causes --avoidable", "serve")

# Commands that have limits on kernels with a configuration that is not Debian's (--kernel). On
# kernels with CONFIG_IRQ_TIME_ACCOUNTING, the run-queue clock differs from the task clock, so runq
# also reads the run-queue clock.
ELSEWHERE = ("runq", "runq --causes", "runq --blame")
ELSEWHERE_WORKLOADS = ("pipe",)

# Rows of the table in docs/methods/runq.md. Each row has a command, and the work that the command does in addition to
# the command of the row above.
RUNQ_ROWS = (
    ("runq --sample 0.1", "for waits outside the sample: a hash of the runtime of both tasks"),
    ("runq --sample 0.1 --causes", "also checks whether a task of the sample may be waiting, because its causes need this switch"),
    ("runq --cgroup /outside", "for tasks outside the selected cgroup: reads the entries and keys of both tasks"),
    ("runq", "for every wait: reads the clock, the entry and the key of the task; updates sum, maximum, histogram and `le`"),
    ("runq --causes", "also records each switch in the ring of the core's last 120 switches, and reads the throttled time"),
    ("runq --blame", "also updates the pair of victim and culprit in the core's table"),
    ("runq --idle-states", "`runq`, and four programs: a timestamp per wake-up, the state at each idle entry, a map by cgroup and state"),
    ("serve --collect load,runq,wake", "`--blame` without the fine histogram, and `load` and `wake`"),
    ("runq --per task", "no quick path: each wait takes the slow path"),
    ("runq --source wakeup", "no quick path, two more tracepoints, a timestamp per wake-up"),
    ("libbpf-tools runqlat", "another tool: a hash map of timestamps, a histogram by powers of two"),
)

# Other tools in Debian that are measured for comparison.
PEERS = (
    Peer("libbpf-tools runqlat", "libbpf-tools", "usr/sbin/runqlat", "80000"),
    Peer("libbpf-tools runqslower", "libbpf-tools", "usr/sbin/runqslower", "10000"),
    Peer("libbpf-tools cpudist", "libbpf-tools", "usr/sbin/cpudist", "80000"),
    Peer("libbpf-tools softirqs", "libbpf-tools", "usr/sbin/softirqs", "80000"),
    Peer("libbpf-tools hardirqs", "libbpf-tools", "usr/sbin/hardirqs", "80000"),
    Peer("bpftrace runqlat.bt", "bpftrace", "usr/bin/bpftrace",
         "-I /peers/share/include /peers/share/runqlat.bt"),
    Peer("perf sched record", "linux-perf", "usr/bin/perf",
         "sched record -a -o /dev/null -- sleep 80000"),
)

# Tools that are measured only with --kernel and --peer. These tools need tracers that Debian enables only in its
# PREEMPT_RT kernels.
TRACERS = (
    Peer("rtla timerlat top", "rtla", "usr/bin/rtla", "timerlat top -q"),
)

# Similar tools in Debian that are not measured, each with the reason.
LEFT_OUT = (
    ("bpfcc-tools (runqlat-bpfcc and others)",
     "these tools are not measured, because they need Python and a compiler in the guest to compile C against the "
     "kernel's headers at each start; libbpf-tools has the same five programs in compiled form"),
)
