/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints the average and the 99th percentile of one cgroup's run-queue latency, once a second. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <subtick/runq.h>

static void print_row(const struct subtick_window *window, size_t row)
{
	uint64_t count, le_ns, up_to_1ms;
	double average, p99;

	subtick_u64(window, SUBTICK_GROUPS, row, SUBTICK_COUNT, &count);
	printf("%s: %llu waits", subtick_text(window, SUBTICK_GROUPS, row, SUBTICK_CGROUP),
	       (unsigned long long)count);
	/* subtick_double() returns -ENODATA if the cgroup had no waits. */
	if (!subtick_double(window, SUBTICK_GROUPS, row, SUBTICK_AVG_NS, &average) &&
	    !subtick_percentile(window, SUBTICK_GROUPS, row, 99.0, &p99) &&
	    !subtick_bucket(window, SUBTICK_GROUPS, row, 2, &le_ns, &up_to_1ms))
		printf(", average %.1f us, P99 %.1f us, %llu of them up to %.0f ms",
		       average / 1000.0, p99 / 1000.0, (unsigned long long)up_to_1ms,
		       (double)le_ns / 1e6);
	printf("\n");
}

int main(int argc, char **argv)
{
	const char *cgroup = argc > 1 ? argv[1] : "/";
	const uint64_t le_ns[] = {100000, 500000, 1000000, 5000000, 10000000};
	const struct subtick_runq_opts opts = {
		.size = sizeof(opts),
		.cgroups = &cgroup,
		.nr_cgroups = 1,
		.flags = argc > 3 && !strcmp(argv[3], "--tree") ? SUBTICK_RUNQ_TREE : 0,
		.le_ns = le_ns,
		.nr_le = sizeof(le_ns) / sizeof(le_ns[0]),
	};
	int rounds = argc > 2 ? atoi(argv[2]) : 10;
	struct subtick *runq = NULL;
	int rc;

	rc = subtick_runq_open(&runq, &opts);
	while (!rc && rounds-- > 0) {
		const struct subtick_window *window;

		sleep(1);
		rc = subtick_read(runq, &window);
		for (size_t i = 0; !rc && i < subtick_rows(window, SUBTICK_GROUPS); i++)
			print_row(window, i);
	}
	if (rc)
		fprintf(stderr, "cgroup_latency: %s: %s\n", strerror(-rc), subtick_error());
	subtick_close(runq);
	return rc ? 1 : 0;
}
