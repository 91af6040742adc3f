/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gives groups the names that kubelet and runtimes left for their pods and containers. */
#ifndef SUBTICK_MEASURE_RUNQ_NAMES_H
#define SUBTICK_MEASURE_RUNQ_NAMES_H

#include "measure/runq/group.h"
#include "sys/pods.h"

/*
 * Looks up what is not known of @group yet. A name that was found once stays: the uid of a pod and
 * the id of a container in it never get another one. Outside pods, runtimes rename containers.
 */
void runq_names_resolve(const struct pods *pods, struct runq_group *group);

#endif
