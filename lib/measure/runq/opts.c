/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Defaults and names of what `subtick runq` can be asked for. */
#include "measure/runq/opts.h"

#include <string.h>

#include "stats/runq.h"

#define BLAME_ROWS 8

const char *const runq_per_names[] = {"cgroup", "task",	     "comm", "cpu",
				      "pod",	"namespace", "qos",  NULL};
const char *const runq_source_names[] = {"auto", "sched_info", "wakeup", NULL};
const char *const runq_hierarchy_names[] = {"auto", "v1", "v2", NULL};

void runq_opts_per(struct runq_opts *opts, unsigned int index)
{
	static const struct {
		enum runq_per per;
		enum runq_sum sum;
	} means[] = {
		{RUNQ_PER_CGROUP, RUNQ_SUM_NONE}, {RUNQ_PER_TASK, RUNQ_SUM_NONE},
		{RUNQ_PER_COMM, RUNQ_SUM_NONE},	  {RUNQ_PER_CPU, RUNQ_SUM_NONE},
		{RUNQ_PER_CGROUP, RUNQ_SUM_POD},  {RUNQ_PER_CGROUP, RUNQ_SUM_NAMESPACE},
		{RUNQ_PER_CGROUP, RUNQ_SUM_QOS},
	};

	opts->per = means[index].per;
	opts->sum = means[index].sum;
}

void runq_opts_defaults(struct runq_opts *opts)
{
	static const uint64_t le[] = RUNQ_LE_DEFAULT_NS;
	static const double percentiles[] = {50, 90, 99, 99.9};

	if (!opts->nr_le) {
		memcpy(opts->le_ns, le, sizeof(le));
		opts->nr_le = sizeof(le) / sizeof(le[0]);
	}
	if (!opts->nr_percentiles) {
		memcpy(opts->percentiles, percentiles, sizeof(percentiles));
		opts->nr_percentiles = sizeof(percentiles) / sizeof(percentiles[0]);
	}
	if (opts->sample_ratio >= 1.0)
		opts->sample_ratio = 0.0;
	opts->causes |= opts->blame;
	if (!opts->blame_rows)
		opts->blame_rows = BLAME_ROWS;
	if (opts->per != RUNQ_PER_CGROUP || opts->sum != RUNQ_SUM_NONE)
		return;
	if (opts->depth)
		opts->sum = RUNQ_SUM_DEPTH;
	else if (opts->nr_cgroups && !opts->tree)
		opts->sum = RUNQ_SUM_ASKED;
}

bool runq_opts_filter(const struct runq_opts *opts)
{
	return (opts->nr_cgroups || (opts->rules && opts->rules->nr)) && opts->per == RUNQ_PER_CGROUP &&
	       opts->source == RUNQ_SOURCE_SCHED_INFO && !opts->causes && !opts->threshold_ns &&
	       !opts->steps_only && !cpuset_count(&opts->cpus) &&
	       (opts->sample_ratio <= 0.0 || opts->sample_ratio >= 1.0);
}

size_t runq_opts_reserve(const struct runq_opts *opts, size_t now)
{
	size_t want = now + now / 4;

	if (opts->reserve_most && want > opts->reserve_most)
		want = opts->reserve_most;
	return want > opts->reserve ? want : opts->reserve;
}
