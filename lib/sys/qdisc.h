/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sets the ETF queueing discipline on one queue of a network device, and how to undo that. */
#ifndef SUBTICK_SYS_QDISC_H
#define SUBTICK_SYS_QDISC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/rtnl.h"

/* On a device with several queues, packets of sockets with this SO_PRIORITY go through ETF. */
#define QDISC_ETF_PRIORITY 3

struct qdisc_etf {
	const char *device;
	int ifindex;
	unsigned int nr_queues;
	uint32_t delta_ns; /* how long before its time a packet leaves the queue */
	bool offload;
};

/*
 * Builds the message that restores the current root discipline. Refuses trees and disciplines with
 * classes, because one message cannot restore them.
 */
int qdisc_undo(int ifindex, struct rtnl_request *ret_undo, struct err *err);
/* The pure part of it: call qdisc_look() for each dumped message. */
struct qdisc_found {
	int ifindex;
	bool root, own, tree;
	struct rtnl_request undo;
};

int qdisc_look(const struct nlmsghdr *message, void *found);

/* Builds the request for ETF below @parent; pure. */
void qdisc_etf_request(const struct qdisc_etf *etf, uint32_t parent, struct rtnl_request *ret_request);
int qdisc_etf_set(const struct qdisc_etf *etf, struct err *err);

#endif
