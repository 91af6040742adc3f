/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * BPF object of the commands load, noise and runq, and of `wake --source passive`. User space loads
 * only the programs of this object that the command needs.
 */
#include "load.bpf.c"
#include "runq.bpf.c"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
