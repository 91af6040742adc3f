# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes docs/costs.svg, and the tables in docs/costs.md, docs/costs-measured.md and docs/methods/runq.md, from the
figures in measured/."""

from pathlib import Path

import commands
import figures
import picture

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[2] / "docs"
MEASURED = HERE / "measured"
ARCHITECTURES = ("arm64", "amd64")
WORKLOADS = {
    "pipe": ("A pipe on one core",
             "Two processes on one core pass a byte through a pipe and back. One operation of the workload pipe has "
             "two context switches."),
    "wakeup": ("A wake-up across cores",
               "A task on one core wakes a task on an idle core. One operation of the workload wakeup is a system call "
               "and an interrupt, the switch from idle to the task, and the switch back to idle. The number of "
               "instructions of wakeup is the sum of both cores."),
    "interrupt": ("An interrupt on an idle core",
                  "A task on one core reads a perf counter of an idle core, without waking a task. One operation of "
                  "the workload interrupt is a system call, an interrupt on the idle core, and the return to idle. The "
                  "number of instructions of interrupt is the sum of both cores."),
    "softirq": ("A softirq",
                "A task sends a datagram to itself over the loopback device. In one operation of the workload softirq, "
                "one NET_RX softirq interrupts the task."),
    "idle": ("Leaving idle and entering it again",
             "A task on a core that no other task uses wakes up every 230 µs. One operation of the workload idle is a "
             "timer interrupt and a wake-up, the switch from idle to the task, and the switch back to idle."),
}
BEGIN = "<!-- written by tests/bench/cost --write-docs from here -->\n"
END = "<!-- to here -->\n"
# Commands that are rows of the summary table.
SUMMARY = ("--json", "load", "load --cores --cgroups", "runq", "runq --causes", "runq --blame", "runq --sample 0.1", "noise", "wake --source passive",
           "trace --for 80000", "serve --collect load,runq,wake", "serve", "libbpf-tools runqlat", "libbpf-tools cpudist",
           "libbpf-tools softirqs", "perf sched record")


def measured():
    return [figures.Found.load(MEASURED / f"{arch}.json") for arch in ARCHITECTURES
            if (MEASURED / f"{arch}.json").exists()]


def elsewhere():
    """Returns the saved figures of kernels with a configuration that is not Debian's."""
    return [figures.Found.load(path) for path in sorted(MEASURED.glob("custom-*.json"))]


def times(added, empty):
    """Text with the ratio of the instructions that the command adds to the instructions that the
    empty program adds. times() returns "-" if the empty program adds at most 50 instructions, which
    is too few for a ratio."""
    return f"{added / empty:.1f}" if empty is not None and empty > 50 else "-"


def named(name):
    ours = {c: "`subtick " + c.replace(" & ", "` and `subtick ") + "`" for c in commands.OURS}
    return ours.get(name, name)


def table(found, workload):
    yield "| attached | instructions | added | empty | over it | times |"
    yield "| --- | --: | --: | --: | --: | --: |"
    for name, of in found.commands.items():
        if name == figures.AGAIN or workload not in of:
            continue
        added, empty = found.added(name, workload), found.empty_added(name, workload)
        over = None if empty is None else added - empty
        yield (f"| {named(name)} | {figures.number(of[workload].mean)} | {figures.number(added)} | "
               f"{figures.number(empty)} | {figures.number(over)} | {times(added, empty)} |")


def summary(all_found):
    """Summary table: one row per command, one column per workload."""
    def cell(values):
        return " / ".join(figures.number(v) for v in values)

    yield "| added, " + " / ".join(f.arch for f in all_found) + " | " + " | ".join(WORKLOADS) + " |"
    yield "| --- |" + " --: |" * len(WORKLOADS)
    for name in SUMMARY:
        yield f"| {named(name)} | " + " | ".join(
            cell([f.added(name, w) if w in f.commands.get(name, {}) else None for f in all_found])
            for w in WORKLOADS) + " |"
    yield "| an empty program on each tracepoint of `serve` | " + " | ".join(
        cell([f.empty_added("serve", w) for f in all_found]) for w in WORKLOADS) + " |"
    yield ""
    yield from (f"- *{name}*: {what}" for name, (_, what) in WORKLOADS.items())


def section(workload, all_found):
    title, what = WORKLOADS[workload]
    yield from ("", f"## {title}", what)
    for found in all_found:
        yield from ("", f"{found.arch}, Linux {found.kernel}:", "", *table(found, workload))


def rest(all_found):
    """Yields the lines of the section about the exporter at rest."""
    all_found = [f for f in all_found if f.rest]
    if not all_found:
        return
    yield from ("", "## The exporter at rest",
                "The tables of this section have the number of instructions that the process of `subtick serve` "
                "executes per processor and window of 1 s without scrapes, in user space and in the kernel, as a mean "
                "of 32 windows.")
    for found in all_found:
        sizes = [w.removeprefix("rest") for w in found.rest]
        yield from ("", f"{found.arch}, Linux {found.kernel}:", "",
                    "| | " + " | ".join(f"{s} processors" for s in sizes) + " |", "| --- |" + " --: |" * len(sizes))
        for name in commands.REST:
            yield f"| `subtick {name}` | " + " | ".join(
                figures.number(of.get(name)) for of in found.rest.values()) + " |"


def by_cpus_path(arch, cpus):
    return MEASURED / f"{arch}-{cpus}cpus.json"


def by_cpus(arch):
    """Returns the saved figures of an architecture as {number of processors: figures}."""
    return {cpus: figures.Found.load(by_cpus_path(arch, cpus)) for cpus in commands.REST_CPUS
            if by_cpus_path(arch, cpus).exists()}


def by_cpus_rows(arch):
    """Rows of a table with one row per command and one column per workload. A cell has a figure for each number of
    processors."""
    found = by_cpus(arch)
    columns = [*WORKLOADS, "window, per processor"]
    yield f"| {' / '.join(map(str, found))} processors | " + " | ".join(columns) + " |"
    yield "| --- |" + " --: |" * len(columns)
    for name in commands.BY_CPUS:
        yield f"| `subtick {name}` | " + " | ".join(by_cpus_cell(found, name, w) for w in [*WORKLOADS, None]) + " |"


def by_cpus_tables():
    for arch in (arch for arch in ARCHITECTURES if by_cpus(arch)):
        yield from ("", f"{arch}, Linux {next(iter(by_cpus(arch).values())).kernel}:", "", *by_cpus_rows(arch))


def by_cpus_cell(found, name, workload=None):
    """Table cell with a figure for each number of processors. Without @workload, the figures are instructions per
    processor and window at rest."""
    return " / ".join(figures.number(of.added(name, workload or f"rest{cpus}")) for cpus, of in found.items())


def by_cpus_summary():
    """Yields a list of the most important figures by number of processors."""
    for arch in filter(by_cpus, ARCHITECTURES):
        found = by_cpus(arch)
        head = f"In {arch} guests with {' / '.join(map(str, found))} processors,"
        yield (f"- {head} `serve` adds {by_cpus_cell(found, 'serve', 'pipe')} instructions to an operation of pipe, "
               f"and {by_cpus_cell(found, 'serve', 'wakeup')} instructions to an operation of wakeup. {head} the "
               f"process of `serve` executes {by_cpus_cell(found, 'serve')} instructions per processor and window of "
               "1 s without scrapes.")
        shares = [" / ".join(f"{100 * of.added('runq --causes --avoidable', w) / of.added('runq --causes', w) - 100:.0f}"
                             for of in found.values()) for w in ("pipe", "wakeup")]
        yield (f"- {head} `runq --causes --avoidable` adds more instructions to an operation than `runq --causes`: "
               f"{shares[0]} % more to pipe, {shares[1]} % more to wakeup. `--avoidable` is off by default, because "
               "`--avoidable` adds over 10 %.")


def cores_summary(all_found):
    """Yields sentences about the cost of `subtick --cores`. For hyperthreads, `subtick --cores` loads the same BPF
    programs as `load --cores --cgroups`."""
    names = ("load --cores --cgroups", "load", "--json")
    for found in (f for f in all_found if all(name in f.commands for name in names)):
        shares = []
        for workload in ("pipe", "wakeup", "idle"):
            both, load, overview = (found.added(name, workload) for name in names)
            shares.append(f"{100 * (both - load) / overview:.0f} % more to {workload}")
        yield (f"- On {found.arch} with hyperthreads, `subtick --cores` adds more instructions to an operation than "
               f"`subtick`: {', '.join(shares)}. `--cores` is off by default, because `--cores` adds over 5 %.")


def others(all_found):
    """Yields the lines of the section about kernels with a configuration that is not Debian's."""
    if not all_found:
        return
    yield from ("", "## Kernels built otherwise",
                "The tables of this section are for the workload pipe on kernels with `CONFIG_IRQ_TIME_ACCOUNTING`. "
                "`CONFIG_IRQ_TIME_ACCOUNTING` makes the clock of tasks differ from the clock of the run queue, so "
                "`runq` also reads the clock of the run queue. *empty* does not show the cost of "
                "`CONFIG_IRQ_TIME_ACCOUNTING`, because the kernels of this section are also preemptible and have no "
                "jump labels. On arm64 preemption without jump labels adds some 40 instructions to each call of "
                "`bpf_trace_run4()`: 18 for the preemption count, and 20 for RCU. To compare kernels, use column *over "
                "it*. [tests/vm/custom](../tests/vm/custom) has the configurations of the kernels. `tests/bench/cost "
                "--kernel NAME` builds the kernel NAME when it runs for the first time, and measures on this kernel.")
    for found in all_found:
        for workload in found.workloads():
            yield from ("", f"{found.arch}, Linux {found.kernel}, {workload}:", "", *table(found, workload))


def reasons(all_found):
    yield from ("", "## Not measured")
    for name, why in commands.LEFT_OUT:
        yield f"- {name}: {why}."
    for found in all_found:
        for name, whys in found.whys.items():
            yield from (f"- {named(name)}, {found.arch}: {why}" for why in whys)
    yield ("- Column *empty* of perf and bpftrace is not measured: perf and bpftrace attach to perf events, not to raw "
           "tracepoints, so the kernel does not list their programs as links.")
    versions = {p: v for found in all_found for p, v in found.versions.items()}
    yield from ("", "The measured tools of other projects have these Debian versions: " +
                ", ".join(f"{p} {v}" for p, v in versions.items()) + ".", "")


def rows_of_picture(all_found, workload="pipe"):
    """Returns the rows of the bar chart docs/costs.svg. The first row is the empty program of runq.
    The rows below are all commands in the order of the tables."""
    names = dict.fromkeys(n for found in all_found for n in found.commands
                          if n not in (figures.NOTHING, figures.AGAIN))
    rows = [("an empty program", {f.arch: f.empty_added("runq", workload) for f in all_found})]
    ours = set(commands.OURS)
    return rows + [(f"subtick {n}" if n in ours else n, {f.arch: f.added(n, workload) for f in all_found})
                   for n in names]


def runq_table(all_found, workloads=("pipe", "wakeup")):
    """Returns a table for docs/methods/runq.md with the instructions that each option of runq adds."""
    columns = [(found, workload) for workload in workloads for found in all_found]
    yield "| attached | " + " | ".join(f"{w}, {f.arch}" for f, w in columns) + " | what is in it |"
    yield "| --- | " + "--: | " * len(columns) + "--- |"
    rows = [("an empty program", [f.empty_added("runq", w) for f, w in columns], "the kernel's call of a program that does nothing")]
    rows += [(named(name), [f.added(name, w) for f, w in columns], what) for name, what in commands.RUNQ_ROWS]
    for name, values, what in rows:
        yield f"| {name} | " + " | ".join(map(figures.number, values)) + f" | {what} |"


def between_marks(path, *parts, begin=BEGIN):
    """Returns the text of the file @path. The lines of @parts[i] replace the text between the
    i-th pair of marks."""
    rest, made = path.read_text(), ""
    for lines in parts:
        before, rest = rest.split(begin, 1)
        made += before + begin + "\n".join(lines).strip("\n") + "\n" + END
        rest = rest.split(END, 1)[1]
    return made + rest


def files():
    """Returns [(path, text)] of all files with generated parts."""
    all_found = measured()
    tables = [line for workload in WORKLOADS for line in section(workload, all_found)]
    drawn = picture.draw("Instructions added to a pipe operation (two switches on one core)",
                         rows_of_picture(all_found), [f.arch for f in all_found])
    short, full, runq = DOCS / "costs.md", DOCS / "costs-measured.md", DOCS / "methods/runq.md"
    return [(short, between_marks(short, [*summary(all_found), *by_cpus_summary(), *cores_summary(all_found)])),
            (full, between_marks(full, [*tables, *rest(all_found)],
                                 [*by_cpus_tables(), *others(elsewhere()), *reasons(all_found)])),
            (DOCS / "costs.svg", drawn), (runq, between_marks(runq, runq_table(all_found)))]


def write():
    for path, text in files():
        path.write_text(text)
