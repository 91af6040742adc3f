/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests which HTTP requests are answered. Ambiguous requests are refused. */
#include "serve/http/request.h"

#include "test.h"

static char text[REQUEST_MAX];

static int parse(const char *request, struct request *ret_request)
{
	*ret_request = (struct request){0};
	strcpy(text, request);
	return request_parse(text, strlen(text), ret_request);
}

TEST(test_good)
{
	struct request r;

	assert_int_equal(parse("GET /a?b=c HTTP/1.1\r\nHost: x:80\r\nAccept-encoding:gzip \t\r\n"
			       "AUTHORIZATION:  Bearer t\r\nIf-None-Match: \"e\"\r\nAccept: a\r\n"
			       "Accept: b\r\nX-Empty:\r\n\r\n",
			       &r),
			 0);
	assert_string_equal(r.path, "/a");
	assert_string_equal(r.query, "b=c");
	assert_string_equal(r.host, "x:80");
	assert_string_equal(r.accept_encoding, "gzip");
	assert_string_equal(r.authorization, "Bearer t");
	assert_string_equal(r.if_none_match, "\"e\"");
	assert_string_equal(r.accept, "a");
	assert_true(r.keep);
	assert_false(r.head);
	/* HEAD, a Content-Length of 0 and absolute URLs of proxies are accepted. */
	assert_int_equal(
		parse("HEAD http://h:1?q HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", &r), 0);
	assert_true(r.head);
	assert_string_equal(r.path, "/");
	assert_string_equal(r.query, "q");
	assert_string_equal(r.host, "h:1");
	assert_int_equal(parse("GET HTTP://h/p HTTP/1.1\r\nHost: x\r\n\r\n", &r), 0);
	assert_string_equal(r.path, "/p");
}

TEST(test_keep)
{
	static const struct {
		const char *text;
		bool keep;
	} cases[] = {
		{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", true},
		{"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", false},
		{"GET / HTTP/1.1\r\nHost: x\r\nConnection: x , Close\r\n\r\n", false},
		{"GET / HTTP/1.1\r\nHost: x\r\nConnection: closed\r\n\r\n", true},
		{"GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n",
		 false},
		{"GET / HTTP/1.0\r\n\r\n", false},
		{"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true},
	};
	struct request r;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(cases[i].text, &r), 0);
		assert_int_equal(r.keep, cases[i].keep);
	}
}

#define WITH(header) "GET / HTTP/1.1\r\nHost: x\r\n" header "\r\n\r\n"

TEST(test_bad)
{
	static const struct {
		const char *text;
		int code;
	} cases[] = {
		/* The server refuses a body, and bytes that another parser might read as a body. */
		{WITH("Content-Length: 5"), 400},
		{WITH("Content-Length: 0\r\nContent-Length: 0"), 400},
		{WITH("Content-Length: 0, 0"), 400},
		{WITH("Content-Length: +0"), 400},
		{WITH("Content-Length:"), 400},
		{WITH("Content-Length : 5"), 400},
		{WITH("Transfer-Encoding: chunked"), 400},
		{WITH("transfer-encoding: xchunked"), 400},
		{WITH("Transfer-Encoding: identity"), 400},
		{"HEAD / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n", 400},
		{WITH(" folded: x"), 400},
		{WITH("X: a\r\n b"), 400},
		{WITH("no colon"), 400},
		{WITH(": no name"), 400},
		{WITH("a b: c"), 400},
		{WITH("a : c"), 400},
		{WITH("X: a\rb"), 400},
		{WITH("X: a\nY: b"), 400},
		{WITH("X: a\x7f"), 400},
		{WITH("X: a\x01"), 400},
		{"GET / HTTP/1.1\nHost: x\n\n", 400},
		{"\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{WITH("Host: y"), 400},
		{WITH("host: x"), 400},
		{"GET / HTTP/1.1\r\n\r\n", 400},
		{"GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"GET / a HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"GET /\tHTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"GET /\xc3\xa4 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"GET x HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"GET http:///x HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"GET * HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"GET /\r\nHost: x\r\n\r\n", 400},
		{" / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"G(T / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"GET / http/1.1\r\nHost: x\r\n\r\n", 400},
		{"GET / HTTP/1.1 \r\nHost: x\r\n\r\n", 505},
		{"GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505},
		{"get / HTTP/1.1\r\nHost: x\r\n\r\n", 405},
		{"POST / HTTP/1.1\r\nHost: x\r\n\r\n", 405},
		{"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", 405},
	};
	struct request r;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (parse(cases[i].text, &r) != cases[i].code)
			fail_msg("%s", cases[i].text);
		assert_false(r.keep);
	}
	memcpy(text, WITH("X: a b"), sizeof(WITH("X: a b")));
	*strstr(text, "a b") = '\0';
	assert_int_equal(request_parse(text, sizeof(WITH("X: a b")) - 1, &r), 400);
}

TEST(test_decode)
{
	char plain[8];

	assert_true(request_decode("a%20b%C3", plain, sizeof(plain)));
	assert_string_equal(plain, "a b\xc3");
	assert_true(request_decode("1234567", plain, sizeof(plain)));
	assert_false(request_decode("12345678", plain, sizeof(plain)));
	assert_false(request_decode("a%00", plain, sizeof(plain)));
	assert_false(request_decode("a%2", plain, sizeof(plain)));
	assert_false(request_decode("a%-1", plain, sizeof(plain)));
	assert_false(request_decode("%", plain, sizeof(plain)));
}

TEST_MAIN()
