/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts the instructions for reading and reporting a window in which 16,384 simulated cgroups
 * waited. The test fills the counters of the cgroups as the BPF programs do. In the guest an
 * instruction takes one nanosecond. On a Neoverse N1, 9,000 instructions per cgroup take 37 ms of
 * CPU time per window. MOST instructions per cgroup take 50 ms.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/clock.h"
#include "live.h"
#include "measure/runq/filter.h"
#include "measure/runq/slots.h"
#include "measure/runq/window.h"
#include "present/runq.h"
#include "stats/runq.h"
#include "truth.h"

#define CGROUPS 16384
#define MOST	12000 /* largest allowed number of instructions per cgroup */
#define WINDOWS 4
#define NR_LE	16

static const uint64_t le[NR_LE] = RUNQ_LE_DEFAULT_NS;
static const double percentiles[] = {50, 90, 99, 99.9};

static struct {
	struct runq_slots slots;
	struct runq_window window;
	struct runq_task *tasks;
	char *near;
	size_t nr;
	__u64 changes;
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

/* Initializes the counters and the name of a pod, as slot_find() of the BPF programs does. */
static void group_begins(size_t slot)
{
	struct runq_head *head = runq_chunks_slot(&many.slots.chunks, slot);
	char *at = head->path;

	at += snprintf(at, 128, "kubepods-burstable-pod%08x_0000_4000_8000_%012zx.slice",
		       (unsigned int)slot * 2654435761u, slot) +
	      1;
	at += snprintf(at, 64, "kubepods-burstable.slice") + 1;
	snprintf(at, 64, "kubepods.slice");
	head->depth = 3;
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
	many.slots.chunks.shape = (struct runq_shape){
		.stripes = runq_stripes(cpus), .cpus = cpus, .steps = true, .nr_le = NR_LE};
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
		.steps_only = true,
		.has_causes = true,
		.causes_known = (1u << RUNQ_NR_CAUSES) - 1,
	};
	return rc;
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

static __attribute__((noinline)) int window_ends(uint64_t *ret_cpu_ns, struct err *err)
{
	static const struct runq_filter filter;
	struct report *report = NULL;
	uint64_t start;
	int rc;

	start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	runq_window_clear(&many.window);
	rc = runq_slots_window(&many.slots, err);
	if (!rc)
		rc = runq_window_groups(&many.window, &many.slots.waits, &filter, NULL, err);
	if (!rc)
		rc = runq_report(&many.window, NULL, &report);
	report_free(report);
	*ret_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	return rc;
}

int main(void)
{
	struct err err = {0};
	uint64_t took, most = 0;

	truth_begin(2);
	if (slots_open(CGROUPS, 2, &err))
		live_fail_all("no slots: %s", err.what);
	for (int i = 0; i < WINDOWS; i++) {
		all_wait();
		if (window_ends(&took, &err))
			live_fail_all("no window: %s", err.what);
		if (!all_there())
			live_fail_all("the window is not what was waited");
		live_note("window %d: %llu instructions", i, (unsigned long long)took);
		/*
		 * The limit of MOST instructions per cgroup does not apply to the first two windows
		 * of subtick. In the first window subtick creates every group, and in the second
		 * window subtick reads the names of the cgroups again.
		 */
		if (i > 1 && took > most)
			most = took;
	}
	live_ok(most < (uint64_t)MOST * CGROUPS,
		"%d cgroups: %llu instructions for a window and cgroup, at most %d allowed",
		CGROUPS, (unsigned long long)most / CGROUPS, MOST);
	return live_done();
}
