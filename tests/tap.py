# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the checks of a test suite from the top of the source tree and prints TAP. Prints each error
that a check finds as a TAP comment."""
import os
import signal
import subprocess
import sys
import time

# Timeout in seconds for events that must happen. PATIENCE is not a performance limit: on an
# emulated machine an exporter once needed more than 20 s to start. A helper process must live
# longer than PATIENCE.
PATIENCE = 180


class Skip(Exception):
    """Raised by a check that cannot run on this machine. The text of the exception is the reason
    for the skip."""


def top():
    """Changes the working directory to the top of the source tree, because all paths are relative to the top."""
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))


def pause(began):
    """Sleeps between two polls of a condition: at least 50 ms, and at least three times the
    duration of the last poll, which started at @began. On a slow machine, shorter sleeps would
    delay the process that the test waits for."""
    time.sleep(max(0.05, 3 * (time.monotonic() - began)))


def run(*command, **options):
    """Returns the output of a command. Raises RuntimeError if the command fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)[:100]}: exit {done.returncode}: {(done.stdout + done.stderr)[-1500:]}")
    return done.stdout


def end_on_signals():
    """Converts signals to exceptions, so that a stopped suite runs all remaining with and finally blocks."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda got, _: sys.exit(128 + got))


def main(checks, *args):
    """Runs @checks, a list of (name, generator function). A check passes if its generator yields no
    error text. If SUBTICK_FIRST_FAILURE is in the environment, no check runs after the first
    failure."""
    failed = False
    end_on_signals()
    print(f"1..{len(checks)}")
    for number, (name, check) in enumerate(checks, 1):
        findings = []
        try:
            for finding in check(*args):
                findings.append(finding)
        except Skip as why:
            # A check that raises Skip after it found errors counts as failed.
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
