#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the Python binding with the library of a build and prints TAP. Usage: LIBSUBTICK=build/libsubtick.so.1
tests/api/binding.py"""
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "../..")
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(TOP, "examples/python")]
import subtick  # noqa: E402
import tap  # noqa: E402

PROCIDLE = 5


def check_sizes():
    """The structs of the Python binding must have the offsets and sizes of the structs in the C headers."""
    names = {"load": subtick.LoadOptions, "noise": subtick.NoiseOptions, "runq": subtick.RunqOptions}
    lines = [f'#include <stdio.h>\n#include <stddef.h>\n{"".join(f"#include <subtick/{name}.h>" + chr(10) for name in names)}',
             "int main(void) {"]
    want = []
    for name, options in names.items():
        for field, _ in options._fields_:
            lines.append(f'printf("%zu\\n", offsetof(struct subtick_{name}_opts, {field}));')
            want.append(getattr(options, field).offset)
        lines.append(f'printf("%zu\\n", sizeof(struct subtick_{name}_opts));')
        want.append(subtick.ctypes.sizeof(options))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cc", "-x", "c", "-I", os.path.join(TOP, "include"), "-", "-o", f"{folder}/sizes"],
                       input="\n".join([*lines, "return 0; }"]), text=True, check=True)
        got = subprocess.check_output([f"{folder}/sizes"], text=True).split()
    if [int(word) for word in got] != want:
        yield f"offsets and sizes are {got}, in Python {want}"


def check_load():
    with subtick.Load(source=PROCIDLE) as load:
        time.sleep(0.1)
        window = load.read()
        row = next(window.rows("cpus"))
        if not 0 <= row.get("busy_ratio", 0) <= 1 or row["cpu"] != 0 or "task_ratio" in row:
            yield f"CPU 0: {row}"
        if next(window.rows("window"))["source"] != "procidle":
            yield f"window: {next(window.rows('window'))}"
        if not list(window.rows("losses")):
            yield "no losses"


def check_runq():
    try:
        runq = subtick.Runq(cgroups=["/"], le_ns=[1000, 1000000], flags=subtick.CAUSES)
    except subtick.Error as error:
        raise tap.Skip(error.strerror) from error
    with runq:
        time.sleep(0.3)
        rows = list(runq.read().rows("groups"))
        if not rows or rows[0]["cgroup"] != "/" or not rows[0]["count"] or rows[0].percentile(50) is None:
            yield f"{rows}"
        causes = ("idle_exit_ns", "same_group_ns", "other_group_ns", "kernel_thread_ns", "preempted_ns", "throttled_ns",
                  "migrated_ns", "unknown_ns")
        if sum(rows[0].get(cause, 0) for cause in causes) != rows[0]["sum_ns"]:
            yield f"causes do not sum to the wait: {rows[0]}"


def check_errors():
    try:
        subtick.Load(cpus="zero")
        yield "a bad list of CPUs was accepted"
    except subtick.Error as error:
        if error.errno != 22 or "zero" not in error.strerror:
            yield f"{error}"


if __name__ == "__main__":
    tap.main([("structs are those of the headers", check_sizes), ("load", check_load), ("runq", check_runq),
              ("errors are exceptions with a sentence", check_errors)])
