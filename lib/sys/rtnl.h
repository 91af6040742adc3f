/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests to rtnetlink and their replies; ioctls of network devices. */
#ifndef SUBTICK_SYS_RTNL_H
#define SUBTICK_SYS_RTNL_H

#include <stddef.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

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

#endif
