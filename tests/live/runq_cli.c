/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests `subtick runq`: options, formats, exit codes, and the stream of long waits. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cgroups.h"
#include "judge.h"
#include "live.h"
#include "runq_window.h"

static void check_json(const char *cgroup)
{
	static const char *const keys[] = {"schema", "time_unix_ns", "window_ns", "source",
					   "groups", "blame",	     "quality",	  "notes"};
	static const char *const figures[] = {"count",	"sum_ns", "avg_ns", "max_ns",
					      "p50_ns", "p90_ns", "p99_ns", "p999_ns"};
	static const char *const losses[] = {"unknown_start_total", "table_full_total",
					     "negative_total",	    "recursion_misses_total",
					     "ring_lost_total",	    "schedstat_ratio"};
	const char *const args[] = {"runq",	  "--json", "--blame", "--le",
				    "1us,1ms,1s", "1",	    "1",       NULL};
	json_t *root = live_json(args), *group = live_row(root, "groups", "cgroup", cgroup);
	bool whole = root && group;
	double sum = 0, below = 0;
	json_t *cause, *le;
	const char *name;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		whole = whole && json_object_get(root, keys[i]);
	for (i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		whole = whole && json_is_number(json_object_get(group, figures[i]));
	for (i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		whole = whole && json_object_get(json_object_get(root, "quality"), losses[i]);
	live_ok(whole, "JSON has the promised keys");
	json_object_foreach(json_object_get(group, "causes"), name, cause) sum +=
		json_number_value(cause);
	live_ok(group && sum == live_number(group, "sum_ns"), "causes sum to the wait exactly");
	json_array_foreach(json_object_get(group, "le"), i, le)
	{
		double count = json_number_value(json_object_get(le, "count"));

		live_ok(count >= below, "le counts ascend: %.0f", count);
		below = count;
	}
	live_ok(group && below == live_number(group, "count"), "and end at the count");
	json_decref(root);
}

/*
 * The root cgroup has a row in cgroup v1 and v2. In cgroup v2 the root cgroup has no serial number.
 */
static void check_roots(void)
{
	static const char *const hierarchies[] = {"v1", "v2"};

	for (int i = 0; i < 2; i++) {
		const char *const args[] = {"runq", "--json", "--hierarchy", hierarchies[i],
					    "0.3",  "1",      NULL};
		struct live_run run;
		json_t *root;

		live_run(args, &run);
		if (run.exit_code == 77) {
			live_skip("root", "no cgroup %s here", hierarchies[i]);
		} else {
			root = json_loads(run.out, 0, NULL);
			live_ok(root && live_row(root, "groups", "cgroup", "/") &&
					!live_row(root, "groups", "cgroup", "(other)"),
				"%s: the root cgroup has its row", hierarchies[i]);
			json_decref(root);
		}
		live_run_free(&run);
	}
}

struct victim {
	const char *cgroup;
	pid_t pid;
};

/*
 * If the host of a guest stops the guest during the window, the cgroup has no waits. The attempt
 * counts as disturbed if schedstat counts fewer than two dispatches of the victim.
 */
static void measure_over(void *arg, struct verdict *verdict)
{
	const struct victim *victim = arg;
	const char *const args[] = {"runq", "-c", victim->cgroup, "--fail-over", "p50=1ns", "0.5",
				    "1",    NULL};
	double before = load_schedstat(victim->pid).count;
	struct live_run run;

	live_run(args, &run);
	if (load_schedstat(victim->pid).count - before < 2)
		verdict_disturbed(verdict, "by the kernel's accounting the cgroup hardly waited");
	verdict_count(verdict, run.exit_code == 2, "--fail-over p50=1ns exits with %d: %s",
		      run.exit_code, strtok(run.err, "\n") ?: "");
	live_run_free(&run);
}

static void check_verdict(struct victim *victim)
{
	const char *const under[] = {"runq", "-c", victim->cgroup, "--fail-over", "p50=60s", "0.5",
				     "1",    NULL};
	const char *const gone[] = {"runq", "-c", "/subtick-no-such", "0.1", "1", NULL};
	struct live_run run;

	judge(measure_over, victim);
	live_run(under, &run);
	live_ok(run.exit_code == 0, "--fail-over p50=60s exits 0");
	live_run_free(&run);
	live_run(gone, &run);
	live_ok(run.exit_code == 1 && strstr(run.err, "no cgroup"),
		"a cgroup that is not there: 1");
	live_run_free(&run);
}

/*
 * Two busy tasks share one core, so every time slice of one task is a long wait of the other task.
 */
static void check_stream(const char *victim)
{
	const char *const args[] = {"runq",  "--json", "-c", victim, "--threshold",
				    "100us", "1",      "1",  NULL};
	struct live_run run;
	int waits = 0, right = 0, named = 0, windows = 0;

	live_run(args, &run);
	for (char *line = strtok(run.out, "\n"); line; line = strtok(NULL, "\n")) {
		json_t *root = json_loads(line, 0, NULL), *row;
		size_t i;

		windows += json_object_get(root, "groups") != NULL;
		json_array_foreach(json_object_get(root, "waits"), i, row)
		{
			waits++;
			right += !strcmp(json_string_value(json_object_get(row, "victim")),
					 victim) &&
				 live_number(row, "wait_ns") >= 100000.0;
			named += live_number(row, "culprit_ns") <= live_number(row, "wait_ns") &&
				 json_is_string(json_object_get(row, "culprit"));
		}
		json_decref(root);
	}
	live_note("%d long waits streamed, %d of the cgroup, %d with a culprit", waits, right,
		  named);
	/* A wait that began before the first recorded switch of its core has no culprit. */
	live_ok(waits >= 3 && right == waits && named >= waits - 2 && windows == 1,
		"--threshold streams long waits of the cgroup asked for");
	live_run_free(&run);
}

static void check_forms(const char *cgroup)
{
	const char *const text[] = {"runq", "-H", "-c", cgroup, "0.5", "1", NULL};
	const char *const csv[] = {"runq", "--csv", "0.5", "2", NULL};
	static const char *const pers[] = {"cgroup", "task", "comm", "cpu"};
	struct live_run run;

	live_run(text, &run);
	live_ok(run.exit_code == 0 && strstr(run.out, " -> ") && strstr(run.out, "|*"),
		"-H draws a histogram");
	live_run_free(&run);
	live_run(csv, &run);
	live_ok(run.exit_code == 0 && !strncmp(run.out, "time_unix_ns,", 13) &&
			!strstr(run.out + 13, "time_unix_ns,"),
		"CSV has its header once");
	live_run_free(&run);
	for (size_t i = 0; i < 4; i++) {
		const char *const args[] = {"runq",    "--json", "--per", pers[i],
					    "--blame", "0.3",	 "1",	  NULL};
		json_t *root = live_json(args);

		live_ok(root && json_array_size(json_object_get(root, "groups")) > 0, "--per %s",
			pers[i]);
		json_decref(root);
	}
}

/*
 * With --per comm and --cgroup, only tasks in the cgroup count. The test has two busy tasks in
 * separate cgroups, and @cgroup contains only one busy task.
 */
static void check_comm_of_cgroup(const char *cgroup)
{
	const char *const args[] = {"runq", "--json", "--per", "comm", "-c", cgroup, "0.5", "1", NULL};
	json_t *root = live_json(args), *groups = json_object_get(root, "groups");
	json_t *first = json_array_get(groups, 0);
	const char *comm = json_string_value(json_object_get(first, "comm"));

	live_ok(root && json_array_size(groups) == 1 && live_number(first, "count") > 0 && comm &&
			live_number(root, "waits_seen") > live_number(first, "count"),
		"--per comm --cgroup counts one cgroup: %zu rows, the first is %s",
		json_array_size(groups), comm ? comm : "none");
	json_decref(root);
}

/* Returns the steal time of all CPUs from /proc/stat, in ns. */
static double stolen_ns(void)
{
	double ns = 0.0, ticks;
	char line[512];
	FILE *file = fopen("/proc/stat", "r");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "cpu%*u %*u %*u %*u %*u %*u %*u %*u %lf", &ticks) == 1)
			ns += ticks * 1e9 / (double)sysconf(_SC_CLK_TCK);
	if (file)
		fclose(file);
	return ns;
}

/*
 * Compares the steal time of a window with /proc/stat, which is read before and after each end of
 * the window.
 */
static void check_steal(void)
{
	struct meter *meter = window_open(&(struct runq_opts){0});
	double before, begun, ending, after, got;
	struct report *report;

	before = stolen_ns();
	window_begin(meter);
	begun = stolen_ns();
	window_wait(meter, 1000);
	ending = stolen_ns();
	report = window_end(meter, 0);
	after = stolen_ns();
	got = table_number(report->fields, 0, "steal_ns");
	live_ok(after > 0.0 ? got >= ending - begun && got <= after - before : isnan(got),
		"steal %.0f ns, %.0f to %.0f by /proc/stat, %.0f since boot", got, ending - begun,
		after - before, after);
	report_free(report);
	meter->ops->close(meter);
}

int main(void)
{
	const char *one, *two;
	int cpu, other;
	pid_t pids[2];

	cgroups_open();
	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	one = cgroups_make("one");
	two = cgroups_make("two");
	pids[0] = load_burner(one, cpu);
	pids[1] = load_burner(two, cpu);
	check_json(one);
	check_roots();
	check_verdict(&(struct victim){one, pids[0]});
	check_stream(one);
	check_forms(two);
	check_comm_of_cgroup(two);
	check_steal();
	load_kill(pids[0]);
	load_kill(pids[1]);
	return live_done();
}
