/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which family has which samples; one writer adds windows, readers copy. */
#include "store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "blame.h"
#include "measure/wake/wake.h"
#include "stats/native.h"

static const char *const causes[RUNQ_NR_CAUSES] = {
	[RUNQ_IDLE] = "idle_exit",	   [RUNQ_SAME] = "same_group",
	[RUNQ_OTHER] = "other_group",	   [RUNQ_KTHREAD] = "kernel_thread",
	[RUNQ_PREEMPTED] = "preempted",	   [RUNQ_THROTTLED] = "throttled",
	[RUNQ_MIGRATED] = "migrated",	   [RUNQ_UNKNOWN] = "unknown",
};
static const char *const pressure_causes[RUNQ_PRESSURE_NR_CAUSES] = {
	[RUNQ_PRESSURE_QUOTA] = "quota",
	[RUNQ_PRESSURE_CONTENTION] = "contention",
	[RUNQ_PRESSURE_KTHREAD] = "kernel_thread",
	[RUNQ_PRESSURE_IDLE] = "idle_exit",
};
static const char *const folded[] = {"waits", "blame"};
static const char *const evicted[] = {"ended", "priority", "silent", "activity"};
static const char *const cuts[] = {"slow", "full", "stalled"};

#define PARTS(name, list) name, list, sizeof(list) / sizeof((list)[0])

static const struct layout {
	enum store_table table;
	unsigned int at;
	const char *part_name;
	const char *const *parts; /* NULL with a name: of struct store */
	unsigned int nr_parts;
} layouts[FAMILY_NR] = {
	[F_BUILD] = {.table = STORE_BUILD},
	[F_SOURCE] = {.table = STORE_SOURCES},
	[F_CPU] = {STORE_CPUS, CORE_PART, "context", NULL, LOAD_NR_PARTS + 2},
	[F_CPU_ONLINE] = {.table = STORE_CPUS, .at = CORE_ONLINE},
	[F_CPU_VOID] = {.table = STORE_UNMEASURED},
	[F_CPU_CLOSURE] = {.table = STORE_CPUS, .at = CORE_CLOSURE},
	[F_PROCSTAT_BUSY] = {.table = STORE_CPUS, .at = CORE_PROCSTAT_BUSY},
	[F_PROCSTAT_ERROR] = {.table = STORE_CPUS, .at = CORE_PROCSTAT_ERROR},
	[F_SOFTIRQ] = {STORE_CPUS, CORE_SOFTIRQ, "vec", NULL, LOAD_NR_VECS},
	[F_SOFTIRQ_RUNS] = {STORE_CPUS, CORE_SOFTIRQ_RUNS, "vec", NULL, LOAD_NR_VECS},
	[F_NOISE] = {.table = STORE_NOISE, .at = NOISE_TIME},
	[F_NOISE_EVENTS] = {.table = STORE_NOISE, .at = NOISE_EVENTS},
	[F_NOISE_LONGEST] = {.table = STORE_NOISE, .at = NOISE_LONGEST},
	[F_RUNQ] = {.table = STORE_CGROUPS, .at = CGROUP_LATENCY},
	[F_RUNQ_CAUSE] = {STORE_CGROUPS, CGROUP_CAUSE, PARTS("cause", causes)},
	[F_RUNQ_BLAME] = {.table = STORE_BLAME},
	[F_RUNQ_IDLE] = {STORE_CGROUPS, CGROUP_IDLE, "state", NULL, STORE_IDLE_STATES},
	[F_RUNQ_IDLE_WAITS] = {STORE_CGROUPS, CGROUP_IDLE_WAITS, "state", NULL, STORE_IDLE_STATES},
	[F_RUNQ_WAITING] = {STORE_CGROUPS, CGROUP_WAITING, PARTS("cause", pressure_causes)},
	[F_RUNQ_STALLED] = {STORE_CGROUPS, CGROUP_STALLED, PARTS("cause", pressure_causes)},
	[F_RUNQ_FOLDED] = {STORE_RUNQ, RUNQ_ALL_FOLDED_WAITS, PARTS("kind", folded)},
	[F_RUNQ_EVICTED] = {STORE_RUNQ, RUNQ_ALL_EVICTED_ENDED, PARTS("reason", evicted)},
	[F_RUNQ_GROUPS] = {.table = STORE_RUNQ, .at = RUNQ_ALL_CGROUPS},
	[F_WAKE] = {.table = STORE_WAKE},
	[F_LOSS] = {.table = STORE_LOSSES},
	[F_UP] = {.table = STORE_COLLECTORS, .at = COLLECTOR_UP},
	[F_UPDATES] = {.table = STORE_COLLECTORS, .at = COLLECTOR_UPDATES},
	[F_UPDATE_COST] = {.table = STORE_COLLECTORS, .at = COLLECTOR_COST},
	[F_UPDATE_TIME] = {.table = STORE_COLLECTORS, .at = COLLECTOR_TIME},
	[F_BPF_TIME] = {.table = STORE_PROGRAMS, .at = PROGRAM_TIME},
	[F_BPF_RUNS] = {.table = STORE_PROGRAMS, .at = PROGRAM_RUNS},
	[F_BPF_MEMORY] = {.table = STORE_PROCESS, .at = PROCESS_BPF_MEMORY},
	[F_HISTORY] = {.table = STORE_PROCESS, .at = PROCESS_HISTORY},
	[F_HTTP_REQUESTS] = {.table = STORE_REQUESTS},
	[F_HTTP_CONNECTIONS] = {.table = STORE_PROCESS, .at = PROCESS_CONNECTIONS},
	[F_HTTP_RESPONSES] = {.table = STORE_PROCESS, .at = PROCESS_RESPONSES},
	[F_HTTP_CUT] = {STORE_PROCESS, PROCESS_CUT, PARTS("reason", cuts)},
	[F_PROC_CPU] = {.table = STORE_PROCESS, .at = PROCESS_CPU},
	[F_PROC_RSS] = {.table = STORE_PROCESS, .at = PROCESS_RSS},
	[F_PROC_VIRTUAL] = {.table = STORE_PROCESS, .at = PROCESS_VIRTUAL},
	[F_PROC_START] = {.table = STORE_PROCESS, .at = PROCESS_START},
};

static void init_parts(struct store *store)
{
	for (int i = 0; i < LOAD_NR_PARTS; i++)
		store->contexts[i] = load_part_name(i);
	store->contexts[CORE_BUSY - CORE_PART] = "busy";
	store->contexts[CORE_IDLE - CORE_PART] = "idle";
	for (int i = 0; i < LOAD_NR_VECS; i++)
		store->vecs[i] = load_vec_name(i);
	store->series[F_CPU].parts = store->contexts;
	store->series[F_SOFTIRQ].parts = store->series[F_SOFTIRQ_RUNS].parts = store->vecs;
	for (int i = 0; i < STORE_IDLE_STATES; i++)
		store->idle_states[i] = store->idle_names[i];
	store->series[F_RUNQ_IDLE].parts = store->series[F_RUNQ_IDLE_WAITS].parts = store->idle_states;
}

/* @fine: with words for the buckets of native_fine, else of the boundaries. */
static void init_native(struct series *series, bool fine)
{
	const struct native_scale *scale = fine ? &native_fine : &native_coarse;

	series->native = (struct series_native){.schema = scale->schema,
						.first = scale->first,
						.nr = scale->nr,
						.at = fine ? series->nr_le + 2 : 0};
}

static int init_histograms(struct store *store, const struct config *config)
{
	struct series *runq = &store->series[F_RUNQ], *wake = &store->series[F_WAKE];

	store->le_ns = calloc(config->nr_le + WAKE_NR_LE, sizeof(*store->le_ns));
	if (!store->le_ns)
		return -ENOMEM;
	memcpy(store->le_ns, config->le_ns, config->nr_le * sizeof(*config->le_ns));
	for (unsigned int i = 0; i < WAKE_NR_LE; i++)
		store->le_ns[config->nr_le + i] = wake_le_ns(i);
	runq->le_ns = store->le_ns;
	runq->nr_le = config->nr_le;
	wake->le_ns = store->le_ns + config->nr_le;
	wake->nr_le = WAKE_NR_LE;
	if (config->native_histograms) {
		init_native(runq, config->fine);
		/* The kernel's histogram of wake latency is always fine. */
		init_native(wake, true);
	}
	return 0;
}

static unsigned int histogram_words(const struct series *series)
{
	return series->nr_le + 2 + (series->native.at ? series->native.nr + 1 : 0);
}

int store_init(struct store *store, const struct config *config)
{
	static const unsigned int widths[STORE_NR_TABLES] = {
		[STORE_CPUS] = CORE_NR_WORDS,	   [STORE_NOISE] = NOISE_NR_WORDS,
		[STORE_CGROUPS] = CGROUP_LATENCY,  [STORE_RUNQ] = RUNQ_ALL_NR_WORDS,
		[STORE_PROCESS] = PROCESS_NR_WORDS, [STORE_PROGRAMS] = PROGRAM_NR_WORDS,
		[STORE_COLLECTORS] = COLLECTOR_NR_WORDS,
	};

	memset(store, 0, sizeof(*store));
	for (int id = 0; id < FAMILY_NR; id++) {
		const struct layout *layout = &layouts[id];

		store->series[id] = (struct series){.family = family_get(id),
						    .table = layout->table,
						    .at = layout->at,
						    .part_name = layout->part_name,
						    .parts = layout->parts,
						    .nr_parts = layout->nr_parts};
	}
	init_parts(store);
	if (init_histograms(store, config))
		return -ENOMEM;
	for (int i = 0; i < STORE_NR_TABLES; i++)
		store->tables[i].width = widths[i] ? widths[i] : 1;
	store->tables[STORE_CGROUPS].width += histogram_words(&store->series[F_RUNQ]);
	store->tables[STORE_WAKE].width = histogram_words(&store->series[F_WAKE]);
	store->tables[STORE_CGROUPS].head = offsetof(struct cgroup_series, row);
	store->tables[STORE_BLAME].head = offsetof(struct blame_series, row);
	pthread_mutex_init(&store->lock, NULL);
	return 0;
}

void store_free(struct store *store)
{
	for (int i = 0; i < STORE_NR_TABLES; i++)
		series_free(&store->tables[i]);
	free(store->le_ns);
	pthread_mutex_destroy(&store->lock);
}

struct series_row *store_row(struct store *store, enum store_table table, uint64_t key,
			     const struct label *pairs, size_t nr)
{
	struct series_row *row = series_find(&store->tables[table], key, NULL);

	return row ? row : series_add(&store->tables[table], key, pairs, nr);
}

struct series_row *store_single(struct store *store, enum store_table table)
{
	return store_row(store, table, 0, NULL, 0);
}

void store_window(struct store *store, const char *collector, const char *source,
		  uint64_t time_unix_ns)
{
	const struct label pairs[] = {{"collector", collector}, {"source", source}};
	uint64_t key = labels_hash(HASH_START, collector);

	row_set(store_row(store, STORE_COLLECTORS, key, pairs, 1), COLLECTOR_TIME, time_unix_ns);
	row_set(store_row(store, STORE_SOURCES, labels_hash(key + 1, source), pairs, 2), 0, 1);
}

void store_loss(struct store *store, const char *collector, const char *kind, uint64_t total)
{
	const struct label pairs[] = {{"collector", collector}, {"kind", kind}};
	uint64_t key = labels_hash(labels_hash(HASH_START, collector) + 1, kind);

	row_set(store_row(store, STORE_LOSSES, key, pairs, 2), 0, total);
}

/* With the lock held. A copy shares the labels: they outlive their row until it is done. */
static void reclaim(struct store *store)
{
	for (int i = 0; !store->readers && i < STORE_NR_TABLES; i++)
		series_reclaim(&store->tables[i]);
}

void store_window_added(struct store *store)
{
	store->generation++;
	/* Without this they would be kept until the next scrape, which may never come. */
	reclaim(store);
}

int store_copy(struct store *store, struct series_table copy[STORE_NR_TABLES],
	       uint64_t *ret_generation)
{
	int rc = 0;

	pthread_mutex_lock(&store->lock);
	for (int i = 0; !rc && i < STORE_NR_TABLES; i++)
		rc = series_copy(&copy[i], &store->tables[i]);
	*ret_generation = store->generation;
	if (!rc)
		store->readers++;
	pthread_mutex_unlock(&store->lock);
	return rc;
}

void store_copy_done(struct store *store)
{
	pthread_mutex_lock(&store->lock);
	store->readers--;
	reclaim(store);
	pthread_mutex_unlock(&store->lock);
}
