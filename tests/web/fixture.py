#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fake of `subtick serve` for tests: serves the page's files, made-up reports as JSON, and an event stream.

usage: fixture.py --web DIR [--traces DIR] [--cpus N] [--cgroups N] [--hostile] [--token T] [--losses] [--without NOUN]
Prints its port on 127.0.0.1, and exits at the end of its standard input."""
import argparse
import gzip
import http.server
import json
import math
import os
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, "lib/view/html")
import embed  # noqa: E402

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
CSP = ("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
       "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
HOSTILE = [
    "/<script>document.title='owned'</script>",
    "/<img src=x onerror=\"document.title='owned'\">",
    "/quotes\"'`><b>bold</b>",
    "/new\nline\r\ttab",
    "/" + "x" * 254,
    b"/bad\xff\xfe utf8".decode("utf-8", "replace"),
    "/\u202edesrever \u2066isolate\u2069 \u009b31m",
    "javascript:document.title='owned'",
    "",
    "__proto__",
]
LE = [10000, 20000, 50000, 100000, 200000, 500000, 1000000, 2000000, 5000000, 10000000, 100000000]


def wave(at, period, phase):
    return 0.5 + 0.5 * math.sin(2 * math.pi * at / period + phase)


def normal(z):
    return 0.5 * (1 + math.erf(z / math.sqrt(2)))


def load(options, at):
    cpus = []
    for cpu in range(options.cpus):
        task = 0.75 * wave(at, 12, cpu)
        parts = {"task": task, "hardirq": 0.03, "softirq_on_idle": 0.08 * wave(at, 5, cpu),
                 "softirq_on_task": 0.02, "ksoftirqd": 0.01, "idle_loop": 0.02, "steal": 0.0,
                 "unknown": 0.0, "poll_idle": 0.01}
        busy = sum(parts.values()) - parts["poll_idle"]
        offline = options.cpus > 4 and cpu == options.cpus - 1
        row = {"cpu": cpu, "online": not offline, "busy_ratio": None if offline else busy}
        row.update({f"{name}_ratio": None if offline else share for name, share in parts.items()})
        row.update({"idle_ratio": None if offline else 1 - sum(parts.values()), "closure_error_ratio": 0.0,
                    "flags": "", "compare": {"procstat_busy_ratio":
                                             None if offline else task * (0.4 if cpu % 3 else 1)}})
        cpus.append(row)
    quality = {"closure_error_max_ratio": 0.0, "steal_known": True,
               "torn_total": 3 if options.losses else 0, "odd_edges_total": 0}
    # wrong_ratio differs from subtick's threshold, to test that the page uses the threshold in the
    # report.
    half = options.cpus // 2
    cores = [{"package": 0, "core": cpu, "cpus": f"{cpu},{cpu + half}", "none_busy_ratio": 0.2, "one_busy_ratio": 0.3,
              "all_busy_ratio": 0.5, "closure_error_ratio": 0.0, "flags": ""} for cpu in range(half)]
    cgroups = [{"cgroup": name, "sibling_cgroup": "/batch", "run_ns": 500000000, "shared_ns": 360000000,
                "shared_ratio": 0.72} for name in names(options)[:8]]
    return {"source": "fixture", "wrong_ratio": 0.07, "cpus": cpus, "quality": quality, "cores": cores, "cgroups": cgroups,
            "notes": ["figures of a fixture", "<b>not</b> markup"],
            "findings": [{"rule": "procstat_low", "finding": "CPU 1 is 60.0 % busy", "lost_ns": 360000000,
                          "next": "subtick audit", "victim": None, "culprit": None, "cpu": 1}] if options.losses else []}


def names(options):
    hostile = HOSTILE if options.hostile else []
    return hostile + [f"/kubepods.slice/pod{number // 4}/container-{number}"
                      for number in range(options.cgroups - len(hostile))]


def runq(options, at):
    groups, blame, all_names = [], [], names(options)
    for number, name in enumerate(all_names):
        count = 1000 + number
        scale = 1 + 4 * wave(at, 20, number)
        le = [{"le_ns": edge, "count": min(count, int(count * (1 - math.exp(-edge / 2e5 / scale))))}
              for edge in LE] + [{"le_ns": None, "count": count}]
        total = int(count * 40000 * scale)
        groups.append({
            "cgroup": name, "cgroup_id": number, "count": count, "sum_ns": total,
            "avg_ns": total / count, "max_ns": 9e6 * scale, "p50_ns": 2000 * scale,
            "p90_ns": 20000 * scale, "p99_ns": 900000 * scale, "p999_ns": 4e6 * scale,
            "causes": {"idle_exit_ns": total // 10, "same_group_ns": total // 5,
                       "other_group_ns": total // 2, "kernel_thread_ns": total // 10,
                       "preempted_ns": total // 10, "throttled_ns": None, "migrated_ns": 0,
                       "unknown_ns": 0},
            "le": le})
        blame.append({"victim": name, "culprit": all_names[(number * 7 + 1) % len(all_names)],
                      "wait_ns": total // (1 + number), "count": 10})
        blame.append({"victim": name, "culprit": "(kernel threads)", "wait_ns": total // 10,
                      "count": 3})
    quality = {"schedstat_ratio": 0.999, "sample_ratio": 1.0,
               "table_full_total": 12 if options.losses else 0, "negative_total": 0}
    idle = [{"cgroup": all_names[number % len(all_names)], "index": 2, "name": "C6", "claimed_ns": 133000,
             "wait_ns": 1000000 * (30 - number), "count": 10, "avg_ns": 100000 * (30 - number)} for number in range(30)]
    pressure = [{"cgroup": name, "waiting_ns": 10000000 * (30 - number), "waiting_contention_ns": 2000000 * (30 - number),
                 "waiting_kernel_thread_ns": 0, "waiting_idle_exit_ns": 1000000 * (30 - number),
                 "waiting_quota_ns": 7000000 * (30 - number), "stalled_ns": 5000000 * (30 - number),
                 "psi_waiting_ns": None if number else 123000000}
                for number, name in enumerate(["/", *all_names[:29]])]
    return {"source": "sched_info", "hierarchy": "v2", "groups": groups, "blame": blame,
            "idle_states": idle, "pressure": pressure, "quality": quality,
            "notes": ["a latency limit of 132 us keeps cores out of it"],
            "findings": [{"rule": "quota", "finding": f"{all_names[0]} waits <i>640</i> ms per second",
                          "lost_ns": 640000000, "next": None, "victim": all_names[0], "culprit": None,
                          "cpu": None}] if options.losses else []}


def wake(options, at):
    states = []
    for cpu in range(options.cpus):
        for index, (name, claimed) in enumerate([("POLL", 0), ("C1", 2000), ("C6", 133000)]):
            middle = (claimed or 300) * (0.6 + 0.1 * wave(at, 9, cpu))
            le = [{"le_ns": 2 ** power - 1, "count": int(500 * normal(math.log2(2 ** power / middle) / 0.7))}
                  for power in range(7, 20)] + [{"le_ns": None, "count": 500}]
            states.append({
                "cpu": cpu, "source": "passive", "index": index, "name": name,
                "claimed_ns": claimed, "count": 500, "min_ns": middle * 0.7, "median_ns": middle,
                "mean_ns": middle * 1.1, "stddev_ns": middle * 0.2, "p99_ns": middle * 1.5,
                "p999_ns": None, "max_ns": middle * (2.5 if index == 2 else 1.6),
                "verdict": "exceeds" if index == 2 else "within" if index else "no-claim", "le": le})
    return {"source": "passive", "overhead_ns": 74, "uncertainty_ns": 44.0, "states": states,
            "rejected": {"before_idle_total": 4, "other_first_total": 13, "negative_total": 1},
            "quality": {}, "notes": ["fixture"]}


# Maximum number of cgroups per window and core in a report of noise.
HIT_GROUPS = 64


def noise(options, at):
    cores, sources = [], []
    for cpu in range(options.cpus):
        offline = options.cpus > 4 and cpu == options.cpus - 1
        parts = {"hardirq_ratio": 0.0004 * (1 + cpu), "softirqs_ratio": 0.0003, "kthread_ratio": 0.0002 * wave(at, 7, cpu)}
        row = {"cpu": cpu, "noise_ratio": sum(parts.values()), **parts, "tasks_ratio": 0.2, "idle_loop_ratio": 0.01,
               "poll_idle_ratio": 0.0, "idle_ratio": 0.7891, "unknown_ratio": 0.0, "steal_ratio": 0.0,
               "events_total": 500 + cpu, "events_hz": 500.4 + cpu, "max_ns": 12000 + 1000 * cpu,
               "closure_error_ratio": 0.0, "window_ns": 1000000000}
        cores.append({**row, **{key: None for key in row if offline and key != "cpu"}, "flags": "offline" if offline else ""})
        if offline:
            continue
        for kind, irq, name, took in (
                ("irq", 11, "arch_timer", 300000 + cpu), ("irq", 40, HOSTILE[0] if options.hostile else "nvme0q1", 1000),
                ("vector", None, "Function call interrupts", 100000), ("softirq", None, "TIMER", 290000),
                ("kthread", None, "kworker/0:1-events", 200000)):
            sources.append({"cpu": cpu, "kind": kind, "irq": irq, "name": name, "count": 100, "sum_ns": took,
                            "p99_ns": took / 20, "max_ns": took / 10, "time_ratio": took / 1e9,
                            "advice": "rcu_nocbs=, timer migration" if kind == "softirq" else None})
    hits = [{"cgroup": name, "cgroup_id": number, "hardirq_ns": 1000000 - number, "hardirq_total": 40,
             "softirqs_ns": 5000, "softirqs_total": 3, "kthread_ns": 7000, "kthread_total": 2, "max_ns": 9000,
             "comm": "<b>nginx</b>", "pid": 4711} for number, name in enumerate(names(options)[:HIT_GROUPS])]
    hits.append({"cgroup": "(idle)", "cgroup_id": None, "hardirq_ns": 1, "hardirq_total": 1, "softirqs_ns": 0,
                 "softirqs_total": 0, "kthread_ns": 0, "kthread_total": 0, "max_ns": 1, "comm": None, "pid": None})
    online = [core["cpu"] for core in cores if core["window_ns"]]
    delays = [{"cpu": cpu, "vec": vec, "count": 10, "sum_ns": took + cpu, "p99_ns": took / 5, "max_ns": took / 4}
              for cpu in online for vec, took in (("TIMER", 20000), ("NET_RX", 50000))]
    functions = [{"cpu": cpu, "function": name, "executions_total": 30, "work_ns": took + cpu, "work_max_ns": took / 10,
                  "delay_count": 30, "delay_sum_ns": 9 * took, "delay_p99_ns": took, "delay_max_ns": 2 * took}
                 for cpu in online for name, took in ((HOSTILE[0] if options.hostile else "vmstat_update", 40000),
                                                      ("blk_mq_run_work_fn", 90000))]
    return {"source": "bpf", "hierarchy": "v2", "cores": cores, "sources": sources, "hits": hits,
            "softirq_delays": delays, "work_functions": functions,
            "quality": {"closure_error_max_ratio": 0.0, "source_lost_total": 7 if options.losses else 0},
            "notes": ["NMIs are not reported by this kernel"]}


def doctor(_options, _at):
    return {"source": None,
            "checks": [{"check": "btf", "status": "ok", "detail": "kernel BTF is there", "fix": None},
                       {"check": "<b>pmu</b>", "status": "no", "detail": "no counters in this guest",
                        "fix": "perf stat -e cycles true"}],
            "commands": [{"command": "load", "status": "full", "detail": "source bpf", "fix": None},
                         {"command": "crit", "status": "part", "detail": "no module",
                          "fix": "modprobe tracerbench"}],
            "quality": {}, "notes": []}


NOUNS = {"load": load, "runq": runq, "wake": wake, "noise": noise, "doctor": doctor}
STREAMED = ("load", "runq", "wake", "noise")


def host(_options, _at):
    return {"hostname": "<b>web-7</b>", "kernel_release": "6.12.9",
            "boot_unix_ns": int((time.time() - 273900) * 1e9), "subtick_version": "0"}


# The exporter keeps no report of more than 20,000 cells (HISTORY_CELLS). In a report a cgroup has
# about 20 table cells, and a core with its interrupt sources has about 70 table cells.
KEPT_GROUPS = 1000


def collected(options):
    return [noun for noun in STREAMED if noun != options.without]


def past(options):
    """Returns windows of the last five minutes, one every ten seconds, in the format of the exporter's history."""
    now = time.time()
    kept = [noun for noun in collected(options) if noun not in ("runq", "noise") or options.cgroups <= KEPT_GROUPS]
    return b"".join(gzip.compress(body(noun, options, now - ago).encode(), mtime=0)
                    for ago in range(300, 5, -10) for noun in kept)


def files(options, query):
    """Returns windows of a requested time, in the format of the exporter's history files. Each gzip
    member has several windows of one collector."""
    begin, length = (float(query[name][0]) for name in ("at", "for"))
    if not options.files or begin + length > time.time() - 600:
        return b""
    return b"".join(gzip.compress("\n".join(body(noun, options, begin + block + at) for at in range(10)).encode(), mtime=0)
                    for block in range(0, int(length), 10) for noun in collected(options))


def traces(options, _at):
    """Returns the list of trace files, newest first. Without the option --traces the list of trace
    files is empty, and the answer has a note."""
    if not options.traces:
        return {"left_out_total": 0, "traces": [], "notes": ["this exporter shows no recordings"]}
    rows = [{"file": name, "written_unix_ns": os.stat(os.path.join(options.traces, name)).st_mtime_ns,
             "size_bytes": os.path.getsize(os.path.join(options.traces, name)), "detail": None}
            for name in os.listdir(options.traces)]
    return {"left_out_total": 3, "traces": sorted(rows, key=lambda row: -row["written_unix_ns"]), "notes": []}


NOUNS["host"] = host
NOUNS["traces"] = traces


def body(noun, options, now=None):
    now = now or time.time()
    report = {"schema": f"subtick.{noun}/1", "time_unix_ns": int(now * 1e9),
              "window_ns": 1000000000 if noun != "doctor" else None}
    report.update(NOUNS[noun](options, now))
    return json.dumps(report, separators=(",", ":"))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    options = None

    def log_message(self, *_):
        pass

    def answer(self, status, kind, data):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Security-Policy", CSP)
        self.send_header("X-Content-Type-Options", "nosniff")
        try:
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            pass  # the browser has closed the connection

    def do_GET(self):
        path = self.path.split("?")[0]
        if path.startswith("/api/v1/"):
            token = self.options.token
            if token and self.headers.get("Authorization") != f"Bearer {token}":
                self.answer(401, "text/plain", b"a token is needed")
                return
            noun = path[len("/api/v1/"):]
            if noun == "stream":
                self.stream()
            elif noun == "history":
                time.sleep(self.options.late)
                query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
                self.answer(200, "application/gzip", files(self.options, query) if query else past(self.options))
            elif noun == "report":
                self.answer(200, "text/html", self.path.encode())
            elif noun == self.options.without:
                self.answer(404, "text/plain", b"not collected; to collect it: subtick serve --collect load,runq,wake,noise")
            elif noun.startswith("traces/") and self.options.traces:
                name = urllib.parse.unquote(noun[len("traces/"):])
                with open(os.path.join(self.options.traces, os.path.basename(name)), "rb") as file:
                    self.answer(200, "application/octet-stream", file.read())
            elif noun in NOUNS:
                self.answer(200, "application/json", body(noun, self.options).encode())
            else:
                self.answer(404, "text/plain", b"no such report")
            return
        self.file(path)

    def file(self, path):
        name = "index.html" if path == "/" else path.lstrip("/")
        full = os.path.join(self.options.web, name)
        if name == "metrics.js":
            lists = ("lib/report/metric_list.h", "lib/report/metric_list_audit.h", "lib/base/losses.h")
            self.answer(200, TYPES[".js"], embed.metrics(*lists).encode())
            return
        if "/" not in name and os.path.isfile(full):
            with open(full, "rb") as file:
                kind = TYPES.get(os.path.splitext(name)[1], "text/plain; charset=utf-8")
                self.answer(200, kind, file.read())
            return
        self.answer(404, "text/plain", b"no such file")

    def stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            while True:
                for noun in collected(self.options):
                    self.wfile.write(f"event: {noun}\ndata: {body(noun, self.options)}\n\n".encode())
                self.wfile.flush()
                time.sleep(self.options.interval)
        except OSError:
            pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--web", required=True)
    parser.add_argument("--traces", default="", help="a folder of recordings")
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--cgroups", type=int, default=30)
    parser.add_argument("--interval", type=float, default=0.5)
    parser.add_argument("--late", type=float, default=0, help="seconds until the history is sent")
    parser.add_argument("--files", action="store_true", help="keep windows of any time")
    parser.add_argument("--hostile", action="store_true")
    parser.add_argument("--losses", action="store_true")
    parser.add_argument("--token", default="")
    parser.add_argument("--without", default="", help="a report that is not collected")
    Handler.options = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


main()
