/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares every point (measured wake-up) of a `subtick wake` run with perf's timestamps of kernel
 * events.
 */
#include "wake_points.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "event_stamps.h"
#include "live.h"
#include "witness.h"

#define POINTS_FILE "/tmp/points.json"
/* Allowed time from the idle entry event to TBI, subtick's timestamp of the idle entry. */
#define TBI_NS 1500
/*
 * Maximum time from the idle entry event to the launch of a rejected point. subtick rejects a point
 * (measured wake-up) if the core was not idle at the launch. QEMU may run the other processor
 * between the idle entry event and TBI.
 */
#define JUST_NS 10000

static const char *const stamped[] = {"power/cpu_idle",
				      "irq/irq_handler_entry",
				      "irq_vectors/local_timer_entry",
				      "irq_vectors/reschedule_entry",
				      "irq_vectors/call_function_single_entry",
				      "ipi/ipi_send_cpu",
				      NULL};
static const char *const once[] = {"timer/hrtimer_start", NULL};

struct judged {
	const struct witness *w;
	const struct event_stamp *stamps;
	size_t nr;
	int cpu;
	double overhead_ns;
};

static bool is_irq(const struct event_stamp *t)
{
	return !strncmp(t->name, "irq", 3);
}

/*
 * Returns the first event at or after @launch that shows that the core is awake. If @irq_only is
 * true, returns the first interrupt at or after @launch.
 */
static const struct event_stamp *first_sign(const struct judged *j, uint64_t launch, bool irq_only)
{
	for (size_t i = 0; i < j->nr; i++) {
		const struct event_stamp *t = &j->stamps[i];

		if ((int)t->cpu == j->cpu && t->low_ns >= launch &&
		    (is_irq(t) || (!irq_only && event_stamp_idle(j->w, t, true))))
			return t;
	}
	return NULL;
}

/* Returns the last idle entry before @launch, or NULL if the core is not idle at @launch. */
static const struct event_stamp *idle_entry(const struct judged *j, uint64_t launch)
{
	const struct event_stamp *found = NULL;

	for (size_t i = 0; i < j->nr && j->stamps[i].low_ns < launch; i++) {
		if ((int)j->stamps[i].cpu != j->cpu)
			continue;
		if (event_stamp_idle(j->w, &j->stamps[i], false))
			found = &j->stamps[i];
		else if (event_stamp_idle(j->w, &j->stamps[i], true))
			found = NULL;
	}
	return found;
}

/*
 * True if a timer with exactly the expiry @launch was set on the core, or if an IPI was sent to the
 * core at the time @launch.
 */
static bool launch_fits(const struct judged *j, const char *source, uint64_t launch)
{
	for (size_t i = 0; i < j->nr; i++) {
		const struct event_stamp *t = &j->stamps[i];

		if (!strcmp(source, "timer") && !strcmp(t->name, "timer/hrtimer_start") &&
		    (int)t->cpu == j->cpu &&
		    (uint64_t)witness_field(j->w, t->hit, "softexpires") == launch)
			return true;
		if (!strcmp(source, "remote") && !strcmp(t->name, "ipi/ipi_send_cpu") &&
		    witness_field(j->w, t->hit, "cpu") == j->cpu && t->low_ns <= launch &&
		    launch <= t->high_ns)
			return true;
	}
	return false;
}

/* Returns the upper bound for subtick's timestamp of an event of the measured core. */
static double latest(const struct judged *j, const struct event_stamp *t)
{
	return (double)(j->w->nr_cpus > 1 ? t->next_ns : t->high_ns);
}

static bool inside(double got, double low, double high)
{
	return got >= low && got <= high;
}

static bool point_fits(const struct judged *j, const char *source, json_t *point)
{
	uint64_t launch = (uint64_t)json_integer_value(json_object_get(point, "launch_ns"));
	const struct event_stamp *sign = first_sign(j, launch, false),
				 *irq = first_sign(j, launch, true);
	const struct event_stamp *entry = idle_entry(j, launch);
	double latency = live_number(point, "latency_ns") + j->overhead_ns;
	double silent = live_number(point, "silent_ns"), irq_ns = live_number(point, "irq_ns");
	double at = (double)launch, silent_low;
	bool fits, launched = launch_fits(j, source, launch);

	if (!sign || !irq || !entry)
		return false;
	/*
	 * With one processor, TBI is at most TBI_NS later than perf's timestamp of the idle entry.
	 * With two processors, QEMU may run the other processor in between.
	 */
	silent_low = j->w->nr_cpus > 1 ? 0.0 : at - (double)entry->high_ns - TBI_NS;
	fits = launched && inside(latency, (double)sign->low_ns - at, latest(j, sign) - at) &&
	       inside(irq_ns, (double)irq->low_ns - at, latest(j, irq) - at) &&
	       inside(silent, silent_low, at - (double)entry->low_ns);
	if (!fits)
		live_note(
			"%s: launch %s; sign %.0f in [%.0f, %.0f], interrupt %.0f in [%.0f, %.0f], "
			"silent %.0f in [%.0f, %.0f]",
			source, launched ? "right" : "of no event", latency,
			(double)sign->low_ns - at, latest(j, sign) - at, irq_ns,
			(double)irq->low_ns - at, latest(j, irq) - at, silent, silent_low,
			at - (double)entry->low_ns);
	return fits;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Checks the first row of the table of idle states against the latencies of the points. */
static void judge_summary(const char *source, json_t *root, double *latency, size_t nr)
{
	double sum = 0.0, square = 0.0, mean, median;

	qsort(latency, nr, sizeof(*latency), by_value);
	for (size_t i = 0; i < nr; i++)
		sum += latency[i];
	mean = sum / (double)nr;
	for (size_t i = 0; i < nr; i++)
		square += (latency[i] - mean) * (latency[i] - mean);
	median = (latency[(nr - 1) / 2] + latency[nr / 2]) / 2.0;
	live_ok(live_number(root, "states.0.count") == (double)nr &&
			live_number(root, "states.0.min_ns") == latency[0] &&
			live_number(root, "states.0.max_ns") == latency[nr - 1] &&
			fabs(live_number(root, "states.0.median_ns") - median) < 0.51 &&
			fabs(live_number(root, "states.0.mean_ns") - mean) < 0.51 &&
			fabs(live_number(root, "states.0.stddev_ns") -
			     sqrt(square / (double)(nr - 1))) < 0.51,
		"%s: min %.0f, median %.0f, mean %.1f, max %.0f ns are those of the points", source,
		latency[0], median, mean, latency[nr - 1]);
}

/*
 * Checks a point that subtick rejected as "core not idle at launch". perf's events must show that
 * the core was not idle, or show an idle entry just before the launch.
 */
static bool reject_fits(const struct judged *j, json_t *point, const char *reason)
{
	uint64_t launch = (uint64_t)json_integer_value(json_object_get(point, "launch_ns"));
	const struct event_stamp *entry = idle_entry(j, launch);

	if (!launch || (strcmp(reason, "before_idle") && strcmp(reason, "woken_early")) || !entry)
		return true;
	live_note("%s: the core went idle %llu ns before the launch", reason,
		  (unsigned long long)(launch - entry->low_ns));
	return launch - entry->low_ns <= JUST_NS;
}

/*
 * Checks that the report and the file of points have the same number of rejected points per reason.
 */
static bool rejects_fit(const struct judged *j, json_t *file, json_t *root)
{
	json_t *rejected = json_object_get(root, "rejected"), *value, *point;
	const char *key, *reason;
	bool fits = json_is_object(rejected);
	size_t i;

	json_object_foreach(rejected, key, value)
	{
		int nr = 0;

		json_array_foreach(json_object_get(file, "points"), i, point)
		{
			reason = json_string_value(json_object_get(point, "rejected"));
			if (!reason || strncmp(key, reason, strlen(reason)))
				continue;
			nr++;
			fits &= reject_fits(j, point, reason);
		}
		if (nr)
			live_note("%d points: %s", nr, key);
		fits &= (json_is_null(value) && !nr) || json_integer_value(value) == nr;
	}
	return fits;
}

static void judge_points(const char *source, struct judged *j, json_t *root, int asked)
{
	json_error_t error;
	json_t *file = json_load_file(POINTS_FILE, 0, &error), *point;
	size_t i, taken = 0, right = 0;
	double latency[asked];

	json_array_foreach(json_object_get(file, "points"), i, point)
	{
		if (!json_is_null(json_object_get(point, "rejected")) || taken == (size_t)asked)
			continue;
		right += point_fits(j, source, point);
		latency[taken++] = live_number(point, "latency_ns");
	}
	live_ok(i == (size_t)asked && live_number(root, "taken_total") == (double)taken &&
			taken >= (size_t)asked * 9 / 10,
		"%s: %zu of %d points count", source, taken, asked);
	live_ok(rejects_fit(j, file, root), "%s: the others have their reasons", source);
	live_ok(taken && right == taken,
		"%s: launch, wake latency, interrupt and silent time of %zu of %zu are right",
		source, right, taken);
	if (taken)
		judge_summary(source, root, latency, taken);
	json_decref(file);
}

void wake_points_judge(const char *source, int cpu, int points)
{
	char cpu_text[16], points_text[16];
	const char *const args[] = {"wake",	 "--source", source,	  "-C",	    cpu_text,
				    "--from",	 "1ms",	     "--to",	  "1ms",    "-n",
				    points_text, "--points", POINTS_FILE, "--json", NULL};
	struct witness witness;
	struct judged judged = {.w = &witness, .cpu = cpu};
	struct event_stamp *stamps;
	json_t *root;

	snprintf(cpu_text, sizeof(cpu_text), "%d", cpu);
	snprintf(points_text, sizeof(points_text), "%d", points);
	live_pin(0);
	witness_begin(&witness, event_stamps_names(stamped, once));
	root = live_json(args);
	witness_end(&witness);
	if (!root)
		live_fail_all("subtick wake --source %s says nothing", source);
	judged.overhead_ns = live_number(root, "overhead_ns");
	/* overhead_ns is half of the maximum overhead of subtick's timestamps. */
	judged.nr = event_stamps(&witness, 2 * (uint64_t)judged.overhead_ns, &stamps);
	judged.stamps = stamps;
	live_note("%s: overhead %.0f ns, %zu events by %zu stamps", source, judged.overhead_ns,
		  judged.nr, witness.nr_hits);
	judge_points(source, &judged, root, points);
	json_decref(root);
	free(stamps);
	witness_free(&witness);
	unlink(POINTS_FILE);
}
