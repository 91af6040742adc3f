/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the experiments of audit share: waiting, reading fast, finding the tick. */
#ifndef SUBTICK_MEASURE_AUDIT_WATCH_H
#define SUBTICK_MEASURE_AUDIT_WATCH_H

#include "measure/audit/audit.h"
#include "stats/counter_edges.h"
#include "sys/procstat.h"

#define AUDIT_BUSY_COLS (1u << PROCSTAT_USER | 1u << PROCSTAT_NICE | 1u << PROCSTAT_SYSTEM)
#define AUDIT_IRQ_COLS	(1u << PROCSTAT_IRQ | 1u << PROCSTAT_SOFTIRQ)
#define AUDIT_ALL_COLS	((1u << PROCSTAT_NR_COLS) - 1)

bool audit_wait(const struct audit_env *env, uint64_t until_ns);
void audit_progress(const struct audit_env *env, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The reader's own books. */
struct audit_watch {
	uint64_t wall_ns;
	uint64_t reads;
	uint64_t blurred; /* reads that came too late to say when something moved */
	uint64_t read_ns; /* in all reads together */
	uint64_t cpu_ns;  /* of the reader */
	bool stopped;
};

/*
 * Reads the line of @cpu as fast as it can for @length_ns and feeds every reading to @edge_sets.
 * @urgent: before others on the reader's core, if it may; not where one of them is the load.
 */
int audit_watch(unsigned int cpu, uint64_t length_ns, bool urgent, struct counter_edges *edge_sets, size_t nr,
		const struct audit_env *env, struct audit_watch *ret_watch, struct err *err);

/* Looks for the tick in what was watched under a load of several modes. */
void audit_judge_tick(struct audit_findings *findings, const struct counter_edges *busy,
		     const struct audit_watch *watch);
/* A short look of its own, for experiments that need the tick first; no-op when it was done. */
int audit_find_tick(unsigned int cpu, const struct audit_env *env, struct audit_findings *findings,
		    struct err *err);

/* A core for a task that must not run on @cpu; -1 if there is none. */
int audit_other_cpu(unsigned int cpu);
/* Says why a load did not run where it should. */
int audit_no_load(struct err *err, unsigned int cpu);

#endif
