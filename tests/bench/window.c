/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures the CPU time of one window of the exporter with many cgroups: reading counters,
 * computing figures, and building the report.
 */
#include <stdio.h>

#include "bench.h"
#include "../truth/many.h"

#define ROUNDS 9

typedef int window_fn(uint64_t *ret_cpu_ns, struct err *err);

/*
 * Measures the CPU time of windows of one kind: windows in which all cgroups have waited, windows
 * in which all pods have waited, or windows without waits.
 */
static int bench_windows(const char *what, window_fn *window, struct err *err)
{
	double took[ROUNDS], first = 0.0, second;
	uint64_t ns;
	int rc;

	for (int i = -1; i < ROUNDS; i++) {
		rc = window(&ns, err);
		if (rc)
			return rc;
		/*
		 * Keep the time of the first window separate, because the first window reads the
		 * names of all cgroups.
		 */
		if (i >= 0)
			took[i] = (double)ns / 1e6;
		else
			first = (double)ns / 1e6;
	}
	/* Save the second window's time, because bench_spread() sorts the array @took. */
	second = took[0];
	printf("  %s: %7.3f ms of CPU time, quartiles %.3f to %.3f; the first: %.3f, the second: %.3f\n",
	       what, bench_spread(took, ROUNDS).median, bench_spread(took, ROUNDS).low,
	       bench_spread(took, ROUNDS).high, first, second);
	return 0;
}

typedef int open_fn(size_t nr, unsigned int cpus, struct err *err);

static int bench_size(const char *what, open_fn *open, size_t nr, unsigned int cpus)
{
	struct err err = {0};
	int rc;

	printf("%zu %s, %u CPUs\n", nr, what, cpus);
	rc = open(nr, cpus, &err);
	if (!rc)
		rc = bench_windows("all have waited", many_window, &err);
	if (!rc)
		rc = bench_windows("none has waited", many_quiet_window, &err);
	if (rc)
		fprintf(stderr, "bench-window: %s\n", err.what);
	many_close();
	return rc ? 1 : 0;
}

/*
 * With any command-line argument, the program measures only the windows of pods, so that callgrind
 * counts only pod windows in window_ends().
 */
int main(int argc, char **argv)
{
	(void)argv;
	return (argc < 2 && (bench_size("cgroups", many_open, 3000, 2) ||
			     bench_size("cgroups", many_open, 16384, 2))) ||
	       bench_size("containers of 1,000 pods, --per pod", many_open_pods, 2999, 2);
}
