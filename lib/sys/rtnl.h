/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One request to rtnetlink and its answer. */
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

/* Sends @message, which asks for an acknowledgement, and returns the kernel's 0 or -errno. */
int rtnl_talk(const struct nlmsghdr *message);
/* Sends a dump request and hands every message to @each until it returns other than 0. */
int rtnl_dump(const struct nlmsghdr *message,
	      int (*each)(const struct nlmsghdr *message, void *arg), void *arg);

#endif
