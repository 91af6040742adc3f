/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Result of `subtick load` for one window, used by the report, the exporter and the overview. */
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

/*
 * Two cgroups that ran on the hyperthreads of a physical core at the same time. The row "(no room)"
 * contains the pairs that did not fit into the map; run_ns and id are 0.
 */
struct load_pair {
	/*
	 * Paths of the cgroups: "(gone)" if the cgroup was removed, "/…(ID)" if the path cannot be
	 * read. NULL with load_opts.cgroup_ids.
	 */
	const char *cgroup, *sibling;
	uint64_t ns;	 /* CPU time of `cgroup` while `sibling` ran on the sibling CPU */
	uint64_t run_ns; /* CPU time of `cgroup` in the window */
	uint64_t id[2];	 /* ids of `cgroup` and `sibling` */
};

/* Result of one window. Arrays are indexed by CPU number and are valid until the next read. */
struct load_window {
	uint64_t time_unix_ns; /* end of the window */
	uint64_t window_ns;
	struct cpuset cpus; /* requested CPUs */
	size_t end_cpu;	    /* highest CPU in cpus, plus 1 */

	const char *source, *what;	   /* name and description of the source */
	const struct err *passed_over;	   /* reason why a better source is unavailable, or NULL */
	const struct load_cpu_window *cpu; /* result of the load source for each CPU */
	uint32_t parts;			   /* bit n: part n of enum load_part was measured */
	bool steal_known;		   /* true if a CPU has had stolen time since boot */
	/* maximum error of the sum of all parts over all CPUs; NaN if the source has no parts */
	double closure_max_ratio;
	struct load_losses losses;

	/* With --compare: all sources that could be opened; element 0 is `source`. */
	bool compare;
	/* maximum error at which /proc/stat counts as correct; NaN without --compare */
	double wrong_ratio;
	unsigned int nr_shown;
	struct {
		const char *source;
		const struct load_cpu_window *cpu;
	} shown[SOURCE_SET_MAX];

	/* The following lists are NULL if not requested or not available. */
	bool softirq, bursts, irq, smt, cgroups; /* true if the list of this name was requested */
	unsigned int top;		       /* number of tasks to report per CPU; 0: none */
	const struct load_vecs *cpu_vecs;      /* softirq time by vector */
	const uint64_t (*cpu_bursts)[HIST_NR]; /* number of busy bursts by length */
	const struct load_line *lines; /* hardirqs of all CPUs by interrupt line, most time first */
	size_t nr_lines;
	const struct topology_cpu *topology; /* topology of each CPU, with --cores or --by */
	unsigned int nr_cpus;
	enum topology_level by;
	const struct load_core *cores;
	size_t nr_cores;
	const struct load_pair *pairs; /* pairs of cgroups, most time first */
	size_t nr_pairs;
	const struct load_task *tasks; /* tasks by CPU, most time first */
	size_t nr_tasks;
};

/*
 * Returns the result of source @source for @cpu in window @w, or NULL if the source has no result
 * for this CPU.
 */
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
