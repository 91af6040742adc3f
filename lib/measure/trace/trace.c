/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads the trace programs, reads their rings, and ends the recording. */
#include "measure/trace/trace.h"

#include <errno.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/array.h"
#include "base/clock.h"
#include "measure/trace/ring.h"
#include "stats/quantile.h"
#include "host/bpf.h"
#include "host/cgroup.h"
#include "host/cpu.h"
#include "host/cpuidle.h"
#include "host/file.h"
#include "host/kbtf.h"
#include "trace.skel.h"

/*
 * RINGS_BYTES is the default total size of the rings. RING_MIN and RING_MAX are limits of the
 * default number of records per ring. Loading retries with smaller rings down to RING_LEAST
 * records. KEEP_EDGES is the maximum number of kept records of all cores.
 */
#define RINGS_BYTES (64ULL << 20)
#define RING_MIN    1024
#define RING_MAX    65536
#define RING_LEAST  64
#define KEEP_EDGES  (4ULL << 20)
/*
 * TAKE_NS is the interval at which rings are read. A core writes at most 3 million records per
 * second, so a ring of 65,536 records cannot wrap around in less than 20 ms. LOOK_NS is the
 * interval at which user space checks whether the --on event has occurred. After the --on event,
 * the BPF programs stop writing records without help of user space.
 */
#define TAKE_NS	    (10 * NSEC_PER_MSEC)
#define LOOK_NS	    (100 * NSEC_PER_MSEC)
/* Time after which all running BPF programs have ended, even on a preempted virtual CPU. */
#define SETTLE_NS   (20 * NSEC_PER_MSEC)

/* Offset of the array of rings, which is the last member of the section .bss. */
#define RINGS_AT    offsetof(struct trace_bpf__bss, rings)
_Static_assert(offsetof(struct trace_bpf__bss, tasks) == 0, "the tasks come first");

struct trace {
	struct trace_opts opts;
	struct trace_bpf *skel;
	/* memory mapping of the BPF section with the tasks and the rings */
	struct sys_bpf_view view;
	struct trace_reader *readers;
	struct trace_window window;
	uint32_t ring_edges;
	/* end of the recording after the --on event, CLOCK_MONOTONIC; 0 before the event */
	uint64_t frozen_at;
	char cgroup[PATH_MAX]; /* path of opts.on_cgroup */
	struct percentile_watch watch;
};

/*
 * Returns the number of records per ring: the requested or default number, limited so that the
 * rings of all CPUs fit into the array of the BPF programs.
 */
static uint32_t ring_edges(const struct trace_opts *opts, size_t nr_cpus)
{
	uint64_t most = TRACE_MAX_EDGES / nr_cpus - TRACE_RING_EDGES;
	uint64_t share = RINGS_BYTES / sizeof(struct trace_edge) / nr_cpus;
	uint32_t edges;

	if (share < RING_MIN)
		share = RING_MIN;
	edges = roundup_pow_of_two(opts->ring_edges ?: share < RING_MAX ? share : RING_MAX);
	while (edges > most && edges > 1)
		edges /= 2;
	return edges;
}

/* Finds the cgroup whose waits are counted, in the hierarchy of controller cpu. */
static int find_group(struct trace *t, struct trace_setup *set, struct err *err)
{
	struct cgroup_layout layout;
	int rc = cgroup_layout(NULL, &layout);
	uint64_t id;

	if (rc)
		return err_set(err, rc, "cannot read the mounted cgroup hierarchies: %s",
			       strerror(-rc));
	t->watch.above_ppm = t->opts.above_ppm;
	set->group_v2 = !cgroup_cpu_is_v1(&layout);
	rc = cgroup_find(set->group_v2 ? layout.v2 : layout.v1_cpu, t->opts.on_cgroup, t->cgroup, &id,
			 err);
	set->on_group = rc ? 0 : id;
	return rc;
}

/*
 * Checks that the kernel has the tracepoint cpu_frequency and a cpufreq driver, because frequency
 * changes cannot be recorded otherwise.
 */
static int need_frequency(const struct trace *t, const struct btf *btf, struct err *err)
{
	static const char *const needed[] = {"cpu_frequency"};
	int rc = kbtf_need_tracepoints(btf, needed, 1, err);

	if (rc)
		return rc;
	cpuset_for_each(cpu, &t->window.cpus)
		if (sys_exists(NULL, SYS_PATH("/sys/devices/system/cpu/cpu%u/cpufreq", cpu)))
			return 0;
	return err_unsupported(err, -ENODEV, "leave out --frequency",
			       "the kernel does not set the frequency of these CPUs: they have no "
			       "cpufreq driver");
}

/*
 * Finds the address of the kernel's timer function for the tick: tick_sched_timer, or since Linux
 * 6.9 tick_nohz_handler.
 */
static int need_tick(const struct btf *btf, struct trace_setup *set, struct err *err)
{
	static const char *const needed[] = {"hrtimer_expire_entry"};
	static const char *const names[] = {"tick_sched_timer", "tick_nohz_handler", NULL};
	uint64_t address;
	int rc = kbtf_need_tracepoints(btf, needed, 1, err);

	if (rc)
		return rc;
	rc = kallsyms_find(NULL, names, &address);
	if (rc == -EPERM)
		return err_unsupported(err, rc, "sysctl kernel.kptr_restrict=1",
				       "the kernel hides the address of the tick's function");
	if (rc)
		return err_unsupported(err, rc, "leave out --tick",
				       "no tick handler found in /proc/kallsyms");
	set->tick_function = address;
	return 0;
}

/* True if the kernel has all struct fields that the fast path of the BPF programs reads. */
static bool has_all(const struct btf *btf)
{
	return kbtf_has_member(btf, "task_struct", "__state") &&
	       kbtf_has_member(btf, "thread_info", "cpu") && kbtf_has_member(btf, "sched_entity", "depth");
}

/* Enables the optional BPF programs that the command line options need. */
static int choose(struct trace *t, const struct btf *btf, struct err *err)
{
	struct trace_setup *set = &t->skel->rodata->setup;
	int rc = 0;

	t->window.has_frequency = t->opts.frequency;
	t->window.has_ticks = t->opts.tick;
	if (t->opts.frequency)
		rc = need_frequency(t, btf, err);
	if (!rc && t->opts.tick)
		rc = need_tick(btf, set, err);
	bpf_program__set_autoload(t->skel->progs.trace_frequency, t->opts.frequency);
	bpf_program__set_autoload(t->skel->progs.trace_tick, t->opts.tick);
	return rc;
}

static uint32_t ring_bytes(const struct trace *t)
{
	return (TRACE_RING_EDGES + t->ring_edges) * sizeof(struct trace_edge);
}

static uint64_t on_wait_ns(const struct trace *t)
{
	return t->opts.on && t->opts.on != TRACE_EVENT_NOISE ? t->opts.on_ns : 0;
}

static int open_filled(struct trace *t, const struct btf *btf)
{
	const int32_t values[] = {
		[TRACE_FILLED_RING_BYTES - TRACE_FILLED_FIRST] = ring_bytes(t),
		[TRACE_FILLED_RINGS_END - TRACE_FILLED_FIRST] =
			(t->window.nr_cpus - 1) * ring_bytes(t) + 1,
		[TRACE_FILLED_HEAD_MASK - TRACE_FILLED_FIRST] =
			(t->ring_edges - 1) * sizeof(struct trace_edge),
		[TRACE_FILLED_ANY - TRACE_FILLED_FIRST] =
			on_wait_ns(t) || kbtf_switch_state_first(btf) || !has_all(btf),
	};

	t->skel = calloc(1, sizeof(*t->skel));
	if (!t->skel)
		return -ENOMEM;
	return trace_bpf__create_skeleton(t->skel)
		       ?: sys_bpf_open_filled(t->skel->skeleton, TRACE_FILLED_FIRST, values,
					      ARRAY_SIZE(values));
}

static int set_up(struct trace *t, const struct btf *btf, struct err *err)
{
	struct trace_setup *set = &t->skel->rodata->setup;
	int rc;

	*set = (struct trace_setup){
		.state_first = kbtf_switch_state_first(btf),
		.head_mask = (t->ring_edges - 1) * sizeof(struct trace_edge),
		.ring_bytes = ring_bytes(t),
		.nr_cpus = t->window.nr_cpus,
		.bytes_after = t->ring_edges / 2 * sizeof(struct trace_edge),
		.on_wake_only = t->opts.on == TRACE_EVENT_WAKE,
		.on_noise_ns = t->opts.on == TRACE_EVENT_NOISE ? t->opts.on_ns : 0,
		.on_wait_ns = on_wait_ns(t),
		.some_cpus = cpuset_count(&t->opts.cpus) > 0,
	};
	cpuset_for_each(cpu, &t->opts.cpus)
		t->skel->data->wanted_cpus[cpu / 64] |= 1ULL << cpu % 64;
	t->window.kernel_bytes = RINGS_AT + (uint64_t)t->window.nr_cpus * set->ring_bytes;
	rc = sys_bpf_shrink(t->skel->maps.bss, t->window.kernel_bytes);
	if (rc)
		return sys_bpf_fail(err, rc, "cannot shrink the rings of the trace programs");
	return t->opts.on == TRACE_EVENT_PERCENTILE ? find_group(t, set, err) : 0;
}

static int load_with(struct trace *t, const struct btf *btf, struct err *err)
{
	int rc;

	sys_bpf_log_begin();
	rc = open_filled(t, btf);
	if (rc)
		return sys_bpf_fail(err, rc, "cannot open the trace programs");
	sys_bpf_autoload_present(t->skel->obj, btf);
	rc = set_up(t, btf, err) ?: choose(t, btf, err);
	if (rc)
		return rc;
	return sys_bpf_check(err, trace_bpf__load(t->skel), "cannot load the trace programs");
}

/* Retries with smaller rings, because older kernels such as 5.10 limit a BPF array to 4 MiB. */
static int load_programs(struct trace *t, struct err *err)
{
	static const char *const needed[] = {"cpu_idle", "sched_switch", "sched_wakeup",
					     "irq_handler_entry", "softirq_entry"};
	struct btf *btf;
	int rc = kbtf_open_with(needed, ARRAY_SIZE(needed), &btf, err);

	if (rc)
		return rc;
	t->ring_edges = ring_edges(&t->opts, t->window.nr_cpus);
	rc = load_with(t, btf, err);
	while (rc == -E2BIG && !t->opts.ring_edges && t->ring_edges > RING_LEAST) {
		trace_bpf__destroy(t->skel);
		t->ring_edges /= 2;
		*err = (struct err){0};
		rc = load_with(t, btf, err);
	}
	kbtf_close(btf);
	return rc;
}

static struct trace_ring *ring_of(const struct trace *t, size_t cpu)
{
	char *rings = (char *)t->view.pages + RINGS_AT;

	return (void *)(rings + cpu * t->skel->rodata->setup.ring_bytes);
}

static void set_stopped(const struct trace *t, bool stopped)
{
	for (size_t cpu = 0; cpu < t->window.nr_cpus; cpu++)
		__atomic_store_n(&ring_of(t, cpu)->stopped, stopped, __ATOMIC_RELEASE);
}

static int open_rings(struct trace *t, struct err *err)
{
	int rc;

	t->view.map = t->skel->maps.bss;
	t->view.shared = true;
	rc = sys_bpf_views_open(&t->view, 1, err);
	if (rc)
		return rc;
	for (size_t cpu = 0; cpu < t->window.nr_cpus; cpu++) {
		ring_of(t, cpu)->noise = t->opts.on == TRACE_EVENT_NOISE;
		ring_of(t, cpu)->unwanted = !cpuset_has(&t->window.cpus, cpu);
		t->readers[cpu] = (struct trace_reader){
			.ring = ring_of(t, cpu),
			.mask = t->ring_edges - 1,
			.max_edges = KEEP_EDGES / t->window.nr_cpus,
			.core.poll_states = cpuidle_poll_mask(NULL, cpu),
		};
	}
	set_stopped(t, true);
	return sys_bpf_check(err, trace_bpf__attach(t->skel), "cannot attach the trace programs");
}

int trace_open(const struct trace_opts *opts, struct trace **ret_trace, struct err *err)
{
	struct trace *t = calloc(1, sizeof(*t));
	struct cpuset possible;
	int rc;

	if (!t)
		return err_set(err, -ENOMEM, "out of memory");
	t->opts = *opts;
	rc = cpu_set(NULL, CPU_POSSIBLE, &possible, err);
	if (!rc) {
		t->window.nr_cpus = cpuset_end(&possible);
		t->window.cpus = cpuset_count(&opts->cpus) ? opts->cpus : possible;
		t->window.cpu = calloc(t->window.nr_cpus, sizeof(*t->window.cpu));
		t->readers = calloc(t->window.nr_cpus, sizeof(*t->readers));
		rc = t->window.cpu && t->readers ? load_programs(t, err) ?: open_rings(t, err)
						 : err_set(err, -ENOMEM, "out of memory");
	}
	if (rc)
		trace_close(t);
	else
		*ret_trace = t;
	return rc;
}

void trace_start(struct trace *t)
{
	/* start the rings before reading the start time: the readers discard older records */
	set_stopped(t, false);
	t->window.start_mono_ns = clock_mono_ns();
	for (size_t cpu = 0; cpu < t->window.nr_cpus; cpu++)
		t->readers[cpu].start_ns = t->window.start_mono_ns;
	sys_bpf_iterate(t->skel->links.trace_walk);
}

static int take(struct trace *t, bool last, struct err *err)
{
	int rc = 0;

	for (size_t cpu = 0; cpu < t->window.nr_cpus && !rc; cpu++)
		rc = trace_ring_take(&t->readers[cpu], last);
	return rc ? err_set(err, rc, "out of memory") : 0;
}

uint64_t trace_poll_ns(const struct trace_opts *opts)
{
	if (opts->on == TRACE_EVENT_PERCENTILE)
		return opts->over_ns / PERCENTILE_LOOKS;
	return opts->on ? LOOK_NS : TAKE_NS;
}

/*
 * Checks the percentile of --on pN. User space raises the --on event of a percentile, because the
 * percentile depends on the counters of all cores.
 */
static void watch_group(struct trace *t)
{
	struct percentile_look now = {.ns = clock_mono_ns() - t->window.start_mono_ns}, window;
	struct trace_window *w = &t->window;

	for (size_t cpu = 0; cpu < w->nr_cpus; cpu++) {
		const volatile struct trace_ring *ring = t->readers[cpu].ring;

		/*
		 * Read group_long before group_waits, so that the long waits cannot outnumber all
		 * waits: the programs write group_waits first.
		 */
		now.high += __atomic_load_n(&ring->group_long, __ATOMIC_ACQUIRE);
		now.values += __atomic_load_n(&ring->group_waits, __ATOMIC_ACQUIRE);
	}
	if (w->event || !percentile_watch_look(&t->watch, &now, &window))
		return;
	w->event = TRACE_EVENT_PERCENTILE;
	w->event_ns = now.ns;
	w->event_len_ns = t->opts.on_ns;
	w->event_cgroup = t->cgroup;
	w->event_waits = window.values;
	w->event_long = window.high;
	w->event_window_ns = window.ns;
	for (size_t cpu = 0; cpu < w->nr_cpus; cpu++)
		__atomic_store_n(&ring_of(t, cpu)->event, 1, __ATOMIC_RELAXED);
	t->skel->data->event_ns = w->start_mono_ns + now.ns;
}

int trace_poll(struct trace *t, bool *ret_done, struct err *err)
{
	const volatile struct trace_bpf__data *data = t->skel->data;

	*ret_done = false;
	if (!t->opts.on)
		return take(t, false, err);
	if (t->opts.on == TRACE_EVENT_PERCENTILE)
		watch_group(t);
	if (data->event_ns && !t->frozen_at)
		t->frozen_at = clock_mono_ns() + t->opts.after_ns;
	*ret_done = data->frozen || (t->frozen_at && clock_mono_ns() >= t->frozen_at);
	return 0;
}

/* Waits until all running BPF programs have ended, so that their records are complete. */
static void settle(void)
{
	struct timespec wait = clock_timespec(SETTLE_NS);

	/* membarrier() waits for RCU without IPIs, but is unavailable with nohz_full */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, NULL);
}

static void read_string(void *arg, uint64_t address, char name[32])
{
	struct trace *t = arg;

	memset(t->skel->data->asked_name, 0, sizeof(t->skel->data->asked_name));
	t->skel->data->ask_address = address;
	sys_bpf_iterate(t->skel->links.trace_walk);
	t->skel->data->ask_address = 0;
	memcpy(name, t->skel->data->asked_name, 32);
	name[31] = '\0';
}

static void find_event(struct trace *t)
{
	struct trace_window *w = &t->window;

	/* If two cores record an --on event at almost the same time, the earlier event counts. */
	cpuset_for_each(cpu, &w->cpus) {
		const struct trace_ring *ring = t->readers[cpu].ring;

		if (!ring->event_ns || (w->event && w->start_mono_ns + w->event_ns <= ring->event_ns))
			continue;
		w->event = TRACE_THIRD(ring->event_what);
		w->event_pid = TRACE_FIRST(ring->event_what);
		w->event_ns = ring->event_ns - w->start_mono_ns;
		w->event_len_ns = ring->event_len_ns;
		w->event_cpu = cpu;
	}
}

int trace_stop(struct trace *t, const struct trace_window **ret_window, struct err *err)
{
	struct trace_window *w = &t->window;
	uint64_t end;
	int rc;

	/* the trace of all cores ends at the same time, even if a core had no record for seconds */
	end = __atomic_load_n(&t->skel->data->frozen, __ATOMIC_RELAXED);
	if (!end)
		end = clock_mono_ns();
	set_stopped(t, true);
	w->time_unix_ns = clock_at_ns(CLOCK_REALTIME, end);
	end -= w->start_mono_ns;
	settle();
	rc = take(t, true, err);
	if (rc)
		return rc;
	find_event(t);
	for (size_t cpu = 0; cpu < w->nr_cpus; cpu++) {
		struct trace_reader *reader = &t->readers[cpu];

		trace_ring_finish(reader, end);
		w->cpu[cpu].core = reader->core;
		w->cpu[cpu].lost = reader->lost;
		w->losses.edges += reader->lost;
		reader->core = (struct trace_core){0};
	}
	w->losses.names = t->skel->data->tasks_lost;
	w->losses.recursion_misses = sys_bpf_recursion_misses(t->skel->obj);
	rc = trace_take_names(t->view.pages, w) ?: trace_take_allowed(w) ?:
	     trace_take_irqs(NULL, read_string, t, w) ?: trace_window_fill(w);
	if (rc)
		return err_set(err, rc, "out of memory");
	w->time_boot_ns = clock_at_ns(CLOCK_BOOTTIME, w->start_mono_ns + w->to_ns);
	*ret_window = w;
	return 0;
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	for (size_t cpu = 0; t->readers && cpu < t->window.nr_cpus; cpu++)
		trace_ring_free(&t->readers[cpu]);
	free(t->readers);
	sys_bpf_views_close(&t->view, 1);
	trace_bpf__destroy(t->skel);
	trace_window_free(&t->window);
	free(t);
}
