/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chooses the engine, runs the rounds, computes the spread. */
#include "measure/crit/crit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

static int open_engine(const struct crit_engine_ops *ops, const struct crit_opts *opts,
		       struct crit_engine **ret_engine, struct err *err)
{
	int rc = ops->open(opts, ret_engine, err);

	if (rc)
		err_prefix(err, "engine %s", ops->name);
	return rc;
}

int crit_open(const struct crit_opts *opts, struct crit_engine **ret_engine, struct err *err)
{
	struct err module_err = {0};
	int rc;

	if (opts->engine && !strcmp(opts->engine, "module"))
		return open_engine(&crit_engine_module, opts, ret_engine, err);
	if (opts->engine && !strcmp(opts->engine, "bpf"))
		return open_engine(&crit_engine_bpf, opts, ret_engine, err);
	rc = open_engine(&crit_engine_module, opts, ret_engine, &module_err);
	if (!rc)
		return 0;
	rc = crit_engine_bpf.open(opts, ret_engine, err);
	if (rc)
		err_prefix(err, "%.100s; engine bpf", module_err.what);
	return rc;
}

int crit_close(struct crit_engine *engine, struct err *err)
{
	return engine ? engine->ops->close(engine, err) : 0;
}

void crit_result_free(struct crit_result *result)
{
	for (unsigned int i = 0; i < result->nr_rounds; i++)
		free(result->rounds[i].cpus);
	free(result->rounds);
	*result = (struct crit_result){0};
}

int crit_run(struct crit_engine *engine, const struct crit_opts *opts, const char *phase,
	     struct crit_result *ret_result, struct err *err)
{
	struct crit_result result = {.rounds = calloc(opts->rounds, sizeof(*result.rounds))};
	uint64_t start = clock_mono_ns();
	int rc = 0;

	if (!result.rounds)
		return err_set(err, -ENOMEM, "out of memory");
	while (result.nr_rounds < opts->rounds) {
		if (opts->progress)
			opts->progress(phase, result.nr_rounds, opts->rounds);
		rc = opts->stopped && opts->stopped() ? -ECANCELED : 0;
		if (!rc)
			rc = engine->ops->round(engine, opts, &result.rounds[result.nr_rounds],
						err);
		if (rc)
			break;
		result.nr_rounds++;
	}
	result.window_ns = clock_mono_ns() - start;
	if (opts->progress)
		opts->progress(phase, result.nr_rounds, opts->rounds);
	if (rc == -ECANCELED && result.nr_rounds)
		rc = 0;
	if (rc)
		crit_result_free(&result);
	else
		*ret_result = result;
	return rc;
}

struct crit_spread crit_figure(const struct crit_result *result, enum crit_op op, size_t offset)
{
	double values[CRIT_MAX_ROUNDS];

	for (unsigned int i = 0; i < result->nr_rounds; i++)
		values[i] = *(const double *)((const char *)&result->rounds[i].op[op] + offset);
	return crit_spread_of(values, result->nr_rounds);
}

struct crit_spread crit_compared(const struct crit_result *result, enum crit_op op)
{
	struct crit_spread spread = CRIT_FIGURE(result, op, batch);

	return spread.rounds ? spread : CRIT_FIGURE(result, op, median);
}
