/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface of a source of per-CPU load. sources.h lists the sources. */
#ifndef SUBTICK_MEASURE_LOAD_SOURCE_H
#define SUBTICK_MEASURE_LOAD_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "stats/load.h"

struct core;
struct load_source;
struct noise_cpu;
struct noise_sends;
struct wake_counts;
struct wake_hist;

struct load_source_opts {
	unsigned int nr_cpus; /* number of CPUs: CPUs 0 … nr_cpus-1 are sampled */
	/* event to count, for sources that use hardware counters; NULL for the default */
	const char *event;
	bool bursts;	      /* source bpf: keep the distribution of busy bursts */
	bool lines;	      /* source bpf: count hardirq time by interrupt line */
	bool tasks;	      /* source bpf: count task time by task */
	/* Source bpf: interrupts, softirqs and kernel threads, and their victims */
	bool noise;
	bool senders;	      /* with noise: count IPIs by sending core, target and function */
	const uint32_t *siblings; /* source bpf: sibling of each CPU, or NULL without --cores */
	bool wake;	      /* source bpf: count passive wake-ups, see struct load_wake */
};

/* Counters of passive wake-ups that BPF programs keep. */
struct load_wake {
	unsigned int nr_cpus;
	unsigned int nr_states; /* number of histograms per CPU in hists, at least 1 */
	bool one_state;		/* no cpuidle driver: one histogram for the default idle function */
	const struct wake_hist *hists; /* histograms; the index is cpu × nr_states + state */
	const struct wake_counts *counts; /* counters of the first CPU */
	size_t counts_step;		  /* bytes from one CPU's counters to the next */
};

struct load_source_ops {
	const char *name; /* name for --source */
	const char *what; /* description of the source in one line */
	bool counts;	  /* the source counts a hardware event, see opts->event */
	size_t size; /* size of the source's struct */
	/*
	 * Members of @source after struct load_source are 0. Fails with err->unsupported if the
	 * machine does not have a required feature. The caller closes @source after a failure.
	 */
	int (*open)(struct load_source *source, const struct load_source_opts *opts,
		    struct err *err);
	/*
	 * Fills samples[0 … nr_cpus-1]. The sample of a CPU that cannot be read gets a flag that
	 * says why.
	 */
	void (*sample)(struct load_source *source, struct load_sample *samples);
	/*
	 * Sets the members for the kinds of losses that the source counts. The caller has set all
	 * members to LOAD_NO_LOSS.
	 */
	void (*losses)(struct load_source *source, struct load_losses *losses);
	/* Optional: cumulative softirq time of one CPU by vector. */
	void (*vecs)(struct load_source *source, unsigned int cpu, struct load_vecs *ret_vecs);
	/*
	 * Optional: cumulative burst counts of one CPU in HIST_NR buckets. BPF programs may update
	 * the counts while user space reads them.
	 */
	const uint64_t *(*bursts)(struct load_source *source, unsigned int cpu);
	/* Optional: hardirq and task time since the last call, most time first. */
	int (*lines)(struct load_source *source, const struct load_line **ret, size_t *ret_nr);
	int (*tasks)(struct load_source *source, const struct load_task **ret, size_t *ret_nr);
	/*
	 * Optional: ends a window of noise, stores its number in @ret_turn, and returns the
	 * counters by CPU, or NULL without opts->noise.
	 */
	const struct noise_cpu *(*noise)(struct load_source *source, uint64_t *ret_turn);
	/* Optional: IPIs sent by each CPU, with opts->senders. */
	const struct noise_sends *(*sends)(struct load_source *source);
	/* Optional: passive wake-ups. False without opts->wake. */
	bool (*wake)(struct load_source *source, struct load_wake *ret_wake);
	/* Optional: busy times of two siblings, with opts->siblings. */
	void (*smt)(struct load_source *source, const uint32_t cpu[2],
		    struct load_smt_sample *ret_sample);
	/*
	 * Optional: the BPF object that runq can share, so that one program on sched_switch counts
	 * for load and runq, or NULL.
	 */
	const struct core *(*core)(struct load_source *source);
	/*
	 * From now on the program on sched_switch of the object @by counts for this source. NULL:
	 * the source attaches its own program again.
	 */
	int (*joined)(struct load_source *source, const struct core *by);
	/* Frees @source. */
	void (*close)(struct load_source *source);
};

/*
 * First member of the private struct of each source. load_source_open() and the source's open
 * function set these members.
 */
struct load_source {
	const struct load_source_ops *ops;
	unsigned int nr_cpus;
	uint32_t parts; /* bit n: the source measures part n of enum load_part */
	double rate;	/* see load_subtract() */
	bool noise_v1;	/* victims of noise are cgroups of the v1 controller cpu */
	/*
	 * samples do not end the window of --tasks, because another user of the source reads that
	 * window
	 */
	bool tasks_held;
	bool noise_calls; /* function calls by IPI are counted */
	/* number of users in addition to the first, see load_source_share() */
	unsigned int more_users;
	struct err wake_err; /* why requested passive wake-ups are not counted */
	uint64_t base_hz; /* rate of the cycle clock if the source converts cycles to time, or 0 */
};

#endif
