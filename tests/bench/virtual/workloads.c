/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The workloads, and what one operation of each takes. */
#include "cost.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define WARM_UP 200
#define SINGLES 2000

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/*
 * The most frequent value, not the median: operations take one of few exact values, as each some that cross
 * a period of the scheduler's load tracking, and 51 to 58 of 100 take the lowest.
 */
struct cost_figure cost_figure_of(double *values, size_t nr)
{
	struct cost_figure figure = {.nr = nr};
	size_t most = 0, from = 0;

	qsort(values, nr, sizeof(*values), compare);
	for (size_t i = 1; i <= nr; i++) {
		if (i < nr && values[i] <= values[from])
			continue;
		if (i - from > most) {
			most = i - from;
			figure.typical = values[from];
		}
		from = i;
	}
	figure.share = (double)most / (double)nr;
	figure.low = values[nr / 4];
	figure.high = values[nr * 3 / 4];
	return figure;
}

void cost_pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

void cost_sleep_ms(unsigned int ms)
{
	struct timespec time = clock_timespec(ms * NSEC_PER_MSEC);

	nanosleep(&time, NULL);
}

static void echo(int in, int out)
{
	char byte;

	while (read(in, &byte, 1) == 1)
		if (write(out, &byte, 1) != 1)
			break;
	_exit(0);
}

static bool pass(int out, int in)
{
	char byte = 0;

	return write(out, &byte, 1) == 1 && read(in, &byte, 1) == 1;
}

/* Each single operation is timed, so that those with a tick in them do not count. */
static int time_singles(int out, int in, struct cost_figure *ret_figure)
{
	static double took[SINGLES];

	for (int i = -WARM_UP; i < SINGLES; i++) {
		uint64_t begin = clock_mono_ns();

		if (!pass(out, in))
			return -EPIPE;
		if (i >= 0)
			took[i] = (double)(clock_mono_ns() - begin);
	}
	*ret_figure = cost_figure_of(took, SINGLES);
	return 0;
}

/* Two processes on CPU 1 pass a byte to and fro: two switches. CPU 0 sleeps. */
static int run_pipe(struct cost_figure *ret_figure)
{
	int there[2], back[2], rc;
	pid_t pid;

	if (pipe(there) || pipe(back))
		return -errno;
	cost_pin(1);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		close(there[1]);
		close(back[0]);
		echo(there[0], back[1]);
	}
	rc = time_singles(there[1], back[0], ret_figure);
	cost_pin(0);
	close(there[0]);
	close(there[1]);
	close(back[0]);
	close(back[1]);
	waitpid(pid, NULL, 0);
	return rc;
}

const struct cost_workload cost_workloads[] = {
	{"pipe", run_pipe},
};
const size_t cost_nr_workloads = sizeof(cost_workloads) / sizeof(cost_workloads[0]);
