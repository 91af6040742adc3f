# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of `subtick report`: windows embedded in the HTML, output files, order of the tables."""
import json
import os
import re
import signal
import stat
import subprocess
import tempfile
import time

import tap
from cli_run import SUBTICK, run


def windows(text):
    """Returns the windows in the JSON data that is embedded in the HTML of a report."""
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
        # The findings of all windows must come before every table of the page.
        with open(saved, "w", encoding="ascii") as file:
            for name in ("early", "late"):
                file.write(json.dumps({"schema": f"subtick.{name}/1", "findings": [
                    {"rule": "x", "finding": f"/{name} waits", "lost_ns": 5, "next": "look"}]}) + "\n")
        run("report", "--from", saved, "-o", os.path.join(folder, "b.html"))
        with open(os.path.join(folder, "b.html"), encoding="utf-8") as file:
            without = re.search(r"<noscript>(.*?)</noscript>", file.read(), re.S)[1]
        order = [without.find(part) for part in ("/early waits. Next: look", "/late waits. Next: look", "subtick early")]
        if -1 in order or order != sorted(order):
            yield f"the text does not begin with the findings: {without[:500]}"
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
    """subtick does not replace a named pipe, respects the umask, and has no temporary file during the measurement."""
    with tempfile.TemporaryDirectory() as folder:
        pipe, page = os.path.join(folder, "pipe"), os.path.join(folder, "r.html")
        os.mkfifo(pipe)
        # The reader of the named pipe writes to a file, because the report is longer than the
        # buffer of a pipe.
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
        if [window["schema"] for window in windows(text)] != ["subtick.load/1", "subtick.doctor/1"]:
            yield f"the file lacks a window, or doctor is not the last; {result.stderr}"
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
