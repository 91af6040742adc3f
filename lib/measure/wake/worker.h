/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads of a run: one worker per measured core, and for source remote the thread that wakes the
 * workers (sender).
 */
#ifndef SUBTICK_MEASURE_WAKE_WORKER_H
#define SUBTICK_MEASURE_WAKE_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/wake.h"
#include "base/cpuset.h"
#include "base/err.h"
#include "measure/wake/depth.h"
#include "measure/wake/force.h"
#include "stats/wake.h"

struct wake_nic;
struct wake_sender;

/* Parameters of a run, shared by its workers. */
struct wake_plan {
	struct cpuset cpus;
	struct wake_sweep sweep;
	unsigned int sources; /* bit mask of enum wake_source */
	struct wake_nic *nic; /* network card; NULL without source nic */
	const char *root;
	/* settings of the rounds, with one sweep per round; NULL for a single sweep */
	struct wake_rounds *rounds;
	uint32_t delay_ns; /* tests only: delay from the launch to the expiry of the timer */
};

struct wake_worker {
	const struct wake_plan *plan;
	unsigned int cpu;
	pthread_t thread;
	bool started;
	/* wake_run.stop: if true, the worker ends after the current wake-up */
	const atomic_bool *stop;
	struct wake_slot *slot;
	struct wake_launch *launch;
	struct wake_point *points;
	size_t nr, max;
	unsigned int round;
	struct wake_calibration calibration;
	atomic_uint_fast64_t done; /* number of attempted wake-ups, for the progress line */
	struct err err;
	struct wake_depth depth; /* increments of the residency counters during the sweep */
	uint64_t sweep_ns;	 /* total duration of all sweeps */
	bool moved;		 /* true if the core went offline and the kernel moved the worker */

	/* thread that wakes the worker, for source remote */
	struct wake_sender *sender;
	atomic_uint_fast64_t due_ns; /* launch time requested from the sender, or 0 */
	atomic_uint word;
};

/* Measure one wake-up of source remote or nic on the worker's thread. */
void wake_remote_point(struct wake_worker *worker, uint64_t distance_ns,
		       struct wake_point *ret_point);
void wake_nic_point(struct wake_worker *worker, uint64_t distance_ns, struct wake_point *ret_point);
/*
 * Source nic: read the card's clock before and after the wake-ups of one launch distance.
 * wake_nic_batch_end() corrects the launch times in worker->points from @first on. Return 0 or
 * -errno.
 */
int wake_nic_batch_begin(struct wake_worker *worker);
int wake_nic_batch_end(struct wake_worker *worker, size_t first);

/* Pins the calling thread. Sets minimum timer slack and, if permitted, real-time priority. */
int wake_pin(unsigned int cpu, struct err *err);
/*
 * Returns the raw data of a wake-up of @source that launches in @distance_ns. @k receives the
 * timestamps of the BPF programs.
 */
struct wake_raw wake_raw_of(const struct wake_worker *worker, enum wake_source source,
			    uint64_t distance_ns, struct wake_kpoint *k);
/* Clears the timestamps of the current core, then arms a launch. */
void wake_arm(struct wake_worker *worker, uint64_t launch_ns);
/* Disarms the launch and copies the timestamps of the wake-up. */
void wake_disarm(struct wake_worker *worker, struct wake_kpoint *ret_point);
/* Fills worker->calibration. The programs of wake_probe_calibrate() must be attached. */
void wake_calibrate(struct wake_worker *worker);

/*
 * Thread of source remote that wakes the workers of @targets. The sender runs on a core that is not
 * in @targets.
 */
struct wake_sender {
	unsigned int cpu;
	const struct cpuset *targets;
	struct wake_worker *workers;
	unsigned int nr_workers;
	atomic_bool *run_stop; /* pointer to wake_run.stop, which the sender sets on failure */
	bool moved;	       /* true if the sender's core went offline, which ended the run */
	atomic_bool stop;
	/* time until which the sender sleeps, or 0 while the sender is awake */
	atomic_uint_fast64_t until_ns;
	atomic_uint asked; /* futex of the sender; a change ends the sleep early */
	pthread_t thread;
	struct err err;
};

/*
 * Chooses an unmeasured CPU for the sender. Prefers a CPU in a package without measured CPUs,
 * because a running sender keeps its package awake. Returns CPUSET_MAX if all online CPUs are
 * measured.
 */
unsigned int wake_sender_choose(const char *root, const struct cpuset *online,
				const struct cpuset *measured);
/* True if @cpu shares a package with a measured core, or if the package of a CPU is unknown. */
bool wake_sender_shares_package(const char *root, unsigned int cpu, const struct cpuset *measured);

int wake_sender_start(struct wake_sender *sender, struct err *err);
void wake_sender_stop(struct wake_sender *sender);

#endif
