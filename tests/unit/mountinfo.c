/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests mountinfo, pressure stall information, cgroup v1 and v2, and memory limits. */
#include "host/mountinfo.h"

#include "host/cgroup.h"
#include "host/meminfo.h"
#include "test.h"
#include "tree.h"

static int count(const struct mount *mount, void *arg)
{
	struct mount *last = arg;

	*last = *mount;
	return 0;
}

static int parse(const char *text, struct mount *ret_last)
{
	return mountinfo_parse(text, strlen(text), count, ret_last);
}

TEST(test_lines)
{
	struct mount m;

	assert_int_equal(parse("36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root "
			       "rw,errors=continue\n",
			       &m),
			 0);
	assert_string_equal(m.root, "/mnt1");
	assert_string_equal(m.point, "/mnt2");
	assert_string_equal(m.fstype, "ext3");
	assert_string_equal(m.options, "rw,errors=continue");
	assert_int_equal(parse("1 2 0:1 / /a\\040b\\134c\\011 rw - tmpfs none rw\n", &m), 0);
	assert_string_equal(m.point, "/a b\\c\t");
	assert_int_equal(
		parse("1 2 0:1 / /x rw shared:1 master:2 unbindable - tracefs tracefs rw\n", &m),
		0);
	assert_string_equal(m.fstype, "tracefs");
	/* If the source of a mount is empty, the line has two blanks in a row. */
	assert_int_equal(parse("1 2 0:1 / /x rw - tmpfs  rw,size=1k\n", &m), 0);
	assert_string_equal(m.options, "rw,size=1k");
	assert_int_equal(parse("", &m), 0);
}

TEST(test_malformed)
{
	static const char *const bad[] = {
		"\n",
		"36\n",
		"36 35 98:0 /mnt1\n",
		"36 35 98:0 /mnt1 /mnt2 rw master:1 ext3 /dev/root rw\n",
		"36 35 98:0 /mnt1 /mnt2 rw -\n",
		"36 35 98:0 /mnt1 /mnt2 rw - ext3\n",
		"36 35 98:0 /mnt1 /mnt2 rw - ext3 /dev/root\n",
		"36 35 98:0 /mnt1 /mnt2 rw - ext3 /dev/root rw",
		"36 35 98:0 / /a\\04 rw - ext3 /dev/root rw\n",
		"36 35 98:0 / /a\\ rw - ext3 /dev/root rw\n",
		"36 35 98:0 / /a\\x40 rw - ext3 /dev/root rw\n",
		"36 35 98:0 / /a\\400 rw - ext3 /dev/root rw\n",
		"36 35 98:0 / /a\\501 rw - ext3 /dev/root rw\n",
		"36 35 98:0 / /a\\000 rw - ext3 /dev/root rw\n",
		"36 35 98:0 /  rw - ext3 /dev/root rw\n",
	};
	char longer[PATH_MAX + 128];
	struct mount m;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse(bad[i], &m) != -EINVAL)
			fail_msg("taken: \"%s\"", bad[i]);
	memset(longer, 'x', sizeof(longer));
	memcpy(longer, "1 2 0:1 / /", 11);
	strcpy(longer + PATH_MAX + 32, " rw - tmpfs none rw\n");
	assert_int_equal(parse(longer, &m), -ENAMETOOLONG);
}

TEST(test_options)
{
	assert_true(mount_has_option("rw,cpu,cpuacct", "cpu"));
	assert_true(mount_has_option("cpu", "cpu"));
	assert_false(mount_has_option("rw,cpuacct,cpuset", "cpu"));
	assert_false(mount_has_option("", "cpu"));
}

#define M(line) "1 2 0:1 " line "\n"
#define V2(at)	M("/ " at " rw - cgroup2 cgroup2 rw,nsdelegate")
#define CPU	M("/ /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct")
#define MEM	M("/ /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory")
#define NAMED	M("/ /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd")
#define OTHER	M("/ / rw - ext4 /dev/sda rw")

TREE_TEST(test_cgroup_layouts)
{
	static const struct {
		const char *text;
		enum cgroup_mode mode;
		const char *v2, *v1_cpu;
		bool subtree;
	} cases[] = {
		{OTHER, CGROUP_NONE, "", "", false},
		{OTHER V2("/sys/fs/cgroup"), CGROUP_V2, "/sys/fs/cgroup", "", false},
		{OTHER V2("/sys/fs/cgroup") V2("/var/lib/x"), CGROUP_V2, "/sys/fs/cgroup", "",
		 false},
		{OTHER MEM CPU, CGROUP_V1, "", "/sys/fs/cgroup/cpu,cpuacct", false},
		{OTHER MEM, CGROUP_V1, "", "", false},
		{CPU MEM NAMED V2("/sys/fs/cgroup/unified"), CGROUP_HYBRID,
		 "/sys/fs/cgroup/unified", "/sys/fs/cgroup/cpu,cpuacct", false},
		{NAMED V2("/sys/fs/cgroup/unified"), CGROUP_HYBRID, "/sys/fs/cgroup/unified", "",
		 false},
		{M("/../../pod1 /sys/fs/cgroup ro - cgroup2 cgroup rw"), CGROUP_V2,
		 "/sys/fs/cgroup", "", true},
	};
	struct cgroup_layout layout;
	struct mount mount;

	assert_int_equal(cgroup_layout(tree->root, &layout), -ENOENT);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tree_file(tree, "/proc/self/mountinfo", cases[i].text);
		assert_int_equal(cgroup_layout(tree->root, &layout), 0);
		assert_int_equal(layout.mode, cases[i].mode);
		assert_string_equal(layout.v2, cases[i].v2);
		assert_string_equal(layout.v1_cpu, cases[i].v1_cpu);
		assert_int_equal(layout.subtree, cases[i].subtree);
	}
	assert_int_equal(mountinfo_find(tree->root, "cgroup2", NULL, &mount), 0);
	assert_string_equal(mount.point, "/sys/fs/cgroup");
	assert_int_equal(mountinfo_find(tree->root, "tracefs", NULL, &mount), -ENOENT);
	tree_file(tree, "/proc/self/mountinfo", "nonsense\n");
	assert_int_equal(cgroup_layout(tree->root, &layout), -EINVAL);
}

/*
 * If cgroup v1 and v2 are both mounted, subtick uses the hierarchy in which the CPU controller has
 * cgroups.
 */
TREE_TEST(test_cgroup_of_cpu)
{
	struct cgroup_layout both = {0}, v1 = {0}, v2 = {0}, none = {0};

	tree_file(tree, "/v1/tasks", "");
	tree_file(tree, "/v2/cgroup.procs", "");
	snprintf(both.v1_cpu, sizeof(both.v1_cpu), "%s/v1", tree->root);
	snprintf(both.v2, sizeof(both.v2), "%s/v2", tree->root);
	strcpy(v1.v1_cpu, both.v1_cpu);
	strcpy(v2.v2, both.v2);
	assert_true(cgroup_cpu_is_v1(&v1));
	assert_false(cgroup_cpu_is_v1(&v2));
	assert_false(cgroup_cpu_is_v1(&none));
	assert_true(cgroup_cpu_is_v1(&both));
	tree_file(tree, "/v2/system.slice/cgroup.procs", "");
	assert_false(cgroup_cpu_is_v1(&both));
	tree_file(tree, "/v1/docker/tasks", "");
	assert_true(cgroup_cpu_is_v1(&both));
}

#define MEM_V2   "30 25 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
#define MEM_V1   "31 25 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
#define MEM_PART "30 25 0:26 /pod/box /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"

static void machine(const struct tree *tree, const char *mounts, const char *cgroups)
{
	tree_file(tree, "/proc/self/mountinfo", mounts);
	tree_file(tree, "/proc/self/cgroup", cgroups);
}

TREE_TEST(test_limit_v2)
{
	machine(tree, MEM_V2, "0::/a/b/c\n");
	assert_true(memlimit_bytes(tree->root) == UINT64_MAX);
	tree_file(tree, "/sys/fs/cgroup/a/b/c/memory.max", "max\n");
	assert_true(memlimit_bytes(tree->root) == UINT64_MAX);
	tree_file(tree, "/sys/fs/cgroup/a/memory.max", "100000\n");
	assert_int_equal(memlimit_bytes(tree->root), 100000);
	tree_file(tree, "/sys/fs/cgroup/a/b/c/memory.max", "9000\n");
	assert_int_equal(memlimit_bytes(tree->root), 9000);
	tree_file(tree, "/sys/fs/cgroup/a/b/memory.max", "1\n");
	assert_int_equal(memlimit_bytes(tree->root), 1);
	machine(tree, MEM_V2, "0::/\n");
	assert_true(memlimit_bytes(tree->root) == UINT64_MAX);
}

/*
 * In a container the root of the cgroup mount is the container's cgroup, with or without a cgroup
 * namespace.
 */
TREE_TEST(test_limit_in_container)
{
	tree_file(tree, "/sys/fs/cgroup/memory.max", "7000\n");
	machine(tree, MEM_V2, "0::/\n");
	assert_int_equal(memlimit_bytes(tree->root), 7000);
	machine(tree, MEM_PART, "0::/pod/box\n");
	assert_int_equal(memlimit_bytes(tree->root), 7000);
}

TREE_TEST(test_limit_v1)
{
	/*
	 * If cgroup v1 and v2 are both mounted, the memory limit is read from v1, in any order of
	 * the mounts.
	 */
	machine(tree, MEM_V2 MEM_V1, "4:memory:/a\n1:cpu,cpuacct:/z\n0::/v2\n");
	tree_file(tree, "/sys/fs/cgroup/v2/memory.max", "1\n");
	tree_file(tree, "/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
	assert_true(memlimit_bytes(tree->root) == 9223372036854771712ULL);
	tree_file(tree, "/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "50000\n");
	assert_int_equal(memlimit_bytes(tree->root), 50000);
	machine(tree, MEM_V1 MEM_V2, "4:memory:/a\n0::/v2\n");
	assert_int_equal(memlimit_bytes(tree->root), 50000);
}

TREE_TEST(test_no_limit)
{
	assert_true(memlimit_bytes(tree->root) == UINT64_MAX);
	machine(tree, MEM_V2, "nonsense\n0:\n::\n");
	assert_true(memlimit_bytes(tree->root) == UINT64_MAX);
	machine(tree, "30 25 0:26 / /x rw - ext4 /dev/x rw\n", "0::/a\n");
	assert_true(memlimit_bytes(tree->root) == UINT64_MAX);
}

static int read_text(const struct tree *tree, const char *path, const char *text, struct psi *psi)
{
	tree_file(tree, path, text);
	return psi_read(tree->root, path, psi);
}

TREE_TEST(test_totals)
{
	const char *cgroup = "/sys/fs/cgroup/web/cpu.pressure";
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
	 * In the CPU pressure file of the whole machine, the line "full" is always 0, so the full
	 * time is unknown.
	 */
	assert_int_equal(read_text(tree, PSI_CPU_NODE,
				   "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"
				   "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
				   &psi),
			 0);
	assert_int_equal(psi.some_ns, 7000);
	assert_true(psi.full_ns == UINT64_MAX);
}

TREE_TEST(test_no_figure)
{
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
