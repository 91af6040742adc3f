/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests that numbers and names are written as JSON with the same bytes as by jansson. */
#include "test.h"
#include "tests/random.h"

#include <jansson.h>
#include <math.h>

#include "tests/utf8_valid.h"
#include "view/view.h"

#define FLAGS (JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9) | JSON_ENCODE_ANY)

static uint64_t seed = 88172645463325252ULL;

static char *written(void (*fill)(struct value *value, const void *arg), const void *arg)
{
	char *text = NULL, *cell;
	size_t size;
	struct view view = {.format = VIEW_JSON, .out = open_memstream(&text, &size)};
	struct report *report = report_new("x");
	struct table *table = report_table(report, "rows", NULL);

	/* A ratio is never rounded to a whole number. */
	table_col_as(table, M_BUSY_RATIO, "k", NULL);
	table_row(table);
	fill(table_cell(table, 0, 0), arg);
	assert_int_equal(view_write(&view, report), 0);
	report_free(report);
	fclose(view.out);
	cell = strstr(text, "{\"k\":");
	assert_non_null(cell);
	cell = strdup(cell + 5);
	*strstr(cell, "}],\"quality\"") = '\0';
	free(text);
	return cell;
}

static void fill_real(struct value *value, const void *arg)
{
	value_f64(value, *(const double *)arg);
}

static void fill_text(struct value *value, const void *arg)
{
	value_str(value, arg);
}

static void expect(char *ours, json_t *json)
{
	char *theirs = json_dumps(json, FLAGS);

	assert_non_null(theirs);
	assert_string_equal(ours, theirs);
	free(theirs);
	free(ours);
	json_decref(json);
}

/* Expects the text that jansson before 2.15 writes. jansson 2.15 writes 1000000000.0 for 1e9. */
static void expect_real(char *ours, double value)
{
	json_t *json = json_real(value);
	char *theirs = json_dumps(json, FLAGS);

	assert_non_null(theirs);
	if (jansson_version_cmp(2, 15, 0) < 0)
		assert_string_equal(ours, theirs);
	assert_true(strtod(ours, NULL) == strtod(theirs, NULL));
	assert_non_null(strpbrk(ours, ".e"));
	free(theirs);
	free(ours);
	json_decref(json);
}

TEST(test_reals)
{
	static const double few[] = {0.0,   1.0,	  -1.0,	      0.1,    1e9,  1e-9,  1e15, 1e16,
				     1e300, 1e22, 5e-324, 0.00012345, 123456, 1e-5, 1e100, 0.5,	 1.0 / 3};
	double value;

	for (size_t i = 0; i < sizeof(few) / sizeof(few[0]); i++)
		expect_real(written(fill_real, &few[i]), few[i]);
	for (int i = 0; i < 5000; i++) {
		uint64_t bits = xorshift64(&seed);

		memcpy(&value, &bits, sizeof(value));
		if (isfinite(value))
			expect_real(written(fill_real, &value), value);
		value = (double)(bits % 100000000) / 1e6;
		expect_real(written(fill_real, &value), value);
	}
}

static void fill_nothing(struct value *value, const void *arg)
{
}

TEST(test_nulls)
{
	static const double none[] = {NAN, INFINITY, -INFINITY};

	expect(written(fill_nothing, NULL), json_null());
	expect(written(fill_text, NULL), json_null());
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		expect(written(fill_real, &none[i]), json_null());
}

TEST(test_names)
{
	static const char *const few[] = {"", "plain", "\"\\/\b\f\n\r\t", "\x01\x1f\x7f", "é µ …",
					  "😀 \xf4\x8f\xbf\xbf", "\xc2\x9b[31m", "\xff\xfe", "a\xe2\x82"};
	char name[33];

	for (size_t i = 0; i < sizeof(few) / sizeof(few[0]) + 5000; i++) {
		bool random = i >= sizeof(few) / sizeof(few[0]);
		size_t len = xorshift64(&seed) % 32;
		char *valid;

		for (size_t j = 0; j < len; j++)
			name[j] = (char)(1 + xorshift64(&seed) % 255);
		name[len] = '\0';
		valid = utf8_valid(random ? name : few[i]);
		expect(written(fill_text, random ? name : few[i]), json_string(valid));
		free(valid);
	}
}

TEST_MAIN()
