# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the second disk of a guest with a whole Debian: a copy of this tree, with the builds of ./check for the guest's
architecture."""

import os
import re
import shlex
import shutil
import subprocess

import apt
import debian_root
import userspace

TOP = userspace.TOP
# npm packages that suites need: {folder in the build: folder of the lock file}.
FETCHED = {"web-test": "tests/web", "grafana-test": "tests/grafana", "kubernetes-test": "tests/kubernetes"}


def check_builds():
    """Yields (directory, meson options) of each gcc build of ./check. Parses the script ./check."""
    text = (TOP / "check").read_text()
    for name in ("RELEASE", "ASAN", "TSAN"):
        directory, _, *options = shlex.split(re.search(rf"^BUILD_{name}=\(([^)]*)\)", text, re.M)[1])
        yield directory, options


def copy(tree):
    """Copies the current files of this tree. Keeps the builds of earlier runs, because ninja rebuilds only changed
    files."""
    tree.mkdir(parents=True, exist_ok=True)
    for old in tree.iterdir():
        if not old.name.startswith("build-"):
            shutil.rmtree(old) if old.is_dir() and not old.is_symlink() else old.unlink()
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=TOP,
                            capture_output=True, check=True).stdout
    present = [name for name in listed.split(b"\0") if name and os.path.lexists(os.path.join(os.fsencode(TOP), name))]
    with subprocess.Popen(["tar", "-c", "--null", "-T", "-"], cwd=TOP, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as pack:
        with subprocess.Popen(["tar", "-x", "-C", tree], stdin=pack.stdout) as unpack:
            pack.stdin.write(b"\0".join(present))
            pack.stdin.close()
            if unpack.wait():
                raise apt.Broken(f"cannot copy the tree to {tree}")


def build(arch, tree, directory, options):
    path = tree / directory
    if not (path / "build.ninja").exists():
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        # Builds with a sanitizer get no emulation wrapper, because sanitizers do not run under QEMU's user emulation.
        wrapper = () if "sanitize" in " ".join(options) else userspace.emulator(arch)
        cross = userspace.cross_file(arch, path, userspace.shared_sysroot(arch), compile=[], link=[], wrapper=wrapper)
        # Use the library directory of a native Debian build.
        userspace.quietly(["meson", "setup", path, tree, "--cross-file", cross, *options,
                           f"-Dlibdir=lib/{userspace.TRIPLET[arch]}", f"-Dbpftool={os.environ.get('BPFTOOL', 'bpftool')}"])
    userspace.quietly(["ninja", "-C", path])


def fetch(tree):
    """Fetches the npm packages of FETCHED, because the guest has no network. A suite without its npm packages is
    skipped with a reason."""
    npm = shutil.which("npm")
    for folder, source in FETCHED.items() if npm else ():
        subprocess.run(["python3", "-B", "tests/web/fetch.py", npm, source, tree / "build-release" / folder], cwd=tree, check=False)


def image(arch, tree, command, suites):
    """Makes the disk with a copy of this tree and the builds that the suites need. Stores @command,
    which the guest runs, in the file .vm-command."""
    with apt.locked("debian-tree"):
        copy(tree)
        for directory, options in check_builds():
            if directory.removeprefix("build-") in ("release", *suites):
                build(arch, tree, directory, options)
        fetch(tree)
        (tree / ".vm-command").write_text(command)
        return debian_root.disk(tree, tree.with_name(f"tree-{arch}.img"))
