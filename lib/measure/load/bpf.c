/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sources bpf and bpf-pmu: BPF programs sum the time of each CPU by context. */
#include "measure/load/sources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "abi/hist.h"
#include "abi/noise.h"
#include "host/arch.h"
#include "base/array.h"
#include "base/clock.h"
#include "measure/core/core.h"
#include "core.skel.h"
#include "measure/load/bpf_pmu.h"
#include "measure/load/lines.h"
#include "measure/load/slot.h"
#include "measure/load/tasks.h"
#include "host/bpf.h"
#include "host/cgroup.h"
#include "host/cpu.h"
#include "host/cpuidle.h"
#include "host/file.h"
#include "host/kbtf.h"

/* BPF maps that are mapped into user space. */
enum {
	VIEW_CORES,
	VIEW_NOTES,
	VIEW_BURSTS,
	VIEW_TASKS,
	VIEW_NOISE,
	VIEW_SENDS,
	VIEW_HISTS,
	NR_VIEWS,
};

struct bpf_source {
	struct load_source source;
	struct core core;
	/* BPF object of runq if its program on sched_switch replaces load_switch, or NULL */
	const struct core *joined_by;
	struct cpu_online online;
	bool hotplug_traced;
	uint64_t hotplug_seen;

	uint64_t start_ns;
	const struct core_block *cores;
	const struct load_cpu_note *notes;
	const uint64_t (*bursts)[HIST_NR];
	struct sys_bpf_view views[NR_VIEWS];
	uint64_t torn;
	struct load_source_opts opts;
	struct load_lines lines;
	struct load_tasks tasks;
	struct blocks memory;
	bool has_pmu; /* true for source bpf-pmu */
	struct load_bpf_pmu pmu;
};

static struct bpf_source *to_bpf(struct load_source *source)
{
	return (struct bpf_source *)source;
}

static int need_senders(const struct btf *btf, struct err *err)
{
	bool raise = ARCH_HAS_IPI_RAISE;
	const char *needed = raise ? "ipi_raise" : "ipi_send_cpu";

	if (kbtf_has_tracepoint(btf, needed))
		return 0;
	return err_unsupported(
		err, -ENOENT,
		raise ? "leave out --senders, or use a kernel built with CONFIG_TRACING=y"
		      : "leave out --senders, or use Linux 6.4 or later",
		"this kernel does not report the sender of an IPI: it has no tracepoint %s",
		needed);
}

static bool ends_with(const char *name, const char *end)
{
	const char *last = strrchr(name, '_');

	return last && !strcmp(last, end);
}

/*
 * True if the BPF program @name must be loaded. Expensive variants of a BPF program are loaded only
 * if an option requires them.
 */
static bool wanted(const struct bpf_source *b, const char *name)
{
	bool by_line = b->opts.lines || b->opts.noise;

	if (ends_with(name, "_senders"))
		return b->opts.senders &&
		       (!strcmp(name, "load_call_senders") ||
			ARCH_HAS_IPI_RAISE == !strcmp(name, "load_raise_senders"));
	if (ends_with(name, "_wake"))
		return b->opts.wake;
	if (ends_with(name, "_noise"))
		return b->opts.noise;
	if (ends_with(name, "_line"))
		return by_line;
	if (!strcmp(name, "load_softirq_exit"))
		return !b->opts.noise;
	if (!strncmp(name, "load_hotplug", strlen("load_hotplug")))
		return true;
	return !by_line || !(ends_with(name, "_enter") || ends_with(name, "_leave"));
}

/* Returns the largest number of idle states of any CPU, or 0 without a cpuidle driver. */
static unsigned int count_states(unsigned int nr_cpus)
{
	struct cpuidle_state states[CPUIDLE_MAX_STATES];
	int most = 0;

	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		int nr = cpuidle_states(NULL, cpu, states);

		most = nr > most ? nr : most;
	}
	return most;
}

static int open_filled(struct bpf_source *b)
{
	CORE_FILL(&b->core, LOAD_FILLED_WAKE) = b->opts.wake;
	CORE_FILL(&b->core, LOAD_FILLED_STATES) = (int32_t)b->source.wake.nr_states;
	CORE_FILL(&b->core, LOAD_FILLED_ONE_STATE) = b->source.wake.one_state;
	CORE_FILL(&b->core, LOAD_FILLED_TASKS) = b->opts.tasks;
	CORE_FILL(&b->core, LOAD_FILLED_NOISE) = b->opts.noise;
	CORE_FILL(&b->core, LOAD_FILLED_BURSTS) = b->opts.bursts;
	CORE_FILL(&b->core, LOAD_FILLED_PMU) = b->has_pmu;
	CORE_FILL(&b->core, LOAD_FILLED_CORES) = b->opts.siblings != NULL;
	CORE_FILL(&b->core, LOAD_FILLED_NOTES) = b->opts.bursts || b->has_pmu || b->opts.siblings;
	return core_open(&b->core, b->source.nr_cpus) ?: core_for_load(&b->core);
}

static void set_sizes(struct bpf_source *b)
{
	const __typeof__(b->core.skel->maps) *maps = &b->core.skel->maps;
	const struct load_source_opts *opts = &b->opts;
	const struct {
		struct bpf_map *map;
		bool wanted;
		unsigned int entries;
	} sizes[] = {
		{maps->notes, true, opts->nr_cpus},
		{maps->counters, true, opts->nr_cpus},
		{maps->bursts, opts->bursts, opts->nr_cpus},
		{maps->lines, opts->lines, load_lines_max(opts->nr_cpus)},
		{maps->noise, opts->noise, opts->nr_cpus},
		{maps->queued, opts->noise, NOISE_NR_QUEUED},
		{maps->sends, opts->senders, opts->nr_cpus},
		{maps->hists, opts->wake, opts->nr_cpus * b->source.wake.nr_states},
		{maps->tasks_even, opts->tasks, LOAD_TASKS_MAX},
		{maps->tasks_odd, opts->tasks, LOAD_TASKS_MAX},
		{maps->tasks_now, opts->tasks, opts->nr_cpus},
	};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (sizes[i].wanted)
			bpf_map__set_max_entries(sizes[i].map, sizes[i].entries);
}

static bool idle_polls_by_force(void)
{
	char cmdline[4096];

	if (sys_read_file(NULL, "/proc/cmdline", cmdline, sizeof(cmdline)) < 0)
		return false;
	return strstr(cmdline, "idle=poll") || strstr(cmdline, "nohlt");
}

static int open_skeleton(struct bpf_source *b, struct err *err)
{
	/*
	 * Tracepoints without which the BPF programs would count time in the wrong context.
	 * hrtimer_expire_entry is required only for passive wake-ups.
	 */
	static const char *const needed[] = {"cpu_idle", "sched_switch", "irq_handler_entry",
					     "softirq_entry", "hrtimer_expire_entry"};
	struct bpf_program *prog;
	struct btf *btf;
	int rc = kbtf_open_with(needed, b->opts.wake ? 5 : 4, &btf, err);

	if (rc)
		return rc;
	if (b->opts.senders)
		rc = need_senders(btf, err);
	sys_bpf_log_begin();
	rc = rc ?: sys_bpf_check(err, open_filled(b), "cannot open the load programs");
	if (rc)
		goto out;
	sys_bpf_autoload_present(b->core.skel->obj, btf);
	bpf_object__for_each_program(prog, b->core.skel->obj)
		if (!wanted(b, bpf_program__name(prog)))
			bpf_program__set_autoload(prog, false);
	b->source.noise_calls = bpf_program__autoload(b->core.skel->progs.load_call_senders);
	b->hotplug_traced = kbtf_has_tracepoint(btf, "cpuhp_enter");
	b->core.skel->rodata->send_words = (b->opts.nr_cpus + 63) / 64;
	b->core.skel->rodata->noise_v1 = b->source.noise_v1;
	b->core.skel->rodata->switch_state_first = kbtf_switch_state_first(btf);
	if (idle_polls_by_force())
		b->core.skel->rodata->first_idle = LOAD_POLL;
	set_sizes(b);
	rc = sys_bpf_check(err, core_bpf__load(b->core.skel), "cannot load the load programs");
out:
	kbtf_close(btf);
	return rc;
}

static void fill_slots(struct bpf_source *b)
{
	for (uint32_t cpu = 0; cpu < b->source.nr_cpus; cpu++) {
		struct core_block *core = &b->core.skel->bss->cores[cpu];

		core->load.poll_states = cpuidle_poll_mask(NULL, cpu);
		core->load.start_ns = LOAD_NEVER;
		core->smt.sibling = b->opts.siblings ? b->opts.siblings[cpu] : cpu;
	}
}

/*
 * Starts the measurement on all CPUs. If a CPU changes its context in the microsecond between the
 * clock read and the store of the start time, the recorded context is wrong until the next context
 * change.
 */
static void start_slots(struct bpf_source *b)
{
	b->start_ns = b->pmu.start_ns = clock_mono_ns();
	for (uint32_t cpu = 0; cpu < b->source.nr_cpus; cpu++)
		__atomic_store_n(&b->core.skel->bss->cores[cpu].load.start_ns, b->start_ns,
				 __ATOMIC_RELAXED);
}

static int map_views(struct bpf_source *b, struct err *err)
{
	const __typeof__(b->core.skel->maps) *maps = &b->core.skel->maps;
	struct bpf_map *const mapped[NR_VIEWS] = {
		[VIEW_CORES] = maps->bss,
		[VIEW_NOTES] = maps->notes,
		[VIEW_BURSTS] = b->opts.bursts ? maps->bursts : NULL,
		[VIEW_TASKS] = b->opts.tasks ? maps->tasks_now : NULL,
		[VIEW_NOISE] = b->opts.noise ? maps->noise : NULL,
		[VIEW_SENDS] = b->opts.senders ? maps->sends : NULL,
		[VIEW_HISTS] = b->opts.wake ? maps->hists : NULL,
	};
	int rc;

	for (int i = 0; i < NR_VIEWS; i++)
		b->views[i].map = mapped[i];
	rc = sys_bpf_views_open(b->views, NR_VIEWS, err);
	if (rc)
		return rc;
	b->cores = b->views[VIEW_CORES].pages;
	b->notes = b->views[VIEW_NOTES].pages;
	b->bursts = b->views[VIEW_BURSTS].pages;
	if (b->has_pmu)
		return 0;
	b->source.noise = b->views[VIEW_NOISE].pages;
	b->source.sends = b->views[VIEW_SENDS].pages;
	b->source.wake.hists = b->views[VIEW_HISTS].pages;
	b->source.wake.counts = &b->cores->wake;
	/* runq's programs on sched_switch do not support --tasks */
	b->source.core = b->opts.tasks ? NULL : &b->core;
	return 0;
}

static int open_extras(struct bpf_source *b, struct err *err)
{
	unsigned int nr_cpus = b->source.nr_cpus;

	if (b->opts.lines)
		load_lines_open(&b->lines, &b->memory, bpf_map__fd(b->core.skel->maps.lines),
				nr_cpus);
	if (b->opts.tasks)
		load_tasks_open(&b->tasks, &b->memory, bpf_map__fd(b->core.skel->maps.tasks_even),
				bpf_map__fd(b->core.skel->maps.tasks_odd),
				b->views[VIEW_TASKS].pages, nr_cpus);
	return b->memory.failed ? err_set(err, -ENOMEM, "out of memory") : 0;
}

static void bpf_close(struct load_source *source)
{
	struct bpf_source *b = to_bpf(source);

	blocks_free(&b->memory);
	sys_bpf_views_close(b->views, NR_VIEWS);
	core_close(&b->core);
	load_bpf_pmu_close(&b->pmu);
	cpu_online_close(&b->online);
	free(b);
}

/*
 * Returns the context of a CPU before its first event: the context of the task that ran at the
 * start, or first_idle.
 */
static uint32_t seed_ctx(const struct bpf_source *b, unsigned int cpu)
{
	uint64_t ctx = b->notes[cpu].seed_ctx;

	return ctx ? (uint32_t)ctx - 1 : b->core.skel->rodata->first_idle;
}

/*
 * Stores for --cores whether each CPU is busy at the start, because a busy CPU may have many events
 * before its first idle entry.
 */
static void seed_siblings(struct bpf_source *b)
{
	for (unsigned int cpu = 0; cpu < b->source.nr_cpus; cpu++) {
		uint64_t base = __atomic_load_n(&b->cores[cpu].load.base, __ATOMIC_RELAXED);
		uint32_t ctx = base ? base & 0xff : seed_ctx(b, cpu);
		bool busy = ctx != LOAD_HALT && ctx != LOAD_POLL && cpuset_has(&b->online.set, cpu);

		__atomic_store_n(&b->core.skel->bss->cores[cpu].smt.seed, busy, __ATOMIC_RELAXED);
	}
}

static int bpf_open(struct load_source *source, const struct load_source_opts *opts,
		    struct err *err)
{
	unsigned int nr_states = opts->wake ? count_states(opts->nr_cpus) : 0;
	struct bpf_source *b = to_bpf(source);
	struct cgroup_layout layout;
	int rc;

	b->has_pmu = source->ops == &load_source_bpf_pmu;
	b->opts = *opts;
	source->wake = (struct load_wake){
		.nr_cpus = opts->nr_cpus,
		.nr_states = nr_states ?: 1,
		.one_state = !nr_states,
		.counts_step = sizeof(*b->cores),
	};
	source->noise_v1 =
		opts->noise && !cgroup_layout(NULL, &layout) && cgroup_cpu_is_v1(&layout);
	source->parts = ((1u << LOAD_NR_PARTS) - 1) & ~(1u << LOAD_PART_STEAL);
	rc = cpu_online_open(&b->online, NULL, err) ?: open_skeleton(b, err);
	if (rc)
		return rc;
	fill_slots(b);
	if (b->has_pmu) {
		rc = load_bpf_pmu_open(&b->pmu, bpf_map__fd(b->core.skel->maps.counters), opts->nr_cpus,
				       &b->online.set, opts->event, err);
		if (rc)
			return rc;
		source->base_hz = cycles_hz();
		source->rate = 1e9 / (double)source->base_hz;
	}
	rc = sys_bpf_check(err, core_bpf__attach(b->core.skel), "cannot attach the load programs")
		?: map_views(b, err) ?: open_extras(b, err);
	if (rc)
		return rc;
	start_slots(b);
	sys_bpf_iterate(b->core.skel->links.load_seed); /* finds the running task of each CPU */
	if (b->opts.siblings)
		seed_siblings(b);
	return 0;
}

static void bpf_sample(struct load_source *source, struct load_sample *samples)
{
	struct bpf_source *b = to_bpf(source);
	uint64_t start = b->start_ns;
	uint64_t steps = *(volatile uint64_t *)&b->core.skel->data->hotplug_steps;
	bool tasks = b->opts.tasks && !source->keep_tasks_window;
	uint64_t now;

	/* the online mask changes only if the hotplug counter changes */
	if (steps != b->hotplug_seen || !b->hotplug_traced) {
		cpu_online_read(&b->online);
		b->hotplug_seen = steps;
	} else {
		b->online.returned = (struct cpuset){0};
	}
	if (tasks) {
		load_tasks_note(&b->tasks);
		b->core.skel->data->task_window_seq++;
	}
	now = clock_mono_ns() - start;
	for (unsigned int cpu = 0; cpu < source->nr_cpus; cpu++) {
		struct load_sample *s = &samples[cpu];
		uint64_t cpu_steps =
			((const volatile struct load_cpu_note *)b->notes)[cpu].hotplug_steps;
		uint32_t ctx = seed_ctx(b, cpu);
		bool online = cpuset_has(&b->online.set, cpu);

		if (!online)
			*s = (struct load_sample){.stamp_ns = now, .flags = LOAD_OFFLINE};
		else if (!load_slot_read(&b->cores[cpu].load, now, ctx, s))
			*s = (struct load_sample){.flags = LOAD_TORN};
		if (tasks)
			load_tasks_sample(&b->tasks, cpu, s);
		if (b->has_pmu && online) {
			load_bpf_pmu_refresh(&b->pmu, cpu, cpuset_has(&b->online.returned, cpu));
			load_bpf_pmu_fill(&b->pmu, cpu, &b->cores[cpu].load, now, ctx, s);
		}
		b->torn += !!(s->flags & LOAD_TORN);
		s->stamp_ns += start;
		s->hotplug_steps = cpu_steps;
	}
}

static void bpf_vecs(struct load_source *source, unsigned int cpu, struct load_vecs *ret_vecs)
{
	load_slot_vecs(&to_bpf(source)->cores[cpu].load, ret_vecs);
}

static void bpf_losses(struct load_source *source, struct load_losses *losses)
{
	struct bpf_source *b = to_bpf(source);
	uint64_t read_errors = 0;

	losses->torn = b->torn;
	losses->odd_edges = losses->paused_lost = 0;
	for (unsigned int cpu = 0; cpu < source->nr_cpus; cpu++) {
		losses->odd_edges += b->cores[cpu].load.odd_edges;
		losses->paused_lost += b->cores[cpu].load.paused_lost;
		read_errors += b->cores[cpu].load.pmu_errors;
	}
	losses->recursion_misses = sys_bpf_recursion_misses(b->core.skel->obj);
	if (b->joined_by)
		losses->recursion_misses += sys_bpf_recursion_misses(b->joined_by->skel->obj);
	if (b->has_pmu)
		losses->read_errors = read_errors;
	if (b->opts.lines)
		losses->lines_lost = b->core.skel->data->lines_lost;
}

static const uint64_t *bpf_bursts(struct load_source *source, unsigned int cpu)
{
	const struct bpf_source *b = to_bpf(source);

	return b->bursts ? b->bursts[cpu] : NULL;
}

static int bpf_lines(struct load_source *source, const struct load_line **ret, size_t *ret_nr)
{
	struct bpf_source *b = to_bpf(source);
	int rc = load_lines_read(&b->lines);

	*ret = b->lines.list;
	*ret_nr = b->lines.nr_list;
	return rc;
}

static int bpf_tasks(struct load_source *source, const struct load_task **ret, size_t *ret_nr)
{
	struct bpf_source *b = to_bpf(source);
	int rc = load_tasks_read(&b->tasks, b->core.skel->data->task_window_seq - 1);

	*ret = b->tasks.list;
	*ret_nr = b->tasks.nr_list;
	return rc;
}

static uint64_t bpf_noise(struct load_source *source)
{
	struct core_bpf *skel = to_bpf(source)->core.skel;
	uint64_t ended = skel->data->noise_window_seq >> NOISE_WINDOW_SHIFT;

	skel->data->noise_window_seq += 1ULL << NOISE_WINDOW_SHIFT;
	return ended;
}

static void bpf_smt(struct load_source *source, const uint32_t cpu[2],
		    struct load_smt_sample *ret_sample)
{
	const struct bpf_source *b = to_bpf(source);

	load_smt_read(&b->cores[cpu[0]].smt, &b->cores[cpu[1]].smt, b->start_ns, ret_sample);
}

/*
 * Detaches load_switch, because runq's program on sched_switch replaces load_switch. If @by is
 * NULL, attaches load_switch again. While both programs are attached, each context switch runs
 * both, and the second program ends an interval of a few ns.
 */
static int bpf_joined(struct load_source *source, const struct core *by)
{
	struct bpf_source *b = to_bpf(source);
	struct bpf_link **own = &b->core.skel->links.load_switch;

	b->joined_by = by;
	source->core = by ? NULL : &b->core;
	if (by) {
		bpf_link__destroy(*own);
		*own = NULL;
		return 0;
	}
	*own = bpf_program__attach(b->core.skel->progs.load_switch);
	return *own ? 0 : -errno;
}

const struct load_source_ops load_source_bpf = {
	.name = "bpf",
	.what = "each core records its own context changes (BPF); needs no counter, sends no IPI",
	.size = sizeof(struct bpf_source),
	.open = bpf_open,
	.sample = bpf_sample,
	.vecs = bpf_vecs,
	.losses = bpf_losses,
	.bursts = bpf_bursts,
	.lines = bpf_lines,
	.tasks = bpf_tasks,
	.noise = bpf_noise,
	.smt = bpf_smt,
	.joined = bpf_joined,
	.close = bpf_close,
};

const struct load_source_ops load_source_bpf_pmu = {
	.name = "bpf-pmu",
	.counts = true,
	.what = "each core reads its unhalted cycles at its context changes (BPF); sends no IPI",
	.size = sizeof(struct bpf_source),
	.open = bpf_open,
	.sample = bpf_sample,
	.vecs = bpf_vecs,
	.losses = bpf_losses,
	.bursts = bpf_bursts,
	.lines = bpf_lines,
	.tasks = bpf_tasks,
	.smt = bpf_smt,
	.close = bpf_close,
};
