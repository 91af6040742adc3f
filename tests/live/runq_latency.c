/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The runq_latency API: what it refuses, and what it says of a burner that shares its core. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <subtick/runq.h>

#include "cgroups.h"
#include "judge.h"
#include "live.h"
#include "runq_window.h"

/* Allowed relative difference from the kernel's accounting, while two burners alternate. */
#define BOUND 0.01

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

struct setup {
	struct runq_latency *ctx;
	const char *cgroup;
	pid_t pid;
};

/* A window, with the kernel's accounting just outside and just inside of both its ends. */
static bool measure_window(const struct setup *setup, struct runq_latency_window *window,
			struct load_schedstats *stats)
{
	stats->before = load_schedstat(setup->pid);
	if (runq_latency_read(setup->ctx, window))
		return false;
	stats->begun = load_schedstat(setup->pid);
	live_sleep_ms(1500);
	stats->ending = load_schedstat(setup->pid);
	if (runq_latency_read(setup->ctx, window))
		return false;
	stats->after = load_schedstat(setup->pid);
	return true;
}

static void measure(void *arg, struct verdict *verdict)
{
	const struct runq_latency_group none = {0}, *group = NULL;
	static const uint64_t no_counts[3];
	const struct setup *setup = arg;
	struct runq_latency_window window = {0};
	struct load_schedstats stats = {0};
	struct load_stat least, most, init = load_init_schedstat();
	double causes = 0.0;
	bool ascending = true, read = measure_window(setup, &window, &stats);
	const uint64_t *le;

	if (read)
		group = runq_latency_find(&window, setup->cgroup);
	verdict_always(verdict, group && window.nr_groups == 1 && window.nr_le == 3,
		       "the window has the one cgroup and the three boundaries asked for");
	le = group ? group->le_count : no_counts;
	group = group ? group : &none;
	least = load_least(&stats);
	most = load_most(&stats);
	for (int i = 0; i < 8; i++)
		causes += (double)((const uint64_t *)&group->causes)[i];
	for (size_t i = 1; i < 3; i++)
		ascending = ascending && le[i] >= le[i - 1];
	live_note("average %.0f us, P99 %.0f us, ratio %.4f", runq_latency_average(group) / 1e3,
		  runq_latency_percentile(group, 99) / 1e3, window.schedstat_ratio);
	/* A switch that is under way at either end may be in the one and not yet in the other. */
	verdict_count(verdict,
		      (double)group->count >= least.count - 1 &&
			      (double)group->count <= most.count + 1,
		      "%llu waits, %.0f to %.0f by the kernel's accounting",
		      (unsigned long long)group->count, least.count, most.count);
	verdict_figure(verdict,
		       (double)group->sum_ns >= least.waited_ns * (1.0 - BOUND) &&
			       (double)group->sum_ns <= most.waited_ns * (1.0 + BOUND),
		       "%.2f ms waited, %.2f to %.2f by the kernel's accounting, within %.0f %%",
		       (double)group->sum_ns / 1e6, least.waited_ns / 1e6, most.waited_ns / 1e6,
		       BOUND * 100.0);
	verdict_always(verdict, causes == (double)group->sum_ns, "the causes sum to the wait");
	verdict_always(verdict, ascending && le[2] == group->count,
		       "the counts at the boundaries ascend to the count of all");
	verdict_always(verdict, runq_latency_percentile(group, 100) <= (double)group->max_ns,
		       "no percentile exceeds the longest wait");
	if (load_init_ran(&init))
		verdict_disturbed(verdict, LOAD_INIT_RAN);
}

static const struct runq_latency_pressure *pressure_of(const struct runq_latency_pressures *pressures,
						       const char *cgroup)
{
	for (size_t i = 0; i < pressures->nr_rows; i++)
		if (!strcmp(pressures->rows[i].group.cgroup, cgroup))
			return &pressures->rows[i];
	return NULL;
}

/*
 * Two burners alternate on one core. A task of each cgroup waits half of the time, and no task of
 * that cgroup runs meanwhile.
 */
static void check_pressure(const char *cgroup)
{
	struct runq_latency_opts opts = {.size = sizeof(opts), .pressure = 1};
	const struct runq_latency_pressure none = {0}, *row = NULL;
	struct runq_latency_pressures pressures = {0};
	struct runq_latency_window window = {0};
	struct runq_latency *ctx;
	int rc;

	opts.hierarchy = cgroups_v2() ? "v2" : "v1";
	rc = runq_latency_open(&ctx, &opts);
	if (rc == -EOPNOTSUPP) {
		live_skip("pressure", "%s", runq_latency_strerror());
		return;
	}
	if (rc)
		live_fail_all("%s", runq_latency_strerror());
	live_sleep_ms(1000);
	if (!runq_latency_read(ctx, &window) && !runq_latency_pressure(ctx, &pressures))
		row = pressure_of(&pressures, cgroup);
	row = row ? row : &none;
	/*
	 * A burner that is alone in its cgroup stands still whenever it waits. Pressure is read a moment
	 * after the waits, at both ends of the window.
	 */
	live_ok(row->waiting_ns && row->waiting_ns <= window.window_ns + window.window_ns / 20 &&
			row->stalled_ns == row->waiting_ns,
		"pressure: waits %.1f of %.1f ms, and stands still for %.1f",
		(double)row->waiting_ns / 1e6, (double)window.window_ns / 1e6,
		(double)row->stalled_ns / 1e6);
	live_ok(row->waiting.contention_ns + row->waiting.kernel_thread_ns +
				row->waiting.idle_exit_ns + row->waiting.quota_ns ==
			row->waiting_ns,
		"pressure: its parts sum to it");
	live_ok(pressure_of(&pressures, "/") != NULL, "pressure: the machine has a row");
	runq_latency_close(ctx);
}

int main(void)
{
	const uint64_t le_ns[] = {1000, 1000000, 60000000000};
	struct runq_latency_opts opts = {.size = sizeof(opts), .le_ns = le_ns, .nr_le = 3};
	const char *one, *two;
	struct runq_latency *ctx;
	struct setup setup;
	/* A reader that comes late makes the window and the accounting differ by that much. */
	struct judge_opts judged = {
		.limits = {.taken = 0.05, .waited = BOUND}, .measure = measure, .arg = &setup};
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
	opts.causes = 1;
	opts.hierarchy = cgroups_v2() ? "v2" : "v1";
	if (runq_latency_open(&ctx, &opts))
		live_fail_all("%s", runq_latency_strerror());
	live_pin(other);
	live_first();
	pids[0] = load_burner(one, cpu);
	pids[1] = load_burner(two, cpu);
	setup = (struct setup){.ctx = ctx, .cgroup = one, .pid = pids[0]};
	judged.cpu = cpu;
	judge(&judged);
	live_ok(runq_latency_fd(ctx) >= 0 && !runq_latency_service(ctx),
		"chores are done on request");
	runq_latency_close(ctx);
	runq_latency_close(NULL);
	check_pressure(one);
	load_kill(pids[0]);
	load_kill(pids[1]);
	return live_done();
}
