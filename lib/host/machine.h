/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CPU model, kernel, power settings, hypervisor and container of this machine. */
#ifndef SUBTICK_SYS_MACHINE_H
#define SUBTICK_SYS_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpuset.h"

/* Unknown members are "". A setting that differs between the CPUs is "mixed". */
struct machine {
	char host[65];
	char kernel[65];
	char arch[65];
	char cpu_model[96];
	char microcode[32];
	/* energy performance bias (EPB) of the CPU: 0 (performance) to 15 (powersave) */
	char energy_perf_bias[16];
	char energy_perf_preference[32];
	char cpufreq_driver[32];
	char cpufreq_governor[32];
	uint32_t sockets; /* number of packages with an online CPU; UINT32_MAX if unknown */
	int8_t smt;	  /* hyperthreads: 1 if in use, 0 if not in use, -1 if unknown */
};

void machine_read(const char *root, const struct cpuset *cpus, struct machine *ret_machine);

enum virt_kind {
	/* no hypervisor was found, but the CPU has no means to report a hypervisor */
	VIRT_UNKNOWN,
	VIRT_NONE,    /* the CPU reports bare metal */
	VIRT_GUEST,
};

struct virt {
	enum virt_kind kind;
	char name[64];	    /* hypervisor or cloud, such as "KVM" or "Amazon EC2", or "" */
	char evidence[96];  /* path of the file from which the hypervisor was detected */
	/* container runtime such as "docker" or "podman", recognized by its files, or "" */
	char container[64];
	bool own_pid_ns;    /* this process is not in the initial PID namespace */
	bool own_cgroup_ns; /* this process is not in the initial cgroup namespace */
};

bool virt_own_pid_ns(const char *root);

/* Detects hypervisor and container. @machine is the architecture as in uname(2). */
void virt_read(const char *root, const char *machine, struct virt *ret_virt);

#endif
