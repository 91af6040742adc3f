/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes the page of a made-up trace. Usage: timeline_page FILE ROUNDS MAX_SLICES. In each round
 * the task WAKER on CPU 0 wakes the task VICTIM on CPU 1. VICTIM waits for the task HOG, an
 * interrupt with a tick, and a softirq on CPU 1. At the end of each round, VICTIM runs, and the CPU
 * quota throttles HOG.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracefile/tracefile.h"

#define ROUND_NS  100000
#define MAX_WAITS 50

enum {
	WAKER = 7,
	HOG,
	VICTIM
};

static void add(struct trace_core *core, uint64_t ns, enum trace_kind kind, uint64_t what)
{
	core->edges[core->nr_edges++] = (struct trace_edge){.stamp = ns << 8 | kind, .what = what};
}

static void add_round(struct trace_core *cores, uint64_t at, bool last)
{
	uint64_t got = at + (last ? 45000 : 40000);

	add(&cores[0], at + 10000, TRACE_IDLE_LEAVE, 0);
	add(&cores[0], at + 11000, TRACE_SWITCH, TRACE_WHAT(0, WAKER, 0));
	add(&cores[0], at + 15000, TRACE_WAKING, TRACE_WHAT(VICTIM, WAKER, 1));
	add(&cores[0], at + 15200, TRACE_WAKEUP, TRACE_WHAT(VICTIM, WAKER, 1));
	add(&cores[0], at + 20000, TRACE_SWITCH, TRACE_WHAT(WAKER, 0, 1));
	add(&cores[0], at + 21000, TRACE_IDLE_ENTER, 1);
	add(&cores[1], at + 30000, TRACE_IRQ_ENTER, 11);
	add(&cores[1], at + 31900, TRACE_TICK, 0);
	add(&cores[1], at + 32000, TRACE_IRQ_LEAVE, 0);
	add(&cores[1], at + 32000, TRACE_SOFTIRQ_ENTER, 3);
	add(&cores[1], at + 35000, TRACE_SOFTIRQ_LEAVE, 3);
	add(&cores[1], got, TRACE_SWITCH, TRACE_WHAT(HOG, VICTIM, 0) | TRACE_THROTTLED);
	add(&cores[1], got + 20000, TRACE_THROTTLE, TRACE_THROTTLE_WHAT(HOG, 15000));
	add(&cores[1], got + 20000, TRACE_SWITCH, TRACE_WHAT(VICTIM, HOG, 1));
}

int main(int argc, char **argv)
{
	static struct trace_task names[] = {
		{.pid = WAKER, .tgid = WAKER, .comm = "</script><b>x"},
		{.pid = HOG, .tgid = HOG, .comm = "\"'&<!--"},
		{.pid = VICTIM, .tgid = VICTIM, .comm = "<img src=x>"},
	};
	static struct trace_irq irqs[] = {{.kind = TRACE_IRQ_ENTER, .what = 11, .name = "<i>eth0"}};
	static struct trace_cpu cpus[2];
	struct trace_window w = {.start_mono_ns = 5000000000000000000ULL,
				 .cpu = cpus,
				 .nr_cpus = 2,
				 .names = names,
				 .nr_names = 3,
				 .irqs = irqs,
				 .nr_irqs = 1};
	int rounds = argc > 3 ? atoi(argv[2]) : 0, rc;
	struct tracefile file = {.window = &w, .max_waits = MAX_WAITS};
	struct trace_core *cores = calloc(2, sizeof(*cores));
	FILE *out = argc > 3 ? fopen(argv[1], "we") : NULL;

	if (!out || !cores)
		return 64;
	for (int cpu = 0; cpu < 2; cpu++) {
		cores[cpu] =
			(struct trace_core){.edges = calloc(rounds, 8 * sizeof(struct trace_edge)),
					    .to_ns = (uint64_t)rounds * ROUND_NS,
					    .first_known = true,
					    .first_pid = cpu ? HOG : 0};
		if (!cores[cpu].edges)
			return 1;
		cpuset_add(&w.cpus, cpu);
	}
	for (int i = 0; i < rounds; i++)
		add_round(cores, (uint64_t)i * ROUND_NS, i == rounds - 1);
	for (int cpu = 0; cpu < 2; cpu++)
		cpus[cpu].core = cores[cpu];
	rc = trace_window_fill(&w);
	file.max_slices = strtoul(argv[3], NULL, 10);
	if (!rc)
		rc = tracefile_html(out, &file);
	if (fclose(out) || rc) {
		fprintf(stderr, "cannot write: %s\n", strerror(-rc));
		return 1;
	}
	return 0;
}
