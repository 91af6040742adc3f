# SPDX-License-Identifier: LGPL-2.1-or-later
"""Keeps the results of each boot, so that one table can be made of runs on different days."""

import json
import subprocess

import apt
from results import Result


def directory():
    path = apt.cache_dir() / "results"
    path.mkdir(exist_ok=True)
    return path


def commit():
    """The tree that was tested, as a person would name it; a changed tree says so."""
    done = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True,
                          text=True, cwd=apt.__file__.rsplit("/", 1)[0])
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def write(kernel, boot, results):
    data = {"kernel": kernel, "boot": boot, "commit": commit(),
            "results": [r._replace(notes=[]) for r in results]}
    (directory() / f"{kernel}_{boot}.json").write_text(json.dumps(data, indent=1))


def read(kernel, boot):
    """(commit, results) of the last run of that boot, or None."""
    path = directory() / f"{kernel}_{boot}.json"
    if not path.exists():
        return None
    data = json.loads(path.read_text())
    return data["commit"], [Result(*r) for r in data["results"]]
