# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that VictoriaMetrics scrapes the exporter, stores every sample, and accepts the Prometheus rules of this
repository."""
import contextlib
import json
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import tap
from exporter import Server, eventually, free_port
from promproto import sample

UPDATED = 'subtick_collector_last_update_seconds{collector="runq"}'
# Metrics about the exporter itself, which change with each scrape.
OWN = ("subtick_http_", "process_", "subtick_bpf_", "subtick_history_")
RULES = ("packaging/prometheus/subtick.rules.yml", "packaging/prometheus/subtick.alerts.yml")


def get(port, path, **query):
    url = f"http://127.0.0.1:{port}{path}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(url, timeout=tap.PATIENCE) as answer:
        return answer.read()


def listens(port):
    with contextlib.suppress(OSError):
        return bool(get(port, "/health"))
    return False


@contextlib.contextmanager
def victoria(target):
    """Starts VictoriaMetrics and yields its port."""
    if not shutil.which("victoria-metrics"):
        raise tap.Skip("victoria-metrics is not installed")
    port = free_port()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as log:
        with open(f"{folder}/scrape.yml", "w", encoding="utf-8") as file:
            json.dump({"scrape_configs": [{"job_name": "subtick", "scrape_interval": "500ms", "scrape_timeout": "500ms",
                                           "static_configs": [{"targets": [target]}]}]}, file)
        child = subprocess.Popen(["victoria-metrics", f"-storageDataPath={folder}/data",
                                  f"-httpListenAddr=127.0.0.1:{port}", f"-promscrape.config={folder}/scrape.yml", "-search.latencyOffset=1s",
                                  "-memory.allowedBytes=64MiB", "-loggerLevel=ERROR"], stderr=log, stdout=log)
        try:
            if not eventually(lambda: listens(port)):
                raise RuntimeError("VictoriaMetrics does not listen")
            yield port
        finally:
            child.terminate()
            child.wait()
            log.seek(0)
            for line in log.read().splitlines()[:10]:
                print("#", line)


def stored(port):
    """Returns the samples of each scrape, by the names and labels of the text format."""
    # Flush VictoriaMetrics, because an unflushed VictoriaMetrics finds a new series only seconds
    # after the first sample of the series.
    get(port, "/internal/force_flush")
    scrapes = {}
    for line in get(port, "/api/v1/export", **{"match[]": '{job="subtick"}'}).splitlines():
        row = json.loads(line)
        labels = {key: value for key, value in row["metric"].items() if key not in ("__name__", "job", "instance")}
        key = sample(row["metric"]["__name__"], labels)
        for at, value in zip(row["timestamps"], row["values"]):
            scrapes.setdefault(at, {})[key] = value
    return scrapes


def plain(key):
    """Returns the key of a sample, with labels sorted by name."""
    name, _, labels = key.partition("{")
    return name, tuple(sorted(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)))


def check_samples():
    """VictoriaMetrics must store all samples of a window with their values."""
    with Server("--interval", "3s", "--native-histograms") as server:
        with victoria(f"{server.host}:{server.port}") as port:
            def same_window():
                exposed = server.metrics()
                return next(((exposed, at) for at, scrape in stored(port).items()
                             if abs(scrape.get(UPDATED, 0) - exposed.get(UPDATED, 0)) < 1e-6), None)

            both = eventually(same_window)
            if not both:
                yield "no scrape of a window that the test has scraped, too"
                return
            expected = {plain(key): value for key, value in both[0].items() if not key.startswith(OWN)}
            got = {}

            def found_all():
                """True if VictoriaMetrics has stored every expected sample of the scrape."""
                got.update({plain(key): value for key, value in stored(port)[both[1]].items()})
                return expected.keys() <= got.keys()

            eventually(found_all, 30)
            print(f"# {len(expected)} samples")
            if len(expected) < 100 or not any("runqueue_latency_seconds_bucket" in name for name, _ in expected):
                yield f"only {len(expected)} samples"
            for key, value in expected.items():
                # VictoriaMetrics stores about fifteen digits of a value.
                if key not in got or abs(got[key] - value) > 1e-12 * abs(value):
                    yield f"{key}: {got.get(key)}, exposed {value}"
            yield from check_query(port)
            yield from check_expressions(port)


def check_query(port):
    """Queries the busy share of a core with the documented query."""
    query = ('sum by (cpu) (rate(subtick_cpu_seconds_total{context!~"idle|poll_idle|steal|unknown"}[10s]))'
             " / sum by (cpu) (rate(subtick_cpu_seconds_total[10s]))")

    def shares():
        rows = json.loads(get(port, "/api/v1/query", query=query, time=time.time()))["data"]["result"]
        return [float(row["value"][1]) for row in rows]

    found = eventually(shares)
    if not found or not all(0 <= share <= 1 + 1e-9 for share in found):
        yield f"busy shares {found}"


def check_expressions(port):
    """Runs each expression of the Prometheus rules as a query, because vmalert accepts unknown functions."""
    import yaml

    for path in RULES:
        with open(path, encoding="utf-8") as file:
            rules = [rule for group in yaml.safe_load(file)["groups"] for rule in group["rules"]]
        for rule in rules:
            try:
                get(port, "/api/v1/query", query=rule["expr"])
            except urllib.error.HTTPError as error:
                yield f"{rule.get('record') or rule.get('alert')}: {error.read().decode()[:200]}"


def check_rules():
    if not shutil.which("vmalert"):
        raise tap.Skip("vmalert is not installed")
    for path in RULES:
        run = subprocess.run(["vmalert", "-dryRun", f"-rule={path}", "-loggerLevel=ERROR"], capture_output=True,
                             text=True, timeout=tap.PATIENCE, check=False)
        if run.returncode:
            yield f"{path}: {(run.stdout + run.stderr).strip()}"
