#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Removes line numbers and labels of basic blocks from a BPF object, because neither libbpf nor the
kernel needs them and they are half of the object. bpftool gen object then compacts the file.
Usage: slim.py FROM TO"""
import struct
import sys

with open(sys.argv[1], "rb") as source:
    elf = bytearray(source.read())
at, size, count, names = (struct.unpack_from(form, elf, pos)[0] for form, pos in (
    ("<Q", 40), ("<H", 58), ("<H", 60), ("<H", 62)))
headers = [at + i * size for i in range(count)]


def field(header, index):
    """One of: name, type, flags, addr, offset, size, link, info, align, entsize."""
    return struct.unpack_from("<IIQQQQIIQQ", elf, header)[index]


def text(table, offset):
    start = field(headers[table], 4) + offset
    return elf[start:elf.index(0, start)].decode()


for header in headers:
    if text(names, field(header, 0)) == ".BTF.ext":
        base = field(header, 4)
        length, lines_at, lines, relocs_at, relocs = struct.unpack_from("<I8xIIII", elf, base + 4)
        moved = elf[base + length + relocs_at:base + length + relocs_at + relocs]
        elf[base + length + lines_at:base + length + lines_at + relocs] = moved
        struct.pack_into("<IIII", elf, base + 16, lines_at, 0, lines_at, relocs)
        struct.pack_into("<Q", elf, header + 32, length + lines_at + relocs)
    if field(header, 1) == 2:  # SHT_SYMTAB
        base, symbols, new = field(header, 4), field(header, 5) // 24, {}
        local = 0
        for i in range(symbols):
            name, info = struct.unpack_from("<IB", elf, base + 24 * i)
            if info or not text(field(header, 6), name).startswith("LBB"):
                elf[base + 24 * len(new):base + 24 * len(new) + 24] = elf[base + 24 * i:base + 24 * i + 24]
                new[i] = len(new)
                local += info >> 4 == 0
        struct.pack_into("<Q", elf, header + 32, 24 * len(new))
        struct.pack_into("<I", elf, header + 44, local)
for header in headers:
    if field(header, 1) == 9:  # SHT_REL
        for pos in range(field(header, 4), field(header, 4) + field(header, 5), 16):
            kind, symbol = struct.unpack_from("<II", elf, pos + 8)
            struct.pack_into("<II", elf, pos + 8, kind, new[symbol])
with open(sys.argv[2], "wb") as target:
    target.write(elf)
