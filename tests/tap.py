# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a suite's checks from the top of the tree and prints TAP; each finding is a comment line."""
import os
import signal
import subprocess
import sys
import time

# Timeout in seconds for events that must happen. Not a performance limit: on an emulated machine an exporter
# was once not ready after 20 s. Processes that must run longer than this timeout get a longer lifetime.
PATIENCE = 180


class Skip(Exception):
    """Raised by a check that cannot run on this machine; the text of the exception is the reason."""


def top():
    """Changes to the top of the tree, the base of all paths."""
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))


def pause(began):
    """Pause between two polls of a condition. On a slow machine a poll takes long, and polling without a
    longer pause would preempt the awaited process."""
    time.sleep(max(0.05, 3 * (time.monotonic() - began)))


def end_on_signals():
    """Converts signals to exceptions, so that a stopped suite still runs every with and finally block."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda got, _: sys.exit(128 + got))


def main(checks, *args):
    """Runs checks: (name, generator of findings). A check without findings passes. With SUBTICK_FIRST_FAILURE in the
    environment, the first failed check is the last."""
    failed = False
    end_on_signals()
    print(f"1..{len(checks)}")
    for number, (name, check) in enumerate(checks, 1):
        findings = []
        try:
            for finding in check(*args):
                findings.append(finding)
        except Skip as why:
            # Findings that the check reported before the skip are kept.
            if not findings:
                print(f"ok {number} - {name} # SKIP {why}")
                continue
        except (OSError, LookupError, RuntimeError, ValueError, subprocess.SubprocessError) as error:
            findings.append(f"{type(error).__name__}: {error}")
        failed |= bool(findings)
        print(f"{'not ok' if findings else 'ok'} {number} - {name}")
        for finding in findings:
            print("#", finding)
        if failed and "SUBTICK_FIRST_FAILURE" in os.environ:
            break
    sys.exit(failed)
