/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of pods by uid and of containers by id. Names outlive the files that they come from. */
#include "pods/table.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* If more files than this were removed, all entries without a file are deleted. */
#define MAX_REMOVED 4096

struct pod_table_entry {
	struct pod_text key; /* first member, because tsearch(3) compares a key with an entry */
	struct pod_table_names names;
	char *text;	/* memory of key and names, each followed by NUL */
	bool removed;   /* true if the file that contained the names was removed */
	bool ambiguous; /* true if two files had different names for this key */
	bool cut;
};

/* Copies @key and @name into @entry. If out of memory, returns false without a change. */
static bool entry_fill(struct pod_table_entry *entry, struct pod_text key,
		       const struct pod_name *name)
{
	const struct pod_text from[] = {key,		 name->namespace, name->pod,
					name->container, name->image,	  name->uid};
	const char *at[ARRAY_SIZE(from)];
	const size_t nr = ARRAY_SIZE(from);
	char *text, *old = entry->text;
	size_t len = 0;

	for (size_t i = 0; i < nr; i++)
		len += from[i].len + 1;
	text = calloc(1, len);
	if (!text)
		return false;
	*entry = (struct pod_table_entry){.text = text, .cut = name->cut};
	for (size_t i = 0; i < nr; i++) {
		at[i] = text;
		if (from[i].len)
			memcpy(text, from[i].at, from[i].len);
		text += from[i].len + 1;
	}
	entry->key = (struct pod_text){at[0], key.len};
	entry->names = (struct pod_table_names){at[1], at[2], at[3], at[4], at[5]};
	free(old); /* not before the copy, because @key may point into @old */
	return true;
}

static int by_key(const void *a, const void *b)
{
	const struct pod_text *x = a, *y = b;

	return CMP(x->len, y->len) ?: memcmp(x->at, y->at, x->len);
}

static bool same(const char *have, struct pod_text text)
{
	return strlen(have) == text.len && (!text.len || !memcmp(have, text.at, text.len));
}

static void entry_drop(struct pod_table *table, struct pod_table_entry *entry)
{
	tdelete(entry, &table->tree, by_key);
	free(entry->text);
	free(entry);
}

static void drop_left(struct pod_table *table)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->nr; i++) {
		if (table->entries[i]->removed)
			entry_drop(table, table->entries[i]);
		else
			table->entries[kept++] = table->entries[i];
	}
	table->nr = kept;
	table->nr_removed = 0;
}

static struct pod_table_entry *find(const struct pod_table *table, struct pod_text key)
{
	struct pod_table_entry **entry = tfind(&key, &table->tree, by_key);

	return entry ? *entry : NULL;
}

static bool same_names(const struct pod_table_entry *entry, const struct pod_name *name)
{
	return same(entry->names.namespace, name->namespace) && same(entry->names.pod, name->pod) &&
	       same(entry->names.container, name->container) && same(entry->names.image, name->image) &&
	       same(entry->names.uid, name->uid);
}

static void come_back(struct pod_table *table, struct pod_table_entry *entry,
		      const struct pod_name *name)
{
	table->nr_removed -= entry->removed;
	entry->removed = false;
	if (!same_names(entry, name))
		entry->ambiguous = !table->renames || !entry_fill(entry, entry->key, name);
}

void pod_table_add(struct pod_table *table, struct pod_text key, const struct pod_name *name)
{
	struct pod_table_entry *entry = find(table, key);

	table->adds++;
	if (entry) {
		come_back(table, entry, name);
		return;
	}
	entry = calloc(1, sizeof(*entry));
	if (entry && entry_fill(entry, key, name) && tsearch(entry, &table->tree, by_key) &&
	    !array_push(table->entries, table->nr, entry))
		return;
	if (entry)
		entry_drop(table, entry);
}

void pod_table_leave(struct pod_table *table, struct pod_text key)
{
	struct pod_table_entry *entry = find(table, key);

	if (!entry || entry->removed)
		return;
	entry->removed = true;
	if (++table->nr_removed > MAX_REMOVED)
		drop_left(table);
}

void pod_table_leave_all(struct pod_table *table)
{
	for (size_t i = 0; i < table->nr; i++)
		table->entries[i]->removed = true;
	table->nr_removed = table->nr;
	if (table->nr_removed > MAX_REMOVED)
		drop_left(table);
}

const struct pod_table_names *pod_table_find(const struct pod_table *table, const char *key)
{
	const struct pod_table_entry *entry = find(table, (struct pod_text){key, strlen(key)});

	return entry && !entry->ambiguous && !entry->cut ? &entry->names : NULL;
}

const struct pod_table_names *pod_table_find_id(const struct pod_table *table, const char *id,
						const struct pod_table_names *pod)
{
	const struct pod_table_names *whole = pod_table_find(table, id), *found = NULL;

	if (whole || !pod)
		return whole;
	for (size_t i = 0; i < table->nr; i++) {
		const struct pod_table_entry *entry = table->entries[i];

		if (!entry->cut || entry->ambiguous || strncmp(id, entry->key.at, entry->key.len) ||
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
		entry_drop(table, table->entries[i]);
	free(table->entries);
	*table = (struct pod_table){0};
}
