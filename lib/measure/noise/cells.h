/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sources and victims of noise on each core between two readings. */
#ifndef SUBTICK_MEASURE_NOISE_CELLS_H
#define SUBTICK_MEASURE_NOISE_CELLS_H

#include "measure/noise/window.h"

/* Kernel thread that ran at the last reading, and the time already reported for it. */
struct noise_open {
	uint64_t thread, since_ns, given_ns;
};

struct noise_cells {
	unsigned int nr_cpus;
	const struct noise_cpu *live; /* per CPU, mapped: they go on changing */
	struct noise_cpu *was;	      /* per CPU, as read last */
	struct noise_open *open;      /* per CPU */
	struct noise_source *sources;
	size_t nr_sources;
	struct noise_hit *hits;
	size_t nr_hits;
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
/* Setting that moves a source away from its core. NULL: none is known. */
const char *noise_knob(const struct noise_source *source);
/* Since the programs were loaded. */
void noise_cells_losses(const struct noise_cells *cells, struct noise_losses *ret_losses);

#endif
