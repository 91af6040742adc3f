/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a window of the exporter costs with many cgroups: slots, figures, report. */
#include <stdio.h>

#include "bench.h"
#include "../truth/many.h"

#define ROUNDS 9

static int bench_size(size_t nr, unsigned int cpus)
{
	struct err err = {0};
	double took[ROUNDS], first = 0.0, second;
	uint64_t ns;

	if (many_open(nr, cpus, &err))
		goto fail;
	for (int i = -1; i < ROUNDS; i++) {
		if (many_window(&ns, &err))
			goto fail;
		/* The first one meets every cgroup for the first time. */
		if (i >= 0)
			took[i] = (double)ns / 1e6;
		else
			first = (double)ns / 1e6;
	}
	second = took[0];
	printf("%7zu cgroups, %3u CPUs: %6.1f ms of CPU time, quartiles %.1f to %.1f; all new: %.1f, "
	       "and %.1f in the window after that\n",
	       nr, cpus, bench_spread(took, ROUNDS).median, bench_spread(took, ROUNDS).low,
	       bench_spread(took, ROUNDS).high, first, second);
	many_close();
	return 0;
fail:
	fprintf(stderr, "bench-window: %s\n", err.what);
	return 1;
}

int main(void)
{
	return bench_size(16384, 2);
}
