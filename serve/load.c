/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds the nanoseconds of load windows to the counters. */
#include "load.h"

#include <math.h>
#include <stdio.h>

#include "collectors.h"
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
		.noise = config->collect >> CONFIG_COLLECT_noise & 1,
	};

	return load_open(&opts, ret_meter, err);
}

static void add_context(struct store *store, const char *cpu, const char *context, uint64_t ns)
{
	char labels[96];

	snprintf(labels, sizeof(labels), "%s,context=\"%s\"", cpu, context);
	store_add(store, F_CPU, labels, ns);
}

static void absorb_contexts(struct store *store, const char *cpu, uint32_t parts,
			    const struct load_cpu_window *c)
{
	for (int i = 0; i < LOAD_NR_PARTS; i++)
		if (parts >> i & 1)
			add_context(store, cpu, load_part_name(i), c->part_ns[i]);
	/* A source that knows how busy a core is, but not with what. */
	if (!parts) {
		add_context(store, cpu, "busy", c->busy_ns);
		add_context(store, cpu, "idle", c->window_ns - c->busy_ns);
	}
}

/* The busy share of /proc/stat times the core's own window, so that the two can be compared. */
static void absorb_procstat(struct store *store, const char *cpu,
			    const struct load_cpu_window *shown, const struct load_cpu_window *c)
{
	if (!shown)
		return;
	store_add(store, F_PROCSTAT_BUSY, cpu, llround(shown->busy_ratio * (double)c->window_ns));
	store_set_f64(store, F_PROCSTAT_ERROR, cpu, shown->busy_ratio - c->busy_ratio);
}

static void absorb_void(struct store *store, const char *cpu, uint32_t flags)
{
	char reason[96], labels[160];

	if (flags == LOAD_OFFLINE)
		return;
	load_flags_format(flags, reason, sizeof(reason));
	snprintf(labels, sizeof(labels), "%s,reason=\"%s\"", cpu, reason);
	store_add(store, F_CPU_VOID, labels, 1);
}

static void absorb_vecs(struct store *store, const char *cpu, const struct load_vecs *vecs)
{
	char labels[96];

	for (int i = 0; i < LOAD_NR_VECS; i++) {
		if (!vecs->ns[i] && !vecs->count[i])
			continue;
		snprintf(labels, sizeof(labels), "%s,vec=\"%s\"", cpu, load_vec_name(i));
		store_add(store, F_SOFTIRQ, labels, vecs->ns[i]);
		store_add(store, F_SOFTIRQ_RUNS, labels, vecs->count[i]);
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

void load_absorb(struct store *store, const struct config *config, const struct load_window *w)
{
	unsigned int at;

	cpuset_for_each(at, &w->cpus) {
		const struct load_cpu_window *c = &w->cpu[at];
		char cpu[24];

		snprintf(cpu, sizeof(cpu), "cpu=\"%u\"", at);
		store_set(store, F_CPU_ONLINE, cpu, !(c->flags & LOAD_OFFLINE));
		if (c->flags & LOAD_NO_FIGURE) {
			absorb_void(store, cpu, c->flags);
			continue;
		}
		absorb_contexts(store, cpu, w->parts, c);
		absorb_procstat(store, cpu, load_shown(w, "procstat", at), c);
		if (w->parts)
			store_set_f64(store, F_CPU_CLOSURE, cpu, c->closure_error_ratio);
		if (w->cpu_vecs)
			absorb_vecs(store, cpu, &w->cpu_vecs[at]);
	}
	absorb_losses(store, &w->losses);
}

static void load_collector_absorb(struct store *store, const struct config *config,
				  const struct meter *meter)
{
	load_absorb(store, config, load_window(meter));
}

const struct collector_ops collector_load = {
	.name = "load",
	.open = load_collector_open,
	.absorb = load_collector_absorb,
	.present = present_load,
};
