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
	unsigned int nr_cpus; /* CPUs 0 … nr_cpus-1 are sampled */
	const char *event;    /* counter sources: event instead of the architecture's own, or NULL */
	bool bursts;	      /* source bpf: keep the distribution of busy bursts */
	bool lines;	      /* source bpf: hardirq time by line */
	bool tasks;	      /* source bpf: task time by task */
	bool noise;	      /* source bpf: what takes time from tasks, and from whom */
	bool senders;	      /* with noise: count IPIs by sending core, target and function */
	const uint32_t *siblings; /* source bpf: sibling of each CPU, for load_smt_sample; NULL: none */
	bool wake;	      /* source bpf: passive wake-ups, by the same programs; see struct load_wake */
};

/* Counters of passive wake-ups that the programs of a source keep. */
struct load_wake {
	unsigned int nr_states; /* rows per CPU in hists: at least 1 */
	bool one_state;		/* no cpuidle driver: one row for the architecture's own idle */
	const struct wake_hist *hists; /* [cpu × nr_states + state] */
	const struct wake_counts *counts; /* of the first CPU … */
	size_t counts_step;		  /* … and bytes to those of the next */
};

struct load_source_ops {
	const char *name; /* as in --source */
	const char *what; /* one line for people */
	bool counts;	  /* a hardware event, which opts->event names */
	size_t size; /* of the source's own struct */
	/*
	 * @source is zeroed but for struct load_source. Fails with err->unsupported when this
	 * machine lacks what it needs; close() follows.
	 */
	int (*open)(struct load_source *source, const struct load_source_opts *opts,
		    struct err *err);
	/* Fills samples[0 … nr_cpus-1]; a CPU that can't be read is flagged, never left as it was. */
	void (*sample)(struct load_source *source, struct load_sample *samples);
	/* Fills in those losses that the source can have; the others are LOAD_NO_LOSS before. */
	void (*losses)(struct load_source *source, struct load_losses *losses);
	/* Optional: softirq time of one CPU by vector, cumulative. */
	void (*vecs)(struct load_source *source, unsigned int cpu, struct load_vecs *ret_vecs);
	/* Optional: cumulative burst counts of one CPU, HIST_NR buckets, which go on changing. */
	const uint64_t *(*bursts)(struct load_source *source, unsigned int cpu);
	/* Optional: hardirq and task time since the last call, most first. 0 or -errno. */
	int (*lines)(struct load_source *source, const struct load_line **ret, size_t *ret_nr);
	int (*tasks)(struct load_source *source, const struct load_task **ret, size_t *ret_nr);
	/* Optional: counters of `noise` by CPU. Ends a turn, @ret_turn. NULL: not asked for. */
	const struct noise_cpu *(*noise)(struct load_source *source, uint64_t *ret_turn);
	/* Optional: what each CPU sent, with senders. */
	const struct noise_sends *(*sends)(struct load_source *source);
	/* Optional: passive wake-ups; false: not counted. */
	bool (*wake)(struct load_source *source, struct load_wake *ret_wake);
	/* Optional: two siblings; 0 unless the source was opened with siblings. */
	void (*smt)(struct load_source *source, const uint32_t cpu[2],
		    struct load_smt_sample *ret_sample);
	/* Optional: the programs, if others can join them with a switch program for both; else NULL. */
	const struct core *(*core)(struct load_source *source);
	/* @by is attached and counts for this source from now on. NULL: it is about to be detached. */
	int (*joined)(struct load_source *source, const struct core *by);
	/* Frees @source, also after a failed open. */
	void (*close)(struct load_source *source);
};

/* First member of each source's own struct; filled in by load_source_open() and by open. */
struct load_source {
	const struct load_source_ops *ops;
	unsigned int nr_cpus;
	uint32_t parts; /* bit per load_part that it knows */
	double rate;	/* see load_subtract() */
	bool noise_v1;	/* victims of noise are cgroups of v1's controller cpu, not of v2 */
	bool tasks_held; /* a sample does not end the window of tasks: another user reads them */
	bool noise_calls; /* with senders: which functions they call is counted */
	unsigned int more_users; /* beside the first: see load_source_share() */
	struct err wake_err; /* why passive wake-ups are not counted, if they were asked for */
	uint64_t base_hz; /* rate of the cycle clock if the source turns cycles into time, else 0 */
};

#endif
