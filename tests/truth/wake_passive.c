/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares source passive of `subtick wake` with every idle exit of the core. The test computes the
 * idle exits from perf's timestamps of the idle loop, the interrupts and the timers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "event_stamps.h"
#include "live.h"
#include "measured.h"
#include "pinned.h"
#include "truth.h"
#include "witness.h"

#define SLEEPS	    80
#define DISTANCE_NS (3 * NSEC_PER_MSEC)
#define NEVER	    UINT64_MAX

struct sleeper {
	uint64_t begin_ns;
};

static void sleeper_run(void *shared)
{
	const struct sleeper *sleeper = shared;

	for (int i = 0; i < SLEEPS; i++)
		truth_sleep_until(sleeper->begin_ns + i * DISTANCE_NS);
}

/* State of the current or last idle period. */
struct idle {
	bool open, seen;
	uint64_t from_ns;		/* start of the idle period */
	const struct event_stamp *sign; /* first event that shows that the core is awake */
	int irqs;
	/*
	 * ran: an interrupt of the idle period ran a timer; in_first: the first interrupt ran a
	 * timer
	 */
	bool ran, in_first;
	bool unknown;	    /* a timer ran whose start is not in the recording */
	uint64_t due_ns;    /* earliest timer expiry at or before `sign` */
};

struct exit_stats {
	uint64_t taken, all, unknown;
	double low_ns, high_ns; /* sums of the lower and of the upper bounds of all latencies */
	double min_low, min_high, max_low, max_high;
};

/* Returns the expiry of the latest hrtimer_start event of a timer. */
static uint64_t expiry_of(const struct witness *w, const struct event_stamp *stamps, size_t at)
{
	int64_t timer = witness_field(w, stamps[at].hit, "hrtimer");

	while (at--)
		if (!strcmp(stamps[at].name, "timer/hrtimer_start") &&
		    witness_field(w, stamps[at].hit, "hrtimer") == timer)
			return (uint64_t)witness_field(w, stamps[at].hit, "expires");
	return 0;
}

static void timer_runs(const struct witness *w, const struct event_stamp *stamps, size_t at,
		       struct idle *idle)
{
	uint64_t due = expiry_of(w, stamps, at);

	if (!idle->sign)
		return;
	if (!idle->ran) {
		idle->ran = true;
		idle->in_first = idle->irqs <= 1;
		idle->due_ns = NEVER;
	}
	idle->unknown |= !due;
	if (due <= idle->sign->low_ns && due < idle->due_ns)
		idle->due_ns = due;
}

static void window_ends(const struct idle *idle, struct exit_stats *exits)
{
	double low, high;

	exits->all++;
	exits->unknown += idle->unknown;
	if (!idle->ran || !idle->in_first || idle->due_ns == NEVER || idle->due_ns <= idle->from_ns)
		return;
	low = (double)(idle->sign->low_ns - idle->due_ns);
	high = (double)(idle->sign->high_ns - idle->due_ns);
	exits->min_low = exits->taken ? fmin(exits->min_low, low) : low;
	exits->min_high = exits->taken ? fmin(exits->min_high, high) : high;
	exits->max_low = exits->taken ? fmax(exits->max_low, low) : low;
	exits->max_high = exits->taken ? fmax(exits->max_high, high) : high;
	exits->low_ns += low;
	exits->high_ns += high;
	exits->taken++;
}

/*
 * Lists all idle periods that began in [from_ns, to_ns] and that a later idle entry ended. subtick
 * attaches its BPF programs just before from_ns, so subtick does not count earlier idle periods.
 */
static struct exit_stats list_exits(const struct witness *w, const struct event_stamp *stamps,
				    size_t nr, uint64_t from_ns, uint64_t to_ns)
{
	struct exit_stats exits = {0};
	struct idle idle = {0};

	for (size_t i = 0; i < nr; i++) {
		const struct event_stamp *t = &stamps[i];

		if (event_stamp_idle(w, t, false)) {
			if (idle.seen && idle.from_ns >= from_ns && t->low_ns <= to_ns)
				window_ends(&idle, &exits);
			idle = (struct idle){.open = true, .seen = true, .from_ns = t->high_ns};
		} else if (event_stamp_idle(w, t, true)) {
			idle.open = false;
			if (!idle.sign)
				idle.sign = t;
		} else if (!strncmp(t->name, "irq", 3)) {
			/*
			 * If the core stayed idle after an earlier interrupt, the current interrupt
			 * woke the core.
			 */
			if (idle.sign && idle.open && !idle.ran)
				idle.sign = NULL;
			idle.irqs = idle.sign ? idle.irqs + 1 : 1;
			if (!idle.sign)
				idle.sign = t;
		} else if (!strcmp(t->name, "timer/hrtimer_expire_entry")) {
			timer_runs(w, stamps, i, &idle);
		}
	}
	return exits;
}

static const char *const stamped[] = {"power/cpu_idle", "irq/irq_handler_entry",
				      "irq_vectors/local_timer_entry", NULL};
static const char *const once[] = {"timer/hrtimer_start", "timer/hrtimer_expire_entry", NULL};

static void judge(json_t *root, const struct witness *w)
{
	double overhead = live_number(root, "overhead_ns"),
	       taken = live_number(root, "taken_total");
	double mean = live_number(root, "states.0.mean_ns") + overhead;
	double min = live_number(root, "states.0.min_ns") + overhead;
	double max = live_number(root, "states.0.max_ns") + overhead, nr_taken;
	uint64_t length_ns, end_ns = measured_window(root, &length_ns);
	struct event_stamp *stamps;
	/* overhead_ns is half of the maximum overhead of subtick's timestamps. */
	size_t nr = event_stamps(w, 2 * (uint64_t)overhead, &stamps);
	struct exit_stats exits = list_exits(w, stamps, nr, end_ns - length_ns, end_ns);

	nr_taken = (double)exits.taken;
	live_ok(!exits.unknown && exits.taken >= SLEEPS,
		"passive: the witnesses know the expiry of each timer, and %llu exits by timers",
		(unsigned long long)exits.taken);
	live_ok(live_number(root, "requested_total") == (double)exits.all,
		"passive: %.0f idle exits, %llu by the witnesses", live_number(root, "requested_total"),
		(unsigned long long)exits.all);
	live_ok(taken == nr_taken && live_number(root, "states.0.count") == taken,
		"passive: %.0f of them by a timer, %.0f by the witnesses", taken, nr_taken);
	live_ok(mean >= exits.low_ns / nr_taken - 0.5 && mean <= exits.high_ns / nr_taken + 0.5,
		"passive: mean %.1f ns, by the witnesses %.1f to %.1f", mean,
		exits.low_ns / nr_taken, exits.high_ns / nr_taken);
	live_ok(min >= exits.min_low && min <= exits.min_high && max >= exits.max_low &&
			max <= exits.max_high,
		"passive: min %.0f in [%.0f, %.0f], max %.0f in [%.0f, %.0f]", min, exits.min_low,
		exits.min_high, max, exits.max_low, exits.max_high);
	free(stamps);
}

int main(void)
{
	const char *const args[] = {"wake", "--source", "passive", "--json", "2.5", "1", NULL};
	struct pinned_task task = {.priority = 10, .run = sleeper_run};
	struct sleeper *sleeper = pinned_share(sizeof(*sleeper));
	struct measured measured;
	struct witness witness;
	json_t *root;
	pid_t pid;

	truth_begin(1);
	witness_begin(&witness, event_stamps_names(stamped, once));
	/*
	 * Timers that were set before the recording have expired before the measured window begins.
	 */
	live_sleep_ms(6000);
	sleeper->begin_ns = clock_mono_ns() + MEASURED_LEAD_NS;
	pid = pinned_start(&task, sleeper);
	measured_start(&measured, args);
	root = measured_end(&measured, sleeper->begin_ns, sleeper->begin_ns + SLEEPS * DISTANCE_NS);
	witness_end(&witness);
	judge(root, &witness);
	json_decref(root);
	witness_free(&witness);
	pinned_stop(pid);
	return live_done();
}
