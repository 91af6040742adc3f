/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* BPF object of load, noise, runq and passive wake-ups. User space selects the programs to load. */
#include "load.bpf.c"
#include "runq.bpf.c"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
