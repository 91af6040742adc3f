/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Engine bpf on one CPU: runs the programs in chunks and subtracts the overhead. */
#include "measure/crit/bpf.h"

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>

#include "stats/crit.h"

static int run_chunk(struct crit_worker *w, enum crit_op op, uint32_t nr)
{
	struct crit_args args = {.slot = w->index, .nr = nr, .work = w->opts->work};
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &args, .ctx_size_in = sizeof(args));
	int rc = bpf_prog_test_run_opts(w->engine->prog_fd[op], &run);

	if (rc)
		return rc;
	if (run.retval)
		return -EPROTO;
	/* Hotplug moves a pinned thread to another CPU; its samples are not valid then. */
	return args.cpu == w->cpu ? 0 : -EXDEV;
}

static void subtract_overhead(struct crit_worker *w, enum crit_op op, size_t nr_empty,
			      size_t nr_batch)
{
	double empty_ns = crit_midmean(w->batch_empty, nr_batch);
	u64 overhead, *value = w->value[op];

	w->clock_ns = crit_midmean(w->clock, nr_empty);
	w->call_ns = (empty_ns - w->clock_ns) / CRIT_BATCH;
	w->batch[op] = (crit_midmean(w->batch_pair, nr_batch) - empty_ns) / CRIT_BATCH;
	tb_sort_descending(w->empty, nr_empty);
	overhead = tb_median_sorted(w->empty, nr_empty);
	for (size_t i = 0; i < w->opts->nr_samples; i++) {
		w->below += value[i] < overhead;
		value[i] = value[i] > overhead ? value[i] - overhead : 0;
	}
}

/* Copies the results of each chunk, because the next chunk overwrites the slot. */
static int collect(struct crit_worker *w, enum crit_op op, const atomic_bool *stop)
{
	const struct crit_slot *slot = &w->engine->slots[w->index];
	size_t nr = w->opts->nr_samples, nr_empty = 0, nr_batch = 0;

	for (size_t done = 0; done < nr; done += CRIT_CHUNK) {
		size_t chunk = nr - done < CRIT_CHUNK ? nr - done : CRIT_CHUNK;
		size_t few = (chunk + CRIT_STRIDE - 1) / CRIT_STRIDE;
		int rc = atomic_load(stop) ? -ECANCELED : run_chunk(w, op, chunk);

		if (rc)
			return rc;
		memcpy(&w->value[op][done], slot->pair_ns, chunk * sizeof(u64));
		memcpy(&w->empty[nr_empty], slot->empty_ns, few * sizeof(u64));
		memcpy(&w->clock[nr_empty], slot->clock_ns, few * sizeof(u64));
		memcpy(&w->batch_pair[nr_batch], slot->batch_pair_ns, sizeof(slot->batch_pair_ns));
		memcpy(&w->batch_empty[nr_batch], slot->batch_empty_ns,
		       sizeof(slot->batch_empty_ns));
		nr_empty += few;
		nr_batch += CRIT_BATCHES;
	}
	subtract_overhead(w, op, nr_empty, nr_batch);
	return 0;
}

/* Samples all operations before it sorts, so that no CPU sorts while another one samples. */
void crit_worker_run(void *worker, const atomic_bool *stop)
{
	struct crit_worker *w = worker;

	for (int op = 0; op < CRIT_NR_OPS && !w->err; op++)
		if (w->engine->prog_fd[op] >= 0)
			w->err = collect(w, op, stop);
	for (int op = 0; op < CRIT_NR_OPS && !w->err; op++)
		if (w->engine->prog_fd[op] >= 0)
			w->err = tb_summarise(w->value[op], w->opts->nr_samples, &w->summary[op]);
}
