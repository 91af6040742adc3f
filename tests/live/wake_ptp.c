/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the readings of the PTP hardware clocks of this machine. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "live.h"
#include "stats/wake.h"
#include "host/txtime.h"

static bool read_fix(int fd, struct wake_clock_fix *fix, enum ptp_method *method)
{
	struct ptp_reading readings[PTP_MAX_READINGS];
	struct wake_clock_sample samples[PTP_MAX_READINGS];
	int nr = ptp_read(fd, readings, method);
	bool forward = nr > 0;

	for (int i = 0; i < nr; i++) {
		samples[i] = (struct wake_clock_sample){
			readings[i].before_ns, readings[i].device_ns, readings[i].after_ns};
		forward &= readings[i].before_ns <= readings[i].after_ns;
		forward &= !i || readings[i].device_ns >= readings[i - 1].device_ns;
	}
	return forward && !wake_clock_tightest(samples, nr, fix);
}

/*
 * Reads a PTP hardware clock three times in 300 ms, and compares the third reading with the
 * prediction from the first two readings.
 */
static void check_clock(int index)
{
	int fd = ptp_open(index, NULL);
	struct wake_clock_fix third = {0};
	struct wake_clock_map map = {0};
	enum ptp_method method = 0;
	int64_t off = 0, allowed = -1;
	double drift = NAN;
	bool read;

	read = fd >= 0 && read_fix(fd, &map.a, &method);
	live_sleep_ms(200);
	read = read && read_fix(fd, &map.b, &method);
	live_sleep_ms(100);
	read = read && read_fix(fd, &third, &method);
	if (fd >= 0)
		close(fd);
	if (read) {
		drift = wake_clock_drift_ppb(&map);
		off = wake_clock_to_system(&map, third.device_ns) - third.system_ns;
		allowed = wake_clock_uncertainty(&map, third.device_ns) + third.half_window_ns;
		live_note("ptp%d: %s, half-windows %lld and %lld ns", index,
			  ptp_method_name(method), (long long)map.a.half_window_ns,
			  (long long)map.b.half_window_ns);
	}
	live_ok(read, "ptp%d: opens, readings run forward", index);
	live_figure(fabs(drift) < 1e6, "ptp%d: runs at about the system's rate: drift %.0f ppb",
		    index, drift);
	/*
	 * Preemption of a reading widens its stated error, so other tasks cannot cause a failure.
	 */
	live_figure(llabs(off) <= allowed, "ptp%d: third reading predicted to %lld ns, stated %lld",
		    index, (long long)off, (long long)allowed);
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
		check_clock(index);
	}
	if (!any)
		live_skip_all("no hardware clock (/dev/ptpN)");
	return live_done();
}
