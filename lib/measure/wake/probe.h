/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* BPF programs of `subtick wake`, and the arrays that they share with user space. */
#ifndef SUBTICK_MEASURE_WAKE_PROBE_H
#define SUBTICK_MEASURE_WAKE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/wake.h"
#include "base/array.h"
#include "base/err.h"
#include "measure/load/source.h"
#include "host/bpf.h"

struct wake_bpf;
struct bpf_link;

struct wake_probe_opts {
	unsigned int nr_cpus;
	/* largest number of idle states of any CPU; 0 without a cpuidle driver */
	unsigned int nr_states;
	/* record timestamps of single wake-ups, for the sources timer, remote and nic */
	bool points;
	bool passive;		/* record histograms of all timer wake-ups */
	bool remote;		/* record timestamps of the IPIs that the sender thread causes */
	bool breakdown;		/* record the timestamp of the context switch to the worker */
};

struct wake_probe {
	struct wake_bpf *skel;
	bool launch_at_waking;
	struct wake_slot *slots;
	struct wake_launch *launches;
	/* counters of passive wake-ups, updated by the BPF programs of wake or of load */
	struct load_wake passive;
	struct sys_bpf_view views[3];	  /* memory mappings of slots, launches and hists */
	struct bpf_link *calibrate_links[2];
};

int wake_probe_open(struct wake_probe *probe, const struct wake_probe_opts *opts, struct err *err);
/* Attaches or detaches two more programs on idle exit, which measure the cost of a timestamp. */
int wake_probe_calibrate(struct wake_probe *probe, bool on, struct err *err);
/* Number of events on which the kernel skipped a program because of recursion. */
uint64_t wake_probe_misses(const struct wake_probe *probe);
void wake_probe_close(struct wake_probe *probe);

/*
 * Snapshots of a histogram at the end (now) and at the start (was) of a window. `now` equals `was`
 * if the window has no wake-up.
 */
struct wake_passive_hist {
	const struct wake_hist *now, *was;
};

struct wake_passive {
	const struct load_wake *live; /* histograms and counts that the BPF programs update */
	struct wake_passive_hist *hists;
	struct wake_counts *counts, *counts_prev;
	/* the last snapshot and the previous snapshot of each histogram */
	struct wake_hist (*copies)[2];
};

/*
 * Allocates the snapshots. The arrays of @passive are valid until @memory is freed. @live must
 * outlive @passive.
 */
int wake_passive_open(struct wake_passive *passive, struct blocks *memory,
		      const struct load_wake *live, struct err *err);
/*
 * Ends the current window of the histograms and begins the next window. Copies only histograms that
 * the BPF programs have changed.
 */
void wake_passive_end(struct wake_passive *passive);

#endif
