/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks the Host header. A web page may have the browser ask its own site's name again after that
 * name's address has become ours (DNS rebinding): then the page can read the responses. The browser
 * still sends the name of the page's site as Host.
 */
#include "host.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* The longest name of the DNS, and a dot at its end. */
#define MAX_NAME 254

bool host_is_name(const char *name)
{
	static const char accepted[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789.-_";

	size_t len = strlen(name);

	return len && len < MAX_NAME && strspn(name, accepted) == len && name[len - 1] != '.';
}

/* "[::1]:80" or "[fe80::1%eth0]". */
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

static bool list_has(const char *names, const char *name, size_t len)
{
	while (names && *names) {
		size_t one = strcspn(names, ",");

		if (one == len && !strncasecmp(names, name, len))
			return true;
		names += one + (names[one] == ',');
	}
	return false;
}

bool host_allowed(const char *names, const char *header)
{
	char name[MAX_NAME + 1];
	struct in_addr in;
	size_t len;

	/* A browser always sends one. */
	if (!header || !*header)
		return true;
	if (*header == '[')
		return is_ipv6(header);
	len = strcspn(header, ":");
	/* The port is not checked: a forwarded one is another than ours. */
	if (header[len] && header[len + 1 + strspn(header + len + 1, "0123456789")])
		return false;
	if (len && header[len - 1] == '.')
		len--;
	if (!len || len >= sizeof(name))
		return false;
	memcpy(name, header, len);
	name[len] = '\0';
	return inet_pton(AF_INET, name, &in) == 1 || !strcasecmp(name, "localhost") ||
	       list_has(names, name, len);
}
