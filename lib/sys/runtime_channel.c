/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages with a descriptor each, over a socket that keeps their boundaries. */
#include "sys/runtime_channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct wire {
	uint32_t place;
	uint32_t has_file;
	char id[RUNTIME_ID_LEN];
};

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

int runtime_channel_send(int channel, unsigned int place, const char *id, int fd)
{
	struct wire wire = {.place = place, .has_file = fd >= 0};
	struct iovec data = {&wire, sizeof(wire)};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	union control control = {{0}};
	ssize_t sent;

	if (id)
		memcpy(wire.id, id, sizeof(wire.id));
	if (fd >= 0) {
		struct cmsghdr *header = &control.align;

		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	}
	do
		sent = sendmsg(channel, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

int runtime_channel_receive(int channel, struct runtime_message *ret_message)
{
	struct wire wire;
	struct iovec data = {&wire, sizeof(wire)};
	union control control;
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	ssize_t got = recvmsg(channel, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *header = got >= 0 ? CMSG_FIRSTHDR(&message) : NULL;
	int fd = -1;

	if (got < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	if (!got)
		return -EPIPE;
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	/* A file that is missing although it was sent: too many are open. */
	if (got != sizeof(wire) || wire.place > RUNTIME_NR_PLACES || !wire.has_file != (fd < 0)) {
		if (fd >= 0)
			close(fd);
		return -EBADMSG;
	}
	*ret_message = (struct runtime_message){.place = wire.place, .fd = fd};
	memcpy(ret_message->id, wire.id, sizeof(wire.id));
	return 0;
}
