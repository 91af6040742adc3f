#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""libsubtick for Python by ctypes: rows are dicts with the keys of the JSON. As a script, prints the waits of pods.

    with Runq(per=PER_POD) as runq:
        time.sleep(1)
        for group in runq.read().rows("groups"):
            print(group["cgroup"], group["count"], group.percentile(99))
"""
import ctypes
import os
import sys
import time

PER_CGROUP, PER_TASK, PER_COMM, PER_CPU, PER_POD, PER_NAMESPACE, PER_QOS = range(7)
TREE, CAUSES, PRESSURE, IDLE_STATES, AVOIDABLE = 1, 2, 4, 8, 16
SENDERS = 1

U32, U64, DOUBLE, TEXT, SIZE = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_double, ctypes.c_char_p, ctypes.c_size_t
lib = ctypes.CDLL(os.environ.get("LIBSUBTICK", "libsubtick.so.1"), use_errno=False)
for function in (lib.subtick_error, lib.subtick_error_fix, lib.subtick_text, lib.subtick_key_name, lib.subtick_list_name):
    function.restype = TEXT
lib.subtick_rows.restype = SIZE


class Options(ctypes.Structure):
    """Options as keyword arguments; strings and lists are converted to C."""
    def __init__(self, **values):
        super().__init__(size=ctypes.sizeof(self))
        for name, value in values.items():
            if isinstance(value, str):
                value = value.encode()
            elif isinstance(value, (list, tuple)):
                setattr(self, "nr_" + name.removesuffix("_ns"), len(value))
                kind, value = (U64, value) if name == "le_ns" else (TEXT, [word.encode() for word in value])
                value = (kind * len(value))(*value)
            setattr(self, name, value)


class LoadOptions(Options):
    _fields_ = [("size", U32), ("source", U32), ("event", TEXT), ("cpus", TEXT)]


class NoiseOptions(Options):
    _fields_ = [("size", U32), ("flags", U32), ("cpus", TEXT)]


class RunqOptions(Options):
    _fields_ = [("size", U32), ("flags", U32), ("source", U32), ("hierarchy", U32), ("per", U32), ("depth", U32),
                ("blame", U32), ("reserved", U32), ("cgroups", ctypes.POINTER(TEXT)), ("nr_cgroups", SIZE),
                ("rules", ctypes.POINTER(TEXT)), ("nr_rules", SIZE), ("le_ns", ctypes.POINTER(U64)), ("nr_le", SIZE),
                ("cpus", TEXT), ("sample_ratio", DOUBLE), ("threshold_ns", U64)]


def numbers(name_of):
    """Returns a dict from the name to the number of each key or list that the library has."""
    names = {}
    while name := name_of(len(names) + 1):
        names[name.decode()] = len(names) + 1
    return names


KEYS, LISTS = numbers(lib.subtick_key_name), numbers(lib.subtick_list_name)


class Error(OSError):
    """A failed call of libsubtick: errno and the error message."""


def check(code):
    if code < 0:
        fix = lib.subtick_error_fix().decode()
        raise Error(-code, lib.subtick_error().decode() + (f"; fix: {fix}" if fix else ""))
    return code


class Row(dict):
    """One row: figures and texts by key. A text has priority over a figure. Keys without a value are absent."""
    def __init__(self, place):
        super().__init__()
        self.place = place
        value, number = DOUBLE(), U64()
        for name, key in KEYS.items():
            text = lib.subtick_text(*place, key)
            if text is not None:
                self[name] = text.decode(errors="replace")
            elif lib.subtick_u64(*place, key, ctypes.byref(number)) == 0:
                self[name] = number.value
            elif lib.subtick_double(*place, key, ctypes.byref(value)) == 0:
                self[name] = value.value

    def percentile(self, percent):
        """Returns a percentile of waits in ns, or None without waits. Call this while the window is valid."""
        value = DOUBLE()
        code = lib.subtick_percentile(*self.place, DOUBLE(percent), ctypes.byref(value))
        return value.value if code == 0 else None


class Window:
    """A measurement window, valid until the next read of its context."""
    def __init__(self, pointer):
        self.pointer = pointer

    def rows(self, name):
        for row in range(lib.subtick_rows(self.pointer, LISTS[name])):
            yield Row((self.pointer, LISTS[name], SIZE(row)))


class Context:
    """A running measurement; read() ends the current window."""
    def __init__(self, opener, options):
        self.context = ctypes.c_void_p()
        check(opener(ctypes.byref(self.context), ctypes.byref(options)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def read(self):
        window = ctypes.c_void_p()
        check(lib.subtick_read(self.context, ctypes.byref(window)))
        return Window(window)

    def fileno(self):
        return check(lib.subtick_fd(self.context))

    def service(self):
        window = ctypes.c_void_p()
        check(lib.subtick_service(self.context, ctypes.byref(window)))
        return Window(window)

    def close(self):
        lib.subtick_close(self.context)
        self.context = ctypes.c_void_p()


class Load(Context):
    def __init__(self, **options):
        super().__init__(lib.subtick_load_open, LoadOptions(**options))


class Noise(Context):
    def __init__(self, **options):
        super().__init__(lib.subtick_noise_open, NoiseOptions(**options))


class Runq(Context):
    def __init__(self, **options):
        super().__init__(lib.subtick_runq_open, RunqOptions(**options))


if __name__ == "__main__":
    try:
        with Runq(per=PER_POD) as runq:
            time.sleep(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
            for group in runq.read().rows("groups"):
                print(f"{group.get('namespace', '-')}/{group.get('pod', '-')} {group['cgroup']}: {group['count']} waits, "
                      f"{group['sum_ns'] / 1e6:.1f} ms, p99 {(group.percentile(99) or 0) / 1e6:.3f} ms")
    except Error as error:
        sys.exit(f"subtick.py: {error.strerror}")
