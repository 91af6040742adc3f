/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Searches for the phase of the tick that hides a periodic task from /proc/stat. */
#include "measure/audit/sources.h"

#include <errno.h>

#include "base/clock.h"
#include "gen/loads.h"

#define SETTLE_NS (20 * NSEC_PER_MSEC)
#define PROBE_NS  (200 * NSEC_PER_MSEC)
/*
 * Maximum share of a hidden task's load in /proc/stat. The limit is not 0, because /proc/stat also
 * counts other tasks of the core.
 */
#define HIDDEN_SHARE 0.25
#define ROUNDS	     3

static int probe(struct audit_samples *samples, double share, uint64_t period_ns,
		 const struct audit_env *env, struct phase_probe *probe, bool *stopped,
		 struct err *err)
{
	struct duty_opts opts = {.cpu = (int)samples->cpu,
				 .duty = share,
				 .period_ns = period_ns,
				 .locked = true,
				 .phase_ns = probe->phase_ns};
	int columns = source_set_find(&samples->set, "procstat"), rc;
	struct load_cpu_window truth, shown;
	struct gen_child duty;
	bool bound;

	if (columns < 0)
		return err_unsupported(err, -ENOENT, "mount -t proc proc /proc",
				       "/proc/stat is missing");
	rc = duty_start(&duty, &opts, err);
	if (rc)
		return rc;
	samples->nr = 0;
	*stopped = audit_wait(env, clock_mono_ns() + SETTLE_NS);
	audit_samples_add(samples);
	*stopped |= audit_wait(env, clock_mono_ns() + PROBE_NS);
	audit_samples_add(samples);
	bound = gen_child_on(&duty, opts.cpu);
	if (!gen_child_alive(&duty))
		rc = audit_no_load(err, samples->cpu);
	gen_child_stop(&duty);
	if (rc || *stopped)
		return rc;
	audit_samples_window(samples, 0, 0, 1, &truth);
	audit_samples_window(samples, columns, 0, 1, &shown);
	/* A probe is invalid if other tasks used much of the core. */
	probe->valid = bound && !((truth.flags | shown.flags) & LOAD_NO_FIGURE) &&
		       truth.busy_ratio <= share + AUDIT_OTHERS_MAX;
	probe->true_ratio = truth.busy_ratio;
	probe->shown_ratio = shown.busy_ratio;
	return 0;
}

int audit_hide_search(struct audit_samples *samples, double share, uint64_t period_ns,
		      uint64_t until_ns, const struct audit_env *env, struct audit_hide *ret_hide,
		      struct err *err)
{
	struct audit_hide hide = {.period_ns = period_ns};
	size_t nr_valid = 0;
	struct phase_probe again;
	int rc = 0;

	phase_plan(hide.probes, AUDIT_PROBES, period_ns);
	for (size_t i = 0; i < ROUNDS * AUDIT_PROBES && !rc && !hide.stopped; i++) {
		struct phase_probe *at = &hide.probes[i % AUDIT_PROBES];

		if (!phase_doubtful(at, HIDDEN_SHARE))
			continue;
		if (i >= AUDIT_PROBES && clock_mono_ns() > until_ns)
			break;
		audit_progress(env, "sources: searching for a phase that hides a task, %zu of %d",
			       i % AUDIT_PROBES + 1, AUDIT_PROBES);
		again = (struct phase_probe){.phase_ns = at->phase_ns};
		rc = probe(samples, share, period_ns, env, &again, &hide.stopped, err);
		if (again.valid || !at->valid)
			*at = again;
	}
	if (rc)
		return rc;
	for (size_t i = 0; i < AUDIT_PROBES; i++)
		nr_valid += hide.probes[i].valid;
	hide.enough = nr_valid > AUDIT_PROBES / 2;
	hide.hidden = phase_hidden(hide.probes, AUDIT_PROBES, period_ns, HIDDEN_SHARE,
				   &hide.hidden_phase_ns);
	hide.exposed = phase_exposed(hide.probes, AUDIT_PROBES, period_ns, &hide.exposed_phase_ns);
	*ret_hide = hide;
	return 0;
}
