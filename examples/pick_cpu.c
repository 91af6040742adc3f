/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Places work on the least loaded core: moves itself there five times a second. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <subtick/cpu_load.h>

/* The least loaded of the cores we may run on, or -1 if none can be measured. */
static int pick_cpu(struct cpu_load *load, const cpu_set_t *allowed)
{
	float least = 2.0f;
	int best = -1;

	for (int cpu = 0; cpu < cpu_load_nr(load); cpu++) {
		float busy = cpu_load_get(load, cpu);

		if (busy < 0.0f || !CPU_ISSET(cpu, allowed))
			continue; /* offline, not readable, or not allowed */
		if (busy < least) {
			least = busy;
			best = cpu;
		}
	}
	return best;
}

int main(int argc, char **argv)
{
	struct cpu_load_opts opts = {.size = sizeof(opts), .source = argc > 1 ? argv[1] : "auto"};
	int rounds = argc > 2 ? atoi(argv[2]) : 10;
	struct cpu_load *load;
	cpu_set_t allowed, one;
	int rc;

	rc = cpu_load_open(&load, &opts);
	if (rc) {
		fprintf(stderr, "pick_cpu: %s: %s\n", strerror(-rc), cpu_load_strerror());
		return 1;
	}
	if (sched_getaffinity(0, sizeof(allowed), &allowed)) {
		perror("pick_cpu: sched_getaffinity");
		cpu_load_destroy(load);
		return 1;
	}
	printf("source %s\n", cpu_load_source(load));
	while (rounds-- > 0) {
		int cpu;

		usleep(200000);
		cpu_load_update(load);
		for (cpu = 0; cpu < cpu_load_nr(load); cpu++) {
			float busy = cpu_load_get(load, cpu);

			if (busy < 0.0f)
				printf("cpu%d     -    ", cpu);
			else
				printf("cpu%d %5.1f %%  ", cpu, busy * 100.0f);
		}
		cpu = pick_cpu(load, &allowed);
		printf("-> cpu%d\n", cpu);
		if (cpu < 0)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
	}
	cpu_load_destroy(load);
	return 0;
}
