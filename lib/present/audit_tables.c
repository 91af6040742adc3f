/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The keys and lists of `subtick audit`, over all experiments. */
#include "present/audit.h"

#include "present/load.h"

const struct table_spec *const audit_tables[] = {
	&audit_fields_table,	     &audit_delays_fields_table, &audit_precision_table,
	&audit_program_fields_table, &audit_verdict_table,	 &audit_sets_table,
	&audit_peaks_table,	     &audit_intervals_table,	 &audit_delays_table,
	&audit_loads_table,	     &audit_errors_table,	 &audit_phases_table,
	&audit_modes_table,	     &audit_command_modes_table, &audit_program_table,
	&audit_claims_table,	     &audit_paper_table,	 &load_losses_table,
	&audit_blurred_table,	     NULL,
};
