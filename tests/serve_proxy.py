# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests real proxies in front of the exporter. A proxy that shares connections between clients must deliver each
response to the right client."""
import contextlib
import os
import random
import shutil
import socket
import subprocess
import tempfile
import threading

import tap
from exporter import Server, eventually, free_port, stop
from serve_http import Client

NGINX = """daemon off; pid {folder}/pid; error_log {folder}/log; events {{}}
http {{ access_log off; client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
 uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
 upstream exporter {{ server 127.0.0.1:{port}; keepalive 4; }}
 server {{ listen 127.0.0.1:{own}; location / {{ proxy_pass http://exporter; proxy_http_version 1.1;
  proxy_set_header Connection ""; proxy_set_header Host localhost; proxy_next_upstream off; }} }} }}
"""
HAPROXY = """global
 maxconn 200
defaults
 mode http
 timeout connect 10s
 timeout client 60s
 timeout server 60s
 retries 0
frontend front
 bind 127.0.0.1:{own}
 default_backend exporter
backend exporter
 http-reuse always
 http-request set-header Host localhost
 server exporter 127.0.0.1:{port} pool-max-conn 4
"""
# Text by which the test recognizes the response of each path.
PATHS = {"/healthz": b"ok\n", "/metrics": b"# HELP", "/api/v1/load": b'{"schema":"subtick.load/1"',
         "/api/v1/host": b'{"schema":"subtick.host/1"', "/api/v1/doctor": b'{"schema":"subtick.doctor/1"',
         "/app.js": b"//", "/nosuch": b"not found; the page", "/api/v1/nosuch": b"this build has no such"}
BODY = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Proxy:
    """Runs a proxy for the duration of a with statement. Class Proxy has the method dial() of class
    Server, so that class Client can connect to a proxy."""

    def __init__(self, server, name, settings, *command):
        path = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")
        if not path:
            raise tap.Skip(f"{name} is not installed")
        self.port, self.folder = free_port(), tempfile.TemporaryDirectory(prefix="subtick-proxy-")
        file = os.path.join(self.folder.name, "settings")
        with open(file, "w", encoding="utf-8") as text:
            text.write(settings.format(folder=self.folder.name, port=server.port, own=self.port))
        self.argv = [path, *command, file]

    def __enter__(self):
        self.child = subprocess.Popen(self.argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not eventually(self.answers):
            stop(self.child)
            raise RuntimeError(f"{self.argv} does not answer, exit {self.child.poll()}")
        return self

    def __exit__(self, *_):
        stop(self.child)
        self.folder.cleanup()

    def dial(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=tap.PATIENCE)

    def answers(self):
        with contextlib.suppress(OSError), self.dial():
            return True
        return False


def odd(client, number):
    """Sends one of five requests that a proxy may forward or reject. After odd(), the caller closes
    its connection to the proxy."""
    client.send([b"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY,
                 b"HEAD /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                 b"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length : %d\r\n\r\n" % len(BODY) + BODY,
                 b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY,
                 b"GET /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n" % len(BODY) + BODY +
                 b"\r\n0\r\n\r\n"][number % 5])
    client.more()


def ask(proxy, seed, wrong, asked):
    dice = random.Random(seed)
    try:
        for number in range(25):
            if number % 5 == seed % 5:
                with Client(proxy) as client, contextlib.suppress(OSError):
                    odd(client, seed + number)
            with Client(proxy) as client:
                batch = [(dice.choice(("GET", "HEAD")), dice.choice(list(PATHS))) for _ in range(dice.randint(1, 6))]
                client.send("".join(f"{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n" for method, path in batch).encode())
                for method, path in batch:
                    status, _, body = client.response(head=method == "HEAD")
                    asked.append(status)
                    if status in (200, 404) and method == "GET" and not body.lstrip(b"/* \n").startswith(
                            PATHS[path].lstrip(b"/")):
                        wrong.append(f"{method} {path}: {status}, {body[:60]!r}")
                    if (status == 404) != path.endswith("nosuch"):
                        wrong.append(f"{method} {path}: {status}")
    except (OSError, RuntimeError) as why:
        wrong.append(f"{why!r}")


def through(name, settings, *command):
    with Server("--collect", "load") as server, Proxy(server, name, settings, *command) as proxy:
        wrong, asked = [], []
        threads = [threading.Thread(target=ask, args=(proxy, seed, wrong, asked)) for seed in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = server.metrics()
        print(f"# {name}: {len(asked)} responses, {found['subtick_http_connections']:.0f} connections to the exporter")
        # A response with extra bytes makes a proxy close its connection to the exporter.
        if found["subtick_http_connections"] > 40:
            yield f"{found['subtick_http_connections']} connections for 16 clients"
        if len(asked) < 1000:
            yield f"only {len(asked)} responses"
        yield from sorted(set(wrong))[:10]


def check_nginx():
    yield from through("nginx", NGINX, "-c")


def check_haproxy():
    yield from through("haproxy", HAPROXY, "-f")


CHECKS = [
    ("behind nginx, with pooled connections: every client gets its own responses", check_nginx),
    ("behind haproxy, with pooled connections: every client gets its own responses", check_haproxy),
]
