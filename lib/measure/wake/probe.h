/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The wake programs in the kernel and the arrays shared with them. */
#ifndef SUBTICK_MEASURE_WAKE_PROBE_H
#define SUBTICK_MEASURE_WAKE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/wake.h"
#include "base/err.h"
#include "host/bpf.h"

struct wake_bpf;
struct bpf_link;

struct wake_probe_opts {
	unsigned int nr_cpus;
	unsigned int nr_states; /* most of any CPU; 0 without a cpuidle driver */
	bool points;		/* stamps of single points: timer, remote, nic */
	bool passive;		/* histograms of all timers */
	bool remote;		/* stamps of the sender's IPI */
	bool breakdown;		/* stamp of the switch to the worker */
};

struct wake_probe {
	struct wake_bpf *skel;
	unsigned int nr_cpus;
	unsigned int nr_states; /* rows per CPU in hists: at least 1 */
	bool one_state;		/* no cpuidle driver: one row for the architecture's own idle */
	bool launch_at_waking;
	struct wake_slot *slots;
	struct wake_launch *launches;
	const struct wake_hist *hists; /* [cpu × nr_states + state] */
	const struct wake_counts *counts; /* of the first CPU … */
	size_t counts_step;		  /* … and bytes to those of the next */
	struct sys_bpf_view views[3]; /* of slots, launches and hists, in this order */
	struct bpf_link *calibrate_links[2];
};

int wake_probe_open(struct wake_probe *probe, const struct wake_probe_opts *opts, struct err *err);
/* Two more programs on every idle exit while the cost of a stamp is measured. */
int wake_probe_calibrate(struct wake_probe *probe, bool on, struct err *err);
/* Events for which the kernel skipped our programs. */
uint64_t wake_probe_misses(const struct wake_probe *probe);
void wake_probe_close(struct wake_probe *probe);

/* One histogram at both ends of the window; the same pointer without a wake-up in between. */
struct wake_passive_hist {
	const struct wake_hist *now, *was;
};

struct wake_passive {
	unsigned int nr_cpus;
	unsigned int nr_states; /* histograms per CPU */
	bool one_state;		/* no cpuidle driver */
	struct wake_passive_hist *hists;
	struct wake_counts *counts, *counts_prev;
	struct wake_hist (*copies)[2]; /* the current and the previous snapshot of each histogram */
};

int wake_passive_alloc(struct wake_passive *passive, const struct wake_probe *probe,
		       struct err *err);
/* Ends the window and begins the next one without a gap. Copies only histograms that changed. */
void wake_passive_end(struct wake_passive *passive, const struct wake_probe *probe);
void wake_passive_free(struct wake_passive *passive);

#endif
