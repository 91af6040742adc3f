# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starts an exporter (`subtick serve`) for a test, sends requests, and always stops the exporter."""
import contextlib
import http.client
import os
import re
import signal
import socket
import subprocess
import tempfile
import time

import tap

# Absolute path of the subtick program, because some test suites change the working directory.
SUBTICK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                       os.environ.get("SUBTICK_BUILD", "build"), "subtick")


def free_port(host="127.0.0.1"):
    with socket.socket() as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


def stop(child, seconds=10):
    """Stops a child process of the test with SIGTERM, and with SIGKILL after the timeout."""
    if child.poll() is not None:
        return
    child.terminate()
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


class Server:
    """Runs an exporter for the duration of a with statement. At the end the test stops the exporter by its PID, also
    after an error."""

    def __init__(self, *args, netns=None, host="127.0.0.1", env=None, wait=True):
        self.port, self.host, self.wait = free_port() if not netns else 7828, host, wait
        self.log = tempfile.TemporaryFile(mode="w+")
        # Use nsenter, because "ip netns exec" mounts another /sys without cgroups.
        prefix = ["nsenter", f"--net=/run/netns/{netns}"] if netns else []
        self.argv = [*prefix, SUBTICK, "serve", "--config", "/dev/null", "--listen",
                     f"{host}:{self.port}", "--interval", "200ms", *args]
        self.env = {**os.environ, **(env or {})}

    def __enter__(self):
        self.child = subprocess.Popen(self.argv, stderr=self.log, stdout=subprocess.DEVNULL, env=self.env)
        deadline = time.time() + tap.PATIENCE
        while self.wait:
            began = time.monotonic()
            if self.child.poll() == 77:
                raise tap.Skip(self.text().strip())
            if self.child.poll() is not None:
                raise RuntimeError(f"exit {self.child.returncode}: {self.text().strip()}")
            if self.ready():
                break
            if time.time() > deadline:
                raise RuntimeError(f"not ready after {tap.PATIENCE} s: {self.text()}")
            tap.pause(began)
        return self

    def __exit__(self, *_):
        stop(self.child)
        # A build with sanitizers prints sanitizer errors to the exporter's log.
        found = re.search(r"^.*(Sanitizer:|runtime error:).*$", self.text(), re.M)
        if found:
            print("#", self.text().replace("\n", "\n# "))
        self.log.close()
        if found:
            raise RuntimeError(found[0])

    def ready(self):
        try:
            return self.get("/readyz")[0] == 200
        except OSError:
            return False

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def get(self, path, headers=None, method="GET", timeout=tap.PATIENCE):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            connection.request(method, path, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def dial(self, request=b"", room=None):
        """Opens a connection and sends @request. With @room, the receive buffer of the connection has @room bytes. The
        caller closes the connection."""
        client = socket.socket()
        if room:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        client.settimeout(tap.PATIENCE)
        client.connect((self.host, self.port))
        client.sendall(request)
        return client

    def hangup(self):
        """Sends SIGHUP, so that the exporter reads its settings file again."""
        self.child.send_signal(signal.SIGHUP)

    def metrics(self):
        status, _, body = self.get("/metrics")
        if status != 200 or not body.startswith(b"# HELP"):
            raise RuntimeError(f"/metrics: {status}, {body[:200]!r}")
        return parse(body.decode())


class Configured(Server):
    """Runs an exporter with a settings file and no options, so that a test can change the settings."""

    def __init__(self, settings):
        super().__init__()
        self.file = tempfile.NamedTemporaryFile("w", suffix=".conf")
        os.chmod(self.file.name, 0o644)
        self.argv = [SUBTICK, "serve", "--config", self.file.name]
        self.settings(settings)

    def settings(self, text):
        """Replaces all settings except the address by @text and an interval of 200 ms."""
        self.raw(f"listen = {self.host}:{self.port}\ninterval = 200ms\n{text}")

    def raw(self, text):
        """Replaces the whole settings file by @text, without a signal to the exporter."""
        os.truncate(self.file.name, 0)
        self.file.seek(0)
        self.file.write(text)
        self.file.flush()


def promtool(body):
    """Yields an error if promtool finds a problem in @body, a page of metrics."""
    run = subprocess.run(["promtool", "check", "metrics"], input=body, capture_output=True, check=False)
    if run.returncode or run.stdout or run.stderr:
        yield f"promtool exits {run.returncode}: {(run.stdout + run.stderr).decode().strip()}"


def resident(pid):
    with open(f"/proc/{pid}/statm", encoding="utf-8") as text:
        return int(text.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(pid):
    """CPU time of all threads of the process, in seconds."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="utf-8") as text:
            total += int(text.read().split()[0])
    return total / 1e9


def parse(text):
    found = {}
    # Split at "\n" only, because the name of a cgroup may contain a carriage return.
    for line in text.split("\n"):
        if line and not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            found[name] = float(value)
    return found


def counters(found):
    """Returns the counters of collector load after its last window."""
    return {k: v for k, v in found.items() if re.match(r"subtick_(cpu|softirq|procstat)\w*_total", k)}


def has_cgroups(root):
    with contextlib.suppress(OSError), os.scandir(root) as entries:
        return any(entry.is_dir() for entry in entries)
    return False


def cgroup_root():
    """Returns the root of the cgroup hierarchy that the exporter measures: v1 if v1 contains cgroups, else v2."""
    roots = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"]
    if has_cgroups(roots[1]) and not has_cgroups(roots[0]):
        del roots[0]
    for root in roots:
        if os.access(os.path.join(root, "cgroup.procs"), os.W_OK):
            return os.fsencode(root)
    raise tap.Skip("no cgroup hierarchy to write to")


def remove_cgroup(path):
    """Removes a cgroup. The caller has killed the tasks of the cgroup, but the tasks may need time to exit."""
    for _ in range(100):
        with contextlib.suppress(OSError):
            os.rmdir(path)
            break
        time.sleep(0.02)


def eventually(condition, seconds=tap.PATIENCE):
    """True if the condition becomes true within the timeout. The default of @seconds is long, for
    busy and slow machines."""
    deadline = time.time() + seconds
    while True:
        began = time.monotonic()
        found = condition()
        if found or time.time() > deadline:
            return found
        tap.pause(began)
