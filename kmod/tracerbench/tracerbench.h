/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations for all files of the module: operations, settings of a run, results. */
#ifndef TRACERBENCH_H
#define TRACERBENCH_H

#include "stats.h"

/*
 * Allocation flags for large buffers: a request that is too large fails instead of starting the OOM
 * killer.
 */
#define TB_GFP_LARGE (GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

enum tb_op {
	TB_IRQ,
	TB_PREEMPT,
	TB_IRQ_SAVE,
	TB_NR_OPS,
};

enum tb_stat {
	TB_MEDIAN,
	TB_AVERAGE,
	TB_MAX,
	TB_MAX_AVG,
	TB_PERCENTILE,
	TB_NR_STATS,
};

/*
 * Settings of a run. Each run uses a copy of struct tb_config, so the settings do not change during
 * a run.
 */
struct tb_config {
	u64 nr_samples;
	u64 nr_highest;
	u64 do_work; /* 1 if work is done between disable and enable of a pair, or 0 */
};

struct tb_cpu_figures {
	unsigned int cpu;
	struct tb_summary op[TB_NR_OPS];
};

struct tb_figures {
	u64 value[TB_NR_OPS][TB_NR_STATS];
	/* Array of per-CPU results of a benchmark. The caller frees @cpus with kvfree(). */
	struct tb_cpu_figures *cpus;
	unsigned int nr_cpus;
};

/* Percentiles are in 0.001 %. */
#define TB_PERCENT 1000UL

/*
 * Times of the pairs of disable and enable on one CPU, in cycles. After sampling, the overhead of
 * the clock reads and of the work is subtracted from each time.
 */
struct tb_samples {
	u64 *value[TB_NR_OPS];
	size_t nr;
	/*
	 * overhead samples of the last operation, in cycles: the cost of the clock reads and of the
	 * work between them
	 */
	u64 *overhead;
	size_t nr_overhead;
};

int tb_samples_alloc(struct tb_samples *samples, u64 nr);
void tb_samples_free(struct tb_samples *samples);
int tb_samples_collect(struct tb_samples *samples, bool work, const bool *stop);

/*
 * Run a measurement and store results in @figures. tb_run_percentile() stores only TB_PERCENTILE,
 * tb_run_benchmark() all other results. Only one call of the two functions may run at a time.
 */
int tb_run_benchmark(const struct tb_config *config, struct tb_figures *figures);
int tb_run_percentile(const struct tb_config *config, unsigned int milli,
		      struct tb_figures *figures);

int tb_files_create(void);
void tb_files_remove(void);

#endif
