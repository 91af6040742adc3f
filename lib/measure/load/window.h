/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A window of load: what the report, the exporter and the overview are derived from. */
#ifndef SUBTICK_MEASURE_LOAD_WINDOW_H
#define SUBTICK_MEASURE_LOAD_WINDOW_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "abi/hist.h"
#include "base/cpuset.h"
#include "base/err.h"
#include "measure/load/sources.h"
#include "stats/load.h"
#include "host/topology.h"

#define LOAD_PAIR_PATH 256

/* A cgroup and the cgroup of its sibling: --cgroups. */
struct load_pair {
	char cgroup[LOAD_PAIR_PATH], sibling[LOAD_PAIR_PATH]; /* "(gone)": removed meanwhile */
	uint64_t ns;	 /* CPU time of cgroup while sibling ran on the other hyperthread */
	uint64_t run_ns; /* CPU time of cgroup; 0 in the row "(no room)" */
};

/* Arrays are indexed by CPU number and belong to the meter, until it is read again. */
struct load_window {
	uint64_t time_unix_ns; /* of its end */
	uint64_t window_ns;
	struct cpuset cpus; /* that were asked for */
	size_t end_cpu;	    /* 1 + the highest of them */

	const char *source, *what;	   /* name and one line on it */
	const struct err *passed_over;	   /* why a better source is unavailable, or NULL */
	const struct load_cpu_window *cpu; /* what that source saw */
	uint32_t parts;			   /* bit per load_part that has figures */
	bool steal_known;		   /* this kernel accounts stolen time */
	double closure_max_ratio; /* of the CPUs asked for; NaN for a source without parts */
	struct load_losses losses;

	/* With --compare: every source that could be opened, the one above first. */
	bool compare;
	double wrong_ratio; /* a figure further from the truth is called wrong; NaN without others */
	unsigned int nr_shown;
	struct {
		const char *source;
		const struct load_cpu_window *cpu;
	} shown[SOURCE_SET_MAX];

	/* Lists that only some sources have; NULL if not requested or not available. */
	bool softirq, bursts, irq, smt, cgroups; /* asked for */
	unsigned int top;		       /* tasks per CPU; 0: not asked for */
	const struct load_vecs *cpu_vecs;      /* softirqs by vector */
	const uint64_t (*cpu_bursts)[HIST_NR]; /* busy bursts by length */
	const struct load_line *lines;	       /* hardirqs by line, of all CPUs, most time first */
	size_t nr_lines;
	const struct topology_cpu *topology; /* by CPU, with cores or by */
	unsigned int nr_cpus;
	enum topology_level by;
	const struct load_core *cores;
	size_t nr_cores;
	const struct load_pair *pairs; /* most time first */
	size_t nr_pairs;
	const struct load_task *tasks; /* by CPU, most time first */
	size_t nr_tasks;
};

/* Figure of @source for a CPU in the same window, or NULL. */
static inline const struct load_cpu_window *load_shown(const struct load_window *w,
						       const char *source, unsigned int cpu)
{
	for (unsigned int i = 0; i < w->nr_shown; i++)
		if (!strcmp(w->shown[i].source, source))
			return w->shown[i].cpu[cpu].flags & LOAD_NO_FIGURE ? NULL
									   : &w->shown[i].cpu[cpu];
	return NULL;
}

#endif
