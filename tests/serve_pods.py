# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the exporter with pods: pod names after the exporter has dropped its privileges, sums per pod, selected
labels."""
import contextlib
import os
import re
import subprocess
import sys
import tempfile

import tap
from exporter import Server, cgroup_root, eventually, promtool, remove_cgroup

UID = "0a1b2c3d-4e5f-6789-abcd-ef0123456789"
IDS = ["00112233445566778899aabbccddeeff00112233445566778899aabbccddee" + end for end in ("01", "02")]
COUNT = "subtick_runqueue_latency_seconds_count"

# Script that gives the exporter a private /var/log as on a Kubernetes node. The private /var/log is removed when the
# exporter exits.
NODE = """
set -e
mount -t tmpfs none /var/log
mkdir /var/log/pods /var/log/containers
exec "$@"
"""


@contextlib.contextmanager
def pod(uid, ids):
    """Creates the cgroups of a pod as kubelet's cgroupfs driver does. Each container has a task that repeatedly sleeps
    and wakes up."""
    top = os.path.join(os.fsdecode(cgroup_root()), f"subtick-{os.getpid()}-kube")
    paths = [top, f"{top}/burstable", f"{top}/burstable/pod{uid}"]
    paths += [f"{paths[-1]}/{container}" for container in ids]
    tasks, made = [], []
    try:
        for path in paths:
            os.mkdir(path)
            made.append(path)
        for path in paths[3:]:
            tasks.append(subprocess.Popen([sys.executable, "-c", "import time\nwhile 1: time.sleep(.001)"]))
            with open(f"{path}/cgroup.procs", "w", encoding="ascii") as procs:
                procs.write(str(tasks[-1].pid))
        yield f"/{os.path.basename(top)}/burstable/pod{uid}"
    finally:
        for task in tasks:
            task.kill()
            task.wait()
        for path in reversed(made):
            remove_cgroup(path)


class Node(Server):
    """Runs an exporter with private copies of kubelet's directories."""

    def __init__(self, *args):
        super().__init__("--collect", "runq", *args)
        self.argv = ["unshare", "--mount", "--propagation", "private", "sh", "-c", NODE, "sh", *self.argv]
        probe = subprocess.run([*self.argv[:6], "sh", "true"], capture_output=True, check=False)
        if probe.returncode:
            raise tap.Skip("no mount namespace: " + probe.stderr.decode().strip())

    def path(self, name):
        return f"/proc/{self.child.pid}/root/var/log/{name}"

    def series(self, *parts):
        """Returns the labels of the histograms whose labels contain all @parts."""
        found = (re.fullmatch(COUNT + r"\{(.*)\}", key) for key in self.metrics())
        return [match[1] for match in found if match and all(part in match[1] for part in parts)]


def check_names():
    """Without privileges, the exporter finds the names of a new pod and its container within 2 s.
    The number of waits of a container does not decrease when the container gets names."""
    with pod(UID, IDS) as path, Node() as server:
        if not eventually(lambda: len(server.series(path)) == 2):
            yield f"series: {server.series()}"
        key = f'{COUNT}{{cgroup="{path}/{IDS[0]}"}}'
        before = server.metrics().get(key, 0)
        if not before:
            yield f"no {key}"
        os.mkdir(server.path(f"pods/shop_web-1_{UID}"))
        os.symlink("/nowhere", server.path(f"containers/web-1_shop_nginx-{IDS[0]}.log"))
        # Create invalid names, which Kubernetes never uses.
        os.mkdir(server.path(f'pods/a"b_web_{UID}'))
        os.mkfifo(server.path(f"containers/web-1_shop_evil-{IDS[1]}.log"))
        named = f'{path}/{IDS[0]}",namespace="shop",pod="web-1",container="nginx"'
        if not eventually(lambda: server.series(named), 2):
            yield f"not named after 2 s: {server.series(path)}"
        if not server.series(f'{path}/{IDS[1]}",namespace="shop",pod="web-1"') or server.series("evil"):
            yield f"a container without a link: {server.series(path)}"
        after = server.metrics().get(f'{COUNT}{{cgroup="{named}}}', 0)
        if after < before:
            yield f"the name set the counter back from {before:.0f} to {after:.0f}"
        if len(server.series(path)) != 2:
            yield f"old series are still there: {server.series(path)}"
        status = open(f"/proc/{server.child.pid}/status", encoding="ascii").read()
        if not re.search(r"^CapEff:\s*0+$", status, re.M) or not re.search(r"^Seccomp:\s*2$", status, re.M):
            yield "still has privileges"
        yield from promtool(server.get("/metrics")[2])


def check_per_pod():
    """With --per pod, the exporter has one series per pod, with only the requested labels."""
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as file, pod(UID, IDS) as path, \
            Node("--per", "pod", "--config", file.name) as server:
        file.write("labels = pod,qos\n")
        file.flush()
        os.chmod(file.name, 0o644)
        server.hangup()
        os.mkdir(server.path(f"pods/shop_web-1_{UID}"))
        want = f'cgroup="{path}",pod="web-1",qos="burstable"'
        if not eventually(lambda: server.series(path) == [want]):
            yield f"series: {server.series(path)}"
        causes = [key for key in server.metrics() if key.startswith("subtick_runqueue_cause_seconds_total{")
                  and path in key]
        if not causes or not all('pod="web-1",qos="burstable"' in key and 'cause="' in key for key in causes):
            yield f"causes: {causes}"
    with pod(UID, IDS) as path, Node("--depth", "2") as server:
        top = path.rsplit("/", 1)[0]
        if not eventually(lambda: server.series(top)) or server.series(top) != [f'cgroup="{top}"']:
            yield f"with --depth 2: {server.series(top)}"
    with pod(UID, IDS), Node("--per", "namespace") as server:
        os.mkdir(server.path(f"pods/shop_web-1_{UID}"))
        if not eventually(lambda: server.series('namespace="shop"') and server.series('namespace="(no pod)"')):
            yield f"series: {server.series()}"
