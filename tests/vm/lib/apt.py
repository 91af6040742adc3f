# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fetches Debian packages with a private apt configuration: separate sources, lists, state and cache."""

import fcntl
import hashlib
import os
import re
import subprocess
import time
from pathlib import Path

LISTS_MAX_AGE_S = 24 * 3600


class Unavailable(Exception):
    """Raised if a requirement is unavailable on this machine. The text of the exception is the
    reason why the requirement is unavailable."""


class Broken(Exception):
    """Raised if a required step fails. An exception of this class counts as test failure and never
    as skip. The member tail has the last lines that the failed step printed."""

    def __init__(self, what, tail=()):
        super().__init__(what)
        self.tail = list(tail)


class Rotated(Unavailable):
    """Raised if the archive no longer has a version that kernels.list pins."""


def cache_dir():
    path = os.environ.get("SUBTICK_VM_CACHE")
    if not path:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        path = os.path.join(base, "subtick", "vm")
    path = Path(path).resolve()
    path.mkdir(parents=True, exist_ok=True)
    return path


def locked(name):
    """Returns a locked file, which prevents two runs from writing the same cache entry."""
    lock = open(cache_dir() / f".{name}.lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def system_sources():
    """Returns (uri, suite, signed_by) of every source in the machine's apt configuration."""
    sources = []
    etc = Path("/etc/apt")
    for path in sorted(etc.glob("sources.list.d/*.sources")):
        for stanza in re.split(r"\n\s*\n", path.read_text()):
            text = "\n".join(l for l in stanza.splitlines() if not l.startswith("#"))
            field = {k.lower(): v.split() for k, v in re.findall(r"^([\w-]+):(.*)$", text, re.M)}
            if "deb" not in field.get("types", []) or field.get("enabled") == ["no"]:
                continue
            signed = " ".join(field.get("signed-by", []))
            sources += [(u, s, signed) for u in field.get("uris", [])
                        for s in field.get("suites", [])]
    for path in [etc / "sources.list", *sorted(etc.glob("sources.list.d/*.list"))]:
        if not path.exists():
            continue
        for line in path.read_text().splitlines():
            found = re.match(r"deb\s+(?:\[([^]]*)\]\s+)?(\S+)\s+(\S+)", line.strip())
            if found:
                signed = re.search(r"signed-by=(\S+)", found[1] or "")
                sources.append((found[2], found[3], signed[1] if signed else ""))
    return sources


def mirror(security):
    """Returns (uri, signed_by) of the Debian mirror in this machine's apt configuration."""
    name = "SUBTICK_VM_SECURITY_MIRROR" if security else "SUBTICK_VM_MIRROR"
    if os.environ.get(name):
        return os.environ[name], ""
    for uri, suite, signed in system_sources():
        if suite.endswith("-security") != security:
            continue
        path = uri.rstrip("/").rsplit("/", 1)[-1]
        if path == ("debian-security" if security else "debian"):
            return uri, signed
    raise Unavailable(f"no Debian {'security ' if security else ''}mirror in this machine's "
                      f"apt sources; name one with {name}=URL")


class Apt:
    """An apt configuration with separate directories for one Debian suite, so that apt cannot
    select versions of other suites."""

    def __init__(self, suite):
        self.suite = suite
        self.root = cache_dir() / "apt" / suite
        self.stamp = self.root / "updated"
        self.configured = False

    def configure(self):
        if self.configured:
            return
        uri, signed = mirror(self.suite.endswith("-security"))
        for sub in ("state/lists/partial", "cache/archives/partial", "etc/preferences.d"):
            (self.root / sub).mkdir(parents=True, exist_ok=True)
        (self.root / "state/status").touch()
        options = "arch=amd64,arm64" + (f" signed-by={signed}" if signed else "")
        (self.root / "etc/sources.list").write_text(f"deb [{options}] {uri} {self.suite} main\n")
        # The apt settings of the system, such as proxy and credentials, still apply. Only the
        # directories and the sources of apt are redirected, and hooks that would change the system
        # are disabled.
        (self.root / "etc/apt.conf").write_text(f"""\
Dir::State "{self.root}/state";
Dir::State::status "{self.root}/state/status";
Dir::Cache "{self.root}/cache";
Dir::Cache::pkgcache "pkgcache.bin";
Dir::Cache::srcpkgcache "srcpkgcache.bin";
Dir::Etc::sourcelist "{self.root}/etc/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "{self.root}/etc/preferences.d";
#clear APT::Architectures;
APT::Architectures {{ "arm64"; "amd64"; }};
#clear APT::Update;
#clear DPkg::Post-Invoke;
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Check-Valid-Until "false";
Acquire::Retries "2";
#clear Acquire::IndexTargets::deb::DEP-11;
#clear Acquire::IndexTargets::deb::Contents-deb;
""")
        self.configured = True

    def run(self, *args, cwd=None):
        self.configure()
        return subprocess.run(["apt-" + args[0], "-c", self.root / "etc/apt.conf", *args[1:]],
                              cwd=cwd, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"})

    def update(self, force=False):
        self.configure()
        if not force and self.stamp.exists():
            if time.time() - self.stamp.stat().st_mtime < LISTS_MAX_AGE_S:
                return
        done = self.run("get", "update", "-q", "--error-on=any")
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no message"])[0]
            raise Unavailable(f"cannot read the package lists of {self.suite}: {reason}")
        self.stamp.touch()

    def show(self, package, arch, version=None):
        """Returns all records of a package as dictionaries, newest first. The list is empty if apt
        does not have the package."""
        wanted = f"{package}:{arch}" + (f"={version}" if version else "")
        done = self.run("cache", "show", "--all-versions", wanted)
        records = []
        for text in done.stdout.split("\n\n"):
            if text.strip():
                records.append(dict(re.findall(r"^([\w-]+): (.*)$", text, re.M)))
        return records

    def fetch(self, package, arch, version, checksum):
        """Returns the path of the .deb in the cache. Downloads the package if the file is missing or has another
        checksum."""
        pool = cache_dir() / "debs"
        pool.mkdir(exist_ok=True)
        path = pool / f"{package}_{version.replace(':', '%3a')}_{arch}.deb"
        if path.exists():
            if sha256(path) == checksum:
                return path
            path.unlink()
        with locked("debs"):
            self._download(package, arch, version, checksum, path)
        return path

    def _download(self, package, arch, version, checksum, path):
        self.update()
        if not any(r["Version"] == version for r in self.show(package, arch)):
            # Update the package lists, because old lists lack recent packages.
            self.update(force=True)
        records = [r for r in self.show(package, arch) if r["Version"] == version]
        if not records:
            raise Rotated(f"{package} {version} ({arch}) is no longer in {self.suite}; "
                          "`tests/vm/kernels --refresh` pins what is there now")
        if records[0]["SHA256"] != checksum:
            raise Broken(f"{package} {version}: {self.suite} lists checksum "
                         f"{records[0]['SHA256']}, kernels.list pins {checksum}")
        stage = self.root / "stage"
        stage.mkdir(exist_ok=True)
        done = self.run("get", "download", "-q", f"{package}:{arch}={version}", cwd=stage)
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise Unavailable(f"cannot fetch {package} {version}: {reason}")
        got = stage / Path(records[0]["Filename"]).name
        for found in stage.glob(f"{package}_*.deb"):
            got = found
        if sha256(got) != checksum:
            got.unlink()
            raise Broken(f"{package} {version}: what arrived does not match its checksum")
        os.replace(got, path)


def unpack(deb, into):
    """Unpacks a .deb once. If an earlier run was interrupted during the unpacking, the package is unpacked again."""
    into = Path(into)
    into.mkdir(parents=True, exist_ok=True)
    mark = into / f".unpacked-{Path(deb).stem}"
    if not mark.exists():
        subprocess.run(["dpkg-deb", "-x", deb, into], check=True)
        mark.touch()
    return into
