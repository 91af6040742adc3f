/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The threads of a run: workers on the measured cores, the sender of source remote. */
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
	unsigned int sources; /* bit per enum wake_source */
	struct wake_nic *nic; /* source nic; else NULL */
	const char *root;
	/*
	 * The sweep runs this often (0 is 1), each time after round_begin(), which allows other
	 * idle states or sets another preference. The last round has what was set before.
	 */
	unsigned int nr_rounds;
	const char (*preferences)[WAKE_PREFERENCE]; /* by round; NULL: rounds are idle states */
	int (*round_begin)(void *arg, unsigned int round, struct err *err);
	void *round_arg;
	uint32_t delay_ns; /* tests: our timer is due this much after the launch */
};

struct wake_worker {
	const struct wake_plan *plan;
	unsigned int cpu;
	pthread_t thread;
	bool started;
	const atomic_bool *stop; /* the run's: no further points */
	struct wake_slot *slot;
	struct wake_launch *launch;
	struct wake_point *points;
	size_t nr, max;
	unsigned int round;
	struct wake_calibration calibration;
	atomic_uint_fast64_t done; /* points tried, for the progress line */
	struct err err;
	struct wake_depth depth; /* how deep it slept during the sweep */
	uint64_t sweep_ns;	 /* how long that took */
	bool moved;		 /* the core went offline and the kernel moved the worker */

	/* Source remote: what the worker asks of the sender, and the word it sleeps on. */
	struct wake_sender *sender;
	atomic_uint_fast64_t due_ns; /* 0: nothing asked */
	atomic_uint word;
};

/* Operations of a source on the thread of a worker. */
struct wake_source_ops {
	void (*point)(struct wake_worker *worker, uint64_t distance_ns,
		      struct wake_point *ret_point);
	/* Optional: around all points of one launch distance. @first: index of the first point. */
	int (*batch_begin)(struct wake_worker *worker);
	int (*batch_end)(struct wake_worker *worker, size_t first);
};

extern const struct wake_source_ops wake_remote_ops, wake_nic_ops;

/* Pins the calling thread, gives it no timer slack and, where allowed, real-time priority. */
int wake_pin(unsigned int cpu, struct err *err);
/* Clears the stamps of the core that the caller runs on, then arms a launch. */
void wake_arm(struct wake_worker *worker, uint64_t launch_ns);
/* Disarms and copies the stamps. */
void wake_disarm(struct wake_worker *worker, struct wake_kpoint *ret_point);
/* Fills worker->calibration on the calling thread; wake_probe_calibrate() must be on. */
int wake_calibrate(struct wake_worker *worker);

/* Wakes the workers of @targets until wake_sender_stop(); runs on a core not measured. */
struct wake_sender {
	unsigned int cpu;
	const struct cpuset *targets;
	struct wake_worker *workers;
	unsigned int nr_workers;
	atomic_bool *run_stop; /* the run's: without a sender the workers would wait for ever */
	bool moved;	       /* its core went offline, which ended the run */
	atomic_bool stop;
	/* Deadline of its sleep, which a change of asked ends early; 0 while it is awake. */
	atomic_uint_fast64_t until_ns;
	atomic_uint asked;
	pthread_t thread;
	struct err err;
};

/*
 * The CPU to send from: one that is not measured, in another package if there is one, because a
 * sender that is awake keeps its package awake. CPUSET_MAX if all are measured.
 */
unsigned int wake_sender_choose(const char *root, const struct cpuset *online,
				const struct cpuset *measured);
/* Whether @cpu is in the package of a measured core, or that is unknown. */
bool wake_sender_near(const char *root, unsigned int cpu, const struct cpuset *measured);

int wake_sender_start(struct wake_sender *sender, struct err *err);
void wake_sender_stop(struct wake_sender *sender);

#endif
