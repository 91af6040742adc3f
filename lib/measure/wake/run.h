/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The experiment: one worker per measured core takes points, a sender wakes it from outside. */
#ifndef SUBTICK_MEASURE_WAKE_RUN_H
#define SUBTICK_MEASURE_WAKE_RUN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cpuset.h"
#include "base/err.h"
#include "measure/wake/probe.h"
#include "stats/wake.h"
#include "sys/cstate.h"

struct wake_nic;

struct wake_run_opts {
	struct cpuset cpus;
	struct wake_sweep sweep;
	unsigned int sources; /* bit per enum wake_source */
	bool breakdown;
	const char *root;
	uint32_t delay_ns; /* tests: timers are due this much after what we take for the launch */
};

/* What a core costs by itself, found before the first point. */
struct wake_calibration {
	bool known;
	struct wake_overhead stamp; /* from the idle exit event to its stamp */
	uint32_t clock_step_ns;	    /* smallest step of the clock that was seen */
	uint32_t clock_read_ns;	    /* median cost of reading it in user code */
	struct wake_summary busy;   /* TI − LT while the core is never idle */
};

struct wake_worker {
	struct wake_run *run;
	unsigned int cpu;
	pthread_t thread;
	bool started;
	struct wake_slot *slot;
	struct wake_launch *order;
	struct wake_point *points;
	size_t nr, max;
	struct wake_calibration calibration;
	atomic_uint_fast64_t done; /* points tried, for the progress line */
	struct err err;
	struct cstate_set cstates; /* the hardware's own residency during the sweep */
	uint64_t sweep_ns;	   /* how long that took */
	bool moved;		   /* the core went offline under the worker */

	/* Remote: what the worker asks of the sender, and the word it sleeps on. */
	atomic_uint_fast64_t due_ns; /* 0: nothing asked */
	atomic_uint word;
};

struct wake_run {
	struct wake_run_opts opts;
	struct wake_probe *probe;
	struct wake_nic *nic;
	struct wake_worker *workers;
	unsigned int nr_workers;
	uint64_t total; /* points that all workers will try */
	pthread_t control;
	bool started;
	atomic_bool stop;
	atomic_bool finished;
	bool sender_moved; /* the sender's core went offline, which ended the run */
	struct err err;
};

int wake_run_open(struct wake_run *run, const struct wake_run_opts *opts, struct wake_probe *probe,
		  struct err *err);
int wake_run_start(struct wake_run *run, struct err *err);
uint64_t wake_run_done(const struct wake_run *run);
/* Waits for the end, sooner if told to @stop; 0 or the first worker's error. */
int wake_run_join(struct wake_run *run, bool stop, struct err *err);
void wake_run_close(struct wake_run *run);

/* For the sources. Clears the stamps of the core the caller runs on, then arms a launch. */
void wake_arm(struct wake_worker *worker, uint64_t launch_ns);
/* Disarms and takes the stamps over. */
void wake_disarm(struct wake_worker *worker, struct wake_kpoint *ret_point);
/* Pins the calling thread, gives it no timer slack and, where allowed, real-time priority. */
int wake_pin(unsigned int cpu, struct err *err);

void wake_timer_point(struct wake_worker *worker, uint64_t distance_ns,
		      struct wake_point *ret_point);
void wake_remote_point(struct wake_worker *worker, uint64_t distance_ns,
		       struct wake_point *ret_point);
/* Serves the workers of @targets until told to stop; runs on a core that is not measured. */
struct wake_sender {
	struct wake_run *run;
	unsigned int cpu;
	const struct cpuset *targets;
	atomic_bool stop;
	pthread_t thread;
	struct err err;
};

int wake_sender_start(struct wake_sender *sender, struct err *err);
void wake_sender_stop(struct wake_sender *sender);

/* Fills worker->calibration; the probe characterises meanwhile. */
int wake_calibrate(struct wake_worker *worker);

#endif
