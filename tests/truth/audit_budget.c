/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests `subtick audit --budget`: all experiments together must keep the time budget, and audit
 * must omit experiments that do not fit.
 */
#include <string.h>

#include "base/clock.h"
#include "live.h"
#include "truth.h"

#define BUDGET_S 1.0

static double seconds_of(const char *const args[], struct live_run *ret_run)
{
	uint64_t begin = clock_mono_ns();

	live_run(args, ret_run);
	return (double)(clock_mono_ns() - begin) / 1e9;
}

int main(void)
{
	struct live_run run;
	double took, start;

	truth_begin(2);
	/*
	 * While a load runs on CPU 1, QEMU runs CPU 0 for a quarter of the time, as on a loaded
	 * machine.
	 */
	truth_turns_start();
	/*
	 * Loading the BPF programs of a source cannot be interrupted, so audit may exceed its
	 * budget by the time for loading.
	 */
	start = seconds_of(ARGS("load", "1ms", "1"), &run);
	live_ok(!run.exit_code, "a window of 1 ms takes %.3f s with the start: exit %d", start,
		run.exit_code);
	live_run_free(&run);
	took = seconds_of(ARGS("audit", "--cpu", "1", "--budget", "1s"), &run);
	truth_turns_stop();
	live_ok(!run.exit_code && strstr(run.out, "experiment verdict"),
		"all experiments run, and the verdict is given: exit %d %s", run.exit_code,
		strtok(run.err, "\n") ?: "");
	live_ok(strstr(run.out, "--budget has too little time left") != NULL,
		"what does not fit into a second is said to be left out");
	live_ok(took > 0.5 * BUDGET_S && took <= BUDGET_S + start,
		"audit --budget 1s takes %.3f s, at most %.3f", took, BUDGET_S + start);
	live_run_free(&run);
	return live_done();
}
