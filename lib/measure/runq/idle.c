/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loads the BPF programs that count waits for idle CPUs, reads their table, and adds the names of
 * groups and idle states.
 */
#include "measure/runq/idle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/array.h"
#include "runq_idle.skel.h"
#include "host/bpf.h"
#include "host/cpu.h"
#include "host/cpuidle.h"
#include "host/kbtf.h"

struct runq_idle {
	struct runq_idle_bpf *skel;
	struct sys_bpf_view view;
	struct runq_idle_cpu *cpus;
	unsigned int nr_cpus;
	/* the BPF wait table, and the table at the end of the last window */
	struct runq_idle_row now[RUNQ_IDLE_NR], last[RUNQ_IDLE_NR];
	size_t nr_last;
	struct runq_idle_row rows[RUNQ_IDLE_NR]; /* waits of the window */
	struct cpuidle_state states[CPUIDLE_MAX_STATES];
	int nr_states;
};

static int by_key(const void *a, const void *b)
{
	const struct runq_idle_key *x = a, *y = b;

	return CMP(x->group, y->group) ?: CMP(x->state, y->state);
}

size_t runq_idle_since(struct runq_idle_row *now, size_t nr_now, const struct runq_idle_row *before,
		       size_t nr_before, struct runq_idle_row *ret_rows)
{
	size_t nr = 0;

	qsort(now, nr_now, sizeof(*now), by_key);
	array_for_each(row, now, nr_now) {
		const struct runq_idle_row *was =
			nr_before ? bsearch(&row->key, before, nr_before, sizeof(*before), by_key)
				  : NULL;

		ret_rows[nr] = *row;
		if (was) {
			ret_rows[nr].waits.count -= was->waits.count;
			ret_rows[nr].waits.wait_ns -= was->waits.wait_ns;
		}
		nr += ret_rows[nr].waits.count != 0;
	}
	return nr;
}

static int load(struct runq_idle *idle, const struct runq_opts *opts, struct err *err)
{
	static const char *const needed[] = {"cpu_idle", "sched_waking", "sched_wakeup_new",
					     "sched_switch"};
	static const char failed[] = "cannot load the programs for idle states";
	bool state_first;
	int rc = kbtf_need(needed, ARRAY_SIZE(needed), &state_first, err);

	if (rc)
		return rc;
	sys_bpf_log_begin();
	idle->skel = runq_idle_bpf__open();
	if (!idle->skel)
		return sys_bpf_fail(err, -errno, failed);
	idle->skel->rodata->cgroup_v2 = opts->hierarchy == RUNQ_HIERARCHY_V2;
	idle->skel->rodata->switch_state_first = state_first;
	bpf_map__set_max_entries(idle->skel->maps.idle_cpus, idle->nr_cpus);
	return sys_bpf_check(err, runq_idle_bpf__load(idle->skel), failed);
}

static int start(struct runq_idle *idle, const struct runq_opts *opts, struct err *err)
{
	int rc;

	idle->view = (struct sys_bpf_view){.map = idle->skel->maps.idle_cpus, .shared = true};
	rc = sys_bpf_views_open(&idle->view, 1, err);
	if (rc)
		return rc;
	idle->cpus = idle->view.pages;
	for (unsigned int cpu = 0; cpu < idle->nr_cpus && cpuset_count(&opts->cpus); cpu++)
		idle->cpus[cpu].unwanted = !cpuset_has(&opts->cpus, cpu);
	sys_bpf_log_begin();
	return sys_bpf_check(err, runq_idle_bpf__attach(idle->skel),
			     "cannot attach the programs for idle states");
}

int runq_idle_open(const struct runq_opts *opts, struct runq_idle **ret_idle, struct err *err)
{
	struct runq_idle *idle;
	struct cpuset online;
	unsigned int nr_cpus;
	int rc = cpu_nr(&nr_cpus, err) ?: cpu_set(NULL, CPU_ONLINE, &online, err);

	if (rc)
		return rc;
	idle = calloc(1, sizeof(*idle));
	if (!idle)
		return err_set(err, -ENOMEM, "out of memory");
	idle->nr_cpus = nr_cpus;
	/* read the names of idle states now, because the exporter later drops its access to /sys */
	idle->nr_states = cpuidle_states(NULL, cpuset_next(&online, 0), idle->states);
	rc = load(idle, opts, err) ?: start(idle, opts, err);
	if (rc)
		runq_idle_close(idle);
	else
		*ret_idle = idle;
	return rc;
}

/* Fills idle->rows with the waits since the last call, and sets *ret_nr to their number. */
static int rows_read(struct runq_idle *idle, size_t *ret_nr, struct err *err)
{
	int fd = bpf_map__fd(idle->skel->maps.idle_waits), rc;
	struct runq_idle_key *last = NULL, key;
	size_t nr = 0;

	while (nr < RUNQ_IDLE_NR && !(rc = bpf_map_get_next_key(fd, last, &key))) {
		idle->now[nr].key = key;
		if (!bpf_map_lookup_elem(fd, &key, &idle->now[nr].waits))
			nr++;
		last = &key;
	}
	/* rc is -ENOENT at the end of the table; any other rc is an error */
	if (nr < RUNQ_IDLE_NR && rc != -ENOENT)
		return sys_bpf_fail(err, rc, "cannot read the table of idle states");
	*ret_nr = runq_idle_since(idle->now, nr, idle->last, idle->nr_last, idle->rows);
	memcpy(idle->last, idle->now, nr * sizeof(*idle->now));
	idle->nr_last = nr;
	return 0;
}

static int by_party(const void *a, const void *b)
{
	const struct runq_idle_state *x = a, *y = b;
	uint64_t left = x->party.group ? x->party.group->key : 0;
	uint64_t right = y->party.group ? y->party.group->key : 0;

	return CMP(x->party.kind, y->party.kind) ?: CMP(left, right) ?: CMP(x->index, y->index);
}

static int states_by_wait(const void *a, const void *b)
{
	const struct runq_idle_state *x = a, *y = b;

	return CMP(y->wait_ns, x->wait_ns) ?: by_party(a, b);
}

static void add_state(void *to, const void *from)
{
	struct runq_idle_state *sum = to;
	const struct runq_idle_state *more = from;

	sum->count += more->count;
	sum->wait_ns += more->wait_ns;
}

int runq_window_idle(struct runq_window *w, struct runq_idle *idle,
		     const struct runq_kernel *kernel, const struct runq_filter *filter,
		     struct runq_rollup *rollup, struct err *err)
{
	size_t nr_rows = 0;
	int rc = rows_read(idle, &nr_rows, err);

	if (rc)
		return rc;
	w->idle_states = calloc(nr_rows + 1, sizeof(*w->idle_states));
	if (!w->idle_states)
		return err_set(err, -ENOMEM, "out of memory");
	array_for_each(row, idle->rows, nr_rows) {
		struct runq_idle_state *s = &w->idle_states[w->nr_idle_states];

		*s = (struct runq_idle_state){
			.party = runq_kernel_party(kernel, row->key.group),
			.index = row->key.state,
			.count = row->waits.count,
			.wait_ns = row->waits.wait_ns,
		};
		/* another CPU may have idle states that the first online CPU lacks */
		snprintf(s->name, sizeof(s->name), "%s",
			 cpuidle_state_name(idle->states, idle->nr_states, s->index));
		s->claimed_ns = cpuidle_state_latency(idle->states, idle->nr_states, s->index);
		w->nr_idle_states += runq_filter_passes_party(filter, &s->party);
		s->party = runq_rollup_party(rollup, &s->party);
	}
	if (rollup)
		w->nr_idle_states = array_merge(w->idle_states, w->nr_idle_states,
						sizeof(*w->idle_states), by_party, add_state);
	qsort(w->idle_states, w->nr_idle_states, sizeof(*w->idle_states), states_by_wait);
	w->idle_full = 0;
	array_for_each(cpu, idle->cpus, idle->nr_cpus)
		w->idle_full += *(volatile uint64_t *)&cpu->full;
	return 0;
}

void runq_idle_close(struct runq_idle *idle)
{
	if (!idle)
		return;
	sys_bpf_views_close(&idle->view, 1);
	runq_idle_bpf__destroy(idle->skel);
	free(idle);
}
