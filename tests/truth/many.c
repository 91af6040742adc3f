/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Simulates thousands of cgroups. The test fills the counters of the cgroups as the BPF programs
 * do, and measures the CPU time for reading the counters.
 */
#include "many.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/clock.h"
#include "measure/runq/filter.h"
#include "measure/runq/rollup.h"
#include "measure/runq/slots.h"
#include "measure/runq/window.h"
#include "pods/pods.h"
#include "present/runq.h"
#include "stats/hist.h"
#include "stats/runq.h"

#define NR_LE	   16
#define PER_POD	   3  /* containers per pod */
#define NR_LENGTHS 12 /* number of different wait times per container and window */

static const uint64_t le[NR_LE] = RUNQ_LE_DEFAULT_NS;
static const double percentiles[] = {50, 90, 99, 99.9};

static struct {
	struct runq_slots slots;
	struct runq_window window;
	struct runq_task *tasks;
	char *near;
	size_t nr;
	__u64 changes;
	/* Only a simulation of pods by many_open_pods() uses the fields from here to sum_ns. */
	bool fine;
	struct runq_filter filter;
	struct runq_rollup rollup;
	struct pods *pods;
	char root[32]; /* directory with the names of the pods */
	uint64_t names_built;
	uint64_t random;
	uint64_t sum_ns; /* sum of all waits in the window */
} many;

static int make_maps(struct err *err)
{
	struct runq_chunks *chunks = &many.slots.chunks;
	LIBBPF_OPTS(bpf_map_create_opts, opts);

	chunks->free_fd = bpf_map_create(BPF_MAP_TYPE_QUEUE, "many_free", 0, sizeof(uint32_t),
					 RUNQ_NR_SLOTS, NULL);
	opts.inner_map_fd = runq_chunk_create(&chunks->shape, err);
	if ((int)opts.inner_map_fd < 0)
		return (int)opts.inner_map_fd;
	chunks->chunks_fd =
		bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "many_chunks", sizeof(uint32_t),
			       sizeof(uint32_t), RUNQ_NR_CHUNKS, &opts);
	close(opts.inner_map_fd);
	if (chunks->free_fd < 0 || chunks->chunks_fd < 0)
		return err_set(err, -errno, "cannot make maps: %s", strerror(errno));
	return 0;
}

/*
 * Initializes the counters of a pod or container and its name, as slot_find() of the BPF programs
 * does.
 */
static void group_begins(size_t slot)
{
	struct runq_head *head = runq_chunks_slot(&many.slots.chunks, slot);
	size_t pod = many.fine ? slot / PER_POD : slot;
	char *at = head->path;

	if (many.fine)
		at += snprintf(at, 128, "cri-containerd-%064zx.scope", slot) + 1;
	at += snprintf(at, 128, "kubepods-burstable-pod%08x_0000_4000_8000_%012zx.slice",
		       (unsigned int)pod * 2654435761u, pod) +
	      1;
	at += snprintf(at, 64, "kubepods-burstable.slice") + 1;
	snprintf(at, 64, "kubepods.slice");
	head->depth = 3 + many.fine;
	head->cgroup_id = 1000 + slot;
	head->key = 5000 + slot;
}

static int slots_open(size_t nr, unsigned int cpus, struct err *err)
{
	int rc;

	many.nr = nr;
	many.tasks = calloc(RUNQ_NR_TASKS, sizeof(*many.tasks));
	many.near = calloc(1, RUNQ_FIRST_BYTES);
	if (!many.tasks || !many.near)
		return err_set(err, -ENOMEM, "out of memory");
	many.slots.per = RUNQ_PER_CGROUP;
	many.slots.index_fd = -1;
	many.slots.changes = &many.changes;
	many.slots.tasks = many.tasks;
	many.slots.chunks.fixed = true;
	many.slots.chunks.shape =
		(struct runq_shape){.stripes = runq_stripes(cpus),
				    .cpus = cpus,
				    .steps = !many.fine,
				    .nr_le = NR_LE};
	rc = make_maps(err);
	if (!rc)
		rc = runq_slots_open(&many.slots, many.near, nr, err);
	for (size_t i = 1; !rc && i <= nr; i++)
		group_begins(i);
	many.window = (struct runq_window){
		.window_ns = NSEC_PER_SEC,
		.per = RUNQ_PER_CGROUP,
		.source = RUNQ_SOURCE_SCHED_INFO,
		.hierarchy = RUNQ_HIERARCHY_V2,
		.sample_ratio = 1.0,
		.le_ns = le,
		.nr_le = NR_LE,
		.percentiles = percentiles,
		.nr_percentiles = 4,
		.steps_only = !many.fine,
		.has_causes = true,
		.causes_known = (1u << RUNQ_NR_CAUSES) - 1,
	};
	return rc;
}

int many_open(size_t nr, unsigned int cpus, struct err *err)
{
	return slots_open(nr, cpus, err);
}

/* Creates the directories and links that kubelet creates. */
static int name_pods(void)
{
	char path[256];
	size_t pods = many.nr / PER_POD + 1;

	strcpy(many.root, "/tmp/subtick-many-XXXXXX");
	if (!mkdtemp(many.root))
		return -errno;
	for (const char *dir = "/var\0/var/log\0/var/log/pods\0/var/log/containers\0"; *dir;
	     dir += strlen(dir) + 1) {
		snprintf(path, sizeof(path), "%s%s", many.root, dir);
		if (mkdir(path, 0755))
			return -errno;
	}
	for (size_t pod = 0; pod < pods; pod++) {
		snprintf(path, sizeof(path),
			 "%s/var/log/pods/shop-%zu_web-%zu_%08x-0000-4000-8000-%012zx", many.root,
			 pod % 20, pod, (unsigned int)pod * 2654435761u, pod);
		if (mkdir(path, 0755))
			return -errno;
	}
	for (size_t i = 1; i <= many.nr; i++) {
		snprintf(path, sizeof(path),
			 "%s/var/log/containers/web-%zu_shop-%zu_c%zu-%064zx.log", many.root,
			 i / PER_POD, i / PER_POD % 20, i % PER_POD, i);
		if (symlink("/nowhere", path))
			return -errno;
	}
	return pods_open(many.root, -1, &many.pods);
}

int many_open_pods(size_t nr, unsigned int cpus, struct err *err)
{
	int rc;

	many.fine = true;
	many.random = 88172645463325252ULL;
	rc = slots_open(nr, cpus, err);
	if (rc)
		return rc;
	many.window.sum = ROLLUP_POD;
	many.window.has_names = true;
	rc = name_pods();
	many.rollup = (struct runq_rollup){
		.what = ROLLUP_POD, .filter = &many.filter, .pods = many.pods};
	return rc ? err_set(err, rc, "cannot name pods: %s", strerror(-rc)) : 0;
}

/* Adds waits from 1 us to about 0.5 ms, different in each container and window. */
static void pods_wait(void)
{
	const struct runq_shape *shape = &many.slots.chunks.shape;

	many.sum_ns = 0;
	for (size_t i = 1; i <= many.nr; i++) {
		char *slot = (char *)runq_chunks_slot(&many.slots.chunks, i);
		struct runq_hist *hist = (struct runq_hist *)(slot + RUNQ_HISTS);
		struct runq_cell *cell = (struct runq_cell *)(slot + runq_cells_at(shape));

		for (unsigned int j = 0; j < NR_LENGTHS; j++) {
			unsigned int cpu = j % shape->cpus;
			uint64_t ns;

			many.random ^= many.random << 13;
			many.random ^= many.random >> 7;
			many.random ^= many.random << 17;
			ns = (many.random & 1023) + (1000ULL << many.random % 10);
			hist[cpu % shape->stripes].count[hist_index(ns)] += 2;
			cell[cpu].cause_ns[RUNQ_OTHER] += 2 * ns;
			cell[cpu].max_ns = ns;
			many.sum_ns += 2 * ns;
		}
	}
}

static bool pods_there(void)
{
	const struct runq_window *w = &many.window;
	uint64_t sum_ns = 0, count = 0;

	for (size_t i = 0; i < w->nr_groups; i++) {
		sum_ns += w->groups[i].sum_ns;
		count += w->groups[i].count;
		if (!w->groups[i].party.group->names)
			return false;
	}
	return w->nr_groups == many.nr / PER_POD + 1 && count == 2 * NR_LENGTHS * many.nr &&
	       w->waits_seen == count && sum_ns == many.sum_ns;
}

/* Adds five short waits and one wait above the fourth boundary to every cgroup. */
static void all_wait(void)
{
	const struct runq_shape *shape = &many.slots.chunks.shape;

	for (size_t i = 1; i <= many.nr; i++) {
		char *slot = (char *)runq_chunks_slot(&many.slots.chunks, i);
		unsigned int cpu = i % shape->cpus;
		struct runq_steps *steps = (struct runq_steps *)(slot + RUNQ_HISTS);
		struct runq_cell *cell = (struct runq_cell *)(slot + runq_cells_at(shape)) + cpu;

		steps[cpu % shape->stripes].count[0] += 5;
		steps[cpu % shape->stripes].count[4] += 1;
		cell->cause_ns[RUNQ_OTHER] += 5 * 2000 + 150000 + i;
		cell->max_ns = 150000 + i;
	}
}

static bool all_there(void)
{
	const struct runq_window *w = &many.window;
	uint64_t sum_ns = 0, low = 0, high = 0;

	for (size_t i = 0; i < w->nr_groups; i++) {
		sum_ns += w->groups[i].sum_ns;
		low += w->groups[i].le_count[3];
		high += w->groups[i].le_count[4];
	}
	return w->nr_groups == many.nr && w->waits_seen == 6 * many.nr && low == 5 * many.nr &&
	       high == 6 * many.nr && sum_ns == many.nr * 160000 + many.nr * (many.nr + 1) / 2 &&
	       w->groups[0].max_ns == 150000 + many.nr;
}

/* Reads the counters in the same way as `subtick runq`. */
static int pods_rollup(struct err *err)
{
	if (many.names_built != many.slots.names_built)
		for (size_t i = 0; i < many.slots.nr_names; i++)
			runq_names_resolve(many.pods, many.slots.names[i]);
	many.names_built = many.slots.names_built;
	return runq_rollup_window(&many.rollup, &many.slots.waits, many.slots.names,
				many.slots.nr_names, err);
}

static __attribute__((noinline)) int window_ends(uint64_t *ret_cpu_ns, struct err *err)
{
	struct report *report = NULL;
	uint64_t start;
	int rc;

	start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	runq_window_clear(&many.window);
	rc = runq_slots_window(&many.slots, err);
	if (!rc && many.pods)
		rc = pods_rollup(err);
	if (!rc)
		rc = runq_window_groups(&many.window, &many.slots.waits, &many.filter,
					many.pods ? &many.rollup : NULL, err);
	if (!rc)
		rc = runq_report(&many.window, NULL, &report);
	report_free(report);
	*ret_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	return rc;
}

int many_window(uint64_t *ret_cpu_ns, struct err *err)
{
	int rc;

	if (many.fine)
		pods_wait();
	else
		all_wait();
	rc = window_ends(ret_cpu_ns, err);
	if (!rc && !(many.fine ? pods_there() : all_there()))
		rc = err_set(err, -EPROTO, "the window is not what was waited");
	return rc;
}

int many_quiet_window(uint64_t *ret_cpu_ns, struct err *err)
{
	int rc = window_ends(ret_cpu_ns, err);

	if (!rc && many.window.nr_groups)
		rc = err_set(err, -EPROTO, "a cgroup has waited in a window without waits");
	return rc;
}

static int remove_entry(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
	(void)stat;
	(void)type;
	(void)ftw;
	return remove(path);
}

void many_close(void)
{
	runq_window_clear(&many.window);
	runq_rollup_close(&many.rollup);
	pods_close(many.pods);
	if (many.root[0])
		nftw(many.root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	runq_slots_close(&many.slots);
	close(many.slots.chunks.free_fd);
	close(many.slots.chunks.chunks_fd);
	free(many.tasks);
	free(many.near);
	memset(&many, 0, sizeof(many));
}
