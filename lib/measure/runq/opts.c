/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options of `subtick runq`: checks, defaults and names. */
#include "measure/runq/opts.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "stats/runq.h"

#define BLAME_ROWS 8

#define STRING(number) STRING_OF(number)
#define STRING_OF(text) #text

/*
 * Names of enum runq_per up to RUNQ_PER_CPU, then of enum runq_rollup_by from ROLLUP_POD to
 * ROLLUP_VCPU.
 */
const char *const runq_per_names[] = {"cgroup", "task",	     "comm", "cpu",
				      "pod",	"namespace", "qos",  "vm",
				      "vcpu",	NULL};
const char *const runq_source_names[] = {"auto", "sched_info", "wakeup", NULL};
const char *const runq_hierarchy_names[] = {"auto", "v1", "v2", NULL};

void runq_opts_per(struct runq_opts *opts, unsigned int index)
{
	bool rollup = index > RUNQ_PER_CPU;

	opts->sum = rollup ? ROLLUP_POD + (index - RUNQ_PER_CPU - 1) : ROLLUP_NONE;
	opts->per = !rollup ? index : opts->sum >= ROLLUP_VM ? RUNQ_PER_TASK : RUNQ_PER_CGROUP;
}

static int check_le(const uint64_t *le_ns, unsigned int nr, struct err *err)
{
	uint8_t in[HIST_NR];
	unsigned int bad;

	if (!runq_le_assign(le_ns, nr, in, &bad))
		return 0;
	return err_set(err, -EINVAL, "boundary %u must be at least 3.2 %% above the previous one",
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

int runq_opts_check(const struct runq_opts *opts, struct err *err)
{
	bool per_cpu = opts->per == RUNQ_PER_CPU;
	const struct {
		bool wrong;
		const char *what;
	} checks[] = {
		{opts->nr_cgroups && per_cpu,
		 "--cgroup and --per cpu exclude each other"},
		{opts->rules && opts->rules->nr && per_cpu,
		 "--include, --exclude and --per cpu exclude each other"},
		{opts->tree && !opts->nr_cgroups, "--tree needs --cgroup"},
		{opts->depth && (opts->per != RUNQ_PER_CGROUP || opts->sum || opts->tree),
		 "--depth needs --per cgroup and excludes --tree"},
		{opts->depth >= RUNQ_DEPTH, "--depth must be below " STRING(RUNQ_DEPTH)},
		{opts->tree && (opts->sum || opts->per == RUNQ_PER_COMM),
		 "--tree needs --per cgroup or --per task"},
		{opts->idle_states && opts->per != RUNQ_PER_CGROUP,
		 "--idle-states needs --per cgroup, pod, namespace or qos"},
		{opts->avoidable && opts->per != RUNQ_PER_CGROUP,
		 "--avoidable needs --per cgroup, pod, namespace or qos"},
		{opts->avoidable && opts->sample_ratio > 0.0 && opts->sample_ratio < 1.0,
		 "--avoidable excludes --sample: it counts every wait"},
		{!(opts->sample_ratio >= 0.0 && opts->sample_ratio <= 1.0),
		 "the sampling ratio must be from 0 to 1"},
		{opts->blame_rows > RUNQ_NR_BLAME,
		 "at most " STRING(RUNQ_NR_BLAME) " culprits per victim"},
		{opts->pressure && opts->sum == ROLLUP_NAMESPACE,
		 "--pressure needs --per cgroup or pod: the pods of a namespace have no cgroup "
		 "in common, and wall times do not add up"},
		{opts->pressure && opts->sum == ROLLUP_QOS,
		 "--pressure needs --per cgroup or pod: guaranteed pods have no cgroup in "
		 "common, and wall times do not add up; --depth shows the other classes"},
		{opts->pressure && opts->per != RUNQ_PER_CGROUP,
		 "--pressure needs --per cgroup or pod"},
		{opts->pressure && cpuset_count(&opts->cpus),
		 "--pressure excludes --cpu: it covers all CPUs"},
	};

	array_for_each(check, checks, ARRAY_SIZE(checks))
		if (check->wrong)
			return err_set(err, -EINVAL, "%s", check->what);
	return check_le(opts->le_ns, opts->nr_le, err);
}

static bool has_filter(const struct runq_opts *opts)
{
	return opts->nr_cgroups || (opts->rules && opts->rules->nr);
}

void runq_opts_defaults(struct runq_opts *opts)
{
	static const uint64_t le[] = RUNQ_LE_DEFAULT_NS;
	static const double percentiles[] = {50, 90, 99, 99.9};

	if (!opts->nr_le) {
		memcpy(opts->le_ns, le, sizeof(le));
		opts->nr_le = ARRAY_SIZE(le);
	}
	if (!opts->nr_percentiles) {
		memcpy(opts->percentiles, percentiles, sizeof(percentiles));
		opts->nr_percentiles = ARRAY_SIZE(percentiles);
	}
	if (opts->sample_ratio >= 1.0)
		opts->sample_ratio = 0.0;
	opts->causes |= opts->blame;
	if (!opts->blame_rows)
		opts->blame_rows = BLAME_ROWS;
	/*
	 * Tasks of the same name can be in many cgroups. To filter cgroups, count waits by cgroup
	 * and task name, and sum the cgroups that pass the filter.
	 */
	if (opts->per == RUNQ_PER_COMM && has_filter(opts)) {
		opts->per = RUNQ_PER_CGROUP_COMM;
		opts->sum = ROLLUP_COMM;
	}
	if (opts->per != RUNQ_PER_CGROUP || opts->sum != ROLLUP_NONE)
		return;
	if (opts->depth)
		opts->sum = ROLLUP_DEPTH;
	else if (opts->nr_cgroups && !opts->tree)
		opts->sum = ROLLUP_REQUESTED;
}

bool runq_opts_filter(const struct runq_opts *opts)
{
	return has_filter(opts) && opts->per == RUNQ_PER_CGROUP &&
	       opts->source == RUNQ_SOURCE_SCHED_INFO && (!opts->causes || opts->fold_excluded) &&
	       !opts->threshold_ns && !cpuset_count(&opts->cpus) &&
	       (opts->sample_ratio <= 0.0 || opts->sample_ratio >= 1.0);
}

size_t runq_opts_reserve(const struct runq_opts *opts, size_t now)
{
	size_t want = now + now / 4;

	if (opts->reserve_most && want > opts->reserve_most)
		want = opts->reserve_most;
	return want > opts->reserve ? want : opts->reserve;
}
