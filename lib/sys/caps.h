/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What this process is allowed to do. */
#ifndef SUBTICK_SYS_CAPS_H
#define SUBTICK_SYS_CAPS_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers of linux/capability.h; older headers lack the last ones. */
enum cap_nr {
	CAP_NR_NET_ADMIN = 12,
	CAP_NR_SYS_MODULE = 16,
	CAP_NR_SYS_ADMIN = 21,
	CAP_NR_PERFMON = 38, /* Linux 5.8 */
	CAP_NR_BPF = 39,     /* Linux 5.8 */
};

struct caps {
	uint64_t effective; /* bit per cap_nr */
	bool user_ns;	    /* not in the initial user namespace: BPF and perf ignore the bits */
	bool user_ns_known;
	bool seccomp; /* a filter is installed and may refuse system calls */
	bool no_new_privs;
};

int caps_read(const char *root, struct caps *ret_caps);

static inline bool caps_has(const struct caps *caps, enum cap_nr nr)
{
	return caps->effective >> nr & 1;
}

/* CAP_SYS_ADMIN includes both, as before Linux 5.8. */
static inline bool caps_bpf(const struct caps *caps)
{
	return caps_has(caps, CAP_NR_SYS_ADMIN) || caps_has(caps, CAP_NR_BPF);
}

static inline bool caps_perfmon(const struct caps *caps)
{
	return caps_has(caps, CAP_NR_SYS_ADMIN) || caps_has(caps, CAP_NR_PERFMON);
}

#endif
