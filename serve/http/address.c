/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses addresses and Host headers, and opens listening sockets. */
#include "serve/http/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/array.h"
#include "serve/http/request.h"

#define BACKLOG 512
/* Maximum time for which accept() does not return a connection without data. */
#define DEFER_SECONDS 10
#define KEEPALIVE_SECONDS 30

static int parse_port(const char *text, in_port_t *ret_port)
{
	char *end;
	unsigned long port;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	port = strtoul(text, &end, 10);
	if (*end || port > 65535 || end - text > 5)
		return -EINVAL;
	*ret_port = htons(port);
	return 0;
}

static int parse_unix(const char *path, struct address *a)
{
	struct sockaddr_un *sun = (struct sockaddr_un *)&a->sockaddr;

	if (!*path || strlen(path) >= sizeof(sun->sun_path))
		return -EINVAL;
	sun->sun_family = AF_UNIX;
	strcpy(sun->sun_path, path);
	a->len = offsetof(struct sockaddr_un, sun_path) + strlen(path) + 1;
	a->path = path;
	return 0;
}

int address_parse(const char *text, struct address *a)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&a->sockaddr;
	struct sockaddr_in *in = (struct sockaddr_in *)&a->sockaddr;
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 2];
	size_t len;

	memset(a, 0, sizeof(*a));
	if (!strncmp(text, "unix:", 5))
		return parse_unix(text + 5, a);
	if (!colon || (size_t)(colon - text) >= sizeof(host))
		return -EINVAL;
	len = colon - text;
	memcpy(host, text, len);
	host[len] = '\0';
	if (len > 2 && host[0] == '[' && host[len - 1] == ']') {
		host[len - 1] = '\0';
		in6->sin6_family = AF_INET6;
		a->len = sizeof(*in6);
		return inet_pton(AF_INET6, host + 1, &in6->sin6_addr) == 1 ?
			       parse_port(colon + 1, &in6->sin6_port) :
			       -EINVAL;
	}
	in->sin_family = AF_INET;
	a->len = sizeof(*in);
	return inet_pton(AF_INET, host, &in->sin_addr) == 1 ? parse_port(colon + 1, &in->sin_port) :
							      -EINVAL;
}

bool address_is_local(const struct address *a)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&a->sockaddr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)&a->sockaddr;

	switch (a->sockaddr.ss_family) {
	case AF_UNIX:
		return true;
	case AF_INET:
		return ntohl(in->sin_addr.s_addr) >> 24 == 127;
	default:
		return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
	}
}

/* Removes a unix socket if no process listens on it, for example after SIGKILL. */
static void remove_dead(const struct address *a)
{
	struct stat st;
	int fd;

	if (lstat(a->path, &st) || !S_ISSOCK(st.st_mode))
		return;
	/* A blocking connect() would wait if the backlog of a live socket is full. */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)&a->sockaddr, a->len) && errno == ECONNREFUSED)
		unlink(a->path);
	close(fd);
}

/* Accepted sockets inherit the options of the listening socket. */
static void set_tcp_options(int fd)
{
	static const int options[][3] = {
		/* Clients without data do not count towards the limit of connections. */
		{IPPROTO_TCP, TCP_DEFER_ACCEPT, DEFER_SECONDS},
		/* Nagle's algorithm would delay the end of a response by up to 40 ms. */
		{IPPROTO_TCP, TCP_NODELAY, 1},
		/* By default the kernel buffers up to 4 MiB for a client that does not read. */
		{SOL_SOCKET, SO_SNDBUF, ADDRESS_SEND_BUFFER},
		{SOL_SOCKET, SO_RCVBUF, ADDRESS_RECEIVE_BUFFER},
		/* Detect clients that disappear while the connection is idle. */
		{SOL_SOCKET, SO_KEEPALIVE, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_SECONDS},
		{IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_SECONDS / 3},
		{IPPROTO_TCP, TCP_KEEPCNT, 3},
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		setsockopt(fd, options[i][0], options[i][1], &options[i][2], sizeof(int));
}

int address_listen(const char *text, int *ret_fd, struct err *err)
{
	struct address a;
	int fd, on = 1, rc;
	mode_t mask;

	if (address_parse(text, &a))
		return err_set(err, -EINVAL,
			       "%s is not an address: expected HOST:PORT, [IPV6]:PORT or unix:PATH",
			       text);
	fd = socket(a.sockaddr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(err, -errno, "cannot open a socket for %s: %s", text,
			       strerror(errno));
	if (a.path)
		remove_dead(&a);
	else
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* An IPv6 socket that accepts IPv4 would conflict with a listener on 0.0.0.0. */
	if (a.sockaddr.ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	/*
	 * The permissions of the directory determine who may connect to the socket. umask() avoids
	 * a later chmod(), which would follow a symbolic link that replaced the socket.
	 */
	mask = umask(0111);
	rc = bind(fd, (const struct sockaddr *)&a.sockaddr, a.len) || listen(fd, BACKLOG) ? -errno :
											     0;
	umask(mask);
	if (rc) {
		close(fd);
		return err_set(err, rc, "cannot listen on %s: %s", text, strerror(-rc));
	}
	if (!a.path)
		set_tcp_options(fd);
	*ret_fd = fd;
	return 0;
}

/* Maximum length of a DNS name with a trailing dot. */
#define MAX_NAME 254

bool host_is_name(const char *name)
{
	static const char accepted[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789.-_";

	size_t len = strlen(name);

	return len && len < MAX_NAME && strspn(name, accepted) == len && name[len - 1] != '.';
}

/* True for an IPv6 Host header such as "[::1]:80" or "[fe80::1%eth0]". */
static bool is_ipv6(const char *header)
{
	size_t len = strcspn(header, "]"), address = strcspn(header, "%]") - 1;
	char text[INET6_ADDRSTRLEN];
	struct in6_addr in6;

	if (!header[len] || (header[len + 1] && header[len + 1] != ':') || address >= sizeof(text))
		return false;
	memcpy(text, header + 1, address);
	text[address] = '\0';
	return inet_pton(AF_INET6, text, &in6) == 1;
}

bool host_allowed(const char *names, const char *header)
{
	char name[MAX_NAME + 1];
	struct in_addr in;
	size_t len;

	/* A missing Host header is accepted: browsers always send one, even for DNS rebinding. */
	if (!header || !*header)
		return true;
	if (*header == '[')
		return is_ipv6(header);
	len = strcspn(header, ":");
	/* Any port in the Host header is accepted, because port forwarding changes the port. */
	if (header[len] && header[len + 1 + strspn(header + len + 1, "0123456789")])
		return false;
	if (len && header[len - 1] == '.')
		len--;
	if (!len || len >= sizeof(name))
		return false;
	memcpy(name, header, len);
	name[len] = '\0';
	return inet_pton(AF_INET, name, &in) == 1 || !strcasecmp(name, "localhost") ||
	       (names && request_list_has(names, name));
}
