/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads the runq programs, follows their events and reads what they count. */
#include "measure/runq/kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/clock.h"
#include "measure/runq/slots.h"
#include "runq.skel.h"
#include "sys/bpf.h"
#include "sys/cpu.h"
#include "sys/ntp.h"

#define HASH_ELEM_BYTES 48 /* of the kernel, beside key and value */

struct runq_kernel {
	struct runq_bpf *skel;
	struct ring_buffer *ring;
	struct runq_slots slots;
	unsigned int nr_cpus;
	struct runq_cpu *cpu;
	size_t cpu_len;

	/* of the event being consumed */
	void (*fn)(const struct runq_event *, void *);
	void *arg;
	size_t taken;

	struct runq_row *rows, *rows_prev;
	size_t nr_rows_prev;
};

static int on_event(void *ctx, void *data, size_t len)
{
	struct runq_kernel *b = ctx;
	const struct runq_event *event = data;

	if (len < sizeof(*event))
		return 0;
	if (event->kind == RUNQ_EVENT_NEW)
		b->taken++;
	else if (b->fn)
		b->fn(event, b->arg);
	return 0;
}

static void set_rodata(struct runq_kernel *b, const struct runq_opts *opts, bool state_first)
{
	struct runq_bpf__rodata *ro = b->skel->rodata;
	unsigned int bad;

	ro->layout = (struct runq_layout){
		.cpus = b->nr_cpus,
		.stripes = b->slots.stripes,
		.colds_at = RUNQ_COLDS(b->nr_cpus),
		.hists_at = RUNQ_HISTS(b->nr_cpus),
		.shared = b->slots.stripes < b->nr_cpus,
	};
	ro->per = opts->per;
	if (opts->sample_ratio > 0.0 && opts->sample_ratio < 1.0)
		ro->sample_below = (uint32_t)(opts->sample_ratio * 4294967296.0);
	ro->threshold_ns = opts->threshold_ns;
	ro->by_wakeup = opts->source == RUNQ_SOURCE_WAKEUP;
	ro->cgroup_v2 = opts->hierarchy == RUNQ_HIERARCHY_V2;
	ro->want_blame = opts->blame;
	ro->switch_state_first = state_first;
	memcpy((void *)ro->le_ns, opts->le_ns, sizeof(ro->le_ns));
	runq_le_place(opts->le_ns, opts->nr_le, (uint8_t *)ro->le_in, &bad);
}

/* The programs that can do one thing only do it in fewer steps. */
static void choose_switch(struct runq_kernel *b, const struct runq_opts *opts)
{
	const struct runq_bpf__rodata *ro = b->skel->rodata;
	bool usual = opts->per == RUNQ_PER_CGROUP && opts->source != RUNQ_SOURCE_WAKEUP &&
		     !opts->threshold_ns && !ro->sample_below && !ro->switch_state_first;
	struct {
		struct bpf_program *program;
		bool blame, cgroup_v2;
	} only[] = {
		{b->skel->progs.runq_switch_v1, false, false},
		{b->skel->progs.runq_switch_v2, false, true},
		{b->skel->progs.runq_blame_v1, true, false},
		{b->skel->progs.runq_blame_v2, true, true},
	};

	bpf_program__set_autoload(b->skel->progs.runq_switch, !usual);
	for (size_t i = 0; i < sizeof(only) / sizeof(only[0]); i++)
		bpf_program__set_autoload(only[i].program,
					  usual && only[i].blame == opts->blame &&
						  only[i].cgroup_v2 == ro->cgroup_v2);
}

static int open_skeleton(struct runq_kernel *b, const struct runq_opts *opts, int chunk_fd,
			 struct err *err)
{
	struct btf *btf;
	int rc;

	rc = sys_bpf_btf_open(&btf, err);
	if (rc)
		return rc;
	sys_bpf_log_begin();
	b->skel = runq_bpf__open();
	if (!b->skel) {
		rc = sys_bpf_fail(err, -errno, "cannot open the runq programs");
		goto out;
	}
	sys_bpf_autoload_present(b->skel->obj, btf);
	if (!bpf_program__autoload(b->skel->progs.runq_switch)) {
		rc = err_unsupported(err, -EOPNOTSUPP, "use a kernel with CONFIG_TRACEPOINTS",
				     "the kernel has no tracepoint sched_switch");
		goto out;
	}
	set_rodata(b, opts, sys_bpf_switch_state_first(btf));
	choose_switch(b, opts);
	if (opts->source != RUNQ_SOURCE_WAKEUP)
		bpf_program__set_autoload(b->skel->progs.runq_wakeup, false);
	if (!sys_bpf_has_member(btf, "sched_info", "run_delay")) {
		bpf_program__set_autoload(b->skel->progs.runq_delays, false);
		bpf_program__set_autoload(b->skel->progs.runq_exit, false);
		bpf_program__set_autoload(b->skel->progs.runq_free, opts->per == RUNQ_PER_TASK);
	}
	if (opts->per != RUNQ_PER_CGROUP)
		bpf_program__set_autoload(b->skel->progs.runq_rmdir, false);
	bpf_map__set_max_entries(b->skel->maps.cpus, b->nr_cpus);
	if (opts->blame)
		bpf_map__set_max_entries(b->skel->maps.blame, RUNQ_NR_BLAME);
	if (opts->source == RUNQ_SOURCE_WAKEUP)
		bpf_map__set_max_entries(b->skel->maps.stamps, RUNQ_NR_TASKS);
	rc = bpf_map__set_inner_map_fd(b->skel->maps.chunks, chunk_fd);
	if (!rc)
		rc = bpf_map__set_value_size(b->skel->maps.first,
					     RUNQ_SLOT_SIZE(b->slots.stripes, b->slots.cpus));
	if (!rc)
		rc = runq_bpf__load(b->skel);
	if (rc)
		rc = sys_bpf_fail(err, rc, "cannot load the runq programs");
out:
	sys_bpf_btf_close(btf);
	return rc;
}

/*
 * Each core learns for itself how its run queue's clock lies to CLOCK_MONOTONIC. How fast the two
 * drift apart is known from the start, as far as it is because one of them is steered.
 */
static void start_clock(struct runq_clock *clock)
{
	*clock = (struct runq_clock){.off = RUNQ_CLOCK_UNSET,
				     .at = clock_mono_ns(),
				     .low_late = RUNQ_CLOCK_UNSET,
				     .drift = (int64_t)(ntp_rate() * 0x1p32)};
}

static int map_cpus(struct runq_kernel *b, const struct runq_opts *opts, struct err *err)
{
	size_t page = getpagesize();

	b->cpu_len = (b->nr_cpus * sizeof(*b->cpu) + page - 1) / page * page;
	b->cpu = mmap(NULL, b->cpu_len, PROT_READ | PROT_WRITE, MAP_SHARED,
		      bpf_map__fd(b->skel->maps.cpus), 0);
	if (b->cpu == MAP_FAILED) {
		b->cpu = NULL;
		return sys_bpf_fail(err, -errno, "cannot map the state of the cores");
	}
	for (unsigned int cpu = 0; cpu < b->nr_cpus; cpu++) {
		b->cpu[cpu].skip = cpuset_count(&opts->cpus) && !cpuset_has(&opts->cpus, cpu);
		start_clock(&b->cpu[cpu].clock);
	}
	return 0;
}

static int open_maps(struct runq_kernel *b, const struct runq_opts *opts, size_t nr_groups,
		     struct err *err)
{
	struct runq_pair other = {RUNQ_KEY_OTHER, RUNQ_KEY_OTHER};
	struct runq_charge none = {0};
	int rc;

	rc = map_cpus(b, opts, err);
	if (rc)
		return rc;
	b->slots.per = opts->per;
	b->slots.fixed = opts->reserve > 0;
	b->slots.cpu = b->cpu;
	b->slots.chunks_fd = bpf_map__fd(b->skel->maps.chunks);
	b->slots.free_fd = bpf_map__fd(b->skel->maps.free_slots);
	b->slots.index_fd = bpf_map__fd(b->skel->maps.slot_of);
	rc = runq_slots_open(&b->slots, bpf_map__fd(b->skel->maps.first), nr_groups, err);
	if (rc)
		return rc;
	if (opts->blame &&
	    bpf_map_update_elem(bpf_map__fd(b->skel->maps.blame), &other, &none, BPF_ANY))
		return sys_bpf_fail(err, -errno, "cannot prepare the blame table");
	b->ring = ring_buffer__new(bpf_map__fd(b->skel->maps.events), on_event, b, NULL);
	return b->ring ? 0 : sys_bpf_fail(err, -errno, "cannot map the ring of events");
}

int runq_kernel_open(const struct runq_opts *opts, size_t nr_groups,
		     struct runq_kernel **ret_kernel, struct err *err)
{
	struct runq_kernel *b = calloc(1, sizeof(*b));
	struct cpuset possible;
	int rc, chunk_fd;

	if (!b)
		return err_set(err, -ENOMEM, "out of memory");
	rc = cpu_set(NULL, CPU_POSSIBLE, &possible, err);
	if (rc)
		goto fail;
	b->nr_cpus = cpuset_end(&possible);
	b->slots.cpus = b->nr_cpus;
	b->slots.stripes = runq_stripes(b->nr_cpus);
	rc = chunk_fd = runq_chunk_create(b->slots.stripes, b->slots.cpus, err);
	if (rc < 0)
		goto fail;
	/* Only its type matters here, and only until the programs are loaded. */
	rc = open_skeleton(b, opts, chunk_fd, err);
	close(chunk_fd);
	if (rc)
		goto fail;
	rc = open_maps(b, opts, nr_groups, err);
	if (rc)
		goto fail;
	rc = runq_bpf__attach(b->skel);
	if (rc) {
		sys_bpf_fail(err, rc, "cannot attach the runq programs");
		goto fail;
	}
	*ret_kernel = b;
	return 0;
fail:
	runq_kernel_close(b);
	return rc;
}

void runq_kernel_close(struct runq_kernel *b)
{
	ring_buffer__free(b->ring);
	/* Programs first: nothing may look at a slot that is being unmapped. */
	runq_bpf__destroy(b->skel);
	runq_slots_close(&b->slots);
	if (b->cpu)
		munmap(b->cpu, b->cpu_len);
	free(b->rows);
	free(b->rows_prev);
	free(b);
}

int runq_kernel_fd(const struct runq_kernel *b)
{
	return ring_buffer__epoll_fd(b->ring);
}

int runq_kernel_events(struct runq_kernel *b, void (*fn)(const struct runq_event *, void *),
		       void *arg, struct err *err)
{
	int rc;

	b->fn = fn;
	b->arg = arg;
	b->taken = 0;
	rc = ring_buffer__consume(b->ring);
	if (rc < 0)
		return sys_bpf_fail(err, rc, "cannot read the ring of events");
	rc = runq_slots_refill(&b->slots, b->taken, err);
	return rc ? rc : runq_slots_scan(&b->slots, false, err);
}

int runq_kernel_window(struct runq_kernel *b, const struct runq_waits_list **ret_list,
		       struct err *err)
{
	int rc = runq_slots_window(&b->slots, err);

	if (rc)
		return rc;
	*ret_list = &b->slots.waits;
	return 0;
}

static bool is_retired(const struct runq_slots *slots, uint64_t key)
{
	for (size_t i = 0; i < slots->nr_retired; i++)
		if (slots->retired[i] == key)
			return true;
	return false;
}

static int read_rows(int fd, struct runq_row *rows, size_t *ret_nr)
{
	struct runq_pair *prev = NULL, pair;
	size_t nr = 0;

	while (nr < RUNQ_NR_BLAME && !bpf_map_get_next_key(fd, prev, &pair)) {
		rows[nr].pair = pair;
		if (!bpf_map_lookup_elem(fd, &pair, &rows[nr].charge))
			nr++;
		/* The key of the row that stands: a failed look-up left the one before. */
		if (!nr)
			return 0;
		prev = &rows[nr - 1].pair;
	}
	*ret_nr = nr;
	return 0;
}

int runq_kernel_blame(struct runq_kernel *b, struct runq_row **ret_rows, size_t *ret_nr,
		      struct err *err)
{
	int fd = bpf_map__fd(b->skel->maps.blame);
	struct runq_row *now;
	size_t nr = 0, nr_kept;

	if (!b->rows) {
		b->rows = calloc(RUNQ_NR_BLAME, sizeof(*b->rows));
		b->rows_prev = calloc(RUNQ_NR_BLAME, sizeof(*b->rows_prev));
	}
	now = calloc(RUNQ_NR_BLAME, sizeof(*now));
	if (!b->rows || !b->rows_prev || !now) {
		free(now);
		return err_set(err, -ENOMEM, "out of memory");
	}
	read_rows(fd, now, &nr);
	runq_rows_sort(now, nr);
	memcpy(b->rows, now, nr * sizeof(*now));
	*ret_nr = runq_rows_sub(b->rows, nr, b->rows_prev, b->nr_rows_prev);
	*ret_rows = b->rows;
	/* Whoever has ended adds nothing more; without this the table would fill with the dead. */
	nr_kept = 0;
	for (size_t i = 0; i < nr; i++) {
		if (is_retired(&b->slots, now[i].pair.victim) ||
		    is_retired(&b->slots, now[i].pair.culprit))
			bpf_map_delete_elem(fd, &now[i].pair);
		else
			b->rows_prev[nr_kept++] = now[i];
	}
	b->nr_rows_prev = nr_kept;
	b->slots.nr_retired = 0;
	free(now);
	return 0;
}

/* Walks all tasks; the program adds up. */
static uint64_t run_delays(struct runq_kernel *b)
{
	int fd = b->skel->links.runq_delays
			 ? bpf_iter_create(bpf_link__fd(b->skel->links.runq_delays))
			 : -1;
	char none[64];

	if (fd < 0)
		return 0;
	b->skel->bss->delay_live_ns = 0;
	while (read(fd, none, sizeof(none)) > 0)
		;
	close(fd);
	return b->skel->bss->delay_live_ns + *(volatile uint64_t *)&b->skel->bss->delay_exited_ns;
}

static uint64_t wait_sum(const struct runq_kernel *b)
{
	uint64_t sum = 0;

	for (unsigned int cpu = 0; cpu < b->nr_cpus; cpu++)
		sum += *(volatile uint64_t *)&b->cpu[cpu].wait_ns;
	return sum;
}

/*
 * Our sum and the kernel's at the same moment, as near as can be: where much was waited while
 * the tasks were walked, such as when we lost the core, the walk is taken again.
 */
static void sums_together(struct runq_kernel *b, struct runq_losses *sum)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 5 && least > 1000000; i++) {
		uint64_t before = wait_sum(b), delay = run_delays(b), after = wait_sum(b);

		if (after - before >= least)
			continue;
		least = after - before;
		sum->delay_ns = delay;
		sum->wait_ns = before + least / 2;
	}
}

void runq_kernel_losses(struct runq_kernel *b, struct runq_losses *ret_losses)
{
	struct runq_losses sum = {0};

	sums_together(b, &sum);
	for (unsigned int cpu = 0; cpu < b->nr_cpus; cpu++) {
		const volatile struct runq_cpu *pc = &b->cpu[cpu];

		sum.unknown_start += pc->unknown_start;
		sum.negative += pc->negative;
		sum.table_full += pc->table_full;
		sum.events_lost += pc->events_lost;
		sum.blame_full += pc->blame_full;
		sum.waits += pc->switches;
		sum.unbooked_ns += pc->unbooked_ns;
	}
	sum.recursion_misses = sys_bpf_recursion_misses(b->skel->obj);
	*ret_losses = sum;
}

struct runq_party runq_kernel_party(const struct runq_kernel *b, uint64_t key)
{
	return runq_party_of(key, key < RUNQ_KEY_OTHER ? runq_slots_find(&b->slots, key) : NULL);
}

uint64_t runq_kernel_memory(const struct runq_kernel *b)
{
	uint64_t bytes = (uint64_t)b->slots.nr_chunks * RUNQ_CHUNK * b->slots.slot_size;
	const struct bpf_map *map;

	bytes += b->nr_cpus * sizeof(struct runq_cpu) +
		 (RUNQ_NR_TASKS + bpf_map__max_entries(b->skel->maps.stamps) + RUNQ_NR_EXITS) *
			 sizeof(uint64_t);
	bytes += RUNQ_NR_CHUNKS * sizeof(void *);
	bpf_object__for_each_map(map, b->skel->obj)
	{
		uint64_t entries = bpf_map__max_entries(map);

		if (bpf_map__type(map) == BPF_MAP_TYPE_HASH)
			bytes += entries * (HASH_ELEM_BYTES + 16 + bpf_map__key_size(map) +
					    bpf_map__value_size(map));
		if (bpf_map__type(map) == BPF_MAP_TYPE_QUEUE)
			bytes += entries * bpf_map__value_size(map);
		if (bpf_map__type(map) == BPF_MAP_TYPE_RINGBUF)
			bytes += entries;
	}
	return bytes;
}
