/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SO_TXTIME on a packet socket. */
#include "sys/txtime.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* IEEE 802.1 local experimental EtherType 1: no protocol uses it. */
#define TXTIME_ETHERTYPE 0x88b5

int txtime_open(int ifindex, int priority, struct err *err)
{
	struct sock_txtime txtime = {.clockid = CLOCK_TAI, .flags = SOF_TXTIME_REPORT_ERRORS};
	struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_ifindex = ifindex};
	/* Protocol 0: the socket only sends; receiving would wake a core. */
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0 && errno == EPERM)
		return err_unsupported(err, -errno, "run as root, or with CAP_NET_RAW",
				       "not permitted to open a packet socket");
	if (fd < 0)
		return err_set(err, -errno, "cannot open a packet socket: %s", strerror(errno));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority)) ||
	    setsockopt(fd, SOL_SOCKET, SO_TXTIME, &txtime, sizeof(txtime))) {
		rc = err_set(err, -errno, "cannot set up SO_TXTIME: %s", strerror(errno));
		close(fd);
		return rc;
	}
	return fd;
}

int txtime_send(int fd, int ifindex, uint64_t launch_tai_ns)
{
	/* Locally administered and unassigned: a switch floods it, a host drops it. */
	struct sockaddr_ll to = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(TXTIME_ETHERTYPE),
				 .sll_ifindex = ifindex,
				 .sll_halen = 6,
				 .sll_addr = {0x02, 0x73, 0x75, 0x62, 0x74, 0x6b}};
	char payload[46] = "subtick wake", control[CMSG_SPACE(sizeof(uint64_t))] = {0};
	struct iovec part = {payload, sizeof(payload)};
	struct msghdr message = {.msg_name = &to,
				 .msg_namelen = sizeof(to),
				 .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_TXTIME;
	c->cmsg_len = CMSG_LEN(sizeof(launch_tai_ns));
	memcpy(CMSG_DATA(c), &launch_tai_ns, sizeof(launch_tai_ns));
	return sendmsg(fd, &message, 0) < 0 ? -errno : 0;
}

int txtime_missed(int fd)
{
	char payload[64], control[256];
	int missed = 0;

	for (;;) {
		struct iovec part = {payload, sizeof(payload)};
		struct msghdr message = {.msg_iov = &part,
					 .msg_iovlen = 1,
					 .msg_control = control,
					 .msg_controllen = sizeof(control)};

		if (recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			return missed;
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
			struct sock_extended_err error;

			if (c->cmsg_len < CMSG_LEN(sizeof(error)))
				continue;
			memcpy(&error, CMSG_DATA(c), sizeof(error));
			missed += error.ee_origin == SO_EE_ORIGIN_TXTIME;
		}
	}
}
