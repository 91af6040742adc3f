# SPDX-License-Identifier: LGPL-2.1-or-later
"""Keeps the results of each boot, so that one table can be made of runs on different days."""

import json

import apt
from git import git
from results import Result


def directory():
    path = apt.cache_dir() / "results"
    path.mkdir(exist_ok=True)
    return path


def commit():
    """The tree that was tested: where it left main, as what comes after that may be rebased and
    renamed before it lands, and how far it had come. A changed tree says so."""
    base = git("merge-base", "HEAD", "main") or git("rev-parse", "HEAD")
    ahead = git("rev-list", "--count", f"{base}..HEAD")
    dirty = ", changed" if git("status", "--porcelain", "--untracked-files=no") else ""
    name = git("rev-parse", "--short", base) or "unknown"
    return name + (f" + {ahead}" if ahead not in ("", "0") else "") + dirty


# Results before 2 had bounds twenty times as wide under emulation and counted what kept to them as
# passed.
RULE = 2


def write(kernel, boot, tested, results):
    data = {"kernel": kernel, "boot": boot, "commit": tested, "rule": RULE,
            "results": [r._replace(notes=[]) for r in results]}
    (directory() / f"{kernel}_{boot}.json").write_text(json.dumps(data, indent=1))


def read(kernel, boot):
    """(commit, results, whether by the rule of today) of the last run of that boot, or None."""
    path = directory() / f"{kernel}_{boot}.json"
    if not path.exists():
        return None
    data = json.loads(path.read_text())
    return (data["commit"], [Result(*r) for r in data["results"]],
            data.get("rule", 1) == RULE)
