/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests `subtick audit` on a nohz_full core, where the kernel accounts CPU time at each switch. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "live.h"
#include "present/audit.h"
#include "host/file.h"
#include "truth.h"

#define AUDITED 1 /* number of the audited CPU */
#define SHARE	0.30

/*
 * Checks the CPU times in /proc/stat for a load at random times. /proc/stat rounds times to 10 ms
 * at both ends.
 */
static void check_levels(const struct audit_load_run *run)
{
	static const enum audit_mode modes[] = {AUDIT_MODE_USER, AUDIT_MODE_TASKS,
						AUDIT_MODE_ALL_IDLE};
	double unit = 1e7 / (double)run->truth.window_ns;

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		const struct audit_level *level = &run->levels[modes[i]];

		live_ok(run->levels_known && fabs(level->error) <= 2.0 * unit,
			"%s: the columns show %.2f %%, true are %.2f %%, within two units (%.2f "
			"points)",
			audit_mode_name(modes[i]), level->shown * 100.0, level->truth * 100.0,
			2.0 * unit * 100.0);
	}
}

int main(void)
{
	struct audit_opts opts = {
		.cpu = AUDITED,
		.budget_ns = 7 * NSEC_PER_SEC,
		.duty = SHARE,
		.share = SHARE,
		.loads = 1u << AUDIT_RANDOM | 1u << AUDIT_HIDDEN | 1u << AUDIT_EXPOSED,
	};
	/*
	 * Skip audit's search for the time of the tick, because the search needs two busy
	 * processors and QEMU runs only one processor at a time.
	 */
	struct audit_findings f = {.tick_looked = true};
	struct audit_env env = {0};
	static struct audit_sources sources;
	struct err err = {0};
	uint64_t cpu;

	truth_begin(2);
	if (sys_read_u64(NULL, "/sys/devices/system/cpu/nohz_full", &cpu) || cpu != AUDITED)
		live_skip_all("this kernel has no nohz_full core (CONFIG_NO_HZ_FULL)");
	if (audit_sources(&opts, &env, &f, &sources, &err))
		live_fail_all("audit sources: %s", err.what);
	live_ok(f.hide_tried && !f.hide_phase, "no phase of the tick hides a task");
	live_ok(f.worst_known && f.worst_error <= AUDIT_EXACT_ERROR,
		"the worst error in windows of a second: %.2f points, at most %.0f",
		f.worst_error * 100.0, AUDIT_EXACT_ERROR * 100.0);
	check_levels(&sources.runs[AUDIT_RANDOM]);
	live_ok(audit_regime(&f) == AUDIT_VIRT_GEN, "without a tick in the columns: regime %s",
		audit_regime_name(audit_regime(&f)) ?: "none");
	return live_done();
}
