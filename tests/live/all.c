/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One program that contains all live tests, or all tests of tests/truth. argv[0] selects the test.
 */
#include <stdio.h>
#include <string.h>

/*
 * The build defines LIVE_TESTS as X(name) for each test, and LIVE_PREFIX as the prefix of all test
 * names. The build renames main() of each test to main_name().
 */
#define X(name) int main_##name(void);
LIVE_TESTS
#undef X

#define X(name) {LIVE_PREFIX #name, main_##name},
static const struct {
	const char *name;
	int (*run)(void);
} tests[] = {LIVE_TESTS};
#undef X

int main(int argc, char **argv)
{
	const char *slash = argc ? strrchr(argv[0], '/') : NULL;
	const char *name = !argc ? "" : slash ? slash + 1 : argv[0];

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		if (!strcmp(tests[i].name, name))
			return tests[i].run();
	fprintf(stderr, "%s: call it by the name of a test:\n", name);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		fprintf(stderr, "  %s\n", tests[i].name);
	return 64;
}
