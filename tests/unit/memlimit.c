/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the memory limits of the process's cgroup and its parents, in cgroup v1 and v2. */
#include "host/meminfo.h"

#include "test.h"
#include "tree.h"

#define V2   "30 25 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
#define V1   "31 25 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
#define PART "30 25 0:26 /pod/box /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"

static void machine(const struct tree *tree, const char *mounts, const char *cgroups)
{
	tree_file(tree, "/proc/self/mountinfo", mounts);
	tree_file(tree, "/proc/self/cgroup", cgroups);
}

TEST_WITH(test_v2, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;

	machine(tree, V2, "0::/a/b/c\n");
	assert_true(memlimit_bytes(tree->root) == UINT64_MAX);
	tree_file(tree, "/sys/fs/cgroup/a/b/c/memory.max", "max\n");
	assert_true(memlimit_bytes(tree->root) == UINT64_MAX);
	/* The smallest limit of the cgroup and all its parents counts. */
	tree_file(tree, "/sys/fs/cgroup/a/memory.max", "100000\n");
	assert_int_equal(memlimit_bytes(tree->root), 100000);
	tree_file(tree, "/sys/fs/cgroup/a/b/c/memory.max", "9000\n");
	assert_int_equal(memlimit_bytes(tree->root), 9000);
	tree_file(tree, "/sys/fs/cgroup/a/b/memory.max", "1\n");
	assert_int_equal(memlimit_bytes(tree->root), 1);
	/* Limits of cgroups that do not contain the process are ignored. */
	machine(tree, V2, "0::/\n");
	assert_true(memlimit_bytes(tree->root) == UINT64_MAX);
}

/*
 * In a container the mount of the cgroup filesystem begins at the container's cgroup, with or
 * without a cgroup namespace.
 */
TEST_WITH(test_container, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;

	tree_file(tree, "/sys/fs/cgroup/memory.max", "7000\n");
	machine(tree, V2, "0::/\n");
	assert_int_equal(memlimit_bytes(tree->root), 7000);
	machine(tree, PART, "0::/pod/box\n");
	assert_int_equal(memlimit_bytes(tree->root), 7000);
}

TEST_WITH(test_v1, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;

	/*
	 * If both versions are mounted, the memory controller is in v1, whichever version is
	 * mounted first.
	 */
	machine(tree, V2 V1, "4:memory:/a\n1:cpu,cpuacct:/z\n0::/v2\n");
	tree_file(tree, "/sys/fs/cgroup/v2/memory.max", "1\n");
	tree_file(tree, "/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
	assert_true(memlimit_bytes(tree->root) == 9223372036854771712ULL);
	tree_file(tree, "/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "50000\n");
	assert_int_equal(memlimit_bytes(tree->root), 50000);
	machine(tree, V1 V2, "4:memory:/a\n0::/v2\n");
	assert_int_equal(memlimit_bytes(tree->root), 50000);
}

TEST_WITH(test_unknown, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;

	assert_true(memlimit_bytes(tree->root) == UINT64_MAX);
	machine(tree, V2, "nonsense\n0:\n::\n");
	assert_true(memlimit_bytes(tree->root) == UINT64_MAX);
	machine(tree, "30 25 0:26 / /x rw - ext4 /dev/x rw\n", "0::/a\n");
	assert_true(memlimit_bytes(tree->root) == UINT64_MAX);
}

TEST_MAIN()
