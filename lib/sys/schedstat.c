/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the per-CPU lines of /proc/schedstat. */
#include "sys/schedstat.h"

#include <errno.h>
#include <string.h>

#include "base/cpuset.h"
#include "sys/scan.h"

/*
 * Versions 15 to 17 differ in the domain lines only; 14 has three more sched_yield counters before
 * the others (Documentation/scheduler/sched-stats.rst).
 */
#define SCHEDSTAT_COLS	   9
#define SCHEDSTAT_COLS_V14 12

static int schedstat_parse_version(struct scan *rest, int *ret_cols)
{
	struct scan line;
	uint64_t version;
	bool cut;
	int rc;

	if (!scan_line(rest, &line, &cut) || cut || !scan_word(&line, "version "))
		return -EINVAL;
	rc = scan_u64(&line, &version);
	if (rc)
		return rc;
	if (line.pos != line.end)
		return -EINVAL;
	if (version < 14 || version > 17)
		return -EPROTONOSUPPORT;
	*ret_cols = version == 14 ? SCHEDSTAT_COLS_V14 : SCHEDSTAT_COLS;
	return 0;
}

static int schedstat_parse_cpu(struct scan *line, int nr_cols, struct schedstat_cpu *cpus,
			       unsigned int nr_cpus)
{
	uint64_t cols[SCHEDSTAT_COLS_V14], nr;
	int rc = scan_u64(line, &nr);

	if (rc)
		return rc;
	if (nr >= CPUSET_MAX || !scan_char(line, ' '))
		return -EINVAL;
	rc = scan_columns(line, cols, SCHEDSTAT_COLS_V14);
	if (rc < 0)
		return rc;
	if (rc != nr_cols)
		return -EINVAL;
	if (nr >= nr_cpus)
		return 0;
	if (cpus[nr].present)
		return -EINVAL;
	cpus[nr] = (struct schedstat_cpu){
		.run_ns = cols[nr_cols - 3],
		.wait_ns = cols[nr_cols - 2],
		.slices = cols[nr_cols - 1],
		.present = true,
	};
	return 0;
}

int schedstat_parse(const char *text, size_t len, struct schedstat_cpu *cpus, unsigned int nr_cpus)
{
	struct scan rest = {text, text + len}, line;
	bool cut, any = false;
	int nr_cols, rc;

	memset(cpus, 0, nr_cpus * sizeof(*cpus));
	rc = schedstat_parse_version(&rest, &nr_cols);
	if (rc)
		return rc;
	while (scan_line(&rest, &line, &cut)) {
		if (cut)
			return -EINVAL;
		/* Skip the timestamp and the domain lines. */
		if (!scan_word(&line, "cpu"))
			continue;
		rc = schedstat_parse_cpu(&line, nr_cols, cpus, nr_cpus);
		if (rc)
			return rc;
		any = true;
	}
	return any ? 0 : -EINVAL;
}

int schedstat_open(struct schedstat *stat, const char *root, struct err *err)
{
	int rc = sys_text_need(&stat->text, root, "/proc/schedstat", 16384,
			       "boot a kernel built with CONFIG_SCHEDSTATS=y", err);

	if (rc == -ENOENT)
		err_prefix(err, "the kernel was built without CONFIG_SCHEDSTATS");
	return rc;
}

int schedstat_read(struct schedstat *stat, struct schedstat_cpu *cpus, unsigned int nr_cpus)
{
	/* The kernel returns at most one page per read. */
	int rc = sys_text_read(&stat->text, false);

	return rc ? rc : schedstat_parse(stat->text.buf, stat->text.len, cpus, nr_cpus);
}

void schedstat_close(struct schedstat *stat)
{
	sys_text_close(&stat->text);
}
