/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* audit delays: a loop of sleeps with delays of many lengths, accounted and true CPU time. */
#ifndef SUBTICK_MEASURE_AUDIT_DELAYS_H
#define SUBTICK_MEASURE_AUDIT_DELAYS_H

#include "measure/audit/audit.h"
#include "measure/load/source.h"

/* One delay. A missing figure is UINT64_MAX or NaN. */
struct audit_delay {
	uint64_t delay_ns, iterations;
	uint64_t real_ns, expected_ns;
	uint64_t rusage_user_ns, rusage_system_ns;
	uint64_t pidstat_user_ns, pidstat_system_ns;
	uint64_t procstat_user_ns, procstat_system_ns, procstat_busy_ns;
	uint64_t thread_ns;		   /* the loop's thread clock: its true CPU time */
	uint64_t bpf_task_ns, bpf_busy_ns; /* of the core, including its other tasks */
	double real_each_ns, user_each_ns, system_each_ns, procstat_each_ns, true_each_ns;
	double rusage_factor;	/* getrusage() ÷ thread clock */
	double procstat_factor; /* /proc/stat ÷ true busy time of the core */
	double error;	       /* of /proc/stat, as a share of the time */
};

struct audit_delays {
	struct audit_delay *rows;
	size_t nr, nr_asked;
	size_t nr_disturbed; /* delays during which other tasks used much of the core */
	const char *truth;   /* the source of the core's true busy time; NULL: none */
	struct err no_truth; /* why there is none */
	struct load_losses losses;
	bool stopped;
	uint64_t window_ns;
};

/* Call audit_delays_free() also on failure. */
int audit_delays(const struct audit_opts *opts, const struct audit_env *env,
		 struct audit_findings *findings, struct audit_delays *ret_delays, struct err *err);
void audit_delays_free(struct audit_delays *delays);

#endif
