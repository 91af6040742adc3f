# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads kernels.list, the list of kernels that the VM suite boots. Downloads the packages of the list and updates the
pinned versions."""

import configparser
import hashlib
import os
import re
from collections import namedtuple
from pathlib import Path

import apt

LIST = Path(__file__).resolve().parent.parent / "kernels.list"
MACHINE = {"aarch64": "arm64", "x86_64": "amd64"}.get(os.uname().machine, os.uname().machine)

Deb = namedtuple("Deb", "role arch package version sha256")


class Entry:
    """One section of kernels.list: a kernel, or other packages that the VM suite needs."""

    def __init__(self, name, section):
        self.name = name
        self.kind = section["kind"]
        self.suite = section["suite"]
        self.arch = section.get("arch", "")
        self.follow = section["follow"].split()
        self.flags = section.get("flags", "").split()
        self.boots = section.get("boots", "base").split()
        self.toolchain = section.get("toolchain", "host")
        self.debs = [Deb(*line.split()) for line in section.get("debs", "").split("\n") if line]
        self.apt = apt.Apt(self.suite)

    def select(self, *roles, arch=None):
        return [d for d in self.debs if d.role in roles and (not arch or d.arch in (arch, "all"))]

    @property
    def release(self):
        """Output of uname -r on this kernel, from the name of Debian's package."""
        for deb in self.select("image"):
            found = re.fullmatch(r"linux-(?:image|binary)-(\d.*)", deb.package)
            if found:
                return found[1]
        raise apt.Unavailable(f"{self.name}: kernels.list pins no image")

    @property
    def version(self):
        return next((d.version for d in self.debs), "")

    def fingerprint(self):
        """Returns the hash of the pinned packages. Names of files that are made from the packages
        contain the hash."""
        text = "\n".join(" ".join(d) for d in self.debs)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def unpacked(self, where, debs):
        """Fetches the packages and unpacks them to one directory of the cache. Returns the directory."""
        root = apt.cache_dir() / where / (self.name + "-" + self.version.replace(":", "%3a"))
        for deb in debs:
            path = self.apt.fetch(deb.package, deb.arch, deb.version, deb.sha256)
            with apt.locked(f"unpack-{self.name}"):
                apt.unpack(path, root)
        return root

    def image_root(self):
        return self.unpacked("images", self.select("image"))

    def vmlinuz(self):
        root = self.image_root()
        found = sorted(root.glob("boot/vmlinu*")) + sorted(root.glob("usr/lib/modules/*/vmlinu*"))
        if not found:
            raise apt.Unavailable(f"{self.name}: no kernel image in its packages")
        return found[0]

    def modules_dir(self):
        root = self.image_root()
        for below in ("lib/modules", "usr/lib/modules"):
            if (root / below / self.release).is_dir():
                return root / below / self.release
        raise apt.Unavailable(f"{self.name}: no modules in its packages")


def read(path=LIST):
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(Path(path).read_text())
    return {name: Entry(name, parser[name]) for name in parser.sections()}


# ---- refresh: update pinned versions from the distribution's metapackages

IMAGE = r"linux-(image|binary|modules|base)-\d+\.\d+\.\d.*"
HEADERS = r"linux-(headers|base)-\d+\.\d+\.\d.*"


def newest(source, package, arch):
    records = source.show(package, arch) or source.show(package, "all")
    if not records:
        raise apt.Unavailable(f"{package} ({arch}) is not in {source.suite}")
    return records[0]


def closure(source, package, arch, pattern):
    """Returns the records of the package and of all its dependencies whose names match @pattern, including dependencies
    of dependencies."""
    todo, seen = [package], {}
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen[name] = newest(source, name, arch)
        depends = seen[name].get("Depends", "")
        names = [re.match(r"[\w.+-]+", d.split("|")[0].strip())[0]
                 for d in depends.split(",") if d.strip()]
        todo += [n for n in names if re.fullmatch(pattern, n)]
    return list(seen.values())


def pin(role, record):
    return Deb(role, record["Architecture"], record["Package"], record["Version"],
               record["SHA256"])


def resolve_kernel(entry):
    source = entry.apt
    images = [r for r in closure(source, entry.follow[0], entry.arch, IMAGE)
              if re.fullmatch(IMAGE, r["Package"])]
    debs = [pin("image", r) for r in images]
    release = min((re.match(r"linux-\w+-(.*)", d.package)[1] for d in debs), key=len)
    headers = closure(source, f"linux-headers-{release}", entry.arch, HEADERS)
    debs += [pin("headers", r) for r in headers if "-base-" not in r["Package"]]
    needs = " ".join(r.get("Depends", "") for r in headers)
    for name in sorted(set(re.findall(r"linux-kbuild-[\w.+]+", needs))):
        # Pin linux-kbuild for both architectures, because its programs run on the build machine.
        for arch in ("arm64", "amd64"):
            if source.show(name, arch):
                debs.append(pin("kbuild", newest(source, name, arch)))
    return debs


def resolve_packages(entry):
    return [pin(entry.kind, newest(entry.apt, package, arch))
            for package in entry.follow for arch in (entry.arch or "arm64 amd64").split()]


def refresh(only=()):
    """Updates the pinned versions and checksums in kernels.list. Returns (name, old version, new
    version) of each changed section of kernels.list."""
    text, changes = LIST.read_text(), []
    for entry in read().values():
        if only and entry.name not in only:
            continue
        entry.apt.update(force=not entry.apt.stamp.exists())
        debs = (resolve_kernel if entry.kind == "kernel" else resolve_packages)(entry)
        debs = list(dict.fromkeys(debs))
        if debs == entry.debs:
            continue
        changes.append((entry.name, entry.version or "nothing", debs[0].version))
        block = "debs =\n" + "".join(f"\t{' '.join(d)}\n" for d in debs)
        head, section, tail = text.partition(f"[{entry.name}]\n")
        body, gap, rest = tail.partition("\n\n")
        body = re.sub(r"debs =.*", "", body + "\n", flags=re.S) + block
        text = head + section + body + (gap[1:] + rest if gap else "")
    LIST.write_text(text)
    return changes
