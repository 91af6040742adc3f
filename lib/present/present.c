/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the function that builds the report of a command. */
#include "present/present.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "measure/load/load.h"
#include "measure/noise/noise.h"
#include "measure/runq/runq.h"
#include "measure/wake/wake.h"
#include "present/load.h"
#include "present/noise.h"
#include "present/overview.h"
#include "present/runq.h"
#include "present/wake.h"

#define PRESENT(noun, ...)                                                               \
	static int present_##noun(const struct meter *meter, struct report **ret_report) \
	{                                                                                \
		return noun##_report(noun##_window(meter), ##__VA_ARGS__, ret_report);   \
	}
PRESENT(load)
PRESENT(runq, NULL)
PRESENT(noise, NULL)
PRESENT(wake)
PRESENT(overview)

static const struct {
	const char *command;
	int (*present)(const struct meter *meter, struct report **ret_report);
} presenters[] = {
	{"load", present_load}, {"runq", present_runq},		{"noise", present_noise},
	{"wake", present_wake}, {"overview", present_overview},
};

static int check(int rc, struct err *err)
{
	return rc ? err_set(err, rc, "cannot make the report: %s", strerror(-rc)) : 0;
}

int present_window(const char *command, const struct meter *meter, struct report **ret_report,
		   struct err *err)
{
	array_for_each(presenter, presenters, ARRAY_SIZE(presenters))
		if (!strcmp(presenter->command, command))
			return check(presenter->present(meter, ret_report), err);
	return check(-ENOSYS, err);
}

int present_events(const char *command, const struct meter *meter, struct report **ret_report,
		   struct err *err)
{
	*ret_report = NULL;
	if (strcmp(command, "runq"))
		return 0;
	return check(runq_report_waits(runq_window(meter), ret_report), err);
}
