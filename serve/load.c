/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds the nanoseconds of load windows to the counters. */
#include <math.h>

#include "collector.h"
#include "measure/load/load.h"
#include "present/present.h"

static int load_collector_open(const struct config *config, struct meter *load,
			       struct meter **ret_meter, struct err *err)
{
	static const char *const beside[] = {"procstat", NULL};
	struct load_opts opts = {
		.compare = true,
		.compare_with = beside,
		.softirq = true,
		.noise = config_collects(config, CONFIG_COLLECT_noise),
		.wake = config_collects(config, CONFIG_COLLECT_wake),
	};
	int rc = load_open(&opts, ret_meter, err);

	if (!opts.noise || (!rc && !load_window(*ret_meter)->passed_over))
		return rc;
	/* The programs that also count for noise were refused. */
	if (!rc)
		(*ret_meter)->ops->close(*ret_meter);
	opts.noise = false;
	*err = (struct err){0};
	return load_open(&opts, ret_meter, err);
}

static void absorb_contexts(struct store *store, struct series_row *row, uint32_t parts,
			    const struct load_cpu_window *c)
{
	for (int i = 0; i < LOAD_NR_PARTS; i++)
		if (parts >> i & 1)
			store_sample(store, row, F_CPU, i)->u64 += c->part_ns[i];
	/* A source that knows how busy a core is, but not with what. */
	if (!parts) {
		store_sample(store, row, F_CPU, STORE_BUSY)->u64 += c->busy_ns;
		store_sample(store, row, F_CPU, STORE_IDLE)->u64 += c->window_ns - c->busy_ns;
	}
}

/* The busy share of /proc/stat times the core's own window, so that the two can be compared. */
static void absorb_procstat(struct store *store, struct series_row *row,
			    const struct load_cpu_window *shown, const struct load_cpu_window *c)
{
	if (!shown)
		return;
	store_sample(store, row, F_PROCSTAT_BUSY, 0)->u64 +=
		llround(shown->busy_ratio * (double)c->window_ns);
	store_sample(store, row, F_PROCSTAT_ERROR, 0)->f64 = shown->busy_ratio - c->busy_ratio;
}

static void absorb_unmeasured(struct store *store, unsigned int cpu, uint32_t flags)
{
	char reason[96];
	const struct label pairs[] = {LABEL_NUMBER("cpu", cpu), LABEL("reason", reason)};

	if (flags == LOAD_OFFLINE)
		return;
	load_flags_format(flags, reason, sizeof(reason));
	store_sample(store, store_row(store, F_CPU_VOID, pairs, 2), F_CPU_VOID, 0)->u64++;
}

static void absorb_vecs(struct store *store, struct series_row *row, const struct load_vecs *vecs)
{
	for (int i = 0; i < LOAD_NR_VECS; i++) {
		if (!vecs->ns[i] && !vecs->count[i])
			continue;
		store_sample(store, row, F_SOFTIRQ, i)->u64 += vecs->ns[i];
		store_sample(store, row, F_SOFTIRQ_RUNS, i)->u64 += vecs->count[i];
	}
}

/* A source without a counter has no series of it. */
static void absorb_losses(struct store *store, const struct load_losses *losses)
{
#define LOSS(member, key)                \
	if (losses->member != LOAD_NO_LOSS) \
		store_loss(store, "load", #key, losses->member);
	LOAD_LOSSES(LOSS)
}

void load_absorb(struct store *store, const struct load_window *w)
{
	unsigned int at;

	cpuset_for_each(at, &w->cpus) {
		const struct load_cpu_window *c = &w->cpu[at];
		const struct label label = LABEL_NUMBER("cpu", at);
		struct series_row *row = store_row(store, F_CPU, &label, 1);

		store_sample(store, row, F_CPU_ONLINE, 0)->u64 = !(c->flags & LOAD_OFFLINE);
		if (c->flags & LOAD_NO_FIGURE) {
			absorb_unmeasured(store, at, c->flags);
			continue;
		}
		absorb_contexts(store, row, w->parts, c);
		absorb_procstat(store, row, load_shown(w, "procstat", at), c);
		if (w->parts)
			store_sample(store, row, F_CPU_CLOSURE, 0)->f64 = c->closure_error_ratio;
		if (w->cpu_vecs)
			absorb_vecs(store, row, &w->cpu_vecs[at]);
	}
	absorb_losses(store, &w->losses);
}

static void load_collector_absorb(struct store *store, const struct meter *meter)
{
	const struct load_window *w = load_window(meter);

	store_window(store, "load", w->source, w->time_unix_ns);
	load_absorb(store, w);
}

const struct collector_ops collector_load = {
	.name = "load",
	.open = load_collector_open,
	.absorb = load_collector_absorb,
	.present = present_load,
};
