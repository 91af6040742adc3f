# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a suite's checks from the top of the tree and prints TAP; each finding is a comment line."""
import os
import signal
import subprocess
import sys
import time

# Seconds after which something that must happen counts as hung. No promise of speed: on an emulated machine an exporter
# was once not ready after 20 s. What must not have ended meanwhile is given longer than this.
PATIENCE = 180


class Skip(Exception):
    """Raised by a check that cannot run here; its text is the reason."""


def top():
    """Goes to the top of the tree, where all paths begin."""
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))


def pause(began):
    """Between two looks at something that is awaited. On a slow machine a look takes long, and without a longer pause
    looking would take the core from what is awaited."""
    time.sleep(max(0.05, 3 * (time.monotonic() - began)))


def end_on_signals():
    """Told to stop, a suite still ends what it started: as an exception it passes every with and finally."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda got, _: sys.exit(128 + got))


def main(checks, *args):
    """checks: (name, generator of findings); one without findings passes."""
    failed = False
    end_on_signals()
    print(f"1..{len(checks)}")
    for number, (name, check) in enumerate(checks, 1):
        findings = []
        try:
            for finding in check(*args):
                findings.append(finding)
        except Skip as why:
            # What was found before stays.
            if not findings:
                print(f"ok {number} - {name} # SKIP {why}")
                continue
        except (OSError, LookupError, RuntimeError, ValueError, subprocess.SubprocessError) as error:
            findings.append(f"{type(error).__name__}: {error}")
        failed |= bool(findings)
        print(f"{'not ok' if findings else 'ok'} {number} - {name}")
        for finding in findings:
            print("#", finding)
    sys.exit(failed)
