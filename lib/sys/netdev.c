/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ioctls of network devices go through a socket of any kind. */
#include "sys/netdev.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

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
