/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick runq: how long tasks wait for a core, per cgroup, and behind whom. */
#include "commands.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "measure/runq/runq.h"
#include "opts.h"
#include "run.h"
#include "stats/hist.h"
#include "stats/runq.h"

#define MAX_CGROUPS 64

enum {
	ID_CGROUP = OPT_OWN,
	ID_INCLUDE,
	ID_EXCLUDE,
	ID_LE,
	ID_PERCENTILES,
	ID_SAMPLE,
	ID_FAIL_OVER,
};

struct runq_cmd {
	struct runq_opts runq;
	unsigned int per; /* of runq_per_names */
	const char *cgroups[MAX_CGROUPS];
	struct runq_rules rules;
	struct opts_interval interval;
};

static const struct opt options[] = {
	{"cgroup", 'c', "PATH", "only this cgroup, with all below it; may be given again",
	 .id = ID_CGROUP},
	{"tree", 0, NULL, "with --cgroup: a row for each cgroup below it, instead of their sum",
	 OPT_STORE(struct runq_cmd, runq.tree)},
	{"include", 0, "RULE",
	 "only cgroups that match: cgroup=/PATH, namespace=, pod=, container= or qos=",
	 .id = ID_INCLUDE},
	{"exclude", 0, "RULE",
	 "not those that match; of several rules the first that matches decides", .id = ID_EXCLUDE},
	{"per", 0, "WHAT", "cgroup, task, comm, cpu, pod, namespace or qos (default cgroup)",
	 OPT_CHOICE(struct runq_cmd, per, runq_per_names, "cgroup, task, comm, cpu, pod, namespace or qos")},
	{"depth", 0, "N", "sum over cgroups whose paths have the first N names in common",
	 OPT_NUMBER(struct runq_cmd, runq.depth, 1, RUNQ_DEPTH - 1)},
	{"cpu", 'C', "LIST", "only waits on these CPUs, such as 0,2-5",
	 OPT_STORE(struct runq_cmd, runq.cpus)},
	{"le", 0, "LIST", "exact counts at these boundaries, such as 100us,500us,1ms", .id = ID_LE},
	{"percentiles", 'p', "LIST", "such as 50,99,99.9 (default 50,90,99,99.9)",
	 .id = ID_PERCENTILES},
	{"histogram", 'H', NULL, "draw the counts between the boundaries", .kind = OPT_ALL},
	{"causes", 0, NULL, "split the waits by what happened meanwhile",
	 OPT_STORE(struct runq_cmd, runq.causes)},
	{"wide", 0, NULL, "text: a column for each cause, instead of the largest in words",
	 .kind = OPT_WIDE},
	{"blame", 'b', NULL, "show who had the core while they waited; implies --causes",
	 OPT_STORE(struct runq_cmd, runq.blame)},
	{"idle-states", 0, NULL, "also waits for idle cores, by the idle state they left",
	 OPT_STORE(struct runq_cmd, runq.idle_states)},
	{"pressure", 0, NULL, "also the wall time in which somebody waited, by cgroup, beside PSI",
	 OPT_STORE(struct runq_cmd, runq.pressure)},
	{"blame-rows", 0, "N", "culprits per victim, the rest as (other) (default 8)",
	 OPT_NUMBER(struct runq_cmd, runq.blame_rows, 1, RUNQ_NR_BLAME)},
	{"threshold", 't', "TIME", "also print each wait of at least this as it ends",
	 OPT_DURATION(struct runq_cmd, runq.threshold_ns, 1, HIST_VALUE_MAX)},
	{"fail-over", 0, "pN=TIME", "exit 2 if a group's percentile exceeds it, such as p99=2ms",
	 .id = ID_FAIL_OVER},
	{"sample", 0, "RATIO", "count each wait with this probability, such as 0.1",
	 .id = ID_SAMPLE},
	{"source", 's', "NAME", "auto, sched_info or wakeup",
	 OPT_CHOICE(struct runq_cmd, runq.source, runq_source_names, "auto, sched_info or wakeup")},
	{"hierarchy", 0, "NAME", "auto, v1 or v2: which cgroups",
	 OPT_CHOICE(struct runq_cmd, runq.hierarchy, runq_hierarchy_names, "auto, v1 or v2")},
	{0},
};

static bool add_le(const struct opts_state *state, const char *word, void *arg)
{
	struct runq_opts *runq = arg;

	if (runq->nr_le == RUNQ_NR_LE) {
		opts_usage(state, "--le: at most %d boundaries", RUNQ_NR_LE);
		return false;
	}
	return opts_duration(state, "--le", word, 1, HIST_VALUE_MAX, &runq->le_ns[runq->nr_le++]);
}

static bool parse_le(const struct opts_state *state, struct runq_opts *runq)
{
	uint8_t in[HIST_NR];
	unsigned int bad;

	runq->nr_le = 0;
	if (!opts_list(state, runq, add_le))
		return false;
	if (!runq_le_place(runq->le_ns, runq->nr_le, in, &bad))
		return true;
	opts_usage(state, "--le %s: boundary %u is not above the one before it by 3.2 %% or more",
		   state->value, bad + 1);
	return false;
}

static bool add_percentile(const struct opts_state *state, const char *word, void *arg)
{
	struct runq_opts *runq = arg;

	if (runq->nr_percentiles == RUNQ_MAX_PERCENTILES) {
		opts_usage(state, "--percentiles: at most %d", RUNQ_MAX_PERCENTILES);
		return false;
	}
	if (opts_percent(word, &runq->percentiles[runq->nr_percentiles])) {
		runq->nr_percentiles++;
		return true;
	}
	opts_usage(state, "--percentiles %s: expected numbers above 0 up to 100, such as 50,99.9",
		   state->value);
	return false;
}

static bool parse_fail_over(const struct opts_state *state, struct runq_opts *runq)
{
	const char *limit = opts_percentile(state->value, &runq->fail_percent);

	if (limit)
		return opts_duration(state, "--fail-over", limit, 1, HIST_VALUE_MAX, &runq->fail_ns);
	opts_usage(state, "--fail-over %s: expected a percentile and a time, such as p99=2ms",
		   state->value);
	return false;
}

static bool parse_sample(const struct opts_state *state, struct runq_opts *runq)
{
	char *end;
	double ratio = strtod(state->value, &end);

	/* With less, a second of the busiest machine would have no wait in the sample. */
	if (isdigit((unsigned char)state->value[0]) && !*end && ratio >= 1e-6 && ratio <= 1.0) {
		runq->sample_ratio = ratio;
		return true;
	}
	opts_usage(state, "--sample %s: expected a ratio from 0.000001 to 1, such as 0.1",
		   state->value);
	return false;
}

static bool parse_cgroup(const struct opts_state *state, struct runq_cmd *cmd)
{
	struct runq_opts *runq = &cmd->runq;

	if (runq->nr_cgroups == MAX_CGROUPS) {
		opts_usage(state, "--cgroup: at most %d; use a common parent and --tree for more",
			   MAX_CGROUPS);
		return false;
	}
	cmd->cgroups[runq->nr_cgroups++] = state->value;
	return true;
}

static bool parse_rule(const struct opts_state *state, bool include, struct runq_rules *rules)
{
	struct err err = {0};

	if (!runq_rules_add(rules, include, state->value, &err))
		return true;
	opts_usage(state, "--%s", err.what);
	return false;
}

static bool parse_option(struct opts_state *state, int id, void *arg)
{
	struct runq_cmd *cmd = arg;
	struct runq_opts *runq = &cmd->runq;

	switch (id) {
	case OPT_OPERAND:
		return opts_interval(state, state->value, &cmd->interval);
	case ID_CGROUP:
		return parse_cgroup(state, cmd);
	case ID_INCLUDE:
	case ID_EXCLUDE:
		return parse_rule(state, id == ID_INCLUDE, &cmd->rules);
	case ID_LE:
		return parse_le(state, runq);
	case ID_PERCENTILES:
		runq->nr_percentiles = 0;
		return opts_list(state, runq, add_percentile);
	case ID_FAIL_OVER:
		return parse_fail_over(state, runq);
	default:
		return parse_sample(state, runq);
	}
}

static bool fits(const struct opts_state *state, const struct runq_opts *runq)
{
	bool of_cgroups = runq->per == RUNQ_PER_CGROUP || runq->per == RUNQ_PER_TASK;

	if (runq->nr_cgroups && !of_cgroups)
		opts_usage(state, "--cgroup goes with --per cgroup, task, pod, namespace or qos");
	else if (runq->rules->nr && !of_cgroups)
		opts_usage(state, "--include and --exclude go with --per cgroup, task, pod, "
				  "namespace or qos");
	else if (runq->tree && !runq->nr_cgroups)
		opts_usage(state, "--tree needs --cgroup");
	else if (runq->depth && (runq->per != RUNQ_PER_CGROUP || runq->sum || runq->tree))
		opts_usage(state, "--depth goes with --per cgroup, without --tree");
	else if (runq->tree && runq->sum)
		opts_usage(state, "--tree goes with --per cgroup or --per task");
	else if (runq->idle_states && runq->per != RUNQ_PER_CGROUP)
		opts_usage(state, "--idle-states goes with --per cgroup, pod, namespace or qos");
	else if (runq->pressure && runq->sum == RUNQ_SUM_NAMESPACE)
		opts_usage(state, "--pressure goes with --per cgroup or pod: the pods of a namespace have "
				  "no cgroup in common, and wall times of pods do not add up");
	else if (runq->pressure && runq->sum == RUNQ_SUM_QOS)
		opts_usage(state, "--pressure goes with --per cgroup or pod: guaranteed pods have no cgroup "
				  "in common, and wall times of pods do not add up; --depth shows the "
				  "cgroups of the other classes");
	else if (runq->pressure && runq->per != RUNQ_PER_CGROUP)
		opts_usage(state, "--pressure goes with --per cgroup or pod");
	else if (runq->pressure && cpuset_count(&runq->cpus))
		opts_usage(state, "--pressure is of all CPUs: it goes without --cpu");
	else
		return true;
	return false;
}

static int measure(const struct runq_cmd *cmd, struct view *view)
{
	struct meter *meter;
	struct err err = {0};
	int code;

	run_signals();
	if (runq_open(&cmd->runq, &meter, &err))
		return opts_fail("runq", &err);
	code = run_windows("runq", meter, &cmd->interval, view);
	if (code == EXIT_SUCCESS && runq_window(meter)->windows_exceeded)
		code = EXIT_VERDICT;
	meter->ops->close(meter);
	return code;
}

int cmd_runq(int argc, char **argv)
{
	struct runq_cmd cmd = {
		.runq = {.cgroups = cmd.cgroups, .rules = &cmd.rules},
		.interval = {.interval_ns = NSEC_PER_SEC, .count = 1},
	};
	struct view view;
	struct opts_state state = {
		.command = "runq",
		.synopsis = "runq [options] [interval [count]]",
		.summary = "How long tasks wait for a core, per cgroup, and behind whom. "
			   "Default: one window of one second.",
		.own = options,
		.view = &view,
	};
	int code;

	code = opts_walk(&state, argc, argv, parse_option, &cmd);
	runq_opts_per(&cmd.runq, cmd.per);
	if (code == OPTS_PARSED)
		code = fits(&state, &cmd.runq) ? measure(&cmd, &view) : EXIT_USAGE;
	runq_rules_free(&cmd.rules);
	return code;
}
