/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Creates veth pairs through rtnetlink: a guest or container may not have ip(8). */
#include "sys/veth.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/veth.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys/rtnl.h"

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
	struct rtnl_request request;
	struct ifinfomsg none = {0};
	struct rtattr *info, *data, *other;
	struct veth veth;
	int rc;

	rtnl_init(&request, RTM_NEWLINK, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL,
		  sizeof(struct ifinfomsg));
	rtnl_attr(&request, IFLA_IFNAME, name, strlen(name) + 1);
	info = rtnl_attr(&request, IFLA_LINKINFO, NULL, 0);
	rtnl_attr(&request, IFLA_INFO_KIND, "veth", 5);
	data = rtnl_attr(&request, IFLA_INFO_DATA, NULL, 0);
	other = rtnl_attr(&request, VETH_INFO_PEER, &none, sizeof(none));
	rtnl_attr(&request, IFLA_IFNAME, peer, strlen(peer) + 1);
	rtnl_nest_end(&request, other);
	rtnl_nest_end(&request, data);
	rtnl_nest_end(&request, info);
	rc = rtnl_talk(&request.head);
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
