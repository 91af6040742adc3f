/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The machine: CPU model, kernel and power settings, hypervisor, container. */
#ifndef SUBTICK_SYS_MACHINE_H
#define SUBTICK_SYS_MACHINE_H

#include <stdbool.h>
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

enum virt_kind {
	VIRT_UNKNOWN, /* no sign of a hypervisor, on an architecture that need not show one */
	VIRT_NONE,    /* the processor reports bare metal */
	VIRT_GUEST,
};

struct virt {
	enum virt_kind kind;
	char name[64];	    /* "KVM", "Xen", "Amazon EC2", … or "" */
	char evidence[96];  /* the file that shows it */
	char container[64]; /* "docker", "podman", … by files of the container manager, or "" */
	bool own_pid_ns;    /* not the host's: other processes are hidden */
	bool own_cgroup_ns; /* not the host's: cgroup paths are relative */
};

/* Whether this process is in a PID namespace of its own; BPF programs see the host's numbers. */
bool virt_own_pid_ns(const char *root);

/* @machine: as uname(2) names the architecture. */
void virt_read(const char *root, const char *machine, struct virt *ret_virt);

#endif
