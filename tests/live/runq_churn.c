/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Creates 2,000 short-lived cgroups with short tasks. Each cgroup must have a row, or its waits
 * must be in the row (other). runq must free the memory of ended cgroups.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroups.h"
#include "live.h"
#include "measure/runq/slots.h"
#include "report/report.h"
#include "runq_window.h"

#define MAX_CGROUPS   2000
#define TASKS_IN_EACH 4

/*
 * Upper bound for the BPF memory slots that runq uses: slots of live cgroups, slots of cgroups
 * created before the next poll, and reserved slots.
 */
#define FEW_SLOTS   608
#define FIXED_BYTES (5.5 * 1048576.0)

static char prefix[64];
static int nr_cgroups;

static double memory_allowed(void)
{
	unsigned int cpus = get_nprocs_conf();

	return FIXED_BYTES + FEW_SLOTS * (double)RUNQ_SLOT_SIZE(runq_stripes(cpus), cpus);
}

/*
 * Creates and removes the cgroups in a child process, so that the parent process can read windows
 * of runq at the same time.
 */
static void __attribute__((noreturn)) churn(const char *root)
{
	char name[96], path[128];

	for (int i = 0; i < nr_cgroups; i++) {
		snprintf(name, sizeof(name), "%d", i);
		snprintf(path, sizeof(path), "%s/%s", root, name);
		if (!cgroups_mkdir(path))
			_exit(1);
		for (int t = 0; t < TASKS_IN_EACH; t++) {
			pid_t pid = fork();

			if (!pid) {
				/*
				 * The child sleeps in the new cgroup, because it waits for a core
				 * only after usleep().
				 */
				if (cgroups_enter(path, 0))
					usleep(50);
				_exit(0);
			}
		}
		while (wait(NULL) > 0 || errno == EINTR)
			;
		if (!cgroups_remove(path))
			_exit(1);
	}
	_exit(0);
}

/* Sums the wait counts of all rows, and marks the cgroups of this test that have a row. */
static void add_up(const struct report *report, bool seen[MAX_CGROUPS], double *ret_count)
{
	const struct table *table = report_find(report, "groups");
	int count = table_find(table, "count");
	size_t len = strlen(prefix);

	for (size_t row = 0; row < table->nr_rows; row++) {
		const char *name = table_cell(table, row, 0)->str;

		*ret_count += (double)table_cell(table, row, count)->u64;
		if (!strncmp(name, prefix, len) && name[len] == '/') {
			int nr = atoi(name + len + 1);

			if (nr >= 0 && nr < nr_cgroups)
				seen[nr] = true;
		}
	}
}

static double waits_seen(const struct report *report)
{
	return (double)table_cell(report->fields, 0, table_find(report->fields, "waits_seen"))->u64;
}

int main(void)
{
	struct runq_opts opts = {.blame = true};
	static bool seen[MAX_CGROUPS];
	double counted = 0, waits = 0, full = 0, memory = 0;
	struct meter *meter;
	const char *root;
	int status = 0, nr_seen = 0;
	pid_t pid;

	nr_cgroups = live_times(MAX_CGROUPS);
	cgroups_open();
	opts.hierarchy = cgroups_v2() ? RUNQ_HIERARCHY_V2 : RUNQ_HIERARCHY_V1;
	root = cgroups_make("churn");
	snprintf(prefix, sizeof(prefix), "%s", root);
	meter = window_open(&opts);
	window_begin(meter);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		churn(root);
	}
	for (int windows = 0, over = 0; over < 2; windows++) {
		struct report *report = window_end(meter, 1000);

		add_up(report, seen, &counted);
		waits += waits_seen(report);
		full = window_quality(report, "table_full_total");
		memory = window_quality(report, "kernel_bytes");
		report_free(report);
		/*
		 * The report shows a cgroup that ended during the last window only in the next
		 * window.
		 */
		if (over || waitpid(pid, &status, WNOHANG) == pid)
			over++;
		if (windows > 240)
			break;
	}
	meter->ops->close(meter);
	for (int i = 0; i < nr_cgroups; i++)
		nr_seen += seen[i];
	live_note("%d of %d cgroups seen, %.0f waits without a slot; %.0f waits in rows of %.0f "
		  "seen; "
		  "%.1f MiB of kernel memory",
		  nr_seen, nr_cgroups, full, counted, waits, memory / 1048576.0);
	live_ok(WIFEXITED(status) && !WEXITSTATUS(status), "%d cgroups with %d tasks came and went",
		nr_cgroups, nr_cgroups * TASKS_IN_EACH);
	live_ok(nr_seen == nr_cgroups || (full > 0 && nr_seen + full >= nr_cgroups),
		"each cgroup has a row, or its waits are counted under (other)");
	/* A wait that ends while subtick reads a window may be counted in the next window. */
	live_ok(fabs(counted - waits) <= 0.001 * waits, "every wait seen is in some row");
	live_ok(memory < memory_allowed(), "what ended gave its memory back: under %.1f MiB",
		memory_allowed() / 1048576.0);
	return live_done();
}
