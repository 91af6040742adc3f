/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waits of known size: two burners share one core, so each waits while the other runs. */
#include <math.h>
#include <stdio.h>

#include "cgroups.h"
#include "live.h"
#include "runq_window.h"

static bool near(double got, double want, double bound)
{
	return fabs(got - want) <= live_bound(bound) * want;
}

struct scene {
	const char *victim, *hog;
	pid_t victim_pid, hog_pid;
};

/* One window with both burners, against what /proc says about them. */
static bool round_fits(const struct scene *scene, const struct runq_opts *opts, const char *name)
{
	struct meter *meter = window_open(opts);
	struct load_stat v0, v1, h0, h1;
	struct report *report;
	double sum, count, blamed, all, causes = 0.0;
	bool fits;

	window_begin(meter);
	v0 = load_schedstat(scene->victim_pid);
	h0 = load_schedstat(scene->hog_pid);
	report = window_end(meter, 2000);
	v1 = load_schedstat(scene->victim_pid);
	h1 = load_schedstat(scene->hog_pid);
	sum = window_group(report, scene->victim, "sum_ns");
	count = window_group(report, scene->victim, "count");
	blamed = window_blame(report, scene->victim, scene->hog);
	all = window_blame(report, scene->victim, NULL);
	causes = window_group(report, scene->victim, "causes.preempted_ns") +
		 window_group(report, scene->victim, "causes.other_group_ns");
	live_note("%s: sum %.1f ms (kernel %.1f), count %.0f (kernel %.0f), behind the hog %.1f ms "
		  "(it ran %.1f), all blame %.1f ms",
		  name, sum / 1e6, (v1.waited_ns - v0.waited_ns) / 1e6, count, v1.count - v0.count,
		  blamed / 1e6, (h1.ran_ns - h0.ran_ns) / 1e6, all / 1e6);
	/* A slice at either end of the window may be on one side only: a few of some hundred. */
	fits = near(sum, v1.waited_ns - v0.waited_ns, 0.05) &&
	       near(count, v1.count - v0.count, 0.05) &&
	       near(blamed, h1.ran_ns - h0.ran_ns, 0.05) && near(all, sum, 0.001) &&
	       causes > 0.9 * sum &&
	       window_group(report, scene->victim, "causes.idle_exit_ns") == 0.0 &&
	       window_group(report, scene->victim, "max_ns") >=
		       window_group(report, scene->victim, "p99_ns");
	report_free(report);
	meter->ops->close(meter);
	return fits;
}

int main(void)
{
	struct scene scene;
	struct runq_opts opts = {.blame = true, .source = RUNQ_SOURCE_SCHED_INFO};
	int cpu, other;
	bool fits = false;

	cgroups_open();
	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	opts.hierarchy = cgroups_v2() ? RUNQ_HIERARCHY_V2 : RUNQ_HIERARCHY_V1;
	scene.victim = cgroups_make("victim");
	scene.hog = cgroups_make("hog");
	live_pin(other);
	scene.hog_pid = load_burner(scene.hog, cpu);
	scene.victim_pid = load_burner(scene.victim, cpu);

	for (int i = 0; i < 4 && !fits; i++)
		fits = round_fits(&scene, &opts, "sched_info");
	live_ok(fits, "sched_info: the victim's waits, their number and the culprit are right");
	fits = false;
	opts.source = RUNQ_SOURCE_WAKEUP;
	for (int i = 0; i < 4 && !fits; i++)
		fits = round_fits(&scene, &opts, "wakeup");
	live_ok(fits, "wakeup: the victim's waits, their number and the culprit are right");
	load_kill(scene.hog_pid);
	load_kill(scene.victim_pid);
	return live_done();
}
