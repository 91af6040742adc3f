/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plots of `subtick audit`, by experiment. */
#ifndef SUBTICK_VIEW_SVG_AUDIT_H
#define SUBTICK_VIEW_SVG_AUDIT_H

#include "view/svg/svg.h"

#define AUDIT_NR_FIGURES 3

struct audit_figures {
	const char *experiment;
	const struct svg_plot *plots;
	size_t nr;
};

extern const struct audit_figures audit_figures[AUDIT_NR_FIGURES];

/* NULL for an experiment without plots. */
const struct audit_figures *audit_figures_of(const char *experiment);

#endif
