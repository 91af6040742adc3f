/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the command line of `subtick audit`, and refuses what its experiments would ignore. */
#include "audit_opts.h"

#include <string.h>

#include "base/clock.h"
#include "opts.h"
#include "sys/affinity.h"
#include "sys/cpu.h"

#define DEFAULT_WANT 0.001

enum {
	ID_DELAYS = OPT_OWN,
	ID_LOADS,
	ID_SLACK,
};

#define TIME(member, least, most) OPT_DURATION(struct audit_cmd, opts.member, least, most)
/* Options that only one experiment uses. */
#define DELAYS(...)    __VA_ARGS__, .group = "delays"
#define SOURCES(...)   __VA_ARGS__, .group = "sources"
#define PRECISION(...) __VA_ARGS__, .group = "precision"

static const char *const load_words[] = {"random", "swept",   "exposed",
					 "hidden", "softirq", "xdp-drop", NULL};
/* What can be asked for alone. */
static const char *const operand_words[] = {"ticks", "delays", "sources", "precision", NULL};

static const struct opt options[] = {
	{"cpu", 'C', "N", "the core to load and audit (default: the last one)",
	 OPT_NUMBER(struct audit_cmd, opts.cpu, 0, CPUSET_MAX - 1)},
	{"budget", 0, "TIME", "how long to take, such as 30s; what does not fit is left out",
	 TIME(budget_ns, NSEC_PER_SEC, 86400 * NSEC_PER_SEC)},
	{"plot", 0, "FILE.svg", "also plot the results", OPT_STORE(struct audit_cmd, plot)},
	{"fail-over", 0, "Npp",
	 "exit 2 if /proc/stat is off by more percentage points, such as 5pp",
	 OPT_SHARE(struct audit_cmd, fail_over, 0.0, 1.0)},
	{"all", 'a', NULL, "text: also print the long tables", .kind = OPT_ALL},
	{"delays", 0, "LIST", "delays: lengths in microseconds, such as 0,1,5,1000",
	 DELAYS(.id = ID_DELAYS)},
	{"slack", 0, "LIST", "delays: timer slacks, such as 1ns,default (default 1ns)",
	 DELAYS(.id = ID_SLACK)},
	{"iterations", 0, "N", "delays: loops per delay, however long that takes",
	 DELAYS(OPT_NUMBER(struct audit_cmd, opts.iterations, 1, UINT32_MAX))},
	{"save", 0, "FILE", "delays: keep the finished rows in FILE, as JSON, at any time",
	 DELAYS(OPT_STORE(struct audit_cmd, rows.save))},
	{"resume", 0, "FILE", "delays: measure only what FILE, an earlier run's JSON, lacks",
	 DELAYS(OPT_STORE(struct audit_cmd, rows.resume))},
	{"duty", 0, "N%", "sources: busy share of each period (default 30%)",
	 SOURCES(OPT_SHARE(struct audit_cmd, opts.duty, 0.001, 0.99))},
	{"period", 0, "TIME", "sources: period of the loads (default: one tick)",
	 SOURCES(TIME(period_ns, 50 * NSEC_PER_USEC, NSEC_PER_SEC))},
	{"phase", 0, "TIME", "sources: one load only, locked at this phase of its period",
	 SOURCES(TIME(phase_ns, 0, NSEC_PER_SEC))},
	{"share", 0, "N%", "sources: share of the core that the hidden task uses (default 50%)",
	 SOURCES(OPT_SHARE(struct audit_cmd, opts.share, 0.01, 0.95))},
	{"loads", 0, "LIST", "sources: only these loads, such as random,hidden,softirq",
	 SOURCES(.id = ID_LOADS, .words = load_words)},
	{"want", 0, "N%", "precision: the wanted precision (default 0.1%)",
	 PRECISION(OPT_SHARE(struct audit_cmd, want, 1e-6, 1.0))},
	{"hz", 0, "N", "precision: compute for this HZ instead of measuring it",
	 PRECISION(OPT_NUMBER(struct audit_cmd, hz, 1, 10000))},
	{0},
};

static bool add_delay(const struct opts_state *state, const char *word, void *arg)
{
	struct audit_cmd *cmd = arg;
	uint64_t us;

	if (cmd->opts.nr_delays == AUDIT_MAX_DELAYS) {
		opts_usage(state, "--delays %s: expected up to %d numbers of microseconds",
			   state->value, AUDIT_MAX_DELAYS);
		return false;
	}
	if (!opts_u64(state, "--delays", word, 0, 1000000, &us))
		return false;
	cmd->delays_ns[cmd->opts.nr_delays++] = us * NSEC_PER_USEC;
	cmd->opts.delays_ns = cmd->delays_ns;
	return true;
}

static bool add_slack(const struct opts_state *state, const char *word, void *arg)
{
	struct audit_cmd *cmd = arg;
	uint64_t ns = AUDIT_DEFAULT_SLACK_NS;

	if (cmd->opts.nr_slacks == AUDIT_MAX_SLACKS) {
		opts_usage(state, "--slack %s: expected up to %d times", state->value,
			   AUDIT_MAX_SLACKS);
		return false;
	}
	if (strcmp(word, "default") && !opts_duration(state, "--slack", word, 1, NSEC_PER_SEC, &ns))
		return false;
	for (size_t i = 0; i < cmd->opts.nr_slacks; i++)
		if (cmd->slacks_ns[i] == ns) {
			opts_usage(state, "--slack %s: the same slack twice", state->value);
			return false;
		}
	cmd->slacks_ns[cmd->opts.nr_slacks++] = ns;
	cmd->opts.slacks_ns = cmd->slacks_ns;
	return true;
}

/* Load "locked" needs --phase and is selected by it. */
static bool add_load(const struct opts_state *state, const char *word, void *arg)
{
	struct audit_cmd *cmd = arg;
	const char *name;

	for (unsigned int load = 0; (name = audit_load_name(load)); load++)
		if (load != AUDIT_LOCKED && !strcmp(name, word)) {
			cmd->opts.loads |= 1u << load;
			return true;
		}
	opts_usage(state,
		   "--loads %s: expected some of random, swept, exposed, hidden, softirq, xdp-drop",
		   state->value);
	return false;
}

/* The words after "--" are a command, options of its own included. */
static bool take_command(struct opts_state *state, struct audit_cmd *cmd)
{
	if (cmd->only) {
		opts_usage(state, "audit %s -- %s: a command is audited by itself, without %s",
			   cmd->only, state->value, cmd->only);
		return false;
	}
	cmd->command = &state->argv[state->index - 1];
	state->index = state->argc;
	return true;
}

static bool parse_operand(const struct opts_state *state, struct audit_cmd *cmd)
{
	bool known = false;

	for (const char *const *word = operand_words; *word; word++)
		known |= !strcmp(state->value, *word);
	if (!known || cmd->only) {
		opts_usage(state,
			   "unexpected operand %s: expected one of ticks, delays, sources, "
			   "precision",
			   state->value);
		return false;
	}
	cmd->only = state->value;
	return true;
}

static bool parse_option(struct opts_state *state, int id, void *arg)
{
	struct audit_cmd *cmd = arg;

	switch (id) {
	case OPT_OPERAND:
		return state->no_more ? take_command(state, cmd) : parse_operand(state, cmd);
	case ID_DELAYS:
		cmd->opts.nr_delays = 0;
		return opts_list(state, cmd, add_delay);
	case ID_SLACK:
		cmd->opts.nr_slacks = 0;
		return opts_list(state, cmd, add_slack);
	default:
		cmd->opts.loads = 0;
		return opts_list(state, cmd, add_load);
	}
}

/*
 * The first option given that no experiment of this run uses; NULL if there is none. Without an
 * experiment on the command line all three run, and only options of precision are unused.
 */
static const struct opt *option_unused(const struct opts_state *state, const struct audit_cmd *cmd)
{
	static const char *const groups[] = {"delays", "sources", "precision"};
	const struct opt *unused = NULL;

	for (size_t i = 0; !unused && i < sizeof(groups) / sizeof(groups[0]); i++)
		if (cmd->only ? strcmp(cmd->only, groups[i]) : !strcmp(groups[i], "precision"))
			unused = opts_group(state, groups[i]);
	return unused;
}

/* The first option given that a command has no use for; NULL if there is none. */
static const struct opt *option_foreign(const struct opts_state *state)
{
	for (const struct opt *opt = state->own; opt->name; opt++)
		if (strcmp(opt->name, "cpu") && strcmp(opt->name, "all") &&
		    opts_given(state, opt->name))
			return opt;
	return NULL;
}

/* An option that this run would ignore is a mistake. */
static bool options_fit(const struct opts_state *state, const struct audit_cmd *cmd)
{
	bool precision = cmd->only && !strcmp(cmd->only, "precision");
	bool ticks = cmd->only && !strcmp(cmd->only, "ticks");
	const struct opt *unused = option_unused(state, cmd), *foreign = option_foreign(state);

	if (state->no_more && !cmd->command)
		opts_usage(state, "--: expected a command");
	else if (cmd->command && foreign)
		opts_usage(state, "--%s: not for audit -- COMMAND", foreign->name);
	else if (cmd->fail_over >= 0.0 && (precision || ticks))
		opts_usage(state, "--fail-over: audit %s measures no error", cmd->only);
	else if (cmd->plot && precision)
		opts_usage(state, "--plot: audit precision has no plot");
	else if (!opts_svg(state, cmd->plot))
		return false;
	else if (unused)
		opts_usage(state, "--%s: only for audit %s", unused->name, unused->group);
	else if (!cmd->only && (cmd->rows.save || cmd->rows.resume))
		opts_usage(state, "--%s: only for audit delays",
			   cmd->rows.save ? "save" : "resume");
	else if (cmd->opts.phase_given && cmd->opts.period_ns &&
		 cmd->opts.phase_ns >= cmd->opts.period_ns)
		opts_usage(state, "--phase: must be shorter than --period");
	else
		return true;
	return false;
}

/* The default is the last core that we may use: the first ones handle most interrupts. */
static bool choose_cpu(const struct opts_state *state, struct audit_cmd *cmd)
{
	struct cpuset online, allowed;
	unsigned int cpu;
	char list[64];

	if (cpu_set(NULL, CPU_ONLINE, &online, NULL) || affinity_get(0, &allowed))
		return true;
	if (opts_given(state, "cpu")) {
		if (cpuset_has(&online, cmd->opts.cpu))
			return true;
		cpuset_format(&online, list, sizeof(list));
		opts_usage(state, "--cpu %u: not online; CPUs %s are", cmd->opts.cpu, list);
		return false;
	}
	cpuset_for_each(cpu, &online)
		if (cpuset_has(&allowed, cpu))
			cmd->opts.cpu = cpu;
	return true;
}

int audit_opts_parse(struct audit_cmd *cmd, int argc, char **argv)
{
	struct opts_state state = {
		.command = "audit",
		.synopsis = "audit [ticks|delays|sources|precision] [options]\n"
			    "       subtick audit [-C N] -- COMMAND [ARG...]",
		.summary = "How wrong the kernel's own CPU figures are on this machine, by "
			   "experiment.\nDefault: short versions of ticks, delays and sources, and "
			   "a verdict; about a minute.",
		.own = options,
		.operands = operand_words,
		.view = &cmd->view,
	};
	int code;

	*cmd = (struct audit_cmd){
		.opts = {.duty = 0.3, .share = 0.5}, .want = DEFAULT_WANT, .fail_over = -1.0};
	code = opts_walk(&state, argc, argv, parse_option, cmd);
	if (code != OPTS_PARSED)
		return code;
	cmd->cpu_given = opts_given(&state, "cpu");
	cmd->opts.phase_given = opts_given(&state, "phase");
	if (!options_fit(&state, cmd) || !choose_cpu(&state, cmd))
		return EXIT_USAGE;
	return OPTS_PARSED;
}
