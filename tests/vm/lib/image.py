# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds the initramfs of a guest: busybox, static programs, suites, modules."""

import lzma
import shutil
import subprocess
from pathlib import Path

import apt
import cpio
import kbuild
import kernels

GUEST = Path(__file__).resolve().parent.parent / "guest"
# Modules of the distribution's kernel that tests need. A module that is missing or built in is not copied. A test whose
# module is missing is skipped with a reason.
MODULES = ["veth", "dummy", "sch_etf", "sch_taprio", "sch_mqprio", "sch_fq", "netdevsim",
           "ptp", "ptp_mock", "cpuidle-haltpoll"]
DIRECTORIES = ["bin", "dev", "etc", "proc", "run", "sbin", "sys", "tmp", "modules", "live",
               "truth", "root", "usr/bin"]


def busybox(arch):
    entry = kernels.read()["busybox"]
    root = apt.cache_dir() / "tools" / f"busybox-{arch}-{entry.version.replace(':', '%3a')}"
    for deb in entry.select("tool", arch=arch):
        apt.unpack(entry.apt.fetch(deb.package, deb.arch, deb.version, deb.sha256), root)
    for found in (root / "bin/busybox", root / "usr/bin/busybox"):
        if found.exists():
            return found
    raise apt.Unavailable(f"no busybox for {arch} in kernels.list")


def module_depends(path):
    """Returns the uncompressed module and its dependencies, from its .modinfo strings."""
    data = path.read_bytes()
    if path.suffix == ".xz":
        data = lzma.decompress(data)
    _, found, rest = data.partition(b"\0depends=")
    names = rest.partition(b"\0")[0].decode() if found else ""
    return data, [n for n in names.split(",") if n]


def add_distribution_modules(root, entry, others):
    """Copies MODULES, additional modules and their dependencies, and indexes them for modprobe."""
    source = entry.modules_dir()
    index = {p.name.split(".ko")[0].replace("_", "-"): p for p in source.rglob("*.ko*")}
    target = root / "lib/modules" / entry.release
    target.mkdir(parents=True)
    todo, seen = [*MODULES, *others], set()
    while todo:
        path = index.get(todo.pop().replace("_", "-"))
        if not path or path in seen:
            continue
        seen.add(path)
        data, depends = module_depends(path)
        copy = target / path.relative_to(source).with_name(path.name.split(".ko")[0] + ".ko")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(data)
        todo += depends
    for name in ("modules.builtin", "modules.builtin.modinfo", "modules.order"):
        if (source / name).exists():
            shutil.copy(source / name, target)
    depmod = shutil.which("depmod") or "/sbin/depmod"
    # Ignore depmod's warnings about index files that the kernel package lacks.
    subprocess.run([depmod, "-b", root, entry.release], check=True, stderr=subprocess.DEVNULL)


def add_configuration(root, entry):
    """Copies the kernel configuration to /boot, where subtick reads it."""
    names = (f"boot/config-{entry.release}", f"usr/lib/modules/{entry.release}/config",
             f"lib/modules/{entry.release}/config")
    for name in names if entry.select("image") else ():
        if (entry.image_root() / name).exists():
            (root / "boot").mkdir()
            shutil.copy(entry.image_root() / name, root / f"boot/config-{entry.release}")
            return


def strip(arch, programs):
    """Removes debug information, which is half of a static program. Keeps the debug information if this machine has no
    strip command for the architecture."""
    prefix = "" if arch == kernels.MACHINE else kbuild.CROSS[arch][1]
    tool = shutil.which(f"{prefix}strip")
    files = [p for p in programs if p.is_file() and not p.is_symlink()
             and p.read_bytes()[:4] == b"\x7fELF"]
    if tool and files:
        subprocess.run([tool, *files], check=True)


def build(entry, target, live=(), truth=(), programs=(), modules=(), suites=(), trees=(),
          distribution=()):
    """Writes the initramfs to target.

    @programs, @modules and @suites are files of this machine, which are copied to /bin, /modules
    and /suites. The modules must be built for the kernel @entry. @live and @truth are names of
    tests, which become links to the programs live_all and truth_all. @trees has pairs of a
    directory and its path in the guest. @distribution has the names of additional modules of the
    distribution's kernel."""
    root = Path(target).with_suffix(".root")
    shutil.rmtree(root, ignore_errors=True)
    for directory in DIRECTORIES:
        (root / directory).mkdir(parents=True)
    shutil.copy(busybox(entry.arch), root / "bin/busybox")
    for name in ("bin/sh", "sbin/modprobe"):
        (root / name).symlink_to("/bin/busybox")
    shutil.copytree(GUEST, root, dirs_exist_ok=True)
    (root / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\n"
                                     "nobody:x:65534:65534::/:/bin/sh\n")
    (root / "etc/group").write_text("root:x:0:\nnogroup:x:65534:\n")
    for name in live:
        (root / "live" / name).symlink_to("/bin/live_all")
    for name in truth:
        (root / "truth" / f"truth_{name}").symlink_to("/bin/truth_all")
    for where, paths in (("bin", programs), ("modules", modules), ("suites", suites)):
        for path in paths:
            shutil.copy(path, root / where)
    for path, where in trees:
        shutil.copytree(path, root / where)
    strip(entry.arch, (root / "bin").glob("[!b]*"))
    add_distribution_modules(root, entry, distribution)
    add_configuration(root, entry)
    cpio.write(root, target)
    shutil.rmtree(root)
    return Path(target)
