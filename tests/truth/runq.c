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
static const struct runq_scene *const scenes[] = {&runq_waits, &runq_preempt, &runq_share,
						  &runq_quota, &runq_kthread};

#define NR_SCENES (sizeof(scenes) / sizeof(scenes[0]))

struct act {
	void *state;
	uint64_t begin_ns, end_ns;
};

static void start_all(struct act *acts, size_t nr)
{
	uint64_t at = clock_mono_ns() + MEASURED_LEAD_NS;

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

/* What the kernel booked of all waits seen, over all that it booked; and what was lost. */
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

static void judge(const char *source)
{
	const char *const args[] = {"runq",	     "--json", "--blame",     "--source",
				    source,	     "-p",     "30,55,90,97", "--le",
				    runq_waits_le(), "4.5",    "1",	      NULL};
	struct act acts[NR_SCENES];
	struct measured measured;
	json_t *root;

	start_all(acts, NR_SCENES);
	measured_start(&measured, args);
	watch_all(acts, NR_SCENES);
	root = measured_end(&measured, acts[0].begin_ns, acts[NR_SCENES - 1].end_ns);
	for (size_t i = 0; i < NR_SCENES; i++)
		scenes[i]->judge(acts[i].state, source, root);
	judge_quality(source, root);
	json_decref(root);
}

int main(void)
{
	truth_begin(1);
	cgroups_open();
	judge("sched_info");
	judge("wakeup");
	return live_done();
}
