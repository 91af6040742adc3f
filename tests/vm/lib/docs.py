# SPDX-License-Identifier: LGPL-2.1-or-later
"""Puts the tables of a run between the markers of docs/kernels.md."""

from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs/kernels.md"
BEGIN = "<!-- tests/vm/run --all --write-docs writes from here -->"
END = "<!-- to here -->"
# What a row says of a run from before figures were left unjudged under emulation.
OLD_RULE = "relaxed bounds"


def write(table, marker=BEGIN):
    text = PAGE.read_text()
    head, begin, rest = text.partition(marker)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{PAGE}: the markers for the generated table are gone")
    PAGE.write_text(f"{head}{marker}\n\n" + "\n".join(table) + f"\n\n{END}{tail}")
