/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The summary of a report, in sentences. */
#include "view/html/html.h"

#include <math.h>
#include <string.h>

#include "base/load_wrong.h"
#include "view/view.h"

#define CLOSURE	  0.01
#define SCHEDSTAT 0.05

#define NS(value) html_ns(value, (char[32]){0}, 32)

/* One sentence; the text is escaped here, once. */
#define SAY(out, ...)                         \
	do {                                  \
		fputs("<li>", out);           \
		html_textf(out, __VA_ARGS__); \
		fputs("</li>\n", out);        \
	} while (0)

static void say_procstat(FILE *out, const struct table *cpus)
{
	static const char key[] = "compare.procstat_busy_ratio";
	size_t nr, wrong = 0, worst = 0;
	double mean = html_mean(cpus, key, &nr), most = 0.0;

	if (!nr) {
		SAY(out, "/proc/stat was not compared.");
		return;
	}
	for (size_t row = 0; row < cpus->nr_rows; row++) {
		double shown = table_number(cpus, row, key);
		double truth = table_number(cpus, row, "busy_ratio"), off = fabs(shown - truth);

		wrong += load_is_wrong(shown, truth);
		if (off > most) {
			most = off;
			worst = row;
		}
	}
	SAY(out,
	    "/proc/stat, which top and mpstat use, shows %.1f%% on average. It is off by more than "
	    "%.0f points on %zu of %zu cores.",
	    mean * 100.0, LOAD_WRONG_RATIO * 100.0, wrong, nr);
	if (most > 0.0)
		SAY(out, "Worst: CPU %.0f, where /proc/stat shows %.1f%% and the truth is %.1f%%.",
		    table_number(cpus, worst, "cpu"), table_number(cpus, worst, key) * 100.0,
		    table_number(cpus, worst, "busy_ratio") * 100.0);
}

static void say_parts(FILE *out, const struct table *cpus)
{
	static const struct {
		const char *key, *name;
	} parts[] = {
		{"task_ratio", "tasks"},
		{"hardirq_ratio", "interrupts"},
		{"softirq_on_idle_ratio", "softirqs on the idle task"},
		{"softirq_on_task_ratio", "softirqs on tasks"},
		{"ksoftirqd_ratio", "ksoftirqd"},
		{"idle_loop_ratio", "the idle loop"},
		{"steal_ratio", "stolen by the hypervisor"},
	};
	size_t nr, said = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		double part = html_mean(cpus, parts[i].key, &nr);

		if (!nr)
			continue;
		fputs(said++ ? ", " : "<li>Of the time of all cores: ", out);
		html_textf(out, "%s %.1f%%", parts[i].name, part * 100.0);
	}
	if (said)
		fputs(".</li>\n", out);
	else
		SAY(out, "The source does not measure what the cores were busy with.");
}

static void say_load(FILE *out, const struct report *report)
{
	const struct table *cpus = report_find(report, "cpus");
	size_t nr, busiest;
	double mean;

	if (!cpus)
		return;
	mean = html_mean(cpus, "busy_ratio", &nr);
	if (!nr) {
		SAY(out, "No core has a figure.");
		return;
	}
	SAY(out, "%zu core%s, observed for %s: busy %.1f%% of the time on average.", nr,
	    nr == 1 ? "" : "s", NS((double)report->window_ns), mean * 100.0);
	say_parts(out, cpus);
	busiest = html_largest(cpus, "busy_ratio");
	if (busiest != SIZE_MAX)
		SAY(out, "The busiest is CPU %.0f with %.1f%%.", table_number(cpus, busiest, "cpu"),
		    table_number(cpus, busiest, "busy_ratio") * 100.0);
	say_procstat(out, cpus);
}

/* The name of a group or of a row of the blame table; it may be missing or empty. */
static const char *name_of(const struct table *table, size_t row, const char *key)
{
	const char *name = table_str(table, row, key) ?: table_str(table, row, "comm") ?: "(unnamed)";

	return *name ? name : "(empty)";
}

static void say_runq(FILE *out, const struct report *report)
{
	const struct table *groups = report_find(report, "groups");
	size_t row = html_largest(groups, "sum_ns"), worst = html_largest(groups, "p99_ns");
	double count = 0.0, sum = 0.0;

	for (size_t i = 0; groups && i < groups->nr_rows; i++) {
		count += fmax(0.0, table_number(groups, i, "count"));
		sum += table_number(groups, i, "sum_ns");
	}
	if (row == SIZE_MAX)
		row = html_largest(groups, "count");
	if (row == SIZE_MAX && groups && groups->nr_rows) {
		SAY(out, "How often tasks waited is unknown.");
		return;
	}
	if (count == 0.0) {
		SAY(out, "No task had to wait for a core.");
		return;
	}
	SAY(out, "In %s, tasks of %zu group%s waited %.0f times for a core, %s in total.",
	    NS((double)report->window_ns), groups->nr_rows, groups->nr_rows == 1 ? "" : "s", count,
	    NS(sum));
	SAY(out,
	    "The group that waited most: %s, %.0f waits, %s in total; one in a hundred took longer "
	    "than %s, the longest took %s%s.",
	    name_of(groups, row, "cgroup"), table_number(groups, row, "count"),
	    NS(table_number(groups, row, "sum_ns")), NS(table_number(groups, row, "p99_ns")),
	    NS(table_number(groups, row, "max_ns")),
	    table_number(groups, row, "max_ns") > (double)report->window_ns
		    ? " and began before the window"
		    : "");
	if (worst != SIZE_MAX && worst != row)
		SAY(out, "The group with the highest p99: %s, %s.",
		    name_of(groups, worst, "cgroup"), NS(table_number(groups, worst, "p99_ns")));
}

/* A source: where, how much, and the setting that moves it. */
static void say_source(FILE *out, const struct table *sources, size_t row, const char *which)
{
	const char *knob = table_str(sources, row, "knob");

	SAY(out, "%s: %s on CPU %.0f, %.0f times, %s in total, at most %s at once.%s%s", which,
	    name_of(sources, row, "name"), table_number(sources, row, "cpu"),
	    table_number(sources, row, "count"), NS(table_number(sources, row, "sum_ns")),
	    NS(table_number(sources, row, "max_ns")), knob ? " What would move it: " : "",
	    knob ?: "");
}

static double hit_ns(const struct table *hits, size_t row)
{
	return table_number(hits, row, "hardirq_ns") + table_number(hits, row, "softirqs_ns") +
	       table_number(hits, row, "kthread_ns");
}

/* Of cgroups: to the idle task and to kernel threads it is no harm. */
static void say_hit(FILE *out, const struct table *hits)
{
	size_t most = SIZE_MAX;

	for (size_t row = 0; hits && row < hits->nr_rows; row++)
		if (!isnan(table_number(hits, row, "cgroup_id")) &&
		    (most == SIZE_MAX || hit_ns(hits, row) > hit_ns(hits, most)))
			most = row;
	if (most != SIZE_MAX)
		SAY(out,
		    "The group that lost most: %s, %s to interrupts, %s to softirqs, %s to kernel "
		    "threads.",
		    name_of(hits, most, "cgroup"), NS(table_number(hits, most, "hardirq_ns")),
		    NS(table_number(hits, most, "softirqs_ns")),
		    NS(table_number(hits, most, "kthread_ns")));
}

static void say_noise(FILE *out, const struct report *report)
{
	const struct table *cores = report_find(report, "cores");
	const struct table *sources = report_find(report, "sources");
	size_t worst = html_largest(cores, "noise_ratio"), nr = 0;
	size_t row = html_largest(sources, "sum_ns"), longest = html_largest(sources, "max_ns");
	double mean = cores ? html_mean(cores, "noise_ratio", &nr) : NAN;

	if (!nr) {
		SAY(out, "No core has a figure.");
		return;
	}
	SAY(out,
	    "Interrupts, softirqs and kernel threads took %.2f%% of the time of %zu core%s; most on "
	    "CPU %.0f: %.2f%%.",
	    mean * 100.0, nr, nr == 1 ? "" : "s", table_number(cores, worst, "cpu"),
	    table_number(cores, worst, "noise_ratio") * 100.0);
	if (row != SIZE_MAX)
		say_source(out, sources, row, "The source with most time");
	if (longest != SIZE_MAX && longest != row)
		say_source(out, sources, longest, "The longest at once");
	say_hit(out, report_find(report, "hits"));
}

static void say_wake(FILE *out, const struct report *report)
{
	const struct table *states = report_find(report, "states");
	size_t row = html_largest(states, "max_ns"), exceeds = 0, claims = 0, shallow = 0;
	double count = 0.0;

	for (size_t i = 0; states && i < states->nr_rows; i++) {
		const char *verdict = table_str(states, i, "verdict");

		exceeds += verdict && !strcmp(verdict, "exceeds");
		claims += verdict && (!strcmp(verdict, "exceeds") || !strcmp(verdict, "within"));
		shallow += verdict &&
			   (!strcmp(verdict, "not-entered") || !strcmp(verdict, "core-only"));
		count += fmax(0.0, table_number(states, i, "count"));
	}
	if (row == SIZE_MAX) {
		SAY(out, "No wake-up could be measured: the cores were busy, or no timer woke "
			 "them.");
		return;
	}
	SAY(out,
	    "%.0f wake-up%s of idle cores %s measured. The longest took %s: CPU %.0f from state "
	    "%s, whose median is %s.",
	    count, count == 1.0 ? "" : "s", count == 1.0 ? "was" : "were",
	    NS(table_number(states, row, "max_ns")), table_number(states, row, "cpu"),
	    table_str(states, row, "name") ?: "(unnamed)",
	    NS(table_number(states, row, "median_ns")));
	if (claims)
		SAY(out,
		    "%zu of %zu idle states (counted per core) took longer than the cpuidle driver "
		    "claims.",
		    exceeds, claims);
	else if (!shallow)
		SAY(out, "There is no claimed exit latency to compare with.");
	if (shallow)
		SAY(out,
		    "%zu idle states (counted per core) have no verdict: they were not entered, or "
		    "the package never slept.",
		    shallow);
}

static void say_crit(FILE *out, const struct report *report)
{
	const struct table *ops = report_find(report, "ops");
	const char *unit = table_str(report->fields, 0, "unit") ?: "";

	for (size_t row = 0; ops && row < ops->nr_rows; row++) {
		double batch = table_number(ops, row, "batch"),
		       median = table_number(ops, row, "median");
		const char *op = table_str(ops, row, "op") ?: "(unnamed)";

		if (isnan(batch) && isnan(median))
			SAY(out, "%s: not available on this machine.", op);
		else
			SAY(out,
			    "%s: one disable and enable costs %.3g %s%s; the longest took %.0f %s.",
			    op, isnan(batch) ? median : batch, unit,
			    isnan(batch) ? " (median)" : " (mean in a batch)",
			    table_number(ops, row, "max"), unit);
	}
}

static void say_doctor(FILE *out, const struct report *report)
{
	const struct table *checks = report_find(report, "checks");
	size_t found = 0;

	for (size_t row = 0; checks && row < checks->nr_rows; row++) {
		const char *status = table_str(checks, row, "status"), *fix;

		if (!status || !strcmp(status, "ok"))
			continue;
		found++;
		fix = table_str(checks, row, "fix");
		fputs("<li><strong>", out);
		html_text(out, table_str(checks, row, "check") ?: "(unnamed)");
		fputs("</strong>: ", out);
		html_text(out, table_str(checks, row, "detail") ?: status);
		if (fix && *fix) {
			fputs(". Fix: <em>", out);
			html_text(out, fix);
			fputs("</em>", out);
		}
		fputs("</li>\n", out);
	}
	if (!found)
		SAY(out, "All checks are ok.");
}

/* Only the verdict has sentences; the experiments are tables. */
static void say_audit(FILE *out, const struct report *report)
{
	const char *experiment = table_str(report->fields, 0, "experiment");

	if (!experiment || !strcmp(experiment, "verdict"))
		for (size_t i = 0; i < report->nr_notes; i++)
			SAY(out, "%s", report->notes[i]);
}

void html_summary(FILE *out, const struct report *report)
{
	static const struct {
		const char *command;
		void (*say)(FILE *, const struct report *);
	} words[] = {
		{"load", say_load}, {"runq", say_runq},	  {"noise", say_noise},	  {"wake", say_wake},
		{"crit", say_crit}, {"audit", say_audit}, {"doctor", say_doctor},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i].command, report->command)) {
			words[i].say(out, report);
			return;
		}
	for (size_t i = 0; i < report->nr_notes; i++)
		SAY(out, "%s", report->notes[i]);
}

/* If a pair costs less than one step of the clock, half of its samples are below the overhead. */
static bool is_no_loss(const char *key)
{
	return !strcmp(key, "below_overhead_total");
}

size_t html_losses(FILE *out, const struct report *report)
{
	const struct table *quality = report->quality;
	double closure = table_number(quality, 0, "closure_error_max_ratio");
	double sample = table_number(quality, 0, "sample_ratio");
	double schedstat = table_number(quality, 0, "schedstat_ratio");
	size_t nr = 0;

	for (size_t col = 0; quality->nr_rows && col < quality->nr_cols; col++) {
		const struct column *column = &quality->cols[col];
		const char *end = strrchr(column->key, '_');
		double value = table_number(quality, 0, column->key);

		if (!end || strcmp(end, "_total") || !(value > 0.0) || is_no_loss(column->key))
			continue;
		SAY(out, "%s: %.0f %s", report->command, value,
		    column->metric->help[0] ? column->metric->help : column->key);
		nr++;
	}
	if (closure > CLOSURE) {
		SAY(out, "%s: the parts are up to %.1f%% away from summing to the window",
		    report->command, closure * 100.0);
		nr++;
	}
	if (fabs(schedstat - 1.0) > SCHEDSTAT) {
		SAY(out, "%s: the observed waits are %.1f%% of the kernel's run_delay",
		    report->command, schedstat * 100.0);
		nr++;
	}
	if (sample < 1.0) {
		SAY(out, "%s: only %.3g%% of the events were sampled", report->command,
		    sample * 100.0);
		nr++;
	}
	return nr;
}
