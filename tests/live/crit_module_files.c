/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Access to files, child processes and the kernel log for crit_module.c. */
#include "crit_module.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char *const tree_ops[3] = {"irq", "preempt", "irq_save"};
const char *const tree_stats[4] = {"median", "average", "max", "max_avg"};

static int open_in_tree(const char *path, int flags)
{
	char full[256];
	int fd;

	snprintf(full, sizeof(full), "%s%s", path[0] == '/' ? "" : TREE, path);
	fd = open(full, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int file_write_bytes(const char *path, const void *data, size_t size)
{
	int fd = open_in_tree(path, O_WRONLY);
	ssize_t written;
	int err = 0;

	if (fd < 0)
		return fd;
	written = write(fd, data, size);
	if (written < 0)
		err = -errno;
	else if ((size_t)written != size)
		err = -EIO;
	close(fd);
	return err;
}

int file_write(const char *path, const char *text)
{
	return file_write_bytes(path, text, strlen(text));
}

int file_write_u64(const char *path, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu\n", (unsigned long long)value);
	return file_write(path, text);
}

int file_read(const char *path, char *text, size_t size)
{
	int fd = open_in_tree(path, O_RDONLY);
	ssize_t got;
	int err = 0;

	if (fd < 0)
		return fd;
	got = read(fd, text, size - 1);
	if (got < 0)
		err = -errno;
	else
		text[got] = '\0';
	close(fd);
	return err;
}

int file_read_u64(const char *path, uint64_t *ret_value)
{
	char text[64], *end;
	uint64_t value;
	int err;

	err = file_read(path, text, sizeof(text));
	if (err)
		return err;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || strcmp(end, "\n"))
		return -EPROTO;
	*ret_value = value;
	return 0;
}

uint64_t file_u64(const char *path)
{
	uint64_t value;

	return file_read_u64(path, &value) ? UINT64_MAX : value;
}

int module_load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, "", 0))
		err = -errno;
	close(fd);
	return err;
}

int module_unload(void)
{
	return syscall(SYS_delete_module, "tracerbench", O_NONBLOCK) ? -errno : 0;
}

pid_t benchmark_start(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(-file_write("benchmark", "1\n"));
	return pid;
}

int child_wait(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

void sleep_s(double seconds)
{
	struct timespec ts = {.tv_sec = seconds, .tv_nsec = (seconds - (time_t)seconds) * 1e9};

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static bool bound_to(const char *pid, unsigned int cpu)
{
	char path[300], line[256];
	bool bound = false;
	unsigned int only;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		char rest;

		if (sscanf(line, "Cpus_allowed_list: %u%c", &only, &rest) == 2)
			bound = only == cpu && rest == '\n';
	}
	if (file)
		fclose(file);
	return bound;
}

int threads_named(const char *prefix, bool *ret_bound)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int count = 0;

	*ret_bound = true;
	while (proc && (entry = readdir(proc))) {
		char path[300], comm[32];
		unsigned int cpu;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		if (file_read(path, comm, sizeof(comm)) || strncmp(comm, prefix, strlen(prefix)))
			continue;
		count++;
		if (sscanf(comm + strlen(prefix), "%u", &cpu) != 1 || !bound_to(entry->d_name, cpu))
			*ret_bound = false;
	}
	if (proc)
		closedir(proc);
	return count;
}

const char *kernel_complaint(void)
{
	static const char *const bad[] = {
		"WARNING:",   "BUG:",	"Oops",		  "Call trace",
		"Call Trace", "lockup", "detected stall", "blocked for more than"};
	static char log[1 << 18], line[256];
	int size = klogctl(3 /* SYSLOG_ACTION_READ_ALL */, log, sizeof(log) - 1);

	if (size < 0)
		return "the kernel's log can't be read";
	log[size] = '\0';
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const char *found = strstr(log, bad[i]);

		if (!found)
			continue;
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(found, "\n"), found);
		return line;
	}
	return NULL;
}

bool numbers_are(uint64_t samples, uint64_t highest, uint64_t work)
{
	return file_u64("nr_samples") == samples && file_u64("nr_highest") == highest &&
	       file_u64("do_work") == work;
}

uint64_t result(const char *op, const char *stat)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", op, stat);
	return file_u64(path);
}

int configure(uint64_t samples, uint64_t highest, uint64_t work)
{
	int err = file_write_u64("nr_samples", samples);

	err = err ?: file_write_u64("nr_highest", highest);
	return err ?: file_write_u64("do_work", work);
}
