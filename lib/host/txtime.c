/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PTP clocks, packets with SO_TXTIME, and timestamps of SO_TIMESTAMPING. */
#include "host/txtime.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/errqueue.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <linux/ptp_clock.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "host/file.h"
#include "host/qdisc.h"

const char *ptp_method_name(enum ptp_method method)
{
	static const char *const names[] = {"precise", "extended", "basic"};

	return names[method];
}

int ptp_index(const char *device)
{
	struct ethtool_ts_info info = {.cmd = ETHTOOL_GET_TS_INFO};
	int rc = netdev_ioctl(device, SIOCETHTOOL, &info);

	if (rc)
		return rc;
	return info.phc_index < 0 ? -EOPNOTSUPP : info.phc_index;
}

void ptp_disciplines(const char *root, char *buf, size_t size)
{
	/* Program names are truncated to 15 characters, as in /proc/PID/comm. */
	static const char *const names[] = {"chronyd", "ntpd", "phc2sys", "ptp4l", "systemd-timesyn", "ts2phc"};
	char path[PATH_MAX], comm[32];
	struct dirent *entry;
	unsigned int found = 0;
	size_t used = 0;
	DIR *dir = sys_path(root, "/proc", path, sizeof(path)) ? NULL : opendir(path);

	buf[0] = '\0';
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' ||
		    sys_read_file(root, SYS_PATH("/proc/%s/comm", entry->d_name), comm, sizeof(comm)) < 0)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			found |= !strcmp(comm, names[i]) << i;
	}
	if (dir)
		closedir(dir);
	for (size_t i = 0; i < ARRAY_SIZE(names) && used < size; i++)
		if (found >> i & 1)
			used += snprintf(buf + used, size - used, "%s%s", used ? ", " : "", names[i]);
}

int ptp_open(int index, struct err *err)
{
	const char *path = SYS_PATH("/dev/ptp%d", index);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_unsupported(
			err, -errno,
			"run as root on a kernel with CONFIG_PTP_1588_CLOCK and devtmpfs",
			"cannot open the hardware clock %s: %s", path, strerror(errno));
	return fd;
}

static int64_t ptp_ns(const struct ptp_clock_time *t)
{
	return t->sec * (int64_t)NSEC_PER_SEC + t->nsec;
}

/* Stores times of CLOCK_REALTIME. ptp_read() converts these times to CLOCK_MONOTONIC. */
static int read_precise(int fd, struct ptp_reading *readings)
{
	struct ptp_sys_offset_precise precise = {0};

	if (ioctl(fd, PTP_SYS_OFFSET_PRECISE, &precise))
		return -errno;
	readings[0].before_ns = readings[0].after_ns = ptp_ns(&precise.sys_realtime);
	readings[0].device_ns = ptp_ns(&precise.device);
	return 1;
}

/*
 * Converts @ts to readings of the PTP clock. Element n of @readings starts at ts[n × @stride]:
 * system clock, PTP clock, system clock.
 */
static int store_readings(const struct ptp_clock_time *ts, int stride, struct ptp_reading *readings)
{
	for (int i = 0; i < PTP_MAX_READINGS; i++, ts += stride)
		readings[i] = (struct ptp_reading){
			.before_ns = ptp_ns(&ts[0]),
			.device_ns = ptp_ns(&ts[1]),
			.after_ns = ptp_ns(&ts[2]),
		};
	return PTP_MAX_READINGS;
}

static int read_extended(int fd, struct ptp_reading *readings)
{
	struct ptp_sys_offset_extended extended = {.n_samples = PTP_MAX_READINGS};

	if (ioctl(fd, PTP_SYS_OFFSET_EXTENDED, &extended))
		return -errno;
	return store_readings(extended.ts[0], 3, readings);
}

static int read_basic(int fd, struct ptp_reading *readings)
{
	struct ptp_sys_offset basic = {.n_samples = PTP_MAX_READINGS};

	if (ioctl(fd, PTP_SYS_OFFSET, &basic))
		return -errno;
	return store_readings(basic.ts, 2, readings);
}

int ptp_read(int fd, struct ptp_reading readings[PTP_MAX_READINGS], enum ptp_method *ret_method)
{
	static int (*const ways[])(int, struct ptp_reading *) = {
		[PTP_PRECISE] = read_precise,
		[PTP_EXTENDED] = read_extended,
		[PTP_BASIC] = read_basic,
	};
	int64_t width, offset;
	int rc = -EOPNOTSUPP;

	for (enum ptp_method method = PTP_PRECISE; method <= PTP_BASIC && rc < 0; method++) {
		rc = ways[method](fd, readings);
		*ret_method = method;
	}
	/*
	 * CLOCK_REALTIME and CLOCK_MONOTONIC run at the same rate. If CLOCK_REALTIME steps after
	 * the PTP clock was read and before clock_offset_ns(), the readings are wrong.
	 */
	offset = clock_offset_ns(CLOCK_REALTIME, &width);
	for (int i = 0; i < rc; i++) {
		readings[i].before_ns -= offset + width / 2;
		readings[i].after_ns -= offset - width / 2;
	}
	return rc;
}

/* IEEE 802.1 local experimental EtherType 1, which no protocol uses. */
#define TXTIME_ETHERTYPE 0x88b5

int txtime_open(int ifindex, int priority, struct err *err)
{
	struct sock_txtime txtime = {.clockid = CLOCK_TAI, .flags = SOF_TXTIME_REPORT_ERRORS};
	struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_ifindex = ifindex};
	/* Protocol 0 receives no packets, which would wake an idle core. */
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
	/* A locally administered address that no host has: switches flood it, and hosts drop it. */
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

#define CONTROL_SIZE 256

/* Reads the next message of the error queue. False if the queue is empty. */
static bool receive_error(int fd, char control[CONTROL_SIZE], struct msghdr *ret_message)
{
	char payload[64];
	struct iovec part = {payload, sizeof(payload)};

	*ret_message = (struct msghdr){.msg_iov = &part,
				       .msg_iovlen = 1,
				       .msg_control = control,
				       .msg_controllen = CONTROL_SIZE};
	return recvmsg(fd, ret_message, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0;
}

int txtime_missed(int fd)
{
	char control[CONTROL_SIZE];
	struct msghdr message;
	int missed = 0;

	while (receive_error(fd, control, &message))
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
			struct sock_extended_err error;

			if (c->cmsg_len < CMSG_LEN(sizeof(error)))
				continue;
			memcpy(&error, CMSG_DATA(c), sizeof(error));
			missed += error.ee_origin == SO_EE_ORIGIN_TXTIME;
		}
	return missed;
}

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

/* Timestamp of a message; 0 if the message has none, for example for a dropped packet. */
static int64_t stamp_of(struct msghdr *message)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		struct scm_timestamping stamps;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPING ||
		    c->cmsg_len < CMSG_LEN(sizeof(stamps)))
			continue;
		memcpy(&stamps, CMSG_DATA(c), sizeof(stamps));
		/* The third timestamp of a message is the raw hardware timestamp. */
		return stamps.ts[2].tv_sec * (int64_t)NSEC_PER_SEC + stamps.ts[2].tv_nsec;
	}
	return 0;
}

int txstamp_wait(int fd, uint64_t patience_ns, int64_t *ret_ns)
{
	uint64_t until = clock_mono_ns() + patience_ns;

	do {
		char control[CONTROL_SIZE];
		struct msghdr message;

		if (receive_error(fd, control, &message)) {
			*ret_ns = stamp_of(&message);
			if (*ret_ns)
				return 0;
		} else if (errno != EAGAIN && errno != EINTR) {
			return -errno;
		}
	} while (clock_mono_ns() < until);
	return -ETIME;
}
