/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sources and victims of noise on each CPU between two readings. */
#ifndef SUBTICK_MEASURE_NOISE_CELLS_H
#define SUBTICK_MEASURE_NOISE_CELLS_H

#include "measure/noise/window.h"

/* Kernel thread or workqueue function that ran at the last reading, and its reported time. */
struct noise_open {
	uint64_t key, since_ns, given_ns;
};

struct noise_cells {
	unsigned int nr_cpus;
	/* array by CPU, mapped into memory; BPF programs update it concurrently */
	const struct noise_cpu *live;
	struct noise_cpu *was;	      /* copy of the last reading of each CPU */
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

/* Begins a window with empty lists. */
void noise_cells_begin(struct noise_cells *cells);
/*
 * Reads the counters of @cpu for window @turn, which has ended. @task_ns is the task time of the
 * CPU from the start to the end of the window. If @shown is false, the lists are not changed.
 */
void noise_cells_read(struct noise_cells *cells, unsigned int cpu, uint64_t turn, uint64_t task_ns,
		      bool shown);
/* Merges and sorts the lists. */
void noise_cells_end(struct noise_cells *cells);

/*
 * Copies @live, the first member of a struct of @size bytes, to @to. Returns false if there was no
 * event since the reading @was.
 */
bool noise_sum_changed(const struct noise_sum *live, const struct noise_sum *was, void *to,
		       size_t size);
/*
 * Longest event of window @turn, with the window number in the upper bits. The result is 0 if it is
 * unknown.
 */
uint64_t noise_sum_longest(const struct noise_sum *now, const struct noise_sum *was, uint64_t turn);
void noise_cell_times(const struct noise_cell *now, const struct noise_cell *was, uint64_t turn,
		      struct noise_times *ret_times);
/*
 * Continues the running interval of the thread or function @key, which began at task time
 * @since_ns. Returns the time that has not been reported yet. @ret_back is the reported time of the
 * previous interval, which programs have counted by now.
 */
uint64_t noise_open_grown(struct noise_open *open, uint64_t key, uint64_t since_ns, uint64_t task_ns,
			  uint64_t *ret_back);

/* Setting that would move a noise source to another CPU, or NULL if no such setting is known. */
const char *noise_knob(const struct noise_source *source);
/* Losses since the programs were loaded. */
void noise_cells_losses(const struct noise_cells *cells, struct noise_losses *ret_losses);

#endif
