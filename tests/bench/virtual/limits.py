# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads and writes the file limits: the number of instructions that each command of subtick may add
to an operation. Compares the figures of a guest with the limits in this file."""

from pathlib import Path

import figures

PATH = Path(__file__).resolve().parent / "limits"
GROWTH = 1.02
# Maximum difference of two measurements of the same command, in instructions. The time at which
# QEMU switches between processors varies by some instructions. At idle entry the kernel searches
# the levels of its timer wheel. Depending on the time of the measurement, the kernel searches one
# level of the timer wheel a second time, which takes 11 instructions.
GRAIN = {"pipe": 1, "softirq": 1, "wakeup": 5, "idle": 5, "interrupt": 15}
# Factor by which the instructions per window of an exporter at rest may grow. Two measurements of
# the instructions per window of one exporter differed by 5 %, because the measured windows contain
# ticks and timers of all processors.
REST_GROWTH = 1.1
# Allowed random excess of a figure over its limit, in instructions, by workload and command. In one
# of ten runs, most operations of the workload pipe take 10 additional instructions with runq. A
# wait in the workload pipe is about 1 us long. For waits below 1,024 ns, the BPF program uses
# another code path to find the histogram bucket.
BY_CHANCE = {("pipe", "runq"): 10}
# The mean of a command with --sample may exceed the limit by ERRORS standard errors. The mean and
# the limit have the same standard error, so the standard error of their difference is sqrt(2) times
# as large. ERRORS standard errors of the mean equal three standard errors of the difference. By
# chance, one of 700 measured means exceeds its limit by more than ERRORS standard errors.
ERRORS = 3 * 2 ** 0.5
COLUMNS = ("pipe", "wakeup", "interrupt", "softirq", "idle", "rest16", "rest64")
HEAD = """\
# Instructions that a command of subtick may add to an operation: architecture, limit for each workload, command.
# Workloads rest16 and rest64: instructions per processor and window of an exporter without scrapes, on 16 or 64
# processors. ./check cost fails if a command exceeds its limit by more than 2 %, or 10 % for rest16 and rest64.
# `tests/bench/cost --lower` lowers limits and adds limits of new commands. To raise a limit, edit this file by hand and
# state the reason in the commit.
"""


def before_and_after(found, workload):
    """Compares the figures without a command, measured before and after all commands. The numbers
    of instructions before and after all commands differ if a command left a BPF program
    attached."""
    before, after = (found.commands.get(n, {}).get(workload) for n in (figures.NOTHING, figures.AGAIN))
    if not before or not after:
        return False, f"{found.arch} {workload}: nothing attached was not measured"
    # Compare the most frequent numbers of instructions, which do not vary randomly. A BPF program
    # that a command left attached changes every operation.
    return (abs(before.typical - after.typical) <= GRAIN[workload],
            f"{found.arch} {workload}: nothing attached takes {before.typical:.0f} instructions, and "
            f"{after.typical:.0f} in the end")


class Limits:
    """Limits of all commands. values: {(architecture, workload, command): instructions}. compilers: {architecture:
    name}."""

    def __init__(self):
        self.values, self.compilers = {}, {}

    @classmethod
    def read(cls, path=PATH):
        limits = cls()
        for line in path.read_text().splitlines() if path.exists() else ():
            if line.startswith("# compiler: "):
                arch, _, name = line.removeprefix("# compiler: ").partition(" ")
                limits.compilers[arch] = name
            elif line and not line.startswith("#"):
                arch, *row, command = line.split(None, len(COLUMNS) + 1)
                limits.values |= {(arch, workload, command): int(value) for workload, value in zip(COLUMNS, row) if value != "-"}
        return limits

    def write(self, path=PATH):
        def row(arch, cells, command):
            return f"{arch:25} " + " ".join(f"{cell:>9}" for cell in cells) + f" {command}\n"
        text = HEAD + "".join(f"# compiler: {a} {c}\n" for a, c in sorted(self.compilers.items()))
        text += row("# architecture", COLUMNS, "command")
        path.write_text(text + "".join(row(arch, [self.values.get((arch, w, command), "-") for w in COLUMNS], command)
                                       for arch, command in dict.fromkeys((a, c) for a, _, c in self.values)))

    def made_by_same(self, found):
        return self.compilers.get(found.arch, found.compiler) == found.compiler

    def rest(self, arch):
        """Pairs (workload, command) of exporters at rest that have a limit on the architecture @arch."""
        return [key[1:] for key in self.values if key[0] == arch and key[1].startswith("rest")]

    def lower(self, found, commands, rest=()):
        """Lowers each limit to the measured figure if the figure is smaller, and adds limits of new commands. Never
        raises a limit. Returns the changed limits."""
        changed = []
        if not self.made_by_same(found):
            return changed
        pairs = [(w, c) for w in found.workloads() for c in commands] + list(rest)
        for workload, command in pairs:
            key, added = (found.arch, workload, command), found.steady(command, workload)
            if added is None or (key in self.values and self.values[key] <= round(added)):
                continue
            changed.append((key, self.values.get(key), max(round(added), 0)))
            self.values[key] = max(round(added), 0)
        self.compilers[found.arch] = found.compiler
        return changed

    def allowed(self, key):
        if key[1].startswith("rest"):
            return self.values[key] * REST_GROWTH
        limit = self.values[key]
        return max(limit * GROWTH, limit + GRAIN[key[1]]) + BY_CHANCE.get(key[1:], 0)

    def judge(self, found, commands, workloads, rest=()):
        """Returns a list of verdicts (True if good, sentence) for each command and workload, and
        for each (workload, command) in @rest. A limit without a figure adds a bad verdict. A limit
        of an exporter at rest counts only if its workload is in @rest. All other limits count
        unless @workloads is empty."""
        verdicts, seen = [], set()
        for workload in workloads:
            verdicts.append(before_and_after(found, workload))
            for command in commands:
                self.judge_one(found, workload, command, seen, verdicts)
        for workload, command in rest:
            self.judge_one(found, workload, command, seen, verdicts)
        for key in self.values:
            expected = key[1] in dict(rest) if key[1].startswith("rest") else workloads
            if key[0] == found.arch and expected and key not in seen:
                verdicts.append((False, f"{' '.join(key)}: has a limit and no figure"))
        return verdicts

    def judge_one(self, found, workload, command, seen, verdicts):
        key = (found.arch, workload, command)
        seen.add(key)
        verdicts.append(self.verdict(key, found.steady(command, workload), found.error(command, workload),
                                     found.whys.get(command, [])))

    def verdict(self, key, added, error, whys):
        name = f"{key[0]} {key[1]}: {key[2]}"
        if added is None:
            return False, f"{name}: was not measured" + "".join(f": {w}" for w in whys)
        if key not in self.values:
            return False, f"{name} adds {added:.0f} and has no limit; tests/bench/cost --lower adds it"
        by = f" ± {error:.1f}" if error else ""
        text = f"{name} adds {added:.0f}{by} instructions, limit {self.values[key]}"
        return added <= self.allowed(key) + ERRORS * error, text


def judge_growth(few, many, commands):
    """Returns verdicts on @many, the figures of a guest with many processors. The limits of
    judge_growth() are @few, the figures of a guest with few processors."""
    by_few = Limits()
    by_few.lower(few, commands)
    (size_few, rest_few), (size_many, _) = *few.rest.items(), *many.rest.items()
    by_few.values |= {(few.arch, size_many, name): value for name, value in rest_few.items()}
    return [(good, f"{size_many.removeprefix('rest')} processors, limits of {size_few.removeprefix('rest')}: {text}")
            for good, text in by_few.judge(many, commands, many.workloads(), [(size_many, c) for c in commands])]
