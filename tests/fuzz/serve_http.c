/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzz target for HTTP requests, Accept, Authorization, query and addresses. */
#include "fuzz.h"

#include <errno.h>

#include "serve/http/address.h"
#include "serve/http/auth.h"
#include "serve/http/request.h"
#include "view/prom.h"
#include "view/utf8.h"

static int collect(void *arg, const char *data, size_t len)
{
	return fwrite(data, 1, len, arg) == len ? 0 : -EIO;
}

/* Checks key, length and name of a label in protobuf. The name is unquoted. */
static void check_protobuf(const char *text, const struct label *label)
{
	static struct prom prom;
	char *page = NULL, *shown = utf8_printable(text, 0), field[16];
	size_t size = 0, len, head = 1;
	FILE *out = open_memstream(&page, &size);
	struct series s = {.family = family_get(F_LOSS)};
	struct series_table table = {.width = 1};

	FUZZ_CHECK(shown && out && series_add(&table, 0, label, 1));
	len = strlen(shown);
	table.rows[0]->shown = 1;
	prom = (struct prom){.format = PROM_PROTOBUF, .sink = collect, .arg = out};
	prom_write(&prom, &s, &table);
	FUZZ_CHECK(!prom_end(&prom) && !fclose(out));
	field[0] = 0x12;
	for (; len >= 0x80; len >>= 7)
		field[head++] = (char)(len | 0x80);
	field[head++] = (char)len;
	for (const char *at = page;; at++) {
		at = memmem(at, size - (size_t)(at - page), field, head);
		FUZZ_CHECK(at);
		if (size - (size_t)(at - page) >= head + strlen(shown) &&
		    !memcmp(at + head, shown, strlen(shown)))
			break;
	}
	series_free(&table);
	free(page);
	free(shown);
}

/* Checks that an accepted request has an end, and that its strings lie within its bytes. */
static void check_request(const char *text)
{
	const char *end = strstr(text, "\r\n\r\n");
	size_t len = end ? (size_t)(end - text) + 4 : strlen(text);
	char *copy = strndup(text, len);
	struct request r = {0};
	int code;

	FUZZ_CHECK(copy);
	code = request_parse(copy, len, &r);
	FUZZ_CHECK(!code || (code >= 400 && code < 600));
	FUZZ_CHECK(!code || !r.keep);
	if (!code) {
		const char *strings[] = {r.path, r.query, r.host, r.authorization, r.accept,
					 r.accept_encoding, r.if_none_match};

		FUZZ_CHECK(end && r.path && *r.path == '/');
		for (size_t i = 1; i < sizeof(strings) / sizeof(strings[0]); i++)
			FUZZ_CHECK(!strings[i] || (strings[i] >= copy &&
						   strings[i] + strlen(strings[i]) < copy + len));
	}
	free(copy);
}

static void check(const char *text)
{
	static const char token[] = "0123456789abcdef";
	struct auth auth = {.fd = -1}, own = {.fd = -1};
	char value[16] = "", bearer[AUTH_TOKEN_MAX + 16];
	char plain[64];
	struct address address;
	struct err err = {0};
	const struct label label = LABEL("a", text);
	struct labels *labels;

	check_request(text);
	if (request_decode(text, plain, sizeof(plain)))
		FUZZ_CHECK(strlen(plain) <= strlen(text));
	FUZZ_CHECK(prom_accept(text, false) != PROM_PROTOBUF);
	if (prom_accept(text, true) == PROM_PROTOBUF)
		FUZZ_CHECK(strstr(text, "delimited"));
	request_accepts_gzip(text);
	/*
	 * A host name must be refused unless it is configured. host_is_name() excludes
	 * comma-separated lists. The letters in strpbrk() exclude IP addresses and "localhost",
	 * which are always allowed.
	 */
	if (host_is_name(text) && strpbrk(text, "gijkmnpqruvwxyz"))
		FUZZ_CHECK(!host_allowed(NULL, text) && host_allowed(text, text));
	else
		host_allowed("a,b", text);
	if (request_query(text, "collect", value, sizeof(value)))
		FUZZ_CHECK(strlen(value) < sizeof(value) && strstr(text, value));
	if (!address_parse(text, &address))
		FUZZ_CHECK(address.len && address.len <= sizeof(address.sockaddr));
	FUZZ_CHECK(!auth_parse(&auth, token, strlen(token), &err));
	if (auth_allows(&auth, text))
		FUZZ_CHECK(strstr(text, token));
	/* If the input is accepted as a token, a request with this token must be allowed. */
	if (!auth_parse(&own, text, strlen(text), &err)) {
		snprintf(bearer, sizeof(bearer), "Bearer %.*s", (int)own.len, own.token);
		FUZZ_CHECK(auth_allows(&own, bearer));
	}
	/* The text of a label has no line break, and quotes only after a backslash. */
	labels = labels_new(&label, 1);
	FUZZ_CHECK(labels && !strchr(labels->data, '\n'));
	for (char *p = labels->data + 3; p[1]; p++) {
		FUZZ_CHECK(*p != '"');
		if (*p == '\\')
			p++;
	}
	check_protobuf(text, &label);
	free(labels);
}

FUZZ_STRING(check)
