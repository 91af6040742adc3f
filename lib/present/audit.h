/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the reports of audit, one per experiment. */
#ifndef SUBTICK_PRESENT_AUDIT_H
#define SUBTICK_PRESENT_AUDIT_H

#include "measure/audit/command.h"
#include "measure/audit/delays.h"
#include "measure/audit/modes.h"
#include "measure/audit/sources.h"
#include "measure/audit/ticks.h"
#include "report/columns.h"

int audit_ticks_report(const struct audit_opts *opts, const struct audit_findings *findings,
		       const struct audit_ticks *ticks, struct report **ret_report,
		       struct err *err);
/*
 * If @last is true, the report has only the last row of @delays, for output formats that print each
 * row as soon as the row is complete.
 */
int audit_delays_report(const struct audit_opts *opts, const struct audit_findings *findings,
			const struct audit_delays *delays, bool last, struct report **ret_report,
			struct err *err);
/* Builds a report with the last row of `audit delays` as one line of text. */
int audit_delays_line_report(const struct audit_delays *delays, struct report **ret_report,
			     struct err *err);
int audit_sources_report(const struct audit_opts *opts, const struct audit_findings *findings,
			 const struct audit_sources *sources, struct report **ret_report,
			 struct err *err);
/*
 * Compares the published figures that docs/methods/audit.md cites with the figures of `audit ticks`
 * and `audit delays` on this machine.
 */
int audit_paper_report(const struct audit_opts *opts, const struct audit_findings *findings,
		       const struct audit_ticks *ticks, const struct audit_delays *delays,
		       struct report **ret_report, struct err *err);
/* Formats the three most frequent intervals, "12.0 ms 24%, 8.0 ms 18%", or "not measured". */
void audit_ticks_peaks(const struct counter_edges *edges, char *buf, size_t size);
int audit_precision_report(const struct audit_opts *opts, const struct audit_precision *precision,
			   struct report **ret_report, struct err *err);
int audit_command_report(const struct audit_findings *findings, const struct audit_command *command,
			 struct report **ret_report, struct err *err);
int audit_verdict_report(const struct audit_opts *opts, const struct audit_findings *findings,
			 uint64_t window_ns, struct report **ret_report, struct err *err);

/* Key of a row in the table of load levels: the name of a load, or a delay with its timer slack. */
struct audit_modes_of {
	const char *load; /* name of the load, or NULL for a delay */
	uint64_t delay_ns, slack_ns;
};

/* Table of the load levels per mode (user, system and so on), hidden in the text format. */
extern const struct table_spec audit_modes_table;
enum {
	AUDIT_BY_LOAD = 1,
	AUDIT_BY_DELAY = 2,
};
void audit_modes_rows(struct table *table, const struct audit_modes_of *of,
		      const struct audit_level levels[AUDIT_NR_MODES]);

/* Fields and tables of the experiments of `subtick audit`, with their JSON keys. */
extern const struct table_spec audit_fields_table, audit_precision_table, audit_program_table,
	audit_program_fields_table, audit_command_modes_table, audit_sets_table,
	audit_peaks_table, audit_intervals_table, audit_blurred_table,
	audit_delays_fields_table, audit_delays_table, audit_loads_table, audit_errors_table,
	audit_phases_table, audit_verdict_table, audit_claims_table, audit_paper_table;
extern const struct table_spec *const audit_tables[]; /* all tables, NULL-terminated */

/* Formats seconds with three digits, such as "10", "0.86" or "3841". Returns @buf. */
const char *audit_seconds(uint64_t ns, char buf[16]);
/* Creates a report with the fields that all experiments of `subtick audit` have. */
struct report *audit_report(const char *experiment, const struct audit_opts *opts,
			    const struct audit_findings *findings, uint64_t window_ns,
			    const char *source);
/* Stores @report in @ret_report. If memory ran out, frees @report and sets @err. */
int audit_report_done(struct report *report, struct report **ret_report, struct err *err);

#endif
