/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A source of per-CPU load: how every way of knowing it looks to cpu_load and `subtick load`. */
#ifndef SUBTICK_MEASURE_LOAD_SOURCE_H
#define SUBTICK_MEASURE_LOAD_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/load.h"
#include "base/err.h"
#include "report/report.h"

/* The parts of a core's wall time. Every source knows some of them, source bpf all. */
enum load_part {
	LOAD_PART_TASK,
	LOAD_PART_HARDIRQ,
	LOAD_PART_SOFTIRQ_ON_IDLE,
	LOAD_PART_SOFTIRQ_ON_TASK,
	LOAD_PART_KSOFTIRQD,
	LOAD_PART_IDLE_LOOP,
	LOAD_PART_POLL_IDLE,
	LOAD_PART_IDLE,
	LOAD_PART_STEAL,
	LOAD_PART_UNKNOWN,
	LOAD_NR_PARTS,
};

enum load_flag {
	LOAD_MULTIPLEXED = 1 << 0, /* the counter did not run all the time */
	LOAD_READ_FAILED = 1 << 1,
	LOAD_OFFLINE = 1 << 2,
	LOAD_HOTPLUGGED = 1 << 3, /* went off- or online inside the window: no figure */
	LOAD_TORN = 1 << 4,	  /* changed faster than it could be read: no figure */
	LOAD_NOT_CONSTANT = 1 << 5, /* the event's rate is not known to be constant */
	LOAD_NO_TIME = 1 << 6,	  /* the source's clock did not move in the window: no figure */
	LOAD_CLAMPED = 1 << 7,	  /* outside 0…1 by more than rounding, shown at the edge */
};

/*
 * Cumulative since the source was opened, in the source's own unit; only differences count.
 * The load of a window is Δbusy / Δtotal.
 */
struct load_sample {
	uint64_t stamp_ns; /* CLOCK_MONOTONIC at which this CPU was read */
	uint64_t busy;
	uint64_t total;
	uint64_t part_ns[LOAD_NR_PARTS];
	uint64_t vec_ns[LOAD_NR_VECS];
	uint64_t vec_count[LOAD_NR_VECS];
	uint32_t flags; /* with any that says "no figure", the rest is void */
};

#define LOAD_NO_FIGURE                                                                             \
	(LOAD_READ_FAILED | LOAD_OFFLINE | LOAD_HOTPLUGGED | LOAD_TORN | LOAD_NO_TIME)

struct load_source;

struct load_source_opts {
	unsigned int nr_cpus; /* CPUs 0 … nr_cpus-1 are sampled */
	const char *event;    /* counter sources: event instead of the architecture's own, or NULL */
	bool bursts;	      /* source bpf: keep the distribution of busy bursts */
};

struct load_source_ops {
	const char *name;     /* as in --source */
	const char *what;     /* one line for people */
	enum metric_id compare; /* its column beside the others */
	uint32_t parts;	      /* bit per load_part that it knows */
	bool has_vecs;
	/* Fails with err->unsupported when this machine lacks what it needs. */
	int (*open)(const struct load_source_opts *opts, struct load_source **ret, struct err *err);
	/* Fills samples[0 … nr_cpus-1]; a CPU that can't be read is flagged, never left as it was. */
	void (*sample)(struct load_source *source, struct load_sample *samples);
	/* Optional: adds the source's losses to the report's quality. */
	void (*quality)(struct load_source *source, struct report *report);
	/* Optional: cumulative burst counts of one CPU, HIST_NR buckets. */
	const uint64_t *(*bursts)(struct load_source *source, unsigned int cpu);
	void (*close)(struct load_source *source);
};

/* First member of each source's own struct. */
struct load_source {
	const struct load_source_ops *ops;
};

/* All sources, best first; NULL-terminated. */
const struct load_source_ops *const *load_sources(void);
/* By name, or "auto"/NULL: the best that opens; @err then holds why none did. */
int load_source_open(const char *name, const struct load_source_opts *opts,
		     struct load_source **ret_source, struct err *err);
void load_source_close(struct load_source *source);

#endif
