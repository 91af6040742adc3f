/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface of an engine of crit. */
#ifndef SUBTICK_MEASURE_CRIT_ENGINE_H
#define SUBTICK_MEASURE_CRIT_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpuset.h"
#include "base/err.h"
#include "kmod/tracerbench/stats.h"

/* The names are those of the module's directories. */
enum crit_op {
	CRIT_IRQ,
	CRIT_PREEMPT,
	CRIT_IRQ_SAVE,
	CRIT_NR_OPS,
};

extern const char *const crit_op_names[CRIT_NR_OPS];

#define CRIT_MAX_PERCENTILES 16
#define CRIT_MAX_ROUNDS	     1000
#define CRIT_PERCENT	     1000 /* percentiles are in 0.001 % */

struct crit_opts {
	const char *engine; /* "auto" or NULL, "module", "bpf" */
	uint64_t nr_samples;
	uint64_t nr_highest;
	bool work;
	unsigned int rounds; /* at most CRIT_MAX_ROUNDS */
	struct cpuset cpus;  /* empty: all online CPUs */
	uint32_t percentile[CRIT_MAX_PERCENTILES];
	unsigned int nr_percentiles;
	/* Both optional. Called between and during rounds, on the caller's thread. */
	bool (*stopped)(void);
	void (*progress)(const char *phase, unsigned int done, unsigned int total);
};

/* One operation in one round, over all CPUs; NaN: unavailable. */
struct crit_figures {
	double median;
	double average;
	double max;
	double max_avg;
	double batch; /* mean cost of a pair in a batch */
	double percentile[CRIT_MAX_PERCENTILES];
};

struct crit_cpu {
	unsigned int cpu;
	struct tb_summary op[CRIT_NR_OPS];
	double batch[CRIT_NR_OPS];
};

struct crit_round {
	struct crit_figures op[CRIT_NR_OPS];
	struct crit_cpu *cpus; /* nr_cpus of them; the caller frees */
	unsigned int nr_cpus;
	uint64_t below_overhead; /* samples shorter than the overhead, counted as 0 */
	double clock_ns;	 /* two clock reads; NaN if the engine does not report it */
	double call_ns;		 /* two empty calls */
	int percentile_cpu;	 /* the percentiles are of this CPU; negative: of all */
};

struct crit_engine;

struct crit_engine_ops {
	const char *name;
	const char *unit; /* "ns" or "cycles" */
	const char *what; /* one line for people */
	uint32_t ops;	  /* bit per crit_op that the engine supports */
	int (*open)(const struct crit_opts *opts, struct crit_engine **ret_engine, struct err *err);
	/* Runs one benchmark. -ECANCELED, with @err unset, if opts->stopped() returned true. */
	int (*round)(struct crit_engine *engine, const struct crit_opts *opts,
		     struct crit_round *ret_round, struct err *err);
	/* Restores the machine; sets @err, which may be NULL, if something could not be restored. */
	int (*close)(struct crit_engine *engine, struct err *err);
};

/* First member of each engine's own struct. */
struct crit_engine {
	const struct crit_engine_ops *ops;
};

extern const struct crit_engine_ops crit_engine_module, crit_engine_bpf;

/* A round with all figures NaN and no CPUs. */
void crit_round_clear(struct crit_round *round);

#endif
