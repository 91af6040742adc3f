/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests json_walk(), a JSON parser: valid and invalid texts, positions of strings, and escapes. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "pods/json_walk.h"

static char said[4096];

/* Appends "key.key=value;" to the result, with the index as key for a member of an array. */
static void note(void *arg, const struct json_place *place, struct json_string value)
{
	size_t len = strlen(said);

	for (size_t i = 0; i < place->depth; i++)
		len += place->key[i].at
			       ? snprintf(said + len, sizeof(said) - len, "%.*s.",
					  (int)place->key[i].len, place->key[i].at)
			       : snprintf(said + len, sizeof(said) - len, "%zu.", place->index[i]);
	snprintf(said + len, sizeof(said) - len, "=%.*s;", (int)value.len, value.at);
}

static int walk(const char *text)
{
	said[0] = '\0';
	return json_walk(text, strlen(text), note, NULL);
}

TEST(places)
{
	assert_int_equal(walk(" {\"a\": \"1\", \"b\": {\"c\": [\"x\", 2, {\"d\": \"y\"}], \"e\": []},"
			      "\"f\": {}, \"g\": null, \"h\": [[\"z\"]]} \n"),
			 0);
	assert_string_equal(said, "a.=1;b.c.0.=x;b.c.2.d.=y;h.0.0.=z;");
	assert_int_equal(walk("\"alone\""), 0);
	assert_string_equal(said, "=alone;");
	assert_int_equal(walk("[\"\", \"\\\"\\u0041\"]"), 0);
	assert_string_equal(said, "0.=;1.=\\\"\\u0041;");
}

TEST(refused)
{
	static const char *const texts[] = {
		"", " ", "{", "[", "}", "{]", "[}", "{\"a\"}", "{\"a\":}", "{\"a\" \"b\"}", "{a:1}",
		"{\"a\":1,}", "[1,]", "[,1]", "[1 2]", "\"", "\"\\\"", "\"\\x\"", "\"\\u12g4\"",
		"\"\\u123\"", "\"\n\"", "\"\x01\"", "tru", "nul", "01", "1.", ".5", "+1", "1e", "1e+",
		"--1", "1 1", "{} {}", "\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xe2\x82\"",
		"\"\xf4\x90\x80\x80\"", "\"\xf8\x88\x80\x80\x80\"", "'a'", "[\"a\"]x", "\xef\xbb\xbf{}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!walk(texts[i]))
			fail_msg("accepts %s", texts[i]);
	assert_int_equal(json_walk("{}\0", 3, note, NULL), -EINVAL);
}

TEST(depth)
{
	char text[2 * JSON_WALK_DEPTH + 8];

	for (int depth = JSON_WALK_DEPTH; depth <= JSON_WALK_DEPTH + 1; depth++) {
		memset(text, '[', depth);
		memset(text + depth, ']', depth);
		text[2 * depth] = '\0';
		assert_int_equal(walk(text), depth == JSON_WALK_DEPTH ? 0 : -EINVAL);
	}
}

static void check_unescaped(const char *from, const char *want)
{
	char text[16];

	assert_int_equal(json_unescape((struct json_string){from, strlen(from)}, text, sizeof(text)),
			 want ? (int)strlen(want) : -EINVAL);
	if (want)
		assert_string_equal(text, want);
}

TEST(escapes)
{
	check_unescaped("", "");
	check_unescaped("a\\\"\\\\\\/\\b\\f\\n\\r\\t", "a\"\\/\b\f\n\r\t");
	check_unescaped("\\u0041\\u00e9\\u20AC", "A\xc3\xa9\xe2\x82\xac");
	check_unescaped("\\ud83d\\ude00", "\xf0\x9f\x98\x80");
	check_unescaped("\\u0000", NULL);
	check_unescaped("\\ud83d", NULL);
	check_unescaped("\\ud83dx", NULL);
	check_unescaped("\\ude00", NULL);
	check_unescaped("\\ud83d\\u0041", NULL);
	check_unescaped("\\", NULL);
	check_unescaped("\\u00", NULL);
	check_unescaped("123456789012345", "123456789012345");
	check_unescaped("1234567890123456", NULL);
}

static void ignore(void *arg, const struct json_place *place, struct json_string value)
{
}

/*
 * Some bytes of a JSON text are changed at random. jansson and json_walk() must agree whether the
 * result is JSON.
 */
TEST(as_jansson)
{
	static const char seed[] = "{\"a\":[1,-2.5e3,\"x\\u00e9\\n\",true,null,{\"b\":{}}],\"\\\"\":\"\"}";
	static const char bytes[] = "{}[]\",:\\u0aeE+-.1 \n\xc3\xa9tfn";
	unsigned int accepted = 0;

	srand(1);
	for (int i = 0; i < 20000; i++) {
		char text[sizeof(seed)];
		json_t *json;

		memcpy(text, seed, sizeof(seed));
		for (int change = rand() % 3; change >= 0; change--)
			text[rand() % (sizeof(seed) - 1)] = bytes[rand() % (sizeof(bytes) - 1)];
		json = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
		/*
		 * jansson also refuses half a surrogate pair and numbers beyond the range of a
		 * double, which json_walk() accepts.
		 */
		if (json) {
			accepted++;
			if (json_walk(text, strlen(text), ignore, NULL))
				fail_msg("refuses %s", text);
		} else if (!json_walk(text, strlen(text), ignore, NULL) && !strstr(text, "\\u") &&
			   !strpbrk(text, "eE")) {
			fail_msg("accepts %s", text);
		}
		json_decref(json);
	}
	assert_true(accepted > 100);
}

TEST_MAIN()
