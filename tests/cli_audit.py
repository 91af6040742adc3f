# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks for tests/suites/cli: the loads of `subtick audit`, option --paper of audit, and an example program of the
library."""
import json
import os
import re
import subprocess
import tempfile
import time

import tap
from cli_run import SUBTICK, measure


def check_core_table():
    """Runs the library example core_table with source 5 (procidle). The program must print the load of every core, and
    "warning" or "critical" above the given levels."""
    program = os.path.join(os.path.dirname(SUBTICK), "examples/core_table")
    if not os.path.exists(program):
        raise tap.Skip("this build has no examples")
    for levels, code, part in ((["0", "0", "1"], 0, "critical"), (["0", "100", "1"], 0, "warning|critical"),
                               (["90", "50", "1"], 64, "usage")):
        result = subprocess.run([program, "5", *levels], capture_output=True, text=True,
                                timeout=tap.PATIENCE, check=False)
        rows = [line for line in result.stdout.splitlines() if "%  " in line]
        if result.returncode != code or not all(re.search(f" ({part})$", row) for row in rows):
            yield f"{levels}: exit {result.returncode}, {result.stdout}{result.stderr}"
        if not code and not rows:
            yield f"{levels}: no core: {result.stdout}"


def check_audit_loads():
    """audit must run every requested load, or give the reason in a note of the report. After audit has exited, no task
    of its loads may remain."""
    if len(os.sched_getaffinity(0)) < 2:
        raise tap.Skip("messages need two cores")
    measure("load", "0.02", "1")
    values = set()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        child = subprocess.Popen([SUBTICK, "audit", "sources", "--loads", "nice,iowait,message", "--budget", "8s",
                                  "--json"], stdout=out)
        while child.poll() is None:
            found = subprocess.run(["ps", "-o", "ni=", "--ppid", str(child.pid)], capture_output=True, text=True,
                                   check=False)
            values.update(found.stdout.split())
            time.sleep(0.1)
        out.seek(0)
        report = json.load(out)
    if "10" not in values:
        yield f"no task has a nice value of 10, but {values}"
    for load in ("nice", "iowait", "message"):
        rows = [row for row in report["loads"] if row["load"] == load]
        if not rows and not any(f'load "{load}" was left out' in note for note in report["notes"]):
            yield f"load {load}: neither measured nor left out: {report['notes']}"
        if rows and (not rows[0]["burn_ratio"] or rows[0]["load_average"] is None):
            yield f"load {load}: {rows[0]}"
        if rows and not rows[0]["true_load_average"] > 0:
            yield f"load {load}: the true load average is {rows[0]['true_load_average']}"
    columns = {(row["load"], row["mode"]): row["shown_ns"] for row in report["modes"]}
    if not columns.get(("nice", "nice")):
        yield f"column nice shows {columns.get(('nice', 'nice'))} ns"
    left = subprocess.run(["pgrep", "-f", "loads nice,iowait,message"], capture_output=True, text=True, check=False)
    if left.stdout:
        yield f"tasks are left: {left.stdout.split()}"


def check_audit_one_core():
    """Runs "audit ticks" on a single allowed core. The process that reads /proc/stat is then itself
    the load of user and system time."""
    core = max(os.sched_getaffinity(0))
    result = subprocess.run(["taskset", "-c", str(core), SUBTICK, "audit", "ticks", "-C", str(core), "--budget", "3s",
                             "--json"], capture_output=True, text=True, timeout=tap.PATIENCE, check=False)
    if result.returncode:
        yield f"exit {result.returncode}: {result.stderr}"
        return
    report = json.loads(result.stdout)
    sets = {row["set"]: row["increments_total"] for row in report["sets"]}
    if not sets.get("user+system: user, nice, system"):
        yield f"the increments are {sets}"
    for wanted in ("the reader ran on the audited core", "idle time of the audited core must be read from a second core",
                   "packets to the audited core must be sent from a second core"):
        if not any(wanted in note for note in report["notes"]):
            yield f"no note {wanted!r}: {report['notes']}"


def check_audit_paper():
    """Tests the files that `subtick audit --paper` writes. In table1 of the JSON report, only rows
    with the timer slack of the published paper (50 us) have the published values."""
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "new")
        result = measure("audit", "--paper", target, "--budget", "9s", "--iterations", "50", "--json")
        report = json.loads(result.stdout)
        wanted = ["figure-1.svg", "figure-2.svg", "figure-4.svg", "figure-5.svg", "index.html", "table-1.csv"]
        if sorted(os.listdir(target)) != wanted:
            yield f"the files are {sorted(os.listdir(target))}"
        if "takes about 0 h 0 min" not in result.stderr:
            yield f"no estimate of the time: {result.stderr!r}"
        rows = report["table1"]
        for slack in (50000, 1):
            delays = [row["delay_ns"] // 1000 for row in rows if row["slack_ns"] == slack]
            if delays != [0, 1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 150, 200, 700, 750, 1000]:
                yield f"slack {slack}: the delays are {delays}"
        published = {row["delay_ns"]: row["paper_run_ns"] for row in rows if row["slack_ns"] == 50000}
        if (published.get(90000), published.get(750000)) != (1690680000000, 8741050000000):
            yield f"published run times are {published}"
        if any(row["paper_run_ns"] is not None for row in rows if row["slack_ns"] == 1):
            yield "a row of another slack has figures of the paper"
        for row in rows:
            if row["delay_ns"] and row["here_run_ns"] < row["here_estimated_ns"]:
                yield f"a loop is shorter than its sleep: {row}"
        with open(os.path.join(target, "index.html"), encoding="utf-8") as page:
            text = page.read()
        for part in ("1691 s", "figure-5.svg", "Supercomputing Frontiers", "21 by table 1"):
            if part not in text:
                yield f"the page lacks {part!r}"


CHECKS = [
    ("the example core_table marks each core by its level", check_core_table),
    ("audit sources runs loads of nice, iowait and messages on request", check_audit_loads),
    ("audit ticks works on one core", check_audit_one_core),
    ("audit --paper writes the paper's figures and table beside this machine's", check_audit_paper),
]
