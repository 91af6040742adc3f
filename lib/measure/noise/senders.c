/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the counters of sent IPIs while the cores update them, and subtracts the last reading. */
#include "measure/noise/senders.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "measure/load/lines.h"

int noise_senders_open(struct noise_senders *senders, const struct noise_sends *live,
		       unsigned int nr_cpus)
{
	*senders = (struct noise_senders){.nr_cpus = nr_cpus, .live = live};
	senders->was = calloc(nr_cpus, sizeof(*senders->was));
	senders->ipis.list = calloc(nr_cpus, NOISE_SEND_CALL * NOISE_NR_SENDS *
						     sizeof(*senders->ipis.list));
	senders->calls.list = calloc(nr_cpus, NOISE_NR_SENDS * sizeof(*senders->calls.list));
	if (senders->was && senders->ipis.list && senders->calls.list)
		return 0;
	noise_senders_close(senders);
	return -ENOMEM;
}

void noise_senders_close(struct noise_senders *senders)
{
	free(senders->was);
	free(senders->ipis.list);
	free(senders->calls.list);
	*senders = (struct noise_senders){0};
}

/* The kernel writes the address where it has no symbol. */
static const char *entry_name(const struct noise_send *entry, bool call)
{
	if (call && !strncmp(entry->name, "0x", 2))
		return "";
	return entry->sum.key < LOAD_LINE_KINDS ? load_line_kind_name(entry->sum.key) : entry->name;
}

/* True if @from has sent something to one of @cpus since the last reading. Fills @ret_sender. */
static bool read_entry(const struct noise_send *live, struct noise_send *was, unsigned int from,
		       const struct cpuset *cpus, uint64_t turn, bool call,
		       struct noise_sender *ret_sender)
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
	if (was->by[turn & 1].turn >> NOISE_TURN_SHIFT == turn) {
		ret_sender->by_process = was->by[turn & 1].votes;
		ret_sender->pid = was->by[turn & 1].tgid;
		memcpy(ret_sender->comm, was->by[turn & 1].comm, sizeof(ret_sender->comm) - 1);
	}
	return true;
}

static int by_pair(const void *a, const void *b)
{
	const struct noise_sender *left = a, *right = b;

	return CMP(left->cpu, right->cpu) ?:
	       CMP(left->from_cpu, right->from_cpu) ?:
	       strcmp(left->name, right->name);
}

static int by_core_and_count(const void *a, const void *b)
{
	const struct noise_sender *left = a, *right = b;

	return CMP(left->cpu, right->cpu) ?: CMP(right->count, left->count) ?: by_pair(a, b);
}

/* The votes of different processes cancel out, as within an entry. */
static void add_sender(struct noise_sender *to, const struct noise_sender *from)
{
	uint64_t votes = to->by_process;

	to->count += from->count;
	if (to->pid == from->pid) {
		to->by_process += from->by_process;
	} else if (votes >= from->by_process) {
		to->by_process -= from->by_process;
	} else {
		to->by_process = from->by_process - votes;
		to->pid = from->pid;
		memcpy(to->comm, from->comm, sizeof(to->comm));
	}
}

/* Adds up IPIs that two programs counted, and functions without a name. */
static void merge(struct noise_sent *sent)
{
	struct noise_sender *list = sent->list;
	size_t nr = 0;

	qsort(list, sent->nr, sizeof(*list), by_pair);
	for (size_t i = 0; i < sent->nr; i++) {
		if (nr && !by_pair(&list[nr - 1], &list[i]))
			add_sender(&list[nr - 1], &list[i]);
		else
			list[nr++] = list[i];
	}
	qsort(list, nr, sizeof(*list), by_core_and_count);
	sent->nr = nr;
}

static void read_table(struct noise_senders *senders, unsigned int from, int program,
		       const struct cpuset *cpus, uint64_t turn)
{
	bool call = program == NOISE_SEND_CALL;
	struct noise_sent *sent = call ? &senders->calls : &senders->ipis;

	for (int i = 0; i < NOISE_NR_SENDS; i++)
		sent->nr += read_entry(&senders->live[from].of[program].sends[i],
				       &senders->was[from].of[program].sends[i], from, cpus, turn, call,
				       &sent->list[sent->nr]);
	sent->lost += senders->live[from].of[program].lost;
}

void noise_senders_read(struct noise_senders *senders, const struct cpuset *cpus, uint64_t turn)
{
	if (!senders->live)
		return;
	senders->ipis = (struct noise_sent){.list = senders->ipis.list};
	senders->calls = (struct noise_sent){.list = senders->calls.list};
	for (unsigned int from = 0; from < senders->nr_cpus; from++)
		for (int program = 0; program < NOISE_SEND_PROGRAMS; program++)
			read_table(senders, from, program, cpus, turn);
	merge(&senders->ipis);
	merge(&senders->calls);
}
