# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the JSON output of a guest on the host, because the guest has no JSON parser."""

import verifier

RATIOS = ("busy_ratio", "task_ratio", "hardirq_ratio", "idle_ratio", "closure_error_ratio")


def outcome(condition, what, reason=""):
    return ("ok" if condition else "not ok", what, "" if condition else str(reason))


def common(documents, command):
    """Checks properties that the JSON objects of all commands have."""
    yield outcome(documents, f"{command} --json prints an object")
    for document in documents:
        schema = document.get("schema")
        if schema != f"subtick.{command}/1":
            yield outcome(False, "the schema names the command", schema)
            return
    yield outcome(True, "the schema names the command")


def doctor(documents):
    yield from common(documents, "doctor")


def cpu_of(document, number):
    return next((c for c in document.get("cpus", []) if c.get("cpu") == number), None)


def hotplug(documents):
    """Checks that CPU 1 first has figures, then is offline without figures, then has figures again."""
    yield from common(documents, "load")
    rows = [cpu_of(d, 1) for d in documents]
    yield outcome(all(rows), "every interval has a row for CPU 1",
                  f"{sum(r is None for r in rows)} of {len(rows)} have none")
    rows = [r for r in rows if r]
    state = [bool(r["online"]) for r in rows]
    away = [r for r in rows if not r["online"]]
    yield outcome(away, "CPU 1 reads as offline while it is", state)
    figures = [(k, r[k]) for r in away for k in r if k.endswith("_ratio") and r[k] is not None]
    yield outcome(not figures, "an offline CPU has no figures", figures)
    last = rows[-1] if rows else {}
    yield outcome(state and state[-1], "CPU 1 reads as online at the end", state)
    missing = [k for k in RATIOS if last.get(k) is None]
    yield outcome(not missing, "it is measured again after its return", missing)
    other = [cpu_of(d, 0) for d in documents]
    broken = [i for i, r in enumerate(other) if not r or r.get("busy_ratio") is None]
    yield outcome(not broken, "CPU 0 is measured throughout", f"not in intervals {broken}")


def fallback(words):
    """Checks that a report names a source other than BPF, and that a note has one of @words as
    reason."""
    def judge(documents):
        yield from common(documents, "load")
        for document in documents:
            source, notes = document.get("source"), " ".join(document.get("notes") or [])
            yield outcome(source and not source.startswith("bpf"),
                          "another source than BPF is named", source)
            yield outcome(any(w in notes for w in words),
                          "a note says what the better source lacked", notes)
    return judge


def counters(documents):
    """Checks only the format of figures from hardware counters, because emulated counters have no defined meaning."""
    yield from common(documents, "load")
    rows = [c for d in documents for c in d.get("cpus", [])]
    empty = [(c.get("cpu"), c.get("flags")) for c in rows if c.get("busy_ratio") is None]
    yield outcome(rows and not empty, "every CPU has a figure from its counter",
                  f"none on CPUs {empty}")
    yield outcome(any(c.get("busy_ratio") for c in rows), "the counter moves", rows[:2])


CHECKS = {"doctor": doctor, "hotplug": hotplug, "counters": counters,
          "verifier": verifier.judge,
          "fallback-btf": fallback(["BTF"]), "fallback-privilege": fallback(["root", "CAP_"])}


def check(name, documents):
    """Runs a check on JSON documents. @name is CHECK, or CHECK/VARIANT if a suite runs the check on several
    variants."""
    kind, _, variant = name.partition("/")
    for status, what, reason in CHECKS[kind](documents):
        yield status, f"{variant}: {what}" if variant else what, reason
