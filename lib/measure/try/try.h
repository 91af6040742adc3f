/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `subtick try`: rounds with the original and the changed setting, in random order. */
#ifndef SUBTICK_MEASURE_TRY_H
#define SUBTICK_MEASURE_TRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "measure/try/groups.h"
#include "measure/try/setting.h"

#define TRY_MAX_SETTINGS 16

struct try_opts {
	/* settings; journal_trial() sets their members `was` and `now` */
	struct try_setting *settings;
	size_t nr_settings;
	/* Shell commands instead of settings: @a sets the original state, @b the changed state. */
	const char *a, *b;
	const char *const *watch; /* paths of watched cgroups */
	size_t nr_watch;
	uint32_t rounds; /* number of pairs of rounds, PAIRED_MIN to PAIRED_MAX */
	uint64_t each_ns, settle_ns, budget_ns;
	uint64_t seed; /* seed of the random order of rounds */
	/*
	 * Waits until @until_ns of CLOCK_MONOTONIC or until @fd is readable. Returns true if the
	 * user stopped the run.
	 */
	bool (*wait)(uint64_t until_ns, int fd, bool *ret_readable);
	/* Reports the number of complete rounds. `progress` may be NULL. */
	void (*progress)(unsigned int done, unsigned int total);
};

struct try_window {
	uint64_t time_unix_ns, window_ns;
	struct try_groups groups;
	unsigned int nr_pairs;		/* number of complete pairs of rounds */
	/* the first setting of each pair: original or changed */
	enum try_arm first[PAIRED_MAX];
	/* reason of an early end; code 0 if the run is complete */
	struct err ended;
	bool stopped;			/* true if the user stopped the run */
	bool restored;			/* true if every setting has its original value */
	/* a setting that was not restored, because another program changed it; or NULL */
	const struct try_setting *foreign;
	/* result of runq in the last round; the report shows its source and losses */
	const struct runq_window *runq;
};

struct try_run;

/* Returns -EINVAL if options are missing or the experiment would exceed the time budget. */
int try_opts_check(const struct try_opts *opts, struct err *err);
/*
 * Checks the options, the settings and the cgroups. Changes each setting for a short time to check
 * that the new value can be read back. Returns -EBUSY if another subtick process has changed
 * settings on this machine. @opts must outlive the run.
 */
int try_open(const struct try_opts *opts, struct try_run **ret_run, struct err *err);
/*
 * Runs all rounds, then restores the settings. Fails only if no round could be measured. If the run
 * ended early, the member `ended` of the result contains the reason.
 */
int try_measure(struct try_run *run, struct err *err);
/* Returns the result of the run, which is valid until try_close(). */
const struct try_window *try_window(const struct try_run *run);
/* Frees @run, which may be NULL. */
void try_close(struct try_run *run);

/*
 * Formats the settings, such as "/batch/cpu.weight=50, /batch/cpu.idle=1", or the command of the
 * changed state.
 */
void try_name(const struct try_opts *opts, char *buf, size_t size);

#endif
