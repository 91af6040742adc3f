/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures HZ, unless it is given, and applies the rules of precision. */
#include "measure/audit/precision.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "measure/audit/watch.h"

int audit_precision(const struct audit_opts *opts, const struct audit_env *env, double want,
		    unsigned int hz, struct audit_precision *ret_precision, struct err *err)
{
	struct audit_precision p = {.want = want, .given = hz};
	struct audit_findings *f = &p.findings;
	uint64_t begin = clock_mono_ns();
	int rc;

	f->user_hz = sysconf(_SC_CLK_TCK);
	if (hz) {
		f->tick_looked = f->tick_known = true;
		f->hz = hz;
		f->tick_ns = tick_fit_tick_ns(hz);
	}
	rc = audit_find_tick(opts->cpu, opts->budget_ns, env, f, err);
	if (rc)
		return rc;
	if (!f->tick_known && f->tick_unclear)
		return err_set(err, -EAGAIN,
			       "this kernel's HZ could not be measured: %s; try again on a quieter "
			       "machine, or set --hz",
			       f->tick_unclear);
	/* Exact accounting only has the rounding of its unit. */
	precision_rule(want, f->user_hz, f->tick_known ? f->hz : f->user_hz, &p.rule);
	p.window_ns = hz ? 0 : clock_mono_ns() - begin;
	*ret_precision = p;
	return 0;
}
