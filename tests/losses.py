# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the lists of loss counters in lib/base/losses.h."""
import re

PATH = "lib/base/losses.h"
# Marks around the generated lists of losses in other files. `tests/suites/schemas --write` updates
# the text between the marks.
MARKS = "losses: begin; written by tests/suites/schemas --write\n", "losses: end\n"


def read():
    """Returns two dicts: {JSON key: help text}, and {list of losses: [(member, key, side)]}. The
    side of a loss is "KERNEL", "USER" or ""."""
    with open(PATH, encoding="utf-8") as text:
        code = re.sub(r"[ \t]*\\\n", "\n", text.read())
    lists = dict(re.findall(r"#define (\w*LOSSES)\(X\)((?:\s*X\([^)\"]*(?:\"[^\"]*\"[^)\"]*)*\))+)", code))
    helps = {key: "".join(re.findall(r'"([^"]*)"', help_text)) for key, help_text in
             re.findall(r'X\((\w+), "[^"]*",((?:\s*"[^"]*")+)\)', lists.pop("LOSSES"))}
    return helps, {name.removesuffix("_LOSSES"): re.findall(r"X\((\w+), (\w+)(?:, (\w+))?\)", body)
                   for name, body in lists.items()}
