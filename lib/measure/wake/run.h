/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Experiment of `subtick wake`: one worker per measured core measures wake-ups with increasing
 * launch distances (a sweep).
 */
#ifndef SUBTICK_MEASURE_WAKE_RUN_H
#define SUBTICK_MEASURE_WAKE_RUN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "measure/wake/probe.h"
#include "measure/wake/worker.h"

struct wake_run {
	struct wake_plan plan;
	struct wake_probe *probe;
	struct wake_worker *workers;
	unsigned int nr_workers;
	uint64_t total; /* number of planned wake-ups of all workers */
	pthread_t control;
	bool started;
	atomic_bool stop;
	atomic_bool finished;
	/* true if a measured core is in the package of the sending core */
	bool sender_shares_package;
	bool sender_moved; /* true if the sender's core went offline, which ended the run */
	struct err err;
};

int wake_run_open(struct wake_run *run, const struct wake_plan *plan, struct wake_probe *probe,
		  struct err *err);
int wake_run_start(struct wake_run *run, struct err *err);
uint64_t wake_run_done(const struct wake_run *run);
/* Number of rounds in the plan of the experiment, at least 1. */
unsigned int wake_run_rounds(const struct wake_plan *plan);
/*
 * Waits for the end of the run. If @stop is true, makes all workers end early. Returns 0 or the
 * first error of a worker.
 */
int wake_run_join(struct wake_run *run, bool stop, struct err *err);
void wake_run_close(struct wake_run *run);

#endif
