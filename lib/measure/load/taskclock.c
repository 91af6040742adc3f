/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Source taskclock: sums the time from switch-in to switch-out of tasks, with interrupts. */
#include "measure/load/sources.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/libbpf.h>

#include "abi/taskclock.h"
#include "base/clock.h"
#include "host/bpf.h"
#include "host/cpu.h"
#include "host/kbtf.h"
#include "taskclock.skel.h"

#define SLOT_TRIES 1000

/*
 * Source taskclock uses BPF programs, because perf's event task-clock counts wall time if it is
 * opened for a CPU.
 */
struct taskclock_source {
	struct load_source source;
	struct taskclock_bpf *skel;
	struct cpu_online online;
	const struct taskclock_slot *slots;
	/* array of slots that the BPF programs update, mapped into memory */
	struct sys_bpf_view view;
	uint64_t torn;
};

static struct taskclock_source *to_taskclock(struct load_source *source)
{
	return (struct taskclock_source *)source;
}

static void taskclock_close(struct load_source *source)
{
	struct taskclock_source *t = to_taskclock(source);

	sys_bpf_views_close(&t->view, 1);
	taskclock_bpf__destroy(t->skel);
	cpu_online_close(&t->online);
	free(t);
}

static int taskclock_open(struct load_source *source, const struct load_source_opts *opts,
			  struct err *err)
{
	struct taskclock_source *t = to_taskclock(source);
	bool state_first;
	int rc = cpu_online_open(&t->online, NULL, err) ?: kbtf_need(NULL, 0, &state_first, err);

	if (rc)
		return rc;
	sys_bpf_log_begin();
	t->skel = taskclock_bpf__open();
	if (!t->skel)
		return sys_bpf_fail(err, -errno, "cannot open the task clock program");
	t->skel->rodata->switch_state_first = state_first;
	bpf_map__set_max_entries(t->skel->maps.slots, t->source.nr_cpus);
	t->view.map = t->skel->maps.slots;
	rc = sys_bpf_check(err, taskclock_bpf__load(t->skel) ?: taskclock_bpf__attach(t->skel),
			   "cannot load the task clock program")
		     ?: sys_bpf_views_open(&t->view, 1, err);
	if (rc)
		return rc;
	t->slots = t->view.pages;
	t->skel->bss->start_ns = clock_mono_ns();
	return 0;
}

static bool slot_read(const volatile struct taskclock_slot *slot, uint64_t now,
		      struct load_sample *s)
{
	for (int try = 0; try < SLOT_TRIES; try++) {
		uint64_t state = slot->state, task = slot->task_ns;

		if (task + slot->idle_ns != state >> 1)
			continue;
		if (now < state >> 1)
			now = state >> 1;
		s->busy = task + (state & 1 ? now - (state >> 1) : 0);
		s->total = s->stamp_ns = now;
		return true;
	}
	return false;
}

static void taskclock_sample(struct load_source *source, struct load_sample *samples)
{
	struct taskclock_source *t = to_taskclock(source);
	uint64_t start = t->skel->bss->start_ns, now;

	cpu_online_read(&t->online);
	now = clock_mono_ns() - start;
	for (unsigned int cpu = 0; cpu < source->nr_cpus; cpu++) {
		struct load_sample *s = &samples[cpu];

		*s = (struct load_sample){.stamp_ns = now};
		if (!cpuset_has(&t->online.set, cpu)) {
			s->flags = LOAD_OFFLINE;
		} else if (!slot_read(&t->slots[cpu], now, s)) {
			s->flags = LOAD_TORN;
			t->torn++;
		}
		s->stamp_ns += start;
	}
}

static void taskclock_losses(struct load_source *source, struct load_losses *losses)
{
	struct taskclock_source *t = to_taskclock(source);

	losses->torn = t->torn;
	losses->recursion_misses = sys_bpf_recursion_misses(t->skel->obj);
}

const struct load_source_ops load_source_taskclock = {
	.name = "taskclock",
	.what = "time tasks were switched in over wall time (BPF); does not see softirqs on idle",
	.size = sizeof(struct taskclock_source),
	.open = taskclock_open,
	.sample = taskclock_sample,
	.losses = taskclock_losses,
	.close = taskclock_close,
};
