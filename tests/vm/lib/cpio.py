# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a directory as an initramfs (cpio newc) with all files owned by root."""

import os
import stat
from pathlib import Path

# The initramfs needs /dev/console, because the kernel opens /dev/console for init before any file
# system is mounted.
CONSOLE = ("dev/console", stat.S_IFCHR | 0o600, 5, 1)


def header(ino, mode, size, name, major=0, minor=0, nlink=1):
    fields = (ino, mode, 0, 0, nlink, 0, size, 0, 0, major, minor, len(name) + 1, 0)
    return b"070701" + b"".join(b"%08x" % f for f in fields)


def padded(data):
    return data + b"\0" * (-len(data) % 4)


def entry(ino, name, mode, data=b"", major=0, minor=0):
    raw = name.encode()
    return padded(header(ino, mode, len(data), raw, major, minor) + raw + b"\0") + padded(data)


def content(path, mode):
    if stat.S_ISLNK(mode):
        return os.readlink(path).encode()
    return path.read_bytes() if stat.S_ISREG(mode) else b""


def write(root, target):
    root = Path(root)
    with open(target, "wb") as out:
        ino = 1
        for path in sorted(root.rglob("*")):
            mode = path.lstat().st_mode
            out.write(entry(ino, str(path.relative_to(root)), mode, content(path, mode)))
            ino += 1
        name, mode, major, minor = CONSOLE
        out.write(entry(ino, name, mode, b"", major, minor))
        out.write(entry(0, "TRAILER!!!", 0))
