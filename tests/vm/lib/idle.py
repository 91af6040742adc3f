# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds idle states to an emulated arm64 guest through its device tree: WFI and two more states."""

import re
import shutil
import subprocess

import apt

# Retention states (bit 16 of arm,psci-suspend-param is 0). QEMU's PSCI accepts retention states and
# returns at the next interrupt. The guest enters and leaves retention states, but QEMU does not
# simulate their claimed latencies.
STATES = """
	idle-states {
		entry-method = "psci";
		shallow: shallow-sleep {
			compatible = "arm,idle-state";
			arm,psci-suspend-param = <1>;
			entry-latency-us = <20>;
			exit-latency-us = <40>;
			min-residency-us = <100>;
		};
		deep: deep-sleep {
			compatible = "arm,idle-state";
			arm,psci-suspend-param = <2>;
			entry-latency-us = <200>;
			exit-latency-us = <400>;
			min-residency-us = <2000>;
		};
	};
"""


def device_tree(command, smp, scratch):
    """Writes QEMU's device tree for this command line, with the idle states added. Returns the path."""
    dtc = shutil.which("dtc")
    if not dtc:
        raise apt.Unavailable("no dtc; install device-tree-compiler")
    dumped, edited = scratch / "machine.dtb", scratch / "idle.dtb"
    dump = list(command)
    position = dump.index("-M") + 1
    dump[position] += f",dumpdtb={dumped}"
    subprocess.run(dump, check=True, capture_output=True)
    text = subprocess.run([dtc, "-q", "-I", "dtb", "-O", "dts", dumped], check=True,
                          capture_output=True, text=True).stdout
    text, count = re.subn(r"(\n\t\tcpu@[0-9a-f]+ \{\n)",
                          r"\1\t\t\tcpu-idle-states = <&shallow &deep>;\n", text)
    if count != smp:
        raise apt.Unavailable(f"QEMU's device tree shows {count} processors, not {smp}")
    text = re.sub(r"(\n\tcpus \{\n(?:.*\n)*?)(\t\};\n)",
                  lambda m: m[1] + STATES + m[2], text, count=1)
    subprocess.run([dtc, "-q", "-I", "dts", "-O", "dtb", "-o", edited], input=text, text=True,
                   check=True)
    return edited
