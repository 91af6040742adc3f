/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests windows on disk: zcat reads them, crashes lose no block, age and size are limited. */
#include "serve/history_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zlib.h>

#include "base/clock.h"
#include "test.h"
#include "tree.h"

#define SEC 1000000000ULL
#define HOUR 3600

static struct history_keep keep;
static struct history_files files;
static uint64_t begin_s; /* Unix time of the first window: the beginning of an hour */
static uint64_t mono_ns, interval_ns;
static char path[128];

/* Number of bytes that the simulated disk still accepts. SIZE_MAX: no limit. */
static size_t disk_left = SIZE_MAX;

ssize_t __real_writev(int fd, const struct iovec *parts, int nr);
ssize_t __wrap_writev(int fd, const struct iovec *parts, int nr)
{
	size_t left = disk_left;

	if (!left) {
		errno = ENOSPC;
		return -1;
	}
	if (left == SIZE_MAX)
		return __real_writev(fd, parts, nr);
	disk_left = 0;
	return write(fd, parts[0].iov_base, left < parts[0].iov_len ? left : parts[0].iov_len);
}

static void start(void)
{
	struct err err = {0};

	files = (struct history_files){.keep = &keep, .dir = -1, .fd = -1};
	if (history_files_open(&files, path, getuid(), getgid(), &err) ||
	    history_files_start(&files, path, &err))
		fail_msg("%s", err.what);
}

static int setup(void **state)
{
	int rc = tree_setup(state);

	snprintf(path, sizeof(path), "%s/history", ((struct tree *)*state)->root);
	keep = (struct history_keep){.age_ns = 1000 * HOUR * SEC, .bytes = 1 << 30};
	begin_s = clock_unix_ns() / SEC / HOUR * HOUR - 100 * HOUR;
	mono_ns = interval_ns = SEC;
	disk_left = SIZE_MAX;
	if (!rc)
		start();
	return rc;
}

static int teardown(void **state)
{
	history_files_close(&files);
	return tree_teardown(state);
}

/* Writes a window that ended at @at s, padded with text that hardly compresses. */
static void add_padded(unsigned int collector, uint64_t at, size_t pad)
{
	static const char *const names[] = {"load", "runq"};
	char line[4096];
	size_t len = snprintf(line, sizeof(line),
			      "{\"schema\":\"subtick.%s/1\",\"time_unix_ns\":%llu,\"window_ns\":1000000000,\"x\":\"",
			      names[collector], (unsigned long long)((begin_s + at) * SEC));

	for (size_t i = 0; i < pad; i++)
		line[len++] = 'A' + rand() % 26;
	len += snprintf(line + len, sizeof(line) - len, "\"}\n");
	history_files_add(&files, collector,
			  &(struct history_line){.collector = names[collector],
						 .json = line,
						 .len = len,
						 .unix_ns = (begin_s + at) * SEC,
						 .now_ns = mono_ns,
						 .interval_ns = interval_ns});
}

static void add(unsigned int collector, uint64_t at)
{
	add_padded(collector, at, 20);
}

/* Adds one window per second and collector. Ten windows make a block of the history file. */
static void run(uint64_t from, unsigned int seconds)
{
	for (unsigned int i = 0; i < seconds; i++, mono_ns += SEC) {
		add(0, from + i);
		add(1, from + i);
	}
}

struct found {
	size_t blocks, windows, damaged;
	uint64_t first_ns, last_ns;
};

static int count(void *arg, int fd, const struct history_member *member)
{
	struct found *found = arg;
	size_t len = 0;
	char *text = history_unpack(fd, member, &len), *rest = text, *line;

	found->blocks++;
	found->damaged += !text;
	while ((line = strsep(&rest, "\n")) && *line) {
		uint64_t window_ns, end_ns = history_line_time(line, &window_ns);

		assert_int_equal(window_ns, SEC);
		assert_non_null(strstr(line, member->collector));
		assert_true(end_ns / SEC >= member->first_s && end_ns / SEC <= member->last_s);
		found->first_ns = found->windows ? found->first_ns : end_ns;
		found->last_ns = end_ns;
		found->windows++;
	}
	free(text);
	return 0;
}

static struct found find(uint64_t from, uint64_t to)
{
	struct found found = {0};

	assert_int_equal(history_walk(files.dir, from, to, count, &found), 0);
	return found;
}

/* Returns the lines of all files as zcat prints them. Fails the test if gzip finds an error. */
static size_t zcat_lines(void)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	size_t lines = 0;
	char name[400], text[4096];

	while ((entry = readdir(dir))) {
		gzFile file;
		int got;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		file = gzopen(name, "r");
		assert_non_null(file);
		while ((got = gzread(file, text, sizeof(text))) > 0)
			for (int i = 0; i < got; i++)
				lines += text[i] == '\n';
		assert_int_equal(got, 0);
		assert_int_equal(gzclose_r(file), Z_OK);
	}
	closedir(dir);
	return lines;
}

static size_t nr_files(void)
{
	DIR *dir = opendir(path);
	size_t nr = 0;

	for (struct dirent *entry; (entry = readdir(dir));)
		nr += entry->d_name[0] != '.';
	closedir(dir);
	return nr;
}

TEST_WITH(round_trip, setup, teardown)
{
	struct found found;

	run(0, 100);
	assert_int_equal(files.written, 200);
	assert_int_equal(zcat_lines(), 200);
	found = find(0, UINT32_MAX);
	assert_int_equal(found.blocks, 20);
	assert_int_equal(found.windows, 200);
	found = find(begin_s + 30, begin_s + 31);
	assert_int_equal(found.blocks, 2);
	assert_true(found.first_ns <= (begin_s + 30) * SEC && found.last_ns >= (begin_s + 31) * SEC);
	assert_int_equal(find(0, begin_s - 1).blocks, 0);
	assert_int_equal(find(begin_s + 100, UINT32_MAX).blocks, 0);
	add(0, 100);
	history_files_close(&files);
	assert_int_equal(zcat_lines(), 201);
	start();
}

/* Each hour has a separate file. After a restart the exporter appends to the newest file. */
TEST_WITH(hours, setup, teardown)
{
	for (int hour = 0; hour < 5; hour++) {
		run(hour * HOUR, 20);
		history_files_close(&files);
		start();
		run(hour * HOUR + 100, 20);
	}
	assert_int_equal(nr_files(), 5);
	assert_int_equal(zcat_lines(), 5 * 80);
	assert_int_equal(find(begin_s + 2 * HOUR, begin_s + 2 * HOUR + 200).windows, 80);
}

static void cut_and_start(const char *name, uint64_t size, uint64_t want, uint64_t lines)
{
	struct stat st;

	assert_int_equal(truncate(name, (off_t)size), 0);
	start();
	assert_int_equal(stat(name, &st), 0);
	assert_int_equal(st.st_size, want);
	assert_int_equal(files.end, want);
	assert_int_equal(zcat_lines(), lines);
	close(files.fd);
	close(files.dir);
}

/* A crash during a write leaves an incomplete block, which the next start removes. */
TEST_WITH(torn_block, setup, teardown)
{
	char name[300];
	uint64_t before, all;
	char *bytes;
	int fd;

	run(0, 10);
	before = files.end;
	for (unsigned int i = 10; i < 20; i++, mono_ns += SEC)
		add(0, i);
	all = files.end;
	assert_true(all > before + 100);
	snprintf(name, sizeof(name), "%s/%s", path, files.name);
	history_files_close(&files);
	bytes = malloc(all);
	fd = open(name, O_RDWR);
	assert_int_equal(read(fd, bytes, all), all);
	cut_and_start(name, all, all, 30);
	for (uint64_t size = before; size < all; size++) {
		assert_int_equal(pwrite(fd, bytes, all, 0), all);
		cut_and_start(name, size, before, 20);
	}
	/* The file is damaged: zeros follow the last block, or one byte of this block is wrong. */
	assert_int_equal(pwrite(fd, bytes, all, 0), all);
	cut_and_start(name, all + 5000, all, 30);
	bytes[all - 20] ^= 1;
	assert_int_equal(pwrite(fd, bytes, all, 0), all);
	cut_and_start(name, all, before, 20);
	start();
	run(30, 10);
	assert_int_equal(zcat_lines(), 40);
	close(fd);
	free(bytes);
}

TEST_WITH(full_disk, setup, teardown)
{
	uint64_t end;

	run(0, 10);
	end = files.end;
	for (size_t left = 0; left < 40; left += 13) {
		disk_left = left;
		run(20 + left, 10);
		assert_true(files.failing);
		assert_int_equal(files.end, end);
		assert_int_equal(zcat_lines(), 20);
	}
	assert_int_equal(files.lost, 4 * 20);
	assert_int_equal(files.written, 20);
	disk_left = SIZE_MAX;
	run(100, 10);
	assert_false(files.failing);
	assert_int_equal(zcat_lines(), 40);
}

TEST_WITH(keep_size, setup, teardown)
{
	struct found found;

	keep.bytes = 200000;
	for (unsigned int i = 0; i < 3000; i++, mono_ns += SEC) {
		add_padded(0, i, 300);
		/* The size limit may be exceeded by one block, which is below 5,000 bytes. */
		assert_true(files.total <= keep.bytes + 5000);
	}
	found = find(0, UINT32_MAX);
	/* The history files contain every window from the oldest stored window to the newest. */
	assert_true(found.last_ns >= (begin_s + 2980) * SEC);
	assert_int_equal((found.last_ns - found.first_ns) / SEC + 1, found.windows);
	assert_true(nr_files() > 8 && nr_files() < 20);
	keep.bytes = 100000;
	for (unsigned int i = 3000; i < 3100; i++, mono_ns += SEC)
		add_padded(0, i, 300);
	assert_true(files.total <= keep.bytes + 5000);
	history_files_close(&files);
	keep.bytes = 50000;
	start();
	assert_true(files.total <= 50000);
}

TEST_WITH(keep_age, setup, teardown)
{
	keep.age_ns = 3 * HOUR * SEC;
	for (int hour = 0; hour < 10; hour++)
		run(hour * HOUR, 20);
	/*
	 * The last file begins with hour 9. Files are kept for 3 hours and HISTORY_OVERLAP_S, and
	 * hour 5 ended 3 hours before hour 9 began.
	 */
	assert_int_equal(find(0, begin_s + 4 * HOUR + 100).windows, 0);
	assert_int_equal(find(begin_s + 5 * HOUR, UINT32_MAX).windows, 5 * 40);
	/* At the next start all files are too old, and only the newest stays. */
	history_files_close(&files);
	start();
	assert_int_equal(nr_files(), 1);
}

/* Another program removes or changes a history file while the exporter writes to the file. */
TEST_WITH(removed, setup, teardown)
{
	char name[300];

	run(0, 10);
	snprintf(name, sizeof(name), "%s/%s", path, files.name);
	assert_int_equal(unlink(name), 0);
	run(20, 10);
	assert_int_equal(zcat_lines(), 20);
	snprintf(name, sizeof(name), "%s/%s", path, files.name);
	assert_int_equal(truncate(name, 100), 0);
	run(40, 10);
	assert_int_equal(zcat_lines(), 20);
	assert_int_equal(files.lost, 0);
}

TEST_WITH(clock_set_back, setup, teardown)
{
	add(0, 50);
	for (unsigned int i = 0; i < 9; i++) {
		mono_ns += SEC;
		add(0, i);
	}
	assert_int_equal(find(begin_s, begin_s).windows, 10);
	assert_int_equal(find(begin_s + 50, begin_s + 50).windows, 10);
}

TEST_WITH(long_windows, setup, teardown)
{
	interval_ns = HOUR * SEC;
	add(0, 0);
	assert_int_equal(files.written, 1);
}

/* The block of a collector may begin in the hour before the hour of the file. */
TEST_WITH(overlap, setup, teardown)
{
	add(0, 0);
	mono_ns += 5 * SEC;
	interval_ns = HOUR * SEC;
	add(1, 5);
	add(0, 6);
	assert_int_equal(nr_files(), 1);
	assert_int_equal(find(begin_s, begin_s + 1).windows, 2);
}

TEST_WITH(one_writer, setup, teardown)
{
	struct history_files other = {.keep = &keep, .dir = -1, .fd = -1};
	struct err err = {0};

	assert_true(history_files_open(&other, path, 0, 0, &err));
	assert_non_null(strstr(err.what, "another exporter"));
	history_files_close(&other);
}

/* Writing the history takes at most 1 % of a core, for any duration of a single write. */
TEST_WITH(budget, setup, teardown)
{
	uint64_t spent = 0;

	files.credited_ns = mono_ns;
	for (unsigned int i = 0; i < 10000; i++, mono_ns += SEC)
		if (history_files_within_budget(&files, mono_ns)) {
			files.debt_ns += 65000000;
			spent += 65000000;
		}
	assert_true(spent > 99 * SEC && spent < 101 * SEC);
	for (unsigned int i = 0; i < 100; i++, mono_ns += SEC)
		history_files_within_budget(&files, mono_ns);
	for (unsigned int i = 0; i < 1000; i++, mono_ns += SEC) {
		assert_true(history_files_within_budget(&files, mono_ns));
		files.debt_ns += 9000000;
	}
}

TEST_MAIN()
