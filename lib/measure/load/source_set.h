/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Several sources of load side by side: one in full, and others to compare it with. */
#ifndef SUBTICK_MEASURE_LOAD_SOURCE_SET_H
#define SUBTICK_MEASURE_LOAD_SOURCE_SET_H

#include "measure/load/source.h"

#define SOURCE_SET_MAX 8

struct source_set {
	struct load_source *source[SOURCE_SET_MAX]; /* the first is the truth */
	unsigned int nr;
	struct err
		passed_over; /* auto: why a better first one is unavailable; code 0: it is the best */
};

/* Opens the first: by name, or "auto"/NULL. On failure the set is empty. */
int source_set_open(struct source_set *set, const char *name, const struct load_source_opts *opts,
		    struct err *err);
/* Opens the others, all or those in @names. One that this machine lacks is no error. */
void source_set_add(struct source_set *set, const char *const *names,
		    const struct load_source_opts *opts);
/* -EINVAL if an event was named and no source of the set counts any: it must not be ignored. */
int source_set_check_event(const struct source_set *set, const char *event, struct err *err);
void source_set_close(struct source_set *set);
/* The place of a source by its name; -1 for none. */
int source_set_find(const struct source_set *set, const char *name);

#endif
