/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of any measurement, by the name of its command. */
#ifndef SUBTICK_PRESENT_H
#define SUBTICK_PRESENT_H

#include "base/err.h"
#include "measure/meter.h"
#include "report/report.h"

/*
 * Builds the report of the last window of @meter. @command is load, runq, noise, wake or overview.
 */
int present_window(const char *command, const struct meter *meter, struct report **ret_report,
		   struct err *err);
/*
 * Builds the report of the events that @meter read last. If there are no events, *ret_report is
 * NULL.
 */
int present_events(const char *command, const struct meter *meter, struct report **ret_report,
		   struct err *err);

#endif
