/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Child processes that run busy loops, sleep, or mix user and system time. */
#include "gen/loads.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/cpu.h"

static void __attribute__((noreturn))
child_main(pid_t parent, int cpu, void *shared, void (*run)(void *, void *), void *arg)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent may have died before PR_SET_PDEATHSIG was set. */
	if (getppid() != parent)
		_exit(1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/*
	 * Ignore SIGINT: Ctrl-C sends it to the whole process group, but the load generator must
	 * run until the end of the parent's last window.
	 */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	if (cpu >= 0 && affinity_pin(0, cpu))
		_exit(1);
	prctl(PR_SET_TIMERSLACK, 1UL);
	run(shared, arg);
	_exit(0);
}

int gen_child_start(struct gen_child *child, int cpu, size_t shared_size,
		    void (*run)(void *shared, void *arg), void *arg, struct err *err)
{
	pid_t parent = getpid();
	int rc;

	*child = (struct gen_child){.size = shared_size};
	child->shared = mmap(NULL, shared_size, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (child->shared == MAP_FAILED) {
		child->shared = NULL;
		return err_set(err, -errno, "cannot share memory with a load generator: %s",
			       strerror(errno));
	}
	child->pid = fork();
	if (!child->pid)
		child_main(parent, cpu, child->shared, run, arg);
	if (child->pid > 0)
		return 0;
	rc = err_set(err, -errno, "cannot start a load generator: %s", strerror(errno));
	gen_child_stop(child);
	return rc;
}

bool gen_child_alive(const struct gen_child *child)
{
	siginfo_t info = {0};

	/* With WNOWAIT, waitid() does not reap the child. gen_child_stop() reaps the child. */
	return child->pid > 0 && !waitid(P_PID, child->pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
	       !info.si_pid;
}

bool gen_child_on(const struct gen_child *child, int cpu)
{
	struct cpuset bound;

	return gen_child_alive(child) && !affinity_get(child->pid, &bound) &&
	       cpuset_count(&bound) == 1 && cpuset_has(&bound, cpu);
}

void gen_child_stop(struct gen_child *child)
{
	if (child->pid > 0) {
		kill(child->pid, SIGKILL);
		while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	child->pid = 0;
	if (child->shared)
		munmap(child->shared, child->size);
	child->shared = NULL;
}

static void loop(unsigned int turns)
{
	for (volatile unsigned int i = 0; i < turns; i++)
		;
}

/* Makes @times system calls with an invalid time, which fail immediately. */
static void call(unsigned int times)
{
	const struct timespec bad = {.tv_nsec = 2000000000};

	for (unsigned int i = 0; i < times; i++)
		nanosleep(&bad, NULL);
}

static void mix_run(void *shared, void *arg)
{
	enum cpu_mix_kind kind = *(enum cpu_mix_kind *)arg;
	struct timespec delay;

	for (uint64_t round = 0;; round++) {
		loop(kind == CPU_MIX_SYSTEM ? 2000 : 200000);
		if (kind != CPU_MIX_IDLE) {
			call(kind == CPU_MIX_SYSTEM ? 2000 : 20);
			continue;
		}
		/* Sleep 0.2 to 5 ms, so that the CPU leaves idle at many phases of the tick. */
		delay = clock_timespec((200 + round * 367 % 4800) * NSEC_PER_USEC);
		nanosleep(&delay, NULL);
	}
}

int cpu_mix_start(struct gen_child *mix, enum cpu_mix_kind kind, int cpu, struct err *err)
{
	return gen_child_start(mix, cpu, sizeof(uint64_t), mix_run, &kind, err);
}

struct sleep_shared {
	uint32_t go, halt, done;
	struct sleep_loop_result result;
};

/* Sleeps on a futex without a timer, so that the waiting process does not load the core. */
static void wait_for(uint32_t *word)
{
	while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

/*
 * Reads wall clock, thread clock and rusage at nearly the same time. Keeps the fastest of three
 * attempts, because interrupts and preemption lengthen an attempt.
 */
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
		*at = (struct sleep_loop_result){
			.real_ns = before + took / 2,
			.user_ns = timeval_ns(usage.ru_utime),
			.system_ns = timeval_ns(usage.ru_stime),
			.thread_ns = from + (to - from) / 2,
		};
	}
}

static void sleep_run(void *memory, void *arg)
{
	const struct sleep_loop_opts *opts = arg;
	struct sleep_shared *shared = memory;
	struct timespec delay = opts->delay_ns ? clock_timespec(opts->delay_ns)
					       : (struct timespec){.tv_nsec = 2000000000};
	/* number of iterations between two clock reads, so that clock reads add little time */
	uint64_t batch = NSEC_PER_MSEC / (opts->delay_ns + 500) ?: 1;
	uint64_t most = opts->iterations ?: UINT64_MAX, done = 0;
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
	/* Do not exit, because the parent still reads /proc/PID/stat of this process. */
	for (;;)
		pause();
}

int sleep_loop_start(struct gen_child *loop, const struct sleep_loop_opts *opts, struct err *err)
{
	struct sleep_loop_opts own = *opts;

	return gen_child_start(loop, opts->cpu, sizeof(struct sleep_shared), sleep_run, &own, err);
}

void sleep_loop_go(struct gen_child *loop)
{
	struct sleep_shared *shared = loop->shared;

	__atomic_store_n(&shared->go, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &shared->go, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void sleep_loop_halt(struct gen_child *loop)
{
	struct sleep_shared *shared = loop->shared;

	__atomic_store_n(&shared->halt, 1, __ATOMIC_RELAXED);
}

bool sleep_loop_done(const struct gen_child *loop, struct sleep_loop_result *ret_result)
{
	const struct sleep_shared *shared = loop->shared;

	if (!__atomic_load_n(&shared->done, __ATOMIC_ACQUIRE))
		return false;
	*ret_result = shared->result;
	return true;
}
