/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The one object of load, noise, wake-ups without points, and runq: user space chooses the programs. */
#include "load.bpf.c"
#include "runq.bpf.c"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
