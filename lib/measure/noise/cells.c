/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the counters of abi/noise.h while BPF programs update them, and computes their growth. */
#include "measure/noise/cells.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "measure/load/lines.h"
#include "stats/hist.h"

#define SEE(word) __atomic_load_n(&(word), __ATOMIC_ACQUIRE)
/*
 * Maximum number of attempts to copy a noise counter. An attempt fails if a BPF program updates the
 * counter during the copy. BPF programs need tens of ns for an update.
 */
#define TRIES 100

#define CELLS_PER_CPU (LOAD_LINE_KINDS + 1 + LOAD_NR_VECS + NOISE_NR_LINES + NOISE_NR_THREADS)
#define HITS_PER_CPU  (NOISE_CLASSES * NOISE_NR_VICTIMS)

/*
 * Copies the noise counter at @live, which has @size bytes, to @to. The copy is consistent if
 * live->count is the same before and after copying. Returns false if no event was counted since the
 * previous reading @was, or if all attempts failed. The caller then keeps @was, so that the next
 * window counts the events.
 */
static bool sum_changed(const struct noise_sum *live, const struct noise_sum *was, void *to,
		       size_t size)
{
	for (int i = 0; i < TRIES; i++) {
		uint64_t count = SEE(live->count);

		if (count == was->count)
			return false;
		memcpy(to, live, size);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (SEE(live->count) == count)
			return true;
	}
	return false;
}

/*
 * Returns the longest event of window @window_seq in the format of noise_sum.longest. An event
 * between the end of the window and the reading counts, too. Returns 0 (unknown) if the longest
 * event occurred before the previous reading.
 */
static uint64_t sum_longest(const struct noise_sum *now, const struct noise_sum *was,
			    uint64_t window_seq)
{
	uint64_t own = now->longest[window_seq & 1], late = now->longest[~window_seq & 1];

	if (own >> NOISE_WINDOW_SHIFT != window_seq)
		own = 0;
	if (late >> NOISE_WINDOW_SHIFT != window_seq + 1)
		late = 0;
	if (own && own == was->longest[window_seq & 1])
		return 0;
	return (own & NOISE_LONGEST_MAX) > (late & NOISE_LONGEST_MAX) ? own : late;
}

static uint64_t p99_of(const struct noise_cell *now, const struct noise_cell *was, uint64_t longest)
{
	uint64_t count[NOISE_NR_BUCKETS];
	double p99;

	for (int i = 0; i < NOISE_NR_BUCKETS; i++)
		count[i] = now->hist[i] - was->hist[i];
	p99 = hist_percentile_coarse(count, NOISE_BUCKET_SHIFT, 99);
	/* the percentile is interpolated within a bucket, so it may exceed the longest event */
	return p99 < 0 ? UINT64_MAX : longest && p99 > (double)longest ? longest : (uint64_t)p99;
}

static struct noise_times cell_times(const struct noise_cell *now, const struct noise_cell *was,
				     uint64_t window_seq)
{
	uint64_t longest_ns = sum_longest(&now->sum, &was->sum, window_seq) & NOISE_LONGEST_MAX;

	return (struct noise_times){
		.count = now->sum.count - was->sum.count,
		.ns = now->sum.ns - was->sum.ns,
		.longest_ns = longest_ns,
		.p99_ns = p99_of(now, was, longest_ns),
	};
}

/*
 * Returns the run time of the running thread or function @key that earlier windows have not
 * reported. @since_ns is the task time at the dispatch of @key. If the thread or function of the
 * previous reading has been switched out, *@ret_back is the reported part of its run time. The
 * caller must subtract *@ret_back, because the BPF programs have added the whole run time to the
 * counters.
 */
static uint64_t open_grown(struct noise_open *open, uint64_t key, uint64_t since_ns, uint64_t task_ns,
			  uint64_t *ret_back)
{
	bool same = key == open->key && since_ns == open->since_ns;
	uint64_t had = key && task_ns > since_ns ? task_ns - since_ns : 0;
	uint64_t given = same ? open->given_ns : 0;

	*ret_back = same ? 0 : open->given_ns;
	*open = (struct noise_open){key, since_ns, had};
	return had > given ? had - given : 0;
}

void noise_cells_open(struct noise_cells *cells, struct noise_window *w, struct blocks *memory,
		      const struct noise_cpu *live, unsigned int nr_cpus)
{
	*cells = (struct noise_cells){.nr_cpus = nr_cpus, .live = live, .window = w};
	cells->was = blocks_calloc(memory, nr_cpus, sizeof(*cells->was));
	cells->open = blocks_calloc(memory, nr_cpus, sizeof(*cells->open));
	cells->open_functions = blocks_calloc(memory, nr_cpus, sizeof(*cells->open_functions));
	/*
	 * one more element per CPU for the running kernel thread, which has no counter before it is
	 * switched out
	 */
	w->sources = blocks_calloc(memory, nr_cpus, (CELLS_PER_CPU + 1) * sizeof(*w->sources));
	w->hits = blocks_calloc(memory, nr_cpus, HITS_PER_CPU * sizeof(*w->hits));
	w->delays = blocks_calloc(memory, nr_cpus, LOAD_NR_VECS * sizeof(*w->delays));
	/*
	 * one more element per CPU for the running workqueue function, which may have lost its
	 * entry in the table `works`
	 */
	w->functions = blocks_calloc(memory, nr_cpus, (NOISE_NR_WORKS + 1) * sizeof(*w->functions));
	w->delay_hist = blocks_calloc(memory, LOAD_NR_VECS, sizeof(*w->delay_hist));
}

void noise_cells_begin(struct noise_cells *cells)
{
	struct noise_window *w = cells->window;

	w->nr_sources = w->nr_hits = w->nr_delays = w->nr_functions = 0;
	memset(w->delay_hist, 0, LOAD_NR_VECS * sizeof(*w->delay_hist));
}

static struct noise_source *add_source(struct noise_cells *cells, unsigned int cpu,
				       enum noise_kind kind, const char *name)
{
	struct noise_source *source = &cells->window->sources[cells->window->nr_sources++];

	*source = (struct noise_source){
		.cpu = cpu, .kind = kind, .irq = UINT32_MAX, .p99_ns = UINT64_MAX};
	snprintf(source->name, sizeof(source->name), "%.*s", (int)sizeof(source->name) - 1, name);
	return source;
}

/*
 * Reads the counter of one noise source and adds the source to the list. Returns NULL if the
 * counter had no event since the last reading.
 */
static struct noise_source *read_cell(struct noise_cells *cells, unsigned int cpu,
				      uint64_t window_seq, size_t offset, enum noise_kind kind,
				      const char *name)
{
	const struct noise_cell *live = (const void *)((const char *)&cells->live[cpu] + offset);
	struct noise_cell *was = (void *)((char *)&cells->was[cpu] + offset), now;
	struct noise_source *source;
	struct noise_times times;

	if (!sum_changed(&live->sum, &was->sum, &now, sizeof(now)))
		return NULL;
	source = add_source(cells, cpu, kind, name ?: now.name);
	source->key = now.sum.key;
	times = cell_times(&now, was, window_seq);
	source->count = times.count;
	source->ns = times.ns;
	source->longest_ns = times.longest_ns;
	source->p99_ns = times.p99_ns;
	if (kind == NOISE_KIND_IRQ && now.sum.id)
		source->irq = now.sum.id;
	*was = now;
	return source;
}

static struct noise_source *find_thread(struct noise_cells *cells, size_t first, uint64_t key)
{
	for (size_t i = first; i < cells->window->nr_sources; i++)
		if (cells->window->sources[i].kind == NOISE_KIND_THREAD &&
		    cells->window->sources[i].key == key)
			return &cells->window->sources[i];
	return NULL;
}

/*
 * The BPF programs add the run time of a kernel thread when the thread is switched out. Adds the
 * run time of the running thread, and later subtracts the reported run time.
 */
static void add_running_thread(struct noise_cells *cells, unsigned int cpu, uint64_t task_ns,
			       size_t first)
{
	const struct noise_now *now = &cells->live[cpu].now;
	struct noise_open *open = &cells->open[cpu];
	struct noise_source *source = find_thread(cells, first, open->key);
	uint64_t thread = SEE(now->thread), back, grown;
	char name[16];

	grown = open_grown(open, thread, SEE(now->since_ns), task_ns, &back);
	if (source)
		source->ns -= back < source->ns ? back : source->ns;
	if (!grown)
		return;
	snprintf(name, sizeof(name), "%.15s", now->thread_comm);
	source = find_thread(cells, first, thread) ?:
		 add_source(cells, cpu, NOISE_KIND_THREAD, name);
	source->ns += grown;
	if (open->given_ns > source->longest_ns)
		source->longest_ns = open->given_ns;
}

static void read_sources(struct noise_cells *cells, unsigned int cpu, uint64_t window_seq,
			 uint64_t task_ns)
{
#define AT(member, i) (offsetof(struct noise_cpu, member) + (i) * sizeof(struct noise_cell))
	size_t first = cells->window->nr_sources;
	struct noise_source *source;

	for (unsigned int i = 0; i < LOAD_LINE_KINDS; i++)
		read_cell(cells, cpu, window_seq, AT(kinds, i), NOISE_KIND_VECTOR,
			  load_line_kind_name(i));
	read_cell(cells, cpu, window_seq, AT(nmi, 0), NOISE_KIND_NMI, "NMI");
	for (unsigned int i = 0; i < LOAD_NR_VECS; i++)
		read_cell(cells, cpu, window_seq, AT(vecs, i), NOISE_KIND_SOFTIRQ,
			  load_vec_name(i));
	for (unsigned int i = 0; i < NOISE_NR_LINES; i++) {
		source = read_cell(cells, cpu, window_seq, AT(lines, i), NOISE_KIND_IRQ, NULL);
		/* On arm64 an IPI is recorded as an interrupt line without an interrupt number. */
		if (source && source->irq == UINT32_MAX)
			source->kind = NOISE_KIND_VECTOR;
	}
	for (unsigned int i = 0; i < NOISE_NR_THREADS; i++)
		read_cell(cells, cpu, window_seq, AT(threads, i), NOISE_KIND_THREAD, NULL);
	add_running_thread(cells, cpu, task_ns, first);
#undef AT
}

static void read_victims(struct noise_cells *cells, unsigned int cpu, uint64_t window_seq)
{
	for (int class = 0; class < NOISE_CLASSES; class ++) {
		for (int i = 0; i < NOISE_NR_VICTIMS; i++) {
			struct noise_victim *was = &cells->was[cpu].of[class].victims[i], now;
			struct noise_hit *hit = &cells->window->hits[cells->window->nr_hits];
			uint64_t longest;
			unsigned int odd;

			if (!sum_changed(&cells->live[cpu].of[class].victims[i].sum, &was->sum,
					  &now, sizeof(now)))
				continue;
			longest = sum_longest(&now.sum, &was->sum, window_seq);
			odd = longest >> NOISE_WINDOW_SHIFT & 1;
			*hit = (struct noise_hit){
				.key = now.sum.key,
				.longest_ns = longest & NOISE_LONGEST_MAX,
				.pid = now.pid[odd],
			};
			hit->count[class] = now.sum.count - was->sum.count;
			hit->ns[class] = now.sum.ns - was->sum.ns;
			memcpy(hit->comm, now.comm[odd], sizeof(hit->comm) - 1);
			cells->window->nr_hits++;
			*was = now;
		}
	}
}

static void read_delay(struct noise_cells *cells, unsigned int cpu, unsigned int vec,
		       uint64_t window_seq, bool shown)
{
	const struct noise_cell *live = &cells->live[cpu].delays[vec];
	struct noise_cell *was = &cells->was[cpu].delays[vec], now;
	struct noise_delay *delay = &cells->window->delays[cells->window->nr_delays];

	if (!sum_changed(&live->sum, &was->sum, &now, sizeof(now)))
		return;
	if (shown) {
		*delay = (struct noise_delay){cpu, vec, cell_times(&now, was, window_seq)};
		for (int i = 0; i < NOISE_NR_BUCKETS; i++)
			cells->window->delay_hist[vec][i] += now.hist[i] - was->hist[i];
		cells->window->nr_delays++;
	}
	*was = now;
}

/*
 * Adds a workqueue function to the list. The name is empty if the kernel has no symbol for the
 * address of the function.
 */
static struct noise_function *add_function(struct noise_cells *cells, unsigned int cpu, uint64_t key,
					   const struct noise_work *work)
{
	struct noise_function *function = &cells->window->functions[cells->window->nr_functions++];

	*function = (struct noise_function){
		.cpu = cpu, .key = key, .delay = {.p99_ns = UINT64_MAX}};
	if (work && strncmp(work->name, "0x", 2))
		memcpy(function->name, work->name, sizeof(function->name) - 1);
	return function;
}

static void read_work(struct noise_cells *cells, unsigned int cpu, unsigned int i,
		      uint64_t window_seq)
{
	const struct noise_work *live = &cells->live[cpu].works[i];
	struct noise_work *was = &cells->was[cpu].works[i], now;
	struct noise_function *function;

	if (!sum_changed(&live->run, &was->run, &now, sizeof(now)))
		return;
	function = add_function(cells, cpu, now.run.key, &now);
	function->executions = now.executions - was->executions;
	function->ns = now.run.ns - was->run.ns;
	function->longest_ns = sum_longest(&now.run, &was->run, window_seq) & NOISE_LONGEST_MAX;
	function->delay = cell_times(&now.delay, &was->delay, window_seq);
	*was = now;
}

static struct noise_function *find_function(struct noise_cells *cells, size_t first, uint64_t key)
{
	for (size_t i = first; i < cells->window->nr_functions; i++)
		if (cells->window->functions[i].key == key)
			return &cells->window->functions[i];
	return NULL;
}

/* Adds the run time of the running workqueue function to its row; see add_running_thread(). */
static void add_running_function(struct noise_cells *cells, unsigned int cpu, uint64_t task_ns,
				 size_t first)
{
	const struct noise_executing *e = &cells->live[cpu].executing[0];
	struct noise_open *open = &cells->open_functions[cpu];
	struct noise_function *function = find_function(cells, first, open->key);
	const struct noise_work *work = NULL;
	uint64_t key = SEE(e->function), back, grown;

	grown = open_grown(open, key, SEE(e->since_ns), task_ns, &back);
	if (function)
		function->ns -= back < function->ns ? back : function->ns;
	if (!grown)
		return;
	for (int i = 0; i < NOISE_NR_WORKS; i++)
		if (cells->was[cpu].works[i].run.key == key)
			work = &cells->was[cpu].works[i];
	function = find_function(cells, first, key) ?: add_function(cells, cpu, key, work);
	function->ns += grown;
	if (open->given_ns > function->longest_ns)
		function->longest_ns = open->given_ns;
}

void noise_cells_read(struct noise_cells *cells, unsigned int cpu, uint64_t window_seq,
		      uint64_t task_ns, bool shown)
{
	struct noise_window *w = cells->window;
	size_t nr_sources = w->nr_sources, nr_hits = w->nr_hits, first = w->nr_functions;

	read_sources(cells, cpu, window_seq, task_ns);
	read_victims(cells, cpu, window_seq);
	for (unsigned int vec = 0; vec < LOAD_NR_VECS; vec++)
		read_delay(cells, cpu, vec, window_seq, shown);
	for (unsigned int i = 0; i < NOISE_NR_WORKS; i++)
		read_work(cells, cpu, i, window_seq);
	add_running_function(cells, cpu, task_ns, first);
	if (!shown) {
		w->nr_functions = first;
		w->nr_sources = nr_sources;
		w->nr_hits = nr_hits;
	}
}

static int sources_by_time(const void *a, const void *b)
{
	const struct noise_source *left = a, *right = b;

	return CMP(left->cpu, right->cpu) ?:
	       CMP(right->ns, left->ns) ?:
	       strcmp(left->name, right->name);
}

static int functions_by_time(const void *a, const void *b)
{
	const struct noise_function *left = a, *right = b;

	return CMP(left->cpu, right->cpu) ?:
	       CMP(right->ns, left->ns) ?:
	       strcmp(left->name, right->name);
}

static int by_victim(const void *a, const void *b)
{
	const struct noise_hit *left = a, *right = b;

	return CMP(left->key, right->key);
}

static uint64_t hit_ns(const struct noise_hit *hit)
{
	return hit->ns[NOISE_HARDIRQ] + hit->ns[NOISE_SOFTIRQ] + hit->ns[NOISE_THREAD];
}

static int by_hit_time(const void *a, const void *b)
{
	return CMP(hit_ns(b), hit_ns(a)) ?: by_victim(a, b);
}

/*
 * Adds the row @more to the row @sum of the same victim of noise. A victim has one row for each
 * class of noise and CPU.
 */
static void add_hit(void *sum, const void *more)
{
	const struct noise_hit *from = more;
	struct noise_hit *to = sum;

	for (int class = 0; class < NOISE_CLASSES; class ++) {
		to->count[class] += from->count[class];
		to->ns[class] += from->ns[class];
	}
	if (from->longest_ns > to->longest_ns) {
		to->longest_ns = from->longest_ns;
		to->pid = from->pid;
		memcpy(to->comm, from->comm, sizeof(to->comm));
	}
}

void noise_cells_end(struct noise_cells *cells)
{
	struct noise_window *w = cells->window;

	w->nr_hits = array_merge(w->hits, w->nr_hits, sizeof(*w->hits), by_victim, add_hit);
	qsort(w->hits, w->nr_hits, sizeof(*w->hits), by_hit_time);
	qsort(w->sources, w->nr_sources, sizeof(*w->sources), sources_by_time);
	qsort(w->functions, w->nr_functions, sizeof(*w->functions), functions_by_time);
	for (size_t i = 0; i < w->nr_sources; i++)
		w->sources[i].knob = noise_knob(&w->sources[i]);
}

void noise_cells_losses(const struct noise_cells *cells, struct noise_losses *ret_losses)
{
	*ret_losses = (struct noise_losses){0};
	array_for_each(live, cells->live, cells->nr_cpus) {
		array_for_each(of, live->of, NOISE_CLASSES) {
			ret_losses->sources += of->lost;
			ret_losses->source_ns += of->lost_ns;
			ret_losses->victims += of->victims_lost;
		}
		ret_losses->raises += live->raise_unseen;
		ret_losses->queueings += live->queued_lost;
		ret_losses->functions += live->works_lost;
	}
}
