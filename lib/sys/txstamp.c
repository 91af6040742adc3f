/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SO_TIMESTAMPING of sent packets, and the setting of the device that it needs. */
#include "sys/txstamp.h"

#include <errno.h>
#include <time.h> /* which linux/errqueue.h needs first */
#include <linux/errqueue.h>
#include <linux/ethtool.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "sys/netdev.h"

bool txstamp_can(const char *device)
{
	struct ethtool_ts_info info = {.cmd = ETHTOOL_GET_TS_INFO};

	return !netdev_ioctl(device, SIOCETHTOOL, &info) && info.tx_types >> HWTSTAMP_TX_ON & 1 &&
	       info.so_timestamping & SOF_TIMESTAMPING_TX_HARDWARE;
}

int txstamp_get(const char *device)
{
	struct hwtstamp_config config = {0};
	int rc = netdev_ioctl(device, SIOCGHWTSTAMP, &config);

	return rc ? rc : config.tx_type;
}

int txstamp_set(const char *device, int tx_type)
{
	struct hwtstamp_config config = {0};
	int rc = netdev_ioctl(device, SIOCGHWTSTAMP, &config);

	config.tx_type = tx_type;
	return rc ? rc : netdev_ioctl(device, SIOCSHWTSTAMP, &config);
}

int txstamp_ask(int fd)
{
	int flags = SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE |
		    SOF_TIMESTAMPING_OPT_TSONLY;

	return setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags)) ? -errno : 0;
}

/* 0 if this message has no stamp: it says that a packet was dropped. */
static int64_t stamp_of(struct msghdr *message)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		struct scm_timestamping stamps;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPING ||
		    c->cmsg_len < CMSG_LEN(sizeof(stamps)))
			continue;
		memcpy(&stamps, CMSG_DATA(c), sizeof(stamps));
		/* The third is the card's own. */
		return stamps.ts[2].tv_sec * (int64_t)NSEC_PER_SEC + stamps.ts[2].tv_nsec;
	}
	return 0;
}

int txstamp_wait(int fd, uint64_t patience_ns, int64_t *ret_ns)
{
	uint64_t until = clock_mono_ns() + patience_ns;

	do {
		char payload[64], control[256];
		struct iovec part = {payload, sizeof(payload)};
		struct msghdr message = {.msg_iov = &part,
					 .msg_iovlen = 1,
					 .msg_control = control,
					 .msg_controllen = sizeof(control)};

		if (recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
			if (errno != EAGAIN && errno != EINTR)
				return -errno;
			continue;
		}
		*ret_ns = stamp_of(&message);
		if (*ret_ns)
			return 0;
	} while (clock_mono_ns() < until);
	return -ETIME;
}
