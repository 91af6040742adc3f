/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick crit: cost of disabling and enabling interrupts and preemption. */
#include "commands.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "output.h"
#include "opts.h"
#include "present/crit.h"
#include "report/report.h"
#include "run.h"

struct crit_cmd {
	struct crit_opts crit;
	bool tracepoints;
	const char *against;
	struct diff_side earlier; /* windows read from the file of --against */
};

static const char *const engine_words[] = {"auto", "module", "bpf", NULL};

/* Each percentile needs its own JSON key: 9.99 and 99.9 would have the same key. */
static int add_percentile(const struct opt *opt, const char *word, void *base, struct err *err)
{
	struct crit_opts *crit = &((struct crit_cmd *)base)->crit;
	unsigned int nr = crit->nr_percentiles;
	char key[24], other[24];
	double percent;

	if (nr == CRIT_MAX_PERCENTILES)
		return err_set(err, -E2BIG, "at most %d percentiles", CRIT_MAX_PERCENTILES);
	if (!opts_percent(word, &percent) || percent * CRIT_PERCENT < 1 ||
	    fabs(percent * CRIT_PERCENT - round(percent * CRIT_PERCENT)) > 1e-6)
		return -EINVAL;
	crit->percentile[nr] = (uint32_t)lround(percent * CRIT_PERCENT);
	columns_digits(crit->percentile[nr] / (double)CRIT_PERCENT, key);
	for (unsigned int i = 0; i < nr; i++) {
		columns_digits(crit->percentile[i] / (double)CRIT_PERCENT, other);
		if (!strcmp(key, other))
			return err_set(err, -EEXIST, "two percentiles have the same JSON key p%s",
				       key);
	}
	crit->nr_percentiles++;
	return 0;
}

static int set_percentiles(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct crit_cmd *cmd = base;

	cmd->crit.nr_percentiles = 0;
	return opt_each(opt, value, base, err, add_percentile);
}

static const struct opt options[] = {
	{"engine", 'e', "NAME", "auto, module or bpf (default auto)", .words = engine_words,
	 OPT_STORE(struct crit_cmd, crit.engine)},
	{"samples", 'n', "N", "pairs to time per CPU, operation and round (default 10000)",
	 OPT_NUMBER(struct crit_cmd, crit.nr_samples, 1, 1000000000)},
	{"highest", 0, "N", "max_avg is the average of the N highest samples (default 100)",
	 OPT_NUMBER(struct crit_cmd, crit.nr_highest, 1, 1000000000)},
	{"work", 'w', NULL,
	 "do simulated work inside the pairs, and subtract the cost of this work",
	 OPT_STORE(struct crit_cmd, crit.work)},
	{"percentiles", 'p', "LIST", "percentiles to show (default 50,99,99.9)",
	 .parse = set_percentiles,
	 .expected = "numbers above 0 and up to 100, with at most three decimals, such as "
		     "50,99,99.9"},
	{"rounds", 'r', "N", "rounds of the benchmark (default 5)",
	 OPT_NUMBER(struct crit_cmd, crit.rounds, 1, CRIT_MAX_ROUNDS)},
	{"cpu", 'C', "LIST", "only these CPUs, such as 0,2-5",
	 OPT_STORE(struct crit_cmd, crit.cpus)},
	{"tracepoints", 't', NULL, "show the cost of enabling the irq and preempt tracepoints",
	 OPT_STORE(struct crit_cmd, tracepoints)},
	{"against", 0, "FILE", "compare with the --json output of an earlier run, as subtick diff",
	 OPT_STORE(struct crit_cmd, against)},
	{0},
};

/* True after SIGINT or SIGTERM. Waits 50 us in run_wait(), where signals are unblocked. */
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
	struct crit_result result = {0};
	struct crit_trace trace = {0};
	int rc;

	if (cmd->tracepoints)
		rc = crit_trace_run(engine, &cmd->crit, &trace, err);
	else
		rc = crit_run(engine, &cmd->crit, "measuring", &result, err);
	if (!rc)
		rc = crit_report(engine, &cmd->crit, cmd->tracepoints ? &trace.off_before : &result,
				 cmd->tracepoints ? &trace : NULL, ret_report);
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
	int rc = cmd->against ? input_against(cmd->against, "crit", &cmd->earlier, &err) : 0;

	run_signals();
	if (!rc)
		rc = crit_open(&cmd->crit, &engine, &err) ?: measure(cmd, engine, &report, &err);
	crit_close(engine, &left);
	if (!rc)
		output_against(view, report, &cmd->earlier, report, &err);
	input_reports_free(cmd->earlier.windows, cmd->earlier.nr);
	if (rc)
		return opts_fail("crit", &err);
	rc = err.code ? opts_fail("crit", &err) : EXIT_SUCCESS;
	return left.code ? opts_fail("crit", &left) : rc;
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
		.summary = "Cost of disabling and enabling interrupts and preemption on this "
			   "kernel.",
		.own = options,
		.view = &view,
		.tables = crit_tables,
	};
	int code = opts_walk(&state, argc, argv, &cmd);

	if (code != OPTS_PARSED)
		return code;
	if (isatty(STDERR_FILENO))
		cmd.crit.progress = progress;
	return run(&cmd, &view);
}
