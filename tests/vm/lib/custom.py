# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds kernels with options that Debian's kernels lack. Each kernel is cached by the hash of its
configuration."""

import functools
import hashlib
import os
import re
import shutil
import subprocess
from collections import namedtuple
from pathlib import Path

import apt
import kbuild
import kernels

FRAGMENTS = Path(__file__).resolve().parent.parent / "custom"
TARGET = {"arm64": "arch/arm64/boot/Image", "amd64": "arch/x86/boot/bzImage"}
NEEDS = {"flex": "flex", "bison": "bison", "bc": "bc", "pahole": "pahole", "make": "make",
         "gcc": "gcc", "xz": "xz-utils"}
OPTION = re.compile(r"(?:# )?(CONFIG_\w+)(?:=.*| is not set)$")

# Each variant of a custom kernel adds configuration fragments to the common fragments. If two
# fragments set the same option, the later fragment applies.
Variant = namedtuple("Variant", "name fragments boots")
VARIANTS = (
    Variant("irqtime", ("lean", "irqtime"), "truthkern truthfull"),
    Variant("traced", ("lean", "bare", "traced"), "truthkern"),
)


class Custom(kernels.Entry):
    """A custom kernel."""

    def __init__(self, name, source, arch, boots, fragments=(), flags="custom"):
        super().__init__(name, {"kind": "kernel", "suite": source.suite, "arch": arch,
                                "follow": " ".join(source.follow), "flags": flags,
                                "boots": boots})
        self.source = source
        self.debs = source.debs
        self.fragments = [FRAGMENTS / f"{f}.config" for f in ("common", arch, *fragments)]

    def wanted(self):
        """Returns a dict from each configuration option to its line in the fragments."""
        lines = "".join(p.read_text() for p in self.fragments).splitlines()
        return {m[1]: m[0] for m in map(OPTION.match, lines) if m}

    @functools.cached_property
    def home(self):
        """Directory of the kernel in the cache. The name of the directory is a hash of the inputs
        of the kernel's build. Comments in configuration fragments do not change the hash."""
        text = "\n".join([self.arch, self.debs[0].sha256, *sorted(self.wanted().values())])
        return apt.cache_dir() / "custom" / hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def tree(self):
        return self.home / "linux"

    @property
    def release(self):
        path = self.tree / "include/config/kernel.release"
        return path.read_text().strip() if path.exists() else "not built yet"

    def vmlinuz(self):
        self.build()
        return self.tree / TARGET[self.arch]

    def modules_dir(self):
        """Makes and returns an empty module directory, because a custom kernel has no modules."""
        directory = self.home / "modules"
        directory.mkdir(parents=True, exist_ok=True)
        return directory

    def make(self, *targets):
        arch, prefix = kbuild.CROSS[self.arch]
        own = self.arch == kernels.MACHINE
        cross = [] if own else [f"ARCH={arch}", f"CROSS_COMPILE={prefix}"]
        # Use ccache, which compares preprocessed text, so that objects of other configurations are reused.
        if shutil.which("ccache"):
            cross.append(f"CC=ccache {'' if own else prefix}gcc")
        command = ["make", "-C", self.source_tree(), f"O={self.tree}", "-j",
                   str(os.cpu_count() or 1), *cross, *targets]
        with open(self.home / "build.log", "a") as log:
            done = subprocess.run([str(c) for c in command], stdout=log, stderr=log,
                                  env={**os.environ, "CCACHE_NOHASHDIR": "1"})
        if done.returncode:
            tail = (self.home / "build.log").read_text(errors="replace").splitlines()[-30:]
            raise apt.Broken(f"{self.name} does not build", tail)

    def source_tree(self):
        """Unpacks the kernel source once for all custom kernels, which have separate build
        directories. Returns the path of the unpacked source."""
        deb = self.debs[0]
        target = apt.cache_dir() / "custom" / f"source-{deb.sha256[:16]}"
        with apt.locked("custom-source"):
            if target.exists():
                return target
            path = self.source.apt.fetch(deb.package, deb.arch, deb.version, deb.sha256)
            scratch = target.with_suffix(".new")
            shutil.rmtree(scratch, ignore_errors=True)
            (scratch / "linux").mkdir(parents=True)
            subprocess.run(["dpkg-deb", "-x", path, scratch / "deb"], check=True)
            archive = next(scratch.glob("deb/usr/src/linux-source-*.tar.xz"))
            subprocess.run(["tar", "-xf", archive, "-C", scratch / "linux",
                            "--strip-components=1"], check=True)
            (scratch / "linux").rename(target)
            shutil.rmtree(scratch)
        return target

    def configure(self):
        self.make("tinyconfig")
        wanted = self.wanted()
        with open(self.tree / ".config", "a") as config:
            config.write("\n".join(wanted.values()) + "\n")
        self.make("olddefconfig")
        lines = (self.tree / ".config").read_text().splitlines()
        got = {m[1]: m[0] for m in map(OPTION.match, lines) if m}
        # Treat an option that is missing from the resulting .config as "not set".
        refused = [line for name, line in wanted.items()
                   if got.get(name, f"# {name} is not set") != line]
        if refused:
            raise apt.Broken(f"{self.name} refuses " + ", ".join(refused))

    def build(self):
        """Builds the kernel once per configuration, which takes some minutes on all cores."""
        with apt.locked(f"custom-{self.home.name}"):
            if (self.home / "complete").exists():
                return
            missing = [p for tool, p in NEEDS.items() if not shutil.which(tool)]
            if self.arch != kernels.MACHINE and not shutil.which(f"{kbuild.CROSS[self.arch][1]}gcc"):
                missing.append(kbuild.CROSS_PACKAGE[self.arch])
            if missing:
                raise apt.Unavailable(f"{self.name} needs {' '.join(missing)}")
            print(f"# {self.name}: building it, once; {self.home}/build.log", flush=True)
            # Object files of an interrupted build are still valid, because each configuration has a separate directory.
            if not (self.home / "configured").exists():
                shutil.rmtree(self.home, ignore_errors=True)
                self.tree.mkdir(parents=True)
                self.configure()
                (self.home / "configured").touch()
            self.make(Path(TARGET[self.arch]).name, "modules")
            (self.home / "complete").touch()


def entries():
    """Returns the custom kernels of both architectures: for each source a kernel with all options,
    and the variants. Every kernel variant lacks BPF or the events of `crit --tracepoints`."""
    found = []
    for source in [e for e in kernels.read().values() if e.kind == "source"]:
        version = source.name.removeprefix("source-")
        for arch in sorted(TARGET, key=lambda arch: arch != kernels.MACHINE):
            own = arch == kernels.MACHINE
            found.append(Custom(f"custom-{version}" if own else f"custom-{arch}-{version}", source, arch,
                                "base idle" if arch == "arm64" else "base",
                                flags="custom" if own else "custom foreign"))
        found += [Custom(f"custom-{arch}-{version}-{v.name}", source, arch, v.boots, v.fragments)
                  for v in VARIANTS for arch in TARGET]
    return found
