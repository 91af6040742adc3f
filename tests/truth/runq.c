/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Run-queue waits of known schedules, with both sources: what each scene says, and the whole. */
#include <math.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "measured.h"
#include "runq_scenes.h"
#include "truth.h"

#define AROUND_NS (50 * NSEC_PER_MSEC)
/* Two runs of subtick attach before the first scene begins. */
#define LEAD_NS (2 * MEASURED_LEAD_NS)

/* The last one is for the sample, and once is enough. */
static const struct runq_scene *const scenes[] = {&runq_waits, &runq_preempt, &runq_share,
						  &runq_quota, &runq_kthread, &runq_sample};

#define NR_SCENES (sizeof(scenes) / sizeof(scenes[0]))

struct act {
	void *state;
	uint64_t begin_ns, end_ns;
};

static void start_all(struct act *acts, size_t nr)
{
	uint64_t at = clock_mono_ns() + LEAD_NS;

	for (size_t i = 0; i < nr; i++) {
		acts[i].begin_ns = at + AROUND_NS;
		acts[i].state = scenes[i]->start(acts[i].begin_ns, &acts[i].end_ns);
		at = acts[i].end_ns + AROUND_NS;
	}
}

static void watch_all(const struct act *acts, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		truth_sleep_until(acts[i].begin_ns - AROUND_NS / 2);
		if (scenes[i]->enter)
			scenes[i]->enter(acts[i].state);
		truth_sleep_until(acts[i].end_ns);
		if (scenes[i]->leave)
			scenes[i]->leave(acts[i].state);
	}
}

/* Accounted part of all observed waits ÷ kernel run_delay; and what was lost. */
static void judge_quality(const char *source, json_t *root)
{
	double ratio = live_number(root, "quality.schedstat_ratio");

	live_ok(fabs(ratio - 1.0) <= 0.0005, "%s: schedstat_ratio %.6f", source, ratio);
	live_ok(live_number(root, "quality.negative_total") == 0 &&
			live_number(root, "quality.table_full_total") == 0 &&
			live_number(root, "quality.blame_full_total") == 0 &&
			live_number(root, "quality.recursion_misses_total") == 0,
		"%s: nothing lost", source);
	live_note("%s: unbooked_ratio %.5f, unknown starts %.0f", source,
		  live_number(root, "quality.unbooked_ratio"),
		  live_number(root, "quality.unknown_start_total"));
}

static void judge(const char *source, bool sample)
{
	const char *const args[] = {"runq",	     "--json", "--blame",     "--source",
				    source,	     "-p",     "30,55,90,97", "--le",
				    runq_waits_le(), "5.5",    "1",	      NULL};
	const char *const sample_args[] = {"runq", "--json", "--sample", "0.1", "4.5", "1", NULL};
	size_t nr = sample ? NR_SCENES : NR_SCENES - 1;
	struct measured measured, sampling;
	struct act acts[NR_SCENES];
	json_t *root, *sampled = NULL;

	start_all(acts, nr);
	measured_start(&measured, args);
	if (sample) {
		live_sleep_ms(1000);
		measured_start(&sampling, sample_args);
	}
	watch_all(acts, nr);
	if (sample)
		sampled = measured_end(&sampling, acts[0].begin_ns, acts[nr - 1].end_ns);
	root = measured_end(&measured, acts[0].begin_ns, acts[nr - 1].end_ns);
	if (sample)
		runq_sample_judge(acts[nr - 1].state, 0.1, root, sampled);
	for (size_t i = 0; i < nr; i++)
		scenes[i]->judge(acts[i].state, source, root);
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
