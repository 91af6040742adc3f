/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the command line of `subtick audit` and refuses options that would be ignored. */
#include "audit_rows.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "opts.h"
#include "present/audit.h"
#include "host/cpu.h"

#define DEFAULT_WANT 0.001

#define TIME(member, least, most) OPT_DURATION(struct audit_cmd, opts.member, least, most)
#define DELAYS(...)    __VA_ARGS__, .group = "delays"
#define SOURCES(...)   __VA_ARGS__, .group = "sources"
#define PRECISION(...) __VA_ARGS__, .group = "precision"

static const char *const load_words[] = {"random", "swept",   "exposed", "hidden",   "nice",
					 "iowait", "message", "softirq", "xdp-drop", NULL};
/* Names of experiments on the command line. If a name is given, only this experiment runs. */
static const char *const operand_words[] = {"ticks", "delays", "sources", "precision", NULL};

static int add_delay(const struct opt *opt, const char *word, void *base, struct err *err)
{
	struct audit_cmd *cmd = base;
	uint64_t us = 0;
	int rc;

	if (cmd->opts.nr_delays == AUDIT_MAX_DELAYS)
		return err_set(err, -E2BIG, "expected up to %d numbers of microseconds",
			       AUDIT_MAX_DELAYS);
	rc = opt_whole(word, 0, 1000000, &us, err);
	cmd->delays_ns[cmd->opts.nr_delays++] = us * NSEC_PER_USEC;
	return rc;
}

static int set_delays(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct audit_cmd *cmd = base;

	cmd->opts.delays_ns = cmd->delays_ns;
	cmd->opts.nr_delays = 0;
	return opt_each(opt, value, base, err, add_delay);
}

static int add_slack(const struct opt *opt, const char *word, void *base, struct err *err)
{
	struct audit_cmd *cmd = base;
	uint64_t ns = AUDIT_DEFAULT_SLACK_NS;
	int rc = strcmp(word, "default") ? opt_duration(word, 1, NSEC_PER_SEC, &ns, err) : 0;

	if (rc)
		return rc;
	if (cmd->opts.nr_slacks == AUDIT_MAX_SLACKS)
		return err_set(err, -E2BIG, "expected up to %d times", AUDIT_MAX_SLACKS);
	for (size_t i = 0; i < cmd->opts.nr_slacks; i++)
		if (cmd->slacks_ns[i] == ns)
			return err_set(err, -EINVAL, "a slack is given twice");
	cmd->slacks_ns[cmd->opts.nr_slacks++] = ns;
	return 0;
}

static int set_slacks(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct audit_cmd *cmd = base;

	cmd->opts.slacks_ns = cmd->slacks_ns;
	cmd->opts.nr_slacks = 0;
	return opt_each(opt, value, base, err, add_slack);
}

/*
 * opt_set() sets one bit per word of --loads. AUDIT_LOCKED has no word, because --phase selects
 * AUDIT_LOCKED, so set_loads() shifts the bits from AUDIT_LOCKED on up by one.
 */
static int set_loads(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct audit_cmd *cmd = base;
	const unsigned int below = (1u << AUDIT_LOCKED) - 1;
	int rc = opt_set(opt, value, base, err);

	cmd->opts.loads = (cmd->opts.loads & below) | (cmd->opts.loads & ~below) << 1;
	return rc;
}

static const struct opt options[] = {
	{"cpu", 'C', "N", "core to load and audit (default: last core that this process may use)",
	 OPT_NUMBER(struct audit_cmd, opts.cpu, 0, CPUSET_MAX - 1)},
	{"budget", 0, "TIME",
	 "limit of the total time, such as 30s; work beyond the limit is skipped",
	 TIME(budget_ns, NSEC_PER_SEC, 86400 * NSEC_PER_SEC)},
	{"plot", 0, "FILE.svg", "also plot the results", .parse = opts_svg,
	 OPT_AT(struct audit_cmd, plot)},
	{"paper", 0, "DIR",
	 "repeat the paper (see the man page): write its figures, its table and a page to DIR",
	 OPT_STORE(struct audit_cmd, paper)},
	{"fail-over", 0, "Npp",
	 "exit 2 if the error of /proc/stat exceeds N percentage points, such as 5pp",
	 OPT_SHARE(struct audit_cmd, fail_over, 0.0, 1.0)},
	{"all", 'a', NULL, "text: also print the long tables",
	 OPT_STORE(struct audit_cmd, view.all)},
	{"delays", 0, "LIST", "delays: lengths in microseconds, such as 0,1,5,1000",
	 DELAYS(.parse = set_delays)},
	{"slack", 0, "LIST", "delays: timer slacks, such as 1ns,default (default 1ns)",
	 DELAYS(.parse = set_slacks)},
	{"iterations", 0, "N", "delays: loops per delay, regardless of the time",
	 DELAYS(OPT_NUMBER(struct audit_cmd, opts.iterations, 1, UINT32_MAX))},
	{"save", 0, "FILE", "delays: keep the finished rows in FILE, as JSON",
	 DELAYS(OPT_STORE(struct audit_cmd, rows.save))},
	{"resume", 0, "FILE",
	 "delays: measure only the rows that FILE, from an earlier run, "
	 "lacks",
	 DELAYS(OPT_STORE(struct audit_cmd, rows.resume))},
	{"duty", 0, "N%", "sources: busy share of each period (default 30%)",
	 SOURCES(OPT_SHARE(struct audit_cmd, opts.duty, 0.001, 0.99))},
	{"period", 0, "TIME", "sources: period of the loads (default: one tick)",
	 SOURCES(TIME(period_ns, 50 * NSEC_PER_USEC, NSEC_PER_SEC))},
	{"phase", 0, "TIME",
	 "sources: only load locked, with its busy periods at this phase of --period",
	 SOURCES(TIME(phase_ns, 0, NSEC_PER_SEC))},
	{"share", 0, "N%", "sources: share of the core that the hidden task uses (default 50%)",
	 SOURCES(OPT_SHARE(struct audit_cmd, opts.share, 0.01, 0.95))},
	{"loads", 0, "LIST", "sources: only these loads, such as random,hidden,softirq",
	 SOURCES(.parse = set_loads, .words = load_words, OPT_AT(struct audit_cmd, opts.loads))},
	{"want", 0, "N%", "precision: the wanted precision (default 0.1%)",
	 PRECISION(OPT_SHARE(struct audit_cmd, want, 1e-6, 1.0))},
	{"hz", 0, "N", "precision: compute for this HZ instead of measuring it",
	 PRECISION(OPT_NUMBER(struct audit_cmd, hz, 1, 10000))},
	{0},
};

static int take_command(struct opts_state *state, struct audit_cmd *cmd, struct err *err)
{
	char **command = &state->argv[state->index - 1];

	if (cmd->only)
		return err_set(err, -EINVAL,
			       "%s and a command exclude each other: use audit -- %.80s", cmd->only,
			       *command);
	cmd->command = command;
	state->index = state->argc;
	return 0;
}

static int parse_operand(struct opts_state *state, const char *word, void *base, struct err *err)
{
	struct audit_cmd *cmd = base;

	if (state->no_more)
		return take_command(state, cmd, err);
	if (cmd->only || opt_index(operand_words, word) < 0)
		return err_set(err, -EINVAL,
			       "unexpected operand %.80s: expected one of ticks, delays, sources, "
			       "precision",
			       word);
	cmd->only = word;
	return 0;
}

/* First option on the command line that no experiment of this run uses, or NULL. */
static const struct opt *option_unused(const struct opts_state *state, const struct audit_cmd *cmd)
{
	static const char *const groups[] = {"delays", "sources", "precision"};
	const struct opt *unused = NULL;

	for (size_t i = 0; !unused && i < ARRAY_SIZE(groups); i++)
		if (cmd->only ? strcmp(cmd->only, groups[i]) : !strcmp(groups[i], "precision"))
			unused = opts_group(state, groups[i]);
	return unused;
}

/* First option on the command line that `audit -- COMMAND` would ignore, or NULL. */
static const struct opt *option_foreign(const struct opts_state *state)
{
	for (const struct opt *opt = state->own; opt->name; opt++)
		if (strcmp(opt->name, "cpu") && strcmp(opt->name, "all") &&
		    opts_given(state, opt->name))
			return opt;
	return NULL;
}

/* Default of --cpu: the last allowed CPU, because the first CPUs handle most interrupts. */
static int choose_cpu(struct audit_cmd *cmd, struct err *err)
{
	struct cpuset online, allowed;
	char list[64];

	if (cpu_set(NULL, CPU_ONLINE, &online, NULL) || affinity_get(0, &allowed))
		return 0;
	if (cmd->cpu_given && !cpuset_has(&online, cmd->opts.cpu)) {
		cpuset_format(&online, list, sizeof(list));
		return err_set(err, -EINVAL, "--cpu %u: not online; CPUs %s are", cmd->opts.cpu,
			       list);
	}
	cpuset_for_each(cpu, &online)
		if (!cmd->cpu_given && cpuset_has(&allowed, cpu))
			cmd->opts.cpu = cpu;
	return 0;
}

static int check(const struct opts_state *state, void *base, struct err *err)
{
	struct audit_cmd *cmd = base;
	bool precision = cmd->only && !strcmp(cmd->only, "precision");
	bool ticks = cmd->only && !strcmp(cmd->only, "ticks");
	const struct opt *unused = option_unused(state, cmd), *foreign = option_foreign(state);

	cmd->cpu_given = opts_given(state, "cpu");
	cmd->opts.phase_given = opts_given(state, "phase");
	if (state->no_more && !cmd->command)
		return err_set(err, -EINVAL, "--: expected a command");
	if (cmd->command && foreign)
		return err_set(err, -EINVAL, "--%s: not for audit -- COMMAND", foreign->name);
	if (cmd->fail_over >= 0.0 && (precision || ticks))
		return err_set(err, -EINVAL,
			       "--fail-over: audit %s measures no error; leave out --fail-over",
			       cmd->only);
	if (cmd->plot && precision)
		return err_set(err, -EINVAL, "--plot: audit precision has no plot");
	if (unused)
		return err_set(err, -EINVAL, "--%s: only for audit %s", unused->name,
			       unused->group);
	if (cmd->paper && (cmd->only || cmd->plot || cmd->opts.delays_ns || cmd->opts.slacks_ns ||
			   opts_group(state, "sources")))
		return err_set(err, -EINVAL,
			       "--paper selects experiments and settings itself: leave out the "
			       "experiment, --plot, --delays, --slack and options of sources");
	if (cmd->paper && (cmd->rows.save || cmd->rows.resume) && !cmd->opts.iterations)
		return err_set(err, -EINVAL, "--paper: --save and --resume need --iterations");
	if (!cmd->only && !cmd->paper && (cmd->rows.save || cmd->rows.resume))
		return err_set(err, -EINVAL, "--%s: only for audit delays",
			       cmd->rows.save ? "save" : "resume");
	if (cmd->opts.phase_given && cmd->opts.period_ns &&
	    cmd->opts.phase_ns >= cmd->opts.period_ns)
		return err_set(err, -EINVAL, "--phase: must be shorter than --period");
	return choose_cpu(cmd, err);
}

int audit_opts_parse(struct audit_cmd *cmd, int argc, char **argv)
{
	struct opts_state state = {
		.command = "audit",
		.synopsis = "audit [ticks|delays|sources|precision] [options]\n"
			    "       subtick audit [-C N] -- COMMAND [ARG...]",
		.summary = "Error of the kernel's own CPU figures on this machine, by "
			   "experiment.\nDefault: short versions of ticks, delays and sources, "
			   "and a verdict; about a minute.",
		.own = options,
		.operands = operand_words,
		.view = &cmd->view,
		.tables = audit_tables,
		.operand = parse_operand,
		.check = check,
	};

	*cmd = (struct audit_cmd){
		.opts = {.duty = 0.3, .share = 0.5}, .want = DEFAULT_WANT, .fail_over = -1.0};
	return opts_walk(&state, argc, argv, cmd);
}
