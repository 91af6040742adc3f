/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Divides the time of the experiments; concludes from them how this kernel accounts CPU time. */
#include "measure/audit/audit.h"

#include <errno.h>
#include <stddef.h>

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
	switch (regime) {
	case AUDIT_TICK:
	case AUDIT_SAMPLED:
		return "tick";
	case AUDIT_IRQTIME:
		return "irqtime";
	case AUDIT_VIRT_GEN:
		return "virt-gen";
	case AUDIT_UNKNOWN:
		break;
	}
	return NULL;
}
