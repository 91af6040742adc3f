# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a real Prometheus that scrapes three exporters. Compares rates, quantiles and histograms of Prometheus with the
JSON output of the CLI."""
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

import promproto
import tap
from exporter import SUBTICK, Server, cgroup_root, free_port, remove_cgroup

RULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../packaging/prometheus/subtick.rules.yml")
NODES = 3
TOLERANCE = 0.02
PERIOD = 0.01  # period of the load generators in s


def ip(*args):
    subprocess.run(["ip", *args], check=True, capture_output=True)


@contextlib.contextmanager
def namespaces():
    """Creates three network namespaces, each connected to the current namespace by a veth link. The
    end of the with statement removes the three namespaces, also after an error."""
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
            # Delete the veth link explicitly, because the kernel removes a network namespace with a
            # delay.
            subprocess.run(["ip", "link", "del", outer], check=False, capture_output=True)
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def native_settings():
    """Returns the flags and scrape settings that enable native histograms in the installed
    Prometheus. Prometheus 3.8 added the scrape setting scrape_native_histograms. Prometheus 3.9
    ignores the older flag --enable-feature=native-histograms."""
    said = subprocess.run(["prometheus", "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"version (\d+)\.(\d+)", said.stdout + said.stderr)
    if tuple(map(int, found.groups())) >= (3, 8):
        return (), {"scrape_native_histograms": True}
    return ("--enable-feature=native-histograms",), {}


@contextlib.contextmanager
def prometheus(targets, native=False):
    port = free_port()
    flags, settings = native_settings() if native else ((), {})
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/prometheus.yml", "w", encoding="utf-8") as file:
            json.dump({"global": {"scrape_interval": "500ms", "scrape_timeout": "500ms", "evaluation_interval": "1s"},
                       "rule_files": [RULES],
                       "scrape_configs": [{"job_name": "subtick", **settings,
                                           "static_configs": [{"targets": targets}]}]}, file)
        child = subprocess.Popen(["prometheus", f"--config.file={folder}/prometheus.yml",
                                  f"--storage.tsdb.path={folder}/data", "--log.level=error",
                                  f"--web.listen-address=127.0.0.1:{port}", *flags])
        try:
            yield lambda query, at=None, value=number: ask(port, query, at or time.time(), value)
        finally:
            child.terminate()
            child.wait()


def number(row):
    return float(row["value"][1])


def ask(port, query, at, value):
    """Runs an instant query in Prometheus. Returns a dict from (instance, CPU) to the value of the
    series."""
    url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": query, "time": at})
    with urllib.request.urlopen(url, timeout=tap.PATIENCE) as answer:
        found = json.load(answer)["data"]["result"]
    return {(row["metric"].get("instance"), row["metric"].get("cpu")): value(row) for row in found}


@contextlib.contextmanager
def fleet(*args, each=((),) * NODES, native=False):
    """Starts three exporters and a Prometheus that scrapes them. Yields a query function."""
    if os.geteuid():
        raise tap.Skip("needs root, to make network namespaces")
    with contextlib.ExitStack() as stack:
        for i, name in enumerate(stack.enter_context(namespaces())):
            stack.enter_context(Server(*args, *each[i], netns=name, host=f"198.18.{i}.2"))
        yield stack.enter_context(prometheus([f"198.18.{i}.2:7828" for i in range(NODES)], native))


def wait_scraped(query, collector, after):
    """Waits until Prometheus has scraped, from every exporter, a window that ended after the given time."""
    updated = f'subtick_collector_last_update_seconds{{collector="{collector}"}}'
    deadline = time.time() + tap.PATIENCE
    while True:
        found = []
        with contextlib.suppress(OSError):  # the exporter is not listening yet
            found = query(updated).values()
        if len(found) == NODES and min(found) > after:
            return
        if time.time() > deadline:
            raise RuntimeError(f"{len(found)} of {NODES} exporters scraped after {tap.PATIENCE} s")
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
    """Windows of `subtick load`, each 20 ms long. busy() averages over several windows."""
    SECONDS = 0.02

    def __init__(self, text):
        self.rows = []  # start, end, busy share by CPU
        for line in text.splitlines():
            window = json.loads(line)
            end = window["time_unix_ns"] / 1e9
            self.rows.append((end - window["window_ns"] / 1e9, end,
                              {str(cpu["cpu"]): cpu["busy_ratio"] for cpu in window["cpus"]}))

    def covers(self, begin, end):
        return self.rows[0][0] <= begin and end <= self.rows[-1][1]

    def busy(self, cpu, begin, end):
        """Returns the busy share of a CPU from time @begin to time @end. The result is the mean of
        the windows, weighted by the part of each window that lies in this time."""
        total = 0.0
        for left, right, busy in self.rows:
            total += max(0, min(right, end) - max(left, begin)) * busy[cpu]
        return total / (end - begin)


@contextlib.contextmanager
def cli_windows():
    """Runs `subtick load` for the duration of a with statement. At the end of the with statement,
    the yielded list contains the windows of `subtick load`."""
    got = []
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen([SUBTICK, "load", "--json", str(Windows.SECONDS)], stdout=out)
        try:
            yield got
        finally:
            child.terminate()
            child.wait()
        out.seek(0)
        # The last line of the CLI's output may be incomplete, because the CLI was stopped.
        got.append(Windows(out.read().rpartition("\n")[0]))


def check_rates():
    """Compares rates of Prometheus with the CLI over the same time. The PromQL function rate() uses
    the first and the last sample of its range. The CLI's busy share is averaged between the times
    of the exporter's updates in these two samples. The query divides the rate of the busy contexts
    by the rate of all contexts (label `context`), which removes the extrapolation of rate()."""
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

# Bucket boundaries of the CLI's histogram, 32 per octave. The exporter gets the bucket boundaries
# of the CLI, so that Prometheus and the CLI interpolate in the same buckets.
OCTAVE = 21
EDGES = [((32 + i) << (OCTAVE - 5)) - 1 for i in range(1, 33)]

# Script of two tasks, the hog (a busy task) and the victim (a waiting task). Both tasks run for the
# number of periods in each input line. The hog is busy for the first 4 ms of each period. The
# victim wakes up while the hog is busy, and waits until the hog sleeps. Most waits of the victim
# take 2.6 to 3.4 ms, and every twentieth wait takes about 3.8 ms. If permitted, hog and victim use
# the scheduling class SCHED_FIFO, so that other load does not delay the hog or the victim.
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
    """Starts the victim in a separate cgroup, and the hog, which keeps the core busy while the
    victim waits. The hog (a busy task) and the victim block until a line arrives on their standard
    input."""
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
    """Returns the window of the CLI that contains the whole burst and no other waits of the cgroup, or None."""
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


def scraped_burst(query, name, children):
    """Returns the CLI's row for a burst of waits that Prometheus has scraped, the time before the
    burst, and the time after the burst. The row is None if other load disturbed the burst."""
    burst(children, 1)
    wait_scraped(query, "runq", time.time())
    since = time.time()
    window = measured_burst(children, 2.5)
    wait_scraped(query, "runq", time.time())
    group = [row for row in window["groups"] if row["cgroup"] == name] if window else []
    if not group or not all(EDGES[0] < group[0][key] < EDGES[-1] for key in ("p50_ns", "p99_ns")):
        print(f"# another try: {group or 'the burst was not in one window'}")
        group = [None]
    return group[0], since, time.time()


def undisturbed(compare, query):
    """Repeats a burst of waits until other load does not disturb the burst, at most four times.
    Yields the differences between CLI and Prometheus that @compare finds in the undisturbed
    burst."""
    name = f"subtick-{os.getpid()}-waits"
    with waiters(name) as children:
        wait_scraped(query, "runq", time.time())
        for _ in range(4):
            group, since, now = scraped_burst(query, "/" + name, children)
            if group:
                yield from compare(query, group, since, now)
                return
    raise tap.Skip("the machine is too busy for waits of a known size: see the tries above")


def compare_quantiles(query, group, since, now):
    name = group["cgroup"]
    family, over = "subtick_runqueue_latency_seconds", f'{{cgroup="{name}"}}[{int((now - since) * 1000)}ms]'
    count = f"{family}_count{over}"
    found = {"count": query(f"max_over_time({count}) - min_over_time({count})", now)}
    for key, q in (("p50_ns", 0.5), ("p99_ns", 0.99)):
        found[key] = query(f"1e9 * histogram_quantile({q}, sum by (instance, le) (rate({family}_bucket{over})))", now)
    for key, values in found.items():
        truth = group[key]
        print(f"# {key}: CLI {truth:.0f}, Prometheus", [round(value) for value in values.values()])
        if len(values) != NODES:
            yield f"{len(values)} series of {key}"
        for (instance, _), value in values.items():
            if not abs(value - truth) <= TOLERANCE * truth:
                yield f"{instance} {key}: {value:.0f}, CLI {truth:.0f}"


def check_quantiles():
    """Exporter and CLI must count exactly the same waits of a burst, in a cgroup without other waits."""
    le = ",".join(f"{edge}ns" for edge in EDGES)
    with fleet("--collect", "runq", "--le", le) as query:
        yield from undisturbed(compare_quantiles, query)


# ---- native histograms ---------------------------------------------------------------------------

FAMILY = "subtick_runqueue_latency_seconds"
PROTOBUF = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
# Settings of each exporter, number of series per cgroup, and relative width of a histogram bucket.
NATIVE = {
    "198.18.0.2:7828": (("--native-histograms", "--fine"), 1, 2 ** (1 / 8) * 1.016),
    "198.18.1.2:7828": (("--native-histograms",), 1, 2),
    "198.18.2.2:7828": (("--le", ",".join(f"{edge}ns" for edge in EDGES)), len(EDGES) + 3, 1 + TOLERANCE),
}


def exposed(instance, cgroup):
    """Returns the current histogram of a cgroup in the exporter, or None without a protobuf response."""
    request = urllib.request.Request(f"http://{instance}/metrics", headers={"Accept": PROTOBUF + ",text/plain;q=0.5"})
    with urllib.request.urlopen(request, timeout=tap.PATIENCE) as answer:
        kind, body = answer.headers["Content-Type"], answer.read()
    if not kind.startswith("application/vnd.google.protobuf"):
        return None
    rows = [row for family in promproto.decode(body) if family["name"] == FAMILY for row in family["metrics"]]
    return next(value for labels, value in rows if labels.get("cgroup") == cgroup)


def stored(row):
    """Returns the count, the sum and the buckets (by upper bound) of a native histogram in Prometheus."""
    found = row["histogram"][1]
    buckets = {float(upper): int(count) for _, _, upper, count in found.get("buckets", [])}
    return int(found["count"]), float(found["sum"]), buckets


def native_differences(instance, kept, exported):
    """Prometheus must store exactly the histogram of the exporter, which contains all waits."""
    (count, total, buckets), native = kept, exported["native"]
    sent = [(2 ** (index / 2 ** native["schema"]), value) for index, value in native["buckets"].items() if value]
    if native["zero"]:
        sent.insert(0, (native["threshold"], native["zero"]))
    if count != exported["count"] or abs(total - exported["sum"]) > 1e-12 * total:
        yield f"{instance}: {count} waits and {total} s, exposed {exported['count']} and {exported['sum']}"
    if sum(value for _, value in sent) != count:
        yield f"{instance}: {count} waits, in buckets {sent}"
    if len(buckets) != len(sent) or any(abs(edge / at - 1) > 1e-9 or value != nr for (edge, value), (at, nr)
                                        in zip(sorted(buckets.items()), sent)):
        yield f"{instance}: buckets {buckets}, exposed {sent}"


def compare_native(query, group, since, now):
    name = group["cgroup"]
    select, over = f'{{cgroup="{name}"}}', f"[{int((now - since) * 1000)}ms]"
    before, after = (query(FAMILY + select, at, stored) for at in (since, now))
    series = query(f'count by (instance) ({{__name__=~"{FAMILY}(_.*)?",cgroup="{name}"}})', now)
    counts = query(f"histogram_count({FAMILY}{select})", now)
    for instance, (_, nr, _) in NATIVE.items():
        if series.get((instance, None)) != nr:
            yield f"{instance}: {series.get((instance, None))} series, {nr} expected"
    for key in [(instance, None) for instance in NATIVE if NATIVE[instance][1] == 1]:
        native = exposed(key[0], name)
        if key not in after or key not in before or not native:
            yield f"{key[0]}: no native histogram"
            continue
        yield from native_differences(key[0], after[key], native)
        grown = after[key][0] - before[key][0]
        if grown != group["count"] or counts[key] != after[key][0]:
            yield f"{key[0]}: {grown} waits, CLI {group['count']}; histogram_count {counts[key]}"
    if exposed(list(NATIVE)[-1], name):
        yield "protobuf from an exporter without --native-histograms"
    for key, q in (("p50_ns", 0.5), ("p99_ns", 0.99)):
        classic = f"sum by (instance, le) (rate({FAMILY}_bucket{select}{over}))"
        found = query(f"1e9 * histogram_quantile({q}, rate({FAMILY}{select}{over}))", now)
        found |= query(f"1e9 * histogram_quantile({q}, {classic})", now)
        truth = group[key]
        print(f"# {key}: CLI {truth:.0f}, Prometheus", [round(value) for value in found.values()])
        for instance, (_, _, width) in NATIVE.items():
            value = found.get((instance, None), 0)
            if not truth / width <= value <= truth * width:
                yield f"{instance} {key}: {value:.0f}, CLI {truth:.0f}"


def check_native():
    """Compares fine, coarse and classic histograms of the same burst in one Prometheus with native histograms
    enabled."""
    each = [settings for settings, _, _ in NATIVE.values()]
    with fleet("--collect", "runq,wake", each=each, native=True) as query:
        yield from undisturbed(compare_native, query)
        # On a machine that is never idle there are no wake-ups from idle, and p99 is NaN.
        woken = query("histogram_count(sum by (instance) (rate(subtick_idle_wake_latency_seconds[5m])))")
        recorded = query("max by (instance) (instance_state:subtick_idle_wake_latency_seconds:p99_rate5m)")
        print(f"# native histograms of wake latency: {woken}, p99 recorded: {recorded}")
        if len(woken) != NODES - 1 or not set(woken) <= set(recorded):
            yield f"p99 of wake latency is recorded as {recorded}, wake-ups are {woken}"
        for rule in ("latency_seconds:p50_rate5m", "latency_seconds:p99_rate5m", "latency_seconds_sum:rate5m"):
            recorded = query(f"instance:subtick_runqueue_{rule}")
            if len(recorded) != NODES or not min(recorded.values()) > 0:
                yield f"the rule {rule} has recorded {recorded}"
