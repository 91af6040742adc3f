/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cgroups that run on the two hyperthreads of one physical core at the same time. */
#ifndef SUBTICK_MEASURE_LOAD_PAIRS_H
#define SUBTICK_MEASURE_LOAD_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "abi/load_pairs.h"
#include "base/cpuset.h"
#include "base/err.h"
#include "measure/load/window.h"

struct load_pairs;

/* Sum of a cgroup, id[0], and the cgroup on its sibling, id[1]. */
struct load_pair_sum {
	uint64_t id[2];
	int64_t ns;	/* CPU time of id[0] while id[1] was on the sibling */
	int64_t run_ns; /* CPU time of id[0] in the window */
};

/* @siblings: sibling of each CPU. Needs BPF and Linux 5.12, on arm64 5.18. */
int load_pairs_open(const uint32_t *siblings, unsigned int nr_cpus, struct load_pairs **ret_pairs,
		    struct err *err);
void load_pairs_close(struct load_pairs *pairs);
/* Ends the window of the CPUs in @cpus. The rows are valid until the next call. 0 or -errno. */
int load_pairs_read(struct load_pairs *pairs, const struct cpuset *cpus,
		    const struct load_pair **ret_rows, size_t *ret_nr);

/* For tests. Adds @ns for the cgroup of each CPU in @cpus; returns the number of new sums. */
size_t load_pairs_add(const struct load_pair_key *key, uint32_t sibling, int64_t ns,
		      const struct cpuset *cpus, struct load_pair_sum *ret_sums);
/* Charges the open interval of a physical core, whose first CPU is @cpu, until @now_ns. */
int64_t load_pairs_charge(struct load_pair_cpu *cpus, uint32_t cpu, uint64_t now_ns,
			  struct load_pair_key *ret_key);
/* Merges equal pairs, fills run_ns, drops idle siblings. Most time first; returns how many are left. */
size_t load_pairs_merge(struct load_pair_sum *sums, size_t nr);

#endif
