/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implements the cpu_load functions of gtp-guard with the sources of load. */
#include "subtick/gtp-guard/cpu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/api.h"
#include "base/cpuset.h"
#include "measure/load/sources.h"
#include "host/cpu.h"

/* Only the member `head` of struct context is public: gtp-guard/cpu.h declares struct cpu_load. */
struct context {
	struct cpu_load head;
	struct load_source *source;
	struct blocks memory; /* memory blocks of the per-CPU arrays */
	struct load_ends ends;
	unsigned int nr_cpus;
	bool sampled; /* true if ends.prev and ends.cur are both valid samples */
	/*
	 * Value of cpu_perf.fd for CPUs whose load is available: an O_PATH descriptor, on which
	 * read() and ioctl() fail with EBADF, because all contexts share the hardware counters.
	 */
	int fd;
};

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
}

static void sample(struct context *ctx)
{
	load_ends_sample(&ctx->ends, ctx->source);
	for (unsigned int cpu = 0; cpu < ctx->nr_cpus; cpu++) {
		const struct load_sample *cur = &ctx->ends.cur[cpu];
		struct cpu_perf *shown = &ctx->head.cpus[cpu];
		struct load_cpu_window w;

		window_of(ctx, cpu, &w);
		shown->fd = cur->flags & LOAD_VOID ? -1 : ctx->fd;
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

static int open_source(const char *source, struct cpu_load **ret)
{
	struct load_source_opts opts = {0};
	struct err *err = api_err();
	struct context *ctx;
	struct cpuset possible;
	int rc;

	if (!ret)
		return err_set(err, -EINVAL, "the pointer for the context is NULL");
	rc = cpu_set(NULL, CPU_POSSIBLE, &possible, err);
	if (rc)
		return rc;
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return err_set(err, -ENOMEM, "out of memory");
	ctx->nr_cpus = opts.nr_cpus = cpuset_end(&possible);
	ctx->fd = open("/", O_PATH | O_CLOEXEC);
	if (ctx->fd < 0)
		rc = err_set(err, -errno, "cannot open a descriptor: %s", strerror(errno));
	ctx->head.cpus = blocks_calloc(&ctx->memory, ctx->nr_cpus, sizeof(*ctx->head.cpus));
	load_ends_open(&ctx->ends, &ctx->memory, ctx->nr_cpus);
	if (ctx->memory.failed)
		rc = err_set(err, -ENOMEM, "out of memory");
	if (!rc)
		rc = load_source_open(source, &opts, &ctx->source, err);
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

/* Sets errno from @rc, because callers of gtp-guard's functions may read errno. */
static int with_errno(int rc)
{
	if (rc)
		errno = -rc;
	return rc;
}

int cpu_load_init(struct cpu_load **ctx)
{
	return with_errno(open_source("perf-calibrated", ctx));
}

int cpu_load_init_tsc(struct cpu_load **ctx)
{
	return with_errno(open_source("perf-tsc", ctx));
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

void cpu_load_destroy(struct cpu_load *load)
{
	struct context *ctx = to_context(load);

	if (!ctx)
		return;
	load_source_close(ctx->source);
	if (ctx->fd >= 0)
		close(ctx->fd);
	blocks_free(&ctx->memory);
	free(ctx);
}
