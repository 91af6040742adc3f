# SPDX-License-Identifier: LGPL-2.1-or-later
"""Applies one mutant at a time to a copy of the tree, builds the copy, and checks that a test fails. A mutant is a
patch that adds a defect."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import threading
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
LIMIT_S = {"unit": 120, "golden": 60, "live": 600, "suite": 900, "truth": 1800}
# Lock that makes tests run one at a time if they measure or start exporters.
ALONE = threading.Lock()
CHEAP = ("unit", "golden")


class Unusable(Exception):
    """Raised if a mutant cannot be used: its patch does not apply, does not build or lacks a required field."""


class Mutant:
    """A mutant, read from its file. The file has "Defect:" with a description, "Test:" with the tests that must fail,
    and the patch."""

    def __init__(self, path):
        self.path, self.name = path, path.stem
        text = path.read_text()
        head = text.split("\n--- ", 1)[0]
        fields = dict(re.findall(r"^(Defect|Test): (.*(?:\n(?!Test: |--- ).+)*)", head, re.M))
        self.defect = " ".join(fields.get("Defect", "").split())
        self.tests = fields.get("Test", "").split()
        self.files = re.findall(r"^\+\+\+ b/(\S+)", text, re.M)

    def cheap(self):
        return all(test.split("/")[0] in CHEAP for test in self.tests)

    def check(self):
        if not self.defect or not self.tests or not self.files:
            raise Unusable("needs Defect:, Test: and a patch")


def read(folder):
    return [Mutant(path) for path in sorted(Path(folder).glob("*.patch"))]


def chosen(mutants, commit, nr=2):
    """Selects @nr mutants that have only fast tests. The commit hash determines the selected
    mutants, so that all runs of a commit select the same mutants."""
    left, picked, number = [m for m in mutants if m.cheap()], [], int(commit, 16)
    while left and len(picked) < nr:
        picked.append(left.pop(number % len(left)))
        number //= len(left) + 1
    return picked


def tree_files():
    if (TOP / ".git").exists():
        out = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard"], cwd=TOP,
                                      text=True)
        return [name for name in out.splitlines() if (TOP / name).is_file()]
    found = []
    for folder, inner, names in os.walk(TOP):
        inner[:] = [d for d in inner if not d.startswith(("build", "."))]
        found += [os.path.relpath(os.path.join(folder, name), TOP) for name in names]
    return found


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    # Keep the modification times, so that ninja does not rebuild unchanged files.
    shutil.copy2(source, target, follow_symlinks=False)


class Tree:
    """A copy of the source tree and its build directory. restore() returns the copy to its original state."""

    def __init__(self, directory, pristine=None):
        self.top, self.pristine, self.known = Path(directory), pristine, None

    def fill(self, build):
        """Copies the files of this source tree and of its build directory."""
        for name in tree_files():
            copy(TOP / name, self.top / name)
        shutil.copytree(build, self.build(build), symlinks=True)
        # Replace the paths in the command that regenerates the build files, so that meson uses the
        # copy. All commands in build.ninja except `--internal regenerate` have only relative paths.
        ninja = self.build(build) / "build.ninja"
        times, text = ninja.stat(), ninja.read_text()
        ninja.write_text(re.sub(r"(--internal regenerate) .*",
                                rf"\1 {self.top} {self.build(build)}", text))
        os.utime(ninja, ns=(times.st_atime_ns, times.st_mtime_ns))

    def build(self, build):
        return self.top / Path(build).name

    def files(self):
        found = {}
        for folder, _, names in os.walk(self.top):
            for name in names:
                path = os.path.join(folder, name)
                stat = os.lstat(path)
                found[os.path.relpath(path, self.top)] = (stat.st_size, stat.st_mtime_ns)
        return found

    def restore(self):
        """Restores all files that differ from the pristine copy. The restored files get the
        modification times of the pristine copy, so that ninja does not rebuild unchanged files."""
        if not self.pristine.known:
            self.pristine.known = self.pristine.files()
        was, now = self.pristine.known, self.files()
        for name in now.keys() - was.keys():
            (self.top / name).unlink()
        for name, state in was.items():
            if now.get(name) != state:
                (self.top / name).unlink(missing_ok=True)
                copy(self.pristine.top / name, self.top / name)


def run(command, **options):
    return subprocess.run([str(c) for c in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                          errors="replace", check=False, **options)


class Tests:
    """Runs the tests that a mutant can name: unit/NAME, golden/NAME, live/NAME, suite/NAME, truth/NAME."""

    def __init__(self, build):
        self.original = Path(build)
        self.declared = {}
        run(["ninja", "-C", build, "build.ninja"])  # the list of tests may have changed since the last build
        for test in json.loads(subprocess.check_output(["meson", "introspect", "--tests", build])):
            suite = test["suite"][0].split(":")[-1] if test["suite"] else ""
            self.declared[f"{suite}/{test['name']}"] = test

    def known(self, name):
        kind, _, rest = name.partition("/")
        if kind in CHEAP:
            return name in self.declared
        place = {"suite": f"tests/suites/{rest}", "live": f"tests/live/{rest}.c",
                 "truth": f"tests/truth/{rest}.c"}.get(kind)
        return bool(rest and place) and (TOP / place).is_file()

    def targets(self, name):
        """Returns the ninja targets that a test needs. A test suite (suite/NAME) needs all ninja
        targets. A test in a guest needs no ninja target, because tests/vm/run builds the guest's
        programs."""
        if name in self.declared:
            target = os.path.relpath(self.declared[name]["cmd"][0], self.original)
            return [] if target.startswith("..") else [target]
        if name.startswith("live/"):
            return ["subtick", f"tests/live/live_{name[5:]}"]
        return ["all"] if name.startswith("suite/") else []

    def command(self, name, tree):
        if name in self.declared:
            program, *rest = self.declared[name]["cmd"]
            moved = tree.build(self.original) / os.path.relpath(program, self.original)
            return [moved, *rest]
        kind, _, rest = name.partition("/")
        if kind == "truth":
            return [tree.top / "tests/vm/run", "--truth", "--test", rest]
        if kind == "live":
            return [tree.build(self.original) / f"tests/live/live_{rest}"]
        return [tree.top / "tests/suites" / rest]

    def environment(self, name, tree):
        own = self.declared[name]["env"] if name in self.declared else {}
        return {**os.environ, **own, "CMOCKA_MESSAGE_OUTPUT": "TAP",
                "SUBTICK_BUILD": str(tree.build(self.original)),
                "GCOV_PREFIX": str(tree.top / "gcov"),  # directory for coverage data, if the build has coverage
                "SUBTICK": str(tree.build(self.original) / "subtick"),
                "SUBTICK_FIRST_FAILURE": "1",
                "LOCPATH": str(self.original / "locale")}

    def failures(self, name, tree):
        """Runs a test. Returns the names of the failed cases of the test, or None if the whole test
        was skipped."""
        kind = name.split("/")[0]
        try:
            with contextlib.nullcontext() if kind in CHEAP else ALONE:
                done = run(self.command(name, tree), cwd=tree.top, env=self.environment(name, tree),
                           timeout=LIMIT_S[kind])
        except subprocess.TimeoutExpired:
            return ["still running at the limit"]
        if done.returncode == 77:
            return None
        cases = re.findall(r"^not ok \d* ?-? ?(?!.*# SKIP)(.*)$", done.stdout, re.M)
        if not cases and done.returncode:
            return [f"exit status {done.returncode}"]
        return list(dict.fromkeys(cases))


def apply(mutant, tree, *options):
    done = run(["patch", "-p1", "-F0", "-s", "-N", "-r", "-", "--no-backup-if-mismatch", *options,
                "-i", mutant.path], cwd=tree.top)
    if done.returncode:
        raise Unusable("stale: " + (done.stdout.strip().splitlines() or ["patch failed"])[0])


def make(tree, build, targets):
    done = run(["ninja", "-C", tree.build(build), *targets])
    if done.returncode:
        errors = [line for line in done.stdout.splitlines() if "error:" in line]
        raise Unusable("does not build: " + (errors or done.stdout.strip().splitlines()[-1:])[0])


def programs(build, mutant):
    """Returns the ninja targets of all BPF objects if the mutant changes a file in bpf/. A mutant
    in bpf/ must also compile as a BPF program with clang."""
    if not any(name.startswith("bpf/") for name in mutant.files):
        return []
    return [f"bpf/{path.name}" for path in sorted(Path(build, "bpf").glob("*.bpf.o"))]


def told(name, cases):
    """Returns a text with the names of the first failed test cases. For tests that are neither unit
    nor golden tests, told() returns only the number of failed cases, because the names of these
    cases contain varying figures."""
    if name.split("/")[0] not in CHEAP:
        return f"{len(cases)} case{'s' if len(cases) > 1 else ''}"
    return ", ".join(cases[:3]) + (", …" if len(cases) > 3 else "")


def judge(mutant, tests, tree, healthy):
    """Runs the tests of a mutant. Returns (result, explanation). The result of a mutant is True if
    a test failed, None if a test was skipped, and False if the mutant survived or cannot be
    judged."""
    try:
        mutant.check()
        for name in mutant.tests:
            if not tests.known(name):
                raise Unusable(f"there is no test {name}")
        sick = [name for name in mutant.tests if healthy[name] != []]
        if any(healthy[name] for name in sick):
            return False, f"not judged: {', '.join(sick)} fails without it as well"
        if sick:
            return None, f"{', '.join(sick)} was skipped"
        apply(mutant, tree)
        make(tree, tests.original, programs(tests.original, mutant) +
             [target for name in mutant.tests for target in tests.targets(name)])
        caught = {name: tests.failures(name, tree) for name in mutant.tests}
    except Unusable as why:
        return False, str(why)
    words = [f"{name} ({told(name, cases)})" for name, cases in caught.items() if cases]
    return bool(words), (f"caught by {' and '.join(words)}" if words else
                         f"survived {', '.join(mutant.tests)}")
