/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the workloads, and measures the instructions of single operations. */
#include "cost.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define WARM_UP 50
#define SINGLES 4500
#define PAIRS	9

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/*
 * Computes the figure of a workload from many operations. Each operation takes one of a few exact
 * numbers of instructions. In the workload pipe, 51 to 58 % of the operations take the lowest
 * number of instructions.
 */
struct cost_figure cost_figure_of(double *values, size_t nr, double reach)
{
	struct cost_figure figure = {.nr = nr};
	size_t most = 0, from = 0, within = 0;
	double sum = 0.0, squares = 0.0;

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
	for (size_t i = 0; i < nr; i++)
		if (values[i] >= figure.typical - 100 && values[i] <= figure.typical + reach) {
			sum += values[i] - figure.typical;
			squares += pow(values[i] - figure.typical, 2);
			within++;
		}
	sum /= (double)within;
	figure.mean = figure.typical + sum;
	figure.error = sqrt((squares / (double)within - sum * sum) / (double)within);
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

/* Measures each operation separately, so that operations with a tick can be excluded. */
static int time_singles(int out, int in, double *took, size_t nr)
{
	for (int i = -WARM_UP; i < (int)nr; i++) {
		uint64_t begin = clock_mono_ns();

		if (!pass(out, in))
			return -EPIPE;
		if (i >= 0)
			took[i] = (double)(clock_mono_ns() - begin);
	}
	return 0;
}

/*
 * Starts two processes on CPU 1 that pass a byte back and forth. The process that sends first
 * measures each round trip.
 */
static int run_pair(double *took, size_t nr)
{
	int there[2], back[2], status;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid) {
		cost_pin(1);
		if (pipe(there) || pipe(back))
			_exit(1);
		pid = fork();
		if (!pid) {
			close(there[1]);
			close(back[0]);
			echo(there[0], back[1]);
		}
		_exit(pid < 0 || time_singles(there[1], back[0], took, nr));
	}
	return waitpid(pid, &status, 0) != pid || status ? -EPIPE : 0;
}

/*
 * Workload pipe: two processes on CPU 1 send a byte back and forth through pipes. Each round trip
 * has two context switches. CPU 0 sleeps. The workload runs with several pairs of processes one
 * after the other, because a BPF program may treat some tasks differently.
 */
static int run_pipe(struct cost_figure *ret_figure)
{
	double *took = mmap(NULL, SINGLES * sizeof(*took), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int rc = 0;

	if (took == MAP_FAILED)
		return -errno;
	for (size_t pair = 0; !rc && pair < PAIRS; pair++)
		rc = run_pair(took + pair * SINGLES / PAIRS, SINGLES / PAIRS);
	if (!rc)
		*ret_figure = cost_figure_of(took, SINGLES, COST_REACH);
	munmap(took, SINGLES * sizeof(*took));
	return rc;
}

/*
 * Workload softirq: a task sends a datagram to itself over the loopback device. The NET_RX softirq
 * runs in the context of the sending task.
 */
static int run_softirq(struct cost_figure *ret_figure)
{
	static double took[SINGLES];
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&address, len) ||
	    getsockname(fd, (struct sockaddr *)&address, &len) ||
	    connect(fd, (struct sockaddr *)&address, len)) {
		rc = -errno;
	} else {
		cost_pin(1);
		rc = time_singles(fd, fd, took, SINGLES);
		cost_pin(0);
	}
	if (!rc)
		*ret_figure = cost_figure_of(took, SINGLES, COST_REACH);
	close(fd);
	return rc;
}

const struct cost_workload cost_workloads[] = {
	{"pipe", run_pipe},	  {"wakeup", cost_run_wakeup}, {"interrupt", cost_run_interrupt},
	{"softirq", run_softirq}, {"idle", cost_run_idle},
};
const size_t cost_nr_workloads = sizeof(cost_workloads) / sizeof(cost_workloads[0]);
