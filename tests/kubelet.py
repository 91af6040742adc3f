# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a real kubelet without a cluster. kubelet is built from Debian's source package, uses containerd, and reads pods
from files.

All files that kubelet writes are in the mount namespace of containers.run_inside. The cgroups of kubelet are below the
parent cgroup that containers.run_inside removes."""
import contextlib
import http.client
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import yaml

import containers
import tap
from exporter import eventually, stop

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "vm", "lib"))
import apt  # noqa: E402

# bookworm is the last Debian release with a kubelet package.
SUITE = "bookworm"
# Directories that kubelet writes, in addition to the directories of containerd.
PLACES = (*containers.PLACES, "/var/lib/kubelet", "/var/lib/cni")
NAMESPACES = ("--net", "--uts", "--ipc")
NODE, NODE_IP = "node1", "10.88.0.1"
MANIFESTS = "/run/manifests"
READ_ONLY_PORT = 10255
# Machine-wide settings, with the values to which kubelet changes the settings.
SYSCTLS = {"vm/overcommit_memory": 1, "vm/panic_on_oom": 0, "kernel/panic": 10, "kernel/panic_on_oops": 1,
           "kernel/keys/root_maxkeys": 1000000, "kernel/keys/root_maxbytes": 25000000}
NETWORK = {"cniVersion": "0.4.0", "name": "pods", "plugins": [
    {"type": "ptp", "ipam": {"type": "host-local", "dataDir": "/run/cni-addresses", "subnet": "10.89.0.0/24",
                             "routes": [{"dst": "0.0.0.0/0"}]}}]}


class Source(apt.Apt):
    """Source packages of a Debian release, verified by the signature of the archive."""

    def __init__(self, suite):
        super().__init__(suite)
        self.root = apt.cache_dir() / "apt" / f"{suite}-source"
        self.stamp = self.root / "updated"

    def configure(self):
        super().configure()
        sources = self.root / "etc/sources.list"
        sources.write_text(sources.read_text().replace("deb [", "deb-src [", 1))

    def fetch_source(self, package, where):
        """Downloads the upstream tarball of the newest version of a package."""
        self.update()
        done = self.run("get", "source", "--download-only", "-q", "--only-source", package, cwd=where)
        if done.returncode:
            raise apt.Unavailable(f"cannot fetch the source of {package}: {done.stderr.strip()[-300:]}")
        return next(Path(where).glob("*.orig.tar.*"))


def build(path):
    """Builds kubelet from its source package, which contains all dependencies."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        with tarfile.open(Source(SUITE).fetch_source("kubernetes", folder)) as tar:
            tar.extractall(folder)
        found = next(Path(folder).glob("kubernetes-*/"))
        version = found.name.replace("kubernetes-", "v")
        tree = Path(folder, "go/src/k8s.io/kubernetes")
        tree.parent.mkdir(parents=True)
        found.rename(tree)
        setting = f"k8s.io/kubernetes/vendor/k8s.io/component-base/version.gitVersion={version}"
        print(f"# building kubelet {version}, which takes 5 minutes on two quiet cores", flush=True)
        command = ["go", "build", "-o", f"{folder}/kubelet", "-ldflags", f"-s -w -X {setting}",
                   "k8s.io/kubernetes/cmd/kubelet"]
        places = {"GOPATH": f"{folder}/go", "GOCACHE": f"{folder}/cache", "GOFLAGS": "", "GO111MODULE": "off"}
        done = subprocess.run(command, cwd=tree, env={**os.environ, **places}, capture_output=True, text=True,
                              check=False)
        if done.returncode:
            raise apt.Unavailable(f"kubelet cannot be built: {done.stderr.strip()[-500:]}")
        shutil.copy(f"{folder}/kubelet", f"{path}.new")
        os.replace(f"{path}.new", path)


def program():
    """Returns the path of kubelet, which is built once and cached."""
    path = apt.cache_dir() / f"kubelet-{os.uname().machine}"
    with apt.locked("kubelet"):
        if not path.exists():
            if not shutil.which("go"):
                raise apt.Unavailable("no go: apt-get install golang-go")
            build(path)
    return str(path)


def prepare_network():
    """Prepares the test's network namespace: sets the default route that kubelet needs, and writes the configuration of
    pod addresses."""
    if not os.path.exists("/usr/lib/cni/ptp"):
        raise tap.Skip("no /usr/lib/cni/ptp: apt-get install containernetworking-plugins")
    for words in ("link set lo up", "link add node type veth peer name outside", f"address add {NODE_IP}/24 dev node",
                  "link set node up", "link set outside up", "route add default dev node"):
        try:
            containers.run("ip", *words.split())
        except RuntimeError as why:
            raise tap.Skip(f"no network of its own: {why}") from why
    os.makedirs("/run/cni")
    Path("/run/cni/pods.conflist").write_text(json.dumps(NETWORK), encoding="ascii")


def prepare_machine(parent):
    """Prepares the test's namespaces: hides the machine's settings, and creates the parent cgroup of the test."""
    for name, value in SYSCTLS.items():
        hidden = f"/run/sysctl-{os.path.basename(name)}"
        Path(hidden).write_text(f"{value}\n", encoding="ascii")
        containers.run("mount", "--bind", hidden, f"/proc/sys/{name}")
    for root in containers.hierarchies():
        os.makedirs(os.path.join(root, parent), exist_ok=True)


class Kubelet:
    """Runs kubelet and containerd in the test's namespaces, for the duration of a with statement. kubelet reads its
    pods from files."""

    def __init__(self, path, parent):
        self.path, self.parent, self.containerd = path, parent, containers.Containerd()

    def __enter__(self):
        prepare_network()
        prepare_machine(self.parent)
        os.mkdir(MANIFESTS)
        config = {
            "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "cgroupDriver": "cgroupfs",
            "cgroupRoot": f"/{self.parent}", "staticPodPath": MANIFESTS, "fileCheckFrequency": "1s", "oomScoreAdj": 0,
            "failSwapOn": False, "makeIPTablesUtilChains": False, "volumePluginDir": "/run/kubelet-plugins",
            "address": "127.0.0.1", "readOnlyPort": READ_ONLY_PORT, "authentication": {"anonymous": {"enabled": True},
            "webhook": {"enabled": False}}, "authorization": {"mode": "AlwaysAllow"},
            # evictionHard without a limit for disks: kubelet does not evict pods because of a full
            # disk.
            "evictionHard": {"memory.available": "1Mi"}, "imageGCHighThresholdPercent": 100}
        Path("/run/kubelet.json").write_text(json.dumps(config), encoding="ascii")
        self.log = open("/run/kubelet.log", "w+", encoding="utf-8", errors="replace")
        self.containerd.__enter__()
        self.child = subprocess.Popen(
            [self.path, "--config=/run/kubelet.json", "--container-runtime=remote", "--root-dir=/var/lib/kubelet",
             f"--container-runtime-endpoint=unix://{containers.Containerd.SOCKET}", f"--hostname-override={NODE}",
             f"--node-ip={NODE_IP}", f"--pod-infra-container-image={containers.IMAGE}"], stdout=self.log, stderr=self.log)
        if not eventually(lambda: self.answers() or self.ended(), 60) or self.ended():
            said = self.said()
            self.__exit__()
            raise tap.Skip(f"kubelet does not run here: {said}")
        return self

    def __exit__(self, *_):
        # Remove the pods before kubelet stops, because kubelet must unmount their volumes and remove their networks.
        for name in os.listdir(MANIFESTS):
            os.unlink(os.path.join(MANIFESTS, name))
        with contextlib.suppress(OSError, ValueError):
            eventually(lambda: not self.containerd.containers(), 20)
        stop(self.child)
        self.containerd.__exit__()
        self.log.close()

    def ended(self):
        return self.child.poll() is not None

    def answers(self):
        with contextlib.suppress(OSError):
            return self.get("/healthz") == b"ok"
        return False

    def said(self):
        self.log.seek(0)
        return "; ".join(line for line in self.log.read().splitlines() if line[:1] in "EF")[-800:]

    def get(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", READ_ONLY_PORT, timeout=10)
        try:
            connection.request("GET", path)
            return connection.getresponse().read()
        finally:
            connection.close()

    def add(self, pod):
        """Adds a pod with the manifest @pod. The name in the manifest identifies the pod."""
        path = os.path.join(MANIFESTS, pod["metadata"]["name"])
        Path(f"/run/{pod['metadata']['name']}.pod").write_text(yaml.safe_dump(pod), encoding="ascii")
        shutil.move(f"/run/{pod['metadata']['name']}.pod", f"{path}.yml")

    def remove(self, name):
        os.unlink(os.path.join(MANIFESTS, f"{name}.yml"))

    def pods(self):
        """Returns a dict from the pod name in the manifest to kubelet's status of the pod."""
        items = json.loads(self.get("/pods")).get("items") or []
        return {item["metadata"]["name"].removesuffix(f"-{NODE}"): item for item in items}
