/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the delays of softirqs and the workqueue functions of a core. */
#include "measure/noise/cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define SEE(word) __atomic_load_n(&(word), __ATOMIC_ACQUIRE)

int noise_delays_open(struct noise_cells *cells)
{
	cells->open_functions = calloc(cells->nr_cpus, sizeof(*cells->open_functions));
	cells->delays = calloc(cells->nr_cpus, LOAD_NR_VECS * sizeof(*cells->delays));
	/* A function whose execution is longer than the window may have no entry any more. */
	cells->functions =
		calloc(cells->nr_cpus, (NOISE_NR_WORKS + 1) * sizeof(*cells->functions));
	cells->delay_hist = calloc(LOAD_NR_VECS, sizeof(*cells->delay_hist));
	if (!cells->open_functions || !cells->delays || !cells->functions || !cells->delay_hist)
		return -ENOMEM;
	return 0;
}

void noise_delays_close(struct noise_cells *cells)
{
	free(cells->open_functions);
	free(cells->delays);
	free(cells->functions);
	free(cells->delay_hist);
}

void noise_delays_begin(struct noise_cells *cells)
{
	cells->nr_delays = cells->nr_functions = 0;
	memset(cells->delay_hist, 0, LOAD_NR_VECS * sizeof(*cells->delay_hist));
}

static void read_delay(struct noise_cells *cells, unsigned int cpu, unsigned int vec, uint64_t turn,
		       bool shown)
{
	const struct noise_cell *live = &cells->live[cpu].delays[vec];
	struct noise_cell *was = &cells->was[cpu].delays[vec], now;
	struct noise_delay *delay = &cells->delays[cells->nr_delays];

	if (!noise_sum_changed(&live->sum, &was->sum, &now, sizeof(now)))
		return;
	if (shown) {
		*delay = (struct noise_delay){.cpu = cpu, .vec = vec};
		noise_cell_times(&now, was, turn, &delay->times);
		for (int i = 0; i < NOISE_NR_BUCKETS; i++)
			cells->delay_hist[vec][i] += now.hist[i] - was->hist[i];
		cells->nr_delays++;
	}
	*was = now;
}

/* The kernel writes the address where it has no symbol. */
static struct noise_function *add_function(struct noise_cells *cells, unsigned int cpu, uint64_t key,
					   const struct noise_work *work)
{
	struct noise_function *function = &cells->functions[cells->nr_functions++];

	*function = (struct noise_function){
		.cpu = cpu, .key = key, .delay = {.p99_ns = UINT64_MAX}};
	if (work && strncmp(work->name, "0x", 2))
		memcpy(function->name, work->name, sizeof(function->name) - 1);
	return function;
}

static void read_work(struct noise_cells *cells, unsigned int cpu, unsigned int i, uint64_t turn)
{
	const struct noise_work *live = &cells->live[cpu].works[i];
	struct noise_work *was = &cells->was[cpu].works[i], now;
	struct noise_function *function;

	if (!noise_sum_changed(&live->run, &was->run, &now, sizeof(now)))
		return;
	function = add_function(cells, cpu, now.run.key, &now);
	function->executions = now.executions - was->executions;
	function->ns = now.run.ns - was->run.ns;
	function->longest_ns = noise_sum_longest(&now.run, &was->run, turn) & NOISE_LONGEST_MAX;
	noise_cell_times(&now.delay, &was->delay, turn, &function->delay);
	*was = now;
}

static struct noise_function *find(struct noise_cells *cells, size_t first, uint64_t key)
{
	for (size_t i = first; i < cells->nr_functions; i++)
		if (cells->functions[i].key == key)
			return &cells->functions[i];
	return NULL;
}

/* The programs count a stretch when it ends. Adds its time so far; subtracts it then. */
static void give_open(struct noise_cells *cells, unsigned int cpu, uint64_t task_ns, size_t first)
{
	const struct noise_executing *e = &cells->live[cpu].executing[0];
	struct noise_open *open = &cells->open_functions[cpu];
	uint64_t key = SEE(e->function), before = open->key, back, grown;
	struct noise_function *function;

	grown = noise_open_grown(open, key, SEE(e->since_ns), task_ns, &back);
	function = find(cells, first, before);
	if (function)
		function->ns -= back < function->ns ? back : function->ns;
	if (!grown)
		return;
	function = find(cells, first, key);
	for (int i = 0; !function && i < NOISE_NR_WORKS; i++)
		if (cells->was[cpu].works[i].run.key == key)
			function = add_function(cells, cpu, key, &cells->was[cpu].works[i]);
	if (!function)
		function = add_function(cells, cpu, key, NULL);
	function->ns += grown;
	if (open->given_ns > function->longest_ns)
		function->longest_ns = open->given_ns;
}

void noise_delays_read(struct noise_cells *cells, unsigned int cpu, uint64_t turn, uint64_t task_ns,
		       bool shown)
{
	size_t first = cells->nr_functions;

	for (unsigned int vec = 0; vec < LOAD_NR_VECS; vec++)
		read_delay(cells, cpu, vec, turn, shown);
	for (unsigned int i = 0; i < NOISE_NR_WORKS; i++)
		read_work(cells, cpu, i, turn);
	give_open(cells, cpu, task_ns, first);
	if (!shown)
		cells->nr_functions = first;
}

static int by_core_and_time(const void *a, const void *b)
{
	const struct noise_function *left = a, *right = b;

	return CMP(left->cpu, right->cpu) ?:
	       CMP(right->ns, left->ns) ?:
	       strcmp(left->name, right->name);
}

void noise_delays_end(struct noise_cells *cells)
{
	qsort(cells->functions, cells->nr_functions, sizeof(*cells->functions), by_core_and_time);
}
