/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rtnetlink requests, and the ETF qdisc on one queue of a network device. */
#ifndef SUBTICK_SYS_QDISC_H
#define SUBTICK_SYS_QDISC_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* An rtnetlink request. rtnl_attr() appends attributes. */
struct rtnl_request {
	struct nlmsghdr head;
	union {
		struct ifinfomsg link;
		struct tcmsg tc;
	};
	char attrs[1024];
};

/* Initializes a request. @body is the size of the structure after the netlink header. */
void rtnl_init(struct rtnl_request *request, int type, int flags, size_t body);
struct rtattr *rtnl_attr(struct rtnl_request *request, int type, const void *data, size_t len);
void rtnl_nest_end(struct rtnl_request *request, struct rtattr *nest);

/* Sends @message, which must have NLM_F_ACK. Returns the error code of the acknowledgement. */
int rtnl_talk(const struct nlmsghdr *message);
/* Sends a dump request and calls @each for every message until @each returns nonzero. */
int rtnl_dump(const struct nlmsghdr *message,
	      int (*each)(const struct nlmsghdr *message, void *arg), void *arg);

int netdev_ioctl(const char *device, unsigned long command, void *data);

/* SO_PRIORITY of packets that go through ETF on a device with several queues. */
#define QDISC_ETF_PRIORITY 3

struct qdisc_etf {
	const char *device;
	int ifindex;
	unsigned int nr_queues;
	/* ETF delta: a packet leaves the qdisc this number of ns before its launch time */
	uint32_t delta_ns;
	bool offload;
};

/*
 * Builds the message that restores the current root qdisc. Refuses classful qdiscs and trees of
 * qdiscs, because one message cannot restore them.
 */
int qdisc_undo(int ifindex, struct rtnl_request *ret_undo, struct err *err);
/* Root qdisc of a device, collected by qdisc_look() from the messages of a dump. */
struct qdisc_found {
	int ifindex;
	bool own, tree;
	struct rtnl_request undo;
};

int qdisc_look(const struct nlmsghdr *message, void *found);

/* Builds the request that adds ETF below @parent. */
void qdisc_etf_request(const struct qdisc_etf *etf, uint32_t parent, struct rtnl_request *ret_request);
int qdisc_etf_set(const struct qdisc_etf *etf, struct err *err);

#endif
