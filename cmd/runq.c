/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick runq: run-queue latency per cgroup, and the tasks or limits that caused it. */
#include "commands.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "measure/runq/runq.h"
#include "opts.h"
#include "present/runq.h"
#include "run.h"
#include "stats/hist.h"

#define MAX_CGROUPS 64
/* Default of --top for text: tables, findings and notes fit on 24 lines. */
#define TEXT_TOP    10

struct runq_cmd {
	struct runq_opts runq;
	const char *cgroups[MAX_CGROUPS];
	struct runq_rules rules;
	struct opts_interval interval;
	struct view view;
};

static int add_cgroup(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct runq_cmd *cmd = base;

	if (cmd->runq.nr_cgroups == MAX_CGROUPS)
		return err_set(err, -E2BIG, "at most %d; use a common parent and --tree for more",
			       MAX_CGROUPS);
	cmd->cgroups[cmd->runq.nr_cgroups++] = value;
	return 0;
}

static int add_rule(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct runq_cmd *cmd = base;

	return runq_rules_add(&cmd->rules, !strcmp(opt->name, "include"), value, err);
}

static int set_per(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct runq_cmd *cmd = base;
	unsigned int per = 0;
	int rc = opt_word(opt, value, &per, err);

	runq_opts_per(&cmd->runq, per);
	return rc;
}

static int set_le(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct runq_cmd *cmd = base;

	return runq_opts_le(opt, value, cmd->runq.le_ns, &cmd->runq.nr_le, err);
}

static int add_percentile(const struct opt *opt, const char *word, void *base, struct err *err)
{
	struct runq_opts *runq = &((struct runq_cmd *)base)->runq;

	if (runq->nr_percentiles == RUNQ_MAX_PERCENTILES)
		return err_set(err, -E2BIG, "at most %d percentiles", RUNQ_MAX_PERCENTILES);
	return opts_percent(word, &runq->percentiles[runq->nr_percentiles++]) ? 0 : -EINVAL;
}

static int set_percentiles(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct runq_cmd *cmd = base;

	cmd->runq.nr_percentiles = 0;
	return opt_each(opt, value, base, err, add_percentile);
}

static int set_fail_over(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct runq_opts *runq = &((struct runq_cmd *)base)->runq;
	const char *limit = opts_percentile(value, &runq->fail_percent);

	return limit && duration_parse(limit, 1, HIST_VALUE_MAX, &runq->fail_ns) ? 0 : -EINVAL;
}

static const struct opt options[] = {
	{"cgroup", 'c', "PATH", "only this cgroup and all below it; may be given again",
	 .parse = add_cgroup},
	{"tree", 0, NULL, "with --cgroup: a row for each cgroup below it, instead of their sum",
	 OPT_STORE(struct runq_cmd, runq.tree)},
	{"include", 0, "RULE",
	 "show only cgroups that match: cgroup=/PATH, namespace=, pod=, container= or qos=",
	 .parse = add_rule},
	{"exclude", 0, "RULE",
	 "hide cgroups that match (rules as for --include); the first matching rule decides",
	 .parse = add_rule},
	{"per", 0, "WHAT",
	 "cgroup, task, comm, cpu, pod, namespace, qos, vm or vcpu (default cgroup)",
	 .parse = set_per, .words = runq_per_names},
	{"depth", 0, "N", "sum of cgroups whose paths share the first N names",
	 OPT_NUMBER(struct runq_cmd, runq.depth, 1, RUNQ_DEPTH - 1)},
	{"cpu", 'C', "LIST", "only waits on these CPUs, such as 0,2-5",
	 OPT_STORE(struct runq_cmd, runq.cpus)},
	{"le", 0, "LIST", "exact counts at these boundaries, such as 100us,500us,1ms",
	 .parse = set_le, .min = 1, .max = HIST_VALUE_MAX},
	{"percentiles", 'p', "LIST", "such as 50,99,99.9 (default 50,90,99,99.9)",
	 .parse = set_percentiles, .expected = "numbers above 0 up to 100, such as 50,99.9"},
	{"histogram", 'H', NULL, "draw the counts between the boundaries",
	 OPT_STORE(struct runq_cmd, view.all)},
	{"causes", 0, NULL, "split the waits by cause", OPT_STORE(struct runq_cmd, runq.causes)},
	{"wide", 0, NULL, "text: one column per cause, and names that are not cut off",
	 OPT_STORE(struct runq_cmd, view.wide)},
	{"blame", 'b', NULL, "show which groups had the core during the waits; implies --causes",
	 OPT_STORE(struct runq_cmd, runq.blame)},
	{"top", 0, "N", "the N largest rows of each list; 0: all (text: 10, else all)",
	 OPT_NUMBER(struct runq_cmd, view.top, 0, 1000000)},
	{"idle-states", 0, NULL, "also waits for idle cores, by idle state",
	 OPT_STORE(struct runq_cmd, runq.idle_states)},
	{"avoidable", 0, NULL, "also waits while another core that the task may use was idle",
	 OPT_STORE(struct runq_cmd, runq.avoidable)},
	{"pressure", 0, NULL, "also the wall time in which tasks waited, by cgroup, beside PSI",
	 OPT_STORE(struct runq_cmd, runq.pressure)},
	{"blame-rows", 0, "N", "culprits per victim, the rest as (other) (default 8)",
	 OPT_NUMBER(struct runq_cmd, runq.blame_rows, 1, RUNQ_NR_BLAME)},
	{"threshold", 't', "TIME", "also print each wait of at least TIME when it ends",
	 OPT_DURATION(struct runq_cmd, runq.threshold_ns, 1, HIST_VALUE_MAX)},
	{"fail-over", 0, "pN=TIME", "exit 2 if a group's percentile exceeds TIME, such as p99=2ms",
	 .parse = set_fail_over, .expected = "a percentile and a time, such as p99=2ms"},
	{"sample", 0, "RATIO", "count each wait with this probability, such as 0.1",
	 RUNQ_SAMPLE(struct runq_cmd, runq.sample_ratio)},
	{"source", 's', "NAME", "auto, sched_info or wakeup",
	 OPT_CHOICE(struct runq_cmd, runq.source, runq_source_names)},
	{"hierarchy", 0, "NAME", "cgroup hierarchy: auto, v1 or v2",
	 OPT_CHOICE(struct runq_cmd, runq.hierarchy, runq_hierarchy_names)},
	{0},
};

static int check(const struct opts_state *state, void *base, struct err *err)
{
	struct view *view = &((struct runq_cmd *)base)->view;

	if (!opts_given(state, "top") && view->format == VIEW_TEXT)
		view->top = TEXT_TOP;
	view->top = view->top ?: VIEW_TOP_ALL;
	return runq_opts_check(&((struct runq_cmd *)base)->runq, err);
}

static int measure(struct runq_cmd *cmd)
{
	struct meter *meter;
	struct err err = {0};

	run_signals();
	if (runq_open(&cmd->runq, &meter, &err))
		return opts_fail("runq", &err);
	return run_meter("runq", meter, &cmd->interval, &cmd->view,
			 &runq_window(meter)->windows_exceeded);
}

int cmd_runq(int argc, char **argv)
{
	struct runq_cmd cmd = {
		.runq = {.cgroups = cmd.cgroups, .rules = &cmd.rules},
		.interval = {.interval_ns = NSEC_PER_SEC, .count = 1},
	};
	struct opts_state state = {
		.command = "runq",
		.synopsis = "runq [options] [interval [count]]",
		.summary = "Run-queue latency per cgroup, and who caused it. Default: one window "
			   "of one second.",
		.own = options,
		.view = &cmd.view,
		.tables = runq_tables,
		.interval = &cmd.interval,
		.check = check,
	};
	int code = opts_walk(&state, argc, argv, &cmd);

	if (code == OPTS_PARSED)
		code = measure(&cmd);
	runq_rules_free(&cmd.rules);
	return code;
}
