/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows of run-queue waits as histograms and counters, in a bounded number of series. */
#include "collectors.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "measure/runq/runq.h"
#include "view/prom.h"

/*
 * Series of a cgroup that has ended stay long enough for every scraper to see the last of it; a
 * silent one makes room after an hour, and begins anew when it waits again.
 */
#define LINGER_NS (5 * 60 * NSEC_PER_SEC)
#define SILENT_NS (60 * 60 * NSEC_PER_SEC)

#define OTHER "(other)"

/* Columns of the groups, found once per window. */
struct cols {
	const struct table *table;
	int cgroup, ended, count, sum, le;
	int cause[16];
	char names[16][32];
	size_t nr_causes;
};

static void find_cols(struct cols *cols, const struct table *table)
{
	static const char prefix[] = "causes.", suffix[] = "_ns";

	*cols = (struct cols){
		.table = table,
		.cgroup = table_find(table, "cgroup"),
		.ended = table_find(table, "ended"),
		.count = table_find(table, "count"),
		.sum = table_find(table, "sum_ns"),
		.le = table_find(table, "le"),
	};
	for (size_t i = 0; i < table->nr_cols && cols->nr_causes < 16; i++) {
		const char *key = table->cols[i].key;
		size_t len = strlen(key);
		char *name = cols->names[cols->nr_causes];

		if (strncmp(key, prefix, sizeof(prefix) - 1) || len < sizeof(prefix) + sizeof(suffix) ||
		    len >= sizeof(cols->names[0]))
			continue;
		len -= sizeof(prefix) - 1 + sizeof(suffix) - 1;
		memcpy(name, key + sizeof(prefix) - 1, len);
		name[len] = '\0';
		cols->cause[cols->nr_causes++] = i;
	}
}

static uint64_t u64_at(const struct cols *cols, size_t row, int col)
{
	const struct value *value = table_cell(cols->table, row, col < 0 ? SIZE_MAX : (size_t)col);

	return value->kind == VALUE_U64 ? value->u64 : 0;
}

/* Whether the cgroup has, or may have, series of its own. */
static bool admit(struct store *store, const struct config *config, const char *name,
		  const char *labels)
{
	if (!strcmp(name, OTHER))
		return true;
	if (series_find(&store->seen, labels) != SERIES_NONE)
		return true;
	return store->seen.nr < config->cgroup_limit;
}

static void note_seen(struct store *store, const char *labels, uint64_t now_ns, bool ended)
{
	size_t at = series_row(&store->seen, labels);

	if (at != SERIES_NONE)
		series_words(&store->seen, at)->u64 = ended ? now_ns + LINGER_NS - SILENT_NS : now_ns;
}

/* @labels is that of the cgroup; the rest of the pair is plain, so no escaping is done twice. */
static void add_causes(struct store *store, const struct cols *cols, size_t row, const char *labels)
{
	size_t len = strlen(labels);
	char *pair = malloc(len + sizeof(cols->names[0]) + sizeof(",cause=\"\""));

	if (!pair)
		return;
	memcpy(pair, labels, len);
	for (size_t i = 0; i < cols->nr_causes; i++) {
		const struct value *value = table_cell(cols->table, row, cols->cause[i]);

		/* Null is what this kernel cannot tell: no series, rather than one of zeros. */
		if (value->kind != VALUE_U64)
			continue;
		stpcpy(stpcpy(stpcpy(pair + len, ",cause=\""), cols->names[i]), "\"");
		store_add(store, F_RUNQ_CAUSE, pair, value->u64);
	}
	free(pair);
}

static void absorb_group(struct store *store, const struct config *config, const struct cols *cols,
			 size_t row, uint64_t now_ns)
{
	struct series *series = &store->series[F_RUNQ];
	const struct value *path = table_cell(cols->table, row, cols->cgroup);
	const struct value *le = table_cell(cols->table, row, cols->le);
	const struct value *ended = table_cell(cols->table, row, cols->ended);
	const char *name = path->kind == VALUE_STR ? path->str : OTHER;
	uint64_t count = u64_at(cols, row, cols->count);
	char *labels = prom_labels("cgroup", name, NULL);
	size_t at;

	if (labels && !admit(store, config, name, labels)) {
		store_add(store, F_RUNQ_FOLDED, "kind=\"waits\"", count);
		free(labels);
		name = OTHER;
		labels = prom_labels("cgroup", name, NULL);
	} else if (labels && strcmp(name, OTHER)) {
		note_seen(store, labels, now_ns, ended->kind == VALUE_BOOL && ended->flag);
	}
	at = labels ? series_row(series, labels) : SERIES_NONE;
	if (at != SERIES_NONE) {
		collector_histogram(series, at, le->kind == VALUE_TABLE ? le->table : NULL,
				    count, u64_at(cols, row, cols->sum));
		add_causes(store, cols, row, labels);
	}
	free(labels);
}

/* A cgroup without series of its own has none as a victim or culprit either. */
static const char *folded(struct store *store, const char *name)
{
	char *labels;
	bool known;

	/* "(idle)", "(kernel threads)": no cgroups. */
	if (name[0] == '(')
		return name;
	labels = prom_labels("cgroup", name, NULL);
	known = labels && series_find(&store->seen, labels) != SERIES_NONE;
	free(labels);
	return known ? name : OTHER;
}

static void absorb_blame(struct store *store, const struct config *config,
			 const struct table *table, size_t row)
{
	const struct value *victim = collector_cell(table, row, "victim");
	const struct value *culprit = collector_cell(table, row, "culprit");
	const struct value *wait = collector_cell(table, row, "wait_ns");
	const struct value *count = collector_cell(table, row, "count");
	struct series *series = &store->series[F_RUNQ_BLAME];
	char *labels;

	if (victim->kind != VALUE_STR || culprit->kind != VALUE_STR || wait->kind != VALUE_U64)
		return;
	labels = prom_labels("victim", folded(store, victim->str), "culprit",
			     folded(store, culprit->str), NULL);
	if (labels && series_find(series, labels) == SERIES_NONE &&
	    series->nr >= config->blame_limit) {
		free(labels);
		labels = prom_labels("victim", OTHER, "culprit", OTHER, NULL);
		store_add(store, F_RUNQ_FOLDED, "kind=\"blame\"",
			  count->kind == VALUE_U64 ? count->u64 : 1);
	}
	store_add(store, F_RUNQ_BLAME, labels, wait->u64);
	free(labels);
}

/* @labels is cgroup="X"; of blame go those with X on either side. */
static void remove_cgroup(struct store *store, const char *labels)
{
	const char *value = strchr(labels, '=');
	struct series *causes = &store->series[F_RUNQ_CAUSE], *blame = &store->series[F_RUNQ_BLAME];
	size_t at = series_find(&store->series[F_RUNQ], labels), len = strlen(labels);

	if (at != SERIES_NONE)
		series_remove(&store->series[F_RUNQ], at);
	for (size_t i = causes->nr; i-- > 0;)
		if (!strncmp(causes->labels[i], labels, len) && causes->labels[i][len] == ',')
			series_remove(causes, i);
	len = strlen(value);
	for (size_t i = blame->nr; i-- > 0;) {
		const char *pair = blame->labels[i];
		size_t all = strlen(pair);

		if ((!strncmp(pair + strlen("victim"), value, len) &&
		     pair[strlen("victim") + len] == ',') ||
		    (all > len && !strcmp(pair + all - len, value)))
			series_remove(blame, i);
	}
}

static void expire(struct store *store, uint64_t now_ns)
{
	for (size_t i = store->seen.nr; i-- > 0;) {
		if (now_ns - series_words(&store->seen, i)->u64 < SILENT_NS)
			continue;
		remove_cgroup(store, store->seen.labels[i]);
		series_remove(&store->seen, i);
	}
	series_bury(&store->seen);
}

void runq_absorb(struct store *store, const struct config *config, const struct report *report)
{
	const struct table *groups = collector_table(report, "groups");
	const struct table *blame = collector_table(report, "blame");
	uint64_t now_ns = report->time_unix_ns;
	struct cols cols;

	if (!groups || !groups->nr_cols)
		return;
	expire(store, now_ns);
	find_cols(&cols, groups);
	for (size_t i = 0; i < groups->nr_rows; i++)
		absorb_group(store, config, &cols, i, now_ns);
	for (size_t i = 0; blame && i < blame->nr_rows; i++)
		absorb_blame(store, config, blame, i);
	store_set(store, F_RUNQ_GROUPS, "", store->seen.nr);
}

/*
 * Slots are laid in now, for as many cgroups as there may be: the right to make maps goes with the
 * drop. Waits of cgroups beyond that are in (other), and counted as the loss table_full.
 */
static int runq_collector_open(const struct config *config, struct meter **ret_meter,
			       struct err *err)
{
	struct runq_opts opts = {
		.per = RUNQ_PER_CGROUP,
		.blame = config->blame_limit > 0,
		.nr_le = config->nr_le,
		.reserve = config->cgroup_limit,
	};

	memcpy(opts.le_ns, config->le_ns, config->nr_le * sizeof(opts.le_ns[0]));
	return runq_open(&opts, ret_meter, err);
}

static void runq_collector_absorb(struct store *store, const struct config *config,
				  const struct meter *meter, const struct report *report)
{
	(void)meter;
	runq_absorb(store, config, report);
}

const struct collector_ops collector_runq = {
	.name = "runq",
	.open = runq_collector_open,
	.absorb = runq_collector_absorb,
};
