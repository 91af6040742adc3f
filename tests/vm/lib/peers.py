# SPDX-License-Identifier: LGPL-2.1-or-later
"""Copies Debian's tools that are compared with subtick, and their libraries, for a guest of any
architecture."""

import re
import shutil
import subprocess
from collections import namedtuple
from pathlib import Path

import apt
import kernels

# A tool of Debian: name, package, file in the package, and arguments.
Peer = namedtuple("Peer", "name package file words")
SUITE = "bookworm"
LIBRARIES = r"lib.*|zlib1g"
# Dependencies that are not unpacked, because only scripts of a tool's package need them.
NEEDLESS = re.compile(r"lib(?:python3\..*-stdlib|.*-dev|.*-common.*)")


def unpacked(package, arch):
    """Unpacks the package and the library packages among its dependencies. Returns the directory of
    the unpacked files, and the version of the package."""
    source = apt.Apt(SUITE)
    source.update()
    newest = kernels.newest(source, package, arch)
    version = newest["Version"].replace(":", "%3a")
    root = apt.cache_dir() / "peers" / f"{package}-{version}-{arch}"
    done = root / ".complete"
    if not done.exists():
        for record in kernels.closure(source, package, arch, LIBRARIES):
            deb = kernels.pin("peer", record)
            if not NEEDLESS.fullmatch(deb.package):
                apt.unpack(source.fetch(deb.package, deb.arch, deb.version, deb.sha256), root)
        done.touch()
    return root, newest["Version"]


def needed(path):
    """Returns the sonames of the libraries that an ELF file needs."""
    text = subprocess.run(["readelf", "-d", path], capture_output=True, text=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", text)


def libraries(root, pattern):
    """Returns a dict from library name to file below root. Omits links that lead to files outside root."""
    return {p.name: p.resolve() for p in root.rglob(pattern)
            if p.is_file() and p.resolve().is_relative_to(root.resolve())}


def copy_libraries(program, root, target):
    """Copies each library that the program needs, under its soname. Returns the libraries that are missing from root.
    """
    index = libraries(root, "*.so*")
    todo, missing = needed(program), []
    while todo:
        name = todo.pop()
        if (target / name).exists() or name in missing:
            continue
        if name not in index:
            missing.append(name)
            continue
        shutil.copy(index[name], target / name)
        todo += needed(target / name)
    return missing


def copy_loader(root, target):
    found = libraries(root, "ld-linux*.so*")
    if not found:
        raise apt.Unavailable("the packages have no program loader")
    shutil.copy(min(found.values()), target / "ld.so")


def add_header(target):
    """Writes linux/sched.h with the macro TASK_RUNNING, which a script of bpftrace needs. BTF has
    no macros."""
    header = target / "share/include/linux/sched.h"
    header.parent.mkdir(parents=True, exist_ok=True)
    header.write_text("#define TASK_RUNNING 0x00000000\n")


def stage(peers, arch, target):
    """Copies the tools of the list peers to the directory target. Returns ([(name, command line in
    the guest)], {name of a missing tool: reason}, {package: version})."""
    for name in ("bin", "lib", "share"):
        (target / name).mkdir(parents=True, exist_ok=True)
    add_header(target)
    commands, whys, versions = [], {}, {}
    for peer in peers:
        try:
            root, versions[peer.package] = unpacked(peer.package, arch)
            program = target / "bin" / Path(peer.file).name
            shutil.copy(root / peer.file, program)
            missing = copy_libraries(program, root, target / "lib")
            if missing:
                raise apt.Unavailable(f"{peer.package} needs {', '.join(missing)}")
            if not (target / "lib/ld.so").exists():
                copy_loader(root, target / "lib")
            for script in root.glob("usr/sbin/runqlat.bt"):
                shutil.copy(script, target / "share")
        except (apt.Unavailable, apt.Broken, OSError) as why:
            whys[peer.name] = str(why)
            continue
        commands.append((peer.name, f"/peers/lib/ld.so --library-path /peers/lib "
                                    f"/peers/bin/{program.name} {peer.words}"))
    return commands, whys, versions
