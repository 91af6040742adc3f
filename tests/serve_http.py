# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the HTTP server with a client that detects every deviation from HTTP, and with clients that occupy connections
and memory."""
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import tap
from exporter import SUBTICK, Server, eventually, resident
from serve_prometheus import ip, namespaces

HOST = b"Host: localhost\r\n"


class Client:
    """HTTP client that reads every byte of every response. The client raises an error if a response deviates from
    HTTP."""

    def __init__(self, server):
        self.socket, self.text = server.dial(), b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def more(self):
        got = self.socket.recv(65536)
        self.text += got
        return got

    def response(self, head=False):
        """Reads the next response. Returns the status, the headers and the body of the response."""
        while b"\r\n\r\n" not in self.text:
            if not self.more():
                raise RuntimeError(f"closed after {self.text[:200]!r}")
        top, _, self.text = self.text.partition(b"\r\n\r\n")
        lines = top.decode("ascii").split("\r\n")
        if not re.fullmatch(r"HTTP/1\.1 \d{3} [ -~]*", lines[0]):
            raise RuntimeError(f"status line {lines[0]!r}")
        headers = {}
        for line in lines[1:]:
            name, value = re.fullmatch(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+): ([ -~]*)", line).groups()
            if name.lower() in headers:
                raise RuntimeError(f"{name} comes twice")
            headers[name.lower()] = value
        status = int(lines[0].split()[1])
        if "date" not in headers:
            raise RuntimeError(f"{status} without Date")
        length = 0 if head or status == 304 else int(headers["content-length"])
        while len(self.text) < length:
            if not self.more():
                raise RuntimeError(f"{len(self.text)} of {length} bytes")
        body, self.text = self.text[:length], self.text[length:]
        return status, headers, body

    def closed(self):
        """Returns the remaining bytes until the server closes the connection, or None if the connection stays open."""
        self.socket.settimeout(5)
        try:
            while self.more():
                pass
        except TimeoutError:
            return None
        return self.text


PATHS = ("/healthz", "/readyz", "/", "/app.js", "/metrics", "/api/v1/load", "/api/v1/doctor", "/api/v1/history",
         "/api/v1/report", "/api/v1/host", "/api/v1/traces", "/api/v1/nosuch", "/nosuch", "/api/v1/stream")


def check_head():
    """On every path and a persistent connection, HEAD returns the headers of GET without a body."""
    with Server("--collect", "load", "--interval", "3600s", wait=False) as server:
        if not eventually(lambda: not server.child.poll() and "listening" in server.text()):
            yield server.text()
        with Client(server) as client:
            for path in PATHS:
                client.send(b"HEAD " + path.encode() + b" HTTP/1.1\r\n" + HOST + b"\r\n")
                status, headers, _ = client.response(head=True)
                client.send(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
                if client.response()[2] != b"ok\n":
                    yield f"{path}: the response after HEAD is not the next one"
                if path == "/api/v1/stream":
                    if status != 405:
                        yield f"HEAD of a stream: {status}"
                    continue
                client.send(b"GET " + path.encode() + b" HTTP/1.1\r\n" + HOST + b"\r\n")
                got, other, body = client.response()
                if (got, other["content-type"]) != (status, headers["content-type"]):
                    yield f"{path}: HEAD {status}, GET {got}"
                if path != "/api/v1/traces" and int(headers["content-length"]) != len(body):
                    yield f"{path}: HEAD says {headers['content-length']}, GET has {len(body)} bytes"
            client.send(b"GET / HTTP/1.1\r\n" + HOST + b"\r\n")
            etag = client.response()[1]["etag"].encode()
            client.send(b"GET / HTTP/1.1\r\n" + HOST + b"If-None-Match: " + etag + b"\r\n\r\n")
            if client.response()[0] != 304:
                yield "no 304 for a known page"


def check_order():
    """The server answers pipelined requests of every kind in order, even if the requests arrive in
    pieces. After the response to a request with Connection: close, the server closes the
    connection."""
    asked = [(b"GET", path) for path in PATHS[:-1]] * 4 + [(b"HEAD", path) for path in PATHS] * 4
    asked = [asked[i * 7 % len(asked)] for i in range(len(asked))]
    text = b"".join(method + b" " + path.encode() + b" HTTP/1.1\r\n" + HOST + b"\r\n" for method, path in asked)
    text += b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\nGET /metrics HTTP/1.1\r\n\r\n"
    with Server("--collect", "load") as server:
        for size in (len(text), 1000, 37):
            with Client(server) as client:
                for at in range(0, len(text), size):
                    client.send(text[at:at + size])
                for method, path in asked:
                    status, headers, body = client.response(head=method == b"HEAD")
                    kind = {"/metrics": "text/plain; version=0.0.4; charset=utf-8", "/api/v1/load": "application/json",
                            "/api/v1/history": "application/gzip"}.get(path)
                    if (kind and headers["content-type"] != kind) or (status == 404) != path.endswith("nosuch"):
                        yield f"{size}: {method} {path}: {status}, {headers['content-type']}, {body[:60]!r}"
                        return
                status, headers, body = client.response()
                if body != b"ok\n" or headers["connection"] != "close" or client.closed() != b"":
                    yield f"{size}: the last one: {status}, {headers}, then {client.text[:60]!r}"


HIDDEN = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
FRAMING = [
    ("HEAD with a length", b"HEAD / HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(HIDDEN)),
    ("HEAD in chunks", b"HEAD / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"),
    ("GET with a length", b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(HIDDEN)),
    ("a space before the colon", b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length : %d\r\n\r\n" % len(HIDDEN)),
    ("xchunked", b"GET / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: xchunked\r\n\r\n"),
    ("identity", b"GET / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: identity\r\n\r\n"),
    ("two lengths", b"GET / HTTP/1.1\r\n" + HOST + b"Content-Length: 0\r\nContent-Length: %d\r\n\r\n" % len(HIDDEN)),
    ("two hosts", b"GET / HTTP/1.1\r\n" + HOST + b"Host: localhost\r\n\r\n"),
    ("no host", b"GET / HTTP/1.1\r\n\r\n"),
    ("a folded header", b"GET / HTTP/1.1\r\n" + HOST + b"X: a\r\n b\r\n\r\n"),
    ("a bare line feed", b"GET / HTTP/1.1\r\n" + HOST + b"X: a\nContent-Length: %d\r\n\r\n" % len(HIDDEN)),
    ("POST", b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(HIDDEN)),
]


def check_framing():
    """A request whose end is ambiguous gets one error response, and the server closes the connection. The server must
    not parse the body of an ambiguous request as the next request."""
    with Server("--collect", "load") as server:
        for name, data in FRAMING:
            with Client(server) as client:
                client.send(data + HIDDEN)
                # Read until the end of the connection, because a TCP reset may arrive after the response.
                rest = client.closed()
                if rest is None or not re.match(rb"HTTP/1\.1 (400|405) ", rest) or rest.count(b"HTTP/1.1 ") != 1:
                    yield f"{name}: {rest and rest[:200]!r}, {rest and rest.count(b'HTTP/1.1 ')} responses"


def kernel_memory():
    """Returns the memory of all TCP sockets in bytes."""
    with open("/proc/net/sockstat", encoding="utf-8") as text:
        return int(re.search(r"^TCP: .* mem (\d+)", text.read(), re.M)[1]) * os.sysconf("SC_PAGE_SIZE")


@contextlib.contextmanager
def unread(server, request, number, room=2048):
    """Opens connections that send @request and read nothing, each with a receive buffer of @room bytes."""
    with contextlib.ExitStack() as stack:
        for _ in range(number):
            stack.enter_context(server.dial(request, room))
        yield


def check_unread():
    """With clients that read nothing, the memory of the exporter and of the kernel stays within its limits, and scrapes
    continue."""
    with tempfile.TemporaryDirectory(prefix="subtick-traces-") as folder:
        os.chmod(folder, 0o755)
        with open(os.path.join(folder, "big.html"), "wb") as file:
            file.write(os.urandom(4 << 20))
        os.chmod(file.name, 0o644)
        with Server("--collect", "load,wake", "--traces", folder, "--timeout", "60s") as server:
            if not eventually(lambda: len(server.get("/api/v1/history")[2]) > 20000):
                yield "no history"
            for path in ("/api/v1/history", "/metrics", "/api/v1/load", "/api/v1/report", "/api/v1/traces/big.html"):
                before, tcp = resident(server.child.pid), kernel_memory()
                request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * 20
                with unread(server, request, 700):
                    statuses = [server.get("/metrics")[0] for _ in range(20)]
                    time.sleep(1)
                    statuses += [server.get("/metrics")[0] for _ in range(20)]
                    grown, queued = resident(server.child.pid) - before, kernel_memory() - tcp
                print(f"# {path}: 700 clients, process +{grown / 2**20:.1f} MiB, kernel +{queued / 2**20:.1f} MiB")
                if statuses != [200] * 40:
                    yield f"{path}: {statuses.count(200)} of 40 scrapes"
                if grown > 100 << 20 or queued > 150 << 20:
                    yield f"{path}: {grown} bytes more in the process, {queued} in the kernel"


# Script in the exporter's network namespace that prints the HTTP status of a stream and of a scrape.
INSIDE = """if True:
    import http.client
    for path in ("/api/v1/stream", "/metrics"):
        connection = http.client.HTTPConnection("198.18.0.2", 7828, timeout=10)
        connection.request("GET", path)
        print(connection.getresponse().status)
"""


def check_vanished():
    """Clients with streams, with partly read responses or with incomplete requests vanish. The exporter must free the
    connections and the memory of vanished clients."""
    args = ("--collect", "load", "--interval", "3600s", "--timeout", "3s")
    with namespaces() as names, Server(*args, netns=names[0], host="198.18.0.2", wait=False) as server:
        if not eventually(lambda: "listening" in server.text()):
            yield server.text()
        time.sleep(1)

        def inside():
            run = subprocess.run(["nsenter", f"--net=/run/netns/{names[0]}", sys.executable, "-c", INSIDE], text=True,
                                 capture_output=True, check=False)
            return run.stdout.split() or run.stderr

        with contextlib.ExitStack() as stack:
            before, tcp = resident(server.child.pid), kernel_memory()
            # The kernel accepts all data of the streams, so the exporter cannot detect that the clients of the streams
            # read nothing.
            for request, number, room in ((b"GET /api/v1/stream HTTP/1.1\r\n" + HOST + b"\r\n", 64, 65536),
                                          ((b"GET /app.js HTTP/1.1\r\n" + HOST + b"\r\n") * 50, 200, 2048),
                                          (b"GET /metrics HTTP/1.1\r\nX: ", 100, 2048)):
                stack.enter_context(unread(server, request, number, room))
            if inside() != ["503", "200"]:
                yield f"64 streams are open: {inside()}"
            grown, queued = resident(server.child.pid) - before, kernel_memory() - tcp
            ip("link", "set", names[0].replace("n0", "a0"), "down")
            begin = time.monotonic()
            if not eventually(lambda: inside() == ["200", "200"], 60):
                yield f"after a minute: {inside()}"
            took = time.monotonic() - begin
            print(f"# 364 clients: process +{grown / 2**20:.1f} MiB, kernel +{queued / 2**20:.1f} MiB; "
                  f"a place after {took:.0f} s")
            if grown > 16 << 20 or queued > 100 << 20:
                yield f"{grown} bytes more in the process, {queued} in the kernel"


def check_unknown():
    """A stream request with an unknown collector name is an error, and does not count as a stream."""
    with Server("--collect", "load") as server:
        for path in ("stream", "history"):
            for query in ("?collect=zzz", "?collect=load,zzz", "?collect=runq", "?collect=", "?collect=load,"):
                with Client(server) as client:
                    client.send(f"GET /api/v1/{path}{query} HTTP/1.1\r\n".encode() + HOST + b"\r\n")
                    if not client.more().startswith(b"HTTP/1.1 404 "):
                        yield f"{path}{query}: {client.text[:60]!r}"


def check_reload_closed():
    """Authentication must stay enabled if the settings file is empty or missing."""
    with tempfile.TemporaryDirectory(prefix="subtick-reload-") as folder:
        os.chmod(folder, 0o755)
        token, path = os.path.join(folder, "token"), os.path.join(folder, "conf")
        with open(token, "w", encoding="utf-8") as file:
            file.write("a-token-of-enough-characters\n")
        server = Server()
        settings = f"listen = 127.0.0.1:{server.port}\ncollect = load\ntoken-file = {token}\n"
        server.argv = [SUBTICK, "serve", "--config", path]

        def reload(text):
            said = server.text().count("reload")
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            if text is None:
                os.mkfifo(path, 0o644)
            elif text is not False:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                os.chmod(path, 0o644)
            if not hasattr(server, "child"):
                return
            server.hangup()
            if not eventually(lambda: server.text().count("reload") > said, 10):
                raise RuntimeError(f"no reload: {server.text()}")

        reload(settings)
        with server:
            for name, text in (("empty", ""), ("gone", False), ("a FIFO", None), ("no token", settings.split("token")[0])):
                reload(text)
                if server.get("/metrics", timeout=5)[0] != 401:
                    yield f"{name}: {server.get('/metrics')[0]}"
            if "restart to serve without a token" not in server.text():
                yield f"does not say what is needed: {server.text()}"


def check_helper():
    """After the helper process that opens runtime files is killed, the exporter leaves no zombie, logs a line, and
    fails /readyz."""
    with Server("--collect", "runq") as server:
        with open(f"/proc/{server.child.pid}/task/{server.child.pid}/children", encoding="utf-8") as text:
            children = [int(pid) for pid in text.read().split()]
        if len(children) != 1:
            raise tap.Skip(f"children: {children}")
        os.kill(children[0], signal.SIGKILL)
        if not eventually(lambda: b"degraded" in server.get("/readyz")[2], 10):
            yield f"/readyz: {server.get('/readyz')[2]}"
        if os.path.exists(f"/proc/{children[0]}"):
            yield "a zombie stays"
        if "has ended" not in server.text():
            yield f"log: {server.text()}"


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as text:
        fields = text.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def check_many_recordings():
    """A directory of 100,000 files must not block other clients. One request may use only a bounded CPU time."""
    with tempfile.TemporaryDirectory(prefix="subtick-traces-") as folder:
        os.chmod(folder, 0o755)
        for number in range(100000):
            os.close(os.open(os.path.join(folder, f"{number}.html"), os.O_CREAT | os.O_WRONLY, 0o644))
        with Server("--collect", "load", "--traces", folder, "--interval", "10s", wait=False) as server:
            if not eventually(lambda: "listening" in server.text()):
                yield server.text()
            server.get("/api/v1/traces")
            before = cpu_seconds(server.child.pid)
            for _ in range(10):
                status, _, body = server.get("/api/v1/traces")
            took = (cpu_seconds(server.child.pid) - before) / 10
            print(f"# {took * 1000:.0f} ms of CPU time")
            if status != 200 or b"4,000" not in body or took > 0.1:
                yield f"{status}, {took:.3f} s, {body[:100]!r}"


CHECKS = [
    ("HTTP: HEAD on a kept connection has no body, on any path", check_head),
    ("HTTP: pipelined requests are answered in order", check_order),
    ("HTTP: a body is never parsed as a request", check_framing),
    ("HTTP: 700 clients that read nothing cost bounded memory", check_unread),
    ("HTTP: connections of clients that disappear are freed", check_vanished),
    ("HTTP: unknown names of collectors are errors", check_unknown),
    ("a reload never removes authentication, and a FIFO does not stop it", check_reload_closed),
    ("the exit of the helper that opens runtime files is logged", check_helper),
    ("100,000 recordings do not block the exporter", check_many_recordings),
]
