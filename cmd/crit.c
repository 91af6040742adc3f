/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick crit: what disabling and enabling interrupts and preemption costs. */
#include "commands.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "crit_against.h"
#include "present/crit.h"
#include "opts.h"
#include "run.h"

enum {
	ID_ENGINE = OPT_OWN,
	ID_PERCENTILES,
};

struct crit_cmd {
	struct crit_opts crit;
	bool tracepoints;
	const char *against;
	struct crit_baseline baseline;
};

static const char *const engine_words[] = {"auto", "module", "bpf", NULL};

static const struct opt options[] = {
	{"engine", 'e', "NAME", "auto, module or bpf (default auto)", .id = ID_ENGINE,
	 .words = engine_words},
	{"samples", 'n', "N", "pairs to time per CPU, operation and round (default 10000)",
	 OPT_NUMBER(struct crit_cmd, crit.nr_samples, 1, 1000000000)},
	{"highest", 0, "N", "max_avg is the average of the N highest samples (default 100)",
	 OPT_NUMBER(struct crit_cmd, crit.nr_highest, 1, 1000000000)},
	{"work", 'w', NULL, "do some work inside the pairs; its cost is subtracted",
	 OPT_STORE(struct crit_cmd, crit.work)},
	{"percentiles", 'p', "LIST", "percentiles to show (default 50,99,99.9)",
	 .id = ID_PERCENTILES},
	{"rounds", 'r', "N", "how many times to run the benchmark (default 5)",
	 OPT_NUMBER(struct crit_cmd, crit.rounds, 1, CRIT_MAX_ROUNDS)},
	{"cpu", 'C', "LIST", "only these CPUs, such as 0,2-5; engine module: figures of these",
	 OPT_STORE(struct crit_cmd, crit.cpus)},
	{"tracepoints", 't', NULL, "show what enabling the irq and preempt tracepoints adds",
	 OPT_STORE(struct crit_cmd, tracepoints)},
	{"against", 0, "FILE", "compare with the --json output of an earlier run",
	 OPT_STORE(struct crit_cmd, against)},
	{0},
};

static bool engine_known(const char *name)
{
	return !strcmp(name, "auto") || !strcmp(name, "module") || !strcmp(name, "bpf");
}

/* Parses one number of the list, in 0.001 %; false unless it is plain decimal and in (0, 100]. */
static bool percentile_parse(const char **text, uint32_t *ret_percentile)
{
	const char *p = *text;
	uint32_t whole = 0, part = 0, scale = CRIT_PERCENT;

	if (!isdigit((unsigned char)*p))
		return false;
	for (; isdigit((unsigned char)*p) && whole <= 100; p++)
		whole = whole * 10 + (*p - '0');
	if (*p == '.' && isdigit((unsigned char)p[1]))
		for (p++; isdigit((unsigned char)*p) && scale > 1; p++) {
			scale /= 10;
			part += (*p - '0') * scale;
		}
	*text = p;
	*ret_percentile = whole * CRIT_PERCENT + part;
	return *ret_percentile && *ret_percentile <= 100 * CRIT_PERCENT && (!*p || *p == ',');
}

/* Keys must be unique: 9.99 and 99.9 have the same one, and so has a number given twice. */
static bool percentiles_unique(const struct opts_state *state, const struct crit_opts *crit)
{
	char a[20], b[20];

	for (unsigned int i = 0; i < crit->nr_percentiles; i++)
		for (unsigned int k = 0; k < i; k++) {
			crit_percentile_key(crit->percentile[i], a, sizeof(a));
			crit_percentile_key(crit->percentile[k], b, sizeof(b));
			if (strcmp(a, b))
				continue;
			opts_usage(state, "--percentiles %s: two of them would both be called %s",
				   state->value, a);
			return false;
		}
	return true;
}

static bool percentiles_parse(const struct opts_state *state, struct crit_opts *crit)
{
	const char *text = state->value;
	unsigned int nr = 0;

	do {
		if (nr == CRIT_MAX_PERCENTILES || !percentile_parse(&text, &crit->percentile[nr])) {
			opts_usage(state,
				   "--percentiles %s: expected up to %d numbers above 0 and up to "
				   "100, "
				   "with at most three decimals, such as 50,99,99.9",
				   state->value, CRIT_MAX_PERCENTILES);
			return false;
		}
		nr++;
	} while (*text++ == ',');
	crit->nr_percentiles = nr;
	return percentiles_unique(state, crit);
}

static bool parse_option(struct opts_state *state, int id, void *arg)
{
	struct crit_cmd *cmd = arg;
	struct crit_opts *crit = &cmd->crit;

	switch (id) {
	case ID_ENGINE:
		crit->engine = state->value;
		if (engine_known(crit->engine))
			return true;
		opts_usage(state, "--engine %s: expected auto, module or bpf", state->value);
		return false;
	case ID_PERCENTILES:
		return percentiles_parse(state, crit);
	default:
		opts_usage(state, "unexpected operand %s", state->value);
		return false;
	}
}

/* Signals are unblocked only while waiting, so wait as briefly as possible to check for one. */
static bool stopped(void)
{
	return run_wait(clock_mono_ns() + 50 * NSEC_PER_USEC);
}

static void progress(const char *phase, unsigned int done, unsigned int total)
{
	fprintf(stderr, "\r\033[K%s: round %u of %u", phase, done, total);
	if (done == total)
		fprintf(stderr, "\r\033[K");
}

static int measure(struct crit_cmd *cmd, struct crit_engine *engine, struct report **ret_report,
		   struct err *err)
{
	const struct crit_baseline *baseline = cmd->against ? &cmd->baseline : NULL;
	struct crit_result result = {0};
	struct crit_trace trace = {0};
	int rc = 0;

	if (baseline)
		rc = crit_against_check(baseline, engine, &cmd->crit, err);
	if (rc)
		return rc;
	if (cmd->tracepoints)
		rc = crit_trace_run(engine, &cmd->crit, &trace, err);
	else
		rc = crit_run(engine, &cmd->crit, "measuring", &result, err);
	if (!rc)
		rc = crit_report(engine, &cmd->crit, cmd->tracepoints ? &trace.off_before : &result,
				 cmd->tracepoints ? &trace : NULL, baseline, ret_report);
	if (rc == -ENOMEM && !err->code)
		err_set(err, rc, "out of memory");
	if (rc == -ECANCELED && !err->code)
		err_set(err, rc, "stopped before a round was complete");
	crit_result_free(&result);
	crit_trace_free(&trace);
	return rc;
}

static int run(struct crit_cmd *cmd, struct view *view)
{
	struct crit_engine *engine = NULL;
	struct report *report = NULL;
	struct err err = {0}, left = {0};
	int rc = 0;

	/* Check the file first: a mistake should show before the measurement, not after it. */
	if (cmd->against)
		rc = crit_against_read(cmd->against, &cmd->baseline, &err);
	if (!rc)
		rc = crit_open(&cmd->crit, &engine, &err);
	if (!rc)
		rc = measure(cmd, engine, &report, &err);
	crit_close(engine, &left);
	if (rc)
		return opts_fail("crit", &err);
	rc = view_write(view, report);
	report_free(report);
	if (rc && rc != -EPIPE)
		fprintf(stderr, "subtick crit: cannot write: %s\n", strerror(-rc));
	if (left.code)
		return opts_fail("crit", &left);
	return rc && rc != -EPIPE ? EXIT_ERROR : EXIT_SUCCESS;
}

int cmd_crit(int argc, char **argv)
{
	struct crit_cmd cmd = {
		.crit = {.nr_samples = 10000,
			 .nr_highest = 100,
			 .rounds = 5,
			 .percentile = {50 * CRIT_PERCENT, 99 * CRIT_PERCENT, 99900},
			 .nr_percentiles = 3,
			 .stopped = stopped},
	};
	struct view view;
	struct opts_state state = {
		.command = "crit",
		.synopsis = "crit [options]",
		.summary = "What disabling and enabling interrupts and preemption costs on this "
			   "kernel.",
		.own = options,
		.view = &view,
	};
	int code;

	code = opts_walk(&state, argc, argv, parse_option, &cmd);
	if (code != OPTS_PARSED)
		return code;
	if (isatty(STDERR_FILENO))
		cmd.crit.progress = progress;
	run_signals();
	return run(&cmd, &view);
}
