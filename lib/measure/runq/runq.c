/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measurement of `subtick runq`: chooses the source and the cgroup hierarchy, ends windows, and
 * reports long waits.
 */
#include "measure/runq/runq.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "measure/load/load.h"
#include "measure/load/steal.h"
#include "measure/runq/avoidable.h"
#include "measure/runq/chunks.h"
#include "measure/runq/filter.h"
#include "measure/runq/idle.h"
#include "measure/runq/kernel.h"
#include "measure/runq/pressure.h"
#include "measure/runq/rollup.h"
#include "pods/pods.h"
#include "host/cgroup.h"
#include "host/cpu.h"
#include "host/kbtf.h"

struct runq_meter {
	struct meter meter;
	struct runq_opts opts;
	struct cgroup_layout layout;
	struct runq_filter filter;
	struct runq_rollup rollup; /* sums of groups; unused with ROLLUP_NONE */
	struct pods *pods;     /* names of pods; NULL unless rows are cgroups or tasks */
	struct runq_kernel *kernel;
	/* counters of waits for idle CPUs; NULL unless idle states were requested */
	struct runq_idle *idle;
	struct runq_avoidable *avoidable; /* counters of avoidable waits; NULL unless requested */
	/* counters of pressure; NULL unless pressure was requested */
	struct runq_pressures *pressures;
	/* reason why source sched_info is unavailable; code 0 if available */
	struct err sched_info_err;
	bool throttled_known; /* true if the kernel accounts throttled time of groups */
	bool has_sched_ext;   /* true if the kernel supports sched_ext */
	/* sample ratio of the current window, and of later windows (0: unchanged) */
	double sample_ratio, next_ratio;
	uint64_t start_ns;
	struct runq_losses was;
	struct blocks memory;
	struct steal steal;
	struct runq_window window;
};

static struct runq_meter *to_runq(struct meter *meter)
{
	return (struct runq_meter *)meter;
}

/* Replaces AUTO by the cgroup hierarchy that has the controller cpu. */
static int pick_hierarchy(struct runq_meter *m, struct err *err)
{
	bool v1 = m->layout.v1_cpu[0], v2 = m->layout.v2[0];

	if (m->opts.hierarchy == RUNQ_HIERARCHY_V1 && !v1)
		return err_unsupported(err, -ENOENT, "use --hierarchy v2",
				       "no cgroup v1 hierarchy with controller cpu is mounted");
	if (m->opts.hierarchy == RUNQ_HIERARCHY_V2 && !v2)
		return err_unsupported(err, -ENOENT, "use --hierarchy v1",
				       "no cgroup v2 hierarchy is mounted");
	if (m->opts.hierarchy != RUNQ_HIERARCHY_AUTO)
		return 0;
	m->opts.hierarchy = cgroup_cpu_is_v1(&m->layout) ? RUNQ_HIERARCHY_V1 : RUNQ_HIERARCHY_V2;
	return 0;
}

static const char *mount_point(const struct runq_meter *m)
{
	return m->opts.hierarchy == RUNQ_HIERARCHY_V2 ? m->layout.v2 : m->layout.v1_cpu;
}

/* Returns the mount point of cgroups that have PSI, or NULL. Cgroups of v1 never have PSI. */
static const char *psi_mount(const struct runq_meter *m)
{
	return m->opts.hierarchy == RUNQ_HIERARCHY_V2 && !m->opts.psi_node_only ? m->layout.v2 : NULL;
}

/* Returns the number of groups for which slots are allocated at the start. */
static size_t expected_groups(const struct runq_meter *m)
{
	const char *mount = mount_point(m);

	if (m->opts.reserve)
		return runq_opts_reserve(&m->opts, mount[0] ? cgroup_count(mount) : 0);
	if (m->opts.per == RUNQ_PER_CGROUP)
		return mount[0] ? cgroup_count(mount) : 1;
	return m->opts.per == RUNQ_PER_CPU ? sysconf(_SC_NPROCESSORS_CONF) : 512;
}

/* Checks that the kernel has the struct fields for source sched_info. */
static int check_sched_info(const struct btf *btf, struct err *err)
{
	if (!kbtf_has_member(btf, "task_struct", "sched_info") ||
	    !kbtf_has_member(btf, "sched_info", "last_queued"))
		return err_unsupported(
			err, -EOPNOTSUPP,
			"use a kernel with CONFIG_SCHED_INFO "
			"(CONFIG_SCHEDSTATS or CONFIG_TASK_DELAY_ACCT)",
			"the kernel does not record when tasks were queued (sched_info)");
	if (!kbtf_has_member(btf, "sched_entity", "cfs_rq") ||
	    !kbtf_has_member(btf, "rq", "clock"))
		return err_unsupported(
			err, -EOPNOTSUPP, "use a kernel with CONFIG_FAIR_GROUP_SCHED",
			"BPF programs cannot read the clock of a task's run queue in this kernel");
	return 0;
}

/* True if the kernel accounts the throttled time of a group on each CPU. */
static bool reports_throttled(const struct btf *btf)
{
	return kbtf_has_member(btf, "cfs_rq", "throttled_clock_self_time") ||
	       kbtf_has_member(btf, "cfs_rq", "throttled_clock_pelt_time") ||
	       kbtf_has_member(btf, "cfs_rq", "throttled_clock_task_time");
}

/*
 * True if the kernel fills sched_info, which may need the boot option delayacct before Linux 5.14.
 * Without sched_info the start of every wait is unknown, so the function sleeps to cause waits and
 * checks whether their start is known.
 */
static bool sched_info_filled(struct runq_meter *m)
{
	struct timespec pause = clock_timespec(NSEC_PER_MSEC);
	struct runq_losses losses;

	for (int i = 0; i < 20; i++) {
		nanosleep(&pause, NULL);
		runq_kernel_losses(m->kernel, &losses);
		if (losses.waits)
			return true;
	}
	/* without waits the CPUs are probably idle: assume that the kernel fills sched_info */
	return !losses.unknown_start;
}

static int open_kernel(struct runq_meter *m, struct err *err)
{
	return runq_kernel_open(&m->opts, &m->filter, expected_groups(m), &m->kernel, err);
}

static int pick_source(struct runq_meter *m, struct err *err)
{
	bool automatic = m->opts.source == RUNQ_SOURCE_AUTO;
	struct btf *btf;
	int rc = kbtf_open(NULL, &btf, err);

	if (rc)
		return rc;
	/*
	 * The throttled time of a core or a task name is unknown, because its tasks are in several
	 * cgroups.
	 */
	m->throttled_known = reports_throttled(btf) && m->opts.per != RUNQ_PER_CPU &&
			     m->opts.per != RUNQ_PER_COMM;
	if (m->opts.source != RUNQ_SOURCE_WAKEUP) {
		rc = check_sched_info(btf, &m->sched_info_err);
		m->opts.source = rc ? RUNQ_SOURCE_WAKEUP : RUNQ_SOURCE_SCHED_INFO;
	}
	kbtf_close(btf);
	if (!rc || automatic) {
		rc = open_kernel(m, err);
		if (rc || m->opts.source == RUNQ_SOURCE_WAKEUP || sched_info_filled(m))
			return rc;
		runq_kernel_close(m->kernel);
		m->kernel = NULL;
		rc = err_unsupported(&m->sched_info_err, -EOPNOTSUPP,
				     "boot with delayacct, or use Linux 5.14 or later",
				     "the kernel does not fill sched_info");
	}
	if (!automatic) {
		*err = m->sched_info_err;
		return rc;
	}
	m->opts.source = RUNQ_SOURCE_WAKEUP;
	return open_kernel(m, err);
}

static void window_init(struct runq_meter *m)
{
	uint32_t causes = m->opts.causes ? (1u << RUNQ_NR_CAUSES) - 1 : 0;

	m->sample_ratio = m->opts.sample_ratio > 0.0 ? m->opts.sample_ratio : 1.0;
	m->window = (struct runq_window){
		.per = m->opts.sum == ROLLUP_COMM ? RUNQ_PER_COMM : m->opts.per,
		.sum = m->opts.sum,
		.source = m->opts.source,
		.sched_info_err = m->sched_info_err.code ? &m->sched_info_err : NULL,
		.separate_err = runq_kernel_separate(m->kernel),
		.hierarchy = m->opts.hierarchy,
		.sample_ratio = m->sample_ratio,
		.le_ns = m->opts.le_ns,
		.nr_le = m->opts.nr_le,
		.percentiles = m->opts.percentiles,
		.nr_percentiles = m->opts.nr_percentiles,
		.steps_only = m->opts.steps_only,
		.filtered = runq_opts_filter(&m->opts),
		.causes_known = m->throttled_known ? causes : causes & ~(1u << RUNQ_THROTTLED),
		.has_causes = m->opts.causes,
		.has_blame = m->opts.blame,
		.has_idle_states = m->opts.idle_states,
		.has_avoidable = m->opts.avoidable,
		.has_pressure = m->opts.pressure,
		.has_names = pods_present(m->pods) || m->opts.sum == ROLLUP_POD ||
			     m->opts.sum == ROLLUP_VM || m->opts.sum == ROLLUP_VCPU,
		.schedstat_ratio = NAN,
		.missing_from_run_delay_ratio = NAN,
		.limit_percent = m->opts.fail_percent,
		.limit_ns = m->opts.fail_ns,
	};
}

static int window_pressure(struct runq_meter *m, struct err *err)
{
	static const struct runq_filter all;

	if (!m->pressures)
		return 0;
	return runq_window_pressure(&m->window, m->pressures, m->kernel,
				    m->opts.fold_excluded ? &all : &m->filter, m->pods, err);
}

/* Discards all waits and times that were measured before the first window. */
static int runq_start(struct meter *meter, struct err *err)
{
	struct runq_meter *m = to_runq(meter);
	struct runq_waits_list *list;
	struct runq_row *rows;
	size_t nr;
	int rc = runq_kernel_window(m->kernel, &list, err);

	if (!rc && m->opts.blame)
		rc = runq_kernel_blame(m->kernel, &rows, &nr, err);
	if (!rc && m->idle)
		rc = runq_window_idle(&m->window, m->idle, m->kernel, &m->filter, NULL, err);
	if (!rc && m->avoidable)
		rc = runq_avoidable_start(m->avoidable, err);
	if (!rc && m->pressures) {
		rc = window_pressure(m, err);
		runq_pressures_drop(m->pressures);
	}
	runq_window_clear(&m->window);
	runq_kernel_losses(m->kernel, &m->was);
	m->has_sched_ext = !sched_ext_read(NULL, &m->window.scheduler);
	steal_sample(&m->steal, NULL);
	m->start_ns = clock_mono_ns();
	return rc;
}

uint64_t runq_memory_bytes(size_t groups, unsigned int cpus, bool fine)
{
	struct runq_shape shape = {.stripes = runq_stripes(cpus), .cpus = cpus, .steps = !fine};
	struct runq_sizes sizes = {
		.nr_slots = runq_slots_for(&shape, groups, true), .fixed = true, .blame = true};

	return runq_memory(&shape, &sizes);
}

const struct runq_window *runq_window(const struct meter *meter)
{
	return &((const struct runq_meter *)meter)->window;
}

static void window_ratios(struct runq_meter *m)
{
	struct runq_window *w = &m->window;

	/* run_delay includes all waits, so the ratios are unknown if only some waits are counted */
	w->schedstat_ratio =
		cpuset_count(&m->opts.cpus) || m->opts.sample_ratio > 0.0 || w->filtered
			? NAN
			: runq_schedstat_ratio(&m->was, &w->losses);
	w->missing_from_run_delay_ratio = w->losses.delay_ns && !w->filtered && m->opts.sample_ratio <= 0.0
				    ? runq_missing_ratio(&m->was, &w->losses)
				    : NAN;
}

static void window_losses(struct runq_meter *m)
{
	struct runq_window *w = &m->window;

	runq_kernel_losses(m->kernel, &w->losses);
	/* compute new ratios only after a new comparison of the wait time with run_delay */
	if (w->losses.compared_ns != m->was.compared_ns)
		window_ratios(m);
	w->avoidable_lost = m->avoidable ? runq_avoidable_lost(m->avoidable) : 0;
	w->kernel_bytes = runq_kernel_memory(m->kernel);
	m->was = w->losses;
}

static void window_scheduler(struct runq_meter *m)
{
	struct sched_ext *ext = &m->window.scheduler, was = *ext;

	if (!m->has_sched_ext || sched_ext_read(NULL, ext))
		return;
	m->window.scheduler_changed =
		ext->enabled_total != was.enabled_total || strcmp(ext->name, was.name);
}

static int open_steal(struct runq_meter *m, struct err *err)
{
	unsigned int nr_cpus;
	int rc = cpu_nr(&nr_cpus, err);

	if (rc)
		return rc;
	steal_open(&m->steal, &m->memory, nr_cpus);
	return m->memory.failed ? err_set(err, -ENOMEM, "out of memory") : 0;
}

static uint64_t window_steal(struct runq_meter *m)
{
	bool all = !cpuset_count(&m->opts.cpus);
	uint64_t sum = 0;

	steal_sample(&m->steal, NULL);
	if (!m->steal.known)
		return UINT64_MAX;
	for (unsigned int cpu = 0; cpu < m->steal.nr_cpus; cpu++)
		if (all || cpuset_has(&m->opts.cpus, cpu))
			sum += m->steal.ns[cpu];
	return sum;
}

static struct runq_rollup *rollup_of(struct runq_meter *m)
{
	return m->opts.sum == ROLLUP_NONE ? NULL : &m->rollup;
}

static int window_rollup(struct runq_meter *m, const struct runq_waits_list *list, struct err *err)
{
	struct runq_group *const *groups;
	size_t nr;

	if (!rollup_of(m))
		return 0;
	groups = runq_kernel_groups(m->kernel, &nr);
	return runq_rollup_window(&m->rollup, list, groups, nr, err);
}

static int window_core_pairs(struct runq_meter *m, struct err *err)
{
	const struct load_window *load;

	if (!m->opts.core_pairs)
		return 0;
	load = load_window(m->opts.load);
	return runq_window_core_pairs(&m->window, load->pairs, load->pairs ? load->nr_pairs : 0,
				      m->kernel, &m->filter, rollup_of(m), &m->opts, err);
}

void runq_set_sample(struct meter *meter, double ratio)
{
	to_runq(meter)->next_ratio = ratio;
}

static int runq_read(struct meter *meter, struct err *err)
{
	struct runq_meter *m = to_runq(meter);
	struct runq_rollup *rollup = rollup_of(m);
	struct runq_window *w = &m->window;
	struct runq_waits_list *list;
	uint64_t end_ns;
	int rc;

	/* clear the window first: its rows point to memory that runq_kernel_window() frees */
	runq_window_clear(w);
	w->sample_ratio = m->sample_ratio;
	rc = runq_kernel_window(m->kernel, &list, err);
	if (!rc && m->avoidable)
		rc = runq_avoidable_window(m->avoidable, list, err);
	if (rc)
		return rc;
	end_ns = clock_mono_ns();
	w->steal_ns = window_steal(m);
	if (m->next_ratio > 0.0) {
		runq_kernel_sample(m->kernel, m->next_ratio);
		m->sample_ratio = m->next_ratio;
		m->next_ratio = 0.0;
	}
	w->time_unix_ns = clock_unix_ns();
	w->time_mono_ns = end_ns;
	/* the window must not include the time for reading names */
	pods_refresh(m->pods);
	runq_kernel_name_groups(m->kernel, m->pods);
	rc = window_rollup(m, list, err) ?: runq_window_groups(w, list, &m->filter, rollup, err);
	if (!rc && w->has_blame)
		rc = runq_window_blame(w, m->kernel, &m->filter, rollup, &m->opts, err);
	rc = rc ?: window_core_pairs(m, err);
	if (!rc && m->idle)
		rc = runq_window_idle(w, m->idle, m->kernel, &m->filter, rollup, err);
	rc = rc ?: window_pressure(m, err);
	if (rc)
		return rc;
	window_losses(m);
	window_scheduler(m);
	w->window_ns = end_ns - m->start_ns;
	m->start_ns = end_ns;
	return 0;
}

static int runq_event_fd(const struct meter *meter)
{
	return runq_kernel_fd(((const struct runq_meter *)meter)->kernel);
}

static struct runq_long_wait long_wait_of(const struct runq_meter *m, const struct runq_event *event)
{
	struct runq_long_wait wait = {
		.cpu = event->cpu,
		.pid = event->pid,
		.tgid = event->tgid,
		.prev_pid = event->prev_pid,
		.victim = runq_kernel_party(m->kernel, event->key),
		.wait_ns = event->wait_ns,
		.end_ns = event->time_ns,
		/* a wait that began before the first recorded switch of its CPU has no culprit */
		.culprit = runq_kernel_party(m->kernel, event->culprit ?: RUNQ_KEY_UNKNOWN),
		.culprit_ns = event->culprit ? event->culprit_ns : 0,
	};

	memcpy(wait.comm, event->comm, sizeof(event->comm));
	memcpy(wait.prev_comm, event->prev_comm, sizeof(event->prev_comm));
	return wait;
}

static bool is_unknown(const struct runq_meter *m, uint64_t key)
{
	return key && runq_kernel_party(m->kernel, key).kind == RUNQ_PARTY_GONE;
}

/*
 * Scans all slots immediately if an event has an unknown group, instead of waiting for the next
 * scan, which runs every 50 ms.
 */
static int find_parties(struct runq_meter *m, const struct runq_event *events, size_t nr,
			struct err *err)
{
	array_for_each(event, events, nr)
		if (is_unknown(m, event->key) || is_unknown(m, event->culprit))
			return runq_kernel_find_groups(m->kernel, err);
	return 0;
}

static int runq_event(struct meter *meter, struct err *err)
{
	struct runq_meter *m = to_runq(meter);
	struct runq_window *w = &m->window;
	const struct runq_event *events;
	size_t nr;
	int rc = runq_kernel_events(m->kernel, &events, &nr, err);

	w->nr_long_waits = 0;
	if (!rc)
		rc = find_parties(m, events, nr, err);
	if (rc)
		return rc;
	array_for_each(event, events, nr) {
		struct runq_long_wait wait = long_wait_of(m, event);

		if (!runq_filter_passes_party(&m->filter, &wait.victim))
			continue;
		wait.victim = runq_rollup_party(rollup_of(m), &wait.victim);
		wait.culprit = runq_rollup_party(rollup_of(m), &wait.culprit);
		if (array_push(w->long_waits, w->nr_long_waits, wait))
			return err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

static void runq_close(struct meter *meter)
{
	struct runq_meter *m = to_runq(meter);

	runq_window_clear(&m->window);
	runq_idle_close(m->idle);
	runq_avoidable_close(m->avoidable);
	runq_pressures_close(m->pressures);
	if (m->kernel)
		runq_kernel_close(m->kernel);
	runq_rollup_close(&m->rollup);
	pods_close(m->pods);
	runq_filter_close(&m->filter);
	steal_close(&m->steal);
	blocks_free(&m->memory);
	free(m->window.long_waits);
	free(m);
}

static const struct meter_ops runq_meter_ops = {
	.start = runq_start,
	.read = runq_read,
	.event_fd = runq_event_fd,
	.event = runq_event,
	.close = runq_close,
};

int runq_open(const struct runq_opts *opts, struct meter **ret_meter, struct err *err)
{
	struct runq_meter *m = calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return err_set(err, -ENOMEM, "out of memory");
	m->meter.ops = &runq_meter_ops;
	m->opts = *opts;
	runq_opts_defaults(&m->opts);
	rc = cgroup_layout(NULL, &m->layout);
	if (rc)
		err_set(err, rc, "cannot find where cgroups are mounted: %s", strerror(-rc));
	m->filter.rules = m->opts.rules;
	rc = rc ?: pick_hierarchy(m, err)
		?: runq_filter_open(&m->filter, mount_point(m), m->opts.cgroups,
				    m->opts.nr_cgroups, err)
		?: pick_source(m, err);
	if (!rc && m->opts.per != RUNQ_PER_COMM && m->opts.per != RUNQ_PER_CPU) {
		rc = pods_open(NULL, m->opts.names_channel ? m->opts.names_channel : -1, &m->pods);
		if (rc)
			err_set(err, rc, "out of memory");
	}
	if (!rc && !m->opts.load)
		rc = open_steal(m, err);
	if (!rc && m->opts.idle_states)
		rc = runq_idle_open(&m->opts, &m->idle, err);
	if (!rc && m->opts.avoidable)
		rc = runq_avoidable_open(&m->opts, &m->avoidable, err);
	if (!rc && m->opts.pressure)
		rc = runq_pressures_open(&m->opts, psi_mount(m), &m->pressures, err);
	if (rc) {
		runq_close(&m->meter);
		return rc;
	}
	window_init(m);
	m->rollup = (struct runq_rollup){
		.what = m->opts.sum, .depth = m->opts.depth, .filter = &m->filter, .pods = m->pods};
	if (m->opts.sample_ratio > 0.0)
		runq_kernel_sample(m->kernel, m->opts.sample_ratio);
	*ret_meter = &m->meter;
	return 0;
}
