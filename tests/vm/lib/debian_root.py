# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the root disk of a Debian of another architecture, with the packages that ./check installs.

The packages are unpacked and not configured, because their scripts call programs of the other
architecture. This module does those steps of the packages' scripts that the tests need: user
accounts, some alternatives, compiled Python, the index of kernel modules.
"""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import apt

TOP = Path(__file__).resolve().parents[3]
INIT = Path(__file__).resolve().parent.parent / "guest/debian-init"
SUITE = "bookworm"
# Packages that ./check does not install: chromium and npm for the suite web, and kmod and systemd, which every real
# machine has.
MORE = ["chromium", "npm", "kmod", "systemd"]
LINKS = {"usr/bin/awk": "mawk", "usr/bin/cc": "gcc", "usr/bin/c++": "g++", "usr/bin/sh": "dash",
         "usr/bin/which": "which.debianutils", "etc/mtab": "../proc/self/mounts"}
# Script that replaces ninja in the guest, because a cross compiler builds all programs before the
# guest boots.
NINJA = "#!/bin/sh\necho 'ninja: built on another machine'\n"


def wanted():
    """Names of the packages that ./check installs, and the package names in MORE."""
    script = '. packaging/packages.sh; printf "%s\\n" "${BUILD_PACKAGES[@]}" "${TEST_PACKAGES[@]}"'
    done = subprocess.run(["bash", "-c", script], cwd=TOP, capture_output=True, text=True, check=True)
    return done.stdout.split() + MORE


def packages(arch):
    """Downloads and returns the paths of all packages: the requested packages, essential packages, and all
    dependencies."""
    source = apt.Apt(SUITE)
    source.update()
    archives, empty = source.root / f"debian-{arch}", source.root / "empty"
    for folder in (archives, empty):
        (folder / "partial").mkdir(parents=True, exist_ok=True)
    install = ["get", "install", "-q", "-y", "--no-install-recommends", "-o", f"APT::Architecture={arch}",
               *wanted(), f"?and(?architecture({arch}),?essential)"]
    listed = source.run(*install, "--print-uris", "-o", f"Dir::Cache::archives={empty}")
    names = re.findall(r"^'\S+' (\S+\.deb) ", listed.stdout, re.M)
    done = source.run(*install, "--download-only", "-o", f"Dir::Cache::archives={archives}")
    if done.returncode or not names:
        raise apt.Unavailable(f"cannot fetch a Debian for {arch}: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    return [archives / name for name in sorted(names)]


def unpack(debs, root):
    """Unpacks the packages and writes dpkg's status file, because ./check reads this file to find missing packages."""
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    records = []
    for deb in debs:
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE) as pack:
            subprocess.run(["tar", "-x", "--keep-directory-symlink", "-C", root], stdin=pack.stdout, check=True)
        if pack.returncode:
            raise apt.Broken(f"{deb.name} cannot be unpacked")
        control = subprocess.run(["dpkg-deb", "-f", deb], capture_output=True, text=True, check=True).stdout
        records.append(installed(control))
    (root / "var/lib/dpkg").mkdir(parents=True, exist_ok=True)
    (root / "var/lib/dpkg/status").write_text("\n".join(records))


def installed(control):
    """Returns the control data of a package in the format of dpkg's status file."""
    first, rest = control.split("\n", 1)
    return f"{first}\nStatus: install ok installed\n{rest}"


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def settle(root, kernel):
    for name in ("passwd", "group"):
        shutil.copy(root / f"usr/share/base-passwd/{name}.master", root / f"etc/{name}")
    shutil.copy(root / "usr/share/libc-bin/nsswitch.conf", root / "etc/nsswitch.conf")
    for link, target in LINKS.items():
        if not os.path.lexists(root / link):
            (root / link).symlink_to(target)
    write(root / "etc/hostname", "subtick-debian\n")
    write(root / "etc/hosts", "127.0.0.1 localhost subtick-debian\n::1 localhost ip6-localhost\n")
    write(root / "etc/machine-id", hashlib.md5(b"subtick-debian").hexdigest() + "\n")
    write(root / "usr/local/bin/ninja", NINJA, 0o755)
    shutil.copy(INIT, root / "usr/sbin/subtick-init")
    # Compile Python files as the packages' scripts do. Without compiled files each test would spend
    # a minute on compiling Python at its start under emulation.
    subprocess.run(["/usr/bin/python3", "-m", "compileall", "-q", "-s", root, "-p", "/", *root.glob("usr/lib/python3*")], check=False)
    shutil.copytree(kernel.modules_dir(), root / "usr/lib/modules" / kernel.release, symlinks=True)
    subprocess.run(["depmod", "-b", root, kernel.release], check=True)


def disk(folder, image, spare_mb=1024):
    """Makes an ext4 image of the folder. The image has a temporary name until it is complete."""
    used = int(subprocess.run(["du", "-sm", folder], capture_output=True, text=True, check=True).stdout.split()[0])
    part = image.with_suffix(".part")
    part.unlink(missing_ok=True)
    # Disable metadata checksums, because metadata checksums need a kernel module, and the guest has no initrd with
    # modules.
    done = subprocess.run(["mkfs.ext4", "-q", "-O", "^metadata_csum", "-d", folder, part, f"{used * 5 // 4 + spare_mb}M"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise apt.Broken(f"mkfs.ext4 of {folder} failed", done.stderr.splitlines()[-5:])
    os.replace(part, image)
    return image


def image(kernel):
    """Returns the path of the root disk, which is made once for each set of packages and kernel."""
    debs = packages(kernel.arch)
    made_of = [deb.name for deb in debs] + [kernel.release, INIT.read_text(), Path(__file__).read_text()]
    name = hashlib.sha256("\n".join(made_of).encode()).hexdigest()[:12]
    folder = apt.cache_dir() / "debian"
    folder.mkdir(exist_ok=True)
    path = folder / f"root-{kernel.arch}-{name}.img"
    with apt.locked("debian"):
        if not path.exists():
            root = folder / "root"
            shutil.rmtree(root, ignore_errors=True)
            unpack(debs, root)
            settle(root, kernel)
            disk(root, path)
            shutil.rmtree(root)
    return path
