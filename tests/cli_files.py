# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks of files that commands write and read, for tests/suites/cli: report, full disks, named pipes."""
import contextlib
import json
import os
import re
import signal
import stat
import subprocess
import tempfile
import time

import tap

SUBTICK = os.path.join(os.environ.get("SUBTICK_BUILD", "build"), "subtick")


def run(*args, **more):
    return subprocess.run([SUBTICK, *args], capture_output=True, text=True, timeout=tap.PATIENCE, check=False,
                          **more)


def windows(text):
    """The windows that a report embeds."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])["windows"]


def check_report():
    with tempfile.TemporaryDirectory() as folder:
        saved, page = os.path.join(folder, "a.json"), os.path.join(folder, "a.html")
        with open(saved, "w", encoding="ascii") as file:
            file.write(run("load", "--json", "0.1", "2").stdout)
        result = run("report", "--from", saved, "-o", page)
        if result.returncode or result.stdout:
            yield f"--from: exit {result.returncode}, {result.stdout + result.stderr}"
        with open(page, encoding="utf-8") as file:
            text = file.read()
        found = windows(text)
        if [window["schema"] for window in found] != 2 * ["subtick.load/1"] or "</html>" not in text:
            yield f"--from: the file does not have both windows, whole: {[window['schema'] for window in found]}"
        before = sorted(os.listdir(folder))
        for bad in ("", "{}", '{"schema":"subtick.load/1"', '{"schema":"subtick.load/1","cpus":[1]}'):
            with open(saved, "w", encoding="ascii") as file:
                file.write(bad)
            result = run("report", "--from", saved, "-o", page)
            if result.returncode != 1 or len(result.stderr.splitlines()) != 1:
                yield f"{bad!r}: exit {result.returncode}, {result.stderr!r}"
        with open(page, encoding="utf-8") as file:
            if file.read() != text:
                yield "a failed report replaced the one before"
        if sorted(os.listdir(folder)) != before:
            yield f"left behind: {os.listdir(folder)}"
        with open(saved, "w", encoding="ascii") as file:
            line = json.dumps({"schema": "subtick.load/1", "cpus": [{"flags": "x" * 1024}] * 1024})
            file.writelines([line] * 65)
        result = run("report", "--from", saved, "-o", page)
        if result.returncode != 1 or "64 MiB" not in result.stderr:
            yield f"65 MiB: exit {result.returncode}, {result.stderr!r}"
        if run("report", "--from", saved, "-o", "/nonexistent/x.html").returncode != 1:
            yield "a folder that does not exist is no error"


def check_report_output():
    """A named pipe stays a pipe, the umask is respected, and there is no temporary file while it measures."""
    with tempfile.TemporaryDirectory() as folder:
        pipe, page = os.path.join(folder, "pipe"), os.path.join(folder, "r.html")
        os.mkfifo(pipe)
        # Into a file: the report is longer than pipes can hold.
        with tempfile.TemporaryFile("w+", encoding="utf-8") as got:
            reader = subprocess.Popen(["cat", pipe], stdout=got)
            result = run("report", "--collect", "doctor", "-o", pipe)
            if result.returncode:
                reader.kill()
            reader.wait(tap.PATIENCE)
            got.seek(0)
            text = got.read()
        if result.returncode or "</html>" not in text or not stat.S_ISFIFO(os.stat(pipe).st_mode):
            yield f"-o PIPE: exit {result.returncode}, {len(text)} characters, {result.stderr}"
        subprocess.run(["sh", "-c", f"umask 077; '{SUBTICK}' report --collect doctor -o '{page}'"],
                       capture_output=True, timeout=tap.PATIENCE, check=False)
        if not os.path.exists(page) or os.stat(page).st_mode & 0o777 != 0o600:
            yield "umask 077 does not make a file for the owner only"
        before = sorted(os.listdir(folder))
        child = subprocess.Popen([SUBTICK, "report", "--seconds", "60", "--collect", "load", "-o", page],
                                 stderr=subprocess.DEVNULL)
        time.sleep(1)
        child.kill()
        child.wait()
        if sorted(os.listdir(folder)) != before:
            yield f"killed while measuring, it leaves {os.listdir(folder)}"


def check_report_measures():
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "r.html")
        result = run("report", "--seconds", "1", "--collect", "doctor,load", "-o", page)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        if {window["schema"] for window in windows(text)} != {"subtick.doctor/1", "subtick.load/1"}:
            yield f"the file lacks a window; {result.stderr}"
        without = re.search(r"<noscript>(.*?)</noscript>", text, re.S)[1]
        for wanted in ("subtick load", "subtick doctor", "busy", "procstat", os.uname().release):
            if wanted not in without:
                yield f"readers without JavaScript do not see {wanted!r}; {without[:300]}"
        child = subprocess.Popen([SUBTICK, "report", "--seconds", "60", "--collect", "load", "-o", page],
                                 stderr=subprocess.PIPE, text=True)
        time.sleep(2)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=tap.PATIENCE)
        if child.returncode or "wrote" not in said:
            yield f"after Ctrl-C: exit {child.returncode}, {said!r}"
        with open(page, encoding="utf-8") as file:
            if len(windows(file.read())) != 1:
                yield "after Ctrl-C: what was measured is not in the file"


def check_pipe_interrupted():
    """Ctrl-C ends a command that waits for the other end of a named pipe."""
    with tempfile.TemporaryDirectory() as folder:
        pipe, page = os.path.join(folder, "pipe"), os.path.join(folder, "a.html")
        os.mkfifo(pipe)
        for args in (["report", "--from", pipe, "-o", page], ["report", "--collect", "doctor", "-o", pipe],
                     ["crit", "--against", pipe], ["audit", "delays", "--resume", pipe],
                     ["wake", "--against", pipe, "--plot", os.path.join(folder, "a.svg")]):
            child = subprocess.Popen([SUBTICK, *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            # More than one signal: the first one may end a measurement before the wait.
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


def check_full_disk_file():
    """A file that does not fit on its disk is not there at all, and the file before it stays."""
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
    ("report --from embeds saved windows, refuses others, replaces only when whole", check_report),
    ("a signal ends the wait for a named pipe", check_pipe_interrupted),
    ("report writes to its output only, and leaves no other file", check_report_output),
    ("report measures, and Ctrl-C keeps what was measured", check_report_measures),
]
