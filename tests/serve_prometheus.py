# SPDX-License-Identifier: LGPL-2.1-or-later
"""A real Prometheus scrapes three exporters; compares its rates and quantiles with the CLI's JSON."""
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import tap
from exporter import SUBTICK, Server, cgroup_root, free_port, remove_cgroup

NODES = 3
TOLERANCE = 0.02
PERIOD = 0.01  # s, of the generators below


def ip(*args):
    subprocess.run(["ip", *args], check=True, capture_output=True)


@contextlib.contextmanager
def namespaces():
    """Three network namespaces, each one hop away; always removed."""
    made = []
    tag = f"st{os.getpid() % 10000}"
    try:
        for i in range(NODES):
            name, outer, inner = f"{tag}n{i}", f"{tag}a{i}", f"{tag}b{i}"
            try:
                ip("netns", "add", name)
                made.append((name, outer))
                ip("link", "add", outer, "type", "veth", "peer", inner, "netns", name)
            except subprocess.CalledProcessError as why:
                said = why.stderr.decode().strip()
                if re.search("not permitted|not supported|denied|Unknown device type", said):
                    raise tap.Skip(f"no network namespaces here: {said}") from why
                raise RuntimeError(said) from why
            ip("addr", "add", f"198.18.{i}.1/24", "dev", outer)
            ip("link", "set", outer, "up")
            ip("-n", name, "addr", "add", f"198.18.{i}.2/24", "dev", inner)
            ip("-n", name, "link", "set", inner, "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield [name for name, _ in made]
    finally:
        for name, outer in made:
            # Itself, not with its namespace: the kernel takes its time over those.
            subprocess.run(["ip", "link", "del", outer], check=False, capture_output=True)
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


@contextlib.contextmanager
def prometheus(targets):
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/prometheus.yml", "w", encoding="utf-8") as file:
            json.dump({"global": {"scrape_interval": "500ms", "scrape_timeout": "500ms"},
                       "scrape_configs": [{"job_name": "subtick",
                                           "static_configs": [{"targets": targets}]}]}, file)
        child = subprocess.Popen(["prometheus", f"--config.file={folder}/prometheus.yml",
                                  f"--storage.tsdb.path={folder}/data", "--log.level=error",
                                  f"--web.listen-address=127.0.0.1:{port}"])
        try:
            yield lambda query, at=None: ask(port, query, at or time.time())
        finally:
            child.terminate()
            child.wait()


def ask(port, query, at):
    """An instant query; values by instance and cpu."""
    url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": query, "time": at})
    with urllib.request.urlopen(url, timeout=30) as answer:
        found = json.load(answer)["data"]["result"]
    return {(row["metric"].get("instance"), row["metric"].get("cpu")): float(row["value"][1]) for row in found}


@contextlib.contextmanager
def fleet(*args):
    """Three exporters and the Prometheus that scrapes them; yields a function that queries it."""
    if os.geteuid():
        raise tap.Skip("needs root, to make network namespaces")
    with contextlib.ExitStack() as stack:
        for i, name in enumerate(stack.enter_context(namespaces())):
            stack.enter_context(Server(*args, netns=name, host=f"198.18.{i}.2"))
        yield stack.enter_context(prometheus([f"198.18.{i}.2:7828" for i in range(NODES)]))


def wait_scraped(query, collector, after):
    """Waits until every exporter has been scraped with a window that ended later than that."""
    updated = f'subtick_collector_last_update_seconds{{collector="{collector}"}}'
    deadline = time.time() + 30
    while True:
        found = []
        with contextlib.suppress(OSError):  # not listening yet
            found = query(updated).values()
        if len(found) == NODES and min(found) > after:
            return
        if time.time() > deadline:
            raise RuntimeError(f"{len(found)} of {NODES} exporters scraped after 30 s")
        time.sleep(0.1)


@contextlib.contextmanager
def python(code, *args):
    child = subprocess.Popen([sys.executable, "-c", code, *map(str, args)], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


# ---- rates ---------------------------------------------------------------------------------------

BURNER = """if True:
    import os, sys, time
    os.sched_setaffinity(0, {int(sys.argv[1])})
    at = time.monotonic()
    while True:
        at += 0.01
        while time.monotonic() < at - 0.005: pass
        time.sleep(max(0, at - time.monotonic()))
"""


class Windows:
    """Windows of the CLI, so short that any longer window is a sum of them."""
    SECONDS = 0.02

    def __init__(self, text):
        self.rows = []  # begin, end, busy by cpu
        for line in text.splitlines():
            window = json.loads(line)
            end = window["time_unix_ns"] / 1e9
            self.rows.append((end - window["window_ns"] / 1e9, end,
                              {str(cpu["cpu"]): cpu["busy_ratio"] for cpu in window["cpus"]}))

    def covers(self, begin, end):
        return self.rows[0][0] <= begin and end <= self.rows[-1][1]

    def busy(self, cpu, begin, end):
        """The error: it is unknown where in the first and the last window the core was busy."""
        total = 0.0
        for left, right, busy in self.rows:
            total += max(0, min(right, end) - max(left, begin)) * busy[cpu]
        return total / (end - begin)


@contextlib.contextmanager
def cli_windows():
    """Runs the CLI during the block; afterwards the list has its windows."""
    got = []
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen([SUBTICK, "load", "--json", str(Windows.SECONDS)], stdout=out)
        try:
            yield got
        finally:
            child.terminate()
            child.wait()
        out.seek(0)
        # The line it was at when told to end may be short.
        got.append(Windows(out.read().rpartition("\n")[0]))


def check_rates():
    """
    Both windows are known to the microsecond: rate() takes the first and the last sample of its range, and what the
    exporter says of its last update at these two is the window. Dividing by the rate of all contexts takes out how far
    rate() extrapolates.
    """
    seconds = 12
    family = "subtick_cpu_seconds_total"
    with contextlib.ExitStack() as stack:
        for cpu in os.sched_getaffinity(0):
            stack.enter_context(python(BURNER, cpu))
        query = stack.enter_context(fleet("--collect", "load"))
        wait_scraped(query, "load", time.time())
        with cli_windows() as windows:
            wait_scraped(query, "load", time.time() + 1)
            wait_scraped(query, "load", time.time() + seconds)
            now = time.time()
            time.sleep(0.5)
        windows, over = windows[0], f"[{seconds}s]"
        updated = f'subtick_collector_last_update_seconds{{collector="load"}}{over}'
        begin, end = query(f"min_over_time({updated})", now), query(f"max_over_time({updated})", now)
        shares = query(f"sum by (instance, cpu) (rate({family}{{context!~'idle|poll_idle|steal|unknown'}}{over}))"
                       f"/ sum by (instance, cpu) (rate({family}{over}))", now)
        if len(begin) != NODES or len(shares) != NODES * len(windows.rows[0][2]):
            yield f"{len(shares)} series of {len(begin)} exporters, {NODES} per core expected"
        for (instance, cpu), share in sorted(shares.items()):
            begun, ended = begin[instance, None], end[instance, None]
            if not windows.covers(begun, ended) or ended - begun < seconds / 2:
                yield f"{instance}: scraped from {begun} to {ended}, the CLI has {windows.rows[0][0]} on"
                continue
            truth = windows.busy(cpu, begun, ended)
            print(f"# {instance} cpu {cpu}, {ended - begun:.3f} s: {share:.5f}, CLI {truth:.5f}")
            if abs(share - truth) > TOLERANCE * truth:
                yield f"{instance} cpu {cpu}: {share:.4f}, CLI {truth:.4f}"


# ---- quantiles -----------------------------------------------------------------------------------

# Bucket ends of the CLI's own histogram, 32 to an octave: both sides then interpolate in the same buckets.
OCTAVE = 21
EDGES = [((32 + i) << (OCTAVE - 5)) - 1 for i in range(1, 33)]

# For as many periods as each line says: one burns 4 ms of each, the other wakes up meanwhile and waits for its end,
# mostly for 2.6 to 3.4 ms, each twentieth time for some 3.8 ms. In a class where nobody else's load matters, if it may.
WAITER = """if True:
    import os, sys, time
    cpu, hog = int(sys.argv[1]), sys.argv[2] == "hog"
    os.sched_setaffinity(0, {cpu})
    try: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(20 if hog else 10))
    except OSError: pass
    print(flush=True)
    for line in sys.stdin:
        period, count = float(line.split()[0]), int(line.split()[1])
        at = (int(time.monotonic() / period) + 2) * period
        for i in range(count):
            wake = 0 if hog else 0.0002 if i % 20 == 0 else 0.0006 + 0.0008 * (i * 7 % 19) / 19
            time.sleep(max(0, at + wake - time.monotonic()))
            while hog and time.monotonic() < at + 0.004: pass
            at += period
        print(flush=True)
"""


def burst(children, seconds):
    for child in children:
        child.stdin.write(f"{PERIOD} {int(seconds / PERIOD)}\n")
        child.stdin.flush()
    for child in children:
        child.stdout.readline()


@contextlib.contextmanager
def waiters(name):
    """A process in its own cgroup and one that it has to wait for; both wait for a command."""
    path = os.path.join(cgroup_root(), os.fsencode(name))
    os.mkdir(path)
    try:
        cpu = max(os.sched_getaffinity(0))
        with python(WAITER, cpu, "hog") as hog, python(WAITER, cpu, "victim") as victim:
            with contextlib.suppress(OSError), open(path + b"/cpu.rt_runtime_us", "w", encoding="utf-8") as runtime:
                runtime.write("100000")
            victim.stdout.readline()
            hog.stdout.readline()
            with open(path + b"/cgroup.procs", "w", encoding="utf-8") as procs:
                procs.write(str(victim.pid))
            yield hog, victim
    finally:
        remove_cgroup(path)


def measured_burst(children, seconds):
    """The CLI's window that contains the whole burst and nothing else of that cgroup; None if it does not."""
    le = ",".join(f"{edge}ns" for edge in EDGES)
    child = subprocess.Popen([SUBTICK, "runq", "--json", "--le", le, str(seconds * 1.7), "2"], stdout=subprocess.PIPE)
    try:
        child.stdout.readline()
        begin = time.time()
        burst(children, seconds)
        end = time.time()
        window = json.loads(child.stdout.readline())
    finally:
        child.terminate()
        child.communicate()
    ended = window["time_unix_ns"] / 1e9
    return window if ended - window["window_ns"] / 1e9 <= begin and end <= ended else None


def compare_quantiles(query, name, children):
    """One try: findings, or None if other work disturbed the waits."""
    burst(children, 1)
    wait_scraped(query, "runq", time.time())
    since = time.time()
    window = measured_burst(children, 2.5)
    wait_scraped(query, "runq", time.time())
    group = [row for row in window["groups"] if row["cgroup"] == name] if window else []
    if not group or not all(EDGES[0] < group[0][key] < EDGES[-1] for key in ("p50_ns", "p99_ns")):
        print(f"# another try: {group or 'the burst was not in one window'}")
        return None
    now = time.time()
    family, over = "subtick_runqueue_latency_seconds", f'{{cgroup="{name}"}}[{int((now - since) * 1000)}ms]'
    count = f"{family}_count{over}"
    found = {"count": query(f"max_over_time({count}) - min_over_time({count})", now)}
    for key, q in (("p50_ns", 0.5), ("p99_ns", 0.99)):
        found[key] = query(f"1e9 * histogram_quantile({q}, sum by (instance, le) (rate({family}_bucket{over})))", now)
    wrong = []
    for key, values in found.items():
        truth = group[0][key]
        print(f"# {key}: CLI {truth:.0f}, Prometheus", [round(value) for value in values.values()])
        if len(values) != NODES:
            wrong.append(f"{len(values)} series of {key}")
        wrong += [f"{instance} {key}: {value:.0f}, CLI {truth:.0f}" for (instance, _), value in values.items()
                  if not abs(value - truth) <= TOLERANCE * truth]
    return wrong


def check_quantiles():
    """Both see exactly the same waits: a burst in a cgroup that has no other waits."""
    name = f"subtick-{os.getpid()}-waits"
    le = ",".join(f"{edge}ns" for edge in EDGES)
    with fleet("--collect", "runq", "--le", le) as query, waiters(name) as children:
        wait_scraped(query, "runq", time.time())
        for _ in range(4):
            wrong = compare_quantiles(query, "/" + name, children)
            if wrong is not None:
                yield from wrong
                return
    raise tap.Skip("the machine is too busy for waits of a known size: see the tries above")
