/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attaches the runq programs, handles their events and reads their counters. */
#include "measure/runq/kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/clock.h"
#include "measure/core/core.h"
#include "core.skel.h"
#include "measure/load/load.h"
#include "measure/load/sources.h"
#include "measure/runq/blame.h"
#include "measure/runq/programs.h"
#include "measure/runq/slots.h"
#include "measure/runq/window.h"
#include "host/bpf.h"
#include "host/cpu.h"
#include "pods/pods.h"

/* CPU time after which the exporter does not retry a comparison of waits with run_delay */
#define WALKS_NS	 (NSEC_PER_MSEC / 2)
#define COMPARE_EVERY_NS (10 * NSEC_PER_SEC)
#define EVENTS_AT_ONCE	 1024

struct runq_kernel {
	struct core core;
	/* load source whose load_switch is replaced by runq's program on sched_switch, or NULL */
	struct load_source *load;
	struct ring_buffer *ring;
	struct runq_slots slots;
	unsigned int nr_cpus;
	struct core_block *cores;
	struct runq_task *tasks;
	struct runq_area areas[RUNQ_NR_AREAS];

	struct runq_blame_table blame;
	/* values of pods_generation() and slots.names_built at the last lookup of names */
	uint64_t named_generation, named_built;

	/* reason why runq's program does not replace load_switch of the load source */
	struct err separate_err;
	uint64_t open_ns;
	/* last comparison with run_delay: compared_ns, wait_ns, missing_ns and delay_ns */
	struct runq_losses compared;

	/* long waits and number of new groups that the last runq_kernel_events() read */
	struct runq_event waits[EVENTS_AT_ONCE];
	size_t nr_waits, slots_taken;
	uint64_t waits_dropped; /* number of long waits for which `waits` had no room */
};

static int on_event(void *ctx, void *data, size_t len)
{
	struct runq_kernel *k = ctx;
	const struct runq_event *event = data;

	if (len < sizeof(*event))
		return 0;
	if (event->kind == RUNQ_EVENT_NEW)
		k->slots_taken++;
	else if (k->nr_waits < EVENTS_AT_ONCE)
		k->waits[k->nr_waits++] = *event;
	else
		k->waits_dropped++;
	return 0;
}

/*
 * Initializes the estimate of the offset of a run queue's clock from CLOCK_MONOTONIC. The initial
 * drift between the two clocks is the NTP rate, because NTP adjusts only CLOCK_MONOTONIC.
 */
static void start_clock(struct runq_clock *clock)
{
	*clock = (struct runq_clock){.off = RUNQ_CLOCK_UNSET,
				     .at = clock_mono_ns(),
				     .low_late = RUNQ_CLOCK_UNSET,
				     .drift = (int64_t)(ntp_rate() * 0x1p32)};
}

static void fill_areas(struct runq_kernel *k, const struct runq_opts *opts)
{
	/* random factor that selects the sampled waits */
	if (getrandom(&k->core.skel->data->sample.factor, sizeof(uint64_t), GRND_NONBLOCK) < 0)
		k->core.skel->data->sample.factor = clock_mono_ns() * 0x9e3779b97f4a7c15ULL;
	k->core.skel->data->sample.factor |= 1;
	k->core.skel->data->sample.below = UINT64_MAX;
	k->core.skel->data->delay_exited_ns = 0;
	k->cores = k->core.skel->bss->cores;
	k->tasks = k->areas[RUNQ_AREA_TASKS].pages;
	array_for_each(task, k->tasks, RUNQ_NR_TASKS)
		*task = (struct runq_task){.delay = RUNQ_NO_DELAY, .group = RUNQ_NO_GROUP};
	for (unsigned int cpu = 0; cpu < k->nr_cpus; cpu++) {
		/*
		 * reset the memory that runq shares with load, because an earlier runq measurement
		 * may have used it
		 */
		k->cores[cpu].runq = (struct runq_cpu){
			.skip = cpuset_count(&opts->cpus) && !cpuset_has(&opts->cpus, cpu)};
		start_clock(&k->cores[cpu].runq.clock);
	}
}

static int open_blame(struct runq_kernel *k, struct err *err)
{
	k->blame = (struct runq_blame_table){
		.index_fd = bpf_map__fd(k->core.skel->maps.row_of),
		.free_fd = bpf_map__fd(k->core.skel->maps.free_rows),
		.new_fd = bpf_map__fd(k->core.skel->maps.new_rows),
		.rows = k->areas[RUNQ_AREA_ROWS].pages,
		.cells = k->areas[RUNQ_AREA_PAIRS].pages,
		.cores = k->cores,
		.cpus = k->nr_cpus,
		.ended = runq_slots_ended,
		.arg = &k->slots,
	};
	k->slots.blame = &k->blame;
	return runq_blame_open(&k->blame, err);
}

static int open_maps(struct runq_kernel *k, const struct runq_opts *opts, size_t nr_groups,
		     struct err *err)
{
	int rc;

	fill_areas(k, opts);
	k->open_ns = clock_mono_ns();
	k->slots.per = opts->per;
	k->slots.tasks = k->tasks;
	k->slots.index_fd = bpf_map__fd(k->core.skel->maps.slot_of);
	k->slots.changes = &k->core.skel->data->slot_changes;
	k->slots.chunks.fixed = opts->reserve > 0;
	k->slots.chunks.chunks_fd = bpf_map__fd(k->core.skel->maps.chunks);
	k->slots.chunks.free_fd = bpf_map__fd(k->core.skel->maps.free_slots);
	rc = runq_slots_open(&k->slots, k->areas[RUNQ_AREA_FIRST].pages, nr_groups, err);
	if (!rc && opts->blame)
		rc = open_blame(k, err);
	if (rc)
		return rc;
	k->ring = ring_buffer__new(bpf_map__fd(k->core.skel->maps.events), on_event, k, NULL);
	return k->ring ? 0 : sys_bpf_fail(err, -errno, "cannot map the ring of events");
}

/*
 * Loads a program on sched_switch that measures both CPU time (load) and waits (runq). If loading
 * fails, loads a program for runq alone.
 */
static int load_programs(struct runq_kernel *k, const struct runq_opts *opts, size_t nr_groups,
			 struct err *err)
{
	const struct runq_shape *shape = &k->slots.chunks.shape;
	struct load_source *load = opts->load ? load_core_source(opts->load) : NULL;

	if (load && !runq_programs_load(opts, shape, nr_groups, load->core, k->areas, &k->core,
					&k->separate_err)) {
		k->load = load;
		return 0;
	}
	load_source_close(load);
	runq_areas_close(k->areas);
	k->core = (struct core){0};
	return runq_programs_load(opts, shape, nr_groups, NULL, k->areas, &k->core, err);
}

int runq_kernel_open(const struct runq_opts *opts, const struct runq_filter *filter, size_t nr_groups,
		     struct runq_kernel **ret_kernel, struct err *err)
{
	struct runq_kernel *k = calloc(1, sizeof(*k));
	int rc;

	if (!k)
		return err_set(err, -ENOMEM, "out of memory");
	rc = cpu_nr(&k->nr_cpus, err);
	if (k->nr_cpus > RUNQ_MAX_CPUS)
		rc = err_unsupported(err, -EOPNOTSUPP, "boot with possible_cpus=2048 or fewer",
				     "runq supports up to 2,048 possible CPUs");
	if (rc)
		goto fail;
	k->slots.filter = runq_opts_filter(opts) ? filter : NULL;
	k->slots.chunks.shape = (struct runq_shape){.stripes = runq_stripes(k->nr_cpus),
						    .cpus = k->nr_cpus,
						    .steps = opts->steps_only,
						    .nr_le = opts->nr_le};
	rc = load_programs(k, opts, nr_groups, err) ?: open_maps(k, opts, nr_groups, err)
		?: sys_bpf_check(err, core_bpf__attach(k->core.skel),
				 "cannot attach the runq programs");
	if (rc)
		goto fail;
	if (k->load)
		k->load->ops->joined(k->load, &k->core);
	*ret_kernel = k;
	return 0;
fail:
	runq_kernel_close(k);
	return rc;
}

void runq_kernel_sample(struct runq_kernel *k, double ratio)
{
	k->core.skel->data->sample.below = ratio < 1.0 ? (uint64_t)(ratio * 0x1p64) : UINT64_MAX;
}

void runq_kernel_close(struct runq_kernel *k)
{
	ring_buffer__free(k->ring);
	if (k->load)
		k->load->ops->joined(k->load, NULL);
	/* detach the BPF programs before the slots of the programs are unmapped */
	core_close(&k->core);
	load_source_close(k->load);
	runq_slots_close(&k->slots);
	runq_areas_close(k->areas);
	runq_blame_close(&k->blame);
	free(k);
}

int runq_kernel_fd(const struct runq_kernel *k)
{
	return ring_buffer__epoll_fd(k->ring);
}

int runq_kernel_events(struct runq_kernel *k, const struct runq_event **ret_waits, size_t *ret_nr,
		       struct err *err)
{
	int rc;

	k->nr_waits = k->slots_taken = 0;
	rc = ring_buffer__consume(k->ring);
	*ret_waits = k->waits;
	*ret_nr = k->nr_waits;
	if (rc < 0)
		return sys_bpf_fail(err, rc, "cannot read the ring of events");
	rc = runq_chunks_refill(&k->slots.chunks, k->slots_taken, err);
	return rc ? rc : runq_slots_scan(&k->slots, false, err);
}

int runq_kernel_window(struct runq_kernel *k, struct runq_waits_list **ret_list,
		       struct err *err)
{
	int rc = runq_slots_window(&k->slots, err);

	if (rc)
		return rc;
	/* The keys of ended groups are needed only for blame. */
	if (!k->blame.rows)
		k->slots.nr_retired = 0;
	*ret_list = &k->slots.waits;
	return 0;
}

int runq_kernel_blame(struct runq_kernel *k, struct runq_row **ret_rows, size_t *ret_nr,
		      struct err *err)
{
	int rc = runq_blame_read(&k->blame, &k->slots.chunks, k->slots.retired,
				 k->slots.nr_retired, ret_rows, ret_nr, err);

	if (!rc)
		k->slots.nr_retired = 0;
	return rc;
}

/*
 * Returns the sum of run_delay of all tasks in ns, including exited tasks, or 0 if the kernel has
 * no run_delay.
 */
static uint64_t run_delays(struct runq_kernel *k)
{
	k->core.skel->data->delay_live_ns = 0;
	if (sys_bpf_iterate(k->core.skel->links.runq_delays))
		return 0;
	return k->core.skel->data->delay_live_ns + *(volatile uint64_t *)&k->core.skel->data->delay_exited_ns;
}

/*
 * Returns the sum of all waits since the start in ns. The BPF programs sum the waits of groups
 * outside of the first chunk. The waits of groups in the first chunk are read from the slots.
 */
static uint64_t wait_sum(const struct runq_kernel *k)
{
	const struct runq_shape *shape = &k->slots.chunks.shape;
	uint64_t sum = 0;

	array_for_each(core, k->cores, k->nr_cpus)
		sum += *(volatile uint64_t *)&core->runq.wait_ns;
	for (unsigned int slot = 0; slot < k->slots.chunks.first_slots; slot++) {
		const struct runq_head *head = runq_chunks_slot(&k->slots.chunks, slot);

		/* skip unused slots: most of the 2 MiB of the first chunk is usually unused */
		if (slot && !k->slots.owners[slot] && !__atomic_load_n(&head->key, __ATOMIC_RELAXED))
			continue;
		sum += runq_slot_wait_ns(head, shape);
	}
	return sum;
}

/*
 * Reads the kernel's run_delay of all tasks between two reads of the sum of waits. Retries up to
 * four times if the sum of waits grew by more than 1 ms in between, as after a preemption. The
 * exporter does not retry after WALKS_NS of CPU time: each attempt takes 1 ms for 5,000 tasks.
 */
static void sums_together(struct runq_kernel *k, struct runq_losses *sum)
{
	uint64_t least = UINT64_MAX, start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	bool thrifty = k->slots.chunks.fixed;

	for (int i = 0; i < 5 && least > 1000000; i++) {
		if (i && thrifty && clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns > WALKS_NS)
			return;
		uint64_t before = wait_sum(k), delay = run_delays(k), after = wait_sum(k);

		if (after - before >= least)
			continue;
		least = after - before;
		sum->delay_ns = delay;
		sum->wait_ns = before + least / 2;
	}
}

static int64_t missing_sum(const struct runq_kernel *k)
{
	int64_t sum = 0;

	array_for_each(core, k->cores, k->nr_cpus)
		sum += *(volatile __s64 *)&core->runq.missing_ns;
	return sum;
}

bool runq_compare_due(uint64_t open_ns, uint64_t compared_ns, uint64_t now_ns)
{
	uint64_t ran_ns = compared_ns - open_ns;

	return !compared_ns ||
	       now_ns - compared_ns >= (ran_ns < COMPARE_EVERY_NS ? ran_ns : COMPARE_EVERY_NS);
}

#define ADD_KERNEL(member) sum.member += pc->member;
#define ADD_USER(member)
#define ADD(member, key, from) ADD_##from(member)

void runq_kernel_losses(struct runq_kernel *k, struct runq_losses *ret_losses)
{
	uint64_t now = clock_mono_ns();
	struct runq_losses sum;

	if (!k->slots.chunks.fixed ||
	    runq_compare_due(k->open_ns, k->compared.compared_ns, now)) {
		k->compared.compared_ns = now;
		sums_together(k, &k->compared);
		k->compared.missing_ns = missing_sum(k);
	}
	sum = k->compared;
	array_for_each(core, k->cores, k->nr_cpus) {
		const volatile struct runq_cpu *pc = &core->runq;

		RUNQ_LOSSES(ADD)
		sum.waits += pc->switches;
	}
	sum.events_lost += k->waits_dropped;
	sum.path_cut = k->slots.paths_cut;
	sum.recursion_misses = sys_bpf_recursion_misses(k->core.skel->obj);
	*ret_losses = sum;
}

void runq_kernel_name_groups(struct runq_kernel *k, const struct pods *pods)
{
	/* skip the lookup of names if neither names nor groups are new since the last lookup */
	if (!pods_generation(pods) || (pods_generation(pods) == k->named_generation &&
				       k->slots.names_built == k->named_built))
		return;
	k->named_generation = pods_generation(pods);
	k->named_built = k->slots.names_built;
	array_for_each(group, k->slots.names, k->slots.nr_names)
		runq_names_resolve(pods, *group);
	runq_slots_named(&k->slots);
}

int runq_kernel_find_groups(struct runq_kernel *k, struct err *err)
{
	return runq_slots_scan(&k->slots, true, err);
}

struct runq_party runq_kernel_party(const struct runq_kernel *k, uint64_t key)
{
	return runq_party_of(key, key < RUNQ_KEY_EXCLUDED ? runq_slots_find(&k->slots, key) : NULL);
}

struct runq_group *const *runq_kernel_groups(const struct runq_kernel *k, size_t *ret_nr)
{
	*ret_nr = k->slots.nr_names;
	return k->slots.names;
}

const struct err *runq_kernel_separate(const struct runq_kernel *k)
{
	return k->separate_err.code ? &k->separate_err : NULL;
}

uint64_t runq_kernel_memory(const struct runq_kernel *k)
{
	struct runq_sizes sizes = {
		.nr_slots = runq_chunks_slots(&k->slots.chunks),
		.fixed = k->slots.chunks.fixed,
		.blame = k->blame.rows,
		.wakeup = bpf_map__max_entries(k->core.skel->maps.stamps) > 1,
		.throttles = bpf_map__max_entries(k->core.skel->maps.throttles) > 1,
	};

	return runq_memory(&k->slots.chunks.shape, &sizes);
}
