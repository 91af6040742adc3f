/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests over rtnetlink, and the ETF qdisc on one queue of a network device. */
#ifndef SUBTICK_SYS_QDISC_H
#define SUBTICK_SYS_QDISC_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* A request with room for attributes; add them with rtnl_attr(). */
struct rtnl_request {
	struct nlmsghdr head;
	union {
		struct ifinfomsg link;
		struct tcmsg tc;
	};
	char attrs[1024];
};

/* @body: size of the structure after the header. */
void rtnl_init(struct rtnl_request *request, int type, int flags, size_t body);
struct rtattr *rtnl_attr(struct rtnl_request *request, int type, const void *data, size_t len);
void rtnl_nest_end(struct rtnl_request *request, struct rtattr *nest);

/* Sends @message, which must ask for an acknowledgement; returns the kernel's 0 or -errno. */
int rtnl_talk(const struct nlmsghdr *message);
/* Sends a dump request and calls @each for every message until it returns nonzero. */
int rtnl_dump(const struct nlmsghdr *message,
	      int (*each)(const struct nlmsghdr *message, void *arg), void *arg);

/* @command with @data for @device: 0 or -errno. */
int netdev_ioctl(const char *device, unsigned long command, void *data);

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
