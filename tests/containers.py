# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs real containers for a test suite with containerd (through its CRI), podman and docker.

No registry is used, and all containers and files are removed at the end. The test suite runs itself again in separate
PID and mount namespaces. Shims, monitors and containers end with the first process of the PID namespace. Every
directory that the container runtimes write is a tmpfs in the mount namespace."""
import contextlib
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time

import tap
from exporter import stop

BUSYBOX = "/bin/busybox"
IMAGE = "localhost/subtick-box:1"
# Directories that container runtimes write: /run for sockets and state, /dev/shm for podman's locks.
PLACES = ("/run", "/dev/shm", "/var/lib/containerd", "/var/lib/containers", "/var/lib/docker", "/var/log")
# Script that runs first in the new mount and PID namespaces of a test suite. A shell is the first
# process of the PID namespace, because a shell reaps orphaned processes of containers.
INSIDE = """
set -e
for place in $1; do mkdir -p "$place"; mount -t tmpfs none "$place"; done
shift
"$@" && exit 0 || exit $?
"""
# Name of the environment variable that contains the file descriptor of /proc/1/task.
INIT_TASKS = "SUBTICK_INIT_TASKS"
# Shell command with two endless tasks, connected by a pipe. The reader and the writer of the pipe
# wait for each other, so both tasks switch on any number of cores.
SWITCHING = ["sh", "-c", "busybox yes | busybox cat >/dev/null"]
CONTAINERD_CONFIG = """version = 2
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "%s"
# Without CAP_SYS_RESOURCE nobody may lower it.
restrict_oom_score_adj = true
disable_apparmor = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "/run/cni"
"""
CONTAINERS_CONFIG = """[containers]
# By default podman raises them, which root may not do everywhere.
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
runtime = "runc"
"""


def run(*command, timeout=60, **options):
    done = subprocess.run(command, capture_output=True, timeout=timeout, check=False, **options)
    if done.returncode:
        said = (done.stdout + done.stderr).decode(errors="replace")
        raise RuntimeError(f"{' '.join(command)[:100]}: exit {done.returncode}: {said[-800:]}")
    return done.stdout


def missing():
    """Returns the reason why this machine cannot run containers, or None."""
    if os.geteuid():
        return "needs root"
    for program, package in (("runc", "runc"), (BUSYBOX, "busybox-static"), ("unshare", "util-linux")):
        if not shutil.which(program):
            return f"no {program}: apt-get install {package}"
    if not subprocess.run(["ldd", BUSYBOX], capture_output=True, check=False).returncode:
        return "busybox is not static: apt-get install busybox-static"
    probe = subprocess.run(["unshare", "--mount", "--pid", "--fork", "--mount-proc", "true"], capture_output=True,
                           check=False)
    return f"no namespaces: {probe.stderr.decode().strip()}" if probe.returncode else None


def hierarchies():
    """Returns the mount points of the cgroup hierarchies: one for v2, one for each controller of v1."""
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        return [line.split()[1] for line in mounts if line.split()[2] in ("cgroup", "cgroup2")]


def versions():
    """Returns the cgroup hierarchies that `subtick runq` can measure on this machine: v1 if the cpu controller of v1 is
    mounted, and v2 if v2 is mounted."""
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        lines = [line.split() for line in mounts]
    v1 = any(kind == "cgroup" and "cpu" in options.split(",") for _, _, kind, options, *_ in lines)
    v2 = any(kind == "cgroup2" for _, _, kind, *_ in lines)
    return [version for version, there in (("v1", v1), ("v2", v2)) if there]


def remove_cgroups(name):
    """Removes a cgroup and its descendants from every hierarchy. The caller must have killed the tasks of the
    cgroup."""
    deadline = time.time() + 10
    tops = [os.path.join(root, name) for root in hierarchies()]
    while any(os.path.isdir(top) for top in tops) and time.time() < deadline:
        for top in tops:
            for path, _, _ in os.walk(top, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(path)
        time.sleep(0.02)


@contextlib.contextmanager
def cgroup_parent(name):
    """Context manager for the parent of all cgroups of a test suite. At the end, removes the parent
    cgroup @name. Also removes podman's parent cgroup libpod_parent, if it did not exist at the
    start."""
    had = any(os.path.isdir(os.path.join(root, "libpod_parent")) for root in hierarchies())
    try:
        yield
    finally:
        remove_cgroups(name)
        if not had:
            remove_cgroups("libpod_parent")


@contextlib.contextmanager
def mount_points(places):
    """Context manager that removes mount point directories at the end if they did not exist at the start."""
    absent = [place for place in places if not os.path.isdir(place)]
    try:
        yield
    finally:
        for place in absent:
            with contextlib.suppress(OSError):
                os.rmdir(place)


def run_inside(name, *more, places=PLACES):
    """Runs this program again in new namespaces, with the name of the parent cgroup. @more has additional namespaces.
    Returns the exit code."""
    command = ["unshare", *more, "--mount", "--pid", "--fork", "--mount-proc", "--propagation", "private", "--kill-child",
               "sh", "-c", INSIDE, "sh", " ".join(places), sys.executable, "-B", *sys.argv, "--inside", name]
    init = os.open("/proc/1/task", os.O_RDONLY | os.O_DIRECTORY)
    tap.end_on_signals()
    with cgroup_parent(name), mount_points(places):
        child = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], pass_fds=[init],
                                 env={**os.environ, INIT_TASKS: str(init)})
        try:
            return child.wait()
        finally:
            child.kill()
            child.wait()


def init_dispatches():
    """Returns the number of dispatches of the machine's init process, which runs outside the test's
    namespaces. Some kernels trace no switch away from init. Tracers then miss the wait of the next
    task, which the kernel counts."""
    total, tasks = 0, int(os.environ[INIT_TASKS])
    for task in os.listdir(tasks):
        with contextlib.suppress(OSError), open(f"/proc/self/fd/{tasks}/{task}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[2])
    return total


def write_image(path, tag=IMAGE, files=(("bin/busybox", BUSYBOX), ("bin/sh", BUSYBOX)), **config):
    """Writes an image with one layer in the format of `docker save`, which every container runtime reads. The default
    content of the image is busybox."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        for folder in sorted({os.path.dirname(name) for name, _ in files} - {""}):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(entry)
        for name, file in files:
            tar.add(os.path.realpath(file), name)
    digest = hashlib.sha256(layer.getvalue()).hexdigest()
    config = {"architecture": {"aarch64": "arm64", "x86_64": "amd64"}[os.uname().machine], "os": "linux",
              "config": config or {"Env": ["PATH=/bin"], "Cmd": [BUSYBOX, "sleep", "86400"]},
              "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]}}
    manifest = [{"Config": "config.json", "RepoTags": [tag], "Layers": ["layer.tar"]}]
    with tarfile.open(path, "w") as tar:
        for name, data in (("layer.tar", layer.getvalue()), ("config.json", json.dumps(config).encode()),
                           ("manifest.json", json.dumps(manifest).encode())):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))


def varint(number):
    return bytes([number & 127 | 128]) + varint(number >> 7) if number > 127 else bytes([number])


def message(*fields):
    """Encodes a protobuf message from pairs of field number and value. A value is an integer, a text or a message."""
    data = b""
    for number, value in fields:
        if isinstance(value, int):
            data += varint(number << 3) + varint(value)
        else:
            value = value.encode() if isinstance(value, str) else value
            data += varint(number << 3 | 2) + varint(len(value)) + value
    return data


def first_text(data):
    """Returns the first field of a response, which is the requested ID, a text of less than 128 bytes."""
    if len(data) < 2 or data[0] != 0x0A:
        raise RuntimeError(f"no id in {data!r}")
    return data[2:2 + data[1]].decode()


class Containerd:
    """Runs containerd for the duration of a with statement. The test uses curl to call the CRI of containerd by gRPC,
    as kubelet does."""

    SOCKET = "/run/containerd/containerd.sock"

    def __init__(self):
        for program, package in (("containerd", "containerd"), ("ctr", "containerd"), ("curl", "curl")):
            if not shutil.which(program):
                raise tap.Skip(f"no {program}: apt-get install {package}")
        self.pods = []

    def __enter__(self):
        with open("/run/containerd.toml", "w", encoding="ascii") as file:
            file.write(CONTAINERD_CONFIG % IMAGE)
        self.log = open("/run/containerd.log", "w+", encoding="utf-8", errors="replace")
        self.child = subprocess.Popen(["containerd", "--config", "/run/containerd.toml"], stdout=self.log, stderr=self.log)
        deadline = time.time() + 30
        while subprocess.run(["ctr", "version"], capture_output=True, check=False).returncode:
            if self.child.poll() is not None or time.time() > deadline:
                self.__exit__()
                raise tap.Skip("containerd does not run here: " + self.said())
            time.sleep(0.1)
        self.load_image()
        return self

    def load_image(self, *image, **config):
        write_image("/run/image.tar", *image, **config)
        run("ctr", "--namespace", "k8s.io", "images", "import", "/run/image.tar")

    def __exit__(self, *_):
        with contextlib.suppress(RuntimeError, subprocess.SubprocessError):
            while self.pods:
                self.remove_pod(self.pods[-1])
        stop(self.child)

    def said(self):
        self.log.seek(0)
        return self.log.read()[-800:]

    def containers(self):
        """Returns the IDs of all containers of pods, including exited containers."""
        return run("ctr", "--namespace", "k8s.io", "containers", "list", "--quiet").decode().split()

    def labels(self, one):
        return json.loads(run("ctr", "--namespace", "k8s.io", "containers", "info", one))["Labels"]

    def call(self, method, request):
        done = subprocess.run(
            ["curl", "-sS", "--max-time", "60", "--http2-prior-knowledge", "--unix-socket", self.SOCKET, "-D", "/dev/stderr",
             "-H", "content-type: application/grpc", "-H", "te: trailers", "--data-binary", "@-",
             f"http://localhost/runtime.v1.RuntimeService/{method}"],
            input=b"\0" + len(request).to_bytes(4, "big") + request, capture_output=True, check=False)
        if b"\ngrpc-status: 0" not in done.stderr:
            raise RuntimeError(f"{method}: {' '.join(done.stderr.decode(errors='replace').split())[-600:]}")
        return done.stdout[5:]

    def make_pod(self, parent, namespace, name, uid):
        # Use the host network, which needs no CNI plugin.
        security = message((1, message((1, 2))))
        config = message((1, message((1, name), (2, uid), (3, namespace))), (8, message((1, parent), (2, security))))
        pod = first_text(self.call("RunPodSandbox", message((1, config))))
        self.pods.append(pod)
        return pod, config

    def make_container(self, pod, name, command):
        config = message((1, message((1, name))), (2, message((1, IMAGE))), (3, BUSYBOX), *((4, word) for word in command))
        container = first_text(self.call("CreateContainer", message((1, pod[0]), (2, config), (3, pod[1]))))
        self.call("StartContainer", message((1, container)))
        return container

    def remove_container(self, container):
        """Removes a pod whose container exits by itself. containerd 1.6 fails if the container exits during the stop,
        so retry."""
        deadline = time.time() + 20
        while True:
            try:
                self.call("RemoveContainer", message((1, container)))
                return
            except RuntimeError:
                if time.time() > deadline:
                    raise
            time.sleep(0.02)

    def remove_pod(self, pod):
        self.pods.remove(pod)
        self.call("StopPodSandbox", message((1, pod)))
        self.call("RemovePodSandbox", message((1, pod)))


class Podman:
    """Runs podman for the duration of a with statement. At the end, all containers that podman started are removed."""

    def __init__(self):
        if not shutil.which("podman"):
            raise tap.Skip("no podman: apt-get install podman")

    def __enter__(self):
        with open("/run/containers.conf", "w", encoding="ascii") as file:
            file.write(CONTAINERS_CONFIG)
        os.environ["CONTAINERS_CONF"] = "/run/containers.conf"
        write_image("/run/image.tar")
        self.podman("load", "--input", "/run/image.tar")
        return self

    def __exit__(self, *_):
        with contextlib.suppress(RuntimeError, subprocess.SubprocessError):
            self.podman("rm", "--force", "--all", "--time", "0")
            self.podman("pod", "rm", "--force", "--all")

    def podman(self, *words):
        return run("podman", *words).decode().strip()

    def run(self, name, *words, command=None):
        return self.podman("run", "--detach", "--network", "none", "--name", name, *words, IMAGE, BUSYBOX, *(command or SWITCHING))


class Docker:
    """Runs dockerd without a network, for the duration of a with statement. At the end, all containers that dockerd
    started are removed."""

    def __init__(self):
        for program in ("dockerd", "docker"):
            if not shutil.which(program):
                raise tap.Skip(f"no {program}: apt-get install docker.io")

    def __enter__(self):
        self.log = open("/run/dockerd.log", "w+", encoding="utf-8", errors="replace")
        self.child = subprocess.Popen(
            ["dockerd", "--iptables=false", "--bridge=none", "--exec-opt", "native.cgroupdriver=cgroupfs"],
            stdout=self.log, stderr=self.log)
        deadline = time.time() + 30
        while subprocess.run(["docker", "version"], capture_output=True, check=False).returncode:
            if self.child.poll() is not None or time.time() > deadline:
                self.log.seek(0)
                said = " ".join(self.log.read().split())[-600:]
                self.__exit__()
                raise tap.Skip(f"dockerd does not run here: {said}")
            time.sleep(0.1)
        write_image("/run/image.tar")
        run("docker", "load", "--input", "/run/image.tar")
        return self

    def __exit__(self, *_):
        with contextlib.suppress(RuntimeError, subprocess.SubprocessError):
            for one in run("docker", "ps", "--all", "--quiet").split():
                run("docker", "rm", "--force", one.decode())
        stop(self.child, 20)

    def run(self, name, *words):
        return run("docker", "run", "--detach", "--network", "none", "--name", name, *words, IMAGE, BUSYBOX,
                   *SWITCHING).decode().strip()
