/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens all sources, keeps their samples and holds them against the first. */
#include "measure/audit/source_set.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/load/sources.h"
#include "stats/quantile.h"
#include "sys/cpu.h"

static int lane_add(struct source_set *l, struct load_source *source, struct err *err)
{
	struct source_set_member *lane = &l->lane[l->nr_lanes++];

	lane->source = source;
	lane->kept = calloc(l->room, sizeof(*lane->kept));
	return lane->kept ? 0 : err_set(err, -ENOMEM, "out of memory");
}

/* Not auto: its last resort is /proc/stat, which is what stands on trial. */
static int open_truth(const struct load_source_opts *opts, struct load_source **ret_source,
		      struct err *err)
{
	struct err why = {0};
	int rc = load_source_open("bpf", opts, ret_source, err);

	if (rc && !load_source_open("perf-tsc", opts, ret_source, &why))
		rc = 0;
	return rc;
}

static int open_all(struct source_set *l, struct err *err)
{
	struct load_source_opts opts = {.nr_cpus = l->nr_cpus};
	struct load_source *source;
	const char *truth;
	int rc;

	rc = open_truth(&opts, &source, &l->passed_over);
	if (rc) {
		if (err)
			*err = l->passed_over;
		err_prefix(err, "no source to hold /proc/stat against");
		return rc;
	}
	truth = source->ops->name;
	rc = lane_add(l, source, err);
	for (const struct load_source_ops *const *ops = load_sources(); *ops && !rc; ops++) {
		if (!strcmp((*ops)->name, truth) || l->nr_lanes == SOURCE_SET_MAX)
			continue;
		/* A source that this machine lacks is no error; it has no rows. */
		if (!load_source_open((*ops)->name, &opts, &source, NULL))
			rc = lane_add(l, source, err);
	}
	return rc;
}

int source_set_open(struct source_set *l, unsigned int cpu, size_t room, struct err *err)
{
	struct cpuset possible;
	int rc;

	*l = (struct source_set){.cpu = cpu, .room = room};
	rc = cpu_set(NULL, CPU_POSSIBLE, &possible, err);
	if (rc)
		return rc;
	l->nr_cpus = cpuset_end(&possible);
	l->scratch = calloc(l->nr_cpus, sizeof(*l->scratch));
	rc = l->scratch ? open_all(l, err) : err_set(err, -ENOMEM, "out of memory");
	if (rc)
		source_set_close(l);
	return rc;
}

void source_set_close(struct source_set *l)
{
	for (size_t i = 0; i < l->nr_lanes; i++) {
		load_source_close(l->lane[i].source);
		free(l->lane[i].kept);
	}
	l->nr_lanes = 0;
	free(l->scratch);
	l->scratch = NULL;
}

void source_set_reset(struct source_set *l)
{
	l->nr = 0;
}

void source_set_sample(struct source_set *l)
{
	if (l->nr == l->room)
		return;
	for (size_t i = 0; i < l->nr_lanes; i++) {
		l->lane[i].source->ops->sample(l->lane[i].source, l->scratch);
		l->lane[i].kept[l->nr] = l->scratch[l->cpu];
	}
	l->nr++;
}

void source_set_window(const struct source_set *l, size_t lane, size_t from, size_t to,
		       struct load_cpu_window *ret_window)
{
	const struct source_set_member *at = &l->lane[lane];

	load_subtract(&at->kept[from], &at->kept[to], at->source->rate, at->source->parts,
		      ret_window);
}

int source_set_find(const struct source_set *l, const char *name)
{
	for (size_t i = 0; i < l->nr_lanes; i++)
		if (!strcmp(l->lane[i].source->ops->name, name))
			return (int)i;
	return -1;
}

int source_set_error(const struct source_set *l, size_t lane, size_t steps,
		      struct audit_error *ret_error)
{
	struct audit_error e = {0};
	double *sizes = calloc(l->nr + 1, sizeof(*sizes));

	if (!sizes)
		return -ENOMEM;
	for (size_t from = 0; from + steps < l->nr; from++) {
		struct load_cpu_window truth, shown;

		source_set_window(l, 0, from, from + steps, &truth);
		source_set_window(l, lane, from, from + steps, &shown);
		if ((truth.flags | shown.flags) & LOAD_NO_FIGURE) {
			e.voids++;
			continue;
		}
		e.true_ratio += truth.busy_ratio;
		e.shown_ratio += shown.busy_ratio;
		sizes[e.windows] = fabs(shown.busy_ratio - truth.busy_ratio);
		e.rms += sizes[e.windows] * sizes[e.windows];
		e.windows++;
	}
	e.true_ratio /= (double)e.windows;
	e.shown_ratio /= (double)e.windows;
	e.bias = e.shown_ratio - e.true_ratio;
	e.rms = sqrt(e.rms / (double)e.windows);
	quantile_sort(sizes, e.windows);
	e.median = quantile_of(sizes, e.windows, 0.5);
	e.p99 = quantile_of(sizes, e.windows, 0.99);
	e.max = quantile_of(sizes, e.windows, 1.0);
	free(sizes);
	*ret_error = e;
	return 0;
}
