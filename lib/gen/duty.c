/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Duty-cycle generator: a task that runs a busy loop for a share of each period. */
#include "gen/loads.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/cpu.h"

/* Path of the file that DUTY_READ reads. READ_FILE is on a disk in most Linux installations. */
#define READ_FILE  "/proc/self/exe"
#define READ_BYTES 4096
#define READ_TRIES 16

/*
 * Shared memory with two copies of struct duty_usage. One copy is always complete, so the reader
 * never waits for the writer.
 */
struct shared {
	/* version number, always even; usage[version / 2 % 2] is the complete copy */
	uint64_t version;
	struct duty_usage usage[2];
};

static void publish(struct shared *shared, const struct duty_usage *usage)
{
	uint64_t next = __atomic_load_n(&shared->version, __ATOMIC_RELAXED) + 2;

	shared->usage[next / 2 % 2] = *usage;
	__atomic_store_n(&shared->version, next, __ATOMIC_RELEASE);
}

/* Random number by xorshift64, so that start times of burns are independent of the tick. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t burn_until(uint64_t end)
{
	uint64_t now;

	do
		now = clock_mono_ns();
	while (now < end);
	return now;
}

struct duty {
	struct duty_opts opts;
	int fd; /* descriptor of the file of DUTY_READ, or socket of DUTY_MESSAGE */
};

static bool read_block(int fd)
{
	char block[READ_BYTES] __attribute__((aligned(READ_BYTES)));

	return pread(fd, block, sizeof(block), 0) == sizeof(block);
}

/* Opens READ_FILE and checks that a read blocks. Reads from files in memory do not block. */
static int open_file(struct err *err)
{
	struct rusage from, to;
	int fd = open(READ_FILE, O_RDONLY | O_DIRECT | O_CLOEXEC);
	bool blocks = false;

	getrusage(RUSAGE_THREAD, &from);
	for (int i = 0; i < READ_TRIES && fd >= 0 && read_block(fd); i++)
		;
	getrusage(RUSAGE_THREAD, &to);
	blocks = to.ru_nvcsw - from.ru_nvcsw >= READ_TRIES / 2;
	if (fd >= 0 && blocks)
		return fd;
	if (fd >= 0)
		close(fd);
	return err_unsupported(err, -EOPNOTSUPP, "install subtick on a disk",
			       "reads of subtick's own file use no disk: its file system is in "
			       "memory, or has no direct I/O");
}

/* Peer task of DUTY_MESSAGE: computes after each request, then sends the answer. */
static void answer(int fd, int cpu, uint64_t compute_ns)
{
	char byte;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || affinity_pin(0, cpu))
		_exit(1);
	while (read(fd, &byte, 1) == 1) {
		burn_until(clock_mono_ns() + compute_ns);
		if (write(fd, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

/* Starts the peer task of DUTY_MESSAGE. Returns the socket to the peer task, or -1. */
static int start_peer(const struct duty_opts *opts, uint64_t compute_ns)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -1;
	pid = fork();
	if (!pid) {
		close(pair[0]);
		answer(pair[1], opts->peer_cpu, compute_ns);
	}
	close(pair[1]);
	return pid < 0 ? -1 : pair[0];
}

/*
 * Blocks by reads or messages until the next burn (busy loop). Returns the blocked time in ns, or
 * UINT64_MAX if the wait failed.
 */
static uint64_t wait_blocked(const struct duty *duty, uint64_t begin_ns)
{
	uint64_t from = clock_mono_ns(), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), took;
	char byte = 0;

	if (duty->opts.wait == DUTY_MESSAGE) {
		if (write(duty->fd, &byte, 1) != 1 || read(duty->fd, &byte, 1) != 1)
			return UINT64_MAX;
	} else {
		while (clock_mono_ns() < begin_ns)
			if (!read_block(duty->fd))
				return UINT64_MAX;
	}
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	took = clock_mono_ns() - from;
	return took > cpu ? took - cpu : 0;
}

static void run(void *memory, void *arg)
{
	struct duty *duty = arg;
	const struct duty_opts *opts = &duty->opts;
	struct shared *shared = memory;
	struct duty_usage usage = {0};
	uint64_t burn_ns = opts->duty * (double)opts->period_ns;
	uint64_t slack_ns = opts->period_ns - burn_ns;
	uint64_t phase_ns = opts->locked ? opts->phase_ns : 0;
	uint64_t random = clock_mono_ns() | 1;
	uint64_t period = clock_mono_ns() / opts->period_ns + 1;

	if (opts->nice)
		setpriority(PRIO_PROCESS, 0, opts->nice);
	if (opts->wait == DUTY_MESSAGE) {
		duty->fd = start_peer(opts, slack_ns);
		if (duty->fd < 0)
			return;
	}
	for (;; period++) {
		uint64_t begin = period * opts->period_ns, woke;
		struct timespec deadline;

		begin += opts->locked ? opts->phase_ns
			 : slack_ns   ? next_random(&random) % slack_ns
				      : 0;
		if (opts->wait != DUTY_TIMER) {
			uint64_t blocked = wait_blocked(duty, begin);

			if (blocked == UINT64_MAX)
				return;
			usage.wait_ns += blocked;
		} else if (clock_mono_ns() < begin) {
			deadline = clock_timespec(begin);
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
		}
		woke = clock_mono_ns();
		/* Run the busy loop for the full time even after a late wake-up. */
		usage.at_ns = burn_until(woke + burn_ns);
		usage.burn_ns += usage.at_ns - woke;
		usage.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		usage.cycles++;
		publish(shared, &usage);
		/*
		 * Skip missed periods instead of running their busy loops late. Each period starts
		 * phase_ns after a multiple of period_ns.
		 */
		if ((usage.at_ns - phase_ns) / opts->period_ns > period)
			period = (usage.at_ns - phase_ns) / opts->period_ns;
	}
}

int duty_start(struct gen_child *duty, const struct duty_opts *opts, struct err *err)
{
	struct duty own = {.opts = *opts, .fd = -1};
	int rc;

	if (opts->wait == DUTY_READ) {
		own.fd = open_file(err);
		if (own.fd < 0)
			return own.fd;
	}
	rc = gen_child_start(duty, opts->cpu, sizeof(struct shared), run, &own, err);
	if (own.fd >= 0)
		close(own.fd);
	return rc;
}

bool duty_read(const struct gen_child *duty, struct duty_usage *ret_usage)
{
	const struct shared *shared = duty->shared;
	uint64_t before, after;

	do {
		before = __atomic_load_n(&shared->version, __ATOMIC_ACQUIRE);
		*ret_usage = shared->usage[before / 2 % 2];
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		after = __atomic_load_n(&shared->version, __ATOMIC_RELAXED);
	} while (after > before);
	return after != 0;
}
