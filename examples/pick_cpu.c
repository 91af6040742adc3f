/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Moves this process to the least loaded core, five times a second. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <subtick/load.h>

/* Prints all loads. Returns the least loaded allowed core, or -1 if no core has a figure. */
static int pick_cpu(const struct subtick_window *window, const cpu_set_t *allowed)
{
	double least = 2.0, busy;
	int best = -1;

	for (size_t cpu = 0; cpu < subtick_rows(window, SUBTICK_CPUS); cpu++) {
		if (subtick_double(window, SUBTICK_CPUS, cpu, SUBTICK_BUSY_RATIO, &busy)) {
			/* the core is offline or its load is not readable */
			printf("cpu%zu     -    ", cpu);
			continue;
		}
		printf("cpu%zu %5.1f %%  ", cpu, busy * 100.0);
		if (CPU_ISSET(cpu, allowed) && busy < least) {
			least = busy;
			best = (int)cpu;
		}
	}
	printf("-> cpu%d\n", best);
	return best;
}

int main(int argc, char **argv)
{
	struct subtick_load_opts opts = {.size = sizeof(opts),
					 .source = argc > 1 ? (uint32_t)atoi(argv[1]) : SUBTICK_LOAD_AUTO};
	int rounds = argc > 2 ? atoi(argv[2]) : 10;
	const struct subtick_window *window = NULL;
	cpu_set_t allowed, one;
	struct subtick *load = NULL;
	int rc;

	if (sched_getaffinity(0, sizeof(allowed), &allowed)) {
		perror("pick_cpu: sched_getaffinity");
		return 1;
	}
	rc = subtick_load_open(&load, &opts);
	while (!rc && rounds-- > 0) {
		int cpu;

		usleep(200000);
		rc = subtick_read(load, &window);
		cpu = rc ? -1 : pick_cpu(window, &allowed);
		if (cpu < 0)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
	}
	if (rc)
		fprintf(stderr, "pick_cpu: %s: %s\n", strerror(-rc), subtick_error());
	else if (window)
		printf("source %s\n", subtick_text(window, SUBTICK_WINDOW, 0, SUBTICK_SOURCE));
	subtick_close(load);
	return rc ? 1 : 0;
}
