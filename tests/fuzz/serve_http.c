/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of a request that we parse: Accept, Accept-Encoding, Authorization, query, addresses. */
#include "fuzz.h"

#include "serve/accept.h"
#include "serve/address.h"
#include "serve/auth.h"
#include "serve/host.h"
#include "view/prom.h"

static void check(const char *text)
{
	static const char token[] = "0123456789abcdef";
	struct auth auth = {.fd = -1}, own = {.fd = -1};
	char value[16] = "", bearer[AUTH_TOKEN_MAX + 16];
	struct address address;
	struct err err = {0};
	char *labels;

	prom_accept(text);
	accept_gzip(text);
	/* A name is refused unless it is given; a list of names is no name. */
	if (host_is_name(text) && strpbrk(text, "gijkmnpqruvwxyz"))
		FUZZ_CHECK(!host_allowed(NULL, text) && host_allowed(text, text));
	else
		host_allowed("a,b", text);
	if (accept_query(text, "collect", value, sizeof(value)))
		FUZZ_CHECK(strlen(value) < sizeof(value) && strstr(text, value));
	if (!address_parse(text, &address))
		FUZZ_CHECK(address.len && address.len <= sizeof(address.sockaddr));
	FUZZ_CHECK(!auth_parse(&auth, token, strlen(token), &err));
	if (auth_allows(&auth, text))
		FUZZ_CHECK(strstr(text, token));
	/* An accepted token allows a request with that token. */
	if (!auth_parse(&own, text, strlen(text), &err)) {
		snprintf(bearer, sizeof(bearer), "Bearer %.*s", (int)own.len, own.token);
		FUZZ_CHECK(auth_allows(&own, bearer));
	}
	/* Labels from any name: no line break, and quotes only behind a backslash. */
	labels = prom_labels("a", text, NULL);
	FUZZ_CHECK(labels && !strchr(labels, '\n'));
	for (char *p = labels + 3; p[1]; p++) {
		FUZZ_CHECK(*p != '"');
		if (*p == '\\')
			p++;
	}
	free(labels);
}

FUZZ_STRING(check)
