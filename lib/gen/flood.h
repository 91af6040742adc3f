/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Generates softirq work on a core: sends packets over a veth pair in its own network namespace. */
#ifndef SUBTICK_GEN_FLOOD_H
#define SUBTICK_GEN_FLOOD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "gen/loads.h"

struct flood_opts {
	int send_cpu; /* CPU that sends the packets */
	/* CPU on which the receive softirqs run, set with RPS (receive packet steering). */
	int recv_cpu;
	unsigned int burst;    /* packets per burst */
	uint64_t pause_ns;     /* time between two bursts of packets, or 0 */
	bool xdp_drop; /* true if an XDP program drops each packet on arrival at @recv_cpu */
};

/*
 * Starts the sending process. Only this process holds the network namespace, so the kernel removes
 * the namespace when the process ends, even by SIGKILL. The caller needs CAP_SYS_ADMIN and
 * CAP_NET_ADMIN. Sets err->unsupported if a capability, veth or RPS is missing.
 */
int flood_start(struct gen_child *flood, const struct flood_opts *opts, struct err *err);
uint64_t flood_sent(const struct gen_child *flood);

struct veth {
	int ifindex, peer_ifindex;
};

/* Creates a pair of virtual Ethernet devices and brings both up. */
int veth_create(const char *name, const char *peer, struct veth *ret_veth);

#endif
