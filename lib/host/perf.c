/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists PMUs; opens and reads perf counters of a CPU or of a task. */
#include "host/perf.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/arch.h"
#include "base/array.h"
#include "host/file.h"

#define PMU_DIR "/sys/bus/event_source/devices"

unsigned int perf_pmu_types(const char *root, const char *prefix, const char *event,
			    uint32_t ret_types[PERF_MAX_PMUS])
{
	char path[600], dir[300];
	struct dirent *entry;
	unsigned int nr = 0;
	uint64_t type;
	DIR *pmus;

	if (sys_path(root, PMU_DIR, dir, sizeof(dir)))
		return 0;
	pmus = opendir(dir);
	while (pmus && nr < PERF_MAX_PMUS && (entry = readdir(pmus))) {
		if (strncmp(entry->d_name, prefix, strlen(prefix)))
			continue;
		snprintf(path, sizeof(path), PMU_DIR "/%s/events/%s", entry->d_name, event);
		if (!sys_exists(root, path))
			continue;
		snprintf(path, sizeof(path), PMU_DIR "/%s/type", entry->d_name);
		if (!sys_read_u64(root, path, &type) && type <= UINT32_MAX)
			ret_types[nr++] = type;
	}
	if (pmus)
		closedir(pmus);
	return nr;
}

/* True if the event can be opened, or if only missing privileges prevent opening it. */
static bool can_open(const struct perf_event *event)
{
	/* Opening an event on another CPU would send an IPI. */
	int fd = perf_open_cpu(event, sched_getcpu(), true);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -EACCES || fd == -EPERM;
}

static int find_unhalted(const char *root, struct perf_event *event, struct err *err)
{
	for (const struct arch_event *arch = arch_unhalted_events; arch->name; arch++) {
		snprintf(event->name, sizeof(event->name), "%s", arch->name);
		event->config = arch->config;
		event->constant = true;
		if (!arch->generic)
			event->nr_types = perf_pmu_types(root, arch->pmu, arch->pmu_event, event->types);
		if (arch->generic ? can_open(event) : event->nr_types)
			return 0;
	}
	if (!arch_unhalted_events[0].name)
		return err_unsupported(err, -ENODEV, "use --source bpf, which needs no counter",
				       "no unhalted cycle counter is known for this architecture");
	return err_unsupported(
		err, -ENODEV,
		"use --source bpf, which needs no counter; in a VM, ask the host for "
		"a virtual PMU",
		"no hardware counter for %s (unhalted cycles at a constant rate)",
		arch_unhalted_events[0].name);
}

int perf_event_find(const char *root, const char *name, struct perf_event *ret_event,
		    struct err *err)
{
	struct perf_event event = {.types = {PERF_TYPE_HARDWARE}, .nr_types = 1};
	char *end;
	int rc = 0;

	snprintf(event.name, sizeof(event.name), "%s", name ?: "");
	if (!name) {
		rc = find_unhalted(root, &event, err);
	} else if (!strcmp(name, "cycles")) {
		event.config = PERF_COUNT_HW_CPU_CYCLES;
	} else if (!strcmp(name, "ref-cycles")) {
		event.config = PERF_COUNT_HW_REF_CPU_CYCLES;
		event.constant = true;
	} else if (name[0] == 'r' && name[1]) {
		event.types[0] = PERF_TYPE_RAW;
		errno = 0;
		event.config = strtoull(name + 1, &end, 16);
		/* strtoull() would also accept blanks, a sign and 0x. */
		if (*end || errno || strspn(name + 1, "0123456789abcdefABCDEF") != strlen(name + 1))
			return err_set(err, -EINVAL, "event %s: not a raw code such as r11", name);
	} else {
		return err_set(
			err, -EINVAL,
			"unknown event %s: expected cycles, ref-cycles or a raw code such as "
			"r11",
			name);
	}
	if (!rc)
		*ret_event = event;
	return rc;
}

static int open_attr(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd;

	attr->size = sizeof(*attr);
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int perf_open_cpu(const struct perf_event *event, unsigned int cpu, bool pinned)
{
	int fd = -ENOENT;

	for (unsigned int i = 0; fd == -ENOENT && i < event->nr_types; i++)
		fd = open_attr(&(struct perf_event_attr){.type = event->types[i],
							 .config = event->config,
							 .pinned = pinned},
			       -1, cpu);
	return fd;
}

int perf_read(int fd, struct perf_count *ret_count)
{
	uint64_t raw[3];
	ssize_t len = read(fd, raw, sizeof(raw));

	if (len < 0)
		return -errno;
	/* Reading a pinned event in error state returns end of file. */
	if (len != sizeof(raw))
		return len ? -EIO : -EBUSY;
	*ret_count = (struct perf_count){raw[0], raw[1], raw[2]};
	return 0;
}

int perf_fail(struct err *err, int code, const struct perf_event *event, unsigned int cpu)
{
	switch (code) {
	case -EACCES:
	case -EPERM:
		return err_unsupported(err, code,
				       "run as root or with CAP_PERFMON, or "
				       "sysctl kernel.perf_event_paranoid=0",
				       "not permitted to count %s on CPU %u", event->name, cpu);
	case -ENOENT:
	case -ENODEV:
	case -EOPNOTSUPP:
	case -EINVAL:
		return err_unsupported(err, code,
				       "use --source bpf, which needs no counter; in a VM, ask the "
				       "host for a virtual PMU",
				       "no hardware counter for %s on CPU %u", event->name, cpu);
	case -EBUSY:
		return err_unsupported(err, code,
				       "sysctl kernel.nmi_watchdog=0, end other users of the PMU, or use "
				       "--source bpf, which needs no counter",
				       "the hardware counter for %s on CPU %u is in use", event->name, cpu);
	case -EMFILE:
		return err_unsupported(err, code, "raise the limit: ulimit -n 65536",
				       "too many open files to count %s on CPU %u", event->name, cpu);
	default:
		return err_set(err, code, "cannot count %s on CPU %u: %s", event->name, cpu,
			       strerror(-code));
	}
}

static int pmu_is_hardware(const struct dirent *entry)
{
	static const char *const software[] = {
		"breakpoint", "kprobe", "software", "tracepoint", "uprobe",
	};

	if (entry->d_name[0] == '.')
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(software); i++)
		if (!strcmp(entry->d_name, software[i]))
			return 0;
	return 1;
}

int pmu_list(const char *root, char *buf, size_t size)
{
	struct dirent **entries;
	char dir[PATH_MAX];
	size_t len = 0;
	int nr, rc;

	rc = sys_path(root, PMU_DIR, dir, sizeof(dir));
	if (rc)
		return rc;
	nr = scandir(dir, &entries, pmu_is_hardware, alphasort);
	if (nr < 0)
		return -errno;
	if (size)
		buf[0] = '\0';
	for (int i = 0; i < nr; i++) {
		if (len < size)
			len += snprintf(buf + len, size - len, "%s%s", len ? " " : "",
					entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return nr;
}

static int open_task(pid_t pid, uint32_t type, uint64_t config, bool kernel)
{
	struct perf_event_attr attr = {
		.type = type,
		.config = config,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.exclude_user = kernel,
		.exclude_kernel = !kernel,
		.exclude_hv = 1,
	};

	return open_attr(&attr, pid, -1);
}

int perf_task_open(struct perf_task *task, pid_t pid, struct err *err)
{
	/* Excluding kernel mode needs fewer privileges. The task clock still counts kernel mode. */
	task->clock_fd = open_task(pid, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false);
	task->user_fd = open_task(pid, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false);
	task->kernel_fd = open_task(pid, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true);
	if (task->clock_fd >= 0)
		return 0;
	return err_unsupported(
		err, task->clock_fd, "run as root, or: sysctl kernel.perf_event_paranoid=2",
		"the task clock of the command cannot be opened: %s", strerror(-task->clock_fd));
}

static uint64_t read_scaled(int fd)
{
	struct perf_count count;

	if (fd < 0 || perf_read(fd, &count) || !count.running_ns)
		return UINT64_MAX;
	return count.running_ns == count.enabled_ns
		       ? count.value
		       : (uint64_t)((double)count.value * (double)count.enabled_ns /
				    (double)count.running_ns);
}

void perf_task_read(const struct perf_task *task, struct perf_task_count *ret_count)
{
	ret_count->clock_ns = read_scaled(task->clock_fd);
	ret_count->user_cycles = read_scaled(task->user_fd);
	ret_count->kernel_cycles = read_scaled(task->kernel_fd);
}

void perf_task_close(struct perf_task *task)
{
	int fds[] = {task->clock_fd, task->user_fd, task->kernel_fd};

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}
