/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows of load as counters: shares of a window times its length, added up. */
#include "collectors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/load/load.h"
#include "view/prom.h"

static const enum metric_id contexts[] = {
	M_TASK_RATIO,	   M_HARDIRQ_RATIO, M_SOFTIRQ_ON_IDLE_RATIO, M_SOFTIRQ_ON_TASK_RATIO,
	M_KSOFTIRQD_RATIO, M_IDLE_LOOP_RATIO, M_STEAL_RATIO,	     M_UNKNOWN_RATIO,
	M_POLL_IDLE_RATIO, M_IDLE_RATIO,
};

/* One row of the table of CPUs. */
struct row {
	const struct table *table;
	size_t at;
	char cpu[24];
	uint64_t window_ns;
};

static int load_collector_open(const struct config *config, struct meter **ret_meter,
			       struct err *err)
{
	static const char *const beside[] = {"procstat", NULL};
	struct load_opts opts = {.compare = true, .compare_with = beside, .softirq = true};

	(void)config;
	return load_open(&opts, ret_meter, err);
}

static const struct value *cell(const struct row *row, enum metric_id id)
{
	return collector_cell(row->table, row->at, metric_get(id)->key);
}

static void add_share(struct store *store, const struct row *row, enum family_id id,
		      const char *labels, double ratio)
{
	store_add(store, id, labels, llround(ratio * (double)row->window_ns));
}

static void add_context(struct store *store, const struct row *row, const char *key, size_t len,
			double ratio)
{
	char labels[96];

	snprintf(labels, sizeof(labels), "%s,context=\"%.*s\"", row->cpu, (int)len, key);
	add_share(store, row, F_CPU, labels, ratio);
}

static void absorb_contexts(struct store *store, const struct row *row)
{
	const struct value *busy = cell(row, M_BUSY_RATIO);
	bool split = false;

	for (size_t i = 0; i < sizeof(contexts) / sizeof(contexts[0]); i++) {
		const char *key = metric_get(contexts[i])->key;
		const struct value *value = cell(row, contexts[i]);

		if (value->kind != VALUE_F64)
			continue;
		add_context(store, row, key, strlen(key) - strlen("_ratio"), value->f64);
		split = true;
	}
	/* A source that knows how busy but not with what. */
	if (!split && busy->kind == VALUE_F64) {
		add_context(store, row, "busy", 4, busy->f64);
		add_context(store, row, "idle", 4, 1.0 - busy->f64);
	}
}

static void absorb_procstat(struct store *store, const struct row *row)
{
	const struct value *busy = cell(row, M_BUSY_RATIO), *other = cell(row, M_CMP_PROCSTAT);

	if (other->kind != VALUE_F64)
		return;
	add_share(store, row, F_PROCSTAT_BUSY, row->cpu, other->f64);
	if (busy->kind == VALUE_F64)
		store_set_f64(store, F_PROCSTAT_ERROR, row->cpu, other->f64 - busy->f64);
}

static void absorb_void(struct store *store, const struct row *row)
{
	const struct value *flags = cell(row, M_FLAGS);
	char labels[160];

	if (flags->kind != VALUE_STR || !strcmp(flags->str, "offline"))
		return;
	snprintf(labels, sizeof(labels), "%s,reason=\"%s\"", row->cpu, flags->str);
	store_add(store, F_CPU_VOID, labels, 1);
}

static void absorb_cpu(struct store *store, struct row *row)
{
	const struct value *cpu = cell(row, M_CPU), *online = cell(row, M_ONLINE);
	const struct value *window = cell(row, M_CPU_WINDOW_NS);
	const struct value *closure = cell(row, M_CLOSURE_ERROR_RATIO);

	snprintf(row->cpu, sizeof(row->cpu), "cpu=\"%llu\"", (unsigned long long)cpu->u64);
	if (online->kind == VALUE_BOOL)
		store_set(store, F_CPU_ONLINE, row->cpu, online->flag);
	/* Without a window of its own the core has no figure. */
	if (window->kind != VALUE_U64) {
		absorb_void(store, row);
		return;
	}
	row->window_ns = window->u64;
	absorb_contexts(store, row);
	absorb_procstat(store, row);
	if (closure->kind == VALUE_F64)
		store_set_f64(store, F_CPU_CLOSURE, row->cpu, closure->f64);
}

/* Both tables go through the CPUs in the same order. */
static void absorb_softirqs(struct store *store, const struct table *cpus,
			    const struct table *softirqs)
{
	struct row cpu = {.table = cpus}, row = {.table = softirqs};
	char labels[96];

	for (; row.at < softirqs->nr_rows; row.at++) {
		const struct value *number = cell(&row, M_CPU), *vec = cell(&row, M_SOFTIRQ_VEC);
		const struct value *ratio = cell(&row, M_SOFTIRQ_RATIO);
		const struct value *runs = cell(&row, M_SOFTIRQ_COUNT);
		const struct value *window;

		while (cpu.at < cpus->nr_rows && cell(&cpu, M_CPU)->u64 != number->u64)
			cpu.at++;
		window = cell(&cpu, M_CPU_WINDOW_NS);
		if (window->kind != VALUE_U64 || vec->kind != VALUE_STR)
			continue;
		row.window_ns = window->u64;
		snprintf(labels, sizeof(labels), "cpu=\"%llu\",vec=\"%s\"",
			 (unsigned long long)number->u64, vec->str);
		if (ratio->kind == VALUE_F64)
			add_share(store, &row, F_SOFTIRQ, labels, ratio->f64);
		if (runs->kind == VALUE_U64)
			store_add(store, F_SOFTIRQ_RUNS, labels, runs->u64);
	}
}

static void load_collector_absorb(struct store *store, const struct config *config,
				  const struct meter *meter, const struct report *report)
{
	const struct table *cpus = collector_table(report, "cpus");
	const struct table *softirqs = collector_table(report, "softirqs");
	struct row row = {.table = cpus};

	(void)config;
	(void)meter;
	for (; cpus && row.at < cpus->nr_rows; row.at++)
		absorb_cpu(store, &row);
	if (cpus && softirqs)
		absorb_softirqs(store, cpus, softirqs);
}

const struct collector_ops collector_load = {
	.name = "load",
	.open = load_collector_open,
	.absorb = load_collector_absorb,
};
