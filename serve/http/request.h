/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One HTTP request: GET or HEAD, without a body. */
#ifndef SUBTICK_SERVE_REQUEST_H
#define SUBTICK_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

/* Maximum size of the request line and all headers. */
#define REQUEST_MAX 8192

#define HTTP_STATUSES(X)                                           \
	X(OK, 200, "OK")                                           \
	X(NOTMODIFIED, 304, "Not Modified")                        \
	X(BADREQUEST, 400, "Bad Request")                          \
	X(UNAUTHORIZED, 401, "Unauthorized")                       \
	X(FORBIDDEN, 403, "Forbidden")                             \
	X(NOTFOUND, 404, "Not Found")                              \
	X(BADMETHOD, 405, "Method Not Allowed")                    \
	X(ENTITYTOOLARGE, 413, "Content Too Large")                \
	X(HEADERSTOOLARGE, 431, "Request Header Fields Too Large") \
	X(SERVUNAVAIL, 503, "Service Unavailable")                 \
	X(BADVERSION, 505, "HTTP Version Not Supported")
#define HTTP_STATUS_ENUM(name, code, reason) HTTP_##name = code,
enum {
	HTTP_STATUSES(HTTP_STATUS_ENUM)
};
#undef HTTP_STATUS_ENUM

struct conn;

/* All strings point into the parsed text. Missing headers and queries are NULL. */
struct request {
	struct conn *conn;
	bool head; /* true for a HEAD request, whose response has no body */
	/* the client wants to keep the connection open for its next request */
	bool keep;
	/* path of the URL without decoding of %XX, and query after "?" */
	const char *path, *query;
	const char *host, *authorization, *accept, *accept_encoding, *if_none_match;
	/* additional header lines for the response, each with CRLF; NULL if there are none */
	const char *extra;
};

/*
 * Parses a request of @len bytes in place. The @len bytes must end with the empty line after the
 * headers. Returns 0 or an HTTP status. After an error the connection must be closed, because the
 * end of the request is unknown. A request is refused if a proxy might find the end of the request
 * at a different position: if it has a body, Transfer-Encoding, two Content-Length or Host headers,
 * folded lines, a space before the colon, or a line without CRLF.
 */
int request_parse(char *text, size_t len, struct request *ret_request);

/* True if @list contains @word; commas and blanks separate words; case is ignored. */
bool request_list_has(const char *list, const char *word);
/* True if the Accept-Encoding header allows gzip. @header may be NULL. */
bool request_accepts_gzip(const char *header);
/* Copies the value of @key in a query such as "collect=load,runq" without decoding %XX. */
bool request_query(const char *query, const char *key, char *value, unsigned int size);
/* Decodes %XX. False for an invalid escape, a NUL, or more than @size bytes. */
bool request_decode(const char *text, char *ret_text, size_t size);

#endif
