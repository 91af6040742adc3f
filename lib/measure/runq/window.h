/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One window of run-queue waits in plain numbers, for report, exporter and library. */
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

/* Waits of one group for cores that left one idle state. */
struct runq_idle_state {
	struct runq_party party;
	uint32_t index; /* of the state that was requested */
	char name[32];
	uint64_t claimed_ns; /* exit latency by the driver; UINT64_MAX without a claim */
	uint64_t count;
	uint64_t wait_ns;
};

/* Wall time in which tasks of a cgroup or of its descendants waited. */
struct runq_pressed {
	const struct runq_group *group;
	struct runq_pressure_times times;
	/* The kernel's own figures, quota included. UINT64_MAX: unknown. */
	uint64_t psi_waiting_ns;
	uint64_t psi_stalled_ns;
	/* Longest waiting of a descendant with a row; included in the waiting of this cgroup. */
	uint64_t below_ns;
};

/* A wait that reached the threshold. */
struct runq_long_wait {
	uint32_t cpu;
	uint32_t pid;
	uint32_t tgid;
	uint32_t prev_pid; /* the previous task */
	char comm[17];
	char prev_comm[17];
	struct runq_party victim;
	struct runq_party culprit; /* ran for the largest part of the wait */
	uint64_t culprit_ns;	   /* 0: no task is known to have run */
	uint64_t wait_ns;
	uint64_t end_ns; /* CLOCK_MONOTONIC */
};

/* Totals since the start, over all CPUs. */
struct runq_losses {
	RUNQ_LOSSES(LOSS_MEMBER)
	uint64_t waits; /* observed waits, without waits on the programs' fast path */
	/* Time of the last comparison with the kernel, CLOCK_MONOTONIC, and the sums at that time. */
	uint64_t compared_ns;
	uint64_t wait_ns;    /* all observed waits */
	int64_t unbooked_ns; /* part of wait_ns that the kernel omits from run_delay */
	uint64_t delay_ns;   /* the kernel's run_delay of all tasks; 0 if it keeps none */
};

/* Valid until the meter's next read. */
struct runq_window {
	uint64_t time_unix_ns; /* its end, for display only: this clock can be set */
	uint64_t time_mono_ns; /* its end by CLOCK_MONOTONIC */
	uint64_t window_ns;

	enum runq_per per;
	enum runq_rollup_by sum;	  /* what the rows sum over */
	enum runq_source source;	  /* in use */
	const struct err *sched_info_err; /* why it is unavailable; NULL if available */
	const struct err *separate_err; /* why load has a program of its own on sched_switch; NULL: shared, or no load */
	enum runq_hierarchy hierarchy;	  /* in use */
	struct sched_ext scheduler;	  /* at the end of the window */
	bool scheduler_changed;		  /* one was enabled or disabled in the window */
	double sample_ratio;		  /* 1: every wait */
	const uint64_t *le_ns;
	unsigned int nr_le;
	const double *percentiles;
	unsigned int nr_percentiles;
	bool steps_only; /* no histogram: percentiles are interpolated between boundaries */

	bool has_causes;       /* requested */
	uint32_t causes_known; /* bit N: the kernel reports cause N; 0 without causes */
	/* Rows of the list they came from: largest sum first, then requested ones without waits. */
	struct runq_group_window *groups;
	size_t nr_groups;
	void *figures; /* memory of le_count and percentile_ns of all rows */
	bool has_blame; /* requested */
	struct runq_blame *blame;
	size_t nr_blame;

	bool has_names; /* the report has columns for the names of pods */
	bool has_idle_states;		     /* requested */
	struct runq_idle_state *idle_states; /* largest first */
	size_t nr_idle_states;
	RUNQ_IDLE_LOSSES(LOSS_MEMBER) /* since the start */

	bool has_avoidable; /* requested */
	RUNQ_AVOIDABLE_LOSSES(LOSS_MEMBER) /* since the start */

	bool has_pressure;	      /* requested */
	struct runq_pressed *pressed; /* most waiting first */
	size_t nr_pressed;
	bool psi_of_cgroups;	   /* cgroups of this hierarchy have PSI */
	const struct err *psi_err; /* why the machine has no PSI; NULL if it has PSI */
	struct runq_pressure_losses pressure_losses; /* since the start */

	/* The limit, 0 for none; groups that exceeded it here, and windows since the start. */
	double limit_percent;
	uint64_t limit_ns;
	size_t nr_exceeded;
	uint64_t windows_exceeded;

	bool filtered;		   /* the programs skip cgroups that were not requested */
	uint64_t waits_seen;	   /* of all groups, or of the requested ones if filtered */
	/*
	 * Time that the hypervisor took from the CPUs that count. UINT64_MAX: the kernel does not
	 * account it, or runq shares its program with load, whose window has it.
	 */
	uint64_t steal_ns;
	double schedstat_ratio;	   /* runq_schedstat_ratio(); NAN if unknown */
	double unbooked_ratio;	   /* NAN if unknown */
	struct runq_losses losses; /* since the start */
	uint64_t kernel_bytes;

	/* Waits over the threshold that the last event() read; valid until the next event(). */
	struct runq_long_wait *long_waits;
	size_t nr_long_waits;
};

struct runq_kernel;
struct runq_rollup;

/*
 * Makes the rows of @list that pass @filter the groups of the window, valid until @list is cleared,
 * and judges them. With @rollup, which may be NULL, the groups are its rows over @list.
 */
int runq_window_groups(struct runq_window *window, struct runq_waits_list *list,
		       const struct runq_filter *filter, struct runq_rollup *rollup,
		       struct err *err);
/*
 * Replaces blame by the growth since @kernel was last read, between rows of @rollup if set. Uses
 * blame_rows and fold_excluded of @opts.
 */
int runq_window_blame(struct runq_window *window, struct runq_kernel *kernel,
		      const struct runq_filter *filter, struct runq_rollup *rollup,
		      const struct runq_opts *opts, struct err *err);
void runq_window_clear(struct runq_window *window);

/*
 * Between two readings: the part of the observed waits that the kernel accounts ÷ its run_delay of
 * all tasks. NAN if the kernel keeps none.
 */
double runq_schedstat_ratio(const struct runq_losses *was, const struct runq_losses *now);
/*
 * True if a program that runs for long compares again: after twice the run time of the last
 * comparison, and every 10 s later. With thousands of tasks a comparison costs more than the rest of
 * a window. Times are CLOCK_MONOTONIC; @compared_ns is 0 before the first.
 */
bool runq_compare_due(uint64_t open_ns, uint64_t compared_ns, uint64_t now_ns);
/* The part that run_delay omits ÷ the observed waits. NAN without waits. */
double runq_unbooked_ratio(const struct runq_losses *was, const struct runq_losses *now);

#endif
