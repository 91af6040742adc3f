# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds the kernel that has what Debian's leave out, cached by the hash of its configuration."""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import apt
import kernels

FRAGMENTS = Path(__file__).resolve().parent.parent / "custom"
TARGET = {"arm64": ("arm64", "arch/arm64/boot/Image"), "amd64": ("x86", "arch/x86/boot/bzImage")}
NEEDS = {"flex": "flex", "bison": "bison", "bc": "bc", "pahole": "pahole", "make": "make",
         "gcc": "gcc", "xz": "xz-utils"}


class Custom(kernels.Entry):
    """Looks like a kernel of the list to everything that boots one or builds for it."""

    def __init__(self, source):
        super().__init__(f"custom-{source.name.removeprefix('source-')}",
                         {"kind": "kernel", "suite": source.suite, "arch": kernels.MACHINE,
                          "follow": " ".join(source.follow), "flags": "custom",
                          "boots": "base idle" if kernels.MACHINE == "arm64" else "base"})
        self.source = source
        self.debs = source.debs

    def fragments(self):
        return [FRAGMENTS / "common.config", FRAGMENTS / f"{self.arch}.config"]

    @property
    def home(self):
        digest = hashlib.sha256()
        for path in self.fragments():
            digest.update(path.read_bytes())
        digest.update(self.debs[0].sha256.encode())
        return apt.cache_dir() / "custom" / digest.hexdigest()[:16]

    @property
    def tree(self):
        return self.home / "linux"

    @property
    def release(self):
        path = self.tree / "include/config/kernel.release"
        return path.read_text().strip() if path.exists() else "not built yet"

    def vmlinuz(self):
        self.build()
        return self.tree / TARGET[self.arch][1]

    def modules_dir(self):
        """Makes an empty module directory: this kernel has no modules."""
        directory = self.home / "modules"
        directory.mkdir(parents=True, exist_ok=True)
        return directory

    def make(self, *targets):
        command = ["make", "-C", self.tree, "-j", str(os.cpu_count() or 1), *targets]
        with open(self.home / "build.log", "a") as log:
            done = subprocess.run([str(c) for c in command], stdout=log, stderr=log)
        if done.returncode:
            tail = (self.home / "build.log").read_text(errors="replace").splitlines()[-30:]
            raise apt.Broken("the custom kernel does not build", tail)

    def unpack(self):
        deb = self.debs[0]
        path = self.source.apt.fetch(deb.package, deb.arch, deb.version, deb.sha256)
        scratch = self.home / "deb"
        subprocess.run(["dpkg-deb", "-x", path, scratch], check=True)
        archive = next(scratch.glob("usr/src/linux-source-*.tar.xz"))
        self.tree.mkdir(parents=True)
        subprocess.run(["tar", "-xf", archive, "-C", self.tree, "--strip-components=1"],
                       check=True)
        shutil.rmtree(scratch)

    def configure(self):
        self.make("tinyconfig")
        wanted = "".join(p.read_text() for p in self.fragments())
        with open(self.tree / ".config", "a") as config:
            config.write(wanted)
        self.make("olddefconfig")
        got = set((self.tree / ".config").read_text().splitlines())
        refused = [l for l in re.findall(r"^CONFIG_\w+=.*$", wanted, re.M) if l not in got]
        if refused:
            raise apt.Broken("the custom kernel refuses " + ", ".join(refused))

    def build(self):
        """A few minutes of every core, once per configuration."""
        with apt.locked("custom"):
            if (self.home / "complete").exists():
                return
            missing = [p for tool, p in NEEDS.items() if not shutil.which(tool)]
            if missing:
                raise apt.Unavailable(f"the custom kernel needs {' '.join(missing)}")
            shutil.rmtree(self.home, ignore_errors=True)
            self.home.mkdir(parents=True)
            print(f"# {self.name}: building it, once; {self.home}/build.log", flush=True)
            self.unpack()
            self.configure()
            self.make(Path(TARGET[self.arch][1]).name, "modules")
            (self.home / "complete").touch()


def entries():
    return [Custom(e) for e in kernels.read().values() if e.kind == "source"]
