/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Engine bpf: runs the programs of bpf/crit.bpf.c on all CPUs at the same time. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "abi/crit.h"
#include "base/array.h"
#include "base/clock.h"
#include "crit.skel.h"
#include "measure/crit/engine.h"
#include "stats/compare.h"
#include "host/bpf.h"
#include "host/cpu.h"
#include "host/kbtf.h"
#include "host/meminfo.h"

#define STOP_POLL_NS (50 * NSEC_PER_MSEC)

struct crit_bpf_engine {
	struct crit_engine engine;
	struct crit_bpf *skel; /* BPF skeleton; NULL between rounds */
	const struct crit_slot *slots;
	struct sys_bpf_view view; /* memory mapping of the slots, one per CPU */
	struct cpuset cpus;
	unsigned int nr_cpus;
	/* File descriptor of the operation's BPF program, or -1 without a program. */
	int prog_fd[CRIT_NR_OPS];
};

/* Thread that takes the samples of one CPU in a round. */
struct crit_worker {
	struct bpf_round *round;
	pthread_t thread;
	unsigned int index;
	struct crit_cpu *cpu; /* results of the CPU, set by its thread */
	/* Samples of each operation: nr_samples elements inside the arrays of struct bpf_round. */
	u64 *value[CRIT_NR_OPS];
	u64 *empty, *clock; /* samples of the measuring overhead, which is subtracted later */
	u64 *batch_pair, *batch_empty;
	double clock_ns;
	double call_ns;
	u64 below;
	struct err err;
};

/* Samples of all CPUs: one array per operation, ordered by CPU. */
struct bpf_round {
	struct crit_bpf_engine *b;
	const struct crit_opts *opts;
	struct crit_worker *workers;
	u64 *value[CRIT_NR_OPS];
	struct blocks memory;
	u64 *scratch; /* memory for the overhead samples of all CPUs */
	/* `lock` is used to start all threads at the same time and to wait for their end */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int ready, ended;
	bool go;
	atomic_bool stop;
};

static int round_alloc(struct bpf_round *round, struct crit_round *out, struct err *err)
{
	struct crit_bpf_engine *b = round->b;
	size_t nr_samples = round->opts->nr_samples;
	size_t chunks = (nr_samples + CRIT_CHUNK - 1) / CRIT_CHUNK;
	size_t own = chunks * 2 * (CRIT_EMPTIES + CRIT_BATCHES);
	unsigned int i = 0;

	round->workers = blocks_calloc(&round->memory, b->nr_cpus, sizeof(*round->workers));
	round->scratch = blocks_calloc(&round->memory, b->nr_cpus * own, sizeof(u64));
	out->cpus = calloc(b->nr_cpus, sizeof(*out->cpus));
	out->nr_cpus = b->nr_cpus;
	for (int op = 0; op < CRIT_NR_OPS; op++)
		if (b->prog_fd[op] >= 0)
			round->value[op] =
				blocks_calloc(&round->memory, nr_samples, b->nr_cpus * sizeof(u64));
	if (round->memory.failed || !out->cpus)
		return err_set(err, -ENOMEM, "out of memory");
	cpuset_for_each(cpu, &b->cpus) {
		struct crit_worker *w = &round->workers[i];

		*w = (struct crit_worker){.round = round, .index = i, .cpu = &out->cpus[i]};
		w->cpu->cpu = cpu;
		w->empty = round->scratch + i * own;
		w->clock = w->empty + chunks * CRIT_EMPTIES;
		w->batch_pair = w->clock + chunks * CRIT_EMPTIES;
		w->batch_empty = w->batch_pair + chunks * CRIT_BATCHES;
		for (int op = 0; op < CRIT_NR_OPS; op++)
			w->value[op] = round->value[op] ? round->value[op] + i * nr_samples : NULL;
		i++;
	}
	return 0;
}

/*
 * Refuses a run that would use more than half of the available memory. malloc() succeeds even
 * without free memory, because the kernel allocates pages only when samples are written.
 */
static int check_memory(const struct crit_bpf_engine *b, const struct crit_opts *opts,
			struct err *err)
{
	uint64_t available, bytes = 0, per_sample = 0;

	for (int op = 0; op < CRIT_NR_OPS; op++)
		per_sample += b->prog_fd[op] >= 0 ? sizeof(u64) : 0;
	/* add the overhead samples, which are taken once per CRIT_CHUNK samples */
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
	struct crit_args args = {.slot = w->index, .nr = nr, .work = w->round->opts->work};
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &args, .ctx_size_in = sizeof(args));
	int rc = bpf_prog_test_run_opts(w->round->b->prog_fd[op], &run);

	if (rc)
		return rc;
	if (run.retval)
		return -EPROTO;
	/* the samples are invalid if CPU hotplug moved the pinned thread to another CPU */
	return args.cpu == w->cpu->cpu ? 0 : -EXDEV;
}

static void subtract_overhead(struct crit_worker *w, enum crit_op op, size_t nr_empty,
			      size_t nr_batch)
{
	double empty_ns = crit_midmean(w->batch_empty, nr_batch);
	u64 overhead, *value = w->value[op];

	w->clock_ns = crit_midmean(w->clock, nr_empty);
	w->call_ns = (empty_ns - w->clock_ns) / CRIT_BATCH;
	w->cpu->batch[op] = (crit_midmean(w->batch_pair, nr_batch) - empty_ns) / CRIT_BATCH;
	tb_sort_descending(w->empty, nr_empty);
	overhead = tb_median_sorted(w->empty, nr_empty);
	for (size_t i = 0; i < w->round->opts->nr_samples; i++) {
		w->below += value[i] < overhead;
		value[i] = value[i] > overhead ? value[i] - overhead : 0;
	}
}

/*
 * Runs the program once per chunk of samples. Copies each chunk, because the next run of the
 * program overwrites the slot.
 */
static int collect(struct crit_worker *w, enum crit_op op)
{
	const struct crit_slot *slot = &w->round->b->slots[w->index];
	size_t nr = w->round->opts->nr_samples, nr_empty = 0, nr_batch = 0;

	for (size_t done = 0; done < nr; done += CRIT_CHUNK) {
		size_t chunk = nr - done < CRIT_CHUNK ? nr - done : CRIT_CHUNK;
		size_t few = (chunk + CRIT_STRIDE - 1) / CRIT_STRIDE;
		int rc = atomic_load(&w->round->stop) ? -ECANCELED : run_chunk(w, op, chunk);

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

/* Takes the samples of every operation on one CPU, and then sorts the samples of all operations. */
static int sample(struct crit_worker *w)
{
	size_t nr = w->round->opts->nr_samples;
	int rc = 0;

	for (int op = 0; op < CRIT_NR_OPS && !rc; op++)
		if (w->value[op])
			rc = collect(w, op);
	for (int op = 0; op < CRIT_NR_OPS && !rc; op++)
		if (w->value[op])
			rc = tb_summarise(w->value[op], nr, &w->cpu->op[op]);
	return rc;
}

static void *worker_main(void *arg)
{
	struct crit_worker *w = arg;
	struct bpf_round *round = w->round;
	int rc = affinity_pin(0, w->cpu->cpu);

	if (rc)
		err_set(&w->err, rc, "cannot run on CPU %u: %s%s", w->cpu->cpu, strerror(-rc),
			rc == -EINVAL ? " (the CPU is offline, or outside this process's cpuset)"
				      : "");
	pthread_mutex_lock(&round->lock);
	round->ready++;
	pthread_cond_broadcast(&round->changed);
	while (!round->go)
		pthread_cond_wait(&round->changed, &round->lock);
	pthread_mutex_unlock(&round->lock);
	rc = w->err.code ? 0 : sample(w);
	if (rc == -EXDEV)
		err_set(&w->err, rc, "CPU %u went offline during the run", w->cpu->cpu);
	else if (rc && rc != -ECANCELED)
		err_set(&w->err, rc, "measuring on CPU %u failed: %s", w->cpu->cpu, strerror(-rc));
	pthread_mutex_lock(&round->lock);
	round->ended++;
	pthread_cond_broadcast(&round->changed);
	pthread_mutex_unlock(&round->lock);
	return NULL;
}

/*
 * Starts the sampling threads of all CPUs at the same time and waits until they have ended. The
 * caller holds round->lock.
 */
static void run_threads(struct bpf_round *round, unsigned int nr)
{
	const struct crit_opts *opts = round->opts;

	/* all threads must be pinned to their CPUs before the first thread starts sampling */
	while (round->ready < nr)
		pthread_cond_wait(&round->changed, &round->lock);
	for (unsigned int i = 0; i < nr; i++)
		if (round->workers[i].err.code)
			atomic_store(&round->stop, true);
	round->go = true;
	pthread_cond_broadcast(&round->changed);
	/* ThreadSanitizer before LLVM 15 reports false races for pthread_clockjoin_np(). */
	while (round->ended < nr) {
		struct timespec until = clock_timespec(clock_mono_ns() + STOP_POLL_NS);

		pthread_cond_timedwait(&round->changed, &round->lock, &until);
		if (opts->stopped && opts->stopped())
			atomic_store(&round->stop, true);
	}
}

static int run_workers(struct bpf_round *round, struct err *err)
{
	struct crit_worker *w = round->workers;
	pthread_condattr_t attr;
	unsigned int nr = 0;
	int rc = 0;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&round->changed, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&round->lock, NULL);
	pthread_mutex_lock(&round->lock);
	while (nr < round->b->nr_cpus && !rc) {
		rc = -pthread_create(&w[nr].thread, NULL, worker_main, &w[nr]);
		nr += !rc;
	}
	atomic_store(&round->stop, rc != 0);
	run_threads(round, nr);
	pthread_mutex_unlock(&round->lock);
	if (rc)
		err_set(err, rc, "cannot start a thread: %s", strerror(-rc));
	for (unsigned int i = 0; i < nr; i++) {
		pthread_join(w[i].thread, NULL);
		if (!rc && w[i].err.code) {
			*err = w[i].err;
			rc = err->code;
		}
	}
	pthread_cond_destroy(&round->changed);
	pthread_mutex_destroy(&round->lock);
	return rc ?: atomic_load(&round->stop) ? -ECANCELED : 0;
}

static int combine_op(const struct bpf_round *round, enum crit_op op, struct crit_round *out,
		      struct err *err)
{
	const struct crit_opts *opts = round->opts;
	struct crit_figures *figures = &out->op[op];
	size_t all = opts->nr_samples * out->nr_cpus;
	size_t highest = opts->nr_highest < opts->nr_samples ? opts->nr_highest : opts->nr_samples;
	u64 value = 0;
	int rc = crit_combine(out, op, err);

	if (rc)
		return rc;
	figures->batch = 0;
	for (unsigned int i = 0; i < out->nr_cpus; i++)
		figures->batch += out->cpus[i].batch[op] / out->nr_cpus;
	tb_sort_descending(round->value[op], all);
	rc = tb_mean(round->value[op], highest, &value);
	figures->max_avg = value;
	for (unsigned int i = 0; i < opts->nr_percentiles && !rc; i++) {
		rc = tb_percentile_sorted(round->value[op], all, opts->percentile[i],
					  100 * CRIT_PERCENT, &value);
		figures->percentile[i] = value;
	}
	return rc ? err_set(err, rc, "cannot combine the samples: %s", strerror(-rc)) : 0;
}

static int combine(const struct bpf_round *round, struct crit_round *out, struct err *err)
{
	int rc = 0;

	out->clock_ns = out->call_ns = 0;
	array_for_each(w, round->workers, out->nr_cpus) {
		out->clock_ns += w->clock_ns / out->nr_cpus;
		out->call_ns += w->call_ns / out->nr_cpus;
		out->below_overhead += w->below;
	}
	for (int op = 0; op < CRIT_NR_OPS && !rc; op++)
		if (round->value[op])
			rc = combine_op(round, op, out, err);
	return rc;
}

static void unload_programs(struct crit_bpf_engine *b)
{
	sys_bpf_views_close(&b->view, 1);
	crit_bpf__destroy(b->skel);
	b->skel = NULL;
}

static int bpf_close(struct crit_engine *engine, struct err *err)
{
	unload_programs((struct crit_bpf_engine *)engine);
	free(engine);
	return 0;
}

static bool has_kfuncs(const struct btf *btf, const char *first, const char *second)
{
	return btf__find_by_name_kind(btf, first, BTF_KIND_FUNC) > 0 &&
	       btf__find_by_name_kind(btf, second, BTF_KIND_FUNC) > 0;
}

/* Excludes BPF programs whose kfuncs the kernel lacks. Fails if all BPF programs are excluded. */
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
	b->view.map = b->skel->maps.slots;
	rc = sys_bpf_check(err, crit_bpf__load(b->skel), "cannot load its BPF programs")
		     ?: sys_bpf_views_open(&b->view, 1, err);
	if (rc)
		return rc;
	b->slots = b->view.pages;
	b->prog_fd[CRIT_IRQ] = -1;
	b->prog_fd[CRIT_PREEMPT] = program_fd(b->skel->progs.crit_preempt);
	b->prog_fd[CRIT_IRQ_SAVE] = program_fd(b->skel->progs.crit_irq_save);
	return 0;
}

/*
 * Loads the BPF programs again for each round, because the address of the code affects the cost. On
 * Linux 6.18 (arm64) the batch mean of irq_save was 0.74, 0.94 or 1.14 ns after different loads,
 * but varied by less than 0.1 ns while the programs stayed loaded.
 */
static int bpf_round(struct crit_engine *engine, const struct crit_opts *opts,
		     struct crit_round *round, struct err *err)
{
	struct crit_bpf_engine *b = (struct crit_bpf_engine *)engine;
	struct bpf_round samples = {.b = b, .opts = opts};
	int rc = b->skel ? 0 : load_programs(b, err);

	rc = rc ?: round_alloc(&samples, round, err) ?: run_workers(&samples, err) ?:
	     combine(&samples, round, err);
	blocks_free(&samples.memory);
	unload_programs(b);
	return rc;
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
	rc = rc ?: load_programs(b, err) ?: check_memory(b, opts, err);
	if (rc)
		bpf_close(&b->engine, NULL);
	else
		*ret_engine = &b->engine;
	return rc;
}

const struct crit_engine_ops crit_engine_bpf = {
	.name = "bpf",
	.unit = "ns",
	.what = "kfuncs called from BPF programs on all CPUs at the same time; the cost of an "
		"empty kfunc pair and of the clock is subtracted",
	.ops = 1 << CRIT_PREEMPT | 1 << CRIT_IRQ_SAVE,
	.open = bpf_open,
	.round = bpf_round,
	.close = bpf_close,
};
