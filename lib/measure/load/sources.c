/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists, chooses and opens sources of CPU load. */
#include "measure/load/sources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const struct load_source_ops *const sources[] = {
	&load_source_bpf,
	&load_source_bpf_pmu,
	&load_source_perf_tsc,
	&load_source_perf_calibrated,
	&load_source_procidle,
	&load_source_schedstat,
	&load_source_taskclock,
	&load_source_procstat,
	NULL,
};

const struct load_source_ops *const *load_sources(void)
{
	return sources;
}

static int open_one(const struct load_source_ops *ops, const struct load_source_opts *opts,
		    struct load_source **ret_source, struct err *err)
{
	struct load_source *source = calloc(1, ops->size);
	int rc;

	if (!source)
		return err_set(err, -ENOMEM, "out of memory");
	*source = (struct load_source){.ops = ops, .nr_cpus = opts->nr_cpus, .rate = 1.0};
	rc = ops->open(source, opts, err);
	if (rc)
		ops->close(source);
	else
		*ret_source = source;
	return rc;
}

/*
 * Opens a source that also counts passive wake-ups. If the programs for passive wake-ups cannot be
 * loaded, opens the source without them.
 */
static int open_with_wake(const struct load_source_ops *ops, const struct load_source_opts *opts,
			  struct load_source **ret_source, struct err *err)
{
	struct load_source_opts alone = *opts;
	struct err why = {0};
	int rc;

	alone.wake = false;
	if (opts->wake && !open_one(ops, opts, ret_source, &why))
		return 0;
	rc = open_one(ops, &alone, ret_source, err);
	if (!rc)
		(*ret_source)->wake_err = why;
	return rc;
}

/*
 * Opens source bpf, or else perf-tsc. All other sources must be requested by name: bpf-pmu costs
 * time at each context change, and the remaining sources can be wrong without a warning. @err is
 * the reason why source bpf is unavailable, even if perf-tsc works.
 */
static int open_auto(const struct load_source_opts *opts, struct load_source **ret_source,
		     struct err *err)
{
	struct err why = {0};
	int rc = open_with_wake(&load_source_bpf, opts, ret_source, &why);

	if (rc)
		rc = open_with_wake(&load_source_perf_tsc, opts, ret_source, NULL);
	if (err)
		*err = why;
	return rc;
}

int load_source_open(const char *name, const struct load_source_opts *opts,
		     struct load_source **ret_source, struct err *err)
{
	if (!name || !strcmp(name, "auto"))
		return open_auto(opts, ret_source, err);
	for (const struct load_source_ops *const *ops = sources; *ops; ops++)
		if (!strcmp((*ops)->name, name))
			return open_with_wake(*ops, opts, ret_source, err);
	return err_set(err, -EINVAL, "unknown source %s", name);
}

struct load_source *load_source_share(struct load_source *source)
{
	source->more_users++;
	return source;
}

void load_source_close(struct load_source *source)
{
	if (!source)
		return;
	if (source->more_users)
		source->more_users--;
	else
		source->ops->close(source);
}

void load_source_losses(struct load_source *source, struct load_losses *ret_losses)
{
	memset(ret_losses, 0xff, sizeof(*ret_losses)); /* each member is LOAD_NO_LOSS */
	source->ops->losses(source, ret_losses);
}

void load_ends_open(struct load_ends *ends, struct blocks *memory, unsigned int nr_cpus)
{
	ends->prev = blocks_calloc(memory, nr_cpus, sizeof(*ends->prev));
	ends->cur = blocks_calloc(memory, nr_cpus, sizeof(*ends->cur));
}

void load_ends_sample(struct load_ends *ends, struct load_source *source)
{
	*ends = (struct load_ends){.prev = ends->cur, .cur = ends->prev};
	source->ops->sample(source, ends->cur);
}
