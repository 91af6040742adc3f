/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables of counters, filled by the sampler's thread and copied by the event loop's thread. */
#include "serve/export/store.h"

#include <string.h>

#include "base/array.h"
#include "serve/export/cgroups.h"
#include "measure/wake/wake.h"
#include "stats/hist.h"

static const char *const causes[RUNQ_NR_CAUSES] = {
	[RUNQ_IDLE] = "idle_exit",	[RUNQ_SAME] = "same_group",
	[RUNQ_OTHER] = "other_group",	[RUNQ_KTHREAD] = "kernel_thread",
	[RUNQ_PREEMPTED] = "preempted", [RUNQ_THROTTLED] = "throttled",
	[RUNQ_MIGRATED] = "migrated",	[RUNQ_UNKNOWN] = "unknown",
};
static const char *const pressure_causes[RUNQ_PRESSURE_NR_CAUSES] = {
	[RUNQ_PRESSURE_QUOTA] = "quota",
	[RUNQ_PRESSURE_CONTENTION] = "contention",
	[RUNQ_PRESSURE_KTHREAD] = "kernel_thread",
	[RUNQ_PRESSURE_IDLE] = "idle_exit",
};
static const char *const siblings[] = {"none", "one", "all"}; /* enum load_siblings */
static const char *const folded[] = {"waits", "blame", "core_pairs"};
static const char *const evicted[] = {"ended", "priority", "silent", "activity"};
static const char *const bounds[] = {"least", "most"};
static const char *const results[] = {"written", "lost", "left_out"};
static const char *const cuts[] = {"slow", "full", "stalled"};

#define PARTS(name, list) \
	.part_name = name, .parts = list, .nr_parts = ARRAY_SIZE(list)

/*
 * Families that have parts, or whose samples are in the table of another family. Each unlisted
 * family has its own table.
 */
static const struct series layouts[FAMILY_NR] = {
	[F_CPU] = {.part_name = "context", .nr_parts = STORE_NR_CONTEXTS},
	[F_CPU_ONLINE] = {.table = F_CPU},
	[F_CPU_CLOSURE] = {.table = F_CPU},
	[F_PROCSTAT_BUSY] = {.table = F_CPU},
	[F_PROCSTAT_ERROR] = {.table = F_CPU},
	[F_SOFTIRQ] = {.table = F_CPU, .part_name = "vec", .nr_parts = LOAD_NR_VECS},
	[F_SOFTIRQ_RUNS] = {.table = F_CPU, .part_name = "vec", .nr_parts = LOAD_NR_VECS},
	[F_CORE] = {PARTS("busy", siblings)},
	[F_NOISE_EVENTS] = {.table = F_NOISE},
	[F_NOISE_LONGEST] = {.table = F_NOISE},
	[F_RUNQ_CAUSE] = {.table = F_RUNQ, PARTS("cause", causes)},
	[F_RUNQ_IDLE] = {.table = F_RUNQ, .part_name = "state", .nr_parts = STORE_IDLE_STATES},
	[F_RUNQ_IDLE_WAITS] = {.table = F_RUNQ,
			       .part_name = "state",
			       .nr_parts = STORE_IDLE_STATES},
	[F_RUNQ_AVOIDABLE] = {.table = F_RUNQ, PARTS("bound", bounds)},
	[F_RUNQ_EXCLUDED] = {.table = F_RUNQ},
	[F_RUNQ_WAITING] = {.table = F_RUNQ, PARTS("cause", pressure_causes)},
	[F_RUNQ_STALLED] = {.table = F_RUNQ, PARTS("cause", pressure_causes)},
	[F_RUNQ_FOLDED] = {PARTS("kind", folded)},
	[F_RUNQ_EVICTED] = {PARTS("reason", evicted)},
	[F_UPDATES] = {.table = F_UP},
	[F_UPDATE_COST] = {.table = F_UP},
	[F_UPDATE_TIME] = {.table = F_UP},
	[F_BPF_RUNS] = {.table = F_BPF_TIME},
	[F_HISTORY_WINDOWS] = {PARTS("result", results)},
	[F_HTTP_CUT] = {PARTS("reason", cuts)},
};

static void init_parts(struct store *store)
{
	for (int i = 0; i < LOAD_NR_PARTS; i++)
		store->contexts[i] = load_part_name(i);
	store->contexts[STORE_BUSY] = "busy";
	store->contexts[STORE_IDLE] = "idle";
	for (int i = 0; i < LOAD_NR_VECS; i++)
		store->vecs[i] = load_vec_name(i);
	store->series[F_CPU].parts = store->contexts;
	store->series[F_SOFTIRQ].parts = store->series[F_SOFTIRQ_RUNS].parts = store->vecs;
	for (int i = 0; i < STORE_IDLE_STATES; i++)
		store->idle_states[i] = store->idle_names[i];
	store->series[F_RUNQ_IDLE].parts = store->series[F_RUNQ_IDLE_WAITS].parts =
		store->idle_states;
}

/* If @fine is false, native buckets are computed from the counts at the boundaries. */
static void init_native(struct series *series, bool fine)
{
	const struct native_scale *scale = fine ? &native_fine : &native_coarse;

	series->native = (struct series_native){.schema = scale->schema,
						.first = scale->first,
						.nr = scale->nr,
						.at = fine ? series->nr_le + 2 : 0};
}

static void init_histograms(struct store *store, const struct config *config)
{
	struct series *runq = &store->series[F_RUNQ], *wake = &store->series[F_WAKE];
	struct series *delay = &store->series[F_SOFTIRQ_DELAY];

	for (unsigned int i = 0; i < WAKE_NR_LE; i++)
		store->wake_le_ns[i] = wake_le_ns(i);
	runq->le_ns = config->le_ns;
	runq->nr_le = config->nr_le;
	wake->le_ns = delay->le_ns = store->wake_le_ns;
	wake->nr_le = delay->nr_le = WAKE_NR_LE;
	if (config->native_histograms) {
		init_native(runq, config->fine);
		/* The BPF program's histogram of wake latency always has fine buckets. */
		init_native(wake, true);
	}
}

void store_show_le(struct store *store, const uint64_t *le_ns, unsigned int nr)
{
	struct series *runq = &store->series[F_RUNQ];
	uint64_t hidden = (1ULL << runq->nr_le) - 1;
	unsigned int found = 0;

	_Static_assert(RUNQ_NR_LE < 64, "a bit for each boundary");
	for (unsigned int i = 0; i < runq->nr_le && found < nr; i++)
		if (runq->le_ns[i] == le_ns[found]) {
			hidden &= ~(1ULL << i);
			found++;
		}
	if (found == nr)
		runq->le_hidden = hidden;
}

static unsigned int words_of(const struct series *series, enum family_id id)
{
	if (series->le_ns)
		return series->nr_le + 2 + (series->native.at ? series->native.nr + 1 : 0);
	return id == F_NOISE_LONGEST || id == F_SOFTIRQ_DELAY_LONGEST ? STORE_NR_LONGEST
								       : series_parts(series);
}

void store_init(struct store *store, const struct config *config)
{
	memset(store, 0, sizeof(*store));
	store->config = config;
	memcpy(store->series, layouts, sizeof(layouts));
	init_parts(store);
	init_histograms(store, config);
	for (int id = 0; id < FAMILY_NR; id++) {
		struct series *series = &store->series[id];
		struct series_table *table;

		series->family = family_get(id);
		/* Index 0: own table, because no family shares the table of family 0. */
		series->table = series->table ? series->table : (unsigned int)id;
		table = &store->tables[series->table];
		series->at = table->width;
		series->bit = table->samples;
		series->words = words_of(series, id);
		table->width += series->words;
		table->samples += series_parts(series);
	}
	store->tables[F_RUNQ].head = offsetof(struct cgroup_series, row);
	store->tables[F_RUNQ_BLAME].head = store->tables[F_CORE_PAIRS].head =
		offsetof(struct pair_series, row);
	pthread_mutex_init(&store->lock, NULL);
}

void store_free(struct store *store)
{
	for (int i = 0; i < FAMILY_NR; i++)
		series_free(&store->tables[i]);
	pthread_mutex_destroy(&store->lock);
}

struct series_row *store_row(struct store *store, enum family_id id, const struct label *pairs,
			     size_t nr)
{
	struct series_table *table = &store->tables[store->series[id].table];
	uint64_t key = labels_hash(pairs, nr);
	struct series_row *row = series_find(table, key, NULL);

	return row ? row : series_add(table, key, pairs, nr);
}

union word *store_single(struct store *store, enum family_id id, unsigned int part)
{
	return store_sample(store, store_row(store, id, NULL, 0), id, part);
}

void store_window(struct store *store, const char *collector, const char *source,
		  uint64_t time_unix_ns)
{
	const struct label pairs[] = {LABEL("collector", collector), LABEL("source", source)};

	store_sample(store, store_row(store, F_UP, pairs, 1), F_UPDATE_TIME, 0)->u64 = time_unix_ns;
	store_sample(store, store_row(store, F_SOURCE, pairs, 2), F_SOURCE, 0)->u64 = 1;
}

void store_loss(struct store *store, const char *collector, const char *kind, uint64_t total)
{
	const struct label pairs[] = {LABEL("collector", collector), LABEL("kind", kind)};

	store_sample(store, store_row(store, F_LOSS, pairs, 2), F_LOSS, 0)->u64 = total;
}

void store_reclaim(struct store *store)
{
	/* A copy of the tables shares the labels, so labels are kept while a copy is in use. */
	for (int i = 0; !store->readers && i < FAMILY_NR; i++)
		series_reclaim(&store->tables[i]);
}

int store_copy(struct store *store, struct series_table copy[FAMILY_NR])
{
	int rc = 0;

	pthread_mutex_lock(&store->lock);
	for (int i = 0; !rc && i < FAMILY_NR; i++)
		rc = series_copy(&copy[i], &store->tables[i]);
	if (!rc)
		store->readers++;
	pthread_mutex_unlock(&store->lock);
	return rc;
}

void store_copy_done(struct store *store)
{
	pthread_mutex_lock(&store->lock);
	store->readers--;
	store_reclaim(store);
	pthread_mutex_unlock(&store->lock);
}
