/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Concludes from all experiments how this kernel accounts CPU time. */
#include "measure/audit/audit.h"

#include <stddef.h>

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
