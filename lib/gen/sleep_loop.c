/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs nanosleep() in a loop. */
#include "gen/sleep_loop.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

struct shared {
	uint32_t go, halt, done;
	struct sleep_loop_result result;
};

/* Sleeps without a timer: before and after the loop we must not load the core. */
static void wait_for(uint32_t *word)
{
	while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

/* Reads all clocks together: of three tries the shortest, which neither interrupt nor task cut. */
static void stamp(struct sleep_loop_result *at)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		uint64_t before = clock_mono_ns(), took, from, to;
		struct rusage usage;

		from = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		getrusage(RUSAGE_THREAD, &usage);
		to = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		took = clock_mono_ns() - before;
		if (took >= best)
			continue;
		best = took;
		at->user_ns = timeval_ns(usage.ru_utime);
		at->system_ns = timeval_ns(usage.ru_stime);
		at->thread_ns = from + (to - from) / 2;
		at->real_ns = before + took / 2;
	}
}

/* The clock is read once per batch, so that it adds little to the measured time. */
static uint64_t batch_size(const struct sleep_loop_opts *opts)
{
	uint64_t batch = NSEC_PER_MSEC / (opts->delay_ns + 500);

	return batch ? batch : 1;
}

static void run(void *memory, void *arg)
{
	const struct sleep_loop_opts *opts = arg;
	struct shared *shared = memory;
	struct timespec delay = opts->delay_ns ? clock_timespec(opts->delay_ns)
					       : (struct timespec){.tv_nsec = 2000000000};
	uint64_t batch = batch_size(opts), most = opts->iterations ?: UINT64_MAX, done = 0;
	struct sleep_loop_result from, to;
	int slack;

	if (opts->slack_ns)
		prctl(PR_SET_TIMERSLACK, (unsigned long)opts->slack_ns);
	slack = prctl(PR_GET_TIMERSLACK);
	wait_for(&shared->go);
	stamp(&from);
	while (done < most && !__atomic_load_n(&shared->halt, __ATOMIC_RELAXED)) {
		uint64_t some = batch < most - done ? batch : most - done;

		for (uint64_t i = 0; i < some; i++)
			nanosleep(&delay, NULL);
		done += some;
		if (!opts->iterations && clock_mono_ns() - from.real_ns >= opts->length_ns)
			break;
	}
	stamp(&to);
	shared->result = (struct sleep_loop_result){
		.iterations = done,
		.real_ns = to.real_ns - from.real_ns,
		.user_ns = to.user_ns - from.user_ns,
		.system_ns = to.system_ns - from.system_ns,
		.thread_ns = to.thread_ns - from.thread_ns,
		.slack_ns = slack > 0 ? (uint64_t)slack : 0,
	};
	__atomic_store_n(&shared->done, 1, __ATOMIC_RELEASE);
	/* Stay: the parent still reads /proc/PID/stat. */
	for (;;)
		pause();
}

int sleep_loop_start(struct gen_child *loop, const struct sleep_loop_opts *opts, struct err *err)
{
	struct sleep_loop_opts own = *opts;

	return gen_child_start(loop, opts->cpu, sizeof(struct shared), run, &own, err);
}

void sleep_loop_go(struct gen_child *loop)
{
	struct shared *shared = loop->shared;

	__atomic_store_n(&shared->go, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &shared->go, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void sleep_loop_halt(struct gen_child *loop)
{
	struct shared *shared = loop->shared;

	__atomic_store_n(&shared->halt, 1, __ATOMIC_RELAXED);
}

bool sleep_loop_done(const struct gen_child *loop, struct sleep_loop_result *ret_result)
{
	const struct shared *shared = loop->shared;

	if (!__atomic_load_n(&shared->done, __ATOMIC_ACQUIRE))
		return false;
	*ret_result = shared->result;
	return true;
}
