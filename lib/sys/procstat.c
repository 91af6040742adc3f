/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the per-CPU lines of /proc/stat. */
#include "sys/procstat.h"

#include <errno.h>
#include <string.h>

#include "base/cpuset.h"
#include "sys/scan.h"

/* Every kernel has user, nice, system and idle; the other columns came later. */
#define PROCSTAT_MIN_COLS 4

static int procstat_parse_cpu(struct scan *line, struct procstat_cpu *cpus, unsigned int nr_cpus)
{
	struct procstat_cpu cpu = {0};
	uint64_t nr;
	int rc = scan_u64(line, &nr);

	if (rc)
		return rc;
	if (nr >= CPUSET_MAX || !scan_char(line, ' '))
		return -EINVAL;
	rc = scan_columns(line, cpu.ticks, PROCSTAT_NR_COLS);
	if (rc < 0)
		return rc;
	if (rc < PROCSTAT_MIN_COLS)
		return -EINVAL;
	if (nr >= nr_cpus)
		return 0;
	if (cpus[nr].nr_cols)
		return -EINVAL;
	cpu.nr_cols = rc < PROCSTAT_NR_COLS ? rc : PROCSTAT_NR_COLS;
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
		/* The CPU lines come first; stop there, before the long intr line. */
		if (!scan_word(&line, "cpu"))
			break;
		if (cut)
			return -EINVAL;
		if (scan_char(&line, ' '))
			continue; /* the sum of all CPUs */
		rc = procstat_parse_cpu(&line, cpus, nr_cpus);
		if (rc)
			return rc;
		any = true;
	}
	return any ? 0 : -EINVAL;
}

int procstat_open(struct procstat *stat, const char *root, struct err *err)
{
	return sys_text_need(&stat->text, root, "/proc/stat", 16384, "mount -t proc proc /proc",
			     err);
}

int procstat_read(struct procstat *stat, struct procstat_cpu *cpus, unsigned int nr_cpus)
{
	int rc = sys_text_read(&stat->text, true);

	return rc ? rc : procstat_parse(stat->text.buf, stat->text.len, cpus, nr_cpus);
}

void procstat_close(struct procstat *stat)
{
	sys_text_close(&stat->text);
}
