/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Simulates /proc and /sys of a machine with a tree of files in a temporary directory. */
#ifndef SUBTICK_TESTS_UNIT_TREE_H
#define SUBTICK_TESTS_UNIT_TREE_H

#include "test.h"

struct tree {
	char root[64];
};

/* Setup and teardown functions for cmocka. tree_setup() stores a struct tree in *state. */
int tree_setup(void **state);
int tree_teardown(void **state);

/* Defines a test whose argument @tree is the simulated machine. */
#define TREE_TEST(test)                                 \
	static void test##_in(const struct tree *tree); \
	TEST_WITH(test, tree_setup, tree_teardown)      \
	{                                               \
		test##_in(*state);                      \
	}                                               \
	static void test##_in(const struct tree *tree)

/* Missing parents are created, and existing files overwritten. */
void tree_file(const struct tree *tree, const char *path, const char *text);
void tree_bytes(const struct tree *tree, const char *path, const void *bytes, size_t len);
void tree_link(const struct tree *tree, const char *path, const char *target);
void tree_remove(const struct tree *tree, const char *path);

#endif
