/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests `subtick try` with a setting whose effect on the waits is known. A hog task wakes a victim
 * task and then works for 1 ms. While the cgroup of the hog has the changed setting, the hog works
 * for 0.4 ms. Changing the setting of a third cgroup, to which neither task belongs, has no effect
 * on the waits.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "measured.h"
#include "pinned.h"
#include "truth.h"

#define PERIOD_NS   (10 * NSEC_PER_MSEC)
#define ORIGINAL_NS (1000 * NSEC_PER_USEC)
#define CHANGED_NS  (400 * NSEC_PER_USEC)
/* A round has about 20 waits, and the last wait may be counted in the next round. */
#define INNOCENT_RATIO 0.01

struct schedule {
	const char *hog, *victim, *file, *was;
	uint32_t word, stop;
	/*
	 * Bounds for the sum of the victim's waits, from the timestamps of both tasks, and the
	 * number of waits. Element 0 is for the original setting, element 1 for the changed one.
	 */
	uint64_t low_ns[2], high_ns[2], count[2];
	uint64_t wake_ns, woken_ns, sleep_ns;
	uint32_t changed;
};

static void hog_run(void *shared)
{
	struct schedule *s = shared;
	uint64_t next = clock_mono_ns();

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		char value[64];

		truth_sleep_until(next += PERIOD_NS);
		cgroups_read(s->hog, s->file, value);
		s->changed = strcmp(value, s->was) != 0;
		s->wake_ns = clock_mono_ns();
		pinned_wake(&s->word);
		s->woken_ns = clock_mono_ns();
		truth_burn(s->changed ? CHANGED_NS : ORIGINAL_NS);
		s->sleep_ns = clock_mono_ns();
	}
}

static void victim_run(void *shared)
{
	struct schedule *s = shared;

	for (uint32_t i = 1; !__atomic_load_n(&s->stop, __ATOMIC_RELAXED); i++) {
		pinned_wait(&s->word, i);
		s->high_ns[s->changed] += clock_mono_ns() - s->wake_ns;
		s->low_ns[s->changed] += s->sleep_ns - s->woken_ns;
		s->count[s->changed]++;
	}
}

static json_t *experiment(const struct schedule *s, const char *cgroup, const char *value)
{
	struct measured measured;
	char set[256];
	json_t *lines, *root;

	snprintf(set, sizeof(set), "%s/%s=%s", cgroup, s->file, value);
	measured_start(&measured,
		       ARGS("try", "--json", "--set", set, "--watch", s->victim, "--rounds", "6",
			    "--each", "200ms", "--settle", "30ms", "--seed", "1"));
	lines = measured_lines(&measured);
	root = json_incref(json_array_get(lines, 0));
	json_decref(lines);
	return root;
}

/*
 * Reads the value @key of the first row in the report's table of effects. The first row of the
 * table of effects is the mean wait of the watched cgroup.
 */
static double wait_number(json_t *root, const char *key)
{
	char path[64];

	snprintf(path, sizeof(path), "effects.0.%s", key);
	return live_number(root, path);
}

static void judge(const struct schedule *s, json_t *root)
{
	double low[2], high[2], ratio = wait_number(root, "effect_ratio");

	for (int i = 0; i < 2; i++) {
		low[i] = (double)s->low_ns[i] / (double)s->count[i];
		high[i] = (double)s->high_ns[i] / (double)s->count[i];
	}
	live_ok(wait_number(root, "original_ns") >= low[0] &&
			wait_number(root, "original_ns") <= high[0],
		"the original wait is %.0f ns, by stamps %.0f to %.0f",
		wait_number(root, "original_ns"), low[0], high[0]);
	live_ok(wait_number(root, "changed_ns") >= low[1] &&
			wait_number(root, "changed_ns") <= high[1],
		"the changed wait is %.0f ns, by stamps %.0f to %.0f",
		wait_number(root, "changed_ns"), low[1], high[1]);
	live_ok(ratio >= low[1] / high[0] - 1.0 && ratio <= high[1] / low[0] - 1.0,
		"the effect is %.3f %%, by stamps %.3f to %.3f", ratio * 100.0,
		(low[1] / high[0] - 1.0) * 100.0, (high[1] / low[0] - 1.0) * 100.0);
	live_ok(json_is_true(json_object_get(json_array_get(json_object_get(root, "effects"), 0),
					     "found")) &&
			wait_number(root, "p_ratio") == 2.0 / 64.0,
		"it is found, and no other order of signs is as extreme");
	live_ok(fabs(wait_number(root, "control_ratio")) < INNOCENT_RATIO,
		"the control differs by %.3f %%", wait_number(root, "control_ratio") * 100.0);
}

int main(void)
{
	struct schedule *s;
	const char *innocent, *value;
	pid_t hog, victim;
	json_t *root;

	truth_begin(1);
	cgroups_open();
	s = pinned_share(sizeof(*s));
	s->hog = cgroups_make("try-hog");
	s->victim = cgroups_make("try-victim");
	innocent = cgroups_make("try-innocent");
	s->file = cgroups_v2() ? "cpu.weight" : "cpu.shares";
	s->was = cgroups_v2() ? "100" : "1024";
	value = cgroups_v2() ? "50" : "512";
	hog = pinned_start(&(struct pinned_task){.cgroup = s->hog, .priority = 20, .run = hog_run},
			   s);
	victim = pinned_start(
		&(struct pinned_task){.cgroup = s->victim, .priority = 10, .run = victim_run}, s);

	root = experiment(s, s->hog, value);
	judge(s, root);
	json_decref(root);
	root = experiment(s, innocent, value);
	live_ok(fabs(wait_number(root, "effect_ratio")) < INNOCENT_RATIO,
		"an innocent neighbour: %.3f %% (%.3f to %.3f)",
		wait_number(root, "effect_ratio") * 100.0,
		wait_number(root, "effect_low_ratio") * 100.0,
		wait_number(root, "effect_high_ratio") * 100.0);
	json_decref(root);
	__atomic_store_n(&s->stop, 1, __ATOMIC_RELAXED);
	pinned_stop(hog);
	pinned_stop(victim);
	return live_done();
}
