/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the two files of engine bpf. */
#ifndef SUBTICK_MEASURE_CRIT_BPF_H
#define SUBTICK_MEASURE_CRIT_BPF_H

#include <stdatomic.h>

#include "abi/crit.h"
#include "crit.skel.h"
#include "measure/crit/engine.h"
#include "sys/bpf.h"

struct crit_bpf_engine {
	struct crit_engine engine;
	struct crit_bpf *skel;
	const struct crit_slot *slots;
	struct sys_bpf_view view; /* of the slots */
	struct cpuset cpus;
	unsigned int nr_cpus;
	int prog_fd[CRIT_NR_OPS]; /* -1: no such program */
	bool used;		  /* a round was measured since the programs were loaded */
};

/* The part of one CPU in a round. */
struct crit_worker {
	struct crit_bpf_engine *engine;
	const struct crit_opts *opts;
	unsigned int index;
	unsigned int cpu;
	u64 *value[CRIT_NR_OPS]; /* nr_samples each, part of the round's arrays */
	u64 *empty, *clock;	 /* overheads: of single pairs */
	u64 *batch_pair, *batch_empty;
	struct tb_summary summary[CRIT_NR_OPS];
	double batch[CRIT_NR_OPS];
	double clock_ns;
	double call_ns;
	u64 below;
	int err;
};

/* Samples every operation on the current CPU, then sorts; the result is in w->err. */
void crit_worker_run(void *worker, const atomic_bool *stop);

#endif
