/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures the effect of a program that reads /proc/stat thousands of times per second, on the
 * figures in /proc/stat and on the true load.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench.h"
#include "gen/loads.h"
#include "measure/audit/modes.h"
#include "measure/audit/audit.h"
#include "measure/load/sources.h"
#include "host/cpu.h"

#define WINDOW_NS (500 * NSEC_PER_MSEC)
#define SETTLE_NS (50 * NSEC_PER_MSEC)
#define PERIOD_NS 2471234 /* period of the test load in ns, not a multiple of any tick period */
#define DUTY	  0.3

/*
 * Rates at which the test reads /proc/stat. The monitoring tool SuperMon reads /proc/stat at 6 kHz.
 */
static const struct variant {
	const char *name;
	bool reads, same_core;
	uint64_t period_ns; /* time between two reads of /proc/stat, or 0 for no pause */
} variants[] = {
	{"no reader", false, false, 0},
	{"6 kHz, another core", true, false, NSEC_PER_SEC / 6000},
	{"no pause, another core", true, false, 0},
	{"6 kHz, the same core", true, true, NSEC_PER_SEC / 6000},
};

#define NR_VARIANTS (sizeof(variants) / sizeof(variants[0]))

struct shared {
	uint64_t reads, cpu_ns;
};

enum figure {
	TRUE_BUSY,
	OWN,   /* busy time of the test load by the thread clock of the load */
	SHOWN, /* busy time by /proc/stat */
	ERROR_POINTS,
	READ_HZ,
	READER,
	NR_FIGURES,
};

static const char *const names[NR_FIGURES] = {
	"true busy %",	 "the load's own clock %", "shown %",
	"error, points", "reads per second",	   "reader, % of its core",
};

struct bench {
	unsigned int cpu;
	int other;
	struct audit_core core;
	struct load_source *bpf;
	struct load_sample *samples;
	struct gen_child duty;
	double value[NR_VARIANTS][NR_FIGURES][BENCH_MAX_ROUNDS];
};

static void read_fast(void *memory, void *arg)
{
	const struct variant *variant = arg;
	struct shared *shared = memory;
	uint64_t next = clock_mono_ns();
	struct audit_core core;
	struct procstat_cpu line;

	if (audit_core_open(&core, 0, NULL))
		return;
	for (;;) {
		if (variant->period_ns) {
			struct timespec until;

			next += variant->period_ns;
			until = clock_timespec(next);
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		}
		if (audit_core_read(&core, &line, NULL))
			return;
		__atomic_store_n(&shared->reads, shared->reads + 1, __ATOMIC_RELAXED);
		__atomic_store_n(&shared->cpu_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID),
				 __ATOMIC_RELAXED);
	}
}

struct edge {
	struct procstat_cpu columns;
	struct load_sample sample;
	struct duty_usage usage;
	struct shared reader;
	uint64_t at_ns;
};

static void read_edge(struct bench *b, const struct gen_child *reader, struct edge *edge)
{
	b->bpf->ops->sample(b->bpf, b->samples);
	edge->sample = b->samples[b->cpu];
	if (audit_core_read(&b->core, &edge->columns, NULL) || !duty_read(&b->duty, &edge->usage)) {
		fprintf(stderr, "the load or /proc/stat of CPU %u is gone\n", b->cpu);
		exit(1);
	}
	edge->at_ns = clock_mono_ns();
	edge->reader = reader->shared ? *(const struct shared *)reader->shared : (struct shared){0};
}

static void measure(struct bench *b, size_t at, size_t round)
{
	struct variant variant = variants[at];
	struct audit_level levels[AUDIT_NR_MODES];
	struct gen_child reader = {0};
	struct load_cpu_window w;
	struct edge from, to;
	double wall, shown;

	if (variant.reads && gen_child_start(&reader, variant.same_core ? (int)b->cpu : b->other,
					     sizeof(struct shared), read_fast, &variant, NULL)) {
		fprintf(stderr, "cannot start a reader\n");
		exit(1);
	}
	audit_wait(&(struct audit_env){0}, clock_mono_ns() + SETTLE_NS);
	read_edge(b, &reader, &from);
	audit_wait(&(struct audit_env){0}, clock_mono_ns() + WINDOW_NS);
	read_edge(b, &reader, &to);
	gen_child_stop(&reader);
	wall = (double)(to.at_ns - from.at_ns);
	load_subtract(&from.sample, &to.sample, b->bpf->rate, b->bpf->parts, &w);
	audit_modes_shown(&from.columns, &to.columns, NSEC_PER_SEC / sysconf(_SC_CLK_TCK), levels);
	audit_modes_derive(levels);
	shown = 1.0 - levels[AUDIT_MODE_ALL_IDLE].shown;
	b->value[at][TRUE_BUSY][round] = w.busy_ratio * 100.0;
	b->value[at][OWN][round] = (double)(to.usage.cpu_ns - from.usage.cpu_ns) /
				   (double)(to.usage.at_ns - from.usage.at_ns) * 100.0;
	b->value[at][SHOWN][round] = shown * 100.0;
	b->value[at][ERROR_POINTS][round] = (shown - w.busy_ratio) * 100.0;
	b->value[at][READ_HZ][round] = (double)(to.reader.reads - from.reader.reads) / wall * 1e9;
	b->value[at][READER][round] =
		(double)(to.reader.cpu_ns - from.reader.cpu_ns) / wall * 100.0;
}

/*
 * Prints each figure of each variant. Each figure is compared with the same figure of the variant
 * "no reader" in the same round.
 */
static void show(struct bench *b, size_t rounds)
{
	for (int figure = 0; figure < NR_FIGURES; figure++) {
		printf("%s\n", names[figure]);
		for (size_t at = 0; at < NR_VARIANTS; at++) {
			double *value = b->value[at][figure], *none = b->value[0][figure];
			double value_of[BENCH_MAX_ROUNDS], more[BENCH_MAX_ROUNDS];
			struct bench_spread spread, added;

			for (size_t i = 0; i < rounds; i++) {
				value_of[i] = value[i];
				more[i] = value[i] - none[i];
			}
			spread = bench_spread(value_of, rounds);
			added = bench_spread(more, rounds);
			printf("  %-24s %9.2f   quartiles %.2f to %.2f", variants[at].name,
			       spread.median, spread.low, spread.high);
			if (at && figure < READ_HZ)
				printf("   with the reader %+.2f, quartiles %+.2f to %+.2f",
				       added.median, added.low, added.high);
			printf("\n");
		}
	}
}

int main(int argc, char **argv)
{
	size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 20;
	struct load_source_opts source_opts = {0};
	static struct bench b;
	struct duty_opts duty = {.duty = DUTY, .period_ns = PERIOD_NS};
	struct cpuset online;
	struct err err = {0};

	if (!rounds || rounds > BENCH_MAX_ROUNDS || cpu_set(NULL, CPU_ONLINE, &online, &err))
		return 64;
	cpuset_for_each(cpu, &online)
		b.cpu = cpu;
	b.other = audit_other_cpu(b.cpu);
	source_opts.nr_cpus = cpuset_end(&online);
	b.samples = calloc(source_opts.nr_cpus, sizeof(*b.samples));
	if (b.other < 0 || !b.samples) {
		fprintf(stderr, "needs two CPUs\n");
		return 77;
	}
	bench_pin(b.other);
	duty.cpu = (int)b.cpu;
	if (load_source_open("bpf", &source_opts, &b.bpf, &err) ||
	    audit_core_open(&b.core, b.cpu, &err) || duty_start(&b.duty, &duty, &err)) {
		fprintf(stderr, "%s\n", err.what);
		return 77;
	}
	for (size_t round = 0; round < rounds; round++)
		for (size_t at = 0; at < NR_VARIANTS; at++)
			measure(&b, at, round);
	gen_child_stop(&b.duty);
	audit_core_close(&b.core);
	load_source_close(b.bpf);
	free(b.samples);
	printf("%zu rounds of %.1f s windows, CPU %u with a load of %.0f %%\n", rounds,
	       (double)WINDOW_NS / 1e9, b.cpu, DUTY * 100.0);
	show(&b, rounds);
	return 0;
}
