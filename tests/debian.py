# SPDX-License-Identifier: LGPL-2.1-or-later
"""Creates root directories of Debian releases with mmdebstrap, and runs commands inside.

Each root directory is in a temporary directory that is always removed when the program ends. With
SUBTICK_ROOTS=FOLDER the root directories stay in FOLDER and are used again, which saves time when a
test is developed. Roots use the mirror and proxy settings of this machine's apt."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "vm", "lib"))
import apt  # noqa: E402
import tap  # noqa: E402

# Settings of the machine's apt that also apply inside a root directory.
SETTINGS = ("Acquire::http::Proxy", "Acquire::https::Proxy", "Acquire::Check-Valid-Until", "Acquire::Retries")
ENVIRONMENT = ["/usr/bin/env", "-i", "HOME=/root", "TERM=dumb", "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive",
               "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
# Script that enters a root directory. All mounts and processes of the script end with the mount and PID namespaces.
ENTER = """
mount --bind "$1" "$1"
for dir in proc sys dev; do mount --rbind "/$dir" "$1/$dir"; done
root=$1
shift
exec chroot "$root" "$@"
"""


def sources(suite):
    """Returns the lines of a sources.list with the mirrors of this machine."""
    main = apt.mirror(security=False)[0]
    lines = [f"deb {main} {suite} main"]
    if suite not in ("sid", "unstable"):
        lines += [f"deb {main} {suite}-updates main", f"deb {apt.mirror(security=True)[0]} {suite}-security main"]
    return lines


def settings():
    dump = subprocess.run(["apt-config", "dump", *SETTINGS], capture_output=True, text=True, check=True).stdout
    # Skip sections, which `apt-config dump` lists without a value, such as 'Acquire::http "";'.
    kept = [line.rstrip(";") for line in dump.splitlines()
            if line.split(" ")[0] in SETTINGS and not line.endswith(' "";')]
    # Allow package lists after their Valid-Until date, because a mirror may have old lists of sid.
    if not any(line.startswith("Acquire::Check-Valid-Until") for line in kept):
        kept.append('Acquire::Check-Valid-Until "false"')
    return kept


def usable():
    """Raises Skip if this machine cannot create a root directory."""
    if os.geteuid():
        raise tap.Skip("needs root, to make a root of its own")
    if not shutil.which("mmdebstrap"):
        raise tap.Skip("no mmdebstrap: apt-get install mmdebstrap")
    done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True, check=False)
    if done.returncode:
        raise tap.Skip("namespaces are forbidden here")


class Failed(RuntimeError):
    """Raised if a command inside a root directory fails. The text of the exception has the last lines of the command's
    output."""


class Root:
    """Context manager for a root directory: with Root("trixie", ["gcc"]) as root: root.run("gcc", "--version")."""

    def __init__(self, suite, packages=()):
        self.suite, self.packages = suite, list(packages)
        self.folder, self.path = None, None

    def __enter__(self):
        usable()
        keep = os.environ.get("SUBTICK_ROOTS")
        if not keep:
            self.folder = tempfile.mkdtemp(prefix="subtick-root-")
        self.path = os.path.join(keep or self.folder, self.suite)
        try:
            if not os.path.exists(f"{self.path}/etc/os-release"):
                self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.folder:
            # The option --one-file-system of rm protects files in mounts below the temporary
            # directory.
            subprocess.run(["rm", "-rf", "--one-file-system", self.folder], check=False)

    def _make(self):
        options = [f"--aptopt={line}" for line in settings()]
        if self.packages:
            options.append("--include=" + ",".join(self.packages))
        try:
            lines = sources(self.suite)
        except apt.Unavailable as why:
            raise tap.Skip(str(why)) from why
        done = subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", *options, self.suite, self.path, *lines],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            text = (done.stdout + done.stderr).strip()
            if "Failed to fetch" in text or "Could not resolve" in text or "Temporary failure" in text:
                raise tap.Skip(f"cannot fetch {self.suite}: {text.splitlines()[-1]}")
            raise Failed(f"mmdebstrap {self.suite}: {text[-600:]}")
        shutil.copy("/etc/resolv.conf", f"{self.path}/etc/resolv.conf")
        # Packages must not start services, because the services would run on this machine.
        self.write("/usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n", 0o755)

    def write(self, path, text, mode=0o644):
        with open(self.path + path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path + path, mode)

    def run(self, *command, seconds=1800, check=True, show=False):
        """Runs a command inside the root directory. Returns the exit code of the command, and the
        output of the command unless @show is true. If @check is true, a nonzero exit code is an
        error."""
        argv = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc",
                "sh", "-eu", "-c", ENTER, "sh", self.path, *ENVIRONMENT, *command]
        output = {} if show else {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with subprocess.Popen(argv, stdin=subprocess.DEVNULL, text=True, errors="replace", **output) as process:
            try:
                text = process.communicate(timeout=seconds)[0]
            except BaseException:
                process.send_signal(signal.SIGKILL)
                process.wait()
                raise
        if check and process.returncode:
            raise Failed(f"{self.suite}: {' '.join(command)[:80]}: exit {process.returncode}: …{text[-1500:]}")
        return process.returncode, text

    def copy_tree(self, where="/subtick"):
        """Copies the current files of this source tree without build results into the root."""
        names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, check=True).stdout
        present = b"\0".join(name for name in names.split(b"\0") if name and os.path.lexists(name))
        subprocess.run(["rm", "-rf", "--one-file-system", self.path + where], check=True)
        os.makedirs(self.path + where)
        with subprocess.Popen(["tar", "-c", "--null", "-T", "-"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as pack:
            with subprocess.Popen(["tar", "-x", "-C", self.path + where], stdin=pack.stdout) as unpack:
                pack.stdin.write(present)
                pack.stdin.close()
                if unpack.wait():
                    raise Failed(f"cannot copy the tree to {where}")


class Roots:
    """Keeps at most one root directory at a time. A root directory is created when the first check
    of a release needs it."""

    def __init__(self):
        self.root = None

    def __enter__(self):
        return self

    def check(self, release, check):
        if not self.root or self.root.suite != release:
            self.__exit__()
            self.root = Root(release)
            self.root.__enter__()
        yield from check(self.root)

    def __exit__(self, *_):
        root, self.root = self.root, None
        if root:
            root.__exit__()


def main(releases, steps):
    """Runs @steps, a list of (name, check), in a new root directory of each release, and prints TAP."""
    tap.top()
    try:
        usable()
    except tap.Skip as why:
        print(f"1..0 # SKIP {why}")
        return
    with Roots() as roots:
        tap.main([(f"{release}: {name}", lambda release=release, check=check: roots.check(release, check))
                  for release in releases for name, check in steps])
