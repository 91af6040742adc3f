# SPDX-License-Identifier: LGPL-2.1-or-later
"""Parses the figures that bench-cost printed in a guest, and formats them as tables."""

import json
import math
from collections import namedtuple

# Files have only typical, mean and error. The other members of a figure from a file are None.
Figure = namedtuple("Figure", "typical mean error share low high nr", defaults=[None] * 4)
SAVED = 3
NOTHING, AGAIN = "nothing", "nothing again"
# Workloads in which no task waits for a core. The option --sample does not change the figures of
# workloads without waits.
WAITLESS = ("interrupt", "softirq")


def save_rows(path, data):
    """Writes a dict of dicts to a JSON file with one line per entry of the inner dicts."""
    def text(value):
        rows = [f"  {json.dumps(key)}: {json.dumps(row)}" for key, row in value.items()] if isinstance(value, dict) else []
        return "{\n" + ",\n".join(rows) + "\n }" if rows else json.dumps(value)
    path.write_text("{\n" + ",\n".join(f" {json.dumps(key)}: {text(value)}" for key, value in data.items()) + "\n}\n")


def sampled(name, workload):
    """True if a command with --sample has random figures in @workload, because the command counts a
    random sample of the waits."""
    return "--sample" in name and workload not in WAITLESS


class Found:
    """Figures of one run of bench-cost.

    commands: {command: {workload: Figure}}
    empty: {set of tracepoints: {workload: Figure}}, for empty programs
    sets: {command: set of tracepoints}
    events: {set of tracepoints: [names]}
    whys: {command: [reason why it was not measured]}
    versions: {package: version}
    rest: {workload: {command: instructions per processor and window at rest}}; "rest64" has 64 processors
    """

    def __init__(self):
        self.commands, self.empty, self.sets, self.events, self.whys = {}, {}, {}, {}, {}
        self.versions, self.arch, self.kernel, self.compiler = {}, "", "", ""
        self.rest = {}
        self.seconds = 0.0

    @classmethod
    def parse(cls, lines):
        found = cls()
        found.parse_lines(lines)
        return found

    def parse_lines(self, lines):
        """Parses lines of a guest's console, and adds the figures in these lines."""
        for line in lines:
            words = line.rstrip("\r").split("\t")
            if words[0] == "cost" and len(words) >= 4:
                self.take(words[1], words[2], words[3:])

    def save(self, path):
        """Writes the figures that the pages and the limits need to a JSON file. The file has one line per command, so
        that it can be compared with the file of another run."""
        def saved(of):
            return {name: {w: figure[:SAVED] for w, figure in figures.items()} for name, figures in of.items()}
        save_rows(path, {"arch": self.arch, "kernel": self.kernel, "compiler": self.compiler,
                         "versions": self.versions, "commands": saved(self.commands), "empty": saved(self.empty),
                         "sets": self.sets, "events": self.events, "whys": self.whys, "rest": self.rest})

    @classmethod
    def load(cls, path):
        found = cls()
        for key, value in json.loads(path.read_text()).items():
            if key in ("commands", "empty"):
                value = {name: {w: Figure(*f) for w, f in figures.items()} for name, figures in value.items()}
            setattr(found, key, value)
        return found

    def take(self, name, kind, rest):
        if kind in ("command", "empty"):
            of = self.commands if kind == "command" else self.empty
            typical, share, low, high, nr, mean, error = map(float, rest[1:8])
            of.setdefault(name, {})[rest[0]] = Figure(typical, mean, error, share, low, high, int(nr))
        elif kind == "set":
            self.sets[name] = rest[0]
            self.events.setdefault(rest[0], rest[1].split())
        elif kind == "rest":
            self.rest.setdefault(f"rest{rest[0]}", {})[name] = float(rest[1])
        elif kind == "why":
            self.whys.setdefault(name, []).append(rest[0])

    def set_of(self, events):
        """Returns the name of the set that contains exactly these tracepoints. Adds a set to
        self.events if no set contains exactly these tracepoints."""
        for name, known in self.events.items():
            if known == events:
                return name
        name = str(len(self.events))
        self.events[name] = events
        return name

    def take_others(self, kept, names, grain):
        """Copies the figures of other tools from the saved run @kept. Returns False if the two runs
        had different kernels or workloads, or if their figures without a command differ by more
        than the measurement error @grain."""
        if kept.kernel != self.kernel or kept.workloads() != self.workloads() or any(
                abs(kept.typical(w) - self.typical(w)) > grain[w] for w in self.workloads()):
            return False

        self.adopt(kept, names)
        self.versions = kept.versions
        return True

    def adopt(self, other, names):
        """Copies the figures of commands from the run @other. The function shifts each copied
        figure by the difference of the two runs without a command. The number of instructions that
        a command adds to an operation stays the same."""
        def moved(of):
            return {w: f._replace(mean=f.mean - other.base(w) + self.base(w),
                                  typical=f.typical - other.typical(w) + self.typical(w)) for w, f in of.items()}
        more = {n: moved(other.commands[n]) for n in names if n in other.commands}
        last = self.commands.pop(AGAIN)
        self.commands |= more
        self.commands[AGAIN] = last
        for name in (n for n in names if n in other.sets):
            self.sets[name] = self.set_of(other.events[other.sets[name]])
            self.empty.setdefault(self.sets[name], moved(other.empty.get(other.sets[name], {})))
        self.whys |= {n: other.whys[n] for n in names if n in other.whys}

    def workloads(self):
        return list(self.commands.get(NOTHING, {}))

    def typical(self, workload):
        return min(self.commands[n][workload].typical for n in (NOTHING, AGAIN) if n in self.commands)

    def base(self, workload):
        """Mean instructions per operation of @workload without a command. Each workload is measured
        without a command twice, before and after all commands. base() returns the lower of the
        means before and after all commands, because a timer may have raised the higher mean."""
        both = [self.commands[n][workload].mean for n in (NOTHING, AGAIN)
                if workload in self.commands.get(n, {})]
        return min(both, default=None)

    def added_by(self, figure, workload):
        base = self.base(workload)
        return figure.mean - base if figure and base is not None else None

    def added(self, name, workload):
        """Instructions that the command adds to an operation, or None if not measured. For an
        exporter at rest, the function returns the instructions of a whole window."""
        if workload.startswith("rest"):
            return self.rest.get(workload, {}).get(name)
        return self.added_by(self.commands.get(name, {}).get(workload), workload)

    def steady(self, name, workload):
        """Instructions that the command adds to an operation: the difference of the most frequent
        numbers of instructions with and without the command. The most frequent number does not vary
        randomly. With --sample, steady() returns the difference of the mean numbers of
        instructions, because most operations are not in the sample."""
        figure = self.commands.get(name, {}).get(workload)
        if figure is None or sampled(name, workload) or NOTHING not in self.commands or workload.startswith("rest"):
            return self.added(name, workload)
        return figure.typical - self.typical(workload)

    def error(self, name, workload):
        """Standard error of the result of steady(), or 0 for a command without --sample."""
        figure = self.commands.get(name, {}).get(workload)
        if figure is None or not sampled(name, workload):
            return 0.0
        nothing = self.commands.get(NOTHING, {}).get(workload)
        return math.hypot(figure.error, nothing.error if nothing else 0.0)

    def empty_added(self, name, workload):
        """Instructions that empty programs on the same tracepoints as the command add to an operation."""
        return self.added_by(self.empty.get(self.sets.get(name), {}).get(workload), workload)


def number(value):
    # "or 0" turns a negative zero into zero.
    return "-" if value is None else f"{round(value) or 0:,}"


def rows(found, workload):
    """Yields the table cells of each command: name, mean instructions, share of the most frequent
    value, quartiles, instructions that the command adds, instructions that empty programs add, and
    the difference. The last cell is the standard error of a command with --sample, and is empty for
    other commands."""
    for name, figures in found.commands.items():
        figure = figures.get(workload)
        if not figure:
            continue
        added, empty = found.added(name, workload), found.empty_added(name, workload)
        over = None if empty is None else added - empty
        yield (name, number(figure.mean), f"{100 * figure.share:.0f} %",
               f"{number(figure.low)} to {number(figure.high)}",
               number(added), number(empty), number(over), f" ± {found.error(name, workload):.1f}" if "--sample" in name else "")


def rest_table(found):
    """Returns a text table with the figures of the exporter at rest."""
    if not found.rest:
        return []
    names = dict.fromkeys(n for of in found.rest.values() for n in of)
    return (["at rest: instructions per processor and window",
             f"  {'processors':24} " + " ".join(f"{w.removeprefix('rest'):>9}" for w in found.rest)] +
            [f"  {n:24} " + " ".join(f"{number(of.get(n)):>9}" for of in found.rest.values()) for n in names])


def table(found):
    """Returns a text table with one block per workload."""
    lines = []
    for workload in found.workloads():
        lines.append(f"{workload}: instructions per operation")
        lines.append(f"  {'attached':24} {'mean':>9} {'share':>6} {'quartiles':>19} {'added':>8} "
                     f"{'empty':>8} {'over it':>8}")
        for name, typical, share, spread, added, empty, over, error in rows(found, workload):
            lines.append(f"  {name:24} {typical:>9} {share:>6} {spread:>19} {added:>8} "
                         f"{empty:>8} {over:>8}{error}")
    lines += rest_table(found)
    lines += [f"not measured: {name}: {why}" for name, whys in found.whys.items() for why in whys]
    lines.append(f"the guest took {found.seconds:.0f} s")
    return lines
