/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads a PTP hardware clock through its character device. */
#include "sys/ptp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/ptp_clock.h>
#include <limits.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "sys/file.h"
#include "sys/rtnl.h"

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
	/* As in /proc/PID/comm, which has 15 characters at most. */
	static const char *const names[] = {"chronyd", "ntpd", "phc2sys", "ptp4l", "systemd-timesyn", "ts2phc"};
	char path[PATH_MAX], comm[32];
	struct dirent *entry;
	unsigned int found = 0;
	size_t used = 0;
	DIR *dir = sys_path(root, "/proc", path, sizeof(path)) ? NULL : opendir(path);

	buf[0] = '\0';
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/comm", entry->d_name);
		if (sys_read_file(root, path, comm, sizeof(comm)) < 0)
			continue;
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			found |= !strcmp(comm, names[i]) << i;
	}
	if (dir)
		closedir(dir);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && used < size; i++)
		if (found >> i & 1)
			used += snprintf(buf + used, size - used, "%s%s", used ? ", " : "", names[i]);
}

int ptp_open(int index, struct err *err)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/ptp%d", index);
	/* Read-only: phc2sys sets the clock, not we. */
	fd = open(path, O_RDONLY | O_CLOEXEC);
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

static int read_precise(int fd, struct ptp_reading *readings)
{
	struct ptp_sys_offset_precise precise = {0};
	int64_t width, offset;

	if (ioctl(fd, PTP_SYS_OFFSET_PRECISE, &precise))
		return -errno;
	offset = clock_offset_ns(CLOCK_REALTIME, &width);
	readings[0] = (struct ptp_reading){
		.before_ns = ptp_ns(&precise.sys_realtime) - offset - width / 2,
		.device_ns = ptp_ns(&precise.device),
		.after_ns = ptp_ns(&precise.sys_realtime) - offset + width / 2,
	};
	return 1;
}

static int read_extended(int fd, struct ptp_reading *readings)
{
	struct ptp_sys_offset_extended extended = {.n_samples = PTP_MAX_READINGS};
	int64_t width, offset;

	if (ioctl(fd, PTP_SYS_OFFSET_EXTENDED, &extended))
		return -errno;
	/* Both clocks run at the same rate; a step between the two calls shows as a step here. */
	offset = clock_offset_ns(CLOCK_REALTIME, &width);
	for (int i = 0; i < PTP_MAX_READINGS; i++)
		readings[i] = (struct ptp_reading){
			.before_ns = ptp_ns(&extended.ts[i][0]) - offset - width / 2,
			.device_ns = ptp_ns(&extended.ts[i][1]),
			.after_ns = ptp_ns(&extended.ts[i][2]) - offset + width / 2,
		};
	return PTP_MAX_READINGS;
}

static int read_basic(int fd, struct ptp_reading *readings)
{
	struct ptp_sys_offset basic = {.n_samples = PTP_MAX_READINGS};
	int64_t width, offset;

	if (ioctl(fd, PTP_SYS_OFFSET, &basic))
		return -errno;
	offset = clock_offset_ns(CLOCK_REALTIME, &width);
	for (int i = 0; i < PTP_MAX_READINGS; i++)
		readings[i] = (struct ptp_reading){
			.before_ns = ptp_ns(&basic.ts[2 * i]) - offset - width / 2,
			.device_ns = ptp_ns(&basic.ts[2 * i + 1]),
			.after_ns = ptp_ns(&basic.ts[2 * i + 2]) - offset + width / 2,
		};
	return PTP_MAX_READINGS;
}

int ptp_read(int fd, struct ptp_reading readings[PTP_MAX_READINGS], enum ptp_method *ret_method)
{
	static int (*const ways[])(int, struct ptp_reading *) = {
		[PTP_PRECISE] = read_precise,
		[PTP_EXTENDED] = read_extended,
		[PTP_BASIC] = read_basic,
	};
	int rc = -EOPNOTSUPP;

	for (enum ptp_method method = PTP_PRECISE; method <= PTP_BASIC && rc < 0; method++) {
		rc = ways[method](fd, readings);
		*ret_method = method;
	}
	return rc;
}
