/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks, defaults and names of the options of `subtick runq`. */
#include "measure/runq/opts.h"

#include <errno.h>
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
		enum runq_rollup_by sum;
	} means[] = {
		{RUNQ_PER_CGROUP, ROLLUP_NONE}, {RUNQ_PER_TASK, ROLLUP_NONE},
		{RUNQ_PER_COMM, ROLLUP_NONE},	  {RUNQ_PER_CPU, ROLLUP_NONE},
		{RUNQ_PER_CGROUP, ROLLUP_POD},  {RUNQ_PER_CGROUP, ROLLUP_NAMESPACE},
		{RUNQ_PER_CGROUP, ROLLUP_QOS},
	};

	opts->per = means[index].per;
	opts->sum = means[index].sum;
}

static int check_le(const uint64_t *le_ns, unsigned int nr, struct err *err)
{
	uint8_t in[HIST_NR];
	unsigned int bad;

	if (!runq_le_place(le_ns, nr, in, &bad))
		return 0;
	return err_set(err, -EINVAL, "boundary %u is not above the one before it by 3.2 %% or more",
		       bad + 1);
}

struct le {
	uint64_t *ns;
	unsigned int *nr;
};

static int add_le(const struct opt *opt, const char *word, void *base, struct err *err)
{
	struct le *le = base;

	if (*le->nr == RUNQ_NR_LE)
		return err_set(err, -E2BIG, "at most %d boundaries", RUNQ_NR_LE);
	return opt_duration(word, opt->min, opt->max, &le->ns[(*le->nr)++], err);
}

int runq_opts_le(const struct opt *opt, const char *value, uint64_t *le_ns, unsigned int *nr_le,
		 struct err *err)
{
	int rc;

	*nr_le = 0;
	memset(le_ns, 0, RUNQ_NR_LE * sizeof(*le_ns));
	rc = opt_each(opt, value, &(struct le){le_ns, nr_le}, err, add_le);
	return rc ? rc : check_le(le_ns, *nr_le, err);
}

static int check_pressure(const struct runq_opts *opts, struct err *err)
{
	if (opts->sum == ROLLUP_NAMESPACE)
		return err_set(err, -EINVAL,
			       "--pressure goes with --per cgroup or pod: the pods of a namespace "
			       "have no cgroup in common, and wall times of pods do not add up");
	if (opts->sum == ROLLUP_QOS)
		return err_set(err, -EINVAL,
			       "--pressure goes with --per cgroup or pod, not qos: guaranteed pods "
			       "have no cgroup in common, and wall times of pods do not add up; "
			       "--depth shows the cgroups of the other classes");
	if (opts->per != RUNQ_PER_CGROUP)
		return err_set(err, -EINVAL, "--pressure goes with --per cgroup or pod");
	if (cpuset_count(&opts->cpus))
		return err_set(err, -EINVAL, "--pressure is of all CPUs: it goes without --cpu");
	return 0;
}

int runq_opts_check(const struct runq_opts *opts, struct err *err)
{
	bool of_cgroups = opts->per == RUNQ_PER_CGROUP || opts->per == RUNQ_PER_TASK;

	if (opts->nr_cgroups && !of_cgroups)
		return err_set(err, -EINVAL,
			       "--cgroup goes with --per cgroup, task, pod, namespace or qos");
	if (opts->rules && opts->rules->nr && !of_cgroups)
		return err_set(err, -EINVAL,
			       "--include and --exclude go with --per cgroup, task, pod, namespace "
			       "or qos");
	if (opts->tree && !opts->nr_cgroups)
		return err_set(err, -EINVAL, "--tree needs --cgroup");
	if (opts->depth && (opts->per != RUNQ_PER_CGROUP || opts->sum || opts->tree))
		return err_set(err, -EINVAL, "--depth goes with --per cgroup, without --tree");
	if (opts->depth >= RUNQ_DEPTH)
		return err_set(err, -EINVAL, "--depth must be below %d", RUNQ_DEPTH);
	if (opts->tree && opts->sum)
		return err_set(err, -EINVAL, "--tree goes with --per cgroup or --per task");
	if (opts->idle_states && opts->per != RUNQ_PER_CGROUP)
		return err_set(err, -EINVAL,
			       "--idle-states goes with --per cgroup, pod, namespace or qos");
	if (!(opts->sample_ratio >= 0.0 && opts->sample_ratio <= 1.0))
		return err_set(err, -EINVAL, "the sampling ratio must be from 0 to 1");
	if (opts->blame_rows > RUNQ_NR_BLAME)
		return err_set(err, -EINVAL, "at most %d culprits per victim", RUNQ_NR_BLAME);
	if (opts->pressure && check_pressure(opts, err))
		return -EINVAL;
	return check_le(opts->le_ns, opts->nr_le, err);
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
	if (opts->per != RUNQ_PER_CGROUP || opts->sum != ROLLUP_NONE)
		return;
	if (opts->depth)
		opts->sum = ROLLUP_DEPTH;
	else if (opts->nr_cgroups && !opts->tree)
		opts->sum = ROLLUP_REQUESTED;
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
