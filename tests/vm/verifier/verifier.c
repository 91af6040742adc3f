// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Loads the BPF programs with the library's functions, once for each set of options that subtick
 * uses. Prints the number of instructions that the verifier processed as JSON. Without the argument
 * `all`, only the sets of the brief list are loaded, because an emulated machine takes seconds for
 * each set of options. If the argument is the name of a set of runq options, such as `serve`, the
 * program loads only this set, and prints the verifier's log if the kernel refuses a BPF program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "counted.h"
#include "measure/core/core.h"
#include "measure/crit/engine.h"
#include "measure/load/pairs.h"
#include "measure/load/sources.h"
#include "measure/runq/avoidable.h"
#include "measure/runq/chunks.h"
#include "measure/runq/idle.h"
#include "measure/runq/pressure.h"
#include "measure/runq/programs.h"
#include "measure/trace/trace.h"
#include "measure/wake/probe.h"
#include "host/cpu.h"

/*
 * Numbers of CPUs for which runq loads different BPF programs: with 5 or more CPUs, several cores
 * share a histogram.
 */
#define FEW_CPUS  2
#define MANY_CPUS 8

static unsigned int nr_cpus;

/*
 * Prints a JSON line with five values: the set of options, true if the set is in the brief list,
 * true if the kernel accepted all BPF programs, the number of verified instructions of each BPF
 * program, and the error message if a BPF program was refused.
 */
static void say(const char *choice, bool brief, const struct err *err)
{
	const struct counted *programs;
	int nr = counted_programs(&programs);

	printf("{\"choice\": \"%s\", \"brief\": %s, \"loaded\": %s, \"programs\": {", choice,
	       brief ? "true" : "false", nr && counted_all_loaded() ? "true" : "false");
	for (int i = 0; i < nr; i++)
		printf("%s\"%s\": %ld", i ? ", " : "", programs[i].program, programs[i].insns);
	printf("}, \"why\": \"");
	for (const char *c = err->what; *c; c++)
		putchar(strchr("\"\\\n", *c) ? ' ' : *c);
	printf("\"}\n");
	fflush(stdout);
}

enum {
	BRIEF = 1, /* the set of options is in the brief list */
	QUICK = 2, /* the set has a BPF program for each layout of cgroups and histograms */
};

struct runq_choice {
	const char *name;
	unsigned int kind;
	struct runq_opts opts;
};

static const char *const some_cgroup[] = {"/some"};

/* Sets of options, named after the command line of `runq` or `serve` that selects them. */
static const struct runq_choice runq_choices[] = {
	{"runq", BRIEF | QUICK, {0}},
	{"runq --causes", BRIEF | QUICK, {.causes = true}},
	{"runq --blame", BRIEF | QUICK, {.blame = true}},
	{"runq --cgroup", BRIEF | QUICK, {.cgroups = some_cgroup, .nr_cgroups = 1}},
	{"runq --sample", BRIEF, {.sample_ratio = 0.1}},
	{"runq --sample --causes", 0, {.sample_ratio = 0.1, .causes = true}},
	{"runq --sample --blame", 0, {.sample_ratio = 0.1, .blame = true}},
	{"runq --per task", BRIEF, {.per = RUNQ_PER_TASK}},
	{"runq --per task --blame", 0, {.per = RUNQ_PER_TASK, .blame = true}},
	{"runq --per comm", 0, {.per = RUNQ_PER_COMM}},
	{"runq --per comm --cgroup", 0,
	 {.per = RUNQ_PER_COMM, .cgroups = some_cgroup, .nr_cgroups = 1}},
	{"runq --per cpu", 0, {.per = RUNQ_PER_CPU}},
	{"runq --threshold", 0, {.threshold_ns = 1000000}},
	{"runq --threshold --blame", 0, {.threshold_ns = 1000000, .blame = true}},
	{"runq --source wakeup", BRIEF, {.source = RUNQ_SOURCE_WAKEUP}},
	{"runq --source wakeup --causes", 0, {.source = RUNQ_SOURCE_WAKEUP, .causes = true}},
	{"runq --source wakeup --blame", BRIEF, {.source = RUNQ_SOURCE_WAKEUP, .blame = true}},
	{"serve", BRIEF | QUICK, {.blame = true, .steps_only = true}},
	{"serve --blame-limit 0", QUICK, {.causes = true, .steps_only = true}},
	{"serve --no-causes", BRIEF | QUICK, {.steps_only = true}},
	{"serve --exclude", QUICK,
	 {.cgroups = some_cgroup, .nr_cgroups = 1, .fold_excluded = true, .blame = true, .steps_only = true}},
	{"serve --exclude --no-causes", QUICK,
	 {.cgroups = some_cgroup, .nr_cgroups = 1, .steps_only = true}},
	{"serve --sample", 0, {.sample_ratio = 0.1, .blame = true, .steps_only = true}},
	{"serve --sample --no-causes", 0, {.sample_ratio = 0.1, .steps_only = true}},
};

/*
 * @load has the loaded BPF programs of load, or is NULL if these programs are not loaded. runq
 * shares the switch program of load.
 */
static void try_runq(const struct runq_choice *choice, bool brief, enum runq_hierarchy hierarchy,
		     unsigned int cpus, const struct core *load)
{
	struct runq_opts opts = choice->opts;
	struct runq_shape shape = {
		.stripes = runq_stripes(cpus), .cpus = cpus, .steps = opts.steps_only};
	struct runq_area areas[RUNQ_NR_AREAS] = {0};
	struct core core = {0};
	struct err err = {0};
	char name[128];

	if (opts.source == RUNQ_SOURCE_AUTO)
		opts.source = RUNQ_SOURCE_SCHED_INFO;
	opts.hierarchy = hierarchy;
	runq_opts_defaults(&opts);
	snprintf(name, sizeof(name), "%s%s, cgroup %s, %s CPUs", choice->name,
		 load ? " with load" : "", runq_hierarchy_names[hierarchy],
		 cpus == FEW_CPUS ? "few" : "many");
	counted_begin();
	runq_programs_load(&opts, &shape, 1, load, areas, &core, &err);
	say(name, brief, &err);
	core_close(&core);
	runq_areas_close(areas);
}

#define NR_RUNQ_CHOICES (sizeof(runq_choices) / sizeof(runq_choices[0]))

static bool only_of_runq(const char *name)
{
	for (size_t i = 0; i < NR_RUNQ_CHOICES; i++) {
		if (strcmp(runq_choices[i].name, name))
			continue;
		counted_explain();
		try_runq(&runq_choices[i], true, RUNQ_HIERARCHY_V2, FEW_CPUS, NULL);
		return true;
	}
	return false;
}

static void all_of_runq(bool brief)
{
	for (size_t i = 0; i < NR_RUNQ_CHOICES; i++) {
		const struct runq_choice *choice = &runq_choices[i];

		if (choice->kind & BRIEF || !brief)
			try_runq(choice, choice->kind & BRIEF, RUNQ_HIERARCHY_V2, FEW_CPUS, NULL);
		if (choice->kind & QUICK && (choice->kind & BRIEF || !brief))
			try_runq(choice, false, RUNQ_HIERARCHY_V1, MANY_CPUS, NULL);
	}
}

/*
 * Loads the exporter's BPF programs: the BPF programs of load, then the BPF programs of runq that
 * share the switch program with load.
 */
static void all_with_load(void)
{
	struct load_source_opts opts = {.nr_cpus = nr_cpus, .wake = true, .noise = true};
	struct load_source *source = NULL;
	struct err err = {0};

	/*
	 * Return without a message if the kernel refuses the BPF programs of `subtick load`,
	 * because all_of_load() reports the reason.
	 */
	if (load_source_open("bpf", &opts, &source, &err))
		return;
	for (size_t i = 0; i < NR_RUNQ_CHOICES; i++)
		if (!strncmp(runq_choices[i].name, "serve", strlen("serve")))
			try_runq(&runq_choices[i], runq_choices[i].kind & BRIEF, RUNQ_HIERARCHY_V2,
				 nr_cpus, source->core);
	load_source_close(source);
}

static void try_idle_states(const char *choice, enum runq_hierarchy hierarchy)
{
	struct runq_opts opts = {.hierarchy = hierarchy};
	struct runq_idle *idle = NULL;
	struct err err = {0};

	counted_begin();
	runq_idle_open(&opts, &idle, &err);
	say(choice, true, &err);
	runq_idle_close(idle);
}

static void try_trace(const char *choice, enum trace_event on, bool some)
{
	struct trace_opts opts = {.on = on, .on_ns = 1000000, .on_cgroup = "/", .above_ppm = 10000,
				  .over_ns = 1000000000, .ring_edges = 1024};
	struct trace *trace = NULL;
	struct err err = {0};

	if (some)
		cpuset_add(&opts.cpus, 0);
	counted_begin();
	trace_open(&opts, &trace, &err);
	say(choice, false, &err);
	trace_close(trace);
}

static void try_pressure(const char *choice, enum runq_hierarchy hierarchy)
{
	struct runq_opts opts = {.hierarchy = hierarchy};
	struct runq_pressure *pressure = NULL;
	struct err err = {0};
	int rc;

	counted_begin();
	rc = runq_pressure_open(&opts, &pressure, &err);
	if (rc && err.unsupported) {
		printf("# %s: %s\n", choice, err.what);
		return;
	}
	say(choice, false, &err);
	runq_pressure_close(pressure);
}

static void try_avoidable(const char *choice, enum runq_hierarchy hierarchy)
{
	struct runq_opts opts = {.hierarchy = hierarchy};
	struct runq_avoidable *avoidable = NULL;
	struct err err = {0};

	counted_begin();
	if (runq_avoidable_open(&opts, &avoidable, &err) && err.unsupported) {
		printf("# %s: %s\n", choice, err.what);
		return;
	}
	say(choice, false, &err);
	runq_avoidable_close(avoidable);
}

static void try_load(const char *choice, bool brief, const struct load_source_ops *ops,
		     struct load_source_opts opts)
{
	struct load_source *source = NULL;
	struct err err = {0};

	opts.nr_cpus = nr_cpus;
	counted_begin();
	/*
	 * Opening the source bpf-pmu may fail after the BPF programs were loaded, because emulated
	 * x86 has no hardware counter.
	 */
	if (!load_source_open(ops->name, &opts, &source, &err))
		load_source_close(source);
	/*
	 * The library did not load the BPF programs, because this kernel lacks a tracepoint for
	 * --senders.
	 */
	if (opts.senders && err.unsupported)
		return;
	say(choice, brief, &err);
}

static void try_pairs(const uint32_t *siblings)
{
	struct load_pairs *pairs = NULL;
	struct err err = {0};

	counted_begin();
	load_pairs_open(siblings, nr_cpus, true, &pairs, &err);
	load_pairs_close(pairs);
	/*
	 * On kernels before 5.12 (arm64: before 5.18), the library refuses `load --cores --cgroups`
	 * and loads no BPF program.
	 */
	if (!err.unsupported)
		say("load --cores --cgroups", false, &err);
}

static void all_of_load(void)
{
	static const uint32_t siblings[CPUSET_MAX];
	const struct load_source_ops *bpf = &load_source_bpf;

	try_load("load", true, bpf, (struct load_source_opts){0});
	/*
	 * The sets with .wake have no limits of instructions, because their BPF programs are those
	 * of the set `load` with the additional code of wake.
	 */
	try_load("serve: load and wake", false, bpf, (struct load_source_opts){.wake = true});
	try_load("serve: load, wake and noise", false, bpf,
		 (struct load_source_opts){.wake = true, .noise = true});
	try_load("load --bursts", true, bpf, (struct load_source_opts){.bursts = true});
	try_load("load --source bpf-pmu", true, &load_source_bpf_pmu, (struct load_source_opts){0});
	try_load("load --source taskclock", true, &load_source_taskclock,
		 (struct load_source_opts){0});
	/*
	 * The sets of load options below have no limits of instructions, but the kernel must accept
	 * their BPF programs.
	 */
	try_load("load --cores", false, bpf, (struct load_source_opts){.siblings = siblings});
	try_pairs(siblings);
	try_load("serve: load, wake, noise and cores", false, bpf,
		 (struct load_source_opts){.wake = true, .noise = true, .siblings = siblings});
	try_load("load --irq", false, bpf, (struct load_source_opts){.lines = true});
	try_load("load --tasks", false, bpf, (struct load_source_opts){.tasks = true});
	try_load("noise", false, bpf, (struct load_source_opts){.noise = true});
	try_load("noise --senders", false, bpf,
		 (struct load_source_opts){.noise = true, .senders = true});
}

static void try_wake(const char *choice, struct wake_probe_opts opts)
{
	struct wake_probe probe;
	struct err err = {0};

	opts.nr_cpus = nr_cpus;
	counted_begin();
	if (!wake_probe_open(&probe, &opts, &err))
		wake_probe_close(&probe);
	say(choice, true, &err);
}

static void all_of_wake(void)
{
	try_wake("wake", (struct wake_probe_opts){.points = true});
	try_wake("wake --breakdown", (struct wake_probe_opts){.points = true, .breakdown = true});
	try_wake("wake --source remote", (struct wake_probe_opts){.points = true, .remote = true});
	try_wake("wake --source passive", (struct wake_probe_opts){.passive = true});
	try_wake("wake --source passive, 4 idle states",
		 (struct wake_probe_opts){.passive = true, .nr_states = 4});
}

static void try_crit(void)
{
	struct crit_opts opts = {0};
	struct crit_engine *engine = NULL;
	struct err err = {0};
	int rc;

	counted_begin();
	rc = crit_engine_bpf.open(&opts, &engine, &err);
	if (rc && err.unsupported) {
		printf("# crit: %s\n", err.what);
		return;
	}
	say("crit --engine bpf", true, &err);
	if (!rc)
		crit_engine_bpf.close(engine, NULL);
}

int main(int argc, char **argv)
{
	bool brief = argc < 2 || strcmp(argv[1], "all");
	struct cpuset possible;
	struct err err = {0};

	if (cpu_set(NULL, CPU_POSSIBLE, &possible, &err)) {
		fprintf(stderr, "%s\n", err.what);
		return 1;
	}
	nr_cpus = cpuset_end(&possible);
	if (argc > 1 && only_of_runq(argv[1]))
		return 0;
	all_of_runq(brief);
	all_with_load();
	try_idle_states("runq --idle-states, cgroup v1", RUNQ_HIERARCHY_V1);
	try_idle_states("runq --idle-states, cgroup v2", RUNQ_HIERARCHY_V2);
	try_pressure("runq --pressure, cgroup v1", RUNQ_HIERARCHY_V1);
	try_pressure("runq --pressure, cgroup v2", RUNQ_HIERARCHY_V2);
	try_avoidable("runq --avoidable, cgroup v1", RUNQ_HIERARCHY_V1);
	try_avoidable("runq --avoidable, cgroup v2", RUNQ_HIERARCHY_V2);
	try_trace("trace", TRACE_EVENT_NONE, false);
	try_trace("trace --cpu 0 --on wait", TRACE_EVENT_WAIT, true);
	try_trace("trace --on noise", TRACE_EVENT_NOISE, false);
	try_trace("trace --on p99", TRACE_EVENT_PERCENTILE, false);
	all_of_load();
	all_of_wake();
	try_crit();
	return 0;
}
