/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the experiments of audit: waiting, reading fast, finding the tick. */
#ifndef SUBTICK_MEASURE_AUDIT_WATCH_H
#define SUBTICK_MEASURE_AUDIT_WATCH_H

#include "measure/audit/audit.h"
#include "stats/audit.h"
#include "host/procstat.h"

#define AUDIT_BUSY_COLS (1u << PROCSTAT_USER | 1u << PROCSTAT_NICE | 1u << PROCSTAT_SYSTEM)
#define AUDIT_IRQ_COLS	(1u << PROCSTAT_IRQ | 1u << PROCSTAT_SOFTIRQ)
#define AUDIT_ALL_COLS	((1u << PROCSTAT_NR_COLS) - 1)

#define AUDIT_FIND_NS 1500000000ULL /* longest search for the tick */

bool audit_wait(const struct audit_env *env, uint64_t until_ns);
void audit_progress(const struct audit_env *env, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Statistics of the reader. */
struct audit_watch {
	uint64_t wall_ns;
	uint64_t reads;
	uint64_t blurred;    /* reads that were delayed, so that the time of a change is unknown */
	uint64_t delayed_ns; /* total length of the delayed reads */
	uint64_t read_ns;    /* of all reads together */
	/* CPU time of the reader, without interrupts if the kernel measures these. */
	uint64_t cpu_ns;
	bool stopped;
};

/*
 * Reads the line of @cpu as fast as possible for @length_ns and adds every reading to @edge_sets.
 * @urgent raises the reader to the highest nice priority if permitted. Do not use it if the load
 * runs on the reader's core.
 */
int audit_watch(unsigned int cpu, uint64_t length_ns, bool urgent, struct counter_edges *edge_sets,
		size_t nr, const struct audit_env *env, struct audit_watch *ret_watch,
		struct err *err);

/* Finds the tick in the increments under a load of several modes. */
void audit_judge_tick(struct audit_findings *findings, const struct counter_edges *busy,
		      const struct audit_watch *watch);
/* Whether the irq columns change on the tick, from their increments under a load of interrupts. */
void audit_judge_irq(struct audit_findings *findings, const struct counter_edges *irq);
/*
 * Measures the tick unless it is known. The search takes at most a quarter of @budget_ns, the
 * budget of the experiment; 0 means no limit.
 */
int audit_find_tick(unsigned int cpu, uint64_t budget_ns, const struct audit_env *env,
		    struct audit_findings *findings, struct err *err);

/* Returns a core for a task that must not run on @cpu, or -1. */
int audit_other_cpu(unsigned int cpu);
/* Sets @err for a load that did not run on its core. */
int audit_no_load(struct err *err, unsigned int cpu);

#endif
