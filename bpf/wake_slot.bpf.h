/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Settings and maps of the wake programs. */
#ifndef SUBTICK_BPF_WAKE_SLOT_H
#define SUBTICK_BPF_WAKE_SLOT_H

#include "kernel.bpf.h"
#include "map.bpf.h"
#include "abi/wake.h"

/* Set before loading. Points and source passive can run together. */
const volatile bool want_points;
const volatile bool want_passive;
const volatile bool switch_state_first;
const volatile __u32 nr_states = 1; /* see passive_timer() */
const volatile bool one_state;

MAPPED_ARRAY(slots, struct wake_slot);

MAPPED_ARRAY(launches, struct wake_launch);

#endif
