# SPDX-License-Identifier: LGPL-2.1-or-later
"""Decodes the /metrics pages in OpenMetrics and protobuf without code of the exporter, and compares them with the page
in text format."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, ".."))
import promproto  # noqa: E402
import tap  # noqa: E402
from exporter import parse  # noqa: E402


HEADS = re.compile(r"^# HELP (\S+) (.*)\n# TYPE \1 (\w+)$", re.M)


def page(form):
    return subprocess.run([sys.argv[1], HERE, form], stdout=subprocess.PIPE, check=True).stdout


def text():
    with open(os.path.join(HERE, "metrics.prom"), encoding="utf-8", newline="") as file:
        return file.read()


def differences(found):
    expected = parse(text())
    for key in expected.keys() | found.keys():
        # float() returns the nearest double, as the exporter's encoder does.
        if expected.get(key) != found.get(key):
            yield f"{key}: {found.get(key)}, in text {expected.get(key)}"


def check_protobuf():
    families = promproto.decode(page("protobuf"))
    yield from differences(promproto.flat(families))
    if HEADS.findall(text()) != [(each["name"], each["help"], each["type"]) for each in families]:
        yield "names, help texts or types differ"


def check_openmetrics():
    """Checks the family names of OpenMetrics: counters have no _total, info metrics have no _info,
    and each name ends with its unit. "# EOF" ends the page.

    Bucket boundaries of histograms are floats in OpenMetrics: le="1.0", not le="1".
    """
    found = page("openmetrics").decode()
    if re.search(r'le="\d+"', found):
        yield "a boundary is no float"
    yield from differences(parse(re.sub(r'(le="\d+)\.0"', r'\1"', found)))
    heads = re.findall(r"^# TYPE (\S+) (\w+)\n(?:# UNIT \1 (\w+)\n)?# HELP \1 (.*)$", found, re.M)
    expected = []
    for name, about, kind in HEADS.findall(text()):
        if kind == "counter":
            name = name.removesuffix("_total")
        elif name.endswith("_info"):
            name, kind = name.removesuffix("_info"), "info"
        expected.append((name, kind, about))
    if expected != [(name, kind, about) for name, kind, _unit, about in heads]:
        yield "names, help texts or types differ"
    yield from (f"{name}: unit {unit}" for name, _, unit, _ in heads if unit and not name.endswith(f"_{unit}"))
    if not any(unit for _, _, unit, _ in heads):
        yield "no unit"
    if not found.endswith("\n# EOF\n") or found.count("# EOF") != 1:
        yield "# EOF is not the last line"


def check_native():
    """Checks that native buckets sum to the count, and that their boundaries are consistent with the classic buckets.
    """
    seen = 0
    for each in promproto.decode(page("protobuf")):
        for labels, value in each["metrics"]:
            if each["name"] != "subtick_runqueue_latency_seconds":
                continue
            native = value["native"]
            seen += 1
            if native["zero"] + sum(native["buckets"].values()) != value["count"]:
                yield f"{labels}: {native} has not {value['count']} waits"
            # The windows that metrics.c makes have waits of 2^0, 2^2, … 2^30 ns. Each window has
            # one wait of each length per cgroup. A wait of 2^n ns is in the fine bucket that begins
            # at 2^n ns.
            times = value["count"] // 16
            for i in range(16):
                at = 4 ** i / 1e9
                inside = sum(nr for index, nr in native["buckets"].items()
                             if 2 ** ((index - 1) / 8) < at * 1.016 and at < 2 ** (index / 8) * 1.016)
                if at > native["threshold"] and inside < times:
                    yield f"{labels}: no {times} waits near {at} s: {native}"
    if seen != 3:
        yield f"{seen} histograms"


if __name__ == "__main__":
    tap.main([("the page in OpenMetrics has the samples of the page in text", check_openmetrics),
              ("the page in protobuf has the samples of the page in text", check_protobuf),
              ("native histograms have every wait, where it belongs", check_native)])
