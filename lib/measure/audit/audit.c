/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Divides the time of the experiments; concludes from them how this kernel accounts CPU time. */
#include "measure/audit/audit.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#include "base/clock.h"
#include "measure/audit/watch.h"

uint64_t audit_part_end(uint64_t now_ns, uint64_t end_ns, double share, uint64_t least_ns)
{
	uint64_t left = end_ns > now_ns ? end_ns - now_ns : 0, part;

	if (end_ns == UINT64_MAX)
		return UINT64_MAX;
	if (left < least_ns)
		return 0;
	part = (uint64_t)((double)left * share);
	return now_ns + (part > least_ns ? part : least_ns);
}

int audit_no_time(struct err *err)
{
	return err_set(err, -ETIME, "too little of --budget was left");
}

enum audit_regime audit_regime(const struct audit_findings *f)
{
	if (!f->tick_looked)
		return AUDIT_UNKNOWN;
	/*
	 * No tick in the increments, no phase that hides a task and no large error: the kernel
	 * measures at each switch. All three are needed: a slow reader, or other tasks on the core,
	 * can cause one of them.
	 */
	if (!f->tick_known)
		return !f->tick_unclear && f->hide_tried && !f->hide_phase && f->worst_known &&
				       f->worst_error <= AUDIT_EXACT_ERROR
			       ? AUDIT_VIRT_GEN
			       : AUDIT_UNKNOWN;
	if (!f->irq_known)
		return AUDIT_SAMPLED;
	return f->irq_coherence >= AUDIT_ON_TICK ? AUDIT_TICK : AUDIT_IRQTIME;
}

const char *audit_regime_name(enum audit_regime regime)
{
	static const char *const names[] = {
		[AUDIT_UNKNOWN] = NULL,	     [AUDIT_TICK] = "tick",
		[AUDIT_IRQTIME] = "irqtime", [AUDIT_VIRT_GEN] = "virt-gen",
		[AUDIT_SAMPLED] = "tick",
	};

	return names[regime];
}

int audit_precision(const struct audit_opts *opts, const struct audit_env *env, double want,
		    unsigned int hz, struct audit_precision *ret_precision, struct err *err)
{
	struct audit_precision p = {.want = want, .given = hz};
	struct audit_findings *f = &p.findings;
	uint64_t begin = clock_mono_ns();
	int rc;

	f->user_hz = sysconf(_SC_CLK_TCK);
	if (hz) {
		f->tick_looked = f->tick_known = true;
		f->hz = hz;
		f->tick_ns = tick_fit_tick_ns(hz);
	}
	rc = audit_find_tick(opts->cpu, opts->budget_ns, env, f, err);
	if (rc)
		return rc;
	if (!f->tick_known && f->tick_unclear)
		return err_set(err, -EAGAIN,
			       "this kernel's HZ could not be measured: %s; try again on a quieter "
			       "machine, or set --hz",
			       f->tick_unclear);
	/* Exact accounting only has the rounding of its unit. */
	precision_rule(want, f->user_hz, f->tick_known ? f->hz : f->user_hz, &p.rule);
	p.window_ns = hz ? 0 : clock_mono_ns() - begin;
	*ret_precision = p;
	return 0;
}
