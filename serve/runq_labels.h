/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Labels of run-queue series: what tells them apart, and the names of pods beside it. */
#ifndef SUBTICK_SERVE_RUNQ_LABELS_H
#define SUBTICK_SERVE_RUNQ_LABELS_H

#include "config.h"
#include "measure/runq/group.h"

/* What a series is by: "cgroup", also of pods; "namespace", "qos". */
const char *runq_label_name(const struct config *config);
/* Allocated: cgroup="X". */
char *runq_label(const struct config *config, const struct runq_party *party);
/*
 * Allocated: the labels that the settings ask for and that are known of the party, as
 * series_set_more() takes them; @prefix is before the name of each. "" if there are none.
 */
char *runq_label_more(const struct config *config, const char *prefix,
		      const struct runq_party *party);

#endif
