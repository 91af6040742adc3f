/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* audit delays: a loop of sleeps with delays of many lengths, accounted and true CPU time. */
#ifndef SUBTICK_MEASURE_AUDIT_DELAYS_H
#define SUBTICK_MEASURE_AUDIT_DELAYS_H

#include "measure/audit/audit.h"
#include "measure/audit/modes.h"
#include "measure/load/source.h"

/*
 * One delay: what was read, and what audit_delay_derive() computes from it. A missing figure is
 * UINT64_MAX or NaN.
 */
struct audit_delay {
	uint64_t delay_ns, slack_ns, iterations;
	bool complete; /* false: cut short by Ctrl-C */
	bool resumed;  /* measured by the run that this one resumes */
	uint64_t real_ns;
	uint64_t rusage_user_ns, rusage_system_ns;
	uint64_t pidstat_user_ns, pidstat_system_ns;
	uint64_t procstat_user_ns, procstat_system_ns, procstat_busy_ns;
	uint64_t thread_ns;		   /* the loop's thread clock; see audit_delay_irqs_off() */
	uint64_t bpf_task_ns, bpf_busy_ns; /* of the core, including its other tasks */
	/* Of the loop alone; measured where its thread clock may lack interrupts. */
	uint64_t bpf_loop_ns;
	struct audit_level levels[AUDIT_NR_MODES]; /* of the core, by mode */
	/* Derived: */
	uint64_t expected_ns;
	double real_each_ns, user_each_ns, system_each_ns, procstat_each_ns, true_each_ns;
	double user_times, system_times; /* ratio to the loop without a delay */
	double rusage_factor;		 /* getrusage() ÷ audit_delay_true_ns() */
	double procstat_factor;		 /* /proc/stat ÷ true busy time of the core */
	double error;			 /* of /proc/stat, as a share of the time */
};

struct audit_delays {
	struct audit_delay *rows;
	size_t nr;
	uint64_t nr_asked;
	size_t nr_resumed;
	/* Sleeps per delay, or UINT64_MAX if asked_each_ns limits the row by time. */
	uint64_t asked_iterations;
	uint64_t asked_each_ns;
	char machine[192]; /* a row of another machine or kernel cannot be in the same table */
	size_t nr_slack_ignored; /* delays for which the kernel ignored the timer slack */
	size_t nr_disturbed;	 /* delays during which other tasks used much of the core */
	const char *truth;	 /* source of the core's true busy time, or NULL */
	struct err no_truth;	 /* why no source has the true busy time */
	struct load_losses losses;
	bool complete;	   /* every delay that was asked for was measured */
	bool stopped;	   /* by Ctrl-C */
	bool out_of_time;  /* the budget was over before the last delay */
	struct err failed; /* what ended the experiment early; code 0 if it was complete */
	uint64_t window_ns;
};

/* The delays of the paper in microseconds; returns their number. */
size_t audit_delays_paper(const uint64_t **ret_us);
void audit_delay_derive(struct audit_delay *row);
/* Figures that need other rows: the factor against the loop without a delay. */
void audit_delays_derive(struct audit_delays *delays);
/*
 * Returns an upper bound of the interrupt time that the loop's thread clock lacks. Without
 * IRQ_TIME_ACCOUNTING the clock starts inside the interrupt that wakes the loop. With it the kernel
 * subtracts the whole interrupt, also its part before the clock started, so the clock shows less
 * than the loop used.
 */
uint64_t audit_delay_irqs_off(const struct audit_delay *row);
/* CPU time of the loop: from source bpf if measured, else from its thread clock. */
uint64_t audit_delay_true_ns(const struct audit_delay *row);
/* True if other tasks used much of the core during the row. */
bool audit_delay_disturbed(const struct audit_delay *row);

/* Fills the request without measuring: nr_asked, asked_…, machine. */
void audit_delays_plan(const struct audit_opts *opts, struct audit_delays *ret_delays);
/* @ret_delays has the complete rows also on failure. Always call audit_delays_free(). */
int audit_delays(const struct audit_opts *opts, const struct audit_env *env,
		 struct audit_findings *findings, struct audit_delays *ret_delays, struct err *err);
void audit_delays_free(struct audit_delays *delays);

#endif
