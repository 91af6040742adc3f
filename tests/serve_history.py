# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the history files of the exporter after the exporter has dropped its privileges, after kill
-9, on a full disk, and after a restart. The test reads the history files with jq, `subtick report
--at` and HTTP clients."""
import contextlib
import glob
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import tap
from exporter import SUBTICK, Server, eventually

WINDOWS = "subtick_history_windows_total"


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory(prefix="subtick-history-") as top:
        os.chmod(top, 0o755)
        yield os.path.join(top, "history")


def files(path):
    return sorted(glob.glob(os.path.join(path, "*.jsonl.gz")))


def lines(path):
    """Returns the windows of all history files, read by zcat and, if installed, jq. zcat and jq fail if a file is
    incomplete."""
    text = subprocess.run(["zcat", *files(path)], capture_output=True, check=True).stdout
    if shutil.which("jq"):
        text = subprocess.run(["jq", "-c", "[.schema, .time_unix_ns, .window_ns]"], input=text, capture_output=True,
                              check=True).stdout
        return [json.loads(line) for line in text.splitlines()]
    return [[window[key] for key in ("schema", "time_unix_ns", "window_ns")] for window in map(json.loads, text.splitlines())]


def written(server, result="written"):
    return server.metrics().get(f'{WINDOWS}{{result="{result}"}}', 0)


def report(path, *args):
    done = subprocess.run([SUBTICK, "report", "-o", "-", "--history", path, *args], capture_output=True, text=True,
                          check=False, env={**os.environ, "TZ": "UTC"})
    return done.returncode, done.stderr, done.stdout


def check_report(path, seen):
    loads = [stamp / 1e9 for schema, stamp, _ in seen if schema == "subtick.load/1"]
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(loads[0]))
    for text in (at, at.replace(" ", "T") + "Z"):
        code, said, page = report(path, "--at", text, "--for", "2s")
        data = re.search(r'id="data">(.*?)</script>', page, re.S)
        shown = [window["time_unix_ns"] / 1e9 for window in json.loads(data[1])["windows"]
                 if window["schema"] == "subtick.load/1"] if data else []
        begin = int(loads[0])
        if code or shown != [end for end in loads if begin < end <= begin + 2]:
            yield f"--at {text}: exit {code}, {said.strip()}, {shown} of {loads[:20]}"
    code, said, _ = report(path, "--at", at, "--for", "5m")
    if code or "part of the time" not in said or " of 300 s of load" not in said:
        yield f"--for 5m: exit {code}, {said.strip()}"
    code, said, _ = report(path, "--at", "2020-01-01 00:00Z")
    if code != 1 or at.split()[0] not in said:
        yield f"a time without windows: exit {code}, {said.strip()}"


def check_http(server, seen):
    """The exporter returns the windows of a requested time over HTTP, and rejects invalid times."""
    first = seen[0][1] / 1e9
    status, headers, body = server.get(f"/api/v1/history?at={first}&for=1&collect=load")
    got = [json.loads(line) for line in gzip.decompress(body).splitlines()] if body else []
    if status != 200 or headers["Content-Type"] != "application/gzip" or {one["schema"] for one in got} != {"subtick.load/1"} \
            or min(one["time_unix_ns"] for one in got) / 1e9 > first + 1:
        yield f"history of {first}: {status}, {len(got)} windows"
    if server.get("/api/v1/history?at=1000&for=1")[2]:
        yield "there are windows of 1970"
    for query in ("at=x", "at=1&for=x", "at=1&for=-1"):
        if server.get(f"/api/v1/history?{query}")[0] != 400:
            yield f"{query} is not refused"


def check_killed():
    """kill -9 loses no window that the exporter has written. After kill -9, a second exporter with
    the same directory truncates an incomplete block and appends new windows."""
    with folder() as path:
        with Server("--history", path, "--collect", "load,wake") as server:
            if not eventually(lambda: written(server) >= 8):
                yield f"nothing is written: {server.text()}"
                return
            count = written(server)
            server.child.send_signal(signal.SIGKILL)
            server.child.wait()
        seen = lines(path)
        if len(seen) < count or any(length <= 0 for _, _, length in seen):
            yield f"{len(seen)} windows after kill -9, {count} were written"
        if not os.geteuid() and os.stat(files(path)[0]).st_uid == 0:
            yield "the files are root's"
        # Append an incomplete block, as after a crash of the machine during a write.
        with open(files(path)[-1], "ab") as file:
            file.write(open(files(path)[0], "rb").read(500))
        with Server("--history", path, "--collect", "load,wake") as server:
            if "incomplete block of 500 bytes" not in server.text():
                yield f"the exporter kept the incomplete block: {server.text()}"
            if not eventually(lambda: written(server) >= 4):
                yield "the second exporter writes nothing"
            yield from check_http(server, seen)
            with Server("--history", path, wait=False) as other:
                if other.child.wait(tap.PATIENCE) != 1 or "another exporter" not in other.text():
                    yield f"two write the same files: {other.text()}"
        both = lines(path)
        if both[:len(seen)] != seen or len(both) <= len(seen):
            yield f"{len(both)} windows after a restart, {len(seen)} before"
        if len(set(map(tuple, both))) != len(both):
            yield "windows are there twice"
        yield from check_report(path, both)


def check_full():
    """On a full disk the exporter loses windows, counts the lost windows, and continues to run. When the disk has free
    space, the exporter writes again."""
    if os.geteuid():
        raise tap.Skip("needs root, to mount a small file system")
    with folder() as path:
        os.mkdir(path)
        mount = ["mount", "-t", "tmpfs", "-o", "size=256k,mode=777", "tmpfs", path]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            raise tap.Skip("cannot mount a tmpfs here")
        try:
            blob = os.path.join(path, "blob")
            with Server("--history", path, "--interval", "100ms") as server:
                if not eventually(lambda: written(server) > 0):
                    yield "nothing is written"
                with open(blob, "wb", buffering=0) as file, contextlib.suppress(OSError):
                    while True:
                        file.write(bytes(4096))
                if not eventually(lambda: written(server, "lost") > 0):
                    yield f"no window is lost on a full disk: {server.text()}"
                if "No space left" not in server.text() or server.get("/readyz")[0] != 200:
                    yield f"on a full disk: {server.text()}"
                before = written(server)
                os.unlink(blob)
                if not eventually(lambda: written(server) > before) or "writing works again" not in server.text():
                    yield f"does not write again: {server.text()}"
            if not lines(path):
                yield "no window is left"
        finally:
            subprocess.run(["umount", path], check=True)


def check_refused():
    if os.geteuid():
        raise tap.Skip("needs root, to have something to drop")
    with folder() as path:
        os.mkdir(path, 0o755)
        with Server("--history", path, wait=False) as server:
            if server.child.wait(tap.PATIENCE) != 1 or "chown" not in server.text():
                yield f"a directory of root: {server.text()}"
    with Server("--history", "/nonexistent/dir", wait=False) as server:
        if server.child.wait(tap.PATIENCE) != 1 or "cannot open the directory" not in server.text():
            yield f"a directory that cannot be made: {server.text()}"


CHECKS = [
    ("history: complete after kill -9, for jq, report --at and HTTP", check_killed),
    ("history: a full disk loses windows and counts them", check_full),
    ("history: a directory that cannot be written is refused", check_refused),
]
