/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens and reads the counters of a process tree. */
#include "sys/perf_task.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/perf.h"

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

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}
