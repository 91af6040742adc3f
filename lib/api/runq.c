/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The runq_latency API on top of the runq measurement. */
#include "subtick/runq.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/runq/runq.h"
#include "stats/runq.h"

struct runq_latency {
	struct meter *meter;
	bool all; /* no cgroup was asked for by name */
	struct runq_latency_group *groups;
	struct runq_latency_pressure *pressures;
	struct runq_latency_blame *blames;
};

static __thread struct err last_err;

/* Begins a call; false with -EINVAL in last_err if one of the two pointers that it needs is NULL. */
static bool begin(const void *one, const void *two)
{
	last_err = (struct err){0};
	if (!one || !two)
		err_set(&last_err, -EINVAL, "a pointer is NULL");
	return one && two;
}

/* Index in @words, 0 for NULL. */
static int word_index(const char *word, const char *const *words, const char *what)
{
	int index = word ? opt_index(words, word) : 0;

	return index < 0 ? err_set(&last_err, -EINVAL, "unknown %s %s", what, word) : index;
}

static int convert_opts(const struct runq_latency_opts *from, struct runq_opts *to)
{
	int source = word_index(from->source, runq_source_names, "source");
	int hierarchy = word_index(from->hierarchy, runq_hierarchy_names, "hierarchy");
	int per = word_index(from->per, runq_per_names, "kind of group");

	if (source < 0 || hierarchy < 0 || per < 0)
		return -EINVAL;
	if ((from->nr_cgroups && !from->cgroups) || (from->nr_le && !from->le_ns))
		return err_set(&last_err, -EINVAL, "a list of cgroups or boundaries is NULL");
	for (size_t i = 0; i < from->nr_cgroups; i++)
		if (!from->cgroups[i])
			return err_set(&last_err, -EINVAL, "cgroup %zu is NULL", i);
	if (from->nr_le > RUNQ_NR_LE)
		return err_set(&last_err, -EINVAL, "at most %d boundaries", RUNQ_NR_LE);
	*to = (struct runq_opts){
		.source = source,
		.hierarchy = hierarchy,
		.cgroups = from->cgroups,
		.nr_cgroups = from->nr_cgroups,
		/* Every cgroup already has its own group unless cgroups are named or summed. */
		.tree = from->tree && (from->nr_cgroups || from->depth || per),
		.nr_le = from->nr_le,
		.sample_ratio = from->sample_ratio,
		.depth = from->depth,
		.pressure = from->pressure,
		.blame = from->blame,
		.blame_rows = from->blame,
		.causes = from->causes || from->blame,
	};
	if (from->nr_le)
		memcpy(to->le_ns, from->le_ns, from->nr_le * sizeof(*to->le_ns));
	runq_opts_per(to, per);
	if (to->per != RUNQ_PER_CGROUP)
		return err_set(&last_err, -EINVAL, "groups of kind %s are for subtick runq only",
			       from->per);
	if (runq_opts_check(to, &last_err))
		opt_plain(&last_err);
	return last_err.code;
}

int runq_latency_open(struct runq_latency **ret, const struct runq_latency_opts *opts)
{
	struct runq_latency_opts own = {.size = sizeof(own)};
	struct runq_opts runq = {0};
	struct runq_latency *ctx;
	int rc;

	if (!begin(ret, ret))
		return -EINVAL;
	if (opts) {
		/* Fields this library does not know must not have been asked for. */
		if (opts->size > sizeof(own) || opts->size < sizeof(opts->size))
			return err_set(&last_err, -E2BIG,
				       "struct runq_latency_opts of another version");
		memcpy(&own, opts, opts->size);
	}
	rc = convert_opts(&own, &runq);
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
	ctx->all = !runq.nr_cgroups;
	*ret = ctx;
	return 0;
}

static void group_fill(const struct runq_group_window *from, bool causes,
		       struct runq_latency_group *to)
{
	static const struct runq_group none;
	const struct runq_group *who = from->party.group ? from->party.group : &none;

	*to = (struct runq_latency_group){
		.cgroup = runq_party_path(&from->party),
		.cgroup_id = who->cgroup_id,
		.pod_uid = who->pod_uid,
		.container_id = who->container_id,
		.qos = who->qos,
		.count = from->count,
		.sum_ns = from->sum_ns,
		.max_ns = from->max_ns,
		.le_count = from->le_count,
		.histogram = from,
		.ended = from->ended,
	};
	if (causes)
		to->causes = (struct runq_latency_causes){
			.idle_exit_ns = from->cause_ns[RUNQ_IDLE],
			.same_group_ns = from->cause_ns[RUNQ_SAME],
			.other_group_ns = from->cause_ns[RUNQ_OTHER],
			.kernel_thread_ns = from->cause_ns[RUNQ_KTHREAD],
			.preempted_ns = from->cause_ns[RUNQ_PREEMPTED],
			.throttled_ns = from->cause_ns[RUNQ_THROTTLED],
			.migrated_ns = from->cause_ns[RUNQ_MIGRATED],
			.unknown_ns = from->cause_ns[RUNQ_UNKNOWN],
		};
	if (!who->names)
		return;
	to->namespace_name = who->names->namespace;
	to->pod = who->names->pod;
	to->container = who->names->container;
	to->image = who->names->image;
}

int runq_latency_read(struct runq_latency *ctx, struct runq_latency_window *ret_window)
{
	const struct runq_window *w;
	size_t nr = 0;
	int rc;

	if (!begin(ctx, ret_window))
		return -EINVAL;
	rc = ctx->meter->ops->read(ctx->meter, &last_err);
	if (rc)
		return rc;
	w = runq_window(ctx->meter);
	free(ctx->groups);
	ctx->groups = calloc(w->nr_groups + 1, sizeof(*ctx->groups));
	if (!ctx->groups)
		return err_set(&last_err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < w->nr_groups; i++) {
		bool other = w->groups[i].party.kind == RUNQ_PARTY_OTHER;

		if (w->groups[i].count && (ctx->all || !other))
			group_fill(&w->groups[i], w->has_causes, &ctx->groups[nr++]);
	}
	*ret_window = (struct runq_latency_window){
		.window_ns = w->window_ns,
		.groups = ctx->groups,
		.nr_groups = nr,
		.le_ns = w->le_ns,
		.nr_le = w->nr_le,
		.unknown_start_total = w->losses.unknown_start,
		.table_full_total = w->losses.table_full,
		.negative_total = w->losses.negative,
		.recursion_misses_total = w->losses.recursion_misses,
		.schedstat_ratio = isfinite(w->schedstat_ratio) ? w->schedstat_ratio : -1.0,
	};
	return 0;
}

static struct runq_latency_party party_of(const struct runq_party *from)
{
	static const struct runq_group_names no_names;
	static const struct runq_group none;
	const struct runq_group *who = from->group ? from->group : &none;
	const struct runq_group_names *names = who->names ? who->names : &no_names;

	return (struct runq_latency_party){
		.cgroup = runq_party_path(from),
		.cgroup_id = who->cgroup_id,
		.pod_uid = who->pod_uid,
		.container_id = who->container_id,
		.qos = who->qos,
		.namespace_name = names->namespace,
		.pod = names->pod,
		.container = names->container,
		.image = names->image,
	};
}

static struct runq_latency_pressure_causes pressure_causes(const uint64_t ns[RUNQ_PRESSURE_NR_CAUSES])
{
	return (struct runq_latency_pressure_causes){
		.contention_ns = ns[RUNQ_PRESSURE_CONTENTION],
		.kernel_thread_ns = ns[RUNQ_PRESSURE_KTHREAD],
		.idle_exit_ns = ns[RUNQ_PRESSURE_IDLE],
		.quota_ns = ns[RUNQ_PRESSURE_QUOTA],
	};
}

static void pressure_fill(const struct runq_pressed *from, struct runq_latency_pressure *to)
{
	*to = (struct runq_latency_pressure){
		.group = party_of(&(struct runq_party){RUNQ_PARTY_GROUP, from->group}),
		.waiting_ns = runq_pressure_sum(from->times.waiting_ns),
		.stalled_ns = runq_pressure_sum(from->times.stalled_ns),
		.waiting = pressure_causes(from->times.waiting_ns),
		.stalled = pressure_causes(from->times.stalled_ns),
		.psi_waiting_ns = from->psi_waiting_ns,
		.psi_stalled_ns = from->psi_stalled_ns,
	};
}

int runq_latency_pressure(struct runq_latency *ctx, struct runq_latency_pressures *ret_pressures)
{
	const struct runq_window *w;

	if (!begin(ctx, ret_pressures))
		return -EINVAL;
	w = runq_window(ctx->meter);
	if (!w->has_pressure)
		return err_set(&last_err, -EINVAL, "the context was opened without pressure");
	free(ctx->pressures);
	ctx->pressures = calloc(w->nr_pressed + 1, sizeof(*ctx->pressures));
	if (!ctx->pressures)
		return err_set(&last_err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < w->nr_pressed; i++)
		pressure_fill(&w->pressed[i], &ctx->pressures[i]);
	*ret_pressures = (struct runq_latency_pressures){
		.rows = ctx->pressures,
		.nr_rows = w->nr_pressed,
		.full_total = w->pressure_losses.full,
		.shared_total = w->pressure_losses.shared,
		.crowded_total = w->pressure_losses.crowded,
		.unstable_total = w->pressure_losses.unstable,
	};
	return 0;
}

int runq_latency_blame(struct runq_latency *ctx, struct runq_latency_blames *ret_blames)
{
	const struct runq_window *w;

	if (!begin(ctx, ret_blames))
		return -EINVAL;
	w = runq_window(ctx->meter);
	if (!w->has_blame)
		return err_set(&last_err, -EINVAL, "the context was opened without blame");
	free(ctx->blames);
	ctx->blames = calloc(w->nr_blame + 1, sizeof(*ctx->blames));
	if (!ctx->blames)
		return err_set(&last_err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < w->nr_blame; i++)
		ctx->blames[i] = (struct runq_latency_blame){
			.victim = party_of(&w->blame[i].victim),
			.culprit = party_of(&w->blame[i].culprit),
			.wait_ns = w->blame[i].wait_ns,
			.count = w->blame[i].count,
		};
	*ret_blames = (struct runq_latency_blames){
		.rows = ctx->blames,
		.nr_rows = w->nr_blame,
		.full_total = w->losses.blame_full,
	};
	return 0;
}

const struct runq_latency_group *runq_latency_find(const struct runq_latency_window *window,
						   const char *cgroup)
{
	for (size_t i = 0; window && cgroup && i < window->nr_groups; i++)
		if (!strcmp(window->groups[i].cgroup, cgroup))
			return &window->groups[i];
	return NULL;
}

double runq_latency_percentile(const struct runq_latency_group *group, double percent)
{
	const struct runq_group_window *row = group ? group->histogram : NULL;

	return row ? hist_value_at(&hist_fine, &row->hist, row->max_ns, percent) : -1.0;
}

double runq_latency_average(const struct runq_latency_group *group)
{
	return group && group->count ? (double)group->sum_ns / (double)group->count : -1.0;
}

int runq_latency_fd(const struct runq_latency *ctx)
{
	return begin(ctx, ctx) ? ctx->meter->ops->event_fd(ctx->meter) : -EINVAL;
}

int runq_latency_service(struct runq_latency *ctx)
{
	return begin(ctx, ctx) ? ctx->meter->ops->event(ctx->meter, &last_err) : -EINVAL;
}

const char *runq_latency_source(const struct runq_latency *ctx)
{
	return ctx ? runq_source_names[runq_window(ctx->meter)->source] : NULL;
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
	free(ctx->pressures);
	free(ctx->blames);
	free(ctx);
}
