/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a figure of a machine depends on: its CPU model, microcode, kernel and power settings. */
#ifndef SUBTICK_SYS_MACHINE_H
#define SUBTICK_SYS_MACHINE_H

#include <stdint.h>

#include "base/cpuset.h"

/* "" for what is unknown; "mixed" for a setting that differs between the CPUs asked for. */
struct machine {
	char host[65];
	char kernel[65];
	char arch[65];
	char cpu_model[96];
	char microcode[32];
	char energy_perf_bias[16]; /* EPB, 0 (performance) to 15 (powersave) */
	char energy_perf_preference[32];
	char cpufreq_driver[32];
	char cpufreq_governor[32];
	uint32_t sockets; /* packages with an online CPU; UINT32_MAX if unknown */
	int8_t smt;	  /* hyperthreads are in use; -1 if unknown */
};

void machine_read(const char *root, const struct cpuset *cpus, struct machine *ret_machine);

#endif
