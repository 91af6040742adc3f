/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Access to the debugfs files of module tracerbench, for its tests. */
#ifndef SUBTICK_TESTS_CRIT_MODULE_H
#define SUBTICK_TESTS_CRIT_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TREE		"/sys/kernel/debug/tracerbench/"
#define MODULE_IN_GUEST "/modules/tracerbench.ko" /* path of the module in guests of the VM suite */

extern const char *const tree_ops[3];
extern const char *const tree_stats[4];

/*
 * file_write*() and file_read*() return 0 or -errno. A path is relative to the debugfs directory of
 * the module unless it begins with a slash.
 */
int file_write_bytes(const char *path, const void *data, size_t size);
int file_write(const char *path, const char *text);
int file_write_u64(const char *path, uint64_t value);
int file_read(const char *path, char *text, size_t size);
int file_read_u64(const char *path, uint64_t *ret_value);
/* Returns the number in a file, or UINT64_MAX on failure. No test expects the number UINT64_MAX. */
uint64_t file_u64(const char *path);

/*
 * numbers_are() compares the settings nr_samples, nr_highest and work, and configure() sets them.
 */
bool numbers_are(uint64_t samples, uint64_t highest, uint64_t work);
int configure(uint64_t samples, uint64_t highest, uint64_t work);
/* Reads figure @stat of operation @op from the last run. */
uint64_t result(const char *op, const char *stat);

int module_load(const char *path);
int module_unload(void);

/* Runs the benchmark in a child process. The child exits with 0 or the errno. */
pid_t benchmark_start(void);
/* Waits for a child. Returns the exit code of the child, or -signal. */
int child_wait(pid_t pid);
double now_s(void);
void sleep_s(double seconds);
/*
 * Counts kernel threads whose names begin with @prefix. @ret_bound is true if each counted thread
 * is bound to the CPU in the name of the thread.
 */
int threads_named(const char *prefix, bool *ret_bound);
/*
 * Tests in crit_module_fire.c: events during a run, and loading and unloading of the module.
 * module_comes_and_goes() leaves module tracerbench unloaded.
 */
void module_under_fire(void);
void module_comes_and_goes(const char *module_path);
/* Returns the first line of the kernel log that reports a kernel bug, or NULL. */
const char *kernel_complaint(void);

#endif
