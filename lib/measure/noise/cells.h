/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts sources and victims of noise on each CPU between two readings. */
#ifndef SUBTICK_MEASURE_NOISE_CELLS_H
#define SUBTICK_MEASURE_NOISE_CELLS_H

#include "base/array.h"
#include "measure/noise/window.h"

/*
 * Kernel thread or workqueue function that ran at the last reading, and the part of its run time
 * that was already reported.
 */
struct noise_open {
	uint64_t key, since_ns, given_ns;
};

struct noise_cells {
	unsigned int nr_cpus;
	/* mapped array by CPU that BPF programs update concurrently */
	const struct noise_cpu *live;
	struct noise_cpu *was;	      /* copy of the counters of each CPU at the last reading */
	/* running kernel thread and running workqueue function of each CPU */
	struct noise_open *open, *open_functions;
	struct noise_window *window; /* window whose lists of noise are filled */
};

/* Allocates the lists of @window. The caller checks @memory->failed. */
void noise_cells_open(struct noise_cells *cells, struct noise_window *window, struct blocks *memory,
		      const struct noise_cpu *live, unsigned int nr_cpus);

/* Begins a window with empty lists of noise sources, victims, delays and functions. */
void noise_cells_begin(struct noise_cells *cells);
/*
 * Reads the counters of @cpu for the ended window @window_seq. @task_ns is the task time of the CPU
 * from the start of the measurement to the end of the window. If @shown is false, adds nothing to
 * the lists of the window.
 */
void noise_cells_read(struct noise_cells *cells, unsigned int cpu, uint64_t window_seq,
		      uint64_t task_ns, bool shown);
/* Merges the rows of each victim, and sorts the lists of victims, sources and functions. */
void noise_cells_end(struct noise_cells *cells);

/* Returns the setting that would move a noise source to another CPU, or NULL if unknown. */
const char *noise_knob(const struct noise_source *source);
/* Returns the loss counters of noise since the BPF programs were loaded. */
void noise_cells_losses(const struct noise_cells *cells, struct noise_losses *ret_losses);

#endif
