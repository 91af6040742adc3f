/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties of the machine that only system calls show; the probe leaves nothing behind. */
#ifndef SUBTICK_SYS_PROBE_H
#define SUBTICK_SYS_PROBE_H

#include "base/err.h"

struct probe {
	char release[65];
	char machine[65];
	unsigned long user_hz;
	int bpf_map_rc;	      /* creating a one-element array */
	int bpf_prog_rc;      /* loading an empty tp_btf program, never attached */
	int bpf_read_rc;      /* the same with a call of bpf_probe_read_kernel() */
	char event[32];	      /* counter of unhalted cycles, "" if none was found */
	int event_rc;	      /* opening and reading it on the current CPU */
	struct err event_err; /* the reason if event_rc is not 0 */
	bool cycles_vary;     /* the cycle clock is not known to have a constant rate */
};

void probe_run(struct probe *ret_probe);

#endif
