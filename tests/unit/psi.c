/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests reading the kernel's files of pressure stall information (PSI). */
#include "test.h"
#include "tree.h"

#include "host/cgroup.h"

static int read_text(const struct tree *tree, const char *path, const char *text, struct psi *psi)
{
	tree_file(tree, path, text);
	return psi_read(tree->root, path, psi);
}

TEST_WITH(test_totals, tree_setup, tree_teardown)
{
	const char *cgroup = "/sys/fs/cgroup/web/cpu.pressure";
	struct tree *tree = *state;
	struct psi psi;

	assert_int_equal(read_text(tree, cgroup,
				   "some avg10=1.23 avg60=0.50 avg300=0.10 total=123456\n"
				   "full avg10=0.00 avg60=0.00 avg300=0.00 total=789\n",
				   &psi),
			 0);
	assert_int_equal(psi.some_ns, 123456000);
	assert_int_equal(psi.full_ns, 789000);
	/* Before Linux 5.13 the CPU pressure file has no line "full". */
	assert_int_equal(
		read_text(tree, cgroup, "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n", &psi),
		0);
	assert_int_equal(psi.some_ns, 5000);
	assert_true(psi.full_ns == UINT64_MAX);
	/*
	 * In the CPU pressure file of the whole machine the line "full" is always 0, so its value
	 * counts as unknown.
	 */
	assert_int_equal(read_text(tree, PSI_CPU_NODE,
				   "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"
				   "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
				   &psi),
			 0);
	assert_int_equal(psi.some_ns, 7000);
	assert_true(psi.full_ns == UINT64_MAX);
}

TEST_WITH(test_no_figure, tree_setup, tree_teardown)
{
	struct tree *tree = *state;
	struct psi psi;

	assert_int_equal(psi_read(tree->root, PSI_CPU_NODE, &psi), -ENOENT);
	assert_int_equal(read_text(tree, PSI_CPU_NODE, "", &psi), -EINVAL);
	assert_int_equal(read_text(tree, PSI_CPU_NODE, "some avg10=0\nfull total=3\n", &psi),
			 -EINVAL);
	assert_int_equal(read_text(tree, PSI_CPU_NODE, "some total=x\n", &psi), -EINVAL);
	assert_int_equal(read_text(tree, PSI_CPU_NODE, "some total=99999999999999999999\n", &psi),
			 -EINVAL);
}

TEST_MAIN()
