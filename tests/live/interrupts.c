/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads /proc/interrupts and /proc/softirqs, and finds the row of `subtick noise` for each line. */
#include "interrupts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live.h"

static void read_row(char *line, struct interrupts *i)
{
	char *at = strchr(line, ':'), *label = line + strspn(line, " "), *end;

	if (!at || i->nr == INTERRUPTS_ROWS)
		return;
	*at++ = '\0';
	snprintf(i->row[i->nr].label, sizeof(i->row[i->nr].label), "%s", label);
	for (size_t cpu = 0; cpu < i->nr_cpus; cpu++) {
		uint64_t count = strtoull(at, &end, 10);

		/* Rows such as ERR: have one count instead of one count per CPU. */
		if (end == at)
			return;
		i->hardirqs += count;
		if (cpu < INTERRUPTS_CPUS)
			i->row[i->nr].count[cpu] = count;
		at = end;
	}
	at += strspn(at, " ");
	snprintf(i->row[i->nr].what, sizeof(i->row[i->nr].what), "%s", at);
	i->row[i->nr].what[strcspn(i->row[i->nr].what, "\n")] = '\0';
	i->nr++;
}

static char buffer[65536];

static uint64_t read_softirqs(void)
{
	FILE *file = fopen("/proc/softirqs", "re");
	uint64_t all = 0;

	if (!file || !fgets(buffer, sizeof(buffer), file))
		live_fail_all("cannot read /proc/softirqs");
	while (fgets(buffer, sizeof(buffer), file)) {
		char *at = strchr(buffer, ':'), *end;

		for (at = at ? at + 1 : buffer; *at; at = end) {
			all += strtoull(at, &end, 10);
			if (end == at)
				break;
		}
	}
	fclose(file);
	return all;
}

void interrupts_read(struct interrupts *ret)
{
	FILE *file = fopen("/proc/interrupts", "re");

	if (!file || !fgets(buffer, sizeof(buffer), file))
		live_fail_all("cannot read /proc/interrupts");
	*ret = (struct interrupts){0};
	for (char *at = strstr(buffer, "CPU"); at; at = strstr(at + 1, "CPU"))
		ret->nr_cpus++;
	while (fgets(buffer, sizeof(buffer), file))
		read_row(buffer, ret);
	fclose(file);
	ret->softirqs = read_softirqs();
}

/*
 * True if `subtick noise` can be compared with a row of /proc/interrupts. Shared interrupt lines
 * are skipped, because each handler has its own event. Edge-triggered lines of x86 are skipped,
 * because the kernel's count may differ from the number of handler runs. A vector of x86 is skipped
 * if the kernel does not increment the counter of the vector at the tracepoint.
 */
static bool judged(const char *label, const char *what)
{
	if (isdigit((unsigned char)label[0]))
		return !strchr(what, ',') && !strstr(what, "-edge");
	return !strncmp(label, "IPI", 3) || !strcmp(label, "LOC") || !strcmp(label, "RES");
}

static uint64_t counted(const struct noise_window *w, unsigned int cpu, const char *label,
			const char *what)
{
	uint64_t count = 0;

	for (size_t i = 0; i < w->nr_sources; i++) {
		const struct noise_source *s = &w->sources[i];
		bool line = s->irq != UINT32_MAX;

		if (s->cpu != cpu || s->kind > NOISE_KIND_VECTOR)
			continue;
		if (line ? isdigit((unsigned char)label[0]) && strtoul(label, NULL, 10) == s->irq :
			   !strcmp(what, s->name))
			count += s->count;
	}
	return count;
}

/*
 * Finds the row by name in another snapshot, because rows of /proc/interrupts appear and disappear.
 */
static uint64_t count_of(const struct interrupts *i, const char *label, unsigned int cpu)
{
	for (size_t r = 0; r < i->nr; r++)
		if (!strcmp(i->row[r].label, label))
			return i->row[r].count[cpu];
	return 0;
}

void interrupts_compare(const struct interrupts_around *a, const struct noise_window *w,
			unsigned int cpu, struct interrupts_compared *ret)
{
	*ret = (struct interrupts_compared){0};
	for (size_t r = 0; cpu < INTERRUPTS_CPUS && r < a->after_end.nr; r++) {
		const char *label = a->after_end.row[r].label, *what = a->after_end.row[r].what;
		uint64_t surely = count_of(&a->before_end, label, cpu) -
				  count_of(&a->after_begin, label, cpu);
		uint64_t perhaps = count_of(&a->after_end, label, cpu) -
				   count_of(&a->before_begin, label, cpu);
		uint64_t ours = counted(w, cpu, label, what);
		char text[sizeof(ret->less)];

		if (!judged(label, what) || (!perhaps && !ours))
			continue;
		ret->lines++;
		ret->exact += surely == perhaps;
		snprintf(text, sizeof(text), "%s (%s): %llu, by /proc/interrupts %llu to %llu",
			 label, what, (unsigned long long)ours, (unsigned long long)surely,
			 (unsigned long long)perhaps);
		live_note("CPU %u, %s", cpu, text);
		if (ours < surely && !ret->less[0])
			memcpy(ret->less, text, sizeof(text));
		if (ours > perhaps && !ret->more[0])
			memcpy(ret->more, text, sizeof(text));
	}
}

uint64_t interrupts_between_tables(const struct interrupts_around *a, bool softirqs)
{
	uint64_t came = softirqs ? a->after_begin.softirqs - a->before_begin.softirqs +
					   a->after_end.softirqs - a->before_end.softirqs :
				   a->after_begin.hardirqs - a->before_begin.hardirqs +
					   a->after_end.hardirqs - a->before_end.hardirqs;

	return came + 2 * a->after_end.nr_cpus;
}
