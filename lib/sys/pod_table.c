/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A hash table of names that files come and go for. */
#include "sys/pod_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"

/* Names of files that are gone are kept up to this number, then all of them go. */
#define MAX_LEFT 4096

struct pod_table_entry {
	struct pod_table_names names;
	bool left;    /* its file is gone */
	bool doubted; /* another file of the same key had other names */
	bool cut;
	char key[]; /* then the names */
};

/* What is not there is an empty text. */
static char *put(char *at, struct pod_text text)
{
	if (text.len)
		memcpy(at, text.at, text.len);
	at[text.len] = '\0';
	return at + text.len + 1;
}

static struct pod_table_entry *entry_new(struct pod_text key, const struct pod_name *name)
{
	struct pod_table_entry *entry =
		malloc(sizeof(*entry) + key.len + name->namespace.len + name->pod.len +
		       name->container.len + name->image.len + name->uid.len + 6);
	char *at;

	if (!entry)
		return NULL;
	at = put(entry->key, key);
	entry->names.namespace = at;
	at = put(at, name->namespace);
	entry->names.pod = at;
	at = put(at, name->pod);
	entry->names.container = at;
	at = put(at, name->container);
	entry->names.image = at;
	at = put(at, name->image);
	entry->names.uid = at;
	put(at, name->uid);
	entry->left = entry->doubted = false;
	entry->cut = name->cut;
	return entry;
}

static bool same(const char *have, struct pod_text text)
{
	return strlen(have) == text.len && (!text.len || !memcmp(have, text.at, text.len));
}

static size_t probe(const struct pod_table *table, struct pod_text key)
{
	uint64_t hash = hash_bytes(HASH_START, key.at, key.len);
	size_t at = (hash ^ hash >> 32) & (table->index_size - 1);

	while (table->index[at] && !same(table->entries[table->index[at] - 1]->key, key))
		at = (at + 1) & (table->index_size - 1);
	return at;
}

static struct pod_text text_of(const char *text)
{
	return (struct pod_text){text, strlen(text)};
}

static bool reindex(struct pod_table *table, size_t size)
{
	uint32_t *index = calloc(size, sizeof(*index));

	if (!index)
		return false;
	free(table->index);
	table->index = index;
	table->index_size = size;
	for (size_t i = 0; i < table->nr; i++)
		index[probe(table, text_of(table->entries[i]->key))] = i + 1;
	return true;
}

static void drop_left(struct pod_table *table)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->nr; i++) {
		if (table->entries[i]->left) {
			table->nr_cut -= table->entries[i]->cut;
			free(table->entries[i]);
		} else {
			table->entries[kept++] = table->entries[i];
		}
	}
	table->nr = kept;
	table->nr_left = 0;
	/* The old index is large enough, and must not stay as it is. */
	memset(table->index, 0, table->index_size * sizeof(*table->index));
	for (size_t i = 0; i < table->nr; i++)
		table->index[probe(table, text_of(table->entries[i]->key))] = i + 1;
}

static struct pod_table_entry *find(const struct pod_table *table, struct pod_text key)
{
	size_t at = table->index_size ? probe(table, key) : 0;

	return table->index_size && table->index[at] ? table->entries[table->index[at] - 1] : NULL;
}

static bool same_names(const struct pod_table_entry *entry, const struct pod_name *name)
{
	return same(entry->names.namespace, name->namespace) && same(entry->names.pod, name->pod) &&
	       same(entry->names.container, name->container) && same(entry->names.image, name->image) &&
	       same(entry->names.uid, name->uid);
}

static void come_back(struct pod_table *table, struct pod_text key, const struct pod_name *name)
{
	struct pod_table_entry **at = &table->entries[table->index[probe(table, key)] - 1];
	struct pod_table_entry *entry = *at, *renamed;

	table->nr_left -= entry->left;
	entry->left = false;
	if (same_names(entry, name))
		return;
	renamed = table->renames ? entry_new(key, name) : NULL;
	if (!renamed) {
		entry->doubted = true;
		return;
	}
	free(entry);
	*at = renamed;
}

void pod_table_add(struct pod_table *table, struct pod_text key, const struct pod_name *name)
{
	struct pod_table_entry *entry = find(table, key), **entries;

	table->adds++;
	if (entry) {
		come_back(table, key, name);
		return;
	}
	if (table->nr * 2 >= table->index_size &&
	    !reindex(table, table->index_size ? table->index_size * 2 : 64))
		return;
	entries = grow(table->entries, table->nr, sizeof(*entries));
	if (!entries)
		return;
	table->entries = entries;
	entry = entry_new(key, name);
	if (!entry)
		return;
	table->index[probe(table, key)] = table->nr + 1;
	entries[table->nr++] = entry;
	table->nr_cut += entry->cut;
}

void pod_table_leave(struct pod_table *table, struct pod_text key)
{
	struct pod_table_entry *entry = find(table, key);

	if (!entry || entry->left)
		return;
	entry->left = true;
	if (++table->nr_left > MAX_LEFT)
		drop_left(table);
}

void pod_table_leave_all(struct pod_table *table)
{
	for (size_t i = 0; i < table->nr; i++)
		table->entries[i]->left = true;
	table->nr_left = table->nr;
	if (table->nr_left > MAX_LEFT)
		drop_left(table);
}

const struct pod_table_names *pod_table_find(const struct pod_table *table, const char *key)
{
	const struct pod_table_entry *entry = find(table, text_of(key));

	return entry && !entry->doubted && !entry->cut ? &entry->names : NULL;
}

const struct pod_table_names *pod_table_find_id(const struct pod_table *table, const char *id,
						const struct pod_table_names *pod)
{
	const struct pod_table_names *whole = pod_table_find(table, id), *found = NULL;

	if (whole || !pod || !table->nr_cut)
		return whole;
	for (size_t i = 0; i < table->nr; i++) {
		const struct pod_table_entry *entry = table->entries[i];

		if (!entry->cut || entry->doubted || strncmp(id, entry->key, strlen(entry->key)) ||
		    strcmp(pod->namespace, entry->names.namespace) ||
		    strcmp(pod->pod, entry->names.pod))
			continue;
		if (found)
			return NULL;
		found = &entry->names;
	}
	return found;
}

void pod_table_free(struct pod_table *table)
{
	for (size_t i = 0; i < table->nr; i++)
		free(table->entries[i]);
	free(table->entries);
	free(table->index);
	*table = (struct pod_table){0};
}
