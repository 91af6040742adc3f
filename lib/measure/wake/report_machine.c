/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The keys machine.* of a report: in JSON and CSV, not in text. */
#include "measure/wake/report_machine.h"

void wake_report_machine(const struct wake_machine *machine, struct report *report)
{
	const struct machine *m = &machine->machine;
	const struct {
		enum metric_id id;
		const char *text;
	} keys[] = {
		{M_MACHINE_HOST, m->host},
		{M_MACHINE_KERNEL, m->kernel},
		{M_MACHINE_ARCH, m->arch},
		{M_MACHINE_CPU_MODEL, m->cpu_model},
		{M_MACHINE_MICROCODE, m->microcode},
		{M_MACHINE_EPB, m->energy_perf_bias},
		{M_MACHINE_EPP, m->energy_perf_preference},
		{M_MACHINE_CPUFREQ_DRIVER, m->cpufreq_driver},
		{M_MACHINE_CPUFREQ_GOVERNOR, m->cpufreq_governor},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		value_str(report_field(report, keys[i].id), keys[i].text[0] ? keys[i].text : NULL);
		if (!report->failed)
			report->fields->cols[report->fields->nr_cols - 1].data_only = true;
	}
}
