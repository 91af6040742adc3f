/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One ioctl of a network device. */
#ifndef SUBTICK_SYS_NETDEV_H
#define SUBTICK_SYS_NETDEV_H

/* @command with @data for @device: 0 or -errno. */
int netdev_ioctl(const char *device, unsigned long command, void *data);

#endif
