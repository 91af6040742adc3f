/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests untrusted text: valid UTF-8, display width, and escapes for terminals. */
#include "test.h"

#include "base/utf8.h"
#include "view/utf8.h"

static void check_printable(const char *in, size_t max, const char *out)
{
	char *text = utf8_printable(in, max);

	assert_non_null(text);
	assert_string_equal(text, out);
	free(text);
}

TEST(test_decode)
{
	static const struct {
		const char *str;
		size_t len;
		uint32_t code;
	} cases[] = {
		{"a", 1, 'a'},
		{"", 0, 0},
		{"\xc3\xb6", 2, 0xf6},
		{"\xe2\x82\xac", 3, 0x20ac},
		{"\xf0\x9f\x98\x80", 4, 0x1f600},
		{"\xf4\x8f\xbf\xbf", 4, 0x10ffff},
		{"\xf4\x90\x80\x80", 0, 0}, /* beyond Unicode */
		{"\xc0\xaf", 0, 0},	    /* overlong encoding */
		{"\xe0\x80\xaf", 0, 0},
		{"\xf0\x80\x80\xaf", 0, 0},
		{"\xed\xa0\x80", 0, 0}, /* half of a surrogate pair */
		{"\x80", 0, 0},
		{"\xe2\x82", 0, 0}, /* truncated character */
		{"\xe2", 0, 0},
		{"\xff", 0, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t code = 0;

		assert_int_equal(utf8_decode(cases[i].str, UTF8_LONGEST, &code), cases[i].len);
		if (cases[i].len)
			assert_int_equal(code, cases[i].code);
		for (size_t max = 0; max < cases[i].len; max++)
			assert_int_equal(utf8_decode(cases[i].str, max, &code), 0);
	}
}

TEST(test_printable)
{
	check_printable("", 0, "");
	check_printable("/a b\\x2d", 0, "/a b\\x2d");
	check_printable("\033[2J", 0, "\\x1b[2J");
	check_printable("a\r\n\tb\x7f", 0, "a\\x0d\\x0a\\x09b\\x7f");
	check_printable("\xc2\x9b"
			"31m",
			0, "\\xc2\\x9b31m");
	check_printable("\xe2\x80\xae", 0, "\\xe2\\x80\\xae");
	check_printable("\xff\xc3", 0, "\\xff\\xc3");
	check_printable("größe", 0, "größe");
}

TEST(test_cut)
{
	check_printable("abcdef", 6, "abcdef");
	check_printable("abcdef", 5, "abcd…");
	check_printable("abcdef", 1, "…");
	check_printable("日本語", 6, "日本語");
	check_printable("日本語", 5, "日本…");
	check_printable("日本語", 4, "日…");
	check_printable("e\xcc\x81"
			"e\xcc\x81"
			"e",
			2, "e\xcc\x81…");
}

/* Shortening keeps the part of a path that distinguishes two pods or containers. */
TEST(test_paths)
{
#define POD                                          \
	"/kubepods.slice/kubepods-burstable.slice/" \
	"kubepods-burstable-pod9b2a1c3d_4e5f_6071_8293_a4b5c6d7e8f9.slice/"
#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	static const struct {
		const char *path;
		size_t max;
		const char *shown;
	} rows[] = {
		{"/system.slice/cron.service", 26, "/system.slice/cron.service"},
		{"/system.slice/cron.service", 0, "/system.slice/cron.service"},
		{"shop/web-7d9f8c6b5-x7z2k/nginx", 26, "…web-7d9f8c6b5-x7z2k/nginx"},
		{"kube-system/coredns-5d78c9869d-x7z2k", 26, "…system/coredns-5d7…-x7z2k"},
		{"kube-system/coredns-5d78c9869d-x7z2k/coredns", 40,
		 "…system/coredns-5d78c9869d-x7z2k/coredns"},
		{POD "cri-containerd-" HEX ".scope", 96,
		 "…urstable-pod9b2a1c3d_4e5f_6071_8293_a4b5c6d7e8f9.slice/"
		 "cri-containerd-0123456789a…3456789abcdef"},
		{POD "cri-containerd-" HEX ".scope", 26, "….slice/cri-contain…abcdef"},
		{POD "docker.scope", 26, "…d7e8f9.slice/docker.scope"},
		{"a/0123456789abcdef.scope", 20, "a/0123456789abcdef…"},
		{"日本語日本語/日本語日本語", 16, "…語/日本語…本語"},
		{"a task with a long name", 16, "a task with a l…"},
		{"with \x1b/in it", 16, "with \\x1b/in it"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *shown = utf8_printable_path(rows[i].path, rows[i].max);

		assert_string_equal(shown, rows[i].shown);
		assert_true(!rows[i].max || utf8_width(shown) <= rows[i].max);
		free(shown);
	}
}

TEST(test_width)
{
	assert_int_equal(utf8_width(""), 0);
	assert_int_equal(utf8_width("abc"), 3);
	assert_int_equal(utf8_width("größe"), 5);
	assert_int_equal(utf8_width("日本語"), 6);
	assert_int_equal(utf8_width("e\xcc\x81"), 1);
	assert_int_equal(utf8_width("█▓·"), 3);
	assert_int_equal(utf8_width_of("größe und", 7), 5);
}

TEST_MAIN()
