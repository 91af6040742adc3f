/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the hardirq time of all interrupt lines and subtracts the time at the previous reading. */
#include "measure/load/lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "base/array.h"

/* Number of map entries per CPU, for the timer, kinds of IPI and device interrupts. */
#define PER_CPU 64
#define AT_LEAST 1024

struct load_line_entry {
	struct load_line_key key;
	struct load_line_sum sum;
};

unsigned int load_lines_max(unsigned int nr_cpus)
{
	return AT_LEAST + PER_CPU * nr_cpus;
}

void load_lines_open(struct load_lines *lines, struct blocks *memory, int fd, unsigned int nr_cpus)
{
	size_t max = load_lines_max(nr_cpus);

	*lines = (struct load_lines){.fd = fd, .max = max};
	lines->keys = blocks_calloc(memory, max, sizeof(*lines->keys));
	lines->sums = blocks_calloc(memory, max, sizeof(*lines->sums));
	lines->entries = blocks_calloc(memory, max, sizeof(*lines->entries));
	lines->was = blocks_calloc(memory, max, sizeof(*lines->was));
	lines->list = blocks_calloc(memory, max, sizeof(*lines->list));
}

static int by_key(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct load_line_key));
}

static int by_time(const void *a, const void *b)
{
	const struct load_line *left = a, *right = b;

	return CMP(right->ns, left->ns) ?:
	       CMP(left->cpu, right->cpu) ?:
	       strcmp(left->name, right->name);
}

/*
 * Reads all entries of the BPF map of interrupt lines. A batch read misses no entry, because the
 * BPF programs never delete entries.
 */
static int read_map(struct load_lines *lines)
{
	uint32_t nr = lines->max, batch;
	int rc = bpf_map_lookup_batch(lines->fd, NULL, &batch, lines->keys, lines->sums, &nr, NULL);

	/* ENOENT marks the end of the map */
	if (rc && errno != ENOENT)
		return -errno;
	for (uint32_t i = 0; i < nr; i++) {
		lines->entries[i].key = lines->keys[i];
		lines->entries[i].sum = lines->sums[i];
	}
	lines->nr = nr;
	qsort(lines->entries, nr, sizeof(*lines->entries), by_key);
	return 0;
}

const char *load_line_kind_name(uint64_t kind)
{
	static const char *const names[LOAD_LINE_KINDS] = {
		[LOAD_LINE_UNKNOWN] = "(began before the measurement)",
		[LOAD_LINE_LOCAL_TIMER] = "Local timer interrupts",
		[LOAD_LINE_RESCHEDULE] = "Rescheduling interrupts",
		[LOAD_LINE_CALL_FUNCTION] = "Function call interrupts",
		[LOAD_LINE_CALL_FUNCTION_SINGLE] = "Function call interrupts",
		[LOAD_LINE_IRQ_WORK] = "IRQ work interrupts",
		[LOAD_LINE_PLATFORM_IPI] = "Platform interrupts",
		[LOAD_LINE_THERMAL] = "Thermal event interrupts",
		[LOAD_LINE_THRESHOLD] = "Threshold APIC interrupts",
		[LOAD_LINE_DEFERRED_ERROR] = "Deferred Error APIC interrupts",
		[LOAD_LINE_ERROR] = "Error APIC interrupts",
		[LOAD_LINE_SPURIOUS] = "Spurious interrupts",
	};

	return kind < LOAD_LINE_KINDS ? names[kind] : "";
}

static void add_line(struct load_lines *lines, const struct load_line_entry *entry,
		     const struct load_line_sum *was)
{
	struct load_line *line = &lines->list[lines->nr_list++];
	bool device = entry->key.name >= LOAD_LINE_KINDS && entry->key.irq;

	*line = (struct load_line){
		.cpu = entry->key.cpu,
		.irq = device ? entry->key.irq : UINT32_MAX,
		.ns = entry->sum.ns - was->ns,
		.count = entry->sum.count - was->count,
	};
	snprintf(line->name, sizeof(line->name), "%.*s", (int)sizeof(line->name) - 1,
		 entry->key.name < LOAD_LINE_KINDS ? load_line_kind_name(entry->key.name)
						   : entry->sum.name);
}

int load_lines_read(struct load_lines *lines)
{
	static const struct load_line_entry none;
	struct load_line_entry *entries = lines->entries;
	int rc = read_map(lines);

	lines->nr_list = 0;
	if (rc)
		return rc;
	for (size_t i = 0; i < lines->nr; i++) {
		const struct load_line_entry *was =
			bsearch(&entries[i], lines->was, lines->nr_was, sizeof(*was), by_key) ?: &none;

		if (entries[i].sum.count != was->sum.count)
			add_line(lines, &entries[i], &was->sum);
	}
	lines->entries = lines->was;
	lines->was = entries;
	lines->nr_was = lines->nr;
	qsort(lines->list, lines->nr_list, sizeof(*lines->list), by_time);
	return 0;
}
