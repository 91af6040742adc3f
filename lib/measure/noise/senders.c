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
	senders->list = calloc(nr_cpus, NOISE_SEND_CALL * NOISE_NR_SENDS * sizeof(*senders->list));
	senders->calls = calloc(nr_cpus, NOISE_NR_SENDS * sizeof(*senders->calls));
	if (senders->was && senders->list && senders->calls)
		return 0;
	noise_senders_close(senders);
	return -ENOMEM;
}

void noise_senders_close(struct noise_senders *senders)
{
	free(senders->was);
	free(senders->list);
	free(senders->calls);
	*senders = (struct noise_senders){0};
}

/* Where the kernel has no symbol for an address, it writes the address. */
static const char *entry_name(const struct noise_send *entry, bool call)
{
	if (call && !strncmp(entry->name, "0x", 2))
		return "";
	return entry->sum.key < LOAD_LINE_KINDS ? load_line_kind_name(entry->sum.key) : entry->name;
}

/* Whether @ret_sender is filled: @from has sent something since, to one of @cpus. */
static bool read_entry(const struct noise_send *live, struct noise_send *was, unsigned int from,
		       const struct cpuset *cpus, bool call, struct noise_sender *ret_sender)
{
	uint64_t count = __atomic_load_n(&live->sum.count, __ATOMIC_ACQUIRE);
	uint64_t grown = count - was->sum.count;

	if (!grown)
		return false;
	memcpy(was, live, sizeof(*was));
	was->sum.count = count;
	if (!cpuset_has(cpus, was->sum.id))
		return false;
	*ret_sender = (struct noise_sender){.cpu = was->sum.id, .from_cpu = from, .count = grown};
	snprintf(ret_sender->name, sizeof(ret_sender->name), "%.*s", (int)sizeof(was->name) - 1,
		 entry_name(was, call));
	return true;
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

/* What two programs counted is one, and so are functions without a name. Returns the new length. */
static size_t merge(struct noise_sender *list, size_t nr_list)
{
	size_t nr = 0;

	qsort(list, nr_list, sizeof(*list), by_pair);
	for (size_t i = 0; i < nr_list; i++) {
		if (nr && !by_pair(&list[nr - 1], &list[i]))
			list[nr - 1].count += list[i].count;
		else
			list[nr++] = list[i];
	}
	qsort(list, nr, sizeof(*list), by_core_and_count);
	return nr;
}

static void read_table(struct noise_senders *senders, unsigned int from, int program,
		       const struct cpuset *cpus)
{
	bool call = program == NOISE_SEND_CALL;
	struct noise_sender *list = call ? senders->calls : senders->list;
	size_t *nr = call ? &senders->nr_calls : &senders->nr_list;

	for (int i = 0; i < NOISE_NR_SENDS; i++)
		*nr += read_entry(&senders->live[from].of[program].sends[i],
				  &senders->was[from].of[program].sends[i], from, cpus, call,
				  &list[*nr]);
	*(call ? &senders->calls_lost : &senders->lost) += senders->live[from].of[program].lost;
}

void noise_senders_read(struct noise_senders *senders, const struct cpuset *cpus)
{
	senders->nr_list = senders->nr_calls = senders->lost = senders->calls_lost = 0;
	if (!senders->live)
		return;
	for (unsigned int from = 0; from < senders->nr_cpus; from++)
		for (int program = 0; program < NOISE_SEND_PROGRAMS; program++)
			read_table(senders, from, program, cpus);
	senders->nr_list = merge(senders->list, senders->nr_list);
	senders->nr_calls = merge(senders->calls, senders->nr_calls);
}
