/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds the nanoseconds of load windows to the counters. */
#include <math.h>
#include <stdio.h>

#include "serve/export/collector.h"
#include "serve/log.h"
#include "measure/load/load.h"

static int load_collector_open(const struct config *config, struct meter *load,
			       struct meter **ret_meter, struct err *err)
{
	static const char *const beside[] = {"procstat", NULL};
	struct load_opts opts = {
		.compare = true,
		.compare_with = beside,
		.softirq = true,
		.cores = true,
		/* Collector runq finds the paths of the cgroups by their ids. */
		.cgroup_ids =
			config->core_pairs > 0 && config_collects(config, CONFIG_COLLECT_runq),
		.noise = config_collects(config, CONFIG_COLLECT_noise),
		.wake = config_collects(config, CONFIG_COLLECT_wake),
	};

	/*
	 * load_open() fails or uses a worse source in three cases: the machine has no SMT, the
	 * kernel cannot run the programs for pairs of cgroups, or the verifier refuses programs
	 * that also count for collector noise. load_open() is then called again with fewer
	 * counters.
	 */
	for (;;) {
		int rc = load_open(&opts, ret_meter, err);

		if ((!rc && !load_window(*ret_meter)->passed_over) || (!opts.cores && !opts.noise))
			return rc;
		if (!rc)
			(*ret_meter)->ops->close(*ret_meter);
		if (opts.cgroup_ids) {
			log_line("pairs of cgroups on one core are not collected: %s",
				 rc ? err->what
				    : "the source of collector load cannot measure physical cores");
			opts.cgroup_ids = false;
		} else if (opts.cores) {
			opts.cores = false;
		} else {
			opts.noise = false;
		}
		*err = (struct err){0};
	}
}

static void absorb_contexts(struct store *store, struct series_row *row, uint32_t parts,
			    const struct load_cpu_window *c)
{
	for (int i = 0; i < LOAD_NR_PARTS; i++)
		if (parts >> i & 1)
			store_sample(store, row, F_CPU, i)->u64 += c->part_ns[i];
	/* A load source without parts measures busy time without a split into contexts. */
	if (!parts) {
		store_sample(store, row, F_CPU, STORE_BUSY)->u64 += c->busy_ns;
		store_sample(store, row, F_CPU, STORE_IDLE)->u64 += c->window_ns - c->busy_ns;
	}
}

/* Converts the busy ratio of /proc/stat into busy time in the window of the CPU. */
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

static void number(char buf[12], uint32_t id)
{
	buf[0] = '\0';
	if (id != UINT32_MAX)
		snprintf(buf, 12, "%u", id);
}

/* A core is identified by its CPUs, because its number need not be unique. */
static void absorb_core(struct store *store, const struct load_core *core)
{
	bool alone = core->cpu[0] == core->cpu[1];
	char id[12], package[12], cpus[32];
	const struct label pairs[] = {LABEL("package", package), LABEL("core", id), LABEL("cpus", cpus)};
	struct series_row *row;

	if (core->flags & LOAD_NO_FIGURE)
		return;
	number(package, core->package);
	number(id, core->core);
	snprintf(cpus, sizeof(cpus), alone ? "%u" : "%u,%u", core->cpu[0], core->cpu[1]);
	row = store_row(store, F_CORE, pairs, 3);
	for (int busy = 0; busy < LOAD_NR_SIBLINGS; busy++)
		if (busy != LOAD_SIBLINGS_ONE || !alone)
			store_sample(store, row, F_CORE, busy)->u64 += core->busy_ns[busy];
}

/* If the load source lacks a loss counter, the loss counter is not exported. */
static void absorb_losses(struct store *store, const struct load_losses *losses)
{
#define LOSS(member, key)                \
	if (losses->member != LOAD_NO_LOSS) \
		store_loss(store, "load", #key, losses->member);
	LOAD_LOSSES(LOSS)
}

void load_absorb(struct store *store, const struct load_window *w)
{
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
	for (size_t i = 0; w->cores && i < w->nr_cores; i++)
		absorb_core(store, &w->cores[i]);
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
};
