/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the public functions of load measurement. Source procidle needs no privileges. */
#include "subtick/load.h"

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "subtick/gtp-guard/cpu.h"
#include "subtick/noise.h"
#include "subtick/runq.h"
#include "test.h"

static struct subtick *open_procidle(void)
{
	struct subtick_load_opts opts = {.size = sizeof(opts), .source = SUBTICK_LOAD_PROCIDLE};
	struct subtick *ctx = NULL;

	assert_int_equal(subtick_load_open(&ctx, &opts), 0);
	assert_non_null(ctx);
	return ctx;
}

static void sleep_50ms(void)
{
	struct timespec ts = {.tv_nsec = 50000000};

	nanosleep(&ts, NULL);
}

/* Checks that each busy ratio is in 0…1 or unknown. Returns the number of CPUs with a load. */
static int check_window(const struct subtick_window *w)
{
	int measured = 0;

	for (size_t cpu = 0; cpu < subtick_rows(w, SUBTICK_CPUS); cpu++) {
		double busy = -1.0;
		int rc = subtick_double(w, SUBTICK_CPUS, cpu, SUBTICK_BUSY_RATIO, &busy);

		assert_true(rc == -ENODATA ? busy == -1.0 : !rc && busy >= 0.0 && busy <= 1.0);
		measured += !rc;
	}
	return measured;
}

TEST(test_figures)
{
	struct subtick *ctx = open_procidle();
	const struct subtick_window *w = NULL;
	uint64_t number = 7;
	double share = 7.0;

	sleep_50ms();
	assert_int_equal(subtick_read(ctx, &w), 0);
	assert_true(check_window(w) > 0);
	assert_string_equal(subtick_text(w, SUBTICK_WINDOW, 0, SUBTICK_SOURCE), "procidle");
	assert_int_equal(subtick_u64(w, SUBTICK_WINDOW, 0, SUBTICK_SOURCE, &number), 0);
	assert_int_equal(number, SUBTICK_LOAD_PROCIDLE);
	assert_int_equal(subtick_double(w, SUBTICK_WINDOW, 0, SUBTICK_WINDOW_NS, &share), 0);
	assert_true(share >= 50e6);
	/*
	 * A function that fails does not write its output. For a part that the source cannot
	 * measure, the function returns -ENODATA, not a load of 0.
	 */
	share = 7.0;
	assert_int_equal(subtick_double(w, SUBTICK_CPUS, 0, SUBTICK_TASK_RATIO, &share), -ENODATA);
	assert_int_equal(subtick_double(w, SUBTICK_CPUS, 0, SUBTICK_CLOSURE_ERROR_RATIO, &share),
			 -ENODATA);
	assert_int_equal(subtick_u64(w, SUBTICK_CPUS, 0, SUBTICK_BUSY_RATIO, &number), -EINVAL);
	assert_int_equal(subtick_double(w, SUBTICK_CPUS, 0, SUBTICK_SUM_NS, &share), -EINVAL);
	assert_int_equal(subtick_double(w, SUBTICK_CPUS, subtick_rows(w, SUBTICK_CPUS),
					SUBTICK_BUSY_RATIO, &share),
			 -EINVAL);
	assert_true(share == 7.0 && number == SUBTICK_LOAD_PROCIDLE);
	assert_int_equal(subtick_rows(w, SUBTICK_GROUPS), 0);
	assert_int_equal(subtick_percentile(w, SUBTICK_GROUPS, 0, 50, &share), -EINVAL);
	assert_int_equal(subtick_fd(ctx), -EOPNOTSUPP);
	assert_int_equal(subtick_service(ctx, NULL), -EOPNOTSUPP);
	assert_true(subtick_rows(w, SUBTICK_LOSSES) > 0);
	assert_string_equal(subtick_text(w, SUBTICK_LOSSES, 0, SUBTICK_NAME), "torn_total");
	subtick_close(ctx);
}

TEST(test_cpus)
{
	struct subtick_load_opts opts = {
		.size = sizeof(opts), .source = SUBTICK_LOAD_PROCSTAT, .cpus = "0"};
	const struct subtick_window *w;
	struct subtick *ctx;

	assert_int_equal(subtick_load_open(&ctx, &opts), 0);
	assert_int_equal(subtick_read(ctx, &w), 0);
	assert_int_equal(subtick_rows(w, SUBTICK_CPUS), 1);
	subtick_close(ctx);
	opts.cpus = "zero";
	assert_int_equal(subtick_load_open(&ctx, &opts), -EINVAL);
	assert_non_null(strstr(subtick_error(), "zero"));
}

TEST(test_null)
{
	struct subtick *ctx = open_procidle();
	const struct subtick_window *w = NULL;
	uint64_t number;
	double real;

	assert_int_equal(cpu_load_init(NULL), -EINVAL);
	assert_int_equal(cpu_load_init_tsc(NULL), -EINVAL);
	cpu_load_update(NULL);
	assert_true(cpu_load_get(NULL, 0) == -1.0f);
	assert_int_equal(cpu_load_nr(NULL), -EINVAL);
	cpu_load_destroy(NULL);
	assert_int_equal(subtick_load_open(NULL, NULL), -EINVAL);
	assert_non_null(strstr(subtick_error(), "NULL"));
	assert_int_equal(subtick_runq_open(NULL, NULL), -EINVAL);
	assert_int_equal(subtick_noise_open(NULL, NULL), -EINVAL);
	assert_int_equal(subtick_read(NULL, &w), -EINVAL);
	assert_int_equal(subtick_read(ctx, NULL), -EINVAL);
	assert_int_equal(subtick_fd(NULL), -EINVAL);
	assert_int_equal(subtick_service(NULL, NULL), -EINVAL);
	subtick_close(NULL);
	assert_int_equal(subtick_rows(NULL, SUBTICK_CPUS), 0);
	assert_int_equal(subtick_u64(NULL, SUBTICK_WINDOW, 0, SUBTICK_WINDOW_NS, &number), -EINVAL);
	assert_int_equal(subtick_double(NULL, SUBTICK_WINDOW, 0, SUBTICK_WINDOW_NS, &real), -EINVAL);
	assert_null(subtick_text(NULL, SUBTICK_WINDOW, 0, SUBTICK_SOURCE));
	assert_int_equal(subtick_percentile(NULL, SUBTICK_GROUPS, 0, 50, &real), -EINVAL);
	assert_int_equal(subtick_bucket(NULL, SUBTICK_GROUPS, 0, 0, &number, &number), -EINVAL);
	assert_int_equal(subtick_read(ctx, &w), 0);
	assert_int_equal(subtick_u64(w, SUBTICK_WINDOW, 0, SUBTICK_WINDOW_NS, NULL), -EINVAL);
	assert_int_equal(subtick_double(w, SUBTICK_WINDOW, 0, SUBTICK_WINDOW_NS, NULL), -EINVAL);
	subtick_close(ctx);
}

static void use(struct subtick *ctx)
{
	const struct subtick_window *w;

	for (int i = 0; i < 20; i++) {
		assert_int_equal(subtick_read(ctx, &w), 0);
		check_window(w);
	}
}

/*
 * Thread function: uses the context @arg, or a new context if @arg is NULL. Checks that each thread
 * has its own last error.
 */
static void *use_in_thread(void *arg)
{
	struct subtick_load_opts unknown = {.size = sizeof(unknown)};
	struct subtick *ctx;
	char name[32];

	snprintf(name, sizeof(name), "none-%lx", (unsigned long)pthread_self());
	unknown.cpus = name;
	for (int i = 0; i < 5; i++) {
		ctx = arg ?: open_procidle();
		use(ctx);
		assert_int_equal(subtick_load_open(&(struct subtick *){NULL}, &unknown), -EINVAL);
		assert_non_null(strstr(subtick_error(), name));
		if (!arg)
			subtick_close(ctx);
	}
	return NULL;
}

/* tests/suites/tsan runs test_threads() with ThreadSanitizer. */
TEST(test_threads)
{
	struct subtick *handed = open_procidle();
	pthread_t threads[4];

	use(handed);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use_in_thread,
						i ? NULL : handed), 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	use(handed);
	subtick_close(handed);
}

/* After fork() only one of the two processes may use the context. */
TEST(test_fork)
{
	for (int child_uses = 0; child_uses < 2; child_uses++) {
		struct subtick *ctx = NULL, *own;
		int status;
		pid_t pid;

		/*
		 * If no source is requested, a privileged process gets the source bpf, which maps
		 * BPF maps into memory.
		 */
		assert_int_equal(subtick_load_open(&ctx, NULL), 0);
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			own = child_uses ? ctx : open_procidle();
			use(own);
			subtick_close(own);
			_exit(0);
		}
		if (!child_uses)
			use(ctx);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		subtick_close(ctx);
	}
}

TEST(test_refusals)
{
	struct subtick_load_opts opts = {.size = sizeof(opts), .source = 99};
	struct subtick *ctx = (void *)&opts;

	assert_int_equal(subtick_load_open(&ctx, &opts), -EINVAL);
	assert_non_null(strstr(subtick_error(), "99"));
	assert_ptr_equal(ctx, &opts);
	opts = (struct subtick_load_opts){
		.size = sizeof(opts), .source = SUBTICK_LOAD_PROCIDLE, .event = "r8"};
	assert_int_equal(subtick_load_open(&ctx, &opts), -EINVAL);
	assert_non_null(strstr(subtick_error(), "event"));
}

/*
 * Programs built for another version of the library pass options of another size, which are
 * accepted by the rules of the kernel's copy_struct_from_user().
 */
TEST(test_sizes)
{
	struct {
		struct subtick_load_opts opts;
		char tail[16];
	} later = {.opts = {.size = sizeof(later), .source = SUBTICK_LOAD_PROCIDLE}};
	struct subtick *ctx;

	assert_int_equal(subtick_load_open(&ctx, &later.opts), 0);
	subtick_close(ctx);
	later.tail[15] = 1;
	assert_int_equal(subtick_load_open(&ctx, &later.opts), -E2BIG);
	later.opts.size = sizeof(later.opts) - 1;
	assert_int_equal(subtick_load_open(&ctx, &later.opts), -EINVAL);
	later.opts.size = 0;
	assert_int_equal(subtick_load_open(&ctx, &later.opts), -EINVAL);
	later.opts.size = 1 << 20;
	assert_int_equal(subtick_load_open(&ctx, &later.opts), -E2BIG);
}

/* Each key number up to SUBTICK_EXCLUDED_NS has a name, and no two keys have the same name. */
TEST(test_names)
{
	int keys = 0, lists = 0;

	assert_null(subtick_key_name(0));
	assert_null(subtick_list_name(0));
	while (subtick_key_name(keys + 1))
		for (int i = ++keys; --i;)
			assert_string_not_equal(subtick_key_name(i), subtick_key_name(keys));
	while (subtick_list_name(lists + 1))
		lists++;
	assert_int_equal(keys, SUBTICK_EXCLUDED_NS);
	assert_int_equal(lists, SUBTICK_CALLS);
	assert_null(subtick_key_name(1 << 30));
	assert_null(subtick_list_name(-1));
}

TEST_MAIN()
