/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses /proc/stat, /proc/schedstat and /proc/PID/stat. */
#include "host/procstat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cpuset.h"
#include "host/file.h"

/* Every kernel has the columns user, nice, system and idle. */
#define PROCSTAT_MIN_COLS 4

/* Parses digits. Returns -EINVAL if there are none, -ERANGE if the number exceeds 64 bits. */
static int scan_u64(struct scan *scan, uint64_t *ret_value)
{
	const char *p = scan->pos;
	uint64_t value = 0;

	for (; p < scan->end && *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return -ERANGE;
	if (p == scan->pos)
		return -EINVAL;
	scan->pos = p;
	*ret_value = value;
	return 0;
}

/* Parses the CPU number and the columns after "cpu". Returns the number of columns, or -errno. */
static int parse_cpu(struct scan *line, uint64_t *ret_nr, uint64_t *cols, int max)
{
	int nr = 0, rc = scan_u64(line, ret_nr);
	uint64_t value;

	if (!rc && *ret_nr >= CPUSET_MAX)
		return -EINVAL;
	while (!rc && line->pos < line->end) {
		if (!scan_char(line, ' '))
			return -EINVAL;
		while (scan_char(line, ' '))
			;
		if (line->pos == line->end)
			break;
		rc = scan_u64(line, &value);
		if (!rc && nr < max)
			cols[nr] = value;
		nr++;
	}
	return rc ?: nr;
}

static int procstat_parse_cpu(struct scan *line, struct procstat_cpu *cpus, unsigned int nr_cpus)
{
	struct procstat_cpu cpu = {0};
	uint64_t nr;
	int cols = parse_cpu(line, &nr, cpu.ticks, PROCSTAT_NR_COLS);

	if (cols < 0)
		return cols;
	if (cols < PROCSTAT_MIN_COLS || (nr < nr_cpus && cpus[nr].nr_cols))
		return -EINVAL;
	cpu.nr_cols = cols < PROCSTAT_NR_COLS ? cols : PROCSTAT_NR_COLS;
	if (nr < nr_cpus)
		cpus[nr] = cpu;
	return 0;
}

int procstat_parse(const char *text, size_t len, struct procstat_cpu *cpus, unsigned int nr_cpus)
{
	struct scan rest = {text, text + len}, line;
	bool cut, any = false;
	int rc;

	memset(cpus, 0, nr_cpus * sizeof(*cpus));
	while (scan_line(&rest, &line, &cut)) {
		/* Stop after the CPU lines, because the next line "intr" is long. */
		if (!scan_word(&line, "cpu"))
			break;
		if (cut)
			return -EINVAL;
		if (scan_char(&line, ' '))
			continue; /* the line "cpu" with the sum of all CPUs is skipped */
		rc = procstat_parse_cpu(&line, cpus, nr_cpus);
		if (rc)
			return rc;
		any = true;
	}
	return any ? 0 : -EINVAL;
}

int procstat_open(struct sys_text *stat, const char *root, struct err *err)
{
	return sys_text_need(stat, root, "/proc/stat", 16384, "mount -t proc proc /proc", err);
}

int procstat_read(struct sys_text *stat, struct procstat_cpu *cpus, unsigned int nr_cpus)
{
	return sys_text_read(stat, true) ?: procstat_parse(stat->buf, stat->len, cpus, nr_cpus);
}

/*
 * Columns of a CPU line of /proc/schedstat. Version 14 has three more columns at the start of the
 * line (Documentation/scheduler/sched-stats.rst).
 */
#define SCHEDSTAT_COLS	   9
#define SCHEDSTAT_COLS_V14 12

static int schedstat_parse_cpu(struct scan *line, int nr_cols, struct schedstat_cpu *cpus,
			       unsigned int nr_cpus)
{
	uint64_t cols[SCHEDSTAT_COLS_V14], nr;
	int rc = parse_cpu(line, &nr, cols, SCHEDSTAT_COLS_V14);

	if (rc < 0)
		return rc;
	if (rc != nr_cols || (nr < nr_cpus && cpus[nr].present))
		return -EINVAL;
	if (nr < nr_cpus)
		cpus[nr] = (struct schedstat_cpu){
			.run_ns = cols[nr_cols - 3],
			.present = true,
		};
	return 0;
}

int schedstat_parse(const char *text, size_t len, struct schedstat_cpu *cpus, unsigned int nr_cpus)
{
	struct scan rest = {text, text + len}, line;
	bool cut, any = false;
	uint64_t version;
	int nr_cols, rc;

	memset(cpus, 0, nr_cpus * sizeof(*cpus));
	if (!scan_line(&rest, &line, &cut) || cut || !scan_word(&line, "version ") ||
	    scan_u64(&line, &version) || line.pos != line.end)
		return -EINVAL;
	if (version < 14 || version > 17)
		return -EPROTONOSUPPORT;
	nr_cols = version == 14 ? SCHEDSTAT_COLS_V14 : SCHEDSTAT_COLS;
	while (scan_line(&rest, &line, &cut)) {
		if (cut)
			return -EINVAL;
		/* The lines "timestamp" and "domain" of /proc/schedstat are skipped. */
		if (!scan_word(&line, "cpu"))
			continue;
		rc = schedstat_parse_cpu(&line, nr_cols, cpus, nr_cpus);
		if (rc)
			return rc;
		any = true;
	}
	return any ? 0 : -EINVAL;
}

int schedstat_open(struct sys_text *stat, const char *root, struct err *err)
{
	int rc = sys_text_need(stat, root, "/proc/schedstat", 16384,
			       "boot a kernel built with CONFIG_SCHEDSTATS=y", err);

	if (rc == -ENOENT)
		err_prefix(err, "the kernel was built without CONFIG_SCHEDSTATS");
	return rc;
}

int schedstat_read(struct sys_text *stat, struct schedstat_cpu *cpus, unsigned int nr_cpus)
{
	/* One read returns at most one page of /proc/schedstat. */
	return sys_text_read(stat, false) ?: schedstat_parse(stat->buf, stat->len, cpus, nr_cpus);
}

int pidstat_parse(const char *text, struct pidstat *ret_stat)
{
	/* In /proc/PID/stat the task name is in parentheses and may itself contain parentheses. */
	const char *rest = strrchr(text, ')');
	struct pidstat stat = {.cpu = -1};
	int got;

	if (!rest)
		return -EINVAL;
	/*
	 * The fields after the task name in /proc/PID/stat are state ppid pgrp session tty tpgid
	 * flags minflt cminflt majflt cmajflt utime stime, 23 others, and processor (proc(5)).
	 */
	got = sscanf(rest + 1,
		     " %*c %d %*d %*d %*d %*d %" SCNu32 " %*u %*u %*u %*u %" SCNu64 " %" SCNu64
		     " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		     "%*s %*s %*s %*s %d",
		     &stat.parent, &stat.flags, &stat.user_ticks, &stat.system_ticks, &stat.cpu);
	if (got < 4)
		return -EINVAL;
	*ret_stat = stat;
	return 0;
}

/*
 * Returns the process id of @pid in the PID namespace of the mounted /proc, or -errno. In a
 * container /proc can be a mount of the host's /proc. The fdinfo file of a pidfd has the process id
 * in the PID namespace of the mounted /proc.
 */
static int pid_in_proc(pid_t pid)
{
	char text[512], self[16] = "";
	const char *line;
	int fd, rc;

	if (readlink("/proc/self", self, sizeof(self) - 1) > 0 && atoi(self) == getpid())
		return pid;
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0)
		return -errno;
	rc = sys_read_file(NULL, SYS_PATH("/proc/self/fdinfo/%d", fd), text, sizeof(text));
	close(fd);
	if (rc < 0)
		return rc;
	line = strstr(text, "\nPid:");
	return line && sscanf(line, " Pid: %d", &pid) == 1 && pid > 0 ? pid : -ESRCH;
}

int pidstat_read(const char *root, pid_t pid, struct pidstat *ret_stat)
{
	char text[1024];
	int rc = root ? pid : pid_in_proc(pid);

	if (rc >= 0)
		rc = sys_read_file(root, SYS_PATH("/proc/%d/stat", rc), text, sizeof(text));
	return rc < 0 ? rc : pidstat_parse(text, ret_stat);
}
