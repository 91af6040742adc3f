/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Turns a window of runq into a report. */
#ifndef SUBTICK_MEASURE_RUNQ_REPORT_H
#define SUBTICK_MEASURE_RUNQ_REPORT_H

#include "measure/runq/kernel.h"

struct runq_result {
	const struct runq_opts *opts; /* with every default filled in */
	struct runq_kernel *kernel;
	const char *hierarchy;
	const char *const *cgroups; /* of opts, as paths below the root of the hierarchy */
	uint64_t window_ns;
	struct runq_group **groups;
	size_t nr_groups;
	struct runq_row *rows;
	size_t nr_rows;
	struct runq_losses was, now;
	bool held_known;	       /* whether the kernel tells how long quota held a group */
	const struct err *passed_over; /* why auto took the other source, or NULL */
};

/* Ends the window of a meter that runq_open() made; what it points to holds until the next. */
int runq_window(struct meter *meter, struct runq_result *ret_result, struct err *err);
/* The options in use, defaults and choices filled in. */
void runq_used(const struct meter *meter, struct runq_opts *ret_opts);
int runq_report(const struct runq_result *result, struct report **ret_report);
/* Long waits as they come. */
int runq_report_events(const struct runq_result *result, const struct runq_event *events, size_t nr,
		       struct report **ret_report);
const char *runq_source_name(enum runq_source source);
/* Whether the user asked for that cgroup. */
bool runq_wanted(const struct runq_result *result, const char *path);

#endif
