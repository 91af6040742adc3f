/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts the instructions for reading and reporting a window in which 16,384 cgroups waited. In the
 * guest an instruction takes one nanosecond. On a Neoverse N1, 9,000 instructions per cgroup take
 * 37 ms of CPU time per window. The limit of MOST instructions per cgroup corresponds to 50 ms of
 * CPU time per window of 16,384 cgroups.
 */
#include "many.h"

#include "live.h"
#include "truth.h"

#define CGROUPS 16384
#define MOST	12000 /* largest allowed number of instructions per cgroup */
#define WINDOWS 4

int main(void)
{
	struct err err = {0};
	uint64_t took, most = 0;

	truth_begin(2);
	if (many_open(CGROUPS, 2, &err))
		live_fail_all("no slots: %s", err.what);
	for (int i = 0; i < WINDOWS; i++) {
		if (many_window(&took, &err))
			live_fail_all("no window: %s", err.what);
		live_note("window %d: %llu instructions", i, (unsigned long long)took);
		/*
		 * The limit of MOST instructions per cgroup does not apply to the first two windows
		 * of subtick. In the first window subtick creates every group, and in the second
		 * window subtick reads the names of the cgroups again.
		 */
		if (i > 1 && took > most)
			most = took;
	}
	live_ok(most < (uint64_t)MOST * CGROUPS,
		"%d cgroups: %llu instructions for a window and cgroup, at most %d allowed",
		CGROUPS, (unsigned long long)most / CGROUPS, MOST);
	many_close();
	return live_done();
}
