/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hardirq time by interrupt line, counted by the programs in bpf/load_lines.bpf.h. */
#ifndef SUBTICK_MEASURE_LOAD_LINES_H
#define SUBTICK_MEASURE_LOAD_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "abi/load.h"
#include "base/array.h"
#include "stats/load.h"

struct load_lines {
	int fd; /* descriptor of the map `lines` */
	unsigned int max;
	struct load_line_key *keys; /* buffer for one batch */
	struct load_line_sum *sums;
	/* map entries of the current and the previous reading, sorted by key */
	struct load_line_entry *entries, *was;
	size_t nr, nr_was;
	/* interrupt lines with an interrupt in the window, most time first */
	struct load_line *list;
	size_t nr_list;
};

/* Name of an enum load_line_kind as in /proc/interrupts on x86, or "" for any other value. */
const char *load_line_kind_name(uint64_t kind);
/* Number of map entries for @nr_cpus CPUs. */
unsigned int load_lines_max(unsigned int nr_cpus);
/* Allocates the arrays. The caller checks @memory->failed. */
void load_lines_open(struct load_lines *lines, struct blocks *memory, int fd, unsigned int nr_cpus);
/* Ends the window and fills the list of interrupt lines, which is empty after an error. */
int load_lines_read(struct load_lines *lines);

#endif
