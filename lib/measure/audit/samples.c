/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps the samples of all sources and compares them with those of the first. */
#include "measure/audit/samples.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "stats/quantile.h"
#include "sys/cpu.h"

int audit_samples_open(struct audit_samples *s, unsigned int cpu, size_t room, struct err *err)
{
	struct load_source_opts opts = {0};
	struct cpuset possible;
	int rc;

	*s = (struct audit_samples){.cpu = cpu, .room = room};
	rc = cpu_set(NULL, CPU_POSSIBLE, &possible, err);
	if (rc)
		return rc;
	opts.nr_cpus = cpuset_end(&possible);
	rc = source_set_open(&s->set, NULL, &opts, err);
	if (rc) {
		err_prefix(err, "no source for the true load");
		return rc;
	}
	source_set_add(&s->set, NULL, &opts);
	s->scratch = calloc(opts.nr_cpus, sizeof(*s->scratch));
	rc = s->scratch ? 0 : -ENOMEM;
	for (unsigned int i = 0; i < s->set.nr; i++) {
		s->kept[i] = calloc(room, sizeof(*s->kept[i]));
		if (!s->kept[i])
			rc = -ENOMEM;
	}
	if (rc) {
		audit_samples_close(s);
		return err_set(err, rc, "out of memory");
	}
	return 0;
}

void audit_samples_close(struct audit_samples *s)
{
	for (unsigned int i = 0; i < s->set.nr; i++)
		free(s->kept[i]);
	source_set_close(&s->set);
	free(s->scratch);
	s->scratch = NULL;
}

void audit_samples_reset(struct audit_samples *s)
{
	s->nr = 0;
}

void audit_samples_add(struct audit_samples *s)
{
	if (s->nr == s->room)
		return;
	for (unsigned int i = 0; i < s->set.nr; i++) {
		struct load_source *source = s->set.source[i];

		source->ops->sample(source, s->scratch);
		s->kept[i][s->nr] = s->scratch[s->cpu];
	}
	s->nr++;
}

void audit_samples_window(const struct audit_samples *s, size_t at, size_t from, size_t to,
			  struct load_cpu_window *ret_window)
{
	const struct load_source *source = s->set.source[at];

	load_subtract(&s->kept[at][from], &s->kept[at][to], source->rate, source->parts,
		      ret_window);
}

int audit_samples_error(const struct audit_samples *s, size_t at, size_t steps,
			struct audit_error *ret_error)
{
	struct audit_error e = {0};
	double *sizes = calloc(s->nr + 1, sizeof(*sizes));

	if (!sizes)
		return -ENOMEM;
	for (size_t from = 0; from + steps < s->nr; from++) {
		struct load_cpu_window truth, shown;

		audit_samples_window(s, 0, from, from + steps, &truth);
		audit_samples_window(s, at, from, from + steps, &shown);
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
