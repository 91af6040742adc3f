/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the request headers and query keys that the server uses. */
#include "accept.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* "gzip;q=0", "gzip;x=1;q=0.0": not acceptable. */
static bool refused(const char *params, const char *end)
{
	while ((params = memchr(params, ';', (size_t)(end - params)))) {
		do
			params++;
		while (params < end && (*params == ' ' || *params == '\t'));
		if (end - params < 3 || strncasecmp(params, "q=", 2))
			continue;
		for (params += 2; params < end && *params != ';'; params++)
			if (*params >= '1' && *params <= '9')
				return false;
		return true;
	}
	return false;
}

bool accept_gzip(const char *header)
{
	bool any = false;

	while (header && *header) {
		const char *end = header + strcspn(header, ","), *start = header;
		size_t len;

		start += strspn(start, " \t");
		len = strcspn(start, ";, \t");
		if ((len == 4 && !strncasecmp(start, "gzip", 4)) ||
		    (len == 6 && !strncasecmp(start, "x-gzip", 6)))
			return !refused(start, end);
		if (len == 1 && *start == '*')
			any = !refused(start, end);
		header = *end ? end + 1 : end;
	}
	return any;
}

bool accept_query(const char *query, const char *key, char *value, unsigned int size)
{
	size_t key_len = strlen(key);

	while (query && *query) {
		const char *end = query + strcspn(query, "&");

		if ((size_t)(end - query) > key_len && !strncmp(query, key, key_len) &&
		    query[key_len] == '=') {
			size_t len = end - query - key_len - 1;

			if (len >= size)
				return false;
			memcpy(value, query + key_len + 1, len);
			value[len] = '\0';
			return true;
		}
		query = *end ? end + 1 : end;
	}
	return false;
}
