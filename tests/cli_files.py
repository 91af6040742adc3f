# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests for tests/suites/cli: commands that write and read files, on full disks and with named pipes."""
import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time

import tap
from cli_run import SUBTICK, run


def check_pipe_interrupted():
    """Ctrl-C ends a command that waits for the other end of a named pipe."""
    with tempfile.TemporaryDirectory() as folder:
        pipe, page = os.path.join(folder, "pipe"), os.path.join(folder, "a.html")
        os.mkfifo(pipe)
        for args in (["report", "--from", pipe, "-o", page], ["report", "--collect", "doctor", "-o", pipe],
                     ["crit", "--against", pipe], ["audit", "delays", "--resume", pipe],
                     ["wake", "--against", pipe, "--plot", os.path.join(folder, "a.svg")]):
            child = subprocess.Popen([SUBTICK, *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            # Send SIGINT repeatedly, because the first SIGINT may end only a measurement that
            # precedes the opening of the named pipe.
            end = time.monotonic() + tap.PATIENCE
            while child.poll() is None and time.monotonic() < end:
                time.sleep(1)
                child.send_signal(signal.SIGINT)
            if child.returncode is None:
                yield f"{args}: not ended by SIGINT"
                child.kill()
                child.wait()
            elif not child.returncode:
                yield f"{args}: success without the other end of the pipe"
        if os.listdir(folder) != ["pipe"]:
            yield f"left behind: {os.listdir(folder)}"


def blocks_written(*args):
    """Runs a command with output to a pipe. Returns the exit code, the output, and the number of blocks that the
    command wrote to disks."""
    child = subprocess.Popen([SUBTICK, *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    text = child.stdout.read()
    child.stdout.close()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, text, usage.ru_oublock


def check_remote_log():
    """If stdout is a pipe, as over ssh, `subtick wake` writes nothing to the disks of the measured machine."""
    short = ["wake", "--json", "--points", "2", "--from", "300us", "--to", "300us"]
    with tempfile.TemporaryDirectory(dir=".") as folder:
        code, _, blocks = blocks_written(*short, "--points", os.path.join(folder, "points.json"))
        if code == 77:
            raise tap.Skip("wake is not supported here")
        if not blocks:
            raise tap.Skip("this kernel or file system does not count blocks that a process writes")
    code, text, blocks = blocks_written(*short)
    if code or json.loads(text)["schema"] != "subtick.wake/1":
        yield f"exit {code}, {text[:100]!r}"
    if blocks:
        yield f"{blocks} blocks were written"


def check_full_disk_file():
    """If an output file does not fit on the disk, subtick creates no file and does not change a previous file."""
    if os.geteuid():
        raise tap.Skip("needs root, to mount a small disk")
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", folder], check=True)
        stack.callback(subprocess.run, ["umount", folder], check=True)
        commands = [["trace", "--for", "100ms", "-o", os.path.join(folder, "t.json")],
                    ["report", "--collect", "doctor", "-o", os.path.join(folder, "r.html")]]
        for args in commands:
            with open(args[-1], "w", encoding="ascii") as file:
                file.write("before")
            result = run(*args)
            if result.returncode != 1 or "No space left" not in result.stderr:
                yield f"{args[0]}: exit {result.returncode}, {result.stderr!r}"
            with open(args[-1], encoding="utf-8") as file:
                text = file.read()
            if text != "before":
                yield f"{args[0]}: the file is {len(text)} characters that begin with {text[:20]!r}"
            if os.listdir(folder) != [os.path.basename(args[-1])]:
                yield f"{args[0]}: left behind: {os.listdir(folder)}"
            link = os.path.join(folder, "link" + os.path.splitext(args[-1])[1])
            os.symlink(args[-1], link)
            run(*args[:-1], link)
            if not os.path.islink(link) or os.stat(args[-1]).st_size:
                yield f"{args[0]} through a link: {os.listdir(folder)}, {os.stat(args[-1]).st_size} bytes"
            os.unlink(link)
            os.unlink(args[-1])


CHECKS = [
    ("a file that does not fit on its disk is not written", check_full_disk_file),
    ("a signal ends the wait for a named pipe", check_pipe_interrupted),
    ("wake --json through a pipe writes nothing to disks", check_remote_log),
]
