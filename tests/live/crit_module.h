/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Drives the tracerbench module's files for the tests of it. */
#ifndef SUBTICK_TESTS_CRIT_MODULE_H
#define SUBTICK_TESTS_CRIT_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TREE		"/sys/kernel/debug/tracerbench/"
#define MODULE_IN_GUEST "/modules/tracerbench.ko" /* where the VM suite puts it */

extern const char *const tree_ops[3];
extern const char *const tree_stats[4];

/* All return 0 or -errno; paths are below the tree unless they begin with a slash. */
int file_write_bytes(const char *path, const void *data, size_t size);
int file_write(const char *path, const char *text);
int file_write_u64(const char *path, uint64_t value);
int file_read(const char *path, char *text, size_t size);
int file_read_u64(const char *path, uint64_t *ret_value);
/* UINT64_MAX when it can't be read: no test expects that figure. */
uint64_t file_u64(const char *path);

/* Whether the three settings are these, and making them so. */
bool numbers_are(uint64_t samples, uint64_t highest, uint64_t work);
int configure(uint64_t samples, uint64_t highest, uint64_t work);
/* A figure of the last run. */
uint64_t result(const char *op, const char *stat);

int module_load(const char *path);
int module_unload(void);

/* Runs the benchmark in a child that exits with 0 or the errno. */
pid_t benchmark_start(void);
/* The child's exit code, or -signal. */
int child_wait(pid_t pid);
double now_s(void);
void sleep_s(double seconds);
/* Kernel threads whose name begins with @prefix; each must be bound to the CPU it names. */
int threads_named(const char *prefix, bool *ret_bound);
/* crit_module_fire.c: what happens during a run; loading and unloading, which ends unloaded. */
void module_under_fire(void);
void module_comes_and_goes(const char *module_path);
/* A line of the kernel log that a test must not leave behind, or NULL. */
const char *kernel_complaint(void);

#endif
