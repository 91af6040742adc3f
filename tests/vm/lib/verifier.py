# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the number of instructions that the BPF verifier processed with a file of limits, and writes the
table for the docs."""

from pathlib import Path

import docs
import userspace

PATH = Path(__file__).resolve().parent.parent / "verifier/limits"
BEGIN = "<!-- tests/vm/run --suite verifier --write-limits writes from here -->"
MOST = 1_000_000  # maximum number of instructions that the kernel accepts since Linux 5.2
# Maximum ratio of the instructions of a BPF program to the saved limit of the program.
GROWTH = 1.1
# Growth by at most GRAIN instructions is not reported.
GRAIN = 100
HEAD = f"""\
# Number of instructions that the verifier processes, by kernel (columns) and BPF program (rows).
# "-" means that the program is not loaded on the kernel.
# ./check vm fails if a program exceeds its limit by more than {round(GROWTH * 100 - 100)} %
# and by more than {GRAIN} instructions.
# `tests/vm/run --suite verifier --write-limits` writes measured numbers as limits. If a commit raises a limit, its
# message states the reason.
"""
# Shared programs: BPF programs that are loaded for several sets of options. In the table of limits, the row of a shared
# BPF program is named after the BPF program and the options. The row of any other BPF program is named after the
# program alone.
SHARED = ("runq_general", "runq_plain", "runq_some", "runq_causes")


def row(choice, program):
    """Returns the row name of a BPF program, such as "runq_general for runq --causes"."""
    return f"{program} for {choice.partition(',')[0]}" if program in SHARED else program


def counts(documents):
    """Returns a dict from each row name of the table of limits to the maximum number of verified
    instructions. Uses only the option sets of the brief list, because only the brief list is loaded
    in every run."""
    most = {}
    for document in (d for d in documents if d["brief"]):
        for program, insns in document["programs"].items():
            name = row(document["choice"], program)
            most[name] = max(most.get(name, 0), insns)
    return most


class Limits:
    """Limits for the number of verified instructions. values is {(kernel, row): instructions}."""

    def __init__(self):
        self.values, self.made_by = {}, userspace.bpf_compiler()

    @classmethod
    def read(cls, path=PATH):
        limits, kernels = cls(), []
        for line in path.read_text().splitlines() if path.exists() else ():
            if line.startswith("# compiler: "):
                limits.made_by = line.removeprefix("# compiler: ")
            elif line.startswith("kernels "):
                kernels = line.split()[1:]
            elif line and not line.startswith("#"):
                *cells, name = line.split(None, len(kernels))
                limits.values |= {(k, name): int(c) for k, c in zip(kernels, cells) if c != "-"}
        return limits

    def kernels(self):
        return list(dict.fromkeys(kernel for kernel, _ in self.values))

    def rows(self):
        return sorted({name for _, name in self.values})

    def keep(self, kernel, found):
        self.values = {k: v for k, v in self.values.items() if k[0] != kernel}
        self.values |= {(kernel, name): insns for name, insns in found.items()}

    def write(self, path=PATH):
        kernels = sorted(self.kernels())
        lines = [f"# compiler: {self.made_by}", " ".join(["kernels", *kernels])]
        for name in self.rows():
            cells = [str(self.values.get((k, name), "-")) for k in kernels]
            lines.append(" ".join(c.rjust(len(k)) for c, k in zip(cells, kernels)) + f" {name}")
        path.write_text(HEAD + "\n".join(lines) + "\n")

    def unfit(self, kernel):
        """Returns the reason why the limits of @kernel cannot be used, or an empty string."""
        if kernel not in self.kernels():
            return f"there are no limits for {kernel}"
        made_by = userspace.bpf_compiler()
        return "" if made_by == self.made_by else f"{made_by}; the limits are of {self.made_by}"

    def excess(self, kernel, found):
        """Yields a sentence about each BPF program that exceeds its limit."""
        for name, insns in found.items():
            limit = self.values.get((kernel, name))
            if limit is not None and insns > max(limit * GROWTH, limit + GRAIN):
                yield f"{name}: {insns} instructions, limit {limit}"

    def apart(self, kernel, found):
        """Returns the BPF programs that have a limit and were not loaded, and the loaded BPF
        programs without a limit."""
        limited = {name for k, name in self.values if k == kernel}
        return sorted(limited ^ set(found))


def outcomes(kernel, documents, limits=None):
    """Yields (status, description, reason) of each check of a kernel's programs."""
    refused = [f"{d['choice']}: {d['why']}" for d in documents if not d["loaded"]]
    yield ("not ok" if refused or not documents else "ok",
           f"the verifier accepts all {len(documents)} sets of programs", "; ".join(refused))
    silent = [p for d in documents for p, n in d["programs"].items() if n <= 0]
    yield "not ok" if silent else "ok", "it says how far it walked", ", ".join(silent)
    found = counts(documents)
    limits = limits or Limits.read()
    name = max(found, key=found.get, default="none")
    what = (f"no program takes it more than {round(GROWTH * 100 - 100)} % over its limit (most: "
            f"{found.get(name, 0):,} instructions of {MOST:,}, {name})")
    why = limits.unfit(kernel)
    if why:
        yield "skip", what, f"not judged: {why}"
        return
    over = list(limits.excess(kernel, found))
    yield "not ok" if over or not found else "ok", what, "; ".join(over)
    apart = limits.apart(kernel, found)
    yield ("not ok" if apart else "ok", "every program that was loaded has a limit, and the other way round",
           ", ".join(apart))


MEASURED = {}  # measured values by kernel, for --write-limits


def judge(documents):
    """Judges the output of the suite verifier. @documents has one document with the kernel's name, then one document
    for each set of options."""
    kernel, documents = documents[0]["kernel"], documents[1:]
    # Save no limits for a kernel that refused a BPF program.
    if all(d["loaded"] for d in documents):
        MEASURED[kernel] = counts(documents)
    yield from outcomes(kernel, documents)


def table(limits):
    """Returns a Markdown table with one row per program."""
    kernels = sorted(limits.kernels())
    lines = ["| program | " + " | ".join(kernels) + " |", "| --- |" + " --: |" * len(kernels)]
    for name in limits.rows():
        cells = [f"{limits.values[k, name]:,}" if (k, name) in limits.values else "" for k in kernels]
        program, _, choice = name.partition(" for ")
        title = f"`{program}` for `{choice}`" if choice else f"`{program}`"
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return lines


def write():
    """Writes the values of this run as limits of the tested kernels, and updates the table of the docs."""
    limits = Limits.read()
    limits.made_by = userspace.bpf_compiler()
    for kernel, found in MEASURED.items():
        limits.keep(kernel, found)
    limits.write()
    docs.write(table(limits), BEGIN)
