/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interface of the two engines of `subtick crit`: the kernel module and the BPF programs. */
#ifndef SUBTICK_MEASURE_CRIT_ENGINE_H
#define SUBTICK_MEASURE_CRIT_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpuset.h"
#include "base/err.h"
#include "kmod/tracerbench/stats.h"

/* Measured operations. The kernel module has a directory in debugfs for each operation. */
enum crit_op {
	CRIT_IRQ,
	CRIT_PREEMPT,
	CRIT_IRQ_SAVE,
	CRIT_NR_OPS,
};

extern const char *const crit_op_names[CRIT_NR_OPS];

#define CRIT_MAX_PERCENTILES 16
#define CRIT_MAX_ROUNDS	     1000
#define CRIT_PERCENT	     1000 /* unit of percentiles: 0.001 % */

struct crit_opts {
	const char *engine; /* "module", "bpf", or "auto" (same as NULL) */
	uint64_t nr_samples;
	uint64_t nr_highest;
	bool work;
	unsigned int rounds; /* number of rounds, at most CRIT_MAX_ROUNDS */
	struct cpuset cpus;  /* CPUs to measure; empty for all online CPUs */
	uint32_t percentile[CRIT_MAX_PERCENTILES];
	unsigned int nr_percentiles;
	/*
	 * Optional callbacks. crit_run() calls both between and during rounds, on the thread that
	 * called crit_run().
	 */
	bool (*stopped)(void);
	void (*progress)(const char *phase, unsigned int done, unsigned int total);
};

/* Results of one operation over all CPUs in one round; a figure that is unavailable is NaN. */
struct crit_figures {
	double median;
	double average;
	double max;
	double max_avg;
	double batch; /* mean cost of one disable call and one enable call in a batch */
	double percentile[CRIT_MAX_PERCENTILES];
};

struct crit_cpu {
	unsigned int cpu;
	struct tb_summary op[CRIT_NR_OPS];
	double batch[CRIT_NR_OPS];
};

struct crit_round {
	struct crit_figures op[CRIT_NR_OPS];
	struct crit_cpu *cpus; /* array with nr_cpus elements */
	unsigned int nr_cpus;
	/* number of samples that were shorter than the measuring overhead and count as 0 */
	uint64_t below_overhead;
	double clock_ns;	 /* cost of two clock reads, or NaN if unavailable */
	double call_ns;		 /* cost of two calls of an empty function */
	/* CPU whose percentiles are reported, or negative for percentiles over all CPUs */
	int percentile_cpu;
};

struct crit_engine;

struct crit_engine_ops {
	const char *name;
	const char *unit; /* "ns" or "cycles" */
	const char *what; /* description of the engine in one line */
	uint32_t ops;	  /* bit mask of enum crit_op: operations that the engine supports */
	int (*open)(const struct crit_opts *opts, struct crit_engine **ret_engine, struct err *err);
	/*
	 * Runs one benchmark and fills @round, which the caller has cleared. Returns -ECANCELED
	 * without setting @err if opts->stopped() returned true. The caller frees round->cpus even
	 * after an error.
	 */
	int (*round)(struct crit_engine *engine, const struct crit_opts *opts,
		     struct crit_round *round, struct err *err);
	/*
	 * Restores the settings of the machine. Sets @err, which may be NULL, if a setting could
	 * not be restored.
	 */
	int (*close)(struct crit_engine *engine, struct err *err);
};

/* First member of the private struct of every engine. */
struct crit_engine {
	const struct crit_engine_ops *ops;
};

extern const struct crit_engine_ops crit_engine_module, crit_engine_bpf;

/* Computes median, average and maximum of the samples of operation @op on all CPUs of @round. */
int crit_combine(struct crit_round *round, enum crit_op op, struct err *err);

#endif
