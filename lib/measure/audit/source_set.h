/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every source of load on one core, sampled together and kept, for windows of any length. */
#ifndef SUBTICK_MEASURE_AUDIT_SOURCE_SET_H
#define SUBTICK_MEASURE_AUDIT_SOURCE_SET_H

#include <stddef.h>

#include "base/err.h"
#include "measure/load/source.h"

#define SOURCE_SET_MAX 12

struct source_set_member {
	struct load_source *source;
	struct load_sample *kept; /* of the audited core */
};

/* The first is the truth. */
struct source_set {
	struct source_set_member lane[SOURCE_SET_MAX];
	size_t nr_lanes;
	unsigned int cpu, nr_cpus;
	struct load_sample *scratch;
	size_t nr, room; /* samples kept per lane */
	struct err passed_over;
};

/* err->unsupported when there is no source to hold the others against. */
int source_set_open(struct source_set *lanes, unsigned int cpu, size_t room, struct err *err);
void source_set_close(struct source_set *lanes);
/* Forgets the samples. */
void source_set_reset(struct source_set *lanes);
/* One more sample of every lane; nothing when there is no room. */
void source_set_sample(struct source_set *lanes);
void source_set_window(const struct source_set *lanes, size_t lane, size_t from, size_t to,
		       struct load_cpu_window *ret_window);
/* By the source's name; -1 for none. */
int source_set_find(const struct source_set *lanes, const char *name);

struct audit_error {
	size_t windows, voids;
	double true_ratio, shown_ratio; /* means */
	double bias;			/* mean of shown minus true */
	double median, p99, max;	/* of its size; NAN without windows */
	double rms;
};

/* Over all windows of @steps samples, each beginning at another one. */
int source_set_error(const struct source_set *lanes, size_t lane, size_t steps,
		      struct audit_error *ret_error);

#endif
