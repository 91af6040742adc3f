/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Result of `subtick runq` for one window, used by the report, the exporter and the library. */
#ifndef SUBTICK_MEASURE_RUNQ_WINDOW_H
#define SUBTICK_MEASURE_RUNQ_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/losses.h"
#include "measure/runq/opts.h"
#include "measure/runq/pressure.h"
#include "measure/runq/waits.h"
#include "host/kernel.h"

struct runq_blame {
	struct runq_party victim, culprit;
	uint64_t wait_ns;
	uint64_t count;
};

/* Waits of one group until CPUs had left one idle state. */
struct runq_idle_state {
	struct runq_party party;
	uint32_t index; /* index of the requested idle state */
	char name[32];
	/* exit latency of the idle state according to the cpuidle driver, or UINT64_MAX */
	uint64_t claimed_ns;
	uint64_t count;
	uint64_t wait_ns;
};

/* Wall time in which tasks of a cgroup or of its descendants wait. */
struct runq_pressed {
	const struct runq_group *group;
	struct runq_pressure_times times;
	/* PSI times of the kernel, which include throttling by quota, or UINT64_MAX if unknown. */
	uint64_t psi_waiting_ns;
	uint64_t psi_stalled_ns;
	/* largest waiting time of any descendant cgroup that has a row */
	uint64_t below_ns;
};

/* A wait that is at least as long as runq_opts.threshold_ns. */
struct runq_long_wait {
	uint32_t cpu;
	uint32_t pid;
	uint32_t tgid;
	uint32_t prev_pid; /* PID of the task that ran before the end of the wait */
	char comm[17];
	char prev_comm[17];
	struct runq_party victim;
	/* culprit that ran longest during the wait */
	struct runq_party culprit;
	uint64_t culprit_ns; /* run time of the culprit during the wait, or 0 if unknown */
	uint64_t wait_ns;
	uint64_t end_ns; /* end of the wait, CLOCK_MONOTONIC */
};

/* Loss counters and wait times since the start of the measurement, summed over all CPUs. */
struct runq_losses {
	RUNQ_LOSSES(LOSS_MEMBER)
	uint64_t waits; /* number of waits that the slow path of the BPF programs counted */
	/*
	 * CLOCK_MONOTONIC when wait_ns, missing_ns and delay_ns were last read, to compare the
	 * waits with the kernel's run_delay
	 */
	uint64_t compared_ns;
	uint64_t wait_ns;    /* sum of all observed waits */
	int64_t missing_ns; /* part of wait_ns that the kernel omits from run_delay */
	/* sum of run_delay of all tasks, or 0 if the kernel does not account run_delay */
	uint64_t delay_ns;
};

/* Result of `subtick runq` for one window. A struct runq_window is valid until the next read. */
struct runq_window {
	/* end of the window by the wall clock, which can be set; only for display */
	uint64_t time_unix_ns;
	uint64_t time_mono_ns; /* end of the window, CLOCK_MONOTONIC */
	uint64_t window_ns;

	enum runq_per per;
	enum runq_rollup_by sum;	  /* kind of rollup of the rows */
	enum runq_source source;	  /* source of the waits; never AUTO */
	const struct err *sched_info_err; /* reason why source sched_info is unavailable, or NULL */
	/* reason why load and runq do not share one program on sched_switch, or NULL */
	const struct err *separate_err;
	enum runq_hierarchy hierarchy; /* cgroup hierarchy of the groups; never AUTO */
	struct sched_ext scheduler;    /* sched_ext scheduler at the end of the window */
	bool scheduler_changed; /* true if the sched_ext scheduler changed in the window */
	double sample_ratio;		  /* share of the waits that are counted */
	const uint64_t *le_ns;
	unsigned int nr_le;
	const double *percentiles;
	unsigned int nr_percentiles;
	/* groups have no fine histogram; percentiles are interpolated between boundaries */
	bool steps_only;

	bool has_causes;       /* true if causes of waits were requested */
	uint32_t causes_known; /* bit n: cause n can be measured on this kernel */
	/* rows, largest sum of waits first, then requested cgroups without waits */
	struct runq_group_window *groups;
	size_t nr_groups;
	void *figures; /* memory block of le_count and percentile_ns of all rows */
	bool has_blame; /* true if blame was requested */
	struct runq_blame *blame;
	size_t nr_blame;

	/*
	 * Pairs of cgroups that ran on the hyperthreads of one core. wait_ns is the CPU time of
	 * `victim` while `culprit` ran on the sibling CPU. `count` is 1.
	 */
	struct runq_blame *core_pairs;
	size_t nr_core_pairs;

	bool has_names; /* true if the report has columns for names of pods */
	bool has_idle_states; /* true if idle states were requested */
	/* waits by group and idle state, most wait time first */
	struct runq_idle_state *idle_states;
	size_t nr_idle_states;
	RUNQ_IDLE_LOSSES(LOSS_MEMBER) /* losses of the waits by idle state since the start */

	bool has_avoidable;		   /* true if avoidable waits were requested */
	RUNQ_AVOIDABLE_LOSSES(LOSS_MEMBER) /* loss counters of avoidable waits since the start */

	bool has_pressure;	      /* true if pressure was requested */
	struct runq_pressed *pressed; /* pressure of each cgroup, most waiting time first */
	size_t nr_pressed;
	bool psi_of_cgroups;	   /* true if cgroups of the measured hierarchy have PSI */
	const struct err *psi_err; /* reason why PSI is unavailable, or NULL */
	struct runq_pressure_losses pressure_losses; /* loss counters of pressure since the start */

	/*
	 * Limit on a percentile, or 0 without a limit. nr_exceeded is the number of groups that
	 * exceeded the limit in this window. windows_exceeded is the number of windows since the
	 * start in which a group exceeded the limit.
	 */
	double limit_percent;
	uint64_t limit_ns;
	size_t nr_exceeded;
	uint64_t windows_exceeded;

	bool filtered;		   /* true if the BPF programs skip excluded cgroups */
	/* number of waits of all groups, or of the requested groups if `filtered` is true */
	uint64_t waits_seen;
	/* Stolen time of the requested CPUs; UINT64_MAX if unknown, or if runq_opts.load is set. */
	uint64_t steal_ns;
	double schedstat_ratio;		     /* result of runq_schedstat_ratio(); NAN if unknown */
	double missing_from_run_delay_ratio; /* result of runq_missing_ratio(); NAN if unknown */
	struct runq_losses losses;	     /* loss counters of runq since the start */
	uint64_t kernel_bytes;

	/* long waits that the last call of event() read; valid until the next call of event() */
	struct runq_long_wait *long_waits;
	size_t nr_long_waits;
};

struct load_pair;
struct runq_kernel;
struct runq_rollup;

/*
 * Fills `groups` of the window from the rows of @rollup. If @rollup is NULL, uses the rows of @list
 * that pass @filter. `groups` is valid until @list is cleared.
 */
int runq_window_groups(struct runq_window *window, struct runq_waits_list *list,
		       const struct runq_filter *filter, struct runq_rollup *rollup,
		       struct err *err);
/*
 * Fills `blame` of the window with the growth of the blame table since the last read. If @rollup is
 * not NULL, victims and culprits are rollup rows. Uses blame_rows and fold_excluded of @opts.
 */
int runq_window_blame(struct runq_window *window, struct runq_kernel *kernel,
		      const struct runq_filter *filter, struct runq_rollup *rollup,
		      const struct runq_opts *opts, struct err *err);
/*
 * Fills core_pairs from the pairs of a load window. Cgroups that have not waited since the start
 * are RUNQ_PARTY_UNKNOWN. The other parameters are as for runq_window_blame().
 */
int runq_window_core_pairs(struct runq_window *window, const struct load_pair *pairs,
			   size_t nr_pairs, const struct runq_kernel *kernel,
			   const struct runq_filter *filter, struct runq_rollup *rollup,
			   const struct runq_opts *opts, struct err *err);
void runq_window_clear(struct runq_window *window);

/*
 * Returns (counted wait time − part that run_delay omits) ÷ growth of run_delay of all tasks, or
 * NAN if the kernel does not account run_delay.
 */
double runq_schedstat_ratio(const struct runq_losses *was, const struct runq_losses *now);
/* Share of the counted wait time that run_delay omits. Returns NAN if there were no waits. */
double runq_missing_ratio(const struct runq_losses *was, const struct runq_losses *now);

#endif
