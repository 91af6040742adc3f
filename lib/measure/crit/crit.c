/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chooses the engine, runs the rounds, and computes the cost of the tracepoints. */
#include "measure/crit/crit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "host/kernel.h"
#include "host/mountinfo.h"

static int open_engine(const struct crit_engine_ops *ops, const struct crit_opts *opts,
		       struct crit_engine **ret_engine, struct err *err)
{
	int rc = ops->open(opts, ret_engine, err);

	if (rc)
		err_prefix(err, "engine %s", ops->name);
	return rc;
}

int crit_open(const struct crit_opts *opts, struct crit_engine **ret_engine, struct err *err)
{
	struct err module_err = {0};
	int rc;

	if (opts->engine && strcmp(opts->engine, "auto"))
		return open_engine(strcmp(opts->engine, "bpf") ? &crit_engine_module
							       : &crit_engine_bpf,
				   opts, ret_engine, err);
	rc = open_engine(&crit_engine_module, opts, ret_engine, &module_err);
	if (!rc)
		return 0;
	rc = crit_engine_bpf.open(opts, ret_engine, err);
	if (rc)
		err_prefix(err, "%.100s; engine bpf", module_err.what);
	/* suggest the kernel module tracerbench, which needs neither BTF nor kfuncs */
	if (rc && rc != -EPERM && rc != -EACCES && err && module_err.code == -ENOENT)
		memcpy(err->fix, module_err.fix, sizeof(err->fix));
	return rc;
}

int crit_close(struct crit_engine *engine, struct err *err)
{
	return engine ? engine->ops->close(engine, err) : 0;
}

static void clear(struct crit_round *round)
{
	*round = (struct crit_round){.clock_ns = NAN, .call_ns = NAN, .percentile_cpu = -1};
	array_for_each(f, round->op, CRIT_NR_OPS) {
		f->median = f->average = f->max = f->max_avg = f->batch = NAN;
		for (int i = 0; i < CRIT_MAX_PERCENTILES; i++)
			f->percentile[i] = NAN;
	}
}

void crit_result_free(struct crit_result *result)
{
	for (unsigned int i = 0; i < result->nr_rounds; i++)
		free(result->rounds[i].cpus);
	free(result->rounds);
	*result = (struct crit_result){0};
}

int crit_run(struct crit_engine *engine, const struct crit_opts *opts, const char *phase,
	     struct crit_result *ret_result, struct err *err)
{
	struct crit_result result = {.rounds = calloc(opts->rounds, sizeof(*result.rounds))};
	uint64_t start = clock_mono_ns();
	int rc = 0;

	if (!result.rounds)
		return err_set(err, -ENOMEM, "out of memory");
	while (result.nr_rounds < opts->rounds && !rc) {
		struct crit_round *round = &result.rounds[result.nr_rounds];

		clear(round);
		if (opts->progress)
			opts->progress(phase, result.nr_rounds, opts->rounds);
		rc = opts->stopped && opts->stopped() ? -ECANCELED
						      : engine->ops->round(engine, opts, round, err);
		if (rc)
			free(round->cpus);
		result.nr_rounds += !rc;
	}
	result.window_ns = clock_mono_ns() - start;
	if (opts->progress)
		opts->progress(phase, result.nr_rounds, opts->rounds);
	if (rc == -ECANCELED && result.nr_rounds)
		rc = 0;
	if (rc)
		crit_result_free(&result);
	else
		*ret_result = result;
	return rc;
}

struct crit_spread crit_figure(const struct crit_result *result, size_t offset)
{
	double values[CRIT_MAX_ROUNDS];

	for (unsigned int i = 0; i < result->nr_rounds; i++)
		values[i] = *(const double *)((const char *)&result->rounds[i] + offset);
	return crit_spread_of(values, result->nr_rounds);
}

struct crit_spread crit_compared(const struct crit_result *result, enum crit_op op)
{
	struct crit_spread spread = CRIT_FIGURE(result, op, batch);

	return spread.rounds ? spread : CRIT_FIGURE(result, op, median);
}

#define GROUP "preemptirq"

/* State of the kernel option CONFIG_X, or a guess if the kernel configuration is not readable. */
static const char *option_state(const char *symbol)
{
	enum kconfig_state state = kconfig_running(symbol);

	return state == KCONFIG_NO	  ? "is not set"
	       : state == KCONFIG_UNKNOWN ? "is likely not set"
					  : "is set";
}

static int no_events(struct err *err)
{
	return err_unsupported(err, -EOPNOTSUPP,
			       "build the kernel with CONFIG_IRQSOFF_TRACER=y and "
			       "CONFIG_PREEMPT_TRACER=y",
			       "this kernel has no " GROUP " events: CONFIG_IRQSOFF_TRACER %s, "
			       "CONFIG_PREEMPT_TRACER %s",
			       option_state("IRQSOFF_TRACER"), option_state("PREEMPT_TRACER"));
}

/*
 * Finds tracefs. If tracefs is not mounted and the kernel lacks the preemptirq trace events, the
 * error names the missing events.
 */
static int find_tracefs(char *root, size_t size, struct err *err)
{
	int rc = tracefs_root(root, size, err);

	if (rc == -ENOENT && kconfig_running("PREEMPTIRQ_TRACEPOINTS") == KCONFIG_NO &&
	    kconfig_running("IRQSOFF_TRACER") == KCONFIG_NO &&
	    kconfig_running("PREEMPT_TRACER") == KCONFIG_NO)
		return no_events(err);
	return rc;
}

static int find_events(const char *root, struct crit_trace *trace, struct err *err)
{
	trace->has_irq = tracefs_has_event(root, GROUP, "irq_disable");
	trace->has_preempt = tracefs_has_event(root, GROUP, "preempt_disable");
	return trace->has_irq || trace->has_preempt ? 0 : no_events(err);
}

static int run_phases(struct crit_engine *engine, const struct crit_opts *opts,
		      struct trace_instance *instance, struct crit_trace *trace, struct err *err)
{
	return crit_run(engine, opts, "tracepoints off", &trace->off_before, err) ?:
	       trace_instance_enable(instance, true, err) ?:
	       crit_run(engine, opts, "tracepoints on", &trace->on, err) ?:
	       trace_instance_enable(instance, false, err) ?:
	       crit_run(engine, opts, "tracepoints off again", &trace->off_after, err);
}

int crit_trace_run(struct crit_engine *engine, const struct crit_opts *opts,
		   struct crit_trace *ret_trace, struct err *err)
{
	struct trace_instance instance;
	struct crit_trace trace = {0};
	char root[TRACEFS_PATH];
	int rc, removed;

	rc = find_tracefs(root, sizeof(root), err) ?: find_events(root, &trace, err) ?:
	     tracefs_group_unused(root, GROUP, err) ?:
	     trace_instance_open(&instance, root, GROUP, err);
	if (rc)
		return rc;
	rc = run_phases(engine, opts, &instance, &trace, err);
	removed = trace_instance_close(&instance);
	/* If the user stopped the run, report the complete rounds. */
	if (rc == -ECANCELED && trace.off_before.nr_rounds)
		rc = 0;
	if (!rc && removed)
		rc = err_set(err, removed, "cannot remove trace instance %s: %s", instance.path,
			     strerror(-removed));
	if (rc)
		crit_trace_free(&trace);
	else
		*ret_trace = trace;
	return rc;
}

void crit_trace_free(struct crit_trace *trace)
{
	crit_result_free(&trace->off_before);
	crit_result_free(&trace->on);
	crit_result_free(&trace->off_after);
}
