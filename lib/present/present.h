/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of any meter, by the name of its command. */
#ifndef SUBTICK_PRESENT_H
#define SUBTICK_PRESENT_H

#include "base/err.h"
#include "measure/meter.h"
#include "report/report.h"

/* Report of the window that @meter read last. @command: load, runq, noise, wake or overview. */
int present_window(const char *command, const struct meter *meter, struct report **ret_report,
		   struct err *err);
/* Report of the events that @meter read last. *ret_report is NULL if there is nothing to show. */
int present_events(const char *command, const struct meter *meter, struct report **ret_report,
		   struct err *err);

#endif
