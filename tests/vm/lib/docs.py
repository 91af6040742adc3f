# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the results of the guests to docs/kernels-measured.md, and a matrix of kernels and commands to
docs/kernels.md."""

from pathlib import Path

import tally

DOCS = Path(__file__).resolve().parents[3] / "docs"
DETAILS = DOCS / "kernels-measured.md"
SUMMARY = DOCS / "kernels.md"
BEGIN = "<!-- tests/vm/run --all --write-docs writes from here -->"
RUNS = "<!-- tests/vm/run --suite NAME or --test NAME, with --write-docs, writes from here -->"
MATRIX = "<!-- tests/vm/run --write-docs writes from here -->"
END = "<!-- to here -->"
# Mark of a table row from an old run. Old runs allowed larger errors for figures of emulated guests.
OLD_RULE = "relaxed bounds"
COMMANDS = ("load", "runq", "noise", "trace", "wake", "crit", "audit", "findings")
# Pairs (title of a column, suite whose results the column shows).
OTHERS = (("doctor", "doctor"), ("CPU hotplug", "hotplug"), ("refused without BTF", "nobtf"),
          ("refused without privileges", "noprivilege"), ("verifier", "verifier"))


def write(table, marker=BEGIN, page=DETAILS):
    text = page.read_text()
    head, begin, rest = text.partition(marker)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page}: the markers for the generated table are gone")
    page.write_text(f"{head}{marker}\n\n" + "\n".join(table) + f"\n\n{END}{tail}")


def mark(cells):
    """Returns the mark (✓, ◐, ✗ or none) that summarizes the table cells of all boots of a kernel.
    A cell is text such as "3 passed, 1 skipped"."""
    text = " ".join(cells)
    if "failed" in text:
        return "✗"
    if "passed" not in text:
        return ""
    return "◐" if "skipped" in text else "✓"


def matrix(text):
    """Returns Markdown with one row per kernel and one column per command and suite. @text is the text of
    docs/kernels-measured.md."""
    generated = between(text, BEGIN).strip().partition("\n\n")[0]
    lines = [[c.strip() for c in line.split("|")[1:-1]] for line in generated.splitlines() if line.startswith("|")]
    titles, rows = lines[0], lines[2:]
    columns = [(c, (f"live/{c}", f"truth/{c}")) for c in COMMANDS] + [(t, (suite,)) for t, suite in OTHERS]
    out = ["| kernel | release | " + " | ".join(t for t, _ in columns) + " |",
           "| --- | --- |" + " :-: |" * len(columns)]
    for kernel in dict.fromkeys(row[0] for row in rows):
        boots = [dict(zip(titles, row)) for row in rows if row[0] == kernel]
        marks = [mark([b.get(s, "") for b in boots for s in suites]) for _, suites in columns]
        out.append(f"| {kernel} | {boots[0].get('release', '')} | " + " | ".join(marks) + " |")
    return out


def between(text, marker):
    return text.partition(marker)[2].partition(END)[0]


def runs(text, rows, releases, run_at, day):
    """Returns Markdown with the results of runs with selected suites. A row stays in the table
    until its kernel and boot run the same suites again."""
    lines = ["| kernel | boot | suites | results | release | run at | day |", "|" + " --- |" * 7]
    found = {tuple(c.strip() for c in line.split("|")[1:4]): line
             for line in between(text, RUNS).splitlines() if line.startswith("|")}
    for (kernel, boot), results in rows.items():
        columns = tally.columns_of({boot: results})
        cells = (kernel, boot, ", ".join(c for c in columns if c != "end"))
        why = "; ".join(dict.fromkeys(f"{r.what}: {r.reason}" for r in results if r.status in ("skip", "not ok")))
        counts = ", ".join(filter(None, (tally.cell(results), tally.unjudged(results) and
                                         f"{tally.UNJUDGED}: {tally.unjudged(results)}")))
        found[cells] = "| " + " | ".join([*cells, counts + (f" ({why})" if why else ""), releases[kernel], run_at,
                                          day]) + " |"
    return lines + [line for key, line in found.items() if key[0] not in ("kernel", "---")]


def write_matrix():
    write(matrix(DETAILS.read_text()), MATRIX, SUMMARY)
