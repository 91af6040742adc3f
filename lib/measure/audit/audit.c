/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the experiments say together: how this kernel accounts CPU time. */
#include "measure/audit/audit.h"

#include <stddef.h>

enum audit_regime audit_regime(const struct audit_findings *f)
{
	if (!f->tick_looked)
		return AUDIT_UNKNOWN;
	/*
	 * No tick in the increments, no place to hide and no large error: measured at each switch.
	 * Less than all three could be a reader that was too slow, or a core that others use.
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
