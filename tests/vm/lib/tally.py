# SPDX-License-Identifier: LGPL-2.1-or-later
"""Numbers results as TAP, and sums them up as a table of boots and suites."""

import docs


class Tally:
    def __init__(self):
        self.count = self.failed = 0
        self.rows = {}

    def report(self, entry, boot, result):
        """One TAP line, with what the guest said above it as comments when it failed."""
        self.count += 1
        where = f"{entry.name}/{boot}: {result.suite}: {result.what}"
        self.rows.setdefault((entry.name, boot), {}).setdefault(result.suite, []).append(result)
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

    @staticmethod
    def column(suite):
        """live/load_duty and live/load_ipi are both about load."""
        return suite.partition("_")[0] if suite.startswith("live/") else suite

    def suites(self):
        return list(dict.fromkeys(self.column(s) for row in self.rows.values() for s in row))

    def cell(self, boot, suite):
        row = self.rows[boot]
        results = [r for s in row if self.column(s) == suite for r in row[s]]
        if not results:
            return "", []
        tally = [sum(r.status == s for r in results) for s in ("ok", "not ok", "skip")]
        words = [f"{n} {word}" for n, word in zip(tally, ("passed", "failed", "skipped")) if n]
        return ", ".join(words), [r for r in results if r.status != "ok"]

    def table(self):
        """Markdown: one row per boot, one line below for each skip and each failure."""
        suites = self.suites()
        lines = ["| kernel | boot | " + " | ".join(suites) + " |",
                 "| --- | --- |" + " --- |" * len(suites)]
        reasons = {}
        for boot in self.rows:
            cells = [self.cell(boot, s) for s in suites]
            lines.append(f"| {boot[0]} | {boot[1]} | " + " | ".join(c[0] for c in cells) + " |")
            for result in (r for _, others in cells for r in others):
                kind = "skipped" if result.status == "skip" else "FAILED"
                # Figures differ from run to run; the reason is the same one.
                key = (kind, result.suite, result.what, result.reason)
                reasons.setdefault(key, []).append("/".join(boot))
        lines.append("")
        for (kind, suite, what, reason), boots in reasons.items():
            lines.append(f"- {kind}: {suite}: {what}" + (f": {reason}" if reason else "") +
                         f" ({', '.join(boots)})")
        return lines

    def finish(self, write_docs):
        print(f"1..{self.count}")
        table = self.table()
        for line in table:
            print(f"# {line}" if line else "#")
        if write_docs:
            docs.write(table)
        return int(self.failed > 0)
