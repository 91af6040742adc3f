# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds an out-of-tree kernel module against the headers of a kernel in tests/vm/kernels.list."""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import apt
import kernels

TOP = Path(__file__).resolve().parents[3]
CROSS = {"arm64": ("arm64", "aarch64-linux-gnu-"), "amd64": ("x86", "x86_64-linux-gnu-")}
CROSS_PACKAGE = {"arm64": "gcc-aarch64-linux-gnu", "amd64": "gcc-x86-64-linux-gnu"}
# Packages that a module build needs in addition to the packages linux-headers and linux-kbuild.
ROOT_PACKAGES = ["base-files", "dash", "bash", "coreutils", "diffutils", "findutils", "sed",
                 "grep", "mawk", "make", "binutils", "gcc", "pahole", "libelf1t64",
                 "libssl3t64", "perl-base", "xz-utils"]


def repository(directory):
    """Returns the top of the source tree that contains the directory, or None. Does not run git, because git may be
    missing."""
    found = [p for p in directory.parents if p == TOP or (p / ".git").exists()]
    return found[0] if found else None


def stage(entry, directory):
    """Copies the module and the headers of abi/ and include/, so that builds for several kernels neither write to the
    source tree nor share objects."""
    directory = Path(directory).resolve()
    top = repository(directory)
    # Make a separate copy of each source directory, because two git work trees may build the same module at the same
    # time.
    digest = hashlib.sha256(str(directory).encode()).hexdigest()[:8]
    base = apt.cache_dir() / "modules" / f"{entry.name}-{digest}"
    target = base / (directory.relative_to(top) if top else directory.name)
    shutil.rmtree(base, ignore_errors=True)
    junk = shutil.ignore_patterns("*.o", "*.ko", "*.mod", "*.mod.c", ".*.cmd", ".git")
    shutil.copytree(directory, target, ignore=junk)
    for shared in ("abi", "include"):
        if top and (top / shared).is_dir():
            shutil.copytree(top / shared, base / shared)
    return base, target


def headers_root(entry):
    debs = entry.select("headers") + entry.select("kbuild", arch=kernels.MACHINE)
    if not debs:
        raise apt.Unavailable(f"{entry.name}: kernels.list pins no headers")
    root = entry.unpacked("headers", debs)
    return root, root / "usr/src" / f"linux-headers-{entry.release}"


def compiler(prefix):
    for name in (f"{prefix}gcc-12", f"{prefix}gcc"):
        if shutil.which(name):
            return name
    raise apt.Unavailable(f"no {prefix}gcc; install gcc-{prefix.replace('_', '-').rstrip('-')}")


def build_tree(entry):
    """Returns the directory for make -C: the unpacked headers, or the build tree of the custom kernel."""
    if "custom" in entry.flags:
        entry.build()
        return entry.tree
    root, headers = headers_root(entry)
    # Correct the absolute paths in the Makefile of the headers, because the cache may have moved.
    makefile = headers / "Makefile"
    text = makefile.read_text()
    placed = re.sub(r"\S*/usr/src/linux-headers", f"{root}/usr/src/linux-headers", text)
    if placed != text:
        makefile.write_text(placed)
    return headers


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def make_on_host(entry, target):
    arch, prefix = CROSS[entry.arch]
    command = ["make", "-C", build_tree(entry), f"M={target}", "CONFIG_DEBUG_INFO_BTF_MODULES="]
    if entry.arch == kernels.MACHINE:
        command.append(f"CC={compiler('')}")
    else:
        command += [f"ARCH={arch}", f"CROSS_COMPILE={prefix}", f"CC={compiler(prefix)}"]
    return run([str(c) for c in command + ["modules"]])


def toolchain_root(entry):
    """Returns a root directory of the kernel's Debian suite with the compiler that the kernel headers require. The
    packages are verified by apt's signatures and not pinned, because the dependencies of a compiler change daily."""
    foreign = entry.arch != kernels.MACHINE
    name = f"{entry.suite}-{entry.version}" + (f"-for-{entry.arch}" if foreign else "")
    root = apt.cache_dir() / "roots" / name
    if (root / ".complete").exists():
        return root
    packages = ROOT_PACKAGES + ([CROSS_PACKAGE[entry.arch]] if foreign else [])
    entry.apt.update()
    archives = entry.apt.root / "cache/archives"
    done = entry.apt.run("get", "install", "-y", "--no-install-recommends", "--download-only",
                         "-o", f"Dir::Cache::archives={archives}", *packages)
    if done.returncode:
        raise apt.Unavailable(f"cannot fetch a toolchain of {entry.suite}: "
                              f"{done.stderr.strip().splitlines()[-1]}")
    root.mkdir(parents=True, exist_ok=True)
    # Unpack base-files first, because this package makes /bin and /lib links to directories in /usr.
    for deb in sorted(archives.glob("*.deb"), key=lambda d: not d.name.startswith("base-files_")):
        subprocess.run(["dpkg-deb", "-x", deb, root], check=True)
        deb.unlink()
    if not (root / "usr/bin/awk").exists():
        (root / "usr/bin/awk").symlink_to("mawk")
    (root / ".complete").touch()
    return root


def make_in_root(entry, base, target):
    root = toolchain_root(entry)
    arch, prefix = CROSS[entry.arch]
    if entry.arch == kernels.MACHINE:
        compiler_words = "CC=gcc"
    else:
        compiler_words = f"ARCH={arch} CROSS_COMPILE={prefix}"
    for deb in entry.select("headers") + entry.select("kbuild", arch=kernels.MACHINE):
        apt.unpack(entry.apt.fetch(deb.package, deb.arch, deb.version, deb.sha256), root)
    for mount in ("dev", "module", "proc"):
        (root / mount).mkdir(exist_ok=True)
    inside = f"/module/{target.relative_to(base)}"
    # Use a separate mount namespace, so that no mount remains. objtool for x86 needs /proc.
    script = f"""set -e
mount --bind {base} {root}/module
mount --rbind /dev {root}/dev
mount --rbind /proc {root}/proc
exec chroot {root} /usr/bin/env -i PATH=/usr/sbin:/usr/bin HOME=/ \
    make -C /usr/src/linux-headers-{entry.release} M={inside} {compiler_words} \
    CONFIG_DEBUG_INFO_BTF_MODULES= modules"""
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    return run(["unshare", "--mount", *user, "sh", "-c", script])


def build(entry, directory):
    """Builds the module. Returns (the .ko files, output of make)."""
    base, target = stage(entry, directory)
    if entry.toolchain == "host":
        done = make_on_host(entry, target)
    else:
        done = make_in_root(entry, base, target)
    built = sorted(target.glob("*.ko"))
    if done.returncode or not built:
        raise apt.Broken(f"{directory} does not build for {entry.name} ({entry.release})",
                         done.stdout.splitlines()[-60:])
    return built, done.stdout
