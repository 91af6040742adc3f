/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests terminal cells: clipping, wide characters, combining marks, control characters. */
#include "canvas_text.h"
#include "test.h"

#include "view/screen/canvas.h"
#include "base/utf8.h"
#include "view/utf8.h"

static void expect(struct canvas *canvas, const char *text)
{
	char *got = canvas_text(canvas);

	assert_non_null(got);
	assert_string_equal(got, text);
	free(got);
}

TEST(test_clips)
{
	struct canvas canvas;

	assert_int_equal(canvas_init(&canvas, 2, 8), 0);
	assert_int_equal(canvas_put(&canvas, 0, 2, 8, STYLE_PLAIN, "abc"), 5);
	assert_int_equal(canvas_put(&canvas, 1, 4, 99, STYLE_PLAIN, "abcdefgh"), 8);
	expect(&canvas, "  abc\n    abc…\n");
	canvas_put(&canvas, -1, 0, 8, STYLE_PLAIN, "x");
	canvas_put(&canvas, 2, 0, 8, STYLE_PLAIN, "x");
	canvas_put(&canvas, 0, -3, 8, STYLE_PLAIN, "xxxxxxxx");
	canvas_put(&canvas, 0, 8, 99, STYLE_PLAIN, "x");
	canvas_put(&canvas, 0, 3, 3, STYLE_PLAIN, "x");
	expect(&canvas, "  abc\n    abc…\n");
	canvas_free(&canvas);
}

TEST(test_wide)
{
	struct canvas canvas;

	assert_int_equal(canvas_init(&canvas, 1, 6), 0);
	assert_int_equal(canvas_put(&canvas, 0, 0, 6, STYLE_PLAIN, "世界a"), 5);
	assert_int_equal(canvas.cells[0].width, 2);
	assert_int_equal(canvas.cells[1].width, 0);
	expect(&canvas, "世界a\n");
	/* Overwriting half of a wide character also clears its other half. */
	canvas_put(&canvas, 0, 1, 6, STYLE_PLAIN, "x");
	expect(&canvas, " x界a\n");
	canvas_put(&canvas, 0, 2, 6, STYLE_PLAIN, "y");
	expect(&canvas, " xy a\n");
	canvas_free(&canvas);
	assert_int_equal(canvas_init(&canvas, 1, 3), 0);
	canvas_put(&canvas, 0, 0, 3, STYLE_PLAIN, "世界");
	expect(&canvas, "世…\n");
	canvas_free(&canvas);
}

TEST(test_marks)
{
	struct canvas canvas;
	char many[256] = "e";

	assert_int_equal(canvas_init(&canvas, 1, 4), 0);
	for (int i = 0; i < 50; i++)
		strcat(many, "\xcc\x81");
	strcat(many, "x");
	assert_int_equal(canvas_put(&canvas, 0, 0, 4, STYLE_PLAIN, many), 2);
	/*
	 * The cell stores only combining marks that fit completely. The character x after the marks
	 * is in the next cell.
	 */
	assert_int_equal(strlen(canvas.cells[0].text), 15);
	assert_string_equal(canvas.cells[1].text, "x");
	canvas_free(&canvas);
}

TEST(test_hostile)
{
	static const char *const names[] = {
		"\033[2J",
		"a\rb",
		"a\nb",
		"\x9b"
		"31m",
		"\xc2\x9b"
		"31m",
		"\x7f",
		"\xff\xfe",
		"\xe2\x80\xae"
		"abc",
		"\xf0\x9f",
		"\xed\xa0\x80",
		"\a",
	};
	struct canvas canvas;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(canvas_init(&canvas, 1, 40), 0);
		canvas_put(&canvas, 0, 0, 40, STYLE_PLAIN, names[i]);
		for (int col = 0; col < 40; col++) {
			const char *text = canvas.cells[col].text;
			uint32_t code;
			size_t len = strlen(text);

			if (!len)
				continue;
			assert_int_equal(utf8_decode(text, UTF8_LONGEST, &code), len);
			assert_true(code >= 0x20 && code != 0x7f && (code < 0x80 || code > 0x9f));
			assert_true(code != 0x202e);
		}
		assert_string_equal(canvas.cells[names[i][0] == 'a' ? 1 : 0].text, "\\");
		canvas_free(&canvas);
	}
}

TEST(test_ascii)
{
	struct canvas canvas;

	assert_int_equal(canvas_init(&canvas, 1, 10), 0);
	canvas.ascii = true;
	assert_int_equal(canvas_put(&canvas, 0, 0, 10, STYLE_PLAIN, "a█世e\xcc\x81z"), 6);
	expect(&canvas, "a???ez\n");
	canvas_free(&canvas);
}

TEST_MAIN()
