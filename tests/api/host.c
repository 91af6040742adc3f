/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the library in a host program that sets its own limits, signal handlers and locale, and
 * that itself uses libbpf. The library must not change the settings of the host program or of
 * libbpf.
 */
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include <subtick/load.h>
#include <subtick/noise.h>
#include <subtick/runq.h>

extern char **environ;

/*
 * File descriptor limit of the test, higher than the library's need and lower than the hard limit.
 */
#define NOFILE 256

struct state {
	struct rlimit limits[RLIM_NLIMITS];
	void *handlers[NSIG];
	sigset_t mask;
	mode_t umask;
	char locale[64];
	char directory[4096];
	char **environ;
	size_t nr_variables;
	libbpf_print_fn_t print;
};

static int nr_tests, nr_failed;

static void ok(int good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++nr_tests, what);
	nr_failed += !good;
}

static _Thread_local int in_library;
static atomic_int messages, leaked;

static int host_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level, (void)fmt, (void)ap;
	atomic_fetch_add(in_library ? &leaked : &messages, 1);
	return 0;
}

static void read_state(struct state *ret)
{
	struct sigaction action;

	memset(ret, 0, sizeof(*ret));
	for (int i = 0; i < RLIM_NLIMITS; i++)
		getrlimit(i, &ret->limits[i]);
	for (int i = 1; i < NSIG; i++)
		ret->handlers[i] = sigaction(i, NULL, &action) ? NULL : (void *)action.sa_handler;
	pthread_sigmask(SIG_SETMASK, NULL, &ret->mask);
	ret->umask = umask(0);
	umask(ret->umask);
	snprintf(ret->locale, sizeof(ret->locale), "%s", setlocale(LC_ALL, NULL));
	if (!getcwd(ret->directory, sizeof(ret->directory)))
		perror("getcwd");
	ret->environ = environ;
	while (environ[ret->nr_variables])
		ret->nr_variables++;
	ret->print = libbpf_set_print(NULL);
	libbpf_set_print(ret->print);
}

static atomic_bool stop;
static atomic_int failed_opens;

/*
 * Uses libbpf in another thread. libbpf must report each failed open to the print function of the
 * host program.
 */
static void *use_libbpf(void *arg)
{
	(void)arg;
	while (!atomic_load(&stop)) {
		struct bpf_object *object = bpf_object__open_file("/nonexistent/object.o", NULL);

		if (libbpf_get_error(object))
			atomic_fetch_add(&failed_opens, 1);
		usleep(200);
	}
	return NULL;
}

typedef int open_fn(struct subtick **ret);

static int open_load(struct subtick **ret)
{
	return subtick_load_open(ret, NULL);
}

static int open_runq(struct subtick **ret)
{
	struct subtick_runq_opts opts = {
		.size = sizeof(opts), .blame = 8, .threshold_ns = 1,
		.flags = SUBTICK_RUNQ_CAUSES | SUBTICK_RUNQ_PRESSURE | SUBTICK_RUNQ_IDLE_STATES};

	return subtick_runq_open(ret, &opts);
}

static int open_noise(struct subtick **ret)
{
	struct subtick_noise_opts opts = {.size = sizeof(opts), .flags = SUBTICK_NOISE_SENDERS};

	return subtick_noise_open(ret, &opts);
}

/*
 * Reads every key of every row of the window. Returns the number of values (numbers and texts) in
 * the window.
 */
static size_t read_all(const struct subtick_window *w)
{
	size_t figures = 0;

	for (int list = 1; subtick_list_name(list); list++)
		for (size_t row = 0; row < subtick_rows(w, list); row++)
			for (int key = 1; subtick_key_name(key); key++) {
				double value;

				figures += !subtick_double(w, list, row, key, &value);
				figures += subtick_text(w, list, row, key) != NULL;
			}
	return figures;
}

static void use(const char *name, open_fn *open)
{
	const struct subtick_window *w = NULL;
	struct subtick *ctx = NULL;
	char what[512];
	int rc;

	in_library = 1;
	rc = open(&ctx);
	if (rc) {
		in_library = 0;
		printf("ok %d - %s # SKIP %s\n", ++nr_tests, name, subtick_error());
		return;
	}
	usleep(50000);
	rc = subtick_read(ctx, &w);
	if (subtick_fd(ctx) >= 0)
		subtick_service(ctx, &w);
	snprintf(what, sizeof(what), "%s: %zu figures", name, read_all(w));
	ok(!rc && read_all(w) > 0, what);
	subtick_close(ctx);
	in_library = 0;
}

int main(void)
{
	struct rlimit files = {NOFILE, NOFILE}, memory = {1 << 20, 1 << 20};
	struct subtick_load_opts bad = {.size = sizeof(bad), .source = SUBTICK_LOAD_PERF_TSC,
					.event = "no-such-event"};
	static struct state before, after;
	struct subtick *ctx;
	pthread_t thread;
	struct rlimit hard;

	getrlimit(RLIMIT_NOFILE, &hard);
	files.rlim_max = hard.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	setrlimit(RLIMIT_MEMLOCK, &memory);
	setlocale(LC_ALL, "C.UTF-8");
	umask(027);
	signal(SIGCHLD, SIG_IGN);
	libbpf_set_print(host_print);
	read_state(&before);
	pthread_create(&thread, NULL, use_libbpf, NULL);
	while (!atomic_load(&failed_opens))
		usleep(100);
	use("load", open_load);
	use("runq", open_runq);
	use("noise", open_noise);
	in_library = 1;
	ok(subtick_load_open(&ctx, &bad) < 0 && subtick_error()[0], "a failed open has a sentence");
	in_library = 0;
	atomic_store(&stop, 1);
	pthread_join(thread, NULL);
	read_state(&after);
	ok(after.print == host_print, "libbpf has the print function of the host program");
	ok(!atomic_load(&leaked), "libbpf's messages to the library are not the host program's");
	ok(atomic_load(&messages) >= atomic_load(&failed_opens),
	   "the other user of libbpf has all of its messages");
	before.print = after.print;
	ok(!memcmp(&before, &after, sizeof(before)),
	   "limits, signals, umask, locale, directory and environment are unchanged");
	printf("1..%d\n", nr_tests);
	return nr_failed != 0;
}
