# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the container of the DaemonSet without Kubernetes, with the arguments and capabilities of the manifest and with
an empty read-only root.

The root directory, its mounts and the process are removed at the end of the with statement, also
after an error. The mounts of the root directory are in a mount namespace that ends with the
process."""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile

# Script that runs in a separate mount and PID namespace. $1 is the root directory, the other
# arguments are the command. The namespace script INSIDE keeps CAP_SYS_CHROOT for the command
# chroot. In Kubernetes the container runtime changes the root directory, and the container has no
# CAP_SYS_CHROOT.
INSIDE = """
set -e
root=$1 caps=$2
shift 2
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount --rbind /sys/fs/cgroup "$root/sys/fs/cgroup"
[ ! -d "$root/var/lib/subtick" ] || mount -t tmpfs -o mode=755 tmpfs "$root/var/lib/subtick"
mount -o remount,bind,ro "$root"
exec setpriv --bounding-set "-all,+sys_chroot$caps" --no-new-privs chroot "$root" "$@"
"""


def libraries(program):
    """Returns the shared libraries that the dynamic loader needs to start the program. The program
    in the container image is linked statically."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(/\S+) \(0x", said)


class Pod:
    """Runs the exporter like the container of the DaemonSet, for the duration of a with statement.
    The exporter listens on 127.0.0.1:port."""

    def __init__(self, spec, program, port, token):
        """@spec is the container in the DaemonSet's manifest."""
        self.caps = spec["securityContext"]["capabilities"]["add"]
        self.args = [arg.replace("$(POD_IP):7828", f"127.0.0.1:{port}") for arg in spec["args"]]
        self.program, self.token = program, token
        # Empty directory on the node for the history, owned by root.
        self.writable = [mount["mountPath"] for mount in spec["volumeMounts"] if not mount.get("readOnly")]

    def __enter__(self):
        self.root, self.log = tempfile.mkdtemp(), tempfile.TemporaryFile(mode="w+")
        for name in ("proc", "sys", "etc/subtick", *(path.strip("/") for path in self.writable)):
            os.makedirs(os.path.join(self.root, name))
        for path in libraries(self.program):
            os.makedirs(self.root + os.path.dirname(path), exist_ok=True)
            shutil.copy(path, self.root + path)
        shutil.copy(self.program, os.path.join(self.root, "subtick"))
        with open(os.path.join(self.root, "etc/subtick/token"), "w", encoding="ascii") as file:
            os.fchmod(file.fileno(), 0o400)
            file.write(self.token)
        os.chmod(self.root, 0o755)
        caps = "".join(f",+{cap.lower()}" for cap in self.caps)
        self.child = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--propagation", "private", "sh", "-c", INSIDE,
             "sh", self.root, caps, "/subtick", *self.args], stderr=self.log)
        return self

    def __exit__(self, *_):
        # Kill the exporter by its PID, because PR_SET_PDEATHSIG is reset when the exporter changes its user.
        with contextlib.suppress(OSError, IndexError):
            os.kill(self.pid(), signal.SIGKILL)
        self.child.kill()
        self.child.wait()
        self.log.close()
        shutil.rmtree(self.root)

    def pid(self):
        """Returns the PID of the exporter, the only child of unshare."""
        with open(f"/proc/{self.child.pid}/task/{self.child.pid}/children", encoding="ascii") as file:
            return int(file.read().split()[0])

    def said(self):
        self.log.seek(0)
        return self.log.read().strip()
