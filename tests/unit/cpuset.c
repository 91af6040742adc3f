/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the parsing of CPU lists. A formatted set must be parsed to the same set. */
#include "test.h"

#include "base/cpuset.h"

static void check(const char *text, const char *back)
{
	struct cpuset set;
	char buf[256];

	assert_int_equal(cpuset_parse(text, &set), 0);
	assert_int_equal(cpuset_format(&set, buf, sizeof(buf)), strlen(back));
	assert_string_equal(buf, back);
}

TEST(test_accepted)
{
	check("", "");
	check("\n", "");
	check("0", "0");
	check("0-3\n", "0-3");
	check("5,3,1", "1,3,5");
	check("1,3,5-7", "1,3,5-7");
	check(" 1 , 2\t", "1-2");
	check("0-63,64-65", "0-65");
	check("62-66", "62-66");
	check("3-3", "3");
	check("8191", "8191");
	check("0008", "8");
}

TEST(test_refused)
{
	static const char *const bad[] = {"a",	  "-",	 "1-",	"-1",  ",",	"1,",  ",1",
					  "1,,2", "3-1", "1 2", "0x1", "1-2-3", "1;2", "+1"};
	struct cpuset set = {.bits = {42}};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(cpuset_parse(bad[i], &set), -EINVAL);
	assert_int_equal(cpuset_parse("8192", &set), -ERANGE);
	assert_int_equal(cpuset_parse("0-99999999999999999999", &set), -ERANGE);
	assert_true(set.bits[0] == 42);
}

/* Tests the hexadecimal mask format of rps_cpus and smp_affinity. */
TEST(test_mask)
{
	static const struct {
		const char *list, *mask;
	} masks[] = {
		{"", "0"},
		{"0", "1"},
		{"31", "80000000"},
		{"32", "1,00000000"},
		{"0-33", "3,ffffffff"},
		{"1,70", "40,00000000,00000002"},
		{"96,120", "1000001,00000000,00000000,00000000"},
	};
	char buf[CPUSET_MASK_SIZE];
	struct cpuset set;

	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		assert_int_equal(cpuset_parse(masks[i].list, &set), 0);
		assert_int_equal(cpuset_format_mask(&set, buf, sizeof(buf)), strlen(masks[i].mask));
		assert_string_equal(buf, masks[i].mask);
	}
	/* The longest mask fits CPUSET_MASK_SIZE; a smaller buffer gets a truncated text. */
	assert_int_equal(cpuset_parse("0-8191", &set), 0);
	assert_int_equal(cpuset_format_mask(&set, buf, sizeof(buf)), CPUSET_MASK_SIZE - 2);
	assert_int_equal(cpuset_format_mask(&set, buf, 8), CPUSET_MASK_SIZE - 2);
	assert_string_equal(buf, "fffffff");
}

TEST(test_walk)
{
	struct cpuset set = {0};
	unsigned int nr = 0, sum = 0;

	assert_int_equal(cpuset_next(&set, 0), CPUSET_MAX);
	assert_int_equal(cpuset_end(&set), 0);
	cpuset_add(&set, 0);
	cpuset_add(&set, 64);
	cpuset_add(&set, CPUSET_MAX - 1);
	cpuset_add(&set, CPUSET_MAX);
	cpuset_for_each(cpu, &set) {
		nr++;
		sum += cpu;
	}
	assert_int_equal(nr, 3);
	assert_int_equal(cpuset_count(&set), 3);
	assert_int_equal(sum, 64 + CPUSET_MAX - 1);
	assert_int_equal(cpuset_end(&set), CPUSET_MAX);
	cpuset_del(&set, CPUSET_MAX - 1);
	assert_int_equal(cpuset_end(&set), 65);
	assert_false(cpuset_has(&set, CPUSET_MAX));
}

TEST(test_format_is_bounded)
{
	struct cpuset set = {0};
	char buf[8], whole[64];
	size_t len;

	cpuset_parse("1,3,5,7,100-200", &set);
	len = cpuset_format(&set, whole, sizeof(whole));
	assert_string_equal(whole, "1,3,5,7,100-200");
	assert_int_equal(len, strlen(whole));
	for (size_t size = 1; size < sizeof(buf); size++) {
		memset(buf, '#', sizeof(buf));
		assert_int_equal(cpuset_format(&set, buf, size), len);
		assert_int_equal(buf[size], '#');
		assert_int_equal(strlen(buf), size - 1);
		assert_memory_equal(buf, whole, size - 1);
	}
	assert_int_equal(cpuset_format(&set, NULL, 0), len);
}

TEST_MAIN()
