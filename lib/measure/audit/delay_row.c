/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the row of one delay: figures per loop, factors, the error. */
#include "measure/audit/delays.h"

#include <math.h>

static double or_nan(uint64_t value)
{
	return value && value != UINT64_MAX ? (double)value : NAN;
}

uint64_t audit_delay_true_ns(const struct audit_delay *row)
{
	return row->bpf_loop_ns == UINT64_MAX ? row->thread_ns : row->bpf_loop_ns;
}

void audit_delay_derive(struct audit_delay *row)
{
	double nr = or_nan(row->iterations), busy = or_nan(row->bpf_busy_ns);
	double shown = (double)row->procstat_busy_ns, used = or_nan(audit_delay_true_ns(row));

	row->expected_ns = row->delay_ns * row->iterations;
	row->real_each_ns = (double)row->real_ns / nr;
	row->user_each_ns = (double)row->rusage_user_ns / nr;
	row->system_each_ns = (double)row->rusage_system_ns / nr;
	row->procstat_each_ns = shown / nr;
	row->true_each_ns = (double)audit_delay_true_ns(row) / nr;
	row->rusage_factor = (double)(row->rusage_user_ns + row->rusage_system_ns) / used;
	row->procstat_factor = shown / busy;
	row->error = row->bpf_busy_ns == UINT64_MAX
			     ? NAN
			     : (shown - (double)row->bpf_busy_ns) / or_nan(row->real_ns);
	row->user_times = row->system_times = NAN;
	audit_modes_derive(row->levels);
}

void audit_delays_derive(struct audit_delays *delays)
{
	for (size_t i = 0; i < delays->nr; i++)
		for (size_t k = 0; k < delays->nr; k++) {
			struct audit_delay *row = &delays->rows[i];
			const struct audit_delay *none = &delays->rows[k];

			if (none->delay_ns || none->slack_ns != row->slack_ns)
				continue;
			row->user_times = row->user_each_ns / none->user_each_ns;
			row->system_times = row->system_each_ns / none->system_each_ns;
		}
}

uint64_t audit_delay_irqs_off(const struct audit_delay *row)
{
	uint64_t irq_ns = row->levels[AUDIT_MODE_IRQ].shown_ns;

	/*
	 * A tick cannot interrupt a timer's handler, so the column irq is nonzero only if the
	 * kernel measures interrupts.
	 */
	return irq_ns == UINT64_MAX ? 0 : irq_ns;
}

bool audit_delay_disturbed(const struct audit_delay *row)
{
	double lacking = row->bpf_loop_ns == UINT64_MAX ? (double)audit_delay_irqs_off(row) : 0.0;
	double others = (double)row->bpf_task_ns - (double)audit_delay_true_ns(row) - lacking;

	return row->bpf_task_ns != UINT64_MAX && others > AUDIT_OTHERS_MAX * (double)row->real_ns;
}
