# SPDX-License-Identifier: LGPL-2.1-or-later
"""Queries git about this tree."""

import shutil
import subprocess
from pathlib import Path


def git(*words):
    """Returns the output of git, or "" if git or the repository is missing, as in a release archive."""
    if not shutil.which("git"):
        return ""
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=False, cwd=Path(__file__).parent)
    return done.stdout.strip() if done.returncode == 0 else ""
