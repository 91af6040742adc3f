# SPDX-License-Identifier: LGPL-2.1-or-later
"""Numbers results as TAP, and sums them up as a table of boots and suites."""

WORDS = (("ok", "passed"), ("not ok", "failed"), ("skip", "skipped"))


class Tally:
    def __init__(self):
        self.count = self.failed = 0
        self.rows = {}

    def report(self, row, result):
        """One TAP line, with what the guest said above it as comments when it failed."""
        self.count += 1
        where = f"{'/'.join(row)}: {result.suite}: {result.what}"
        self.rows.setdefault(row, []).append(result)
        if result.status == "not ok":
            self.failed += 1
            for note in result.notes[-40:]:
                print(f"#   {note}")
            reason = f" # {result.reason}" if result.reason else ""
            print(f"not ok {self.count} - {where}{reason}", flush=True)
        elif result.status == "skip":
            print(f"ok {self.count} - {where} # SKIP {result.reason}", flush=True)
        else:
            print(f"ok {self.count} - {where}", flush=True)

    def finish(self):
        print(f"1..{self.count}")
        for line in table(self.rows):
            print(f"# {line}" if line else "#")
        return int(self.failed > 0)


def column(suite):
    """live/load_duty and live/load_ipi are both about load."""
    return suite.partition("_")[0] if suite.startswith(("live/", "truth/")) else suite


def cell(results):
    counts = [(sum(r.status == status for r in results), word) for status, word in WORDS]
    return ", ".join(f"{n} {word}" for n, word in counts if n)


def columns_of(rows):
    """In the order in which suites run, whichever boot came first; live tests by name."""
    seen = dict.fromkeys(column(r.suite) for results in rows.values() for r in results)
    order = ["events", "doctor", *sorted(c for c in seen if c.startswith("live/")), "idle"]
    return [c for c in order if c in seen] + [c for c in seen if c not in order and c != "end"] + \
        [c for c in seen if c == "end"]


def where(boots, rows, suite):
    """Names of boots; one word where each that ran the suite is meant."""
    ran = [row for row, results in rows.items() if any(r.suite == suite for r in results)]
    if len(ran) > 1 and len(boots) == len(ran):
        return "everywhere"
    return ", ".join("/".join(row) for row in boots)


def table(rows, notes=None):
    """Markdown: one row per boot with a column per suite, then each skip and failure with its
    reason. notes maps a row to (title, cell) pairs of further columns."""
    columns = columns_of(rows)
    extra = [title for title, _ in next(iter(notes.values()))] if notes else []
    lines = ["| " + " | ".join(["kernel", "boot", *columns, *extra]) + " |",
             "| --- | --- |" + " --- |" * (len(columns) + len(extra))]
    reasons = {}
    for row, results in rows.items():
        cells = [cell([r for r in results if column(r.suite) == c]) for c in columns]
        cells += [text for _, text in notes[row]] if notes else []
        lines.append("| " + " | ".join([*row, *cells]) + " |")
        for result in (r for r in results if r.status != "ok"):
            kind = "skipped" if result.status == "skip" else "FAILED"
            key = (kind, result.suite, result.what, result.reason)
            reasons.setdefault(key, []).append(row)
    lines.append("")
    for (kind, suite, what, reason), boots in reasons.items():
        about = suite if what == suite else f"{suite}: {what}"
        lines.append(f"- {kind}: {about}" + (f": {reason}" if reason else "") +
                     f" ({where(dict.fromkeys(boots), rows, suite)})")
    return lines
