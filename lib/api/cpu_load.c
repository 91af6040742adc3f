/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cpu_load API on top of the load sources. */
#include "subtick/cpu_load.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpuset.h"
#include "measure/load/sources.h"
#include "measure/load/steal.h"
#include "subtick/gtp-guard/cpu.h"
#include "sys/cpu.h"

/* Callers hold the head, which gtp-guard/cpu.h declares. The rest is private. */
struct context {
	struct cpu_load head;
	struct load_source *source;
	struct load_ends ends;
	struct steal steal; /* for sources that know the parts of the time, as in `subtick load` */
	unsigned int nr_cpus;
	bool sampled; /* the window between prev and cur exists */
};

_Static_assert((int)CPU_LOAD_CLAMPED == (int)LOAD_CLAMPED &&
		       (int)CPU_LOAD_OFFLINE == (int)LOAD_OFFLINE &&
		       (int)CPU_LOAD_NO_TIME == (int)LOAD_NO_TIME &&
		       (int)CPU_LOAD_RESTARTED == (int)LOAD_RESTARTED,
	       "the public flags are the internal ones");

static __thread struct err last_err;

static struct context *to_context(const struct cpu_load *load)
{
	return (struct context *)load;
}

static void window_of(struct context *ctx, unsigned int cpu, struct load_cpu_window *ret_window)
{
	if (!ctx->sampled) {
		*ret_window = (struct load_cpu_window){.flags = LOAD_NO_TIME};
		return;
	}
	load_subtract(&ctx->ends.prev[cpu], &ctx->ends.cur[cpu], ctx->source->rate,
		      ctx->source->parts, ret_window);
	steal_move(&ctx->steal, cpu, ret_window);
}

/* The hot path: fills an array, and works the loads out. */
static void sample(struct context *ctx)
{
	load_ends_sample(&ctx->ends, ctx->source);
	steal_sample(&ctx->steal, NULL);
	for (unsigned int cpu = 0; cpu < ctx->nr_cpus; cpu++) {
		const struct load_sample *cur = &ctx->ends.cur[cpu];
		struct cpu_perf *shown = &ctx->head.cpus[cpu];
		struct load_cpu_window w;

		window_of(ctx, cpu, &w);
		shown->fd = cur->flags & LOAD_VOID ? -1 : 0;
		shown->load = w.flags & LOAD_NO_FIGURE ? -1.0f : (float)w.busy_ratio;
		if (shown->fd < 0)
			continue;
		shown->prev_cycles = cur->busy;
		if (ctx->head.base_freq_hz)
			shown->prev_time_ns = cur->total;
		else
			ctx->head.prev_tsc = cur->total;
	}
}

static int open_source(const char *source, const char *event, struct cpu_load **ret)
{
	struct load_source_opts opts = {.event = event};
	struct context *ctx;
	struct cpuset possible;
	int rc;

	last_err = (struct err){0};
	if (!ret)
		return err_set(&last_err, -EINVAL, "the pointer for the context is NULL");
	rc = cpu_set(NULL, CPU_POSSIBLE, &possible, &last_err);
	if (rc)
		return rc;
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return err_set(&last_err, -ENOMEM, "out of memory");
	ctx->nr_cpus = opts.nr_cpus = cpuset_end(&possible);
	ctx->head.cpus = calloc(ctx->nr_cpus, sizeof(*ctx->head.cpus));
	if (load_ends_open(&ctx->ends, ctx->nr_cpus) || !ctx->head.cpus)
		rc = err_set(&last_err, -ENOMEM, "out of memory");
	if (!rc)
		rc = load_source_open(source, &opts, &ctx->source, &last_err);
	if (!rc && event && !ctx->source->ops->counts)
		rc = err_set(&last_err, -EINVAL, "source %s counts no events",
			     ctx->source->ops->name);
	if (!rc && ctx->source->parts && steal_open(&ctx->steal, ctx->nr_cpus))
		rc = err_set(&last_err, -ENOMEM, "out of memory");
	if (rc) {
		cpu_load_destroy(&ctx->head);
		return rc;
	}
	ctx->head.nr_cpus = (int)ctx->nr_cpus;
	ctx->head.base_freq_hz = ctx->source->base_hz;
	sample(ctx);
	*ret = &ctx->head;
	return 0;
}

/* The seed's callers test for < 0 and may look at errno. */
static int with_errno(int rc)
{
	if (rc)
		errno = -rc;
	return rc;
}

int cpu_load_init(struct cpu_load **ctx)
{
	return with_errno(open_source("perf-calibrated", NULL, ctx));
}

int cpu_load_init_tsc(struct cpu_load **ctx)
{
	return with_errno(open_source("perf-tsc", NULL, ctx));
}

int cpu_load_open(struct cpu_load **ret, const struct cpu_load_opts *opts)
{
	struct cpu_load_opts own = {.size = sizeof(own)};

	if (opts) {
		/* A caller with more fields than this library knows may rely on them. */
		if (opts->size > sizeof(own) || opts->size < sizeof(opts->size))
			return with_errno(err_set(&last_err, -E2BIG,
						  "struct cpu_load_opts of another version"));
		memcpy(&own, opts, opts->size);
	}
	return with_errno(open_source(own.source, own.event, ret));
}

void cpu_load_update(struct cpu_load *load)
{
	struct context *ctx = to_context(load);

	if (!ctx)
		return;
	ctx->sampled = true;
	sample(ctx);
}

float cpu_load_get(struct cpu_load *load, int cpu)
{
	return !load || cpu < 0 || cpu >= load->nr_cpus ? -1.0f : load->cpus[cpu].load;
}

int cpu_load_nr(struct cpu_load *load)
{
	return load ? load->nr_cpus : -EINVAL;
}

const char *cpu_load_source(const struct cpu_load *load)
{
	return load ? to_context(load)->source->ops->name : NULL;
}

const char *cpu_load_strerror(void)
{
	return last_err.what;
}

int cpu_load_get_split(struct cpu_load *load, int cpu, struct cpu_load_split *ret_split)
{
	static const size_t offset[LOAD_NR_PARTS] = {
		[LOAD_PART_TASK] = offsetof(struct cpu_load_split, task),
		[LOAD_PART_HARDIRQ] = offsetof(struct cpu_load_split, hardirq),
		[LOAD_PART_SOFTIRQ_ON_IDLE] = offsetof(struct cpu_load_split, softirq_on_idle),
		[LOAD_PART_SOFTIRQ_ON_TASK] = offsetof(struct cpu_load_split, softirq_on_task),
		[LOAD_PART_KSOFTIRQD] = offsetof(struct cpu_load_split, ksoftirqd),
		[LOAD_PART_IDLE_LOOP] = offsetof(struct cpu_load_split, idle_loop),
		[LOAD_PART_STEAL] = offsetof(struct cpu_load_split, steal),
		[LOAD_PART_POLL_IDLE] = offsetof(struct cpu_load_split, poll_idle),
		[LOAD_PART_IDLE] = offsetof(struct cpu_load_split, idle),
		[LOAD_PART_UNKNOWN] = offsetof(struct cpu_load_split, unknown),
	};
	struct context *ctx = to_context(load);
	struct load_cpu_window w;
	uint32_t parts;
	bool figure;

	if (!ctx || !ret_split || cpu < 0 || (unsigned int)cpu >= ctx->nr_cpus)
		return -EINVAL;
	parts = ctx->source->parts;
	window_of(ctx, cpu, &w);
	figure = !(w.flags & LOAD_NO_FIGURE);
	if (steal_known(&ctx->steal))
		parts |= 1u << LOAD_PART_STEAL;
	for (int i = 0; i < LOAD_NR_PARTS; i++) {
		float *share = (float *)((char *)ret_split + offset[i]);

		*share = figure && parts >> i & 1 ? (float)load_part_ratio(&w, i) : -1.0f;
	}
	ret_split->window_ns = w.window_ns;
	ret_split->busy = figure ? (float)w.busy_ratio : -1.0f;
	ret_split->closure_error =
		figure && ctx->source->parts ? (float)w.closure_error_ratio : -1.0f;
	ret_split->flags = w.flags;
	return 0;
}

void cpu_load_destroy(struct cpu_load *load)
{
	struct context *ctx = to_context(load);

	if (!ctx)
		return;
	load_source_close(ctx->source);
	steal_close(&ctx->steal);
	free(ctx->head.cpus);
	load_ends_close(&ctx->ends);
	free(ctx);
}
