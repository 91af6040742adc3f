# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the exporter from start to exit: privileges, tokens, signals, settings, sockets, service manager."""
import contextlib
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time

import tap
from exporter import SUBTICK, Configured, Server, counters, eventually
from serve_clients import STREAM

TOKEN = "a-token-of-enough-characters"


def statuses(pid):
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status", encoding="utf-8") as text:
            yield task, dict(re.findall(r"^(\w+):\t(.*)$", text.read(), re.M))


def check_dropped():
    if os.geteuid():
        raise tap.Skip("needs root, to see root dropped")
    with Server() as server:
        server.metrics()
        threads = list(statuses(server.child.pid))
        if len(threads) < 2:
            yield f"{len(threads)} threads"
        for task, status in threads:
            for key in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
                if int(status[key], 16):
                    yield f"thread {task}: {key} is {status[key]}"
            if "0" in status["Uid"].split() or "0" in status["Gid"].split() or status["Groups"].strip():
                yield f"thread {task}: Uid {status['Uid']}, Gid {status['Gid']}, Groups {status['Groups']}"
            if status["NoNewPrivs"] != "1" or status["Seccomp"] != "2":
                yield f"thread {task}: NoNewPrivs {status['NoNewPrivs']}, Seccomp {status['Seccomp']}"
        key = 'subtick_collector_updates_total{collector="load"}'
        before = server.metrics()[key]
        if not eventually(lambda: server.metrics()[key] > before):
            yield "measures no more after the drop"
        if server.metrics()['subtick_collector_up{collector="load"}'] != 1:
            yield "is down after the drop"


def check_keeps_bpf():
    """With --keep-bpf the exporter keeps only CAP_BPF: the collector runq works, but the exporter cannot create
    BPF maps."""
    if os.geteuid():
        raise tap.Skip("needs root, to see root dropped")
    with Server("--keep-bpf", "--collect", "runq") as server:
        for task, status in statuses(server.child.pid):
            held = [int(status[key], 16) for key in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")]
            if held != [0, 1 << 39, 1 << 39, 0, 0] or "0" in status["Uid"].split() or status["Seccomp"] != "2":
                yield f"thread {task}: {held}, Uid {status['Uid']}, Seccomp {status['Seccomp']}"
        key = 'subtick_collector_updates_total{collector="runq"}'
        before = server.metrics()[key]
        if not eventually(lambda: server.metrics()[key] > before):
            yield "measures no more after the drop"


def check_refuses():
    with Server("--user", "no-such-user", wait=False) as server:
        if os.geteuid():
            raise tap.Skip("needs root, to have something to drop")
        if server.child.wait(tap.PATIENCE) != 1 or "no-such-user" not in server.text():
            yield f"exit {server.child.returncode}: {server.text().strip()}"
    with Server("--user", "root", wait=False) as server:
        if server.child.wait(tap.PATIENCE) != 1:
            yield f"--user root: exit {server.child.returncode}"
    with Server("--no-sandbox") as server:
        if "--no-sandbox" not in server.text():
            yield "no warning with --no-sandbox"


def open_stream(server, headers):
    lines = ["GET /api/v1/stream HTTP/1.1", "Host: localhost", *(f"{k}: {v}" for k, v in headers.items())]
    client = server.dial(("\r\n".join(lines) + "\r\n\r\n").encode())
    if b" 200 " not in client.recv(100):
        raise RuntimeError("no stream")
    return client


def stream_ends(client, seconds):
    """True if the exporter ends the stream within @seconds, with a last chunk or by closing the connection."""
    deadline, last = time.time() + seconds, b""
    while (left := deadline - time.time()) > 0:
        client.settimeout(left)
        try:
            got = client.recv(65536)
        except TimeoutError:
            return False
        last = (last + got)[-5:]
        if not got or last == b"0\r\n\r\n":
            return True
    return False


def check_token():
    with tempfile.NamedTemporaryFile("w+") as file:
        file.write(TOKEN + "\n")
        file.flush()
        with Server("--token-file", file.name) as server:
            good = {"Authorization": f"Bearer {TOKEN}"}
            for path in ("/metrics", "/api/v1/load", "/api/v1/stream", "/api/v1/history", "/api/v1/report",
                         "/api/v1/host", "/api/v1/doctor"):
                status, headers, body = server.get(path)
                if status != 401 or "Bearer" not in headers["WWW-Authenticate"] or b"cpu" in body:
                    yield f"{path} without a token: {status}"
            for wrong in (f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", "Bearer "):
                if server.get("/metrics", {"Authorization": wrong})[0] != 401:
                    yield f"'{wrong}' is let in"
            if server.get("/metrics", good)[0] != 200:
                yield "the token is refused"
            if server.get("/healthz")[0] != 200:
                yield "/healthz needs a token"
            stream = open_stream(server, good)
            server.hangup()
            if not eventually(lambda: "reloaded" in server.text()) or stream_ends(stream, 1):
                yield "a stream ends though the token is the same"
            # Write to the existing file, because the exporter cannot open a new file after the drop of privileges.
            file.seek(0)
            file.write("b" + TOKEN[1:] + "\n")
            file.flush()
            server.hangup()
            if not stream_ends(stream, tap.PATIENCE):
                yield "a stream that was opened with the old token goes on"
            stream.close()
            if not eventually(lambda: server.get("/metrics", good)[0] == 401):
                yield "the old token still works after SIGHUP"
            if server.get("/metrics", {"Authorization": "Bearer b" + TOKEN[1:]})[0] != 200:
                yield "the new token does not work: " + server.text()


def check_host():
    """To prevent DNS rebinding, the exporter rejects a request with another site's Host header."""
    evil = {"Host": "evil.example"}
    with Configured("collect = load\nhost = Node1.example\n") as server:
        for path in ("/metrics", "/api/v1/load", "/api/v1/stream", "/api/v1/history", "/api/v1/report",
                     "/api/v1/host", "/api/v1/doctor", "/"):
            status, _, body = server.get(path, evil)
            if status != 403 or b"cpu" in body or b"--host" not in body:
                yield f"{path} for another site: {status}"
        for name in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example"):
            if server.get("/metrics", {"Host": f"{name}:{server.port}"})[0] != 403:
                yield f"answers as {name}"
        for name in ("localhost", "127.0.0.1", "[::1]", "10.0.0.1", "node1.EXAMPLE"):
            if server.get("/metrics", {"Host": f"{name}:{server.port}"})[0] != 200:
                yield f"does not answer as {name}"
        if server.get("/healthz", evil)[0] != 200:
            yield "health depends on the name"
        if not server.metrics().get('subtick_http_requests_total{code="403"}'):
            yield "what was refused is not counted"
        server.settings("collect = load\nhost = evil.example\n")
        server.hangup()
        if not eventually(lambda: server.get("/metrics", evil)[0] == 200):
            yield "a name that was added does not work after SIGHUP"
    with tempfile.NamedTemporaryFile("w+") as file:
        file.write(TOKEN)
        file.flush()
        with Server("--collect", "load", "--token-file", file.name) as server:
            if server.get("/metrics", {**evil, "Authorization": f"Bearer {TOKEN}"})[0] != 200:
                yield "with the token the name matters"
            if server.get("/metrics", evil)[0] != 401:
                yield "another site gets in without a token"


def check_token_replaced():
    """If the token file is replaced, the exporter cannot read the new file without privileges, and logs the error."""
    if os.geteuid():
        raise tap.Skip("needs root, to have a file that others cannot read")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "token")
        for name in (path, path + ".new"):
            with open(name, "w", encoding="utf-8") as file:
                file.write(TOKEN if name == path else "b" + TOKEN)
            os.chmod(name, 0o600)
        with Server("--token-file", path) as server:
            os.rename(path + ".new", path)
            server.hangup()
            if not eventually(lambda: "keeping the old settings" in server.text()):
                yield "does not say that it cannot read the new file: " + server.text()
            if server.get("/metrics", {"Authorization": f"Bearer {TOKEN}"})[0] != 200:
                yield "the old token does not work any more"


def check_outside_warning():
    with Server(host="0.0.0.0") as server:
        if "warning" not in server.text():
            yield "listens on 0.0.0.0 without a token and does not warn"
    with Server() as server:
        if "warning" in server.text():
            yield "warns about loopback"


def check_sigterm():
    with Server("--timeout", "600s") as server:
        clients = [server.dial(request) for request in (STREAM, b"GET /metr", b"", b"", b"")]
        clients[0].recv(100)
        server.child.terminate()
        # The exporter must exit before the timeout of its clients.
        if server.child.wait(tap.PATIENCE):
            yield f"exit {server.child.returncode}: {server.text()}"
        for client in clients:
            client.close()


def check_leaks():
    """Requests of every kind, a stream, reloads and SIGTERM must not leak memory. This check needs LeakSanitizer."""
    leaks = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=1"}
    # Disable the exporter's sandbox, because the seccomp filter of the sandbox blocks
    # LeakSanitizer.
    with Server("--no-sandbox", "--timeout", "3s", env=leaks) as server:
        stream = open_stream(server, {})
        for path in ("/metrics", "/api/v1/load", "/api/v1/runq", "/api/v1/wake", "/api/v1/doctor", "/", "/nosuch"):
            for headers in ({}, {"Accept-Encoding": "gzip"}, {"Accept": "application/openmetrics-text"},
                            {"Host": "evil.example"}):
                server.get(path, headers)
        for _ in range(5):
            open_stream(server, {}).close()
        # Open a stream that the exporter must close, because the client of the stream does not read.
        stalled = server.dial(STREAM, 4096)
        if not eventually(lambda: server.metrics()['subtick_http_cut_total{reason="stalled"}'] == 1):
            yield "a stream that nobody reads is not cut"
        stalled.close()
        server.hangup()
        if not eventually(lambda: "reloaded" in server.text()):
            yield "does not reload"
        server.child.terminate()
        if server.child.wait(tap.PATIENCE):
            yield f"exit {server.child.returncode}"
        stream.close()


def check_sighup():
    updates = 'subtick_collector_updates_total{collector="load"}'
    with Configured("") as server:
        def reload(answer):
            said = server.text().count(answer)
            server.hangup()
            return eventually(lambda: server.text().count(answer) > said)

        def boundaries():
            return {found[1] for key in server.metrics() if (found := re.search(r'runqueue_latency.*le="([^"]+)"', key))}

        # Reload the exporter's settings twice: first with one histogram boundary (le = 1ms),
        # then with the default boundaries.
        server.settings("le = 1ms\n")
        reload("reloaded the settings")
        if not eventually(lambda: boundaries() == {"0.001", "+Inf"}) or "restart" in server.text():
            yield f"le = 1ms: {boundaries()}, {server.text()}"
        server.settings("")
        reload("reloaded the settings")
        if not eventually(lambda: len(boundaries()) == 17):
            yield f"le is the default again: {boundaries()}"
        server.raw(f"listen = 127.0.0.1:{server.port}\ninterval = 3600s\nle = 3ms\n")
        if not reload("reloaded the settings"):
            yield f"does not read them again: {server.text()}"
        if "le was changed" not in server.text():
            yield f"does not say what needs a restart: {server.text()}"
        time.sleep(0.5)
        first = server.metrics()[updates]
        time.sleep(1.5)
        if server.metrics()[updates] > first:
            yield "the longer interval is not in force"
        server.raw("nonsense\n")
        if not reload("keeping the old settings") or server.get("/healthz")[0] != 200:
            yield f"a bad file: {server.text()}"
        server.settings("")
        reload("reloaded the settings")
        # The interval of 200 ms must apply at once, not after the current window of one hour.
        if not eventually(lambda: server.metrics()[updates] > first + 5):
            yield "the shorter interval is not in force"
        if not eventually(lambda: server.get("/readyz")[0] == 200):
            yield "not ready after a change of the interval"


def check_config_option():
    for text, code in (("listen = 127.0.0.1:1\n", 0), ("nonsense", 64), ("interval = x\n", 64)):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(text)
            file.flush()
            run = subprocess.run([SUBTICK, "serve", "--check-config", "--config", file.name],
                                 capture_output=True, text=True, timeout=tap.PATIENCE, check=False)
            if run.returncode != code or (code and file.name + ":1" not in run.stderr):
                yield f"{text!r}: exit {run.returncode}, '{run.stderr.strip()}'"
    for args in (["--listen", "nonsense"], ["--collect", "nosuch"], ["--le", "2ms,1ms"], ["--json"], ["extra"]):
        run = subprocess.run([SUBTICK, "serve", "--check-config", "--config", "/dev/null", *args],
                             capture_output=True, text=True, timeout=tap.PATIENCE, check=False)
        if run.returncode != 64 or len(run.stderr.splitlines()) != 1:
            yield f"{args}: exit {run.returncode}, '{run.stderr.strip()}'"


@contextlib.contextmanager
def manager(*args, wait=True):
    """Starts an exporter with this test as its service manager. Yields the exporter, and a function that returns the
    exporter's next message to the service manager."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ear:
        path = os.path.join(folder, "notify")
        ear.bind(path)
        ear.settimeout(tap.PATIENCE)
        with Server(*args, env={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "900000"}, wait=wait) as server:
            yield server, lambda: ear.recv(100)


def check_notify():
    with manager() as (server, said):
        words = [said() for _ in range(3)]
        if words != [b"READY=1", b"WATCHDOG=1", b"WATCHDOG=1"]:
            yield f"says {words}"
        server.hangup()
        words = list(iter(said, b"READY=1"))
        if b"RELOADING=1" not in words:
            yield f"before it is ready again after SIGHUP it says {words}"
        server.child.terminate()
        while (last := said()) == b"WATCHDOG=1":
            pass
        if last != b"STOPPING=1" or server.child.wait(tap.PATIENCE):
            yield f"last word is {last}, exit {server.child.returncode}"
    # A first window that is longer than the service manager's timeout is not a failure.
    with manager("--interval", "3600s", wait=False) as (server, said):
        words = [said() for _ in range(3)]
        if words != [b"READY=1", b"WATCHDOG=1", b"WATCHDOG=1"]:
            yield f"before the first window it says {words}"
        if server.get("/readyz")[0] != 503:
            yield "ready before the first window"


# Script that runs a command under a seccomp filter, as systemd does. The seccomp filter allows the
# system calls that the script's first argument, a file, lists.
BEHIND = """if True:
    import ctypes, os, sys
    lib = ctypes.CDLL("libseccomp.so.2")
    lib.seccomp_init.restype = ctypes.c_void_p
    lib.seccomp_rule_add.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint]
    lib.seccomp_load.argtypes = [ctypes.c_void_p]
    rules = lib.seccomp_init(0x00050001)
    for name in open(sys.argv[1]).read().split():
        number = lib.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:
            lib.seccomp_rule_add(rules, 0x7fff0000, number, 0)
    if lib.seccomp_load(rules):
        sys.exit("no filter")
    os.execv(sys.argv[2], sys.argv[2:])
"""


def expand(word):
    """Returns the system call names of an entry of SystemCallFilter=, which is a system call name or a group."""
    if not word.startswith("@"):
        return {word}
    text = subprocess.run(["systemd-analyze", "syscall-filter", word], capture_output=True, text=True, check=True)
    names = [line.strip() for line in text.stdout.splitlines()[1:] if not line.strip().startswith("#")]
    return set().union(*(expand(name) for name in names if name))


def check_unit():
    """The exporter must work with only the system calls and capabilities that the systemd unit allows."""
    # Use the system's python3, because the unit's user may be unable to run a python3 in a home directory.
    tools = [shutil.which(tool, path="/usr/bin") for tool in ("systemd-analyze", "setpriv", "python3")]
    if os.geteuid() or None in tools:
        raise tap.Skip("needs root, systemd-analyze, setpriv and /usr/bin/python3")
    with open("packaging/systemd/subtick.service.in", encoding="utf-8") as file:
        unit = re.findall(r"^(\w+)=(.*)$", file.read(), re.M)
    allowed = expand("@default")  # systemd allows this group of system calls in every unit
    for line in (value for key, value in unit if key == "SystemCallFilter"):
        names = set().union(*(expand(word) for word in line.lstrip("~").split()))
        allowed = allowed - names if line.startswith("~") else allowed | names
    caps = ",".join("+" + cap[4:].lower() for cap in dict(unit)["AmbientCapabilities"].split())
    # The StateDirectory of the systemd unit belongs to the user of the unit.
    with tempfile.NamedTemporaryFile("w") as names, tempfile.TemporaryDirectory(prefix="subtick-state-") as state:
        os.chown(state, 61234, 61234)
        server = Server("--history", f"{state}/history", wait=False)
        os.chmod(names.name, 0o644)
        names.write("\n".join(sorted(allowed)))
        names.flush()
        server.argv = ["setpriv", "--reuid=61234", "--regid=61234", "--clear-groups", f"--inh-caps=-all,{caps}",
                       f"--ambient-caps=-all,{caps}", f"--bounding-set=-all,{caps}", "--no-new-privs",
                       tools[2], "-c", BEHIND, names.name, *server.argv]
        with server:
            if not eventually(lambda: server.child.poll() is not None or server.ready()):
                yield "not ready"
            if server.child.poll() is not None:
                yield f"exit {server.child.returncode}: {server.text()}"
                return
            found = server.metrics()
            down = [key for key, value in found.items() if key.startswith("subtick_collector_up{") and value != 1]
            if "Landlock" in server.text():
                yield f"the unit allows no Landlock: {server.text()}"
            if not eventually(lambda: os.listdir(f"{state}/history")):
                yield "no history in the state directory"
            if down or not any(key.startswith("subtick_cpu_seconds_total") for key in found):
                yield f"measures nothing: {down}"


def check_unix_socket():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "subtick.sock")
        for _ in range(2):  # two runs, so that the second run finds the files of the first run
            with Server("--listen", f"unix:{path}"), socket.socket(socket.AF_UNIX) as client:
                client.connect(path)
                client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                if not client.recv(100).startswith(b"HTTP/1.1 200"):
                    yield "no answer over the unix socket"


def check_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError as why:
        raise tap.Skip(f"this machine has no IPv6 loopback: {why}") from why
    with Server("--listen", "[::1]:0") as server:
        if "[::1]" not in server.text():
            yield "does not listen on IPv6"


def check_hotplug():
    switch = "/sys/devices/system/cpu/cpu1/online"
    if not os.access(switch, os.W_OK):
        raise tap.Skip("CPU 1 cannot be taken offline here")
    with Server() as server, open(switch, "w", encoding="utf-8") as online:
        try:
            online.write("0")
            online.flush()
        except OSError as why:
            raise tap.Skip(f"CPU 1 stays: {why}") from why
        try:
            if not eventually(lambda: server.metrics()['subtick_cpu_online{cpu="1"}'] == 0):
                yield "an offline core is said to be online"
        finally:
            with open(switch, "w", encoding="utf-8") as again:
                again.write("1")

        def grown():
            return sum(v - first.get(k, 0) for k, v in counters(server.metrics()).items()
                       if 'cpu_seconds_total{cpu="1"' in k)

        first = counters(server.metrics())
        if not eventually(lambda: grown() > 0.5):
            yield "a core that came back is not counted"
