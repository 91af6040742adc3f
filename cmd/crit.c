/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick crit: what disabling and enabling interrupts and preemption costs. */
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
	struct crit_baseline baseline;
};

static const char *const engine_words[] = {"auto", "module", "bpf", NULL};

/* Keys must be unique: 9.99 and 99.9 have the same key. */
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
			return err_set(err, -EEXIST, "two of them would both be called p%s", key);
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
	{"work", 'w', NULL, "do some work inside the pairs; its cost is subtracted",
	 OPT_STORE(struct crit_cmd, crit.work)},
	{"percentiles", 'p', "LIST", "percentiles to show (default 50,99,99.9)",
	 .parse = set_percentiles,
	 .expected = "numbers above 0 and up to 100, with at most three decimals, such as "
		     "50,99,99.9"},
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

static struct crit_spread spread(const struct table *ops, size_t row, const char *key,
				 unsigned int rounds)
{
	struct crit_spread s = {.mid = table_number(ops, row, key), .rounds = rounds};
	char name[32];

	snprintf(name, sizeof(name), "%s_low", key);
	s.low = table_number(ops, row, name);
	snprintf(name, sizeof(name), "%s_high", key);
	s.high = table_number(ops, row, name);
	if (!(s.low <= s.mid && s.mid <= s.high))
		s = crit_spread_of(NULL, 0);
	return s;
}

static int read_ops(const struct table *ops, double rounds, struct crit_baseline *baseline)
{
	if (!ops || !(rounds >= 1 && rounds <= CRIT_MAX_ROUNDS))
		return -EINVAL;
	for (int op = 0; op < CRIT_NR_OPS; op++)
		baseline->op[op] = crit_spread_of(NULL, 0);
	for (size_t row = 0; row < ops->nr_rows; row++) {
		const char *name = table_str(ops, row, "op");

		for (int op = 0; name && op < CRIT_NR_OPS; op++) {
			if (strcmp(name, crit_op_names[op]))
				continue;
			baseline->op[op] = spread(ops, row, "batch", rounds);
			if (!baseline->op[op].rounds)
				baseline->op[op] = spread(ops, row, "median", rounds);
		}
	}
	return 0;
}

static int read_report(const struct report *report, struct crit_baseline *baseline)
{
	const char *engine = table_str(report->fields, 0, "engine");
	const struct value *work = table_get(report->fields, 0, "do_work");

	if (strcmp(report->command, "crit") || !engine)
		return -EINVAL;
	snprintf(baseline->engine, sizeof(baseline->engine), "%s", engine);
	baseline->work = work->kind == VALUE_BOOL && work->flag;
	return read_ops(report_find(report, "ops"), table_number(report->fields, 0, "rounds"),
			baseline);
}

/* Reads the first object of @path; an operation that it did not measure has 0 rounds. */
static int crit_against_read(const char *path, struct crit_baseline *ret_baseline, struct err *err)
{
	struct crit_baseline baseline = {0};
	struct report *report;
	int rc = input_report(path, &report, err);

	if (rc)
		return err_prefix(err, "--against");
	snprintf(baseline.name, sizeof(baseline.name), "%s", path);
	rc = read_report(report, &baseline);
	report_free(report);
	if (rc)
		return err_set(err, rc, "--against %s: not the output of subtick crit --json",
			       path);
	*ret_baseline = baseline;
	return 0;
}

/* Fails unless the figures can be compared: same engine, hence same unit, and same work. */
static int crit_against_check(const struct crit_baseline *baseline,
			      const struct crit_engine *engine, const struct crit_opts *opts,
			      struct err *err)
{
	if (strcmp(baseline->engine, engine->ops->name))
		return err_set(err, -EINVAL,
			       "--against %s: measured by engine %s, but this run uses %s; use "
			       "--engine %s",
			       baseline->name, baseline->engine, engine->ops->name,
			       baseline->engine);
	if (baseline->work != opts->work)
		return err_set(err, -EINVAL,
			       "--against %s: measured with%s --work; run this one with%s it, too",
			       baseline->name, baseline->work ? "" : "out",
			       baseline->work ? "" : "out");
	return 0;
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
	run_signals();
	if (!rc)
		rc = crit_open(&cmd->crit, &engine, &err);
	if (!rc)
		rc = measure(cmd, engine, &report, &err);
	crit_close(engine, &left);
	if (rc)
		return opts_fail("crit", &err);
	output_report(view, report, &err);
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
		.summary = "What disabling and enabling interrupts and preemption costs on this "
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
