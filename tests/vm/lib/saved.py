# SPDX-License-Identifier: LGPL-2.1-or-later
"""Saves the results of each boot, so that one table can combine runs of different days."""

import json

import apt
from git import git
from results import Result


def directory():
    path = apt.cache_dir() / "results"
    path.mkdir(exist_ok=True)
    return path


def commit():
    """Returns a description of the tested tree: the merge base with main, the number of later
    commits, and a mark if the tree is modified. Commits after the merge base are counted but not
    named, because these commits may still be rebased."""
    base = git("merge-base", "HEAD", "main") or git("rev-parse", "HEAD")
    ahead = git("rev-list", "--count", f"{base}..HEAD")
    dirty = ", changed" if git("status", "--porcelain", "--untracked-files=no") else ""
    name = git("rev-parse", "--short", base) or "unknown"
    return name + (f" + {ahead}" if ahead not in ("", "0") else "") + dirty


# Version of the rules that decide whether a measured figure is right. Before version 2 of the
# rules, bounds were twenty times wider under emulation, and results within the bounds counted as
# passed.
RULE = 2


def write(kernel, boot, tested, results):
    data = {"kernel": kernel, "boot": boot, "commit": tested, "rule": RULE,
            "results": [r._replace(notes=[]) for r in results]}
    (directory() / f"{kernel}_{boot}.json").write_text(json.dumps(data, indent=1))


def read(kernel, boot):
    """Returns the last run of a boot as (commit, results, True if judged by the current rules), or
    None."""
    path = directory() / f"{kernel}_{boot}.json"
    if not path.exists():
        return None
    data = json.loads(path.read_text())
    return (data["commit"], [Result(*r) for r in data["results"]],
            data.get("rule", 1) == RULE)
