/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `subtick audit delays`: compares accounted with true CPU time of a loop of sleeps. */
#ifndef SUBTICK_MEASURE_AUDIT_DELAYS_H
#define SUBTICK_MEASURE_AUDIT_DELAYS_H

#include "measure/audit/audit.h"
#include "measure/audit/modes.h"
#include "measure/load/source.h"

/* Measurements for one delay. A figure that could not be measured is UINT64_MAX or NaN. */
struct audit_delay {
	uint64_t delay_ns, slack_ns, iterations;
	bool complete; /* false if Ctrl-C ended the loop early */
	bool resumed;  /* the row was taken from the earlier run that is resumed */
	uint64_t real_ns;
	uint64_t rusage_user_ns, rusage_system_ns;
	uint64_t pidstat_user_ns, pidstat_system_ns;
	uint64_t procstat_user_ns, procstat_system_ns, procstat_busy_ns;
	/* CPU time of the sleep loop by its thread clock; see audit_delay_irqs_off(). */
	uint64_t thread_ns;
	/* true task time and true busy time of the core; both include other tasks */
	uint64_t bpf_task_ns, bpf_busy_ns;
	/*
	 * True CPU time of the sleep loop; measured only if the thread clock of the loop may lack
	 * the time of interrupts.
	 */
	uint64_t bpf_loop_ns;
	struct audit_level levels[AUDIT_NR_MODES]; /* times of each mode on the core */
	/* audit_delay_derive() and audit_delays_derive() compute the members below. */
	uint64_t expected_ns;
	double real_each_ns, user_each_ns, system_each_ns, procstat_each_ns, true_each_ns;
	/* user (system) time per iteration ÷ user (system) time per iteration without a delay */
	double user_times, system_times;
	double rusage_factor;		 /* CPU time by getrusage() ÷ true time of the sleep loop */
	double procstat_factor;		 /* busy time in /proc/stat ÷ true busy time of the core */
	double error; /* error of the CPU load in /proc/stat, as a share of the run time */
};

struct audit_delays {
	struct audit_delay *rows;
	size_t nr;
	uint64_t nr_asked;
	size_t nr_resumed;
	/* number of sleeps per delay, or UINT64_MAX if requested_each_ns limits the run time */
	uint64_t asked_iterations;
	uint64_t requested_each_ns;
	/* names of machine and kernel; a run can be resumed only on the same machine and kernel */
	char machine[192];
	size_t nr_slack_ignored; /* number of rows in which the kernel ignored the timer slack */
	/* number of rows for which audit_delay_disturbed() is true */
	size_t nr_disturbed;
	const char *truth;	 /* source of the core's true busy time, or NULL */
	struct err no_truth;	 /* reason why the true busy time is unavailable */
	struct load_losses losses;
	bool complete;	   /* all requested delays were measured */
	bool stopped;	   /* Ctrl-C stopped the experiment */
	bool out_of_time;  /* the time budget ended before the last delay was measured */
	struct err failed; /* error that ended the experiment early, or code 0 */
	uint64_t window_ns;
};

/* Gets the delays in ns of the paper that docs/methods/audit.md cites. Returns their number. */
size_t audit_delays_paper(const uint64_t **ret_ns);
void audit_delay_derive(struct audit_delay *row);
/* Computes user_times and system_times, relative to the row with delay 0 and the same slack. */
void audit_delays_derive(struct audit_delays *delays);
/*
 * Upper bound of the interrupt time that the thread clock of the loop lacks. When a timer interrupt
 * wakes the loop, the thread clock starts before the interrupt ends. With IRQ_TIME_ACCOUNTING the
 * kernel subtracts the whole interrupt, even the part before the thread clock started.
 */
uint64_t audit_delay_irqs_off(const struct audit_delay *row);
/* True if other tasks used more than AUDIT_OTHERS_MAX of the core. */
bool audit_delay_disturbed(const struct audit_delay *row);

/* Sets the members that are known before the measurement, such as nr_asked and machine. */
void audit_delays_plan(const struct audit_opts *opts, struct audit_delays *ret_delays);
/*
 * Measures a row for each delay and timer slack. @ret_delays contains the complete rows even after
 * a failure, so the caller must always call audit_delays_free().
 */
int audit_delays(const struct audit_opts *opts, const struct audit_env *env,
		 struct audit_findings *findings, struct audit_delays *ret_delays, struct err *err);
void audit_delays_free(struct audit_delays *delays);

#endif
