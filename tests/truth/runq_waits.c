/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests waits behind a hog task: count, sum, percentiles, boundaries, causes, blame, and schedstat.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cgroups.h"
#include "hog.h"
#include "live.h"
#include "measured.h"
#include "pinned.h"
#include "runq_schedules.h"
#include "truth.h"
#include "waits.h"

#define SHORT	  8 /* number of short waits, for which the test cannot predict the bucket */
#define BUCKETS	  12 /* number of buckets with three waits each */
#define ROUNDS	  (SHORT + 3 * BUCKETS)
#define SAME	  8
#define PERIOD_NS (6 * NSEC_PER_MSEC)

/*
 * Returns the lower bound of the nth bucket with planned waits. The buckets with planned waits lie
 * between 1.1 and 3.5 ms and are 32 or 64 us wide.
 */
static uint64_t bucket_nth(int nth, uint64_t *ret_width)
{
	double ns = 1.1e6;

	while (nth--)
		ns *= 1.11;
	return waits_bucket((uint64_t)ns, ret_width);
}

/*
 * Plans SHORT short waits, then three waits in each of BUCKETS buckets: two waits in the second
 * quarter of the bucket, and one wait in its third quarter. A wait exceeds the hog's busy time by
 * up to HOG_SLACK_NS, usually by 2,200 ns.
 */
static void plan_burns(struct hog *schedule)
{
	static const uint64_t brief[SHORT] = {0, 5, 12, 25, 60, 130, 220, 400};
	uint64_t width, low;

	for (int i = 0; i < SHORT; i++)
		schedule->burn_ns[i] = brief[i] * NSEC_PER_USEC;
	for (int i = 0; i < 3 * BUCKETS; i++) {
		low = bucket_nth(i * 5 % BUCKETS, &width);
		schedule->burn_ns[SHORT + i] =
			low + (i < 2 * BUCKETS ? width / 4 : width * 5 / 8) - 2500;
	}
}

/*
 * Returns three boundaries for the short waits, and a boundary inside each planned bucket, between
 * the shorter waits and the longest wait of the bucket.
 */
const char *runq_waits_le(void)
{
	static char text[512];
	size_t at = snprintf(text, sizeof(text), "10us,100us,300us");
	uint64_t width, low;

	for (int i = 0; i < BUCKETS; i++) {
		low = bucket_nth(i, &width);
		at += snprintf(text + at, sizeof(text) - at, ",%lluns",
			       (unsigned long long)(low + width * 7 / 16));
	}
	return text;
}

static struct hog *start_schedule(const char *hog, const char *victim, int rounds,
				  uint64_t begin_ns)
{
	struct hog *schedule = hog_make();

	schedule->hog = hog;
	schedule->victim = victim;
	schedule->rounds = rounds;
	schedule->begin_ns = begin_ns;
	schedule->period_ns = PERIOD_NS;
	plan_burns(schedule);
	hog_start(schedule);
	return schedule;
}

static void judge_behind(const char *source, const struct hog *schedule, json_t *root)
{
	json_t *victim = measured_group(root, schedule->victim),
	       *hog = measured_group(root, schedule->hog);
	double sum = live_number(victim, "sum_ns"), idle = live_number(hog, "sum_ns");
	struct wait_known waits[ROUNDS];
	char name[64];

	hog_victim_waits(schedule, waits);
	live_ok(waits_slack(waits, ROUNDS) <= HOG_SLACK_NS,
		"%s: each wait is known to %llu ns by the tasks' stamps", source,
		(unsigned long long)waits_slack(waits, ROUNDS));
	/* The checks of the victim's waits add no tolerance to the bounds in @waits. */
	snprintf(name, sizeof(name), "%s: victim", source);
	waits_judge(name, victim, waits, ROUNDS);
	waits_judge_le(name, victim, waits, ROUNDS);
	/*
	 * The rank of each tested percentile lies inside a histogram bucket, not at the limit of
	 * the bucket.
	 */
	waits_judge_percentile(name, victim, "p30_ns", 30, waits, ROUNDS);
	waits_judge_percentile(name, victim, "p55_ns", 55, waits, ROUNDS);
	waits_judge_percentile(name, victim, "p90_ns", 90, waits, ROUNDS);
	waits_judge_percentile(name, victim, "p97_ns", 97, waits, ROUNDS);
	live_ok(live_number(victim, "causes.other_group_ns") == sum &&
			measured_causes(victim) == sum,
		"%s: all of it behind another group", source);
	if (!live_ok(measured_blame(root, schedule->victim, schedule->hog) == sum &&
			     measured_blame(root, schedule->victim, NULL) == sum,
		     "%s: all of it blamed on the hog", source))
		measured_note_blame(root);
	snprintf(name, sizeof(name), "%s: hog", source);
	hog_own_waits(schedule, waits);
	waits_judge(name, hog, waits, ROUNDS);
	live_ok(live_number(hog, "causes.idle_exit_ns") == idle && measured_causes(hog) == idle &&
			measured_blame(root, schedule->hog, "(idle)") == idle,
		"%s: all of its waits are the way out of idle", source);
}

/*
 * Checks a schedule whose hog and victim are in one cgroup. Half of the waits of the cgroup are
 * waits of the hog. The waits of the hog are idle exits.
 */
static void judge_same(const char *source, const struct hog *schedule, json_t *root)
{
	json_t *group = measured_group(root, schedule->victim);
	double same = live_number(group, "causes.same_group_ns");
	double idle = live_number(group, "causes.idle_exit_ns");
	struct wait_known behind[SAME], exits[SAME];

	hog_victim_waits(schedule, behind);
	hog_own_waits(schedule, exits);
	live_ok(live_number(group, "count") == 2 * SAME, "%s: one group: %d waits", source,
		2 * SAME);
	live_ok(same >= (double)waits_low(behind, SAME) && same <= (double)waits_high(behind, SAME),
		"%s: one group: %.0f ns behind itself, by stamps %llu to %llu", source, same,
		(unsigned long long)waits_low(behind, SAME),
		(unsigned long long)waits_high(behind, SAME));
	live_ok(idle <= (double)waits_high(exits, SAME) && same + idle == measured_causes(group) &&
			measured_blame(root, schedule->victim, schedule->victim) == same,
		"%s: one group: the rest is the way out of idle", source);
}

/*
 * Compares the sum of waits with schedstat. A task that sleeps gives up the core, so the run-queue
 * clock is fresh and the kernel's accounting is exact to the ns. At one switch in 16, subtick reads
 * the time at the tracepoint instead of the run-queue clock. The tracepoint comes less than 1000
 * instructions after the update of the run-queue clock. Each round of the schedule has three
 * switches. Source wakeup reads all its times at tracepoints.
 */
static void judge_schedstat(const char *source, const struct hog *schedule, json_t *root,
			    uint64_t booked)
{
	double sum = measured_figure(root, schedule->victim, "sum_ns");
	double allowed = 1000.0 * (strcmp(source, "wakeup") ? 3 * ROUNDS / 16 + 1 : 2 * ROUNDS);

	live_ok(sum - (double)booked <= allowed && (double)booked - sum <= allowed,
		"%s: sum %.0f ns, %llu by the kernel's accounting, allowed %.0f", source, sum,
		(unsigned long long)booked, allowed);
}

struct state {
	struct hog *behind, *same;
	uint64_t booked_ns;
};

static void *start(uint64_t begin_ns, uint64_t *ret_end_ns)
{
	uint64_t same_ns = begin_ns + (ROUNDS + 1) * PERIOD_NS;
	struct state *state = pinned_share(sizeof(*state));
	const char *one = cgroups_make("one");

	state->behind =
		start_schedule(cgroups_make("hog"), cgroups_make("victim"), ROUNDS, begin_ns);
	state->same = start_schedule(one, one, SAME, same_ns);
	state->booked_ns = pinned_schedstat(state->behind->victim_pid).waited_ns;
	*ret_end_ns = hog_end_ns(state->same);
	return state;
}

static void judge(void *shared, const char *source, json_t *root)
{
	struct state *state = shared;
	struct hog *behind = state->behind, *same = state->same;

	judge_behind(source, behind, root);
	judge_same(source, same, root);
	judge_schedstat(source, behind, root,
			pinned_schedstat(behind->victim_pid).waited_ns - state->booked_ns);
	hog_stop(behind);
	hog_stop(same);
}

const struct runq_schedule runq_waits = {.start = start, .judge = judge};
