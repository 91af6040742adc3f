# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page in protobuf, decoded without our encoder, has the samples of the page in text, and every wait."""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, ".."))
import promproto  # noqa: E402
import tap  # noqa: E402
from exporter import parse  # noqa: E402


def page(name):
    with open(os.path.join(HERE, name), "rb") as file:
        return file.read()


def check_samples():
    text = page("metrics.prom").decode()
    families = promproto.decode(page("metrics.protobuf"))
    found, expected = promproto.flat(families), parse(text)
    for key in expected.keys() | found.keys():
        # float() of the text is the nearest double, as ours is.
        if expected.get(key) != found.get(key):
            yield f"{key}: {found.get(key)}, in text {expected.get(key)}"
    heads = re.findall(r"^# HELP (\S+) (.*)\n# TYPE \1 (\w+)$", text, re.M)
    if heads != [(each["name"], each["help"], each["type"]) for each in families]:
        yield "names, help texts or types differ"


def check_native():
    """As many waits as the count, in buckets whose edges fit to where the classic buckets have them."""
    seen = 0
    for each in promproto.decode(page("metrics.protobuf")):
        for labels, value in each["metrics"]:
            if each["name"] != "subtick_runqueue_latency_seconds":
                continue
            native = value["native"]
            seen += 1
            if native["zero"] + sum(native["buckets"].values()) != value["count"]:
                yield f"{labels}: {native} has not {value['count']} waits"
            # 2^0, 2^2, … 2^30 ns, each as often as windows were added: all in the bucket above its own value.
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
    tap.main([("the page in protobuf has the samples of the page in text", check_samples),
              ("native histograms have every wait, where it belongs", check_native)])
