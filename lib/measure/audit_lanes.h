/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every source of load on one core, sampled together and kept, for windows of any length. */
#ifndef SUBTICK_MEASURE_AUDIT_LANES_H
#define SUBTICK_MEASURE_AUDIT_LANES_H

#include "base/err.h"
#include "measure/load_source.h"

#define AUDIT_MAX_LANES 12

struct audit_lane {
	struct load_source *source;
	struct load_sample *kept; /* of the audited core */
};

/* The first is the truth. */
struct audit_lanes {
	struct audit_lane lane[AUDIT_MAX_LANES];
	size_t nr_lanes;
	unsigned int cpu, nr_cpus;
	struct load_sample *scratch;
	size_t nr, room; /* samples kept per lane */
	struct err passed_over;
};

/* err->unsupported when there is no source to hold the others against. */
int audit_lanes_open(struct audit_lanes *lanes, unsigned int cpu, size_t room, struct err *err);
void audit_lanes_close(struct audit_lanes *lanes);
/* Forgets the samples. */
void audit_lanes_reset(struct audit_lanes *lanes);
/* One more sample of every lane; nothing when there is no room. */
void audit_lanes_sample(struct audit_lanes *lanes);
void audit_lanes_window(const struct audit_lanes *lanes, size_t lane, size_t from, size_t to,
			struct load_window *ret_window);
/* By the source's name; -1 for none. */
int audit_lanes_find(const struct audit_lanes *lanes, const char *name);

struct audit_error {
	size_t windows, voids;
	double true_ratio, shown_ratio; /* means */
	double bias;			/* mean of shown minus true */
	double median, p99, max;	/* of its size; NAN without windows */
	double rms;
};

/* Over all windows of @steps samples, each beginning at another one. */
int audit_lanes_error(const struct audit_lanes *lanes, size_t lane, size_t steps,
		      struct audit_error *ret_error);

#endif
