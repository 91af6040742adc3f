/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists PMUs; opens and reads counters of a CPU or of a task. */
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

static bool find_pmus(const char *root, const struct arch_event *own, struct perf_event *event)
{
	uint32_t types[PERF_MAX_PMUS];
	unsigned int nr = perf_pmu_types(root, own->pmu, own->pmu_event, types);

	if (!nr)
		return false;
	event->type = types[0];
	event->nr_more = nr - 1;
	memcpy(event->more_types, types + 1, (nr - 1) * sizeof(types[0]));
	return true;
}

static int find_own(const char *root, struct perf_event *event, struct err *err)
{
	const struct arch_event *own = arch_unhalted_events();
	const char *wanted = own->name;

	for (; own->name; own++) {
		snprintf(event->name, sizeof(event->name), "%s", own->name);
		event->config = own->config;
		event->type = PERF_TYPE_HARDWARE;
		event->constant = true;
		/* Only opening shows whether a generic event works; if not, try the next. */
		if (own->generic) {
			/* On our own CPU: opening on another one would interrupt it. */
			int fd = perf_open_cpu(event, sched_getcpu(), true);

			if (fd >= 0)
				close(fd);
			if (fd >= 0 || fd == -EACCES || fd == -EPERM)
				return 0;
		} else if (find_pmus(root, own, event)) {
			return 0;
		}
	}
	if (!wanted)
		return err_unsupported(err, -ENODEV, "use --source bpf, which needs no counter",
				       "no unhalted cycle counter is known for this architecture");
	return err_unsupported(
		err, -ENODEV,
		"use --source bpf, which needs no counter; in a VM, ask the host for "
		"a virtual PMU",
		"no hardware counter for %s (unhalted cycles at a constant rate)", wanted);
}

int perf_event_find(const char *root, const char *name, struct perf_event *ret_event,
		    struct err *err)
{
	struct perf_event event = {.type = PERF_TYPE_HARDWARE};
	char *end;
	int rc;

	if (!name) {
		rc = find_own(root, &event, err);
		if (rc)
			return rc;
		*ret_event = event;
		return 0;
	}
	snprintf(event.name, sizeof(event.name), "%s", name);
	if (!strcmp(name, "cycles")) {
		event.config = PERF_COUNT_HW_CPU_CYCLES;
	} else if (!strcmp(name, "ref-cycles")) {
		event.config = PERF_COUNT_HW_REF_CPU_CYCLES;
		event.constant = true;
	} else if (name[0] == 'r' && name[1]) {
		event.type = PERF_TYPE_RAW;
		errno = 0;
		event.config = strtoull(name + 1, &end, 16);
		/* strtoull() would accept blanks, a sign and 0x as well. */
		if (*end || errno || strspn(name + 1, "0123456789abcdefABCDEF") != strlen(name + 1))
			return err_set(err, -EINVAL, "event %s: not a raw code such as r11", name);
	} else {
		return err_set(
			err, -EINVAL,
			"unknown event %s: expected cycles, ref-cycles or a raw code such as "
			"r11",
			name);
	}
	*ret_event = event;
	return 0;
}

static int open_as(const struct perf_event *event, uint32_t type, unsigned int cpu, bool pinned)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = event->config,
		.pinned = pinned,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int perf_open_cpu(const struct perf_event *event, unsigned int cpu, bool pinned)
{
	int fd = open_as(event, event->type, cpu, pinned);

	for (unsigned int i = 0; fd == -ENOENT && i < event->nr_more; i++)
		fd = open_as(event, event->more_types[i], cpu, pinned);
	return fd;
}

int perf_read(int fd, struct perf_count *ret_count)
{
	uint64_t raw[3];
	ssize_t len = read(fd, raw, sizeof(raw));

	if (len < 0)
		return -errno;
	/* A pinned event in error state reads as end of file. */
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

	rc = sys_path(root, "/sys/bus/event_source/devices", dir, sizeof(dir));
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

static int open_event(pid_t pid, uint32_t type, uint64_t config, bool no_user, bool no_kernel)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = config,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.exclude_user = no_user,
		.exclude_kernel = no_kernel,
		.exclude_hv = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int perf_task_open(struct perf_task *task, pid_t pid, struct err *err)
{
	/* A clock counts all modes whatever is excluded; excluding needs less privilege. */
	task->clock_fd = open_event(pid, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false, true);
	task->user_fd = open_event(pid, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, true);
	task->kernel_fd =
		open_event(pid, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true, false);
	if (task->clock_fd >= 0)
		return 0;
	return err_unsupported(
		err, task->clock_fd, "run as root, or: sysctl kernel.perf_event_paranoid=2",
		"the task clock of the command cannot be opened: %s", strerror(-task->clock_fd));
}

/* Scaled to the whole time if the counter took turns with others. */
static uint64_t read_count(int fd)
{
	struct perf_count count;

	if (fd < 0 || perf_read(fd, &count) || !count.running_ns)
		return UINT64_MAX;
	if (count.running_ns == count.enabled_ns)
		return count.value;
	return (uint64_t)((double)count.value * (double)count.enabled_ns /
			  (double)count.running_ns);
}

void perf_task_read(const struct perf_task *task, struct perf_task_count *ret_count)
{
	ret_count->clock_ns = read_count(task->clock_fd);
	ret_count->user_cycles = read_count(task->user_fd);
	ret_count->kernel_cycles = read_count(task->kernel_fd);
}

void perf_task_close(struct perf_task *task)
{
	int fds[] = {task->clock_fd, task->user_fd, task->kernel_fd};

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}
