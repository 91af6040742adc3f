/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All sources of load, and the choice among them. */
#ifndef SUBTICK_MEASURE_LOAD_SOURCES_H
#define SUBTICK_MEASURE_LOAD_SOURCES_H

#include "measure/load/source.h"

/* All sources, best first; NULL-terminated. */
const struct load_source_ops *const *load_sources(void);
/* By name, or "auto"/NULL: the best that opens; @err then holds why a better one did not. */
int load_source_open(const char *name, const struct load_source_opts *opts,
		     struct load_source **ret_source, struct err *err);
/* A second user, who also closes it. What a source keeps from sample to sample is in the samples. */
struct load_source *load_source_share(struct load_source *source);
/* The last user's close ends it. */
void load_source_close(struct load_source *source);
/* What was lost since the source was opened. */
void load_source_losses(struct load_source *source, struct load_losses *ret_losses);

#endif
