/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of audit sources. */
#ifndef SUBTICK_MEASURE_AUDIT_SOURCES_REPORT_H
#define SUBTICK_MEASURE_AUDIT_SOURCES_REPORT_H

#include "measure/audit/samples.h"
#include "report/report.h"
#include "stats/load.h"
#include "stats/phase.h"
#include "stats/precision.h"

#define AUDIT_STEP_NS	 10000000ULL
#define AUDIT_NR_WINDOWS 4

extern const uint64_t audit_windows_ns[AUDIT_NR_WINDOWS];

/* One load as a whole: the truth, the columns, and what its generator says. */
struct audit_scene {
	const char *name;
	uint64_t period_ns; /* 0: not periodic */
	bool phase_known;
	uint64_t phase_ns;
	bool booked;
	bool strayed; /* hotplug drove the load to another core */
	double burn_ratio, thread_ratio;
	bool parts_known, idle_known;
	struct load_cpu_window truth, columns, idle_based;
	double columns_sum;
};

struct audit_tables {
	struct table *loads, *errors, *probes;
};

void audit_tables_init(struct audit_tables *tables, struct report *report);
void audit_tables_scene(struct audit_tables *tables, const struct audit_scene *scene);
/* A row per window that was long enough to be had. */
void audit_tables_errors(struct audit_tables *tables, const struct audit_scene *scene,
			 const char *source, const struct audit_error errors[AUDIT_NR_WINDOWS]);
void audit_tables_probes(struct audit_tables *tables, const struct phase_probe *probes, size_t nr);

#endif
