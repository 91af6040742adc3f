/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether the machine is a guest, and whether this process lives in a container. */
#ifndef SUBTICK_SYS_VIRT_H
#define SUBTICK_SYS_VIRT_H

#include <stdbool.h>

enum virt_kind {
	VIRT_UNKNOWN, /* nothing said so, and nothing on this architecture would have to */
	VIRT_NONE,    /* bare metal, as far as the processor tells */
	VIRT_GUEST,
};

struct virt {
	enum virt_kind kind;
	char name[64];	    /* "KVM", "Xen", "Amazon EC2", … or "" */
	char evidence[96];  /* what said so */
	char container[64]; /* "docker", "podman", … by what it left behind, or "" */
	bool own_pid_ns;    /* not the machine's own: other processes are hidden */
	bool own_cgroup_ns; /* cgroup paths begin somewhere in the middle */
};

/* @machine: as uname(2) names the architecture. */
void virt_read(const char *root, const char *machine, struct virt *ret_virt);

#endif
