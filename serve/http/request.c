/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses HTTP requests strictly: an ambiguous request is an error. */
#include "serve/http/request.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"

/* Valid characters of methods and header names. */
#define TOKEN "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define BLANK " \t"

/* Headers that determine where the request ends and whether the connection stays open. */
struct framing {
	bool length, host, close, keep_alive;
};

/* Returns the next line without its CRLF. NULL: no CRLF, or a control character in the line. */
static char *next_line(char **at, const char *end)
{
	char *line = *at, *stop = memchr(line, '\n', (size_t)(end - line));

	if (!stop || stop == line || stop[-1] != '\r')
		return NULL;
	*at = stop + 1;
	*--stop = '\0';
	for (const char *c = line; c < stop; c++)
		if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7f)
			return NULL;
	return line;
}

/* Parses "/path?query" or "http://host/path?query". The URL's host overrides the header. */
static int parse_target(char *target, struct request *request)
{
	char *query;

	for (const char *c = target; *c; c++)
		if (*c <= ' ' || *c > '~' || *c == '#')
			return HTTP_BADREQUEST;
	if (!strncasecmp(target, "http://", 7)) {
		size_t len = strcspn(target + 7, "/?");

		if (!len)
			return HTTP_BADREQUEST;
		/* Move the host name by one byte to make room for a terminating NUL. */
		request->host = memmove(target + 6, target + 7, len);
		target[6 + len] = '\0';
		target += 7 + len;
	} else if (*target != '/') {
		return HTTP_BADREQUEST;
	}
	query = strchr(target, '?');
	if (query) {
		*query = '\0';
		request->query = query + 1;
	}
	request->path = *target ? target : "/";
	return 0;
}

static int parse_request_line(char *line, struct request *request)
{
	char *target = strchr(line, ' '), *version = target ? strchr(target + 1, ' ') : NULL;

	if (!version || target == line || line + strspn(line, TOKEN) != target)
		return HTTP_BADREQUEST;
	*target++ = *version++ = '\0';
	if (strncmp(version, "HTTP/", 5))
		return HTTP_BADREQUEST;
	if (strcmp(version, "HTTP/1.1") && strcmp(version, "HTTP/1.0"))
		return HTTP_BADVERSION;
	request->keep = version[7] == '1';
	request->head = !strcmp(line, "HEAD");
	if (!request->head && strcmp(line, "GET"))
		return HTTP_BADMETHOD;
	return parse_target(target, request);
}

bool request_list_has(const char *list, const char *word)
{
	while (*list) {
		size_t skip = strspn(list, BLANK ","), len = strcspn(list + skip, BLANK ",");

		if (len == strlen(word) && !strncasecmp(list + skip, word, len))
			return true;
		list += skip + len;
	}
	return false;
}

static int parse_framing(const char *name, const char *value, struct framing *framing)
{
	if (!strcasecmp(name, "Transfer-Encoding"))
		return HTTP_BADREQUEST;
	if (!strcasecmp(name, "Content-Length")) {
		if (framing->length || !*value || value[strspn(value, "0")])
			return HTTP_BADREQUEST;
		framing->length = true;
	} else if (!strcasecmp(name, "Host")) {
		if (framing->host)
			return HTTP_BADREQUEST;
		framing->host = true;
	} else if (!strcasecmp(name, "Connection")) {
		framing->close |= request_list_has(value, "close");
		framing->keep_alive |= request_list_has(value, "keep-alive");
	}
	return 0;
}

static int parse_header(char *line, struct request *request, struct framing *framing)
{
	const struct {
		const char *name, **value;
	} known[] = {
		{"Host", &request->host},
		{"Authorization", &request->authorization},
		{"Accept", &request->accept},
		{"Accept-Encoding", &request->accept_encoding},
		{"If-None-Match", &request->if_none_match},
	};
	size_t len = strspn(line, TOKEN);
	char *value = line + len + 1, *end;

	if (!len || line[len] != ':')
		return HTTP_BADREQUEST;
	line[len] = '\0';
	value += strspn(value, BLANK);
	end = value + strlen(value);
	while (end > value && strchr(BLANK, end[-1]))
		end--;
	*end = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcasecmp(line, known[i].name) && !*known[i].value)
			*known[i].value = value;
	return parse_framing(line, value, framing);
}

int request_parse(char *text, size_t len, struct request *request)
{
	struct framing framing = {0};
	const char *end = text + len;
	char *line = next_line(&text, end);
	int code = line ? parse_request_line(line, request) : HTTP_BADREQUEST;

	while (!code && (line = next_line(&text, end)) && *line)
		code = parse_header(line, request, &framing);
	if (!line)
		code = HTTP_BADREQUEST;
	/* Only HTTP/1.0 requests may omit the Host header. */
	if (!code && request->keep && !framing.host)
		code = HTTP_BADREQUEST;
	request->keep = !code && !framing.close && (request->keep || framing.keep_alive);
	return code;
}

bool request_decode(const char *text, char *ret_text, size_t size)
{
	for (size_t len = 0; len < size; len++) {
		unsigned int byte = (unsigned char)*text;

		if (*text == '%' &&
		    (!isxdigit((unsigned char)text[1]) || !isxdigit((unsigned char)text[2]) ||
		     sscanf(text, "%%%2x", &byte) != 1 || !byte))
			return false;
		ret_text[len] = (char)byte;
		if (!byte)
			return true;
		text += *text == '%' ? 3 : 1;
	}
	return false;
}

/* True if @params of a content coding set the quality to 0, such as in "gzip;x=1;q=0.0". */
static bool refused(const char *params, const char *end)
{
	const char *q = strcasestr(params, "q=");

	return q && q < end && !isdigit((unsigned char)q[2 + strspn(q + 2, "0.")]);
}

bool request_accepts_gzip(const char *header)
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

bool request_query(const char *query, const char *key, char *value, unsigned int size)
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
