# SPDX-License-Identifier: LGPL-2.1-or-later
"""Boots a root directory of debian.py with systemd-nspawn. The guest's systemd starts subtick.service, and the test
reads the status of the service."""
import os
import shutil
import subprocess

import tap

# Separate machine ID for the guest, because two systems must not use the same machine ID.
MACHINE_ID = "8d1ce7a4c7f84bb2b2f7f0d1c5a9e601"
SCRIPT = """#!/bin/sh
exec >/root/unit-result 2>&1
systemctl start subtick && echo started
sleep 3
systemctl is-active subtick && echo active
python3 - <<'P'
import urllib.request
text = urllib.request.urlopen("http://127.0.0.1:7828/metrics", timeout=10).read().decode()
print("served", sum(line.startswith("subtick_") for line in text.splitlines()), "series")
P
systemctl show -p MainPID,ActiveState,NRestarts,Result subtick
pid=$(systemctl show -p MainPID --value subtick)
grep -E '^(Uid|CapEff|Seccomp):' /proc/$pid/status
systemd-analyze security subtick --no-pager | tail -1
systemctl stop subtick && echo stopped
journalctl -u subtick --no-pager -q | tail -20
"""
UNIT = """[Unit]
After=network.target
[Service]
Type=oneshot
ExecStart=/root/unit-test
ExecStopPost=/bin/systemctl --no-block poweroff
TimeoutStartSec=90
[Install]
WantedBy=multi-user.target
"""


def boot(root):
    argv = ["systemd-nspawn", "--quiet", "-D", root.path, "--boot", "--register=no", "--keep-unit", "--capability=all",
            "--system-call-filter=bpf perf_event_open", "--private-network", "--machine=subtick-test",
            "--uuid=" + MACHINE_ID]
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", env={**os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"}) as machine:
        try:
            return machine.communicate(timeout=240)[0]
        except BaseException:
            # Killing systemd-nspawn ends all processes of the guest.
            machine.kill()
            machine.wait()
            raise


def check_unit(root):
    if not shutil.which("systemd-nspawn"):
        raise tap.Skip("no systemd-nspawn: apt-get install systemd-container")
    apt = "apt-get -q -y -o Dpkg::Use-Pty=0 --no-install-recommends"
    root.run("sh", "-ec", f"{apt} install systemd systemd-sysv dbus python3 /first/subtick_*.deb", seconds=900)
    root.write("/root/unit-test", SCRIPT, 0o755)
    root.write("/etc/systemd/system/unit-test.service", UNIT)
    root.write("/etc/machine-id", MACHINE_ID + "\n")
    for path in ("/root/unit-result", "/var/lib/dbus/machine-id"):
        if os.path.lexists(root.path + path):
            os.unlink(root.path + path)
    root.run("systemctl", "enable", "unit-test.service")
    enabled = root.run("systemctl", "is-enabled", "subtick", check=False)[1].strip()
    try:
        said = boot(root)
    finally:
        os.unlink(root.path + "/etc/systemd/system/unit-test.service")
        os.unlink(root.path + "/etc/systemd/system/multi-user.target.wants/unit-test.service")
    if not os.path.exists(root.path + "/root/unit-result"):
        if "Failed to" in said and "Welcome to" not in said:
            raise tap.Skip(f"nspawn cannot boot here: {said.strip().splitlines()[-1]}")
        yield f"the machine did not come up: …{said[-1500:]}"
        return
    with open(root.path + "/root/unit-result", encoding="utf-8", errors="replace") as text:
        result = text.read()
    print("#", "; ".join(line for line in result.splitlines() if line.startswith(("served", "→", "Uid", "CapEff"))))
    for wanted in ("started\n", "active\nactive\n", "served ", "NRestarts=0", "stopped\n"):
        if wanted not in result:
            yield f"no {wanted.strip()!r}: {result[-1500:]}"
    if "served 0 " in result:
        yield "no series"
    if enabled not in ("disabled", "indirect"):
        yield f"the package enabled its unit: {enabled}"
