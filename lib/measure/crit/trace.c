/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures the cost of the irq and preempt tracepoints: off, on, off again. */
#include "measure/crit/trace.h"

#include <errno.h>
#include <string.h>

#include "sys/kconfig.h"
#include "sys/tracefs.h"

#define GROUP "preemptirq"

/* "CONFIG_X is not set" is a fact when the configuration can be read, else a guess: say which. */
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

/* Without tracefs the configuration may still tell that mounting it would not help. */
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
	if (trace->has_irq || trace->has_preempt)
		return 0;
	return no_events(err);
}

static int run_phases(struct crit_engine *engine, const struct crit_opts *opts,
		      struct trace_instance *instance, struct crit_trace *trace, struct err *err)
{
	int rc;

	rc = crit_run(engine, opts, "tracepoints off", &trace->off_before, err);
	if (!rc)
		rc = trace_instance_enable(instance, true, err);
	if (!rc)
		rc = crit_run(engine, opts, "tracepoints on", &trace->on, err);
	if (!rc)
		rc = trace_instance_enable(instance, false, err);
	if (!rc)
		rc = crit_run(engine, opts, "tracepoints off again", &trace->off_after, err);
	return rc;
}

int crit_trace_run(struct crit_engine *engine, const struct crit_opts *opts,
		   struct crit_trace *ret_trace, struct err *err)
{
	struct trace_instance instance;
	struct crit_trace trace = {0};
	char root[TRACEFS_PATH];
	int rc, removed;

	rc = find_tracefs(root, sizeof(root), err);
	if (!rc)
		rc = find_events(root, &trace, err);
	if (!rc)
		rc = tracefs_group_unused(root, GROUP, err);
	if (!rc)
		rc = trace_instance_open(&instance, root, GROUP, err);
	if (rc)
		return rc;
	rc = run_phases(engine, opts, &instance, &trace, err);
	removed = trace_instance_close(&instance);
	/* If it was stopped, report what was measured so far. */
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
