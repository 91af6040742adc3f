/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the run-queue waits of known schedules with both sources of `subtick runq`: each schedule
 * alone, and the sums over all schedules.
 */
#include <math.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "measured.h"
#include "runq_schedules.h"
#include "truth.h"

#define AROUND_NS (50 * NSEC_PER_MSEC)
/*
 * Delay between the start of subtick and the first schedule, in which the counting and the sampling
 * subtick process attach their BPF programs.
 */
#define LEAD_NS (2 * MEASURED_LEAD_NS)

/* The last schedule, runq_sample, tests sampling and runs only with source sched_info. */
static const struct runq_schedule *const schedules[] = {&runq_waits, &runq_preempt, &runq_share,
							&runq_quota, &runq_kthread, &runq_sample};

#define NR_SCHEDULES (sizeof(schedules) / sizeof(schedules[0]))

struct running {
	void *state;
	uint64_t begin_ns, end_ns;
};

static void start_all(struct running *runs, size_t nr)
{
	uint64_t at = clock_mono_ns() + LEAD_NS;

	for (size_t i = 0; i < nr; i++) {
		runs[i].begin_ns = at + AROUND_NS;
		runs[i].state = schedules[i]->start(runs[i].begin_ns, &runs[i].end_ns);
		at = runs[i].end_ns + AROUND_NS;
	}
}

static void watch_all(const struct running *runs, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		truth_sleep_until(runs[i].begin_ns - AROUND_NS / 2);
		if (schedules[i]->enter)
			schedules[i]->enter(runs[i].state);
		truth_sleep_until(runs[i].end_ns);
		if (schedules[i]->leave)
			schedules[i]->leave(runs[i].state);
	}
}

/*
 * Checks the ratio of the measured waits to the kernel's run_delay, and the number of lost events.
 */
static void judge_quality(const char *source, json_t *root)
{
	double ratio = live_number(root, "quality.schedstat_ratio");

	live_ok(fabs(ratio - 1.0) <= 0.0005, "%s: schedstat_ratio %.6f", source, ratio);
	live_ok(live_number(root, "quality.negative_total") == 0 &&
			live_number(root, "quality.table_full_total") == 0 &&
			live_number(root, "quality.blame_full_total") == 0 &&
			live_number(root, "quality.recursion_misses_total") == 0,
		"%s: nothing lost", source);
	live_note("%s: missing_from_run_delay_ratio %.5f, unknown starts %.0f", source,
		  live_number(root, "quality.missing_from_run_delay_ratio"),
		  live_number(root, "quality.unknown_start_total"));
}

static void judge(const char *source, bool sample)
{
	const char *const args[] = {"runq",	     "--json", "--blame",     "--source",
				    source,	     "-p",     "30,55,90,97", "--le",
				    runq_waits_le(), "5.5",    "1",	      NULL};
	const char *const sample_args[] = {"runq", "--json", "--sample", "0.1", "4.5", "1", NULL};
	size_t nr = sample ? NR_SCHEDULES : NR_SCHEDULES - 1;
	struct measured measured, sampling;
	struct running runs[NR_SCHEDULES];
	json_t *root, *sampled = NULL;

	start_all(runs, nr);
	measured_start(&measured, args);
	if (sample) {
		live_sleep_ms(1000);
		measured_start(&sampling, sample_args);
	}
	watch_all(runs, nr);
	if (sample)
		sampled = measured_end(&sampling, runs[0].begin_ns, runs[nr - 1].end_ns);
	root = measured_end(&measured, runs[0].begin_ns, runs[nr - 1].end_ns);
	if (sample)
		runq_sample_judge(runs[nr - 1].state, 0.1, root, sampled);
	for (size_t i = 0; i < nr; i++)
		schedules[i]->judge(runs[i].state, source, root);
	judge_quality(source, root);
	json_decref(root);
	json_decref(sampled);
}

int main(void)
{
	truth_begin(1);
	cgroups_open();
	judge("sched_info", true);
	judge("wakeup", false);
	return live_done();
}
