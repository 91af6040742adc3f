/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Statistics for the benchmarks, and a check that the machine is suitable for benchmarks. */
#include "bench.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/clock.h"

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

struct bench_spread bench_spread(double *values, size_t nr)
{
	qsort(values, nr, sizeof(*values), compare);
	return (struct bench_spread){
		.median = values[nr / 2], .low = values[nr / 4], .high = values[nr * 3 / 4]};
}

struct bench_spread bench_ratio(const double *over, const double *under, size_t nr)
{
	double ratios[BENCH_MAX_ROUNDS];

	if (nr > BENCH_MAX_ROUNDS)
		nr = BENCH_MAX_ROUNDS;
	for (size_t i = 0; i < nr; i++)
		ratios[i] = under[i] > 0 ? over[i] / under[i] : INFINITY;
	return bench_spread(ratios, nr);
}

static json_t *finite_json(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *bench_ratio_json(const struct bench_spread *ratio)
{
	return json_pack("{s:o,s:o,s:o}", "ratio", finite_json(ratio->median), "ratio_low",
			 finite_json(ratio->low), "ratio_high", finite_json(ratio->high));
}

/*
 * Returns the number of BPF tracing programs that are loaded on this machine, and prints their
 * names.
 */
static int foreign_programs(void)
{
	__u32 id = 0;
	int found = 0;

	while (!bpf_prog_get_next_id(id, &id)) {
		struct bpf_prog_info info = {0};
		__u32 len = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &len) &&
		    (info.type == BPF_PROG_TYPE_TRACING || info.type == BPF_PROG_TYPE_TRACEPOINT ||
		     info.type == BPF_PROG_TYPE_RAW_TRACEPOINT || info.type == BPF_PROG_TYPE_KPROBE)) {
			fprintf(stderr, "a foreign BPF program is loaded: %s (id %u)\n", info.name, id);
			found++;
		}
		close(fd);
	}
	return found;
}

bool bench_machine_fit(void)
{
	FILE *file = fopen("/proc/sys/kernel/bpf_stats_enabled", "r");
	int stats = 0;

	if (file) {
		if (fscanf(file, "%d", &stats) == 1 && stats)
			fprintf(stderr, "kernel.bpf_stats_enabled is on: sysctl "
					"kernel.bpf_stats_enabled=0\n");
		fclose(file);
	}
	return !foreign_programs() && !stats;
}

void bench_pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

void *bench_echo(void *arg)
{
	const struct bench_echo *echo = arg;
	uint64_t token;

	bench_pin(echo->cpu);
	while (read(echo->in, &token, sizeof(token)) == sizeof(token) && token < 1000)
		if (write(echo->out, &token, sizeof(token)) < 0)
			break;
	return NULL;
}

double bench_round_trips(int to, int from, int nr)
{
	uint64_t token, start = clock_mono_ns();

	for (int i = 0; i < nr; i++) {
		token = 1;
		if (write(to, &token, sizeof(token)) < 0 || read(from, &token, sizeof(token)) < 0)
			abort();
	}
	return (double)(clock_mono_ns() - start) / nr;
}
