/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests access tokens: the tokens that subtick accepts, and the requests that a token allows. */
#include "serve/http/auth.h"

#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

#define GOOD "0123456789abcdef0123"

TEST(test_parse)
{
	static const struct {
		const char *text;
		bool good;
	} rows[] = {
		{GOOD, true},		      {"  " GOOD "\r\nsecond line", true},
		{"\n" GOOD, false},	      {"", false},
		{"short", false},	      {"0123456789abcde", false},
		{"0123456789abcdef", true},   {"0123456789 abcdef", false},
		{"0123456789abcdef\x80", false}, {"0123456789\x01" "abcdef", false},
	};
	char long_token[AUTH_TOKEN_MAX + 1];
	struct err err;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct auth auth = {.fd = -1};
		int rc = auth_parse(&auth, rows[i].text, strlen(rows[i].text), &err);

		if ((rc == 0) != rows[i].good || auth.needed != rows[i].good)
			fail_msg("%s", rows[i].text);
	}
	memset(long_token, 'x', sizeof(long_token));
	assert_int_equal(auth_parse(&(struct auth){.fd = -1}, long_token, AUTH_TOKEN_MAX, &err), 0);
	assert_int_equal(auth_parse(&(struct auth){.fd = -1}, long_token, AUTH_TOKEN_MAX + 1, &err),
			 -EINVAL);
}

TEST(test_allows)
{
	static const char *const wrong[] = {
		NULL,	"",	GOOD,		 "Bearer",	 "Bearer ",
		"Basic " GOOD,	"Bearer " GOOD "x", "Bearer x" GOOD, "Bearer 0123456789abcdef0124",
		"Bearer 0123456789abcdef012",
	};
	struct auth auth = {.fd = -1};
	char huge[4096];
	struct err err;

	assert_true(auth_allows(&auth, NULL));
	assert_int_equal(auth_parse(&auth, GOOD, strlen(GOOD), &err), 0);
	assert_true(auth_allows(&auth, "Bearer " GOOD));
	assert_true(auth_allows(&auth, "bearer  " GOOD " "));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (auth_allows(&auth, wrong[i]))
			fail_msg("%s", wrong[i]);
	memset(huge, 'x', sizeof(huge));
	memcpy(huge, "Bearer " GOOD, strlen("Bearer " GOOD));
	huge[sizeof(huge) - 1] = '\0';
	assert_false(auth_allows(&auth, huge));
	memset(huge, 'y', sizeof(huge) - 1);
	assert_int_equal(auth_parse(&auth, huge + 7, AUTH_TOKEN_MAX, &err), 0);
	memcpy(huge, "Bearer ", 7);
	assert_false(auth_allows(&auth, huge));
	huge[7 + AUTH_TOKEN_MAX] = '\0';
	assert_true(auth_allows(&auth, huge));
}

TEST(test_read)
{
	char path[] = "/tmp/subtick-token-XXXXXX";
	struct auth auth = {.fd = -1};
	struct err err = {0};
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, GOOD "\n", strlen(GOOD) + 1), strlen(GOOD) + 1);
	assert_int_equal(auth_read(&auth, path, &err), 0);
	assert_true(auth_allows(&auth, "Bearer " GOOD));
	assert_int_equal(ftruncate(fd, 3), 0);
	assert_int_equal(auth_read(&auth, path, &err), -EINVAL);
	assert_non_null(strstr(err.what, path));
	assert_true(auth_allows(&auth, "Bearer " GOOD));
	unlink(path);
	/* Opening a FIFO as token file must not wait for a writer. */
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(10);
	assert_int_equal(auth_read(&auth, path, &err), -EINVAL);
	alarm(0);
	assert_non_null(strstr(err.what, "not a regular file"));
	unlink(path);
	assert_int_equal(auth_read(&auth, path, &err), -ENOENT);
	assert_true(auth_allows(&auth, "Bearer " GOOD));
	assert_false(auth_allows(&auth, NULL));
	/*
	 * Authentication stays enabled if the setting of the token file disappears, because the
	 * settings file may have been lost.
	 */
	assert_int_equal(auth_read(&auth, NULL, &err), -EPERM);
	assert_true(auth_allows(&auth, "Bearer " GOOD));
	assert_false(auth_allows(&auth, NULL));
	assert_int_equal(auth_read(&(struct auth){.fd = -1}, NULL, &err), 0);
	auth_close(&auth);
	close(fd);
}

TEST_MAIN()
