/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes veth pairs through rtnetlink, so that no ip(8) is needed in a guest or container. */
#include "sys/veth.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

struct request {
	struct nlmsghdr head;
	struct ifinfomsg link;
	char attrs[256];
};

static struct rtattr *attr_add(struct request *request, int type, const void *data, size_t len)
{
	struct rtattr *attr =
		(void *)((char *)request + NLMSG_ALIGN(request->head.nlmsg_len));

	attr->rta_type = type;
	attr->rta_len = RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(attr), data, len);
	request->head.nlmsg_len = NLMSG_ALIGN(request->head.nlmsg_len) + RTA_ALIGN(attr->rta_len);
	return attr;
}

static void attr_end(struct request *request, struct rtattr *nest)
{
	nest->rta_len = (char *)request + request->head.nlmsg_len - (char *)nest;
}

static int ask(const struct request *request)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr err;
		char rest[512];
	} answer;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	ssize_t len;
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (send(fd, request, request->head.nlmsg_len, 0) < 0) {
		rc = -errno;
	} else {
		len = recv(fd, &answer, sizeof(answer), 0);
		if (len < 0)
			rc = -errno;
		else if ((size_t)len < sizeof(answer.head) + sizeof(answer.err.error) ||
			 answer.head.nlmsg_type != NLMSG_ERROR)
			rc = -EPROTO;
		else
			rc = answer.err.error;
	}
	close(fd);
	return rc;
}

static int device_ioctl(unsigned long what, struct ifreq *request)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -errno;
	rc = ioctl(fd, what, request) ? -errno : 0;
	close(fd);
	return rc;
}

static int device_mac(const char *name, uint8_t ret_mac[6])
{
	struct ifreq request = {0};
	int rc;

	strncpy(request.ifr_name, name, IFNAMSIZ - 1);
	rc = device_ioctl(SIOCGIFHWADDR, &request);
	if (!rc)
		memcpy(ret_mac, request.ifr_hwaddr.sa_data, 6);
	return rc;
}

int veth_create(const char *name, const char *peer, struct veth *ret_veth)
{
	struct request request = {
		.head = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)),
			 .nlmsg_type = RTM_NEWLINK,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL},
	};
	struct ifinfomsg none = {0};
	struct rtattr *info, *data, *other;
	struct veth veth;
	int rc;

	attr_add(&request, IFLA_IFNAME, name, strlen(name) + 1);
	info = attr_add(&request, IFLA_LINKINFO, NULL, 0);
	attr_add(&request, IFLA_INFO_KIND, "veth", 5);
	data = attr_add(&request, IFLA_INFO_DATA, NULL, 0);
	other = attr_add(&request, VETH_INFO_PEER, &none, sizeof(none));
	attr_add(&request, IFLA_IFNAME, peer, strlen(peer) + 1);
	attr_end(&request, other);
	attr_end(&request, data);
	attr_end(&request, info);
	rc = ask(&request);
	if (rc)
		return rc;
	veth.ifindex = if_nametoindex(name);
	veth.peer_ifindex = if_nametoindex(peer);
	rc = device_mac(name, veth.mac);
	if (!rc)
		rc = device_mac(peer, veth.peer_mac);
	if (!rc)
		*ret_veth = veth;
	return rc;
}

int veth_up(const char *name, uint32_t address)
{
	struct ifreq request = {0};
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(address)};
	int rc;

	strncpy(request.ifr_name, name, IFNAMSIZ - 1);
	if (address) {
		memcpy(&request.ifr_addr, &in, sizeof(in));
		rc = device_ioctl(SIOCSIFADDR, &request);
		if (rc)
			return rc;
		in.sin_addr.s_addr = htonl(0xffffff00u);
		memcpy(&request.ifr_netmask, &in, sizeof(in));
		rc = device_ioctl(SIOCSIFNETMASK, &request);
		if (rc)
			return rc;
	}
	rc = device_ioctl(SIOCGIFFLAGS, &request);
	if (rc)
		return rc;
	request.ifr_flags |= IFF_UP | IFF_RUNNING;
	return device_ioctl(SIOCSIFFLAGS, &request);
}
