/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cpu_load API on a source that any user may open. */
#include "subtick/gtp-guard/cpu.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

static struct cpu_load *open_procidle(void)
{
	struct cpu_load_opts opts = {.size = sizeof(opts), .source = "procidle"};
	struct cpu_load *load = NULL;

	assert_int_equal(cpu_load_open(&load, &opts), 0);
	assert_non_null(load);
	return load;
}

static void sleep_50ms(void)
{
	struct timespec ts = {.tv_nsec = 50000000};

	nanosleep(&ts, NULL);
}

TEST(test_figures)
{
	struct cpu_load *load = open_procidle();
	int measured = 0;

	assert_string_equal(cpu_load_source(load), "procidle");
	assert_true(cpu_load_nr(load) >= 1);
	/* One sample is no window. */
	assert_true(cpu_load_get(load, 0) == -1.0f);
	sleep_50ms();
	cpu_load_update(load);
	for (int cpu = 0; cpu < cpu_load_nr(load); cpu++) {
		float busy = cpu_load_get(load, cpu);

		assert_true(busy == -1.0f || (busy >= 0.0f && busy <= 1.0f));
		measured += busy >= 0.0f;
	}
	assert_true(measured > 0);
	cpu_load_destroy(load);
}

/* Every function of the header. */
TEST(test_null)
{
	struct cpu_load *load = open_procidle();
	struct cpu_load_split split;

	assert_int_equal(cpu_load_init(NULL), -EINVAL);
	assert_int_equal(cpu_load_init_tsc(NULL), -EINVAL);
	assert_int_equal(cpu_load_open(NULL, NULL), -EINVAL);
	assert_non_null(strstr(cpu_load_strerror(), "NULL"));
	cpu_load_update(NULL);
	assert_true(cpu_load_get(NULL, 0) == -1.0f);
	assert_int_equal(cpu_load_nr(NULL), -EINVAL);
	assert_null(cpu_load_source(NULL));
	assert_int_equal(cpu_load_get_split(NULL, 0, &split), -EINVAL);
	assert_int_equal(cpu_load_get_split(load, 0, NULL), -EINVAL);
	cpu_load_destroy(NULL);
	cpu_load_destroy(load);
}

static void use(struct cpu_load *load)
{
	struct cpu_load_split split;

	for (int i = 0; i < 20; i++) {
		cpu_load_update(load);
		for (int cpu = 0; cpu < cpu_load_nr(load); cpu++) {
			float busy = cpu_load_get(load, cpu);

			assert_true(busy == -1.0f || (busy >= 0.0f && busy <= 1.0f));
			assert_int_equal(cpu_load_get_split(load, cpu, &split), 0);
		}
	}
}

/* Uses @arg, or a context of its own if that is NULL; each thread has its own reason of a failure. */
static void *use_in_thread(void *arg)
{
	struct cpu_load_opts unknown = {.size = sizeof(unknown)};
	struct cpu_load *load = arg;
	char name[32];

	snprintf(name, sizeof(name), "none-%lx", (unsigned long)pthread_self());
	unknown.source = name;
	for (int i = 0; i < 5; i++) {
		load = arg ?: open_procidle();
		use(load);
		assert_int_equal(cpu_load_open(&(struct cpu_load *){NULL}, &unknown), -EINVAL);
		assert_non_null(strstr(cpu_load_strerror(), name));
		if (!arg)
			cpu_load_destroy(load);
	}
	return NULL;
}

/* tests/suites/tsan runs this with ThreadSanitizer, too. */
TEST(test_threads)
{
	struct cpu_load *handed = open_procidle();
	pthread_t threads[4];

	use(handed);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use_in_thread,
						i ? NULL : handed), 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	use(handed);
	cpu_load_destroy(handed);
}

/* One side uses a context after fork(); the other side opens another one or only ends. */
TEST(test_fork)
{
	for (int child_uses = 0; child_uses < 2; child_uses++) {
		struct cpu_load *load = NULL, *own;
		int status;
		pid_t pid;

		/* The best source: with privileges one that maps memory of the kernel. */
		assert_int_equal(cpu_load_open(&load, NULL), 0);
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			own = child_uses ? load : open_procidle();
			use(own);
			cpu_load_destroy(own);
			_exit(0);
		}
		if (!child_uses)
			use(load);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		cpu_load_destroy(load);
	}
}

/* gtp-guard's fd of a live CPU: not stdin, and nothing that read() or ioctl() would change. */
TEST(test_descriptor)
{
	struct cpu_load *load = open_procidle();
	int fd = load->cpus[0].fd;
	char byte;

	assert_true(fd > 0);
	assert_int_equal(read(fd, &byte, 1), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), -1);
	assert_int_equal(errno, EBADF);
	cpu_load_destroy(load);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

TEST(test_range)
{
	struct cpu_load *load = open_procidle();
	struct cpu_load_split split;

	sleep_50ms();
	cpu_load_update(load);
	assert_true(cpu_load_get(load, -1) == -1.0f);
	assert_true(cpu_load_get(load, cpu_load_nr(load)) == -1.0f);
	assert_int_equal(cpu_load_get_split(load, -1, &split), -EINVAL);
	assert_int_equal(cpu_load_get_split(load, cpu_load_nr(load), &split), -EINVAL);
	assert_int_equal(cpu_load_get_split(load, 0, &split), 0);
	/* Figures that this source lacks are -1, not 0. */
	assert_true(split.task == -1.0f && split.hardirq == -1.0f && split.idle == -1.0f);
	assert_true(split.closure_error == -1.0f);
	cpu_load_destroy(load);
}

TEST(test_refusals)
{
	struct cpu_load_opts opts = {.size = sizeof(opts), .source = "magic"};
	struct cpu_load *load = (void *)&opts;

	assert_int_equal(cpu_load_open(&load, &opts), -EINVAL);
	assert_int_equal(errno, EINVAL);
	assert_non_null(strstr(cpu_load_strerror(), "magic"));
	/* Outputs are untouched on failure. */
	assert_ptr_equal(load, &opts);
	opts.size = sizeof(opts) + 8;
	assert_int_equal(cpu_load_open(&load, &opts), -E2BIG);
	opts.size = 0;
	assert_int_equal(cpu_load_open(&load, &opts), -E2BIG);
	cpu_load_destroy(NULL);
}

/* A caller compiled against an older, shorter struct gets defaults for the rest. */
TEST(test_older_caller)
{
	struct cpu_load_opts opts = {.size = offsetof(struct cpu_load_opts, event),
				     .source = "procstat", .event = (void *)1};
	struct cpu_load *load;

	assert_int_equal(cpu_load_open(&load, &opts), 0);
	assert_string_equal(cpu_load_source(load), "procstat");
	cpu_load_destroy(load);
}

TEST_MAIN()
