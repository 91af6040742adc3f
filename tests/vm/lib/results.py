# SPDX-License-Identifier: LGPL-2.1-or-later
"""Converts a guest's console output to test results. A suite whose output is incomplete or has no results fails."""

import json
import re
from collections import namedtuple

import verify

# status: "ok", "not ok", "skip", or "unjudged" for a test whose figures cannot be judged, such as times
# under emulation (live_figure() in tests/live/live.h).
Result = namedtuple("Result", "suite status what reason notes")

TEST = re.compile(r"(not )?ok\b(?:\s+\d+)?(?:\s*-)?\s*(.*?)(?:\s*# *(SKIP|TODO)\b\s*(.*))?$", re.I)
PLAN = re.compile(r"1\.\.(\d+)(?:\s*# *SKIP\s*(.*))?$", re.I)
UNJUDGED = re.compile(r"(ran, )?not judged\b")
FRAME = re.compile(r"subtick-vm: (begin|exit|json) (.*)$")
KERNEL = re.compile(r"\[ *\d+\.\d+\] ")


class Suite:
    """Results of one suite of one boot. Each line of the console updates the results."""

    def __init__(self, name, uptime=0.0):
        self.name, self.begun_s = name, float(uptime)
        self.results, self.notes, self.documents = [], [], []
        self.planned = self.skipped = None

    def add(self, status, what, reason=""):
        self.results.append(Result(self.name, status, what, reason, self.notes))
        self.notes = []

    def line(self, text):
        test, plan = TEST.match(text), PLAN.match(text)
        if plan:
            self.planned, self.skipped = int(plan[1]), plan[2]
        elif test:
            status = "not ok" if test[1] else "ok"
            if test[3] and test[3].upper() == "SKIP":
                status = "unjudged" if UNJUDGED.match(test[4] or "") else "skip"
            self.add(status, test[2], test[4] or "")
        elif text.startswith("Bail out!"):
            self.add("not ok", self.name, text)
        elif text.strip():
            self.notes.append(text)

    def document(self, name, text):
        try:
            self.documents.append((name, json.loads(text)))
        except ValueError as why:
            self.add("not ok", f"{name} prints valid JSON", f"{why}: {text[:200]}")

    def close(self, code):
        seen = len(self.results)
        if code == 77:
            reason = self.skipped or next((n.lstrip("# ") for n in reversed(self.notes)), "")
            self.add("skip", self.name, reason or "exit code 77 without a reason")
            return
        for name in dict.fromkeys(n for n, _ in self.documents):
            documents = [d for n, d in self.documents if n == name]
            for status, what, reason in verify.check(name, documents):
                self.add(status, what, reason)
        failed = any(r.status == "not ok" for r in self.results)
        if code != 0 and not failed:
            end = "killed, out of time" if code == 137 else f"exit code {code}"
            self.add("not ok", f"{self.name} ends well", end)
        if self.planned is not None and self.planned != seen and not failed:
            self.add("not ok", f"{self.name} runs all it planned",
                     f"{seen} of {self.planned} results arrived")
        if not self.results:
            self.add("not ok", f"{self.name} asserts something", "no result came")


def parse(lines, seconds=None):
    """Returns all results of a boot. A suite that started but did not end is a failure. The function stores the
    duration of each suite, by the guest's clock, in the dict @seconds."""
    results, suite = [], None
    seconds = {} if seconds is None else seconds
    for text in lines:
        frame = FRAME.search(text)
        if frame and frame[1] == "begin":
            suite = Suite(*frame[2].split())
        elif frame and frame[1] == "json" and suite:
            suite.document(*frame[2].split(" ", 1))
        elif frame and frame[1] == "exit" and suite:
            code, _, *uptime = frame[2].split()
            suite.close(int(code))
            results += suite.results
            if uptime:
                seconds[suite.name] = float(uptime[0]) - suite.begun_s
            suite = None
        elif suite and not KERNEL.match(text):
            suite.line(text)
    if suite:
        suite.add("not ok", f"{suite.name} ends", "the guest stopped in the middle of it")
        results += suite.results
    return results
