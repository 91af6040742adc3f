/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Includes cmocka and the headers that cmocka needs, and defines macros that register tests. */
#ifndef SUBTICK_TESTS_UNIT_TEST_H
#define SUBTICK_TESTS_UNIT_TEST_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* cmocka 2 deprecates assert_in_range(), and cmocka 1 lacks its replacement. */
#undef assert_in_range

#define TEST_MAX 64

/* Constructors register the tests in the order of the file. */
__attribute__((unused)) static struct CMUnitTest unit_tests[TEST_MAX];
__attribute__((unused)) static size_t nr_unit_tests;

/* Defines a test: TEST(name) { … }. The test function has the argument void **state. */
#define TEST(test) TEST_WITH(test, NULL, NULL)
#define TEST_WITH(test, setup, teardown)                                                           \
	static void test(void **state);                                                            \
	__attribute__((constructor)) static void add_##test(void)                                  \
	{                                                                                          \
		unit_tests[nr_unit_tests++] =                                                      \
			(struct CMUnitTest)cmocka_unit_test_setup_teardown(test, setup, teardown); \
	}                                                                                          \
	static void test(void **state)

/* Defines main() and ends each file of tests. */
#define TEST_MAIN()                                                                             \
	int main(void)                                                                          \
	{                                                                                       \
		return _cmocka_run_group_tests("tests", unit_tests, nr_unit_tests, NULL, NULL); \
	}

#endif
