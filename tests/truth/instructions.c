/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the instruction counter of the PMU without subtick. */
#include "instructions.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "live.h"

int instructions_open(int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.pinned = 1,
	};
	struct utsname name;
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		return fd;
	uname(&name);
	if (strcmp(name.machine, "aarch64"))
		live_skip_all("QEMU counts no instructions for a guest on %s", name.machine);
	live_fail_all("no instruction counter on CPU %d: %s", cpu, strerror(errno));
}

uint64_t instructions_read(int fd)
{
	uint64_t value = 0;

	if (read(fd, &value, sizeof(value)) != sizeof(value))
		live_fail_all("the instruction counter cannot be read");
	return value;
}
