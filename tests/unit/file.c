/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the reading of small files below a root directory, and of CPU sets in such files. */
#include "host/file.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include "host/cpu.h"
#include "host/meminfo.h"
#include "test.h"
#include "tree.h"

ssize_t __real_pread64(int fd, void *buf, size_t size, off_t pos);

static size_t most = SIZE_MAX; /* maximum number of bytes that one call of pread() returns */
static bool moves;	       /* true: each read of the file returns another content */

ssize_t __wrap_pread64(int fd, void *buf, size_t size, off_t pos)
{
	static char moment = 'a';
	ssize_t got = __real_pread64(fd, buf, size < most ? size : most, pos);

	moment = moment == 'z' ? 'a' : moment + 1;
	for (ssize_t i = 0; moves && i < got; i++)
		if (((char *)buf)[i] != '\n')
			((char *)buf)[i] = moment;
	return got;
}

/* A short read is not the end: some files of /proc and /sys return a page per read. */
TREE_TEST(test_short_reads)
{
	struct sys_text text;
	char buf[64];

	tree_file(tree, "/s", "0123456789\nabcdefghij\nEND\n");
	most = 7;
	assert_int_equal(sys_read_file(tree->root, "/s", buf, sizeof(buf)), 25);
	assert_string_equal(buf, "0123456789\nabcdefghij\nEND");
	assert_int_equal(sys_text_open(&text, tree->root, "/s", 0), 0);
	assert_int_equal(sys_text_read(&text, false), 0);
	assert_string_equal(text.buf, "0123456789\nabcdefghij\nEND\n");
	sys_text_close(&text);
	most = SIZE_MAX;
}

/* A file that does not fit is read again as a whole, so that all bytes are from one read. */
TREE_TEST(test_one_moment)
{
	char content[500];
	struct sys_text text;

	memset(content, 'x', sizeof(content));
	content[sizeof(content) - 2] = '\n';
	content[sizeof(content) - 1] = '\0';
	tree_file(tree, "/m", content);
	moves = true;
	assert_int_equal(sys_text_open(&text, tree->root, "/m", 64), 0);
	assert_int_equal(sys_text_read(&text, true), 0);
	moves = false;
	assert_int_equal(text.len, sizeof(content) - 1);
	for (size_t i = 1; i < text.len - 1; i++)
		assert_int_equal(text.buf[i], text.buf[0]);
	sys_text_close(&text);
}

TREE_TEST(test_read_file)
{
	char buf[8];

	tree_file(tree, "/a", "1234567");
	assert_int_equal(sys_read_file(tree->root, "/a", buf, sizeof(buf)), 7);
	assert_string_equal(buf, "1234567");
	tree_file(tree, "/a", "12345678");
	assert_int_equal(sys_read_file(tree->root, "/a", buf, sizeof(buf)), -ENOSPC);
	tree_file(tree, "/a", "abc\n\n");
	assert_int_equal(sys_read_file(tree->root, "/a", buf, sizeof(buf)), 3);
	assert_string_equal(buf, "abc");
	tree_file(tree, "/a", "");
	assert_int_equal(sys_read_file(tree->root, "/a", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "");
	assert_int_equal(sys_read_file(tree->root, "/b", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(sys_read_file(tree->root, "/", buf, sizeof(buf)), -EISDIR);
	assert_int_equal(sys_read_file(tree->root, "/a", buf, 0), -ENOSPC);
}

TREE_TEST(test_read_u64)
{
	static const char *const bad[] = {"",  "-1", "+1", " 1",  "1 ",
					  "x", "1x", "0x", "1.5", "(null)"};
	uint64_t value = 42;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		tree_file(tree, "/n", bad[i]);
		assert_int_equal(sys_read_u64(tree->root, "/n", &value), -EINVAL);
	}
	tree_file(tree, "/n", "18446744073709551616\n");
	assert_int_equal(sys_read_u64(tree->root, "/n", &value), -ERANGE);
	assert_int_equal(sys_read_u64(tree->root, "/m", &value), -ENOENT);
	assert_int_equal(value, 42);
	tree_file(tree, "/n", "18446744073709551615\n");
	assert_int_equal(sys_read_u64(tree->root, "/n", &value), 0);
	assert_true(value == UINT64_MAX);
	tree_file(tree, "/n", "0x1f\n");
	assert_int_equal(sys_read_u64(tree->root, "/n", &value), 0);
	assert_int_equal(value, 31);
	tree_file(tree, "/n", "010\n");
	assert_int_equal(sys_read_u64(tree->root, "/n", &value), 0);
	assert_int_equal(value, 10);
}

TREE_TEST(test_text_never_opened)
{
	struct sys_text text = {0};
	int low;

	tree_file(tree, "/f", "");
	low = sys_open(tree->root, "/f");
	assert_true(low >= 0);
	assert_int_equal(dup2(low, 0), 0);
	sys_text_close(&text);
	assert_int_equal(text.fd, -1);
	assert_true(fcntl(0, F_GETFD) >= 0);
	if (low)
		close(low);
}

/* Tests file sizes just below, equal to and just above the buffer size. */
TREE_TEST(test_text_sizes)
{
	char content[280];
	struct sys_text text;

	for (size_t len = 0; len < sizeof(content) - 1; len++) {
		memset(content, 'x', len);
		content[len] = '\0';
		if (len)
			content[len - 1] = '\n';
		tree_file(tree, "/t", content);
		for (int one_read = 0; one_read < 2; one_read++) {
			assert_int_equal(sys_text_open(&text, tree->root, "/t", 0), 0);
			assert_int_equal(sys_text_read(&text, one_read), 0);
			assert_int_equal(text.len, len);
			assert_string_equal(text.buf, content);
			sys_text_close(&text);
		}
	}
}

TREE_TEST(test_cpu_sets)
{
	struct cpu_online online;
	struct cpuset set;
	struct err err;

	assert_int_equal(cpu_set(tree->root, CPU_POSSIBLE, &set, &err), -ENOENT);
	assert_true(err.unsupported);
	tree_file(tree, "/sys/devices/system/cpu/possible", "0-7\n");
	tree_file(tree, "/sys/devices/system/cpu/online", "0,2-5\n");
	assert_int_equal(cpu_set(tree->root, CPU_POSSIBLE, &set, &err), 0);
	assert_int_equal(cpuset_end(&set), 8);
	assert_int_equal(cpu_online_open(&online, tree->root, &err), 0);
	assert_int_equal(cpuset_count(&online.set), 5);
	assert_false(cpuset_has(&online.set, 1));
	tree_file(tree, "/sys/devices/system/cpu/online", "0-7\n");
	assert_int_equal(cpu_online_read(&online), 0);
	assert_int_equal(cpuset_count(&online.set), 8);
	assert_int_equal(cpuset_count(&online.returned), 3);
	assert_true(cpuset_has(&online.returned, 1));
	tree_file(tree, "/sys/devices/system/cpu/online", "\n");
	assert_int_equal(cpu_online_read(&online), -EINVAL);
	tree_file(tree, "/sys/devices/system/cpu/online", "0-x\n");
	assert_int_equal(cpu_online_read(&online), -EINVAL);
	assert_int_equal(cpuset_count(&online.set), 8);
	cpu_online_close(&online);
}

TREE_TEST(test_meminfo)
{
	uint64_t bytes = 7;

	assert_int_equal(meminfo_available(tree->root, &bytes), -ENOENT);
	tree_file(tree, "/proc/meminfo", "MemTotal:       1000 kB\nMemFree:         100 kB\n");
	assert_int_equal(meminfo_available(tree->root, &bytes), -ENODATA);
	tree_file(tree, "/proc/meminfo",
		  "MemTotal:       1000 kB\nMemAvailable:    345 kB\nX: 1 kB\n");
	assert_int_equal(meminfo_available(tree->root, &bytes), 0);
	assert_int_equal(bytes, 345 * 1024);
	assert_int_equal(meminfo_available(NULL, &bytes), 0);
	assert_true(bytes > 0);
}

static size_t resident_bytes(void)
{
	char text[128];
	size_t pages;

	assert_true(sys_read_file(NULL, "/proc/self/statm", text, sizeof(text)) > 0);
	assert_int_equal(sscanf(text, "%*u %zu", &pages), 1);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

#ifdef __GLIBC__
/* Freed memory is returned to the kernel even if blocks in use lie between the freed blocks. */
TEST(test_trim)
{
	size_t size = 4 * (size_t)sysconf(_SC_PAGESIZE), nr = 3 * MEMINFO_KEPT_BYTES / 2 / size, before;
	char *freed[nr], *kept[nr];

	meminfo_trim();
	for (size_t i = 0; i < nr; i++) {
		freed[i] = malloc(size);
		kept[i] = malloc(64);
		assert_true(freed[i] && kept[i]);
		memset(freed[i], 1, size);
	}
	before = resident_bytes();
	for (size_t i = 0; i < nr; i++)
		free(freed[i]);
	/* The allocator of a sanitizer does not return memory to the kernel. */
	if (mallinfo2().fordblks > nr * size) {
		meminfo_trim();
		/* A freed block shares its last page with a used block, which stays resident. */
		assert_true(resident_bytes() < before - nr * size / 2);
	}
	for (size_t i = 0; i < nr; i++)
		free(kept[i]);
}
#endif

TEST_MAIN()
