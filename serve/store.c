/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One writer adds windows, readers copy. */
#include "store.h"

#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "measure/wake/wake.h"
#include "stats/native.h"

int store_init(struct store *store, const uint64_t *le_ns, unsigned int nr_le)
{
	uint64_t wake_le[WAKE_NR_LE];
	int rc;

	for (unsigned int i = 0; i < WAKE_NR_LE; i++)
		wake_le[i] = wake_le_ns(i);
	memset(store, 0, sizeof(*store));
	pthread_mutex_init(&store->lock, NULL);
	rc = series_init(&store->seen, F_RUNQ_GROUPS, NULL, 0);
	store->seen.width = STORE_NR_SEEN;
	for (int id = 0; !rc && id < FAMILY_NR; id++)
		rc = id == F_WAKE ? series_init(&store->series[id], id, wake_le, WAKE_NR_LE) :
				    series_init(&store->series[id], id, le_ns, nr_le);
	store->series[F_NOISE_LONGEST].width = STORE_NR_LONGEST;
	if (rc)
		store_free(store);
	return rc;
}

void store_native(struct store *store, bool fine)
{
	const struct native_scale *scale = fine ? &native_fine : &native_coarse;

	series_set_native(&store->series[F_RUNQ], scale->schema, scale->first, scale->nr, fine);
	scale = &native_fine;
	series_set_native(&store->series[F_WAKE], scale->schema, scale->first, scale->nr, true);
}

void store_free(struct store *store)
{
	for (int id = 0; id < FAMILY_NR; id++)
		series_free(&store->series[id]);
	series_free(&store->seen);
	pthread_mutex_destroy(&store->lock);
}

static union word *word(struct store *store, enum family_id id, const char *labels)
{
	static union word nowhere;
	size_t row = labels ? series_row(&store->series[id], labels) : SERIES_NONE;

	return row == SERIES_NONE ? &nowhere : series_words(&store->series[id], row);
}

void store_add(struct store *store, enum family_id id, const char *labels, uint64_t delta)
{
	word(store, id, labels)->u64 += delta;
}

void store_set(struct store *store, enum family_id id, const char *labels, uint64_t value)
{
	word(store, id, labels)->u64 = value;
}

void store_set_f64(struct store *store, enum family_id id, const char *labels, double value)
{
	word(store, id, labels)->f64 = value;
}

void store_loss(struct store *store, const char *collector, const char *kind, uint64_t total)
{
	char labels[96];

	snprintf(labels, sizeof(labels), "collector=\"%s\",kind=\"%s\"", collector, kind);
	store_set(store, F_LOSS, labels, total);
}

/* With the lock held. A copy shares the labels, so they outlive their row until it is done. */
static void bury(struct store *store)
{
	for (int id = 0; !store->readers && id < FAMILY_NR; id++)
		series_bury(&store->series[id]);
}

void store_window_added(struct store *store)
{
	store->generation++;
	/* Without this they would be kept until the next scrape, which may never come. */
	bury(store);
}

int store_copy(struct store *store, struct series copy[FAMILY_NR], uint64_t *ret_generation)
{
	int rc = 0;

	pthread_mutex_lock(&store->lock);
	for (int id = 0; !rc && id < FAMILY_NR; id++)
		rc = series_copy(&copy[id], &store->series[id]);
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
	bury(store);
	pthread_mutex_unlock(&store->lock);
}
