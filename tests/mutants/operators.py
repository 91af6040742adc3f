# SPDX-License-Identifier: LGPL-2.1-or-later
"""Changes single lines of the code by rules (operators), such as another constant or a removed statement. Finds the
tests that execute a changed line."""

import concurrent.futures
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import mutants

FOLDERS = ("bpf", "lib/stats", "lib/measure", "serve")
# Share of changed lines that unit and golden tests detected in the last measurement: 29 of 59 (README.md). The target
# is 0.9.
LEAST_KILLED = 0.49
# BEYOND: tests of lines that no unit or golden test executes, by prefix of the source path.
# tests/mutants/run starts the tests in BEYOND only with --suites.
NEVER_RUN = "no unit or golden test executes it"
BEYOND = (
    ("serve/", ["suite/serve"]),
    ("lib/measure/audit/", ["suite/cli"]),
    ("lib/measure/crit/", ["live/crit"]),
    ("lib/measure/noise/", ["live/noise"]),
    ("lib/measure/overview/", ["suite/schemas"]),
    ("lib/measure/runq/", ["live/runq_cli", "live/runq_filter"]),
    ("lib/measure/trace/", ["live/trace"]),
    ("lib/measure/try/", ["live/try"]),
    ("lib/measure/wake/", ["live/wake", "live/wake_states"]),
    ("lib/measure/", ["suite/schemas", "live/load_cli"]),
    ("bpf/load_noise", ["live/noise"]),
    ("bpf/load", ["live/load_cli", "live/noise"]),
    ("bpf/runq", ["live/runq_cli", "live/runq_filter"]),
    ("bpf/trace", ["live/trace"]),
    ("bpf/wake", ["live/wake"]),
)
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
COMPARISON = re.compile(r" (<=|>=|==|!=|<|>) (?=[^\s])")
CONSTANT = re.compile(r"(?<![\w.])(\d+)(?=(?:U|L|UL|ULL|u|ull)?\b)(?![\w.]*[.x])")
STATEMENT = re.compile(r"^(\t+)(?!return\b|break\b|continue\b|goto\b|case\b)"
                       r"[\w*(][\w>.\[\]*-]*(?:\(.*\)| [-+|&^*/]?= .+|\+\+|--);$")
CALL = re.compile(r"(\w+\()([\w.>-]+), ([\w.>&-]+)(?=[,)])")
CONDITION = re.compile(r"\bif \((.*)\)( \{)?$")
TERM = r"!?[\w.>-]+(?:\([\w.>&*, -]*\))?"
HALVES = re.compile(rf"(?<=\()(?P<left>{TERM} (?:&&|\|\|) )(?={TERM}\)?)|(?P<right> (?:&&|\|\|) {TERM})(?=[);])")
# Patterns of changes that no test can detect. RELEASE: a removed release of memory or of a
# descriptor, which only leak checks detect, or a removed log line. ARRAY: a larger array.
# SYMMETRIC: swapped arguments of a comparison. EXTREME: < instead of <= if the next line assigns
# one side to the other side. The function constant() skips two further kinds of changes:
# another value in the initializer of a whole struct, and another address in the type expression
# ((struct x *)0)->member.
RELEASE = re.compile(r"\t+(?:free|close|fclose|closedir|munmap|log_line|\w+_(?:free|close|unref|destroy))\(")
ARRAY = re.compile(r"\t+(?:(?:static|const|struct|unsigned) )*\w+ [^=(]*\[$")
SYMMETRIC = re.compile(r"\b(?:memcmp|strn?cmp|f?max|f?min|MAX|MIN)\($")
EXTREME = re.compile(r"if \((?P<a>[\w.>-]+) [<>]=? (?P<b>[\w.>-]+)\)$")
NOT_CODE = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|/\*.*?\*/|//.*')


def masked(line):
    """Replaces strings and comments in the line by spaces of the same length."""
    return NOT_CODE.sub(lambda found: " " * len(found[0]), line)


def replaced(line, found, text, group=0):
    return line[:found.start(group)] + text + line[found.end(group):]


def compare(line, code):
    return [replaced(line, m, COMPARISONS[m[1]], 1) for m in COMPARISON.finditer(code)]


def constant(line, code):
    return [replaced(line, m, str(int(m[1]) + 1), 1) for m in CONSTANT.finditer(code)
            if not ARRAY.match(code[:m.start()]) and code[m.start() - 1:m.end() + 1] != "{0}"
            and not code[:m.start()].endswith("*)")]


def drop(line, code):
    found = STATEMENT.match(code.rstrip())
    return [f"{found[1]}(void)0;"] if found and not RELEASE.match(code) else []


def swap(line, code):
    return [line[:m.start()] + f"{m[1]}{m[3]}, {m[2]}" + line[m.end():] for m in CALL.finditer(code)
            if m[2] != m[3] and not SYMMETRIC.search(m[1])]


def negate(line, code):
    found = CONDITION.search(code.rstrip())
    return [replaced(line, found, f"!({line[found.start(1):found.end(1)]})", 1)] if found else []


def half(line, code):
    """Returns variants of the line in which one side of && or || is removed, if this side is a single term."""
    return [line[:m.start(lost)] + line[m.end(lost):] for m in HALVES.finditer(code) for lost in ("left", "right") if m[lost]]


def edge(line, code):
    """If @line opens the body of a BPF program, makes the program return at once, so that the program ignores its
    event."""
    return ["{ return 0;"] if code == "{" else []


OPERATORS = {"compare": compare, "constant": constant, "drop": drop, "swap": swap, "negate": negate,
             "half": half}


def bodies(lines):
    """Yields (line number, line, True if the line opens the body of a BPF program) for each line inside a function."""
    inside = comment = False
    for number, line in enumerate(lines):
        comment = comment or line.lstrip().startswith("/*")
        if line == "{":
            inside = True
            yield number, line, "BPF_PROG(" in "".join(lines[max(0, number - 2):number])
        elif line.startswith("}"):
            inside = False
        elif inside and not comment and not line.startswith("#") and not line.endswith("\\"):
            yield number, line, False
        comment = comment and "*/" not in line


def is_equivalent(operator, code, after):
    """True if the line compares two terms and the line @after makes the two terms equal, as in: if
    (a > b) b = a. If the two compared terms are equal, the assignment changes nothing, so a change
    of > to >= has no effect."""
    found = EXTREME.search(code.rstrip()) if operator == "compare" else None
    return bool(found) and after.strip() in (f"{found['b']} = {found['a']};", f"{found['a']} = {found['b']};")


class Change:
    """One changed line of a file. Class Change has the interface of class Mutant, so that
    tests/mutants/run can use both classes."""

    def __init__(self, path, number, operator, line, before):
        self.files, self.number, self.operator, self.line = [path], number, operator, line
        shown = before if operator == "drop" else line
        self.name, self.tests = f"{path}:{number + 1}: {operator}: {shown.strip()}", []

    def check(self):
        pass

    def apply(self, tree):
        path = tree.top / self.files[0]
        lines = path.read_text().split("\n")
        lines[self.number] = self.line
        path.write_text("\n".join(lines))


def changes_of(path):
    lines = (mutants.TOP / path).read_text().split("\n")
    for number, line, opens in bodies(lines):
        if opens:
            yield from (Change(path, number, "edge", new, line) for new in edge(line, line))
        elif line != "{":
            code = masked(line)
            for name, operator in OPERATORS.items():
                yield from (Change(path, number, name, new, line) for new in operator(line, code)
                            if new != line and not is_equivalent(name, code, lines[number + 1]))


def every_change():
    files = [name for name in mutants.tree_files() if name.startswith(tuple(f"{f}/" for f in FOLDERS))
             and name.endswith((".c", ".h"))]
    return [change for name in sorted(files) for change in changes_of(name)]


def sample(nr, seed):
    """Returns a random sample of @nr changes. The sample takes changes from each operator in turn, so that frequent
    operators, such as changed constants, do not fill the sample."""
    chance, by_operator = random.Random(seed), {}
    for change in every_change():
        by_operator.setdefault(change.operator, []).append(change)
    for found in by_operator.values():
        chance.shuffle(found)
    picked = []
    while len(picked) < nr and any(by_operator.values()):
        picked += [found.pop() for found in by_operator.values() if found]
    return picked[:nr]


class Coverage:
    """Finds the tests that execute a line. Class Coverage builds the unit and golden tests for
    gcov, and runs each test once."""

    BUILD = mutants.TOP / "build-coverage"

    def __init__(self):
        if not (self.BUILD / "build.ninja").exists():
            done = mutants.run(["meson", "setup", self.BUILD, "-Db_coverage=true", "-Dbuildtype=plain",
                                "-Dman=disabled", f"-Dbpftool={os.environ.get('BPFTOOL', 'bpftool')}"], cwd=mutants.TOP)
            if done.returncode:
                sys.exit(f"run: {done.stdout[-2000:]}")
        self.tests = mutants.Tests(self.BUILD)
        names = [name for name in self.tests.declared if self.tests.targets(name)]
        tree = mutants.Tree(mutants.TOP)
        mutants.make(tree, self.BUILD, sorted({target for name in names for target in self.tests.targets(name)}))
        self.lines = {}  # file: {line: tests that execute it}
        saved = self.BUILD / "lines.json"
        programs = [self.BUILD / target for name in names for target in self.tests.targets(name)]
        if not saved.exists() or saved.stat().st_mtime < max(program.stat().st_mtime for program in programs):
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                found = dict(zip(names, pool.map(lambda name: self.executed(name, tree), names)))
            saved.write_text(json.dumps(found))
        for name, counts in json.loads(saved.read_text()).items():
            for path, number, count in counts:
                its = self.lines.setdefault(path, {}).setdefault(number, set())
                if count:
                    its.add(name)

    def executed(self, name, tree):
        """Yields (file, line, count) for each line in the program of a test: gcov's count of executions in one run."""
        with tempfile.TemporaryDirectory() as scratch:
            mutants.run(self.tests.command(name, tree), cwd=mutants.TOP, timeout=600,
                        env={**self.tests.environment(name, tree), "GCOV_PREFIX": scratch})
            counts = list(Path(scratch).rglob("*.gcda"))
            for path in counts:
                notes = path.with_suffix(".gcno")
                notes.symlink_to("/" / notes.relative_to(scratch))
            out = subprocess.run(["gcov", "--json-format", "--stdout", *counts], cwd=scratch, text=True,
                                 capture_output=True, check=False).stdout if counts else ""
        found = []
        for line in out.splitlines():
            for file in json.loads(line)["files"]:
                path = os.path.relpath(os.path.join(self.BUILD, file["file"]), mutants.TOP)
                if path.startswith(FOLDERS):
                    found += [(path, at["line_number"], at["count"]) for at in file["lines"]]
        return found

    def of(self, change, suites):
        """Returns the tests that execute the changed line. Tests whose name is similar to the name
        of the changed file come first. gcov counts a statement of several lines only at the first
        line of the statement. If no unit or golden test executes the line and @suites is true,
        returns the tests in BEYOND for the path of the file."""
        path, lines = change.files[0], self.lines.get(change.files[0], {})
        first = next((n for n in range(change.number + 1, max(0, change.number - 8), -1) if n in lines), None)
        stem = Path(path).name.split(".")[0]
        found = sorted(lines.get(first, ()), key=lambda name: (
            os.path.commonprefix([name.split("/")[1], stem]) == "", stem not in name, name))
        return found or next((its for start, its in BEYOND if suites and path.startswith(start)), [])


def judge(change, tests, tree, healthy):
    """Builds and tests one change. Returns (result, explanation). The result of a change is True if
    a test failed, None if the changed line does not compile, and False if no test detected the
    change."""
    change.apply(tree)
    first = True
    for name in change.tests:
        if healthy.get(name) != []:
            continue
        try:
            mutants.make(tree, tests.original, tests.targets(name))
        except mutants.Unusable as why:
            return (None, str(why)) if first else (False, str(why))
        first = False
        cases = tests.failures(name, tree)
        if cases:
            return True, f"killed by {name} ({mutants.told(name, cases)})"
    if not change.tests:
        return False, NEVER_RUN
    return False, f"survived {', '.join(change.tests[:4])}" + (" …" if len(change.tests) > 4 else "")
