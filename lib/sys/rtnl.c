/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends requests to rtnetlink and reads the replies; ioctls of network devices. */
#include "sys/rtnl.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

void rtnl_init(struct rtnl_request *request, int type, int flags, size_t body)
{
	memset(request, 0, sizeof(*request));
	request->head.nlmsg_len = NLMSG_LENGTH(body);
	request->head.nlmsg_type = type;
	request->head.nlmsg_flags = NLM_F_REQUEST | flags;
}

struct rtattr *rtnl_attr(struct rtnl_request *request, int type, const void *data, size_t len)
{
	struct rtattr *attr = (void *)((char *)request + NLMSG_ALIGN(request->head.nlmsg_len));

	attr->rta_type = type;
	attr->rta_len = RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(attr), data, len);
	request->head.nlmsg_len = NLMSG_ALIGN(request->head.nlmsg_len) + RTA_ALIGN(attr->rta_len);
	return attr;
}

void rtnl_nest_end(struct rtnl_request *request, struct rtattr *nest)
{
	nest->rta_len = (char *)request + request->head.nlmsg_len - (char *)nest;
}

int rtnl_talk(const struct nlmsghdr *message)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr err;
		char rest[2048];
	} answer;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	ssize_t len;
	int rc;

	if (fd < 0)
		return -errno;
	len = send(fd, message, message->nlmsg_len, 0);
	if (len >= 0)
		len = recv(fd, &answer, sizeof(answer), 0);
	if (len < 0)
		rc = -errno;
	else if ((size_t)len < sizeof(answer.head) + sizeof(answer.err.error) ||
		 answer.head.nlmsg_type != NLMSG_ERROR)
		rc = -EPROTO;
	else
		rc = answer.err.error;
	close(fd);
	return rc;
}

int rtnl_dump(const struct nlmsghdr *message,
	      int (*each)(const struct nlmsghdr *message, void *arg), void *arg)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), rc = 0;
	char buf[32768];

	if (fd < 0)
		return -errno;
	if (send(fd, message, message->nlmsg_len, 0) < 0)
		rc = -errno;
	while (!rc) {
		ssize_t got = recv(fd, buf, sizeof(buf), 0);
		unsigned int len = got > 0 ? got : 0;

		if (got <= 0) {
			rc = got ? -errno : -EPROTO;
			break;
		}
		for (const struct nlmsghdr *m = (void *)buf; NLMSG_OK(m, len) && !rc;
		     m = NLMSG_NEXT(m, len)) {
			if (m->nlmsg_type == NLMSG_DONE) {
				close(fd);
				return 0;
			}
			if (m->nlmsg_type == NLMSG_ERROR)
				rc = ((const struct nlmsgerr *)NLMSG_DATA(m))->error ?: -EPROTO;
			else
				rc = each(m, arg);
		}
	}
	close(fd);
	return rc;
}

int netdev_ioctl(const char *device, unsigned long command, void *data)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc = 0;
	struct ifreq request = {.ifr_data = data};

	if (fd < 0)
		return -errno;
	strncpy(request.ifr_name, device, IFNAMSIZ - 1);
	if (ioctl(fd, command, &request))
		rc = -errno;
	close(fd);
	return rc;
}
