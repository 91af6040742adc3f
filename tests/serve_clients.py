# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the exporter with clients that send invalid requests, or requests that are too slow, too large, or
simultaneous."""
import contextlib
import gzip
import http.client
import os
import re
import socket
import subprocess
import sys
import threading
import time

import tap
from exporter import Server, cgroup_root, eventually, parse, remove_cgroup, resident

STREAM = b"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n"
LOAD_SECONDS = int(os.environ.get("SUBTICK_SERVE_LOAD_SECONDS", "60"))


def raw(server, data):
    with server.dial(data) as client:
        answer = b""
        with contextlib.suppress(OSError):
            while chunk := client.recv(65536):
                answer += chunk
                if b"\r\n\r\n" in answer:
                    break
        return answer


def check_bad_requests():
    with Server("--timeout", "2s") as server:
        for name, data in (("a huge header", b"GET / HTTP/1.1\r\nX: " + b"x" * 100000 + b"\r\n\r\n"),
                           ("a huge path", b"GET /" + b"x" * 100000 + b" HTTP/1.1\r\n\r\n"),
                           ("a body", b"POST /metrics HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"),
                           ("DELETE", b"DELETE /metrics HTTP/1.1\r\nHost: x\r\n\r\n"),
                           ("noise", bytes(range(256)) * 16), ("nothing", b"\r\n" * 100),
                           ("a long body", b"GET / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n")):
            answer = b""
            with contextlib.suppress(OSError):
                answer = raw(server, data)
            status = answer.split(b" ")[1:2]
            if status and not status[0].startswith((b"4", b"5")):
                yield f"{name}: answers {answer[:60]!r}"
        for path in ("/nosuch", "/../etc/passwd", "/%2e%2e/etc/passwd", "/api/v1/nosuch"):
            status, headers, _ = server.get(path)
            if status not in (400, 404):
                yield f"{path}: {status}"
            if "default-src" not in (headers["Content-Security-Policy"] or ""):
                yield f"{path}: no Content-Security-Policy"
        if server.get("/metrics")[0] != 200:
            yield "does not answer any more"


def drip(clients):
    """Sends one byte on each socket. Removes from @clients each socket that the exporter has
    closed."""
    for client in list(clients):
        try:
            client.send(b"x")
        except OSError:
            client.close()
            clients.remove(client)


def slow_clients(server, clients, number):
    """Opens @number connections with incomplete requests."""
    while len(clients) < number:
        client = server.dial(b"GET /metrics HTTP/1.1\r\nX-Slow: ")
        client.setblocking(False)
        clients.append(client)


def check_slow_clients():
    """The exporter disconnects a client that sends its request byte by byte. A client that sends byte by byte does not
    block other clients."""
    with Server("--timeout", "1s", "--max-connections", "20") as server:
        slow, was_cut = [], {}

        def all_cut():
            found = server.metrics()
            was_cut.update({key: found[f'subtick_http_cut_total{{reason="{key}"}}'] for key in ("slow", "full")})
            return sum(was_cut.values()) >= 60 and found["subtick_http_connections"] <= 20

        try:
            slow_clients(server, slow, 60)
            begin = time.time()
            while time.time() - begin < 3:
                drip(slow)
                if server.get("/metrics")[0] != 200:
                    yield "a proper client is not served"
                time.sleep(0.2)
            if not eventually(all_cut):
                yield f"of 60 slow connections these were cut: {was_cut}"
        finally:
            for client in slow:
                client.close()


def check_files():
    """At its start, the exporter reports a descriptor limit that is too low. Incomplete requests up to the limit do not
    block other clients."""
    refused = Server(wait=False)
    refused.argv = ["prlimit", "--nofile=512", *refused.argv]
    with refused as server:
        code = server.child.wait(tap.PATIENCE)
        needed = re.search(r"--max-connections 512 needs (\d+) file descriptors", server.text())
        if code != 1 or not needed:
            yield f"512 descriptors: exit {code}, {server.text().strip()}"
            return
    # Allow descriptors for 30 connections. The number of descriptors that the exporter needs besides connections
    # depends on the architecture, because each tracepoint needs a descriptor.
    limit = int(needed[1]) - 512 + 30
    fits = Server("--max-connections", "20", "--timeout", "60s")
    fits.argv = ["prlimit", f"--nofile={limit}", *fits.argv]
    with fits as server:
        slow = []
        try:
            slow_clients(server, slow, 200)
            statuses = [server.get("/metrics")[0] for _ in range(5)]
            if statuses != [200] * 5:
                yield f"{limit} descriptors, 200 half requests: {statuses}"
            if not server.metrics()['subtick_http_cut_total{reason="full"}']:
                yield "was never full: proves nothing"
        finally:
            for client in slow:
                client.close()


def memory_cgroup():
    """Creates a cgroup of the memory controller. Returns the directory of the cgroup, and the name
    of the cgroup file that sets the memory limit."""
    with open("/proc/self/cgroup", encoding="utf-8") as text:
        paths = dict(line.strip().split(":", 2)[1:] for line in text)
    for root, controller, name in (("/sys/fs/cgroup/memory", "memory", "memory.limit_in_bytes"),
                                   ("/sys/fs/cgroup", "", "memory.max")):
        for path in (paths.get(controller, "/"), "/"):
            parent = root + path.rstrip("/")
            new = os.path.join(parent, f"subtick-{os.getpid()}-memory")
            try:
                os.mkdir(new)
            except OSError:
                continue
            if os.access(os.path.join(new, name), os.W_OK):
                return new, name
            os.rmdir(new)
    raise tap.Skip("no memory controller to write to")


def check_memory():
    """If the memory limit is too low, the exporter exits with an error message instead of being OOM-killed."""
    new, name = memory_cgroup()
    try:
        with open(os.path.join(new, name), "w", encoding="utf-8") as limit:
            limit.write(str(48 * 2**20))
        for args, code in ((["--cgroup-limit", "10000"], 1), (["--collect", "load"], None)):
            server = Server(*args, wait=False)
            server.argv = ["sh", "-c", f'echo $$ >{new}/cgroup.procs && exec "$@"', "-", *server.argv]
            server.wait = code is None
            with server:
                if code and (server.child.wait(tap.PATIENCE) != code or "memory limit of the cgroup is 48 MiB" not in
                             server.text() or "--cgroup-limit 10000" not in server.text()):
                    yield f"exit {server.child.returncode}: {server.text().strip()}"
    finally:
        remove_cgroup(new)
    for args in ([], ["--cgroup-limit", "5000"]):
        with Server(*args) as server:
            said = re.search(r"memory: up to (\d+) MiB for BPF maps", server.text())
            real = server.metrics()["subtick_bpf_map_bytes"] / 2**20
            if not said or not 0.95 * real - 1 < float(said[1]) < 1.05 * real + 1:
                yield f"{args}: says {said and said[0]}, the maps have {real:.1f} MiB"


def check_no_room():
    """If all collectors would use more than half of the memory, the exporter disables noise and reports the reason."""
    args = ("--cgroup-limit", "12000")
    with Server(*args) as server:
        needs = sum(map(int, re.search(r"up to (\d+) MiB for BPF maps, (\d+) MiB", server.text()).groups()))
    new, name = memory_cgroup()
    try:
        with open(os.path.join(new, name), "w", encoding="utf-8") as limit:
            limit.write(str(int(1.4 * needs) * 2**20))
        server = Server(*args)
        server.argv = ["sh", "-c", f'echo $$ >{new}/cgroup.procs && exec "$@"', "-", *server.argv]
        with server:
            up = {key: value for key, value in server.metrics().items() if key.startswith("subtick_collector_up{")}
            if sorted(up.values()) != [0, 1, 1, 1] or up['subtick_collector_up{collector="noise"}']:
                yield f"{up}"
            status, _, body = server.get("/api/v1/noise")
            if status != 503 or b"memory" not in body or "noise is not collected: " not in server.text():
                yield f"noise: {status} {body!r}, log: {server.text()}"
            if b"degraded" not in server.get("/readyz")[2]:
                yield f"ready: {server.get('/readyz')[2]!r}"
    finally:
        remove_cgroup(new)


def check_late_client():
    """The exporter serves a client that waits between connect and request, even at the connection limit."""
    with Server("--timeout", "1s", "--max-connections", "5") as server:
        late, slow = server.dial(), []
        try:
            begin = time.time()
            while time.time() - begin < 3:
                slow_clients(server, slow, 40)
                drip(slow)
                time.sleep(0.1)
            late.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = late.recv(20)
            if not answer.startswith(b"HTTP/1.1 200"):
                yield f"asks 3 s after connecting and gets {answer!r}"
            cut = server.metrics()['subtick_http_cut_total{reason="full"}']
            if not cut:
                yield "was never full: proves nothing"
        finally:
            for client in [late, *slow]:
                client.close()


def check_pipelined():
    """The exporter answers all pipelined requests, even if the requests do not fit into the exporter's buffer."""
    number, answers = 2000, b""
    with Server("--collect", "load") as server:
        with server.dial(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * number) as client:
            # Count the bodies of responses, because the last header can arrive before its body.
            while answers.count(b"ok\n") < number:
                more = client.recv(2**16)
                if not more:
                    break
                answers += more
        if answers.count(b"ok\n") != number or answers.count(b"HTTP/1.1 200") != number:
            yield f"{answers.count(b'ok')} of {number} answers"


def check_talkers():
    """A client that keeps sending after its request does not increase the memory of the exporter."""
    with Server() as server:
        before = resident(server.child.pid)
        with server.dial(STREAM) as client:
            client.recv(100)
            client.settimeout(0.5)
            sent = 0
            with contextlib.suppress(OSError):
                while sent < 2**28:
                    sent += client.send(b"x" * 2**20)
            grown = resident(server.child.pid) - before
        if grown > 2**24:
            yield f"{sent} bytes after the request: {grown} bytes more"
        if server.get("/metrics")[0] != 200:
            yield "does not answer any more"


def check_never_read():
    """Opens the maximum number of event streams with clients that never read. A new stream replaces
    one of the open streams. After the time of option --timeout, the exporter closes and counts all
    unread streams."""
    stalled = 'subtick_http_cut_total{reason="stalled"}'
    with Server("--timeout", "8s") as server:
        reader, others = server.dial(STREAM, 4096), []
        try:
            over = []

            def read():
                with contextlib.suppress(OSError):
                    while reader.recv(65536):
                        pass
                over.append(True)

            thread = threading.Thread(target=read)
            thread.start()

            def one_more():
                others.append(server.dial(STREAM, 4096))
                return others[-1].recv(12) == b"HTTP/1.1 200"

            others.extend(server.dial(STREAM, 4096) for _ in range(63))
            if not eventually(one_more):
                yield "64 streams that nobody reads keep the next one out"
            # To accept a stream beyond the 64 open streams, the exporter must close at least one
            # unread stream, but fewer than half of the streams. After the time of option --timeout,
            # the exporter closes all unread streams.
            if not 1 <= server.metrics()[stalled] < 32:
                yield f"{server.metrics()[stalled]} of them gave way"
            if not eventually(lambda: server.metrics()[stalled] >= 63):
                yield f"{server.metrics()[stalled]} of 63 streams without a reader were cut"
            if over:
                yield "the one that reads was cut"
        finally:
            for client in [reader, *others]:
                with contextlib.suppress(OSError):
                    client.shutdown(socket.SHUT_RDWR)
                client.close()
            thread.join(10)


@contextlib.contextmanager
def long_cgroups(number):
    """Creates cgroups with long names, so that a scrape has several megabytes. Removes the cgroups
    at the end of the with statement."""
    top = os.path.join(os.fsdecode(cgroup_root()), f"subtick-{os.getpid()}-long")
    made = [os.path.join(top, f"{i:05}" + "x" * 220) for i in range(number)]
    walker = "import os, sys, time\nfor line in sys.stdin:\n with open(line.strip(), 'w') as procs: " \
             "procs.write(str(os.getpid()))\n time.sleep(.0001)\n"
    try:
        os.mkdir(top)
        for path in made:
            os.mkdir(path)
        yield lambda: subprocess.run([sys.executable, "-c", walker], text=True, check=True,
                                     input="".join(f"{path}/cgroup.procs\n" for path in made))
    finally:
        for path in [*made, top]:
            with contextlib.suppress(FileNotFoundError):
                remove_cgroup(path)


def check_drip_readers():
    """Clients that read their response slowly use memory of the exporter, but do not block other clients."""
    readers = []
    with long_cgroups(900) as walk, Server("--collect", "runq", "--interval", "100ms", "--timeout", "60s") as server:
        walk()
        if not eventually(lambda: len(server.get("/metrics")[2]) > 2**22):
            raise RuntimeError("no series of the cgroups")
        size, held = len(server.get("/metrics")[2]), 0
        try:
            # Send requests whose responses need more than twice the exporter's memory limit. To
            # stay within its memory limit, the exporter must close the connections of clients that
            # connected early.
            while held < 2**28:
                readers.append(server.dial(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 4096))
                held += size
                for reader in readers:
                    with contextlib.suppress(OSError):
                        reader.recv(100, socket.MSG_DONTWAIT)
                time.sleep(0.15)  # wait for the next window
            # A client has 250 ms to read its response before the exporter may close the connection
            # for another client. After a preemption the exporter answers all clients at once, so
            # wait for one response, and then for more than 250 ms.
            server.get("/metrics", {"Accept-Encoding": "gzip"})
            time.sleep(0.5)
            answers = [server.get("/metrics", {"Accept-Encoding": "gzip"}) for _ in range(5)]
            statuses = [answer[0] for answer in answers]
            if statuses != [200] * 5:
                yield f"{statuses}: {len(readers)} slow readers of {size} bytes each keep others out"
            # Accept a compressed page. The exporter may reject a request for an uncompressed page of 4 MB while memory
            # is in use.
            elif parse(gzip.decompress(answers[-1][2]).decode())['subtick_http_cut_total{reason="stalled"}'] < 1:
                yield f"{held} bytes are held and nobody was cut"
        finally:
            for reader in readers:
                reader.close()


# ---- the load test -------------------------------------------------------------------------------

def scraper(server, stop, results):
    while not stop.is_set():
        begin, wrong = time.time(), None
        try:
            status, _, body = server.get("/metrics", {"Accept-Encoding": "gzip"})
            if status != 200 or len(gzip.decompress(body)) < 1000:
                wrong = f"status {status}, {len(body)} bytes"
        except (OSError, http.client.HTTPException) as error:
            wrong = repr(error)
        results.append((time.time() - begin, wrong))
        stop.wait(0.5)


def check_load():
    """With 50 scrapers and 1,000 slow clients, the exporter answers all scrapers, uses no additional memory, and misses
    no window."""
    # Exclude runq, whose memory grows with new cgroups of other processes. The exporter `quiet` has
    # no clients: `quiet` counts the windows that are possible on this machine without clients.
    what = ("--collect", "load,wake", "--interval", "1s")
    with Server(*what) as quiet, Server(*what, "--timeout", "5s", "--max-connections", "300") as server:
        stop, results, slow = threading.Event(), [], []
        descriptors = f"/proc/{server.child.pid}/fd"
        before_fds = len(os.listdir(descriptors)) if os.access(descriptors, os.R_OK) else None
        threads = [threading.Thread(target=scraper, args=(server, stop, results)) for _ in range(50)]
        updates = 'subtick_collector_updates_total{collector="load"}'
        begin, first, other = time.time(), server.metrics()[updates], quiet.metrics()[updates]
        for thread in threads:
            thread.start()
        rest = peak = resident(server.child.pid)
        try:
            while time.time() - begin < LOAD_SECONDS:
                slow_clients(server, slow, 1000)
                drip(slow)
                peak = max(peak, resident(server.child.pid))
                time.sleep(0.5)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
            for client in slow:
                client.close()
        windows, others = server.metrics()[updates] - first, quiet.metrics()[updates] - other
        failed = [wrong for _, wrong in results if wrong]
        longest = max(took for took, _ in results)
        print(f"# {len(results)} scrapes, {len(failed)} failed, longest {longest:.2f} s, "
              f"from {rest / 2**20:.1f} to {peak / 2**20:.1f} MiB, {windows:.0f} windows, {others:.0f} without clients")
        if failed:
            yield f"{len(failed)} of {len(results)} scrapes failed: {sorted(set(failed))}"
        if windows < 0.95 * others - 1:
            yield f"{windows} windows, where one without clients has {others}"
        if before_fds is not None and not eventually(lambda: len(os.listdir(descriptors)) <= before_fds + 5):
            yield f"{before_fds} descriptors before, {len(os.listdir(descriptors))} after"
        if peak - rest > 16 * 2**20:
            yield f"{rest} bytes resident at rest, up to {peak} under load"
