/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The runq_latency API: what it refuses, and what it says of a burner that shares its core. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <subtick/runq.h>

#include "cgroups.h"
#include "live.h"
#include "runq_window.h"

static void check_refused(void)
{
	const uint64_t descending[] = {2000, 1000};
	struct runq_latency_opts opts = {.size = sizeof(opts), .le_ns = descending, .nr_le = 2};
	const char *none = "/subtick-no-such";
	struct runq_latency *ctx;

	live_ok(runq_latency_open(&ctx, &opts) == -EINVAL && *runq_latency_strerror(),
		"descending boundaries: -EINVAL and a sentence");
	opts = (struct runq_latency_opts){.size = sizeof(opts), .sample_ratio = 2.0};
	live_ok(runq_latency_open(&ctx, &opts) == -EINVAL, "a ratio of 2: -EINVAL");
	opts = (struct runq_latency_opts){.size = sizeof(opts), .source = "magic"};
	live_ok(runq_latency_open(&ctx, &opts) == -EINVAL, "an unknown source: -EINVAL");
	opts = (struct runq_latency_opts){.size = sizeof(opts) + 8};
	live_ok(runq_latency_open(&ctx, &opts) == -E2BIG, "options of a later version: -E2BIG");
	opts = (struct runq_latency_opts){.size = sizeof(opts), .cgroups = &none, .nr_cgroups = 1};
	live_ok(runq_latency_open(&ctx, &opts) == -ENOENT, "a cgroup that is not there: -ENOENT");
}

static bool window_fits(struct runq_latency *ctx, const char *cgroup, pid_t pid)
{
	const struct runq_latency_group *group;
	struct runq_latency_window window;
	struct load_stat s0, s1;
	double waited, causes = 0.0;
	bool ascending = true;

	if (runq_latency_read(ctx, &window))
		return false;
	s0 = load_schedstat(pid);
	live_sleep_ms(1500);
	if (runq_latency_read(ctx, &window))
		return false;
	s1 = load_schedstat(pid);
	group = runq_latency_find(&window, cgroup);
	if (!group || window.nr_groups != 1 || window.nr_le != 3)
		return false;
	waited = s1.waited_ns - s0.waited_ns;
	for (int i = 0; i < 8; i++)
		causes += (double)((const uint64_t *)&group->causes)[i];
	for (size_t i = 1; i < window.nr_le; i++)
		ascending = ascending && group->le_count[i] >= group->le_count[i - 1];
	live_note("%llu waits, %.1f ms (kernel %.1f), average %.0f us, P99 %.0f us, ratio %.4f",
		  (unsigned long long)group->count, (double)group->sum_ns / 1e6, waited / 1e6,
		  runq_latency_average(group) / 1e3, runq_latency_percentile(group, 99) / 1e3,
		  window.schedstat_ratio);
	return ascending && group->le_count[2] == group->count && causes == (double)group->sum_ns &&
	       fabs((double)group->sum_ns - waited) < live_bound(0.05) * waited &&
	       runq_latency_percentile(group, 100) <= (double)group->max_ns;
}

int main(void)
{
	const uint64_t le_ns[] = {1000, 1000000, 60000000000};
	struct runq_latency_opts opts = {.size = sizeof(opts), .le_ns = le_ns, .nr_le = 3};
	const char *one, *two;
	struct runq_latency *ctx;
	bool fits = false;
	pid_t pids[2];
	int cpu, other;

	cgroups_open();
	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	live_needs((const char *const[]){"runq", "0.01", "1", NULL});
	check_refused();
	one = cgroups_make("api-one");
	two = cgroups_make("api-two");
	opts.cgroups = &one;
	opts.nr_cgroups = 1;
	opts.hierarchy = cgroups_v2() ? "v2" : "v1";
	if (runq_latency_open(&ctx, &opts))
		live_fail_all("%s", runq_latency_strerror());
	pids[0] = load_burner(one, cpu);
	pids[1] = load_burner(two, cpu);
	for (int i = 0; i < 4 && !fits; i++)
		fits = window_fits(ctx, one, pids[0]);
	live_ok(fits, "the window of one cgroup is what the kernel booked, its parts sum up");
	live_ok(runq_latency_fd(ctx) >= 0 && !runq_latency_service(ctx),
		"chores are done on request");
	runq_latency_close(ctx);
	runq_latency_close(NULL);
	load_kill(pids[0]);
	load_kill(pids[1]);
	return live_done();
}
