/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the sums of all lines and subtracts those of the window before. */
#include "measure/load/lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "base/cmp.h"

/* Per core: a timer, some kinds of IPI, and what devices send there. */
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

int load_lines_open(struct load_lines *lines, int fd, unsigned int nr_cpus)
{
	size_t max = load_lines_max(nr_cpus);

	*lines = (struct load_lines){.fd = fd, .max = max};
	lines->keys = calloc(max, sizeof(*lines->keys));
	lines->sums = calloc(max, sizeof(*lines->sums));
	lines->entries = calloc(max, sizeof(*lines->entries));
	lines->was = calloc(max, sizeof(*lines->was));
	lines->list = calloc(max, sizeof(*lines->list));
	if (lines->keys && lines->sums && lines->entries && lines->was && lines->list)
		return 0;
	load_lines_close(lines);
	return -ENOMEM;
}

void load_lines_close(struct load_lines *lines)
{
	free(lines->keys);
	free(lines->sums);
	free(lines->entries);
	free(lines->was);
	free(lines->list);
	*lines = (struct load_lines){.fd = -1};
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

/* All entries of the map; entries are only ever added, so none is missed or seen twice. */
static int read_map(struct load_lines *lines)
{
	uint32_t nr = lines->max, batch;
	int rc = bpf_map_lookup_batch(lines->fd, NULL, &batch, lines->keys, lines->sums, &nr, NULL);

	/* ENOENT: that was all of it. */
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

/* As /proc/interrupts of x86 calls them. */
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

static void add_line(struct load_lines *lines, const struct load_line_entry *entry, uint64_t ns,
		     uint64_t count)
{
	struct load_line *line = &lines->list[lines->nr_list++];
	bool device = entry->key.name >= LOAD_LINE_KINDS && entry->key.irq;

	*line = (struct load_line){
		.cpu = entry->key.cpu,
		.irq = device ? entry->key.irq : UINT32_MAX,
		.ns = ns,
		.count = count,
	};
	snprintf(line->name, sizeof(line->name), "%.*s", (int)sizeof(entry->sum.name),
		 entry->key.name < LOAD_LINE_KINDS ? load_line_kind_name(entry->key.name) : entry->sum.name);
}

int load_lines_read(struct load_lines *lines)
{
	struct load_line_entry *was = lines->was, *end = was + lines->nr_was;
	int rc = read_map(lines);

	lines->nr_list = 0;
	if (rc)
		return rc;
	for (size_t i = 0; i < lines->nr; i++) {
		const struct load_line_entry *now = &lines->entries[i];
		uint64_t ns = now->sum.ns, count = now->sum.count;

		while (was < end && by_key(was, now) < 0)
			was++;
		if (was < end && !by_key(was, now)) {
			ns -= was->sum.ns;
			count -= was->sum.count;
		}
		if (count)
			add_line(lines, now, ns, count);
	}
	was = lines->was;
	lines->was = lines->entries;
	lines->nr_was = lines->nr;
	lines->entries = was;
	qsort(lines->list, lines->nr_list, sizeof(*lines->list), by_time);
	return 0;
}
