/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs one experiment of `subtick audit` and makes its report. */
#include "audit_experiments.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"

static int run_ticks(const struct audit_opts *opts, const struct audit_env *env,
		     struct audit_findings *findings, struct report **ret_report, struct err *err)
{
	struct audit_ticks ticks;
	int rc = audit_ticks(opts, env, findings, &ticks, err);

	if (!rc)
		rc = audit_ticks_report(opts, findings, &ticks, ret_report, err);
	audit_ticks_free(&ticks);
	return rc;
}

static int run_delays(const struct audit_opts *opts, const struct audit_env *env,
		      struct audit_findings *findings, struct report **ret_report, struct err *err)
{
	struct audit_delays delays;
	int rc = audit_delays(opts, env, findings, &delays, err);

	/* An error keeps the rows that are finished. */
	if (!rc)
		rc = audit_delays_report(opts, findings, &delays, ret_report, err);
	else if (delays.nr)
		audit_delays_report(opts, findings, &delays, ret_report, NULL);
	audit_delays_free(&delays);
	return rc;
}

static int run_sources(const struct audit_opts *opts, const struct audit_env *env,
		       struct audit_findings *findings, struct report **ret_report, struct err *err)
{
	struct audit_sources *sources = malloc(sizeof(*sources));
	int rc;

	if (!sources)
		return err_set(err, -ENOMEM, "out of memory");
	rc = audit_sources(opts, env, findings, sources, err);
	if (!rc)
		rc = audit_sources_report(opts, findings, sources, ret_report, err);
	free(sources);
	return rc;
}

static const struct audit_experiment experiments[] = {
	{"ticks", run_ticks, 0.14, 500 * NSEC_PER_MSEC},
	{"delays", run_delays, 0.18, 0},
	{"sources", run_sources, 0.68, 400 * NSEC_PER_MSEC},
};

const struct audit_experiment *audit_experiment(size_t index)
{
	return index < sizeof(experiments) / sizeof(experiments[0]) ? &experiments[index] : NULL;
}
