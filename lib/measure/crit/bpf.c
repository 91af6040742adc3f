/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Engine bpf: runs the programs of bpf/crit.bpf.c on all CPUs at the same time. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "abi/crit.h"
#include "crit.skel.h"
#include "measure/crit/engine.h"
#include "measure/crit/pinned.h"
#include "stats/compare.h"
#include "host/bpf.h"
#include "host/cpu.h"
#include "host/kbtf.h"
#include "host/meminfo.h"

struct crit_bpf_engine {
	struct crit_engine engine;
	struct crit_bpf *skel;
	const struct crit_slot *slots;
	struct sys_bpf_view view; /* mapping of the slots */
	struct cpuset cpus;
	unsigned int nr_cpus;
	int prog_fd[CRIT_NR_OPS]; /* -1 if the operation has no program */
	bool used;		  /* a round was measured since the programs were loaded */
};

/* State of one CPU in a round. */
struct crit_worker {
	struct crit_bpf_engine *engine;
	const struct crit_opts *opts;
	unsigned int index;
	unsigned int cpu;
	u64 *value[CRIT_NR_OPS]; /* nr_samples each, part of the round's arrays */
	u64 *empty, *clock;	 /* overheads of single pairs */
	u64 *batch_pair, *batch_empty;
	struct tb_summary summary[CRIT_NR_OPS];
	double batch[CRIT_NR_OPS];
	double clock_ns;
	double call_ns;
	u64 below;
	int err;
};

/* The samples of all CPUs: one array per operation, ordered by CPU. */
struct bpf_round {
	struct crit_worker *workers;
	u64 *value[CRIT_NR_OPS];
	u64 *scratch; /* memory for the overheads of all CPUs */
};

static struct crit_bpf_engine *to_bpf(struct crit_engine *engine)
{
	return (struct crit_bpf_engine *)engine;
}

static void round_free(struct bpf_round *round)
{
	for (int op = 0; op < CRIT_NR_OPS; op++)
		free(round->value[op]);
	free(round->scratch);
	free(round->workers);
}

static int round_alloc(struct crit_bpf_engine *b, const struct crit_opts *opts,
		       struct bpf_round *round)
{
	size_t chunks = (opts->nr_samples + CRIT_CHUNK - 1) / CRIT_CHUNK;
	size_t own = chunks * 2 * (CRIT_EMPTIES + CRIT_BATCHES);
	unsigned int cpu, i = 0;

	*round = (struct bpf_round){.workers = calloc(b->nr_cpus, sizeof(*round->workers))};
	round->scratch = reallocarray(NULL, b->nr_cpus * own, sizeof(u64));
	if (!round->workers || !round->scratch)
		return -ENOMEM;
	for (int op = 0; op < CRIT_NR_OPS; op++) {
		if (b->prog_fd[op] < 0)
			continue;
		round->value[op] = reallocarray(NULL, opts->nr_samples, b->nr_cpus * sizeof(u64));
		if (!round->value[op])
			return -ENOMEM;
	}
	cpuset_for_each(cpu, &b->cpus) {
		struct crit_worker *w = &round->workers[i];

		*w = (struct crit_worker){.engine = b, .opts = opts, .index = i, .cpu = cpu};
		w->empty = round->scratch + i * own;
		w->clock = w->empty + chunks * CRIT_EMPTIES;
		w->batch_pair = w->clock + chunks * CRIT_EMPTIES;
		w->batch_empty = w->batch_pair + chunks * CRIT_BATCHES;
		for (int op = 0; op < CRIT_NR_OPS; op++)
			w->value[op] =
				round->value[op] ? round->value[op] + i * opts->nr_samples : NULL;
		i++;
	}
	return 0;
}

/*
 * Refuses a run that needs more than half of the available memory, as the module does. A later
 * check is impossible, because the kernel allocates the pages only when samples are written.
 */
static int check_memory(const struct crit_bpf_engine *b, const struct crit_opts *opts,
			struct err *err)
{
	uint64_t available, bytes = 0, per_sample = 0;

	for (int op = 0; op < CRIT_NR_OPS; op++)
		per_sample += b->prog_fd[op] >= 0 ? sizeof(u64) : 0;
	/* The overheads of a chunk, per sample. */
	per_sample += 2 * (CRIT_EMPTIES + CRIT_BATCHES) * sizeof(u64) / CRIT_CHUNK + 1;
	if (__builtin_mul_overflow(opts->nr_samples, per_sample * b->nr_cpus, &bytes))
		bytes = UINT64_MAX;
	if (meminfo_available(NULL, &available) || bytes <= available / 2)
		return 0;
	return err_set(
		err, -ENOMEM,
		"--samples %llu on %u CPUs needs %llu MiB, more than half of the available %llu "
		"MiB: use fewer samples",
		(unsigned long long)opts->nr_samples, b->nr_cpus, (unsigned long long)(bytes >> 20),
		(unsigned long long)(available >> 20));
}

static int run_chunk(struct crit_worker *w, enum crit_op op, uint32_t nr)
{
	struct crit_args args = {.slot = w->index, .nr = nr, .work = w->opts->work};
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &args, .ctx_size_in = sizeof(args));
	int rc = bpf_prog_test_run_opts(w->engine->prog_fd[op], &run);

	if (rc)
		return rc;
	if (run.retval)
		return -EPROTO;
	/* CPU hotplug moves a pinned thread to another CPU, which makes its samples invalid. */
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

/*
 * Samples every operation on the current CPU; the result is in w->err. Sorts only after all
 * operations of this CPU were sampled.
 */
static void crit_worker_run(void *worker, const atomic_bool *stop)
{
	struct crit_worker *w = worker;

	for (int op = 0; op < CRIT_NR_OPS && !w->err; op++)
		if (w->engine->prog_fd[op] >= 0)
			w->err = collect(w, op, stop);
	for (int op = 0; op < CRIT_NR_OPS && !w->err; op++)
		if (w->engine->prog_fd[op] >= 0)
			w->err = tb_summarise(w->value[op], w->opts->nr_samples, &w->summary[op]);
}

static int run_workers(struct crit_bpf_engine *b, const struct crit_opts *opts,
		       struct crit_worker *workers, struct err *err)
{
	struct pinned_job *jobs = calloc(b->nr_cpus, sizeof(*jobs));
	int rc;

	if (!jobs)
		return err_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < b->nr_cpus; i++)
		jobs[i] = (struct pinned_job){.cpu = workers[i].cpu, .arg = &workers[i]};
	rc = pinned_run(jobs, b->nr_cpus, crit_worker_run, opts->stopped, err);
	free(jobs);
	for (unsigned int i = 0; i < b->nr_cpus && !rc; i++) {
		rc = workers[i].err;
		if (rc == -EXDEV)
			err_set(err, rc, "CPU %u went offline during the run", workers[i].cpu);
		else if (rc && rc != -ECANCELED)
			err_set(err, rc, "measuring on CPU %u failed: %s", workers[i].cpu,
				strerror(-rc));
	}
	return rc;
}

/*
 * Mean of the highest samples of all CPUs. The samples of each CPU must be sorted, highest first.
 */
static int highest_mean(struct crit_bpf_engine *b, const struct crit_opts *opts, const u64 *value,
			double *ret_mean)
{
	size_t room = opts->nr_highest < opts->nr_samples ? opts->nr_highest : opts->nr_samples;
	struct tb_heap heap = {.value = calloc(room, sizeof(u64)), .room = room};
	u64 mean;
	int rc;

	if (!heap.value)
		return -ENOMEM;
	for (unsigned int i = 0; i < b->nr_cpus; i++)
		tb_heap_feed_sorted(&heap, value + i * opts->nr_samples, opts->nr_samples);
	rc = tb_mean(heap.value, heap.nr, &mean);
	free(heap.value);
	if (!rc)
		*ret_mean = mean;
	return rc;
}

static int combine_op(struct crit_bpf_engine *b, const struct crit_opts *opts,
		      struct bpf_round *round, enum crit_op op, struct crit_round *out)
{
	struct crit_figures *figures = &out->op[op];
	size_t all = opts->nr_samples * b->nr_cpus;
	struct tb_summary *cpu = calloc(b->nr_cpus, sizeof(*cpu)), total;
	u64 *scratch = round->scratch, value;
	double batch = 0;
	int rc = cpu ? 0 : -ENOMEM;

	for (unsigned int i = 0; i < b->nr_cpus && !rc; i++) {
		cpu[i] = out->cpus[i].op[op] = round->workers[i].summary[op];
		out->cpus[i].batch[op] = round->workers[i].batch[op];
		batch += round->workers[i].batch[op] / b->nr_cpus;
	}
	if (!rc)
		rc = tb_combine(cpu, b->nr_cpus, scratch, &total);
	if (!rc)
		rc = highest_mean(b, opts, round->value[op], &figures->max_avg);
	free(cpu);
	if (rc)
		return rc;
	figures->median = total.median;
	figures->average = total.average;
	figures->max = total.max;
	figures->batch = batch;
	tb_sort_descending(round->value[op], all);
	for (unsigned int i = 0; i < opts->nr_percentiles && !rc; i++) {
		rc = tb_percentile_sorted(round->value[op], all, opts->percentile[i],
					  100 * CRIT_PERCENT, &value);
		if (!rc)
			figures->percentile[i] = value;
	}
	return rc;
}

static int combine(struct crit_bpf_engine *b, const struct crit_opts *opts, struct bpf_round *round,
		   struct crit_round *out)
{
	int rc = 0;

	out->cpus = calloc(b->nr_cpus, sizeof(*out->cpus));
	if (!out->cpus)
		return -ENOMEM;
	out->nr_cpus = b->nr_cpus;
	out->clock_ns = out->call_ns = 0;
	for (unsigned int i = 0; i < b->nr_cpus; i++) {
		const struct crit_worker *w = &round->workers[i];

		out->cpus[i].cpu = w->cpu;
		out->clock_ns += w->clock_ns / b->nr_cpus;
		out->call_ns += w->call_ns / b->nr_cpus;
		out->below_overhead += w->below;
	}
	for (int op = 0; op < CRIT_NR_OPS && !rc; op++)
		if (b->prog_fd[op] >= 0)
			rc = combine_op(b, opts, round, op, out);
	return rc;
}

static void unload_programs(struct crit_bpf_engine *b)
{
	sys_bpf_views_close(&b->view, 1);
	crit_bpf__destroy(b->skel);
	b->slots = NULL;
	b->skel = NULL;
}

static int bpf_close(struct crit_engine *engine, struct err *err)
{
	struct crit_bpf_engine *b = to_bpf(engine);

	unload_programs(b);
	free(b);
	return 0;
}

static bool has_kfuncs(const struct btf *btf, const char *first, const char *second)
{
	return btf__find_by_name_kind(btf, first, BTF_KIND_FUNC) > 0 &&
	       btf__find_by_name_kind(btf, second, BTF_KIND_FUNC) > 0;
}

/* Leaves out programs whose kfuncs the kernel lacks; fails if no program is left. */
static int choose_programs(struct crit_bpf *skel, struct err *err)
{
	struct btf *btf;
	bool empty, irq_save, preempt;
	int rc = kbtf_open(NULL, &btf, err);

	if (rc)
		return rc;
	empty = has_kfuncs(btf, "bpf_iter_num_new", "bpf_iter_num_destroy");
	irq_save = empty && has_kfuncs(btf, "bpf_local_irq_save", "bpf_local_irq_restore");
	preempt = empty && has_kfuncs(btf, "bpf_preempt_disable", "bpf_preempt_enable");
	kbtf_close(btf);
	bpf_program__set_autoload(skel->progs.crit_irq_save, irq_save);
	bpf_program__set_autoload(skel->progs.crit_preempt, preempt);
	if (irq_save || preempt)
		return 0;
	return err_unsupported(err, -EOPNOTSUPP,
			       "use Linux 6.14 or later, or install the tracerbench module",
			       "this kernel has neither the kfuncs bpf_local_irq_save and "
			       "_restore (Linux 6.14) nor bpf_preempt_disable and _enable (6.10)");
}

static int program_fd(const struct bpf_program *prog)
{
	return bpf_program__autoload(prog) ? bpf_program__fd(prog) : -1;
}

static int load_programs(struct crit_bpf_engine *b, struct err *err)
{
	int rc;

	sys_bpf_log_begin();
	b->skel = crit_bpf__open();
	if (!b->skel)
		return sys_bpf_fail(err, -errno, "cannot open its BPF programs");
	rc = choose_programs(b->skel, err);
	if (rc)
		return rc;
	sys_bpf_log_begin();
	bpf_map__set_max_entries(b->skel->maps.slots, b->nr_cpus);
	rc = crit_bpf__load(b->skel);
	if (rc)
		return sys_bpf_fail(err, rc, "cannot load its BPF programs");
	b->view.map = b->skel->maps.slots;
	rc = sys_bpf_views_open(&b->view, 1, err);
	if (rc)
		return rc;
	b->slots = b->view.pages;
	b->prog_fd[CRIT_IRQ] = -1;
	b->prog_fd[CRIT_PREEMPT] = program_fd(b->skel->progs.crit_preempt);
	b->prog_fd[CRIT_IRQ_SAVE] = program_fd(b->skel->progs.crit_irq_save);
	return 0;
}

/*
 * Loads the programs again for each round, so that the spread includes the effect of code
 * placement. The figures depend on the addresses of the compiled programs: on 6.18 arm64, the batch
 * of irq_save was 0.74, 0.94 or 1.14 ns after different loads, and within 0.1 ns while loaded.
 */
static int reload_programs(struct crit_bpf_engine *b, struct err *err)
{
	unload_programs(b);
	return load_programs(b, err);
}

static int bpf_round(struct crit_engine *engine, const struct crit_opts *opts,
		     struct crit_round *ret_round, struct err *err)
{
	struct crit_bpf_engine *b = to_bpf(engine);
	struct crit_round out;
	struct bpf_round round;
	int rc;

	crit_round_clear(&out);
	rc = b->used ? reload_programs(b, err) : 0;
	if (rc)
		return rc;
	b->used = true;
	rc = round_alloc(b, opts, &round);
	if (!rc)
		rc = run_workers(b, opts, round.workers, err);
	if (!rc)
		rc = combine(b, opts, &round, &out);
	round_free(&round);
	if (rc) {
		free(out.cpus);
		if (rc != -ECANCELED && !err->code)
			err_set(err, rc, "cannot combine the samples: %s", strerror(-rc));
		return rc;
	}
	*ret_round = out;
	return 0;
}

static int bpf_open(const struct crit_opts *opts, struct crit_engine **ret_engine, struct err *err)
{
	struct crit_bpf_engine *b = calloc(1, sizeof(*b));
	int rc;

	if (!b)
		return err_set(err, -ENOMEM, "out of memory");
	b->engine.ops = &crit_engine_bpf;
	b->cpus = opts->cpus;
	rc = cpuset_count(&b->cpus) ? 0 : cpu_set(NULL, CPU_ONLINE, &b->cpus, err);
	b->nr_cpus = cpuset_count(&b->cpus);
	if (!rc)
		rc = load_programs(b, err);
	if (!rc)
		rc = check_memory(b, opts, err);
	if (rc) {
		bpf_close(&b->engine, NULL);
		return rc;
	}
	*ret_engine = &b->engine;
	return 0;
}

const struct crit_engine_ops crit_engine_bpf = {
	.name = "bpf",
	.unit = "ns",
	.what = "kfuncs called from BPF programs on all CPUs at the same time; the cost of an "
		"empty "
		"kfunc pair and of the clock is subtracted",
	.ops = 1 << CRIT_PREEMPT | 1 << CRIT_IRQ_SAVE,
	.open = bpf_open,
	.round = bpf_round,
	.close = bpf_close,
};
