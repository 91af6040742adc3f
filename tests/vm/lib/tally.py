# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints results as TAP, and makes a table with the results of each boot and suite."""

import re

WORDS = (("ok", "passed"), ("not ok", "failed"), ("skip", "skipped"))
UNJUDGED = "ran, not judged"
# Pattern for the reason of an unjudged result. The reason ends at the first colon after "not
# judged: ". The text after the reason describes the last disturbed attempt and differs in each
# boot.
WHY = re.compile(r"(?:(?:ran, )?not judged)?:? *([^:]*)")
KINDS = {"skip": "skipped", "unjudged": UNJUDGED, "not ok": "FAILED"}


class Tally:
    def __init__(self):
        self.count = self.failed = self.unjudged = 0
        self.rows = {}

    def report(self, row, result):
        """Prints a result as a TAP line. Before a failed result, prints the guest's output as comments."""
        self.count += 1
        where = f"{'/'.join(row)}: {result.suite}: {result.what}"
        self.rows.setdefault(row, []).append(result)
        self.unjudged += result.status == "unjudged"
        if result.status == "not ok":
            self.failed += 1
            for note in result.notes[-40:]:
                print(f"#   {note}")
            reason = f" # {result.reason}" if result.reason else ""
            print(f"not ok {self.count} - {where}{reason}", flush=True)
        elif result.status in ("skip", "unjudged"):
            print(f"ok {self.count} - {where} # SKIP {result.reason}", flush=True)
        else:
            print(f"ok {self.count} - {where}", flush=True)

    def finish(self):
        print(f"1..{self.count}")
        for line in table(self.rows):
            print(f"# {line}" if line else "#")
        return int(self.failed > 0)


def column(suite):
    """Returns the column of a suite in the table of results. All live tests of one subtick command
    share a column: "live/load" for live/load_duty and live/load_ipi."""
    return suite.partition("_")[0] if suite.startswith(("live/", "truth/")) else suite


def cell(results):
    counts = [(sum(r.status == status for r in results), word) for status, word in WORDS]
    return ", ".join(f"{n} {word}" for n, word in counts if n)


def columns_of(rows):
    """Returns the columns of the table of results: suites in the order of execution, live tests by
    name."""
    seen = dict.fromkeys(column(r.suite) for results in rows.values() for r in results)
    order = ["events", "doctor", *sorted(c for c in seen if c.startswith("live/")), "idle"]
    return [c for c in order if c in seen] + [c for c in seen if c not in order and c != "end"] + \
        [c for c in seen if c == "end"]


def where(boots, rows, suite):
    """Returns the names in the list boots, or "everywhere" if boots has all boots that ran the
    suite."""
    ran = [row for row, results in rows.items() if any(r.suite == suite for r in results)]
    if len(ran) > 1 and len(boots) == len(ran):
        return "everywhere"
    return ", ".join("/".join(row) for row in boots)


def unjudged(results):
    """Returns the number of unjudged results of a boot for each suite as text, such as "truth 2". Returns "" if all
    results are judged."""
    counts = {}
    for result in results:
        if result.status == "unjudged":
            counts[column(result.suite)] = counts.get(column(result.suite), 0) + 1
    return ", ".join(f"{suite} {n}" for suite, n in counts.items())


def reason_lines(rows):
    """Yields a table row for each skip, failure and kind of unjudged result, with the reason and the boots."""
    reasons = {}
    for row, results in rows.items():
        for result in (r for r in results if r.status != "ok"):
            # Unjudged results are grouped by test, because their figures differ in each boot.
            ran = result.status == "unjudged"
            what = result.suite if ran else result.what
            reason = WHY.match(result.reason)[1] if ran else result.reason
            key = (KINDS[result.status], result.suite, what, reason)
            reasons.setdefault(key, []).append(row)
    for (kind, suite, what, reason), boots in reasons.items():
        about = suite if what == suite else f"{suite}: {what}"
        yield f"| {about} | {kind} | {reason} | {where(dict.fromkeys(boots), rows, suite)} |"


def table(rows, notes=None):
    """Returns Markdown: a table, then a table of unjudged results, skips and failures with their reasons. The table has
    a row per boot, a column per suite and a column for unjudged results. @notes maps a row to (title, cell) pairs of
    additional columns."""
    columns = columns_of(rows)
    extra = [UNJUDGED] + ([title for title, _ in next(iter(notes.values()))] if notes else [])
    lines = ["| " + " | ".join(["kernel", "boot", *columns, *extra]) + " |",
             "| --- | --- |" + " --- |" * (len(columns) + len(extra))]
    for row, results in rows.items():
        cells = [cell([r for r in results if column(r.suite) == c]) for c in columns]
        cells.append(unjudged(results))
        cells += [text for _, text in notes[row]] if notes else []
        lines.append("| " + " | ".join([*row, *cells]) + " |")
    reasons = list(reason_lines(rows))
    if reasons:
        lines += ["", "| test | result | reason | boots |", "| --- | --- | --- | --- |", *reasons]
    return lines
