/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick audit: whether interrupts are accounted on the tick or between ticks, as the kernel is built. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "configured.h"
#include "live.h"
#include "measure/audit/report.h"
#include "truth.h"

#define AUDITED 1 /* CPU */

int main(void)
{
	/* A third of it is for interrupts: their columns must change 32 times, by 10 ms each. */
	struct audit_opts opts = {.cpu = AUDITED, .budget_ns = 6 * NSEC_PER_SEC};
	struct audit_findings f = {0};
	struct audit_env env = {0};
	struct audit_ticks ticks;
	struct err err = {0};
	const char *expected, *regime;
	int hz;

	truth_begin(2);
	if (!configured_with("NET"))
		live_skip_all("this kernel has no network to make interrupts with (CONFIG_NET)");
	hz = configured_hz();
	expected = configured_regime(AUDITED);
	truth_turns_start();
	if (audit_ticks(&opts, &env, &f, &ticks, &err))
		live_fail_all("audit ticks: %s", err.what);
	truth_turns_stop();
	live_ok(f.tick_known && (int)f.hz == hz, "HZ found: %u, configured: %d", f.hz, hz);
	live_ok(f.irq_known, "the columns of interrupts changed %zu times: enough to judge",
		ticks.edges[AUDIT_SET_SOFTIRQS].nr);
	/* n times that have nothing to do with the tick have a coherence of about 1 / sqrt(n). */
	if (!strcmp(expected, "tick"))
		live_ok(f.irq_coherence >= 0.99, "they change on the tick: coherence %.2f %%",
			f.irq_coherence * 100.0);
	else
		live_ok(f.irq_coherence < 0.5, "they change between ticks: coherence %.2f %%",
			f.irq_coherence * 100.0);
	regime = audit_regime_name(audit_regime(&f)) ?: "none";
	live_ok(!strcmp(regime, expected), "regime found: %s, configured: %s", regime, expected);
	audit_ticks_free(&ticks);
	return live_done();
}
