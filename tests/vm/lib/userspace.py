# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds subtick and the live tests as static programs for a guest's architecture."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import apt
import kernels

TOP = Path(__file__).resolve().parents[3]
TRIPLET = {"arm64": "aarch64-linux-gnu", "amd64": "x86_64-linux-gnu"}
# Link only functions that are called, because each static program contains a copy of every library.
SMALL, DROP = ["-ffunction-sections", "-fdata-sections"], "-Wl,--gc-sections"
FAMILY = {"arm64": "aarch64", "amd64": "x86_64"}


def sysroot(arch):
    """Returns a directory with headers and static libraries of the architecture."""
    entry = kernels.read()["sysroot"]
    debs = entry.select("dev", arch=arch)
    root = apt.cache_dir() / "sysroots" / f"{arch}-{entry.fingerprint()}"
    for deb in debs:
        apt.unpack(entry.apt.fetch(deb.package, deb.arch, deb.version, deb.sha256), root)
    repair_libm(root, TRIPLET[arch])
    return root


def shared_sysroot(arch):
    """Returns a directory with headers and shared libraries of the architecture, including cmocka."""
    entries = [kernels.read()[name] for name in ("sysroot", "foreign")]
    root = apt.cache_dir() / "sysroots" / "-".join(["foreign", arch, *(e.fingerprint() for e in entries)])
    for entry in entries:
        for deb in entry.select("dev", "lib", arch=arch):
            apt.unpack(entry.apt.fetch(deb.package, deb.arch, deb.version, deb.sha256), root)
    below = root / "usr/lib" / TRIPLET[arch]
    # Some packages install libraries in /lib, with absolute links from /usr/lib.
    for library in (root / "lib" / TRIPLET[arch]).glob("lib*.so.*"):
        link = below / library.name
        if not os.path.lexists(link):
            link.symlink_to(library.resolve())
    for link in below.glob("lib*.so"):
        if link.is_symlink() and link.readlink().is_absolute():
            target = below / link.readlink().name
            link.unlink()
            link.symlink_to(target.name)
    return root


def emulator(arch):
    """Returns a command that runs a dynamically linked program of the other architecture on this machine."""
    program, triplet = f"qemu-{FAMILY[arch]}-static", TRIPLET[arch]
    if not shutil.which(program):
        raise apt.Unavailable(f"no {program}; install qemu-user-static")
    libraries = f"{shared_sysroot(arch)}/usr/lib/{triplet}:/usr/{triplet}/lib"
    return [program, "-L", f"/usr/{triplet}", "-E", f"LD_LIBRARY_PATH={libraries}"]


def repair_libm(root, triplet):
    """Copies Debian's libm.a for cross builds and corrects its paths. Debian's libm.a is a linker
    script with paths of a native system."""
    cross = Path("/usr") / triplet / "lib"
    script = cross / "libm.a"
    if not script.exists() or script.stat().st_size > 4096:
        return
    text = script.read_text().replace(f"/usr/lib/{triplet}/", f"{cross}/")
    (root / "usr/lib" / triplet / "libm.a").write_text(text)


def links_statically():
    """True if a program can be linked statically with libbpf on this machine. On Debian 13, libelf.a
    is incomplete."""
    libraries = subprocess.run(["pkg-config", "--static", "--libs", "libbpf"],
                               capture_output=True, text=True)
    program = "int elf_end(void *); int main(void) { return elf_end(0); }"
    done = subprocess.run(["gcc", "-static", "-x", "c", "-", "-o", "/dev/null",
                           *libraries.stdout.split()], input=program, text=True,
                          capture_output=True)
    return done.returncode == 0


def compiler(arch):
    found = f"{TRIPLET[arch]}-gcc"
    if not shutil.which(found):
        raise apt.Unavailable(f"no {found}; install gcc-{TRIPLET[arch].replace('_', '-')} and "
                              f"libc6-dev-{arch}-cross")
    return found


def cross_file(arch, directory, root=None, compile=SMALL, link=(DROP,), wrapper=()):
    """Writes a Meson cross file for @arch, with the headers and libraries below @root. @wrapper is a command that runs
    programs of @arch on this machine."""
    triplet, root = TRIPLET[arch], root or sysroot(arch)
    include = [f"-isystem{root}/usr/include", f"-isystem{root}/usr/include/{triplet}", *compile]
    link = [f"-L{root}/usr/lib/{triplet}", *link]
    path = directory / f"cross-{arch}.ini"
    path.write_text(f"""\
[binaries]
c = '{compiler(arch)}'
ar = '{triplet}-ar'
strip = '{triplet}-strip'
pkgconfig = 'pkg-config'
{f'exe_wrapper = {list(wrapper)}' if wrapper else ''}

[properties]
sys_root = '{root}'
pkg_config_libdir = '{root}/usr/lib/{triplet}/pkgconfig:{root}/usr/share/pkgconfig'

[built-in options]
c_args = {include}
c_link_args = {link}

[host_machine]
system = 'linux'
cpu_family = '{FAMILY[arch]}'
cpu = '{FAMILY[arch]}'
endian = 'little'
""")
    return path


def bpf_compiler():
    """Returns the version of the clang that builds the BPF programs. Each version of clang generates
    different instructions."""
    try:
        text = subprocess.run(["clang", "--version"], capture_output=True, text=True).stdout
    except OSError:
        return "none"
    found = re.search(r"clang version (\d+)", text)
    return f"clang {found[1]}" if found else "unknown"


def quietly(command):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise apt.Broken(f"{' '.join(str(c) for c in command[:2])} failed",
                         done.stdout.strip().splitlines()[-30:])


def build(arch, targets=()):
    """Builds all or some targets of this tree statically for arch. Returns the build directory, which later builds
    update."""
    directory = TOP / f"build-vm-{arch}"
    with apt.locked("build"):
        if not (directory / "build.ninja").exists():
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir()
            options = ["-Dstatic=true", "-Dman=disabled", "-Ddefault_library=static",
                       "-Dbuildtype=release", "-Dstrip=true"]
            if arch != kernels.MACHINE or not links_statically():
                options += ["--cross-file", cross_file(arch, directory)]
            else:
                options += [f"-Dc_args={SMALL}", f"-Dc_link_args={[DROP]}"]
            quietly(["meson", "setup", directory, TOP, *options])
        quietly(["ninja", "-C", directory, "-j", str(os.cpu_count() or 1), *targets])
    return directory


def truth(arch):
    """Returns ([paths of subtick, of the program with all tests in virtual time, and of chrt], {boot: names of the
    tests})."""
    directory = build(arch)
    names = {}
    for line in (directory / "tests/truth/truth_names").read_text().splitlines():
        boot, name = line.split()
        names.setdefault(boot, []).append(name)
    return [directory / "subtick", directory / "tests/truth/truth_all", directory / "tests/truth/chrt"], names


def programs(arch):
    """Builds the programs for guests in real time. Returns (paths of the built programs, names of
    the live tests)."""
    targets = ["subtick", "tests/live/live_all", "tests/vm/verifier/verifier", "tests/api/gtp-guard-program"]
    directory = build(arch, targets=targets)
    found = [directory / target for target in targets]
    for program in found:
        if not program.exists():
            raise apt.Broken(f"{directory.name} has no {program.name}")
    names = (directory / "tests/live/live_names").read_text().split()
    return found, [f"live_{name}" for name in names]
