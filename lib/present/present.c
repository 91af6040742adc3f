/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of a command. */
#include "present/present.h"

#include <errno.h>
#include <string.h>

#include "measure/load/load.h"
#include "measure/noise/noise.h"
#include "measure/runq/runq.h"
#include "measure/wake/wake.h"
#include "present/load.h"
#include "present/noise.h"
#include "present/overview.h"
#include "present/runq.h"
#include "present/wake.h"

static int check(int rc, struct err *err)
{
	return rc ? err_set(err, rc, "cannot make the report: %s", strerror(-rc)) : 0;
}

int present_window(const char *command, const struct meter *meter, struct report **ret_report,
		   struct err *err)
{
	int rc = -ENOSYS;

	if (!strcmp(command, "load"))
		rc = load_report(load_window(meter), ret_report);
	else if (!strcmp(command, "runq"))
		rc = runq_report(runq_window(meter), NULL, ret_report);
	else if (!strcmp(command, "noise"))
		rc = noise_report(noise_window(meter), NULL, ret_report);
	else if (!strcmp(command, "wake"))
		rc = wake_report(wake_window(meter), ret_report);
	else if (!strcmp(command, "overview"))
		rc = overview_report(overview_window(meter), ret_report);
	return check(rc, err);
}

int present_events(const char *command, const struct meter *meter, struct report **ret_report,
		   struct err *err)
{
	*ret_report = NULL;
	if (strcmp(command, "runq"))
		return 0;
	return check(runq_report_waits(runq_window(meter), ret_report), err);
}
