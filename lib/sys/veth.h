/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pair of virtual Ethernet devices in the current network namespace. */
#ifndef SUBTICK_SYS_VETH_H
#define SUBTICK_SYS_VETH_H

#include <stdint.h>

struct veth {
	int ifindex, peer_ifindex;
	uint8_t mac[6], peer_mac[6];
};

int veth_create(const char *name, const char *peer, struct veth *ret_veth);
/* Sets the IPv4 address (host order, /24) unless it is 0, and brings the device up. */
int veth_up(const char *name, uint32_t address);

#endif
