# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the subtick program of the build directory for the tests of the command line."""
import os
import subprocess

import tap

SUBTICK = os.path.join(os.environ.get("SUBTICK_BUILD", "build"), "subtick")
UNSUPPORTED = 77


def run(*args, **more):
    return subprocess.run([SUBTICK, *args], capture_output=True, text=True, timeout=tap.PATIENCE, check=False,
                          **more)


def measure(*args):
    """Runs a measuring command of subtick that must succeed. If the machine does not support the
    measurement, measure() skips the check that calls measure()."""
    result = run(*args)
    if result.returncode == UNSUPPORTED:
        raise tap.Skip(result.stderr.splitlines()[0] if result.stderr else "not supported here")
    if result.returncode:
        raise RuntimeError(f"{' '.join(args)} exits {result.returncode}: {result.stderr.strip()}")
    return result
