/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests option tables: accepted values, and messages that name the option and the value. */
#include "base/option.h"

#include <math.h>

#include "test.h"

struct values {
	bool flag;
	const char *text;
	char *string;
	struct cpuset cpus;
	uint32_t u32, set;
	uint64_t u64;
	int64_t time_ns;
	double share, ratio;
	unsigned int word;
};

static const char *const words[] = {"auto", "v1", "v2", NULL};

static const struct opt table[] = {
	{"flag", 0, NULL, "", OPT_STORE(struct values, flag)},
	{"text", 0, "FILE", "", OPT_STORE(struct values, text)},
	{"named", 0, "NAME", "", .words = words, OPT_STORE(struct values, text)},
	{"string", 0, "FILE", "", OPT_STORE(struct values, string)},
	{"cpus", 0, "LIST", "", OPT_STORE(struct values, cpus)},
	{"u32", 0, "N", "", OPT_NUMBER(struct values, u32, 1, UINT32_MAX)},
	{"u64", 0, "N", "", OPT_NUMBER(struct values, u64, 0, 10)},
	{"time", 0, "TIME", "", OPT_DURATION(struct values, time_ns, 1e3, 90e9)},
	{"share", 0, "N%", "", OPT_SHARE(struct values, share, 0.01, 0.95)},
	{"ratio", 0, "RATIO", "", OPT_SHARE(struct values, ratio, 1e-6, 1.0), .expected = "a ratio"},
	{"word", 0, "WORD", "", OPT_CHOICE(struct values, word, words)},
	{"set", 0, "LIST", "", OPT_SET(struct values, set, words)},
	{0},
};

static int store(const char *name, const char *value, struct values *values, struct err *err)
{
	return opt_store(opt_find(table, name, strlen(name)), value, values, err);
}

static void good(const char *name, const char *value, struct values *values)
{
	struct err err = {0};

	if (store(name, value, values, &err))
		fail_msg("%s %s: %s", name, value, err.what);
}

TEST(test_good)
{
	struct values v = {0};

	good("flag", NULL, &v);
	assert_true(v.flag);
	good("flag", "no", &v);
	assert_false(v.flag);
	good("flag", "yes", &v);
	assert_true(v.flag);
	good("text", "a b", &v);
	assert_string_equal(v.text, "a b");
	good("named", "v1", &v);
	assert_string_equal(v.text, "v1");
	good("string", "a", &v);
	good("string", "b", &v);
	assert_string_equal(v.string, "b");
	free(v.string);
	good("cpus", "1,3-4", &v);
	assert_int_equal(cpuset_count(&v.cpus), 3);
	good("u32", "4294967295", &v);
	assert_int_equal(v.u32, UINT32_MAX);
	good("u64", "0", &v);
	assert_int_equal(v.u64, 0);
	good("time", "1.5ms", &v);
	assert_int_equal(v.time_ns, 1500000);
	good("share", "95%", &v);
	assert_true(fabs(v.share - 0.95) < 1e-12);
	good("ratio", "1", &v);
	assert_true(v.ratio == 1.0);
	good("ratio", "1e-3", &v);
	assert_true(fabs(v.ratio - 1e-3) < 1e-12);
	good("word", "v2", &v);
	assert_int_equal(v.word, 2);
	good("set", "v2,auto", &v);
	assert_int_equal(v.set, 1 | 4);
	good("set", "v1", &v);
	assert_int_equal(v.set, 2);
}

TEST(test_bad)
{
	static const struct {
		const char *name, *value, *what;
	} rows[] = {
		{"flag", "maybe", "flag maybe: expected yes or no"},
		{"text", "", "text needs a value: FILE"},
		{"named", "v3", "named v3: expected auto, v1 or v2"},
		{"cpus", "x", "cpus x: expected a list of CPUs such as 0,2-5"},
		{"u32", "0", "u32 0: expected a whole number from 1 to 4294967295"},
		{"u32", "4294967296", "u32 4294967296: expected"},
		{"u64", "-1", "u64 -1: expected"},
		{"u64", "1e1", "u64 1e1: expected"},
		{"u64", "99999999999999999999", "u64 99999999999999999999: expected"},
		{"time", "1ns", "time 1ns: expected a time from 1 us to 90 s, such as"},
		{"share", "5", "share 5: expected a number from 1% to 95%, such as 5%"},
		{"share", "96%", "share 96%: expected"},
		{"share", "0x5%", "share 0x5%: expected"},
		{"ratio", "0", "ratio 0: expected a ratio"},
		{"ratio", "nan", "ratio nan: expected a ratio"},
		{"ratio", "0.5x", "ratio 0.5x: expected a ratio"},
		{"word", "v", "word v: expected auto, v1 or v2"},
		{"set", "v1,,v2", "set v1,,v2: expected some of auto, v1 and v2"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = {0};
		struct values v = {0};

		assert_int_equal(store(rows[i].name, rows[i].value, &v, &err), -EINVAL);
		if (strncmp(err.what, rows[i].what, strlen(rows[i].what)))
			fail_msg("%s instead of %s", err.what, rows[i].what);
	}
}

TEST(test_same)
{
	struct values a = {0}, b = {0};
	const struct opt *string = opt_find(table, "string", 6), *share = opt_find(table, "share", 5);

	assert_true(opt_same(string, &a, &b) && opt_same(share, &a, &b));
	a.string = (char[]){"x"};
	assert_false(opt_same(string, &a, &b) || opt_same(string, &b, &a));
	b.string = (char[]){"x"};
	assert_true(opt_same(string, &a, &b));
	b.share = 0.5;
	assert_false(opt_same(share, &a, &b));
	assert_null(opt_find(table, "str", 3));
	assert_null(opt_find(table, "strings", 7));
}

TEST(test_plain)
{
	struct err err = {0};

	err_set(&err, -EINVAL, "--depth goes with --per cgroup");
	opt_plain(&err);
	assert_string_equal(err.what, "depth goes with per cgroup");
}

TEST_MAIN()
