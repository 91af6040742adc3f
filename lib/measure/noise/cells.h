/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sources and victims of noise on each core between two readings. */
#ifndef SUBTICK_MEASURE_NOISE_CELLS_H
#define SUBTICK_MEASURE_NOISE_CELLS_H

#include "measure/noise/window.h"

/* Kernel thread or function that ran at the last reading, and the time already reported for it. */
struct noise_open {
	uint64_t key, since_ns, given_ns;
};

struct noise_cells {
	unsigned int nr_cpus;
	const struct noise_cpu *live; /* per CPU, mapped: they go on changing */
	struct noise_cpu *was;	      /* per CPU, as read last */
	struct noise_open *open, *open_functions; /* per CPU */
	struct noise_source *sources;
	size_t nr_sources;
	struct noise_hit *hits;
	size_t nr_hits;
	struct noise_delay *delays;
	size_t nr_delays;
	struct noise_function *functions;
	size_t nr_functions;
	uint64_t (*delay_hist)[NOISE_NR_BUCKETS];
};

int noise_cells_open(struct noise_cells *cells, const struct noise_cpu *live, unsigned int nr_cpus);
void noise_cells_close(struct noise_cells *cells);

/* Begins a window: the lists are empty. */
void noise_cells_begin(struct noise_cells *cells);
/*
 * Reads what @cpu counted since it was read last. @turn is the window that has ended; @task_ns is
 * the task time of the core at its end, since the start. Without @shown nothing is listed.
 */
void noise_cells_read(struct noise_cells *cells, unsigned int cpu, uint64_t turn, uint64_t task_ns,
		      bool shown);
/* Merges and sorts the lists. */
void noise_cells_end(struct noise_cells *cells);

/* growth.c: copies @live, whose first member is a sum, to @to; false if there was no event since @was. */
bool noise_sum_changed(const struct noise_sum *live, const struct noise_sum *was, void *to,
		       size_t size);
/* Longest event of window @turn with its turn; 0: unknown. */
uint64_t noise_sum_longest(const struct noise_sum *now, const struct noise_sum *was, uint64_t turn);
void noise_cell_times(const struct noise_cell *now, const struct noise_cell *was, uint64_t turn,
		      struct noise_times *ret_times);
/*
 * The open run of @key began at @since_ns of the core's task time. Returns how much of it is new, and in
 * @ret_back how much was reported too early of the run before, which the programs have counted since.
 */
uint64_t noise_open_grown(struct noise_open *open, uint64_t key, uint64_t since_ns, uint64_t task_ns,
			  uint64_t *ret_back);

/* Setting that moves a source away from its core. NULL: none is known. */
const char *noise_knob(const struct noise_source *source);
/* Since the programs were loaded. */
void noise_cells_losses(const struct noise_cells *cells, struct noise_losses *ret_losses);

#endif
