/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads what each core sent while the cores go on counting, and subtracts what was read last. */
#include "measure/noise/senders.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/load/lines.h"

int noise_senders_open(struct noise_senders *senders, const struct noise_sends *live,
		       unsigned int nr_cpus)
{
	*senders = (struct noise_senders){.nr_cpus = nr_cpus, .live = live};
	senders->was = calloc(nr_cpus, sizeof(*senders->was));
	senders->list = calloc(nr_cpus, NOISE_SEND_PROGRAMS * NOISE_NR_SENDS *
						sizeof(*senders->list));
	if (senders->was && senders->list)
		return 0;
	noise_senders_close(senders);
	return -ENOMEM;
}

void noise_senders_close(struct noise_senders *senders)
{
	free(senders->was);
	free(senders->list);
	*senders = (struct noise_senders){0};
}

static void read_entry(struct noise_senders *senders, unsigned int from,
		       const struct noise_send *live, struct noise_send *was,
		       const struct cpuset *cpus)
{
	uint64_t count = __atomic_load_n(&live->sum.count, __ATOMIC_ACQUIRE);
	struct noise_sender *sender = &senders->list[senders->nr_list];
	uint64_t grown = count - was->sum.count;

	if (!grown)
		return;
	memcpy(was, live, sizeof(*was));
	was->sum.count = count;
	if (!cpuset_has(cpus, was->sum.id))
		return;
	*sender = (struct noise_sender){.cpu = was->sum.id, .from_cpu = from, .count = grown};
	snprintf(sender->name, sizeof(sender->name), "%.*s", (int)sizeof(was->name) - 1,
		 was->sum.key < LOAD_LINE_KINDS ? load_line_kind_name(was->sum.key) : was->name);
	senders->nr_list++;
}

static int by_pair(const void *a, const void *b)
{
	const struct noise_sender *left = a, *right = b;

	if (left->cpu != right->cpu)
		return left->cpu < right->cpu ? -1 : 1;
	if (left->from_cpu != right->from_cpu)
		return left->from_cpu < right->from_cpu ? -1 : 1;
	return strcmp(left->name, right->name);
}

static int by_core_and_count(const void *a, const void *b)
{
	const struct noise_sender *left = a, *right = b;

	if (left->cpu == right->cpu && left->count != right->count)
		return left->count < right->count ? 1 : -1;
	return by_pair(a, b);
}

/* What two programs counted is one. */
static void merge(struct noise_senders *senders)
{
	size_t nr = 0;

	qsort(senders->list, senders->nr_list, sizeof(*senders->list), by_pair);
	for (size_t i = 0; i < senders->nr_list; i++) {
		if (nr && !by_pair(&senders->list[nr - 1], &senders->list[i]))
			senders->list[nr - 1].count += senders->list[i].count;
		else
			senders->list[nr++] = senders->list[i];
	}
	senders->nr_list = nr;
}

void noise_senders_read(struct noise_senders *senders, const struct cpuset *cpus)
{
	senders->nr_list = senders->lost = 0;
	if (!senders->live)
		return;
	for (unsigned int from = 0; from < senders->nr_cpus; from++) {
		for (int program = 0; program < NOISE_SEND_PROGRAMS; program++) {
			for (int i = 0; i < NOISE_NR_SENDS; i++)
				read_entry(senders, from,
					   &senders->live[from].of[program].sends[i],
					   &senders->was[from].of[program].sends[i], cpus);
			senders->lost += senders->live[from].of[program].lost;
		}
	}
	merge(senders);
	qsort(senders->list, senders->nr_list, sizeof(*senders->list), by_core_and_count);
}
