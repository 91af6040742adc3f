/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hardware clocks of this machine: read beside the system's, and a third reading foretold by two. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "live.h"
#include "stats/wake.h"
#include "sys/ptp.h"

static bool take_fix(int fd, struct wake_clock_fix *fix, enum ptp_method *method)
{
	struct ptp_reading readings[PTP_MAX_READINGS];
	struct wake_clock_sample samples[PTP_MAX_READINGS];
	int nr = ptp_read(fd, readings, method);
	bool forward = nr > 0;

	for (int i = 0; i < nr; i++) {
		samples[i] = (struct wake_clock_sample){readings[i].before_ns, readings[i].device_ns,
							readings[i].after_ns};
		forward &= readings[i].before_ns <= readings[i].after_ns;
		forward &= !i || readings[i].device_ns >= readings[i - 1].device_ns;
	}
	return forward && !wake_clock_tightest(samples, nr, fix);
}

static void test_clock(int index)
{
	struct wake_clock_fix third;
	struct wake_clock_map map;
	enum ptp_method method;
	int64_t off, allowed;
	int fd = ptp_open(index, NULL);

	if (!live_ok(fd >= 0, "ptp%d opens", index))
		return;
	if (!live_ok(take_fix(fd, &map.a, &method), "ptp%d: readings run forward", index))
		goto out;
	live_sleep_ms(200);
	live_ok(take_fix(fd, &map.b, &method), "ptp%d: again after 200 ms", index);
	live_sleep_ms(100);
	live_ok(take_fix(fd, &third, &method), "ptp%d: and a third time", index);
	live_note("ptp%d: %s, half-windows %lld and %lld ns, drift %.0f ppb", index,
		  ptp_method_name(method), (long long)map.a.half_window_ns,
		  (long long)map.b.half_window_ns, wake_clock_drift_ppb(&map));
	live_ok(fabs(wake_clock_drift_ppb(&map)) < 1e6 * live_bound(1),
		"ptp%d: runs at about the system's rate", index);
	off = wake_clock_to_system(&map, third.device_ns) - third.system_ns;
	allowed = wake_clock_uncertainty(&map, third.device_ns) + third.half_window_ns;
	live_ok(llabs(off) <= allowed, "ptp%d: third reading foretold to %lld ns, stated %lld", index,
		(long long)off, (long long)allowed);
out:
	close(fd);
}

int main(void)
{
	bool any = false;

	for (int index = 0; index < 8; index++) {
		char path[32];

		snprintf(path, sizeof(path), "/dev/ptp%d", index);
		if (access(path, R_OK))
			continue;
		any = true;
		test_clock(index);
	}
	if (!any)
		live_skip_all("no hardware clock (/dev/ptpN)");
	return live_done();
}
