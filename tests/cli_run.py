# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the program of the build directory for the tests of the command line."""
import os
import subprocess

import tap

SUBTICK = os.path.join(os.environ.get("SUBTICK_BUILD", "build"), "subtick")


def run(*args, **more):
    return subprocess.run([SUBTICK, *args], capture_output=True, text=True, timeout=tap.PATIENCE, check=False,
                          **more)
