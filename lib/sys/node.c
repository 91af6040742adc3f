/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Describes the machine and its kernel by uname() and the number of CPUs it can have. */
#include "sys/node.h"

#include <stdio.h>
#include <sys/utsname.h>

#include "sys/cpu.h"

void node_describe(char *buf, size_t size)
{
	struct cpuset possible = {0};
	struct utsname name;

	if (uname(&name)) {
		snprintf(buf, size, "unknown");
		return;
	}
	/* Possible CPUs, not online ones: hotplug does not make it another machine. */
	if (cpu_set(NULL, CPU_POSSIBLE, &possible, NULL))
		cpuset_add(&possible, 0);
	snprintf(buf, size, "%s, %s %s %s, %s, %u CPUs", name.nodename, name.sysname, name.release,
		 name.version, name.machine, (unsigned int)cpuset_count(&possible));
}
