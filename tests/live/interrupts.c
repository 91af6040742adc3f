/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads /proc/interrupts and finds the source of noise that each row belongs to. */
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

		/* Rows such as ERR: have one figure. */
		if (end == at)
			return;
		if (cpu < INTERRUPTS_CPUS)
			i->row[i->nr].count[cpu] = count;
		at = end;
	}
	at += strspn(at, " ");
	snprintf(i->row[i->nr].what, sizeof(i->row[i->nr].what), "%s", at);
	i->row[i->nr].what[strcspn(i->row[i->nr].what, "\n")] = '\0';
	i->nr++;
}

void interrupts_read(struct interrupts *ret)
{
	FILE *file = fopen("/proc/interrupts", "re");
	static char line[65536];

	if (!file || !fgets(line, sizeof(line), file))
		live_fail_all("cannot read /proc/interrupts");
	*ret = (struct interrupts){0};
	for (char *at = strstr(line, "CPU"); at; at = strstr(at + 1, "CPU"))
		ret->nr_cpus++;
	while (fgets(line, sizeof(line), file))
		read_row(line, ret);
	fclose(file);
	ret->init = load_init_schedstat();
}

/*
 * Left out: lines with several handlers, which have an event each; lines of x86 that are triggered
 * by an edge, whose handler may run more or less often than it is counted; and vectors of x86 that
 * are counted elsewhere than at their event.
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

/* The same row of another reading: rows come and go. */
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

bool interrupts_init_ran(const struct interrupts_around *a)
{
	return a->after_end.init.ran_ns != a->before_begin.init.ran_ns ||
	       a->after_end.init.count != a->before_begin.init.count;
}
