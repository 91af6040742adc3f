/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reports of audit, one per experiment. */
#ifndef SUBTICK_MEASURE_AUDIT_REPORT_H
#define SUBTICK_MEASURE_AUDIT_REPORT_H

#include "measure/audit/command.h"
#include "measure/audit/delays.h"
#include "measure/audit/precision.h"
#include "measure/audit/sources.h"
#include "measure/audit/ticks.h"
#include "report/report.h"

int audit_ticks_report(const struct audit_opts *opts, const struct audit_findings *findings,
		       const struct audit_ticks *ticks, struct report **ret_report,
		       struct err *err);
int audit_delays_report(const struct audit_opts *opts, const struct audit_findings *findings,
			const struct audit_delays *delays, struct report **ret_report,
			struct err *err);
/* The same with the last row only, for formats that print rows as they are finished. */
int audit_delays_row_report(const struct audit_opts *opts, const struct audit_findings *findings,
			    const struct audit_delays *delays, struct report **ret_report,
			    struct err *err);
/* The last row as a line of text: a report of one row scrolls as one long table. */
int audit_delays_line_report(const struct audit_delays *delays, struct report **ret_report,
			     struct err *err);
int audit_sources_report(const struct audit_opts *opts, const struct audit_findings *findings,
			 const struct audit_sources *sources, struct report **ret_report,
			 struct err *err);
int audit_precision_report(const struct audit_opts *opts, const struct audit_precision *precision,
			   struct report **ret_report, struct err *err);
int audit_command_report(const struct audit_findings *findings,
			 const struct audit_command *command, struct report **ret_report,
			 struct err *err);
/* The verdict: regime, worst error, window lengths, what to use instead. */
int audit_verdict_report(const struct audit_opts *opts, const struct audit_findings *findings,
			 uint64_t window_ns, struct report **ret_report, struct err *err);

/* Formats seconds for sentences: "10", "0.86", "3841"; returns @buf. */
const char *audit_seconds(uint64_t ns, char buf[16]);
/* A new report with the fields that all of them have. */
struct report *audit_report(const char *experiment, const struct audit_opts *opts,
			    const struct audit_findings *findings, uint64_t window_ns);
/* Returns the report through @ret_report if it is complete. */
int audit_report_done(struct report *report, struct report **ret_report, struct err *err);

#endif
