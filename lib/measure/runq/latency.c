/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The runq_latency API on top of the runq measurement. */
#include "subtick/runq.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/runq/report.h"
#include "stats/hist.h"

struct runq_latency {
	struct meter *meter;
	double sample_ratio;
	uint64_t le_ns[RUNQ_NR_LE];
	unsigned int nr_le;
	enum runq_source source;
	struct runq_latency_group *groups;
	uint64_t *le_counts;
};

static __thread struct err last_err;

static const char *const sources[] = {"auto", "sched_info", "wakeup"};
static const char *const hierarchies[] = {"auto", "v1", "v2"};

static int word_index(const char *word, const char *const *words, const char *what)
{
	for (int i = 0; i < 3; i++)
		if (!word || !strcmp(word, words[i]))
			return i;
	return err_set(&last_err, -EINVAL, "unknown %s %s", what, word);
}

static int take_opts(const struct runq_latency_opts *from, struct runq_opts *to)
{
	uint8_t in[HIST_NR];
	unsigned int bad;
	int source, hierarchy;

	if (from->nr_le > RUNQ_NR_LE)
		return err_set(&last_err, -EINVAL, "more than %d boundaries", RUNQ_NR_LE);
	if (from->nr_le)
		memcpy(to->le_ns, from->le_ns, from->nr_le * sizeof(*to->le_ns));
	to->nr_le = from->nr_le;
	if (runq_le_place(to->le_ns, to->nr_le, in, &bad))
		return err_set(&last_err, -EINVAL,
			       "boundary %u is not above the one before it by 3.2 %% or more",
			       bad + 1);
	if (!(from->sample_ratio >= 0.0 && from->sample_ratio <= 1.0))
		return err_set(&last_err, -EINVAL, "a sampling ratio outside 0…1");
	source = word_index(from->source, sources, "source");
	hierarchy = word_index(from->hierarchy, hierarchies, "hierarchy");
	if (source < 0 || hierarchy < 0)
		return -EINVAL;
	to->source = (enum runq_source)source;
	to->hierarchy = (enum runq_hierarchy)hierarchy;
	to->sample_ratio = from->sample_ratio;
	to->cgroups = from->cgroups;
	to->nr_cgroups = from->nr_cgroups;
	to->tree = from->tree;
	return 0;
}

int runq_latency_open(struct runq_latency **ret, const struct runq_latency_opts *opts)
{
	struct runq_latency_opts own = {.size = sizeof(own)};
	struct runq_opts runq = {0};
	struct runq_latency *ctx;
	int rc;

	last_err = (struct err){0};
	if (opts) {
		/* Fields this library does not know must not have been asked for. */
		if (opts->size > sizeof(own) || opts->size < sizeof(opts->size))
			return err_set(&last_err, -E2BIG,
				       "struct runq_latency_opts of another version");
		memcpy(&own, opts, opts->size);
	}
	rc = take_opts(&own, &runq);
	if (rc)
		return rc;
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return err_set(&last_err, -ENOMEM, "out of memory");
	rc = runq_open(&runq, &ctx->meter, &last_err);
	if (!rc)
		rc = ctx->meter->ops->start(ctx->meter, &last_err);
	if (rc) {
		runq_latency_close(ctx);
		return rc;
	}
	runq_used(ctx->meter, &runq);
	ctx->source = runq.source;
	ctx->sample_ratio = runq.sample_ratio;
	ctx->nr_le = runq.nr_le;
	memcpy(ctx->le_ns, runq.le_ns, sizeof(ctx->le_ns));
	*ret = ctx;
	return 0;
}

static uint64_t scaled(const struct runq_latency *ctx, uint64_t figure)
{
	return ctx->sample_ratio > 0.0 ? (uint64_t)llround((double)figure / ctx->sample_ratio)
				       : figure;
}

static void group_fill(const struct runq_latency *ctx, const struct runq_group *from,
		       uint64_t *le_count, struct runq_latency_group *to)
{
	uint64_t *cause = (uint64_t *)&to->causes;
	struct runq_totals totals;

	runq_unpack(from->waits, &totals);
	*to = (struct runq_latency_group){
		.cgroup = from->path,
		.cgroup_id = from->cgroup_id,
		.count = scaled(ctx, runq_totals_count(&totals)),
		.sum_ns = scaled(ctx, from->sum_ns),
		.max_ns = runq_totals_max_ns(&totals),
		.le_count = le_count,
		.histogram = from->waits,
		.ended = from->ended,
	};
	/* The public struct has them in the order of enum runq_cause. */
	for (int i = 0; i < RUNQ_NR_CAUSES; i++)
		cause[i] = scaled(ctx, totals.cause_ns[i]);
	for (unsigned int i = 0; i < ctx->nr_le; i++)
		le_count[i] = scaled(ctx, runq_le_count(&totals, ctx->le_ns[i], i));
}

_Static_assert(sizeof(struct runq_latency_causes) == RUNQ_NR_CAUSES * sizeof(uint64_t),
	       "one public field per cause");

int runq_latency_read(struct runq_latency *ctx, struct runq_latency_window *ret_window)
{
	struct runq_result r;
	size_t nr = 0;
	double ratio;
	int rc;

	last_err = (struct err){0};
	rc = runq_window(ctx->meter, &r, &last_err);
	if (rc)
		return rc;
	free(ctx->groups);
	free(ctx->le_counts);
	ctx->groups = calloc(r.nr_groups + 1, sizeof(*ctx->groups));
	ctx->le_counts = calloc(r.nr_groups * ctx->nr_le + 1, sizeof(*ctx->le_counts));
	if (!ctx->groups || !ctx->le_counts)
		return err_set(&last_err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < r.nr_groups; i++) {
		if (!runq_wanted(&r, r.groups[i]->path))
			continue;
		group_fill(ctx, r.groups[i], &ctx->le_counts[nr * ctx->nr_le], &ctx->groups[nr]);
		nr++;
	}
	ratio = runq_schedstat_ratio(&r.was, &r.now);
	*ret_window = (struct runq_latency_window){
		.window_ns = r.window_ns,
		.groups = ctx->groups,
		.nr_groups = nr,
		.le_ns = ctx->le_ns,
		.nr_le = ctx->nr_le,
		.unknown_start_total = r.now.unknown_start,
		.table_full_total = r.now.table_full,
		.negative_total = r.now.negative,
		.recursion_misses_total = r.now.recursion_misses,
		.schedstat_ratio = isfinite(ratio) ? ratio : -1.0,
	};
	return 0;
}

const struct runq_latency_group *runq_latency_find(const struct runq_latency_window *window,
						   const char *cgroup)
{
	for (size_t i = 0; i < window->nr_groups; i++)
		if (!strcmp(window->groups[i].cgroup, cgroup))
			return &window->groups[i];
	return NULL;
}

double runq_latency_percentile(const struct runq_latency_group *group, double percent)
{
	struct runq_totals totals;
	double value;

	runq_unpack(group->histogram, &totals);
	value = hist_percentile(totals.count, percent);
	return value > (double)group->max_ns ? (double)group->max_ns : value;
}

double runq_latency_average(const struct runq_latency_group *group)
{
	return group->count ? (double)group->sum_ns / (double)group->count : -1.0;
}

int runq_latency_fd(const struct runq_latency *ctx)
{
	return ctx->meter->ops->event_fd(ctx->meter);
}

int runq_latency_service(struct runq_latency *ctx)
{
	struct report *report = NULL;

	last_err = (struct err){0};
	return ctx->meter->ops->event(ctx->meter, &report, &last_err);
}

const char *runq_latency_source(const struct runq_latency *ctx)
{
	return runq_source_name(ctx->source);
}

const char *runq_latency_strerror(void)
{
	return last_err.what;
}

void runq_latency_close(struct runq_latency *ctx)
{
	if (!ctx)
		return;
	if (ctx->meter)
		ctx->meter->ops->close(ctx->meter);
	free(ctx->groups);
	free(ctx->le_counts);
	free(ctx);
}
