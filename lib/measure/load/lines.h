/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hardirq time by line: what the programs of bpf/load_lines.bpf.h counted in a window. */
#ifndef SUBTICK_MEASURE_LOAD_LINES_H
#define SUBTICK_MEASURE_LOAD_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "abi/load.h"
#include "stats/load.h"

struct load_lines {
	int fd; /* of the map `lines` */
	unsigned int max;
	struct load_line_key *keys; /* room for a whole map */
	struct load_line_sum *sums;
	struct load_line_entry *entries, *was; /* this reading and the one before, sorted by key */
	size_t nr, nr_was;
	struct load_line *list; /* the window: lines that had an interrupt, most time first */
	size_t nr_list;
};

/* Name of an enum load_line_kind as in /proc/interrupts of x86; "" for other values. */
const char *load_line_kind_name(uint64_t kind);
/* Size of the map, set before the programs are loaded. */
unsigned int load_lines_max(unsigned int nr_cpus);
int load_lines_open(struct load_lines *lines, int fd, unsigned int nr_cpus);
void load_lines_close(struct load_lines *lines);
/* Ends the window: fills list. On -errno the list is empty. */
int load_lines_read(struct load_lines *lines);

#endif
