/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads the programs that sum the time of pairs of cgroups, and reads the sums. */
#include "measure/load/pairs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/array.h"
#include "base/clock.h"
#include "host/bpf.h"
#include "host/cgroup.h"
#include "host/kbtf.h"
#include "load_pairs.skel.h"

/* Maximum length of a cgroup path; longer paths are truncated. */
#define PATH_SIZE 256

struct load_pairs {
	struct load_pairs_bpf *skel;
	struct sys_bpf_view view; /* mapped array of struct load_pair_cpu, by CPU */
	unsigned int nr_cpus;
	struct cgroup_paths paths;
	/* total time before this window that was not counted, because the map was full */
	int64_t lost_ns;
	struct load_pair_key keys[LOAD_PAIRS_MAX];
	int64_t ns[LOAD_PAIRS_MAX];
	struct blocks memory;
	struct load_pair_sum *sums;
	struct load_pair *rows;
	/* paths of the two cgroups of each row of `rows`; NULL if paths are not requested */
	char (*names)[PATH_SIZE];
};

static int by_pair(const void *a, const void *b)
{
	const struct load_pair_sum *x = a, *y = b;

	return CMP(x->id[0], y->id[0]) ?: CMP(x->id[1], y->id[1]);
}

static int by_time(const void *a, const void *b)
{
	const struct load_pair_sum *x = a, *y = b;

	return CMP(y->ns, x->ns) ?: CMP(x->run_ns, y->run_ns) ?: by_pair(a, b);
}

size_t load_pairs_add(const struct load_pair_key *key, uint32_t sibling, int64_t ns,
		      const struct cpuset *cpus, struct load_pair_sum *ret_sums)
{
	const uint32_t cpu[2] = {key->cpu, sibling};
	size_t nr = 0;

	for (int i = 0; i < 2; i++)
		if (key->group[i] != LOAD_PAIR_IDLE && cpuset_has(cpus, cpu[i]))
			ret_sums[nr++] = (struct load_pair_sum){
				.id = {key->group[i], key->group[!i]}, .ns = ns};
	return nr;
}

int64_t load_pairs_charge(struct load_pair_cpu *cpus, uint32_t cpu, uint64_t now_ns,
			  struct load_pair_key *ret_key)
{
	const struct load_pair_cpu *sibling = &cpus[cpus[cpu].sibling];

	*ret_key = (struct load_pair_key){
		.cpu = cpu,
		.group = {__atomic_load_n(&cpus[cpu].group, __ATOMIC_RELAXED),
			  sibling == &cpus[cpu]
				  ? LOAD_PAIR_IDLE
				  : __atomic_load_n(&sibling->group, __ATOMIC_RELAXED)},
	};
	return (int64_t)(now_ns -
			 __atomic_exchange_n(&cpus[cpu].since_ns, now_ns, __ATOMIC_RELAXED));
}

static void add_sum(void *to, const void *from)
{
	((struct load_pair_sum *)to)->ns += ((const struct load_pair_sum *)from)->ns;
}

size_t load_pairs_merge(struct load_pair_sum *sums, size_t nr)
{
	size_t merged = array_merge(sums, nr, sizeof(*sums), by_pair, add_sum), left = 0;

	for (size_t i = 0, end; i < merged; i = end) {
		int64_t run_ns = 0;

		for (end = i; end < merged && sums[end].id[0] == sums[i].id[0]; end++)
			run_ns += sums[end].ns;
		for (size_t at = i; at < end; at++)
			sums[at].run_ns = run_ns;
	}
	for (size_t i = 0; i < merged; i++)
		if (sums[i].id[1] != LOAD_PAIR_IDLE && sums[i].ns > 0)
			sums[left++] = sums[i];
	qsort(sums, left, sizeof(*sums), by_time);
	return left;
}

static int load(struct load_pairs *pairs, const struct cgroup_layout *layout, struct err *err)
{
	static const char *const needed[] = {"sched_switch"};
	static const char failed[] = "cannot load the programs for pairs of cgroups";
	bool state_first;
	int rc = sys_bpf_need_atomics("--cgroups", err) ?: kbtf_need(needed, 1, &state_first, err);

	if (rc)
		return rc;
	sys_bpf_log_begin();
	pairs->skel = load_pairs_bpf__open();
	if (!pairs->skel)
		return sys_bpf_fail(err, -errno, failed);
	pairs->skel->rodata->cgroup_v2 = !cgroup_cpu_is_v1(layout);
	pairs->skel->rodata->switch_state_first = state_first;
	bpf_map__set_max_entries(pairs->skel->maps.pair_cpus, pairs->nr_cpus);
	return sys_bpf_check(err, load_pairs_bpf__load(pairs->skel), failed);
}

static int start(struct load_pairs *pairs, const uint32_t *siblings, struct err *err)
{
	struct load_pair_cpu *cpus;
	int rc;

	pairs->view = (struct sys_bpf_view){.map = pairs->skel->maps.pair_cpus, .shared = true};
	rc = sys_bpf_views_open(&pairs->view, 1, err);
	if (rc)
		return rc;
	cpus = pairs->view.pages;
	for (unsigned int cpu = 0; cpu < pairs->nr_cpus; cpu++)
		cpus[cpu] = (struct load_pair_cpu){.group = LOAD_PAIR_UNKNOWN,
						   .sibling = siblings[cpu]};
	rc = load_pairs_bpf__attach(pairs->skel)
		     ?: sys_bpf_iterate(pairs->skel->links.load_pairs_seed);
	if (rc)
		return sys_bpf_fail(err, rc, "cannot attach the programs for pairs of cgroups");
	/* A CPU whose group is still unknown is idle: no task ran at the start or since then. */
	for (unsigned int cpu = 0; cpu < pairs->nr_cpus; cpu++)
		__sync_val_compare_and_swap(&cpus[cpu].group, LOAD_PAIR_UNKNOWN, LOAD_PAIR_IDLE);
	return 0;
}

int load_pairs_open(const uint32_t *siblings, unsigned int nr_cpus, bool paths,
		    struct load_pairs **ret_pairs, struct err *err)
{
	struct load_pairs *pairs = calloc(1, sizeof(*pairs));
	size_t nr = 2 * (LOAD_PAIRS_MAX + (size_t)nr_cpus);
	struct cgroup_layout layout;
	int rc;

	if (!pairs)
		return err_set(err, -ENOMEM, "out of memory");
	pairs->nr_cpus = nr_cpus;
	pairs->paths.fd = -1;
	pairs->sums = blocks_calloc(&pairs->memory, nr, sizeof(*pairs->sums));
	pairs->rows = blocks_calloc(&pairs->memory, nr + 1, sizeof(*pairs->rows));
	if (paths)
		pairs->names = blocks_calloc(&pairs->memory, nr, 2 * sizeof(*pairs->names));
	rc = pairs->memory.failed ? -ENOMEM : cgroup_layout(NULL, &layout);
	if (rc) {
		err_set(err, rc, "cannot find the cgroups of this machine");
	} else {
		cgroup_paths_open(&pairs->paths,
				  cgroup_cpu_is_v1(&layout) ? layout.v1_cpu : layout.v2);
		rc = load(pairs, &layout, err) ?: start(pairs, siblings, err);
	}
	if (rc)
		load_pairs_close(pairs);
	else
		*ret_pairs = pairs;
	return rc;
}

void load_pairs_close(struct load_pairs *pairs)
{
	if (!pairs)
		return;
	sys_bpf_views_close(&pairs->view, 1);
	load_pairs_bpf__destroy(pairs->skel);
	cgroup_paths_close(&pairs->paths);
	blocks_free(&pairs->memory);
	free(pairs);
}

static const char *name(const struct load_pairs *pairs, uint64_t id, char buf[PATH_SIZE])
{
	int rc = cgroup_path(&pairs->paths, id, buf, PATH_SIZE);

	if (rc == -ENOENT)
		snprintf(buf, PATH_SIZE, "(gone)");
	else if (rc)
		snprintf(buf, PATH_SIZE, "/…(%" PRIu64 ")", id);
	return buf;
}

int load_pairs_read(struct load_pairs *pairs, const struct cpuset *cpus,
		    const struct load_pair **ret_rows, size_t *ret_nr)
{
	struct load_pair_cpu *cpu = pairs->view.pages;
	int fd = bpf_map__fd(pairs->skel->data->pair_window_seq & 1 ? pairs->skel->maps.pairs_odd
								    : pairs->skel->maps.pairs_even);
	uint32_t nr_keys = LOAD_PAIRS_MAX, batch;
	int64_t lost_ns = 0;
	size_t nr = 0;

	pairs->skel->data->pair_window_seq++;
	for (uint32_t i = 0; i < pairs->nr_cpus; i++) {
		struct load_pair_key key;

		lost_ns += *(volatile int64_t *)&cpu[i].lost_ns;
		if (i <= cpu[i].sibling) {
			int64_t ns = load_pairs_charge(cpu, i, clock_mono_ns(), &key);

			nr += load_pairs_add(&key, cpu[i].sibling, ns, cpus, &pairs->sums[nr]);
		}
	}
	/* ENOENT: the batch contains all entries of the map */
	if (bpf_map_lookup_and_delete_batch(fd, NULL, &batch, pairs->keys, pairs->ns, &nr_keys, NULL) &&
	    errno != ENOENT)
		return -errno;
	for (uint32_t i = 0; i < nr_keys; i++)
		nr += load_pairs_add(&pairs->keys[i], cpu[pairs->keys[i].cpu].sibling, pairs->ns[i],
				     cpus, &pairs->sums[nr]);
	nr = load_pairs_merge(pairs->sums, nr);
	for (size_t i = 0; i < nr; i++) {
		const struct load_pair_sum *sum = &pairs->sums[i];
		struct load_pair *row = &pairs->rows[i];

		*row = (struct load_pair){.id = {sum->id[0], sum->id[1]},
					  .ns = (uint64_t)sum->ns,
					  .run_ns = (uint64_t)sum->run_ns};
		if (!pairs->names)
			continue;
		row->cgroup = name(pairs, row->id[0], pairs->names[2 * i]);
		row->sibling = name(pairs, row->id[1], pairs->names[2 * i + 1]);
	}
	if (lost_ns != pairs->lost_ns) {
		pairs->rows[nr] = (struct load_pair){.ns = (uint64_t)(lost_ns - pairs->lost_ns),
						     .cgroup = "(no room)", .sibling = "(no room)"};
		pairs->lost_ns = lost_ns;
		nr++;
	}
	*ret_rows = pairs->rows;
	*ret_nr = nr;
	return 0;
}
