/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cgroups that run on the two hyperthreads of one physical core at the same time. */
#ifndef SUBTICK_MEASURE_LOAD_PAIRS_H
#define SUBTICK_MEASURE_LOAD_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/load_pairs.h"
#include "base/cpuset.h"
#include "base/err.h"
#include "measure/load/window.h"

struct load_pairs;

/* Time in which cgroup id[0] ran on a CPU while cgroup id[1] ran on the sibling CPU. */
struct load_pair_sum {
	uint64_t id[2];
	int64_t ns;	/* CPU time of id[0] while id[1] ran on the sibling CPU */
	int64_t run_ns; /* CPU time of id[0] in the window */
};

/* Kernel memory of the maps of pairs in bytes. The kernel adds 64 bytes to each map entry. */
#define LOAD_PAIRS_MAP_BYTES \
	(2ULL * LOAD_PAIRS_MAX * (sizeof(struct load_pair_key) + sizeof(int64_t) + 64))
/* Maximum memory in bytes of the rows of a window: two rows for each map entry. */
#define LOAD_PAIRS_HEAP_BYTES \
	(2ULL * LOAD_PAIRS_MAX * (sizeof(struct load_pair_sum) + sizeof(struct load_pair)))

/*
 * @siblings has the sibling of each CPU. If @paths is false, the rows have no cgroup paths. The BPF
 * programs need Linux 5.12, or 5.18 on arm64.
 */
int load_pairs_open(const uint32_t *siblings, unsigned int nr_cpus, bool paths,
		    struct load_pairs **ret_pairs, struct err *err);
void load_pairs_close(struct load_pairs *pairs);
/*
 * Ends the window. Counts only time in which a task of cgroup id[0] ran on a CPU in @cpus. The rows
 * are valid until the next call.
 */
int load_pairs_read(struct load_pairs *pairs, const struct cpuset *cpus,
		    const struct load_pair **ret_rows, size_t *ret_nr);

/*
 * Stores @ns as CPU time of each cgroup in @key that ran on a CPU in @cpus. Returns the number of
 * pairs stored in @ret_sums, at most 2.
 */
size_t load_pairs_add(const struct load_pair_key *key, uint32_t sibling, int64_t ns,
		      const struct cpuset *cpus, struct load_pair_sum *ret_sums);
/*
 * Ends the current interval of a physical core at @now_ns and returns its length in ns. @cpu is the
 * first CPU of the core.
 */
int64_t load_pairs_charge(struct load_pair_cpu *cpus, uint32_t cpu, uint64_t now_ns,
			  struct load_pair_key *ret_key);
/*
 * Merges equal pairs, fills run_ns, removes pairs whose sibling CPU was idle, and sorts @sums by
 * time. Returns the number of pairs left in @sums.
 */
size_t load_pairs_merge(struct load_pair_sum *sums, size_t nr);

#endif
