/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ETF queueing discipline on one queue of a network device, and what was there before. */
#ifndef SUBTICK_SYS_QDISC_H
#define SUBTICK_SYS_QDISC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/rtnl.h"

/* Packets of sockets with this SO_PRIORITY go through ETF where a device has several queues. */
#define QDISC_ETF_PRIORITY 3

struct qdisc_etf {
	const char *device;
	int ifindex;
	unsigned int nr_queues;
	uint32_t delta_ns; /* how long before its time a packet leaves the queue */
	bool offload;
};

/*
 * The message that brings back the root as it is now. Refuses trees and what has classes, which
 * have no such message.
 */
int qdisc_undo(int ifindex, struct rtnl_request *ret_undo, struct err *err);
/* Pure part of it: kind and options from one dumped message, to be called for each. */
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
