/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints average and P99 of one cgroup's waits for a core, once a second. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <subtick/runq.h>

int main(int argc, char **argv)
{
	const char *cgroup = argc > 1 ? argv[1] : "/";
	const uint64_t le_ns[] = {100000, 500000, 1000000, 5000000, 10000000};
	const struct runq_latency_opts opts = {
		.size = sizeof(opts),
		.cgroups = &cgroup,
		.nr_cgroups = 1,
		.tree = argc > 3 && !strcmp(argv[3], "--tree"),
		.le_ns = le_ns,
		.nr_le = sizeof(le_ns) / sizeof(le_ns[0]),
	};
	int rounds = argc > 2 ? atoi(argv[2]) : 10;
	struct runq_latency *latency;
	int rc;

	rc = runq_latency_open(&latency, &opts);
	if (rc) {
		fprintf(stderr, "cgroup_latency: %s: %s\n", strerror(-rc), runq_latency_strerror());
		return 1;
	}
	printf("source %s\n", runq_latency_source(latency));
	while (rounds-- > 0) {
		struct runq_latency_window window;

		sleep(1);
		rc = runq_latency_read(latency, &window);
		if (rc) {
			fprintf(stderr, "cgroup_latency: %s\n", runq_latency_strerror());
			break;
		}
		if (!window.nr_groups)
			printf("%s: no waits\n", cgroup);
		for (size_t i = 0; i < window.nr_groups; i++) {
			const struct runq_latency_group *group = &window.groups[i];

			printf("%s: %llu waits, average %.1f us, P99 %.1f us, %llu of them up to 1 "
			       "ms\n",
			       group->cgroup, (unsigned long long)group->count,
			       runq_latency_average(group) / 1000.0,
			       runq_latency_percentile(group, 99.0) / 1000.0,
			       (unsigned long long)group->le_count[2]);
		}
	}
	runq_latency_close(latency);
	return rc ? 1 : 0;
}
