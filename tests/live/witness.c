/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the activity of a core during a test: run time and run delay of tasks, steal time,
 * interrupts.
 */
#include "witness.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/clock.h"
#include "live.h"

/* Reads steal time and user-mode time of @cpu, and the number of tasks ever started. */
static void read_stat(int cpu, struct witness_reading *reading)
{
	uint64_t tick_ns = NSEC_PER_SEC / sysconf(_SC_CLK_TCK), steal, user, nice;
	FILE *file = fopen("/proc/stat", "re");
	char line[65536];
	int nr;

	while (file && fgets(line, sizeof(line), file)) {
		/*
		 * Skip the line "cpu 123 …" for all CPUs. sscanf() would match this line, because
		 * %d skips blanks.
		 */
		if (isdigit((unsigned char)line[3]) &&
		    sscanf(line, "cpu%d %" SCNu64 " %" SCNu64 " %*u %*u %*u %*u %*u %" SCNu64, &nr,
			   &user, &nice, &steal) == 4 &&
		    (cpu < 0 || nr == cpu)) {
			reading->steal_ns += steal * tick_ns;
			reading->user_ns += (user + nice) * tick_ns;
			reading->online = true;
		}
		sscanf(line, "processes %" SCNu64, &reading->forks);
	}
	if (file)
		fclose(file);
}

/* Returns the number of @cpu's column in /proc/interrupts, which has one column per online CPU. */
static int column_of(char *header, int cpu)
{
	int column = 0;

	for (char *word = strtok(header, " \n"); word; word = strtok(NULL, " \n"), column++)
		if (!strncmp(word, "CPU", 3) && atoi(word + 3) == cpu)
			return column;
	return -1;
}

/*
 * Returns the number of interrupts in one line of /proc/interrupts. A line of /proc/interrupts
 * without a column for each CPU (ERR, MIS) counts as 0.
 */
static uint64_t irqs_of_line(const char *line, int column, int columns)
{
	const char *at = strchr(line, ':');
	uint64_t sum = 0;

	if (!at)
		return 0;
	at++;
	for (int i = 0; i < columns; i++) {
		char *end;
		uint64_t count = strtoull(at, &end, 10);

		if (end == at)
			return 0;
		at = end;
		if (column < 0 || i == column)
			sum += count;
	}
	return sum;
}

/*
 * Timer interrupts are counted separately, because the test and every sleeping task cause timer
 * interrupts.
 */
static void read_irqs(int cpu, struct witness_reading *reading)
{
	FILE *file = fopen("/proc/interrupts", "re");
	int column = -1, columns = 0;
	char line[65536];

	if (!file || !fgets(line, sizeof(line), file))
		goto out;
	for (const char *at = line; (at = strstr(at, "CPU")); at++)
		columns++;
	if (cpu >= 0) {
		column = column_of(line, cpu);
		if (column < 0)
			goto out;
	}
	while (fgets(line, sizeof(line), file)) {
		uint64_t count = irqs_of_line(line, column, columns);

		if (strcasestr(line, "timer"))
			reading->timers += count;
		else
			reading->irqs += count;
	}
out:
	if (file)
		fclose(file);
}

/* Returns the idle time of @cpu in ns, or 0 if the kernel does not account idle time. */
static uint64_t idle_of(int cpu)
{
	FILE *file = fopen("/proc/timer_list", "re");
	uint64_t sum = 0, ns;
	int at = -1;
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "cpu: %d", &at);
		if (at == cpu && (sscanf(line, " .idle_sleeptime : %" SCNu64, &ns) == 1 ||
				  sscanf(line, " .iowait_sleeptime: %" SCNu64, &ns) == 1))
			sum += ns;
	}
	if (file)
		fclose(file);
	return sum;
}

/*
 * Reads the idle time on @cpu itself, because the kernel accounts an idle period when it ends.
 * Returns 0 if the idle time of a core cannot be read.
 */
static uint64_t read_idle(int cpu)
{
	uint64_t sum = 0, one;
	cpu_set_t mine;
	int nr = get_nprocs_conf();

	if (sched_getaffinity(0, sizeof(mine), &mine))
		return 0;
	for (int at = 0; at < nr; at++) {
		if (cpu >= 0 && at != cpu)
			continue;
		live_pin(at);
		one = sched_getcpu() == at ? idle_of(at) : 0;
		if (!one) {
			sum = 0;
			break;
		}
		sum += one;
	}
	sched_setaffinity(0, sizeof(mine), &mine);
	return sum;
}

static void read_children(struct witness_reading *reading)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	reading->children_user_ns =
		usage.ru_utime.tv_sec * NSEC_PER_SEC + usage.ru_utime.tv_usec * NSEC_PER_USEC;
	reading->children_ns = reading->children_user_ns + usage.ru_stime.tv_sec * NSEC_PER_SEC +
			       usage.ru_stime.tv_usec * NSEC_PER_USEC;
}

static void read_all(int cpu, struct witness_reading *reading)
{
	*reading = (struct witness_reading){0};
	witness_tasks_read(&reading->tasks);
	read_stat(cpu, reading);
	read_irqs(cpu, reading);
	read_children(reading);
	reading->reading_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	reading->idle_ns = read_idle(cpu);
	reading->reading_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - reading->reading_ns;
	reading->at_ns = clock_mono_ns();
}

/*
 * Returns the share of user-mode time that no known task accounts for: the time of tasks that
 * started and exited between the two readings. Interrupts of the test cannot cause user-mode time.
 */
static double unseen_user(const struct witness_reading *first, const struct witness_reading *last,
			  const struct witness_work *work)
{
	double known = (double)(last->children_user_ns - first->children_user_ns) +
		       (double)(work->own_ns + work->others_ns);

	return fmax(0.0, ((double)(last->user_ns - first->user_ns) - known) /
				 (double)(last->at_ns - first->at_ns));
}

/* Returns the share of busy time that neither known tasks nor interrupts account for. */
static double unseen(const struct witness *witness, const struct witness_reading *last,
		     const struct witness_work *work, struct witness_seen *seen)
{
	const struct witness_reading *first = &witness->first;
	double window = (double)(last->at_ns - first->at_ns), known;
	uint64_t irqs = last->irqs - first->irqs + last->timers - first->timers;

	seen->idle = NAN;
	if (!first->idle_ns || !last->idle_ns)
		return unseen_user(first, last, work);
	seen->idle = (double)(last->idle_ns - first->idle_ns) / window;
	if (witness->limits.own_interrupts)
		return unseen_user(first, last, work);
	known = seen->own +
		(double)(irqs * WITNESS_IRQ_NS + first->reading_ns + last->reading_ns) / window;
	known += seen->others + seen->threads + seen->steal;
	return fmax(0.0, (witness->cpu < 0 ? get_nprocs_conf() : 1) - seen->idle - known);
}

void witness_open(struct witness *witness, int cpu, const struct witness_limits *limits)
{
	*witness = (struct witness){.cpu = cpu, .limits = *limits};
}

void witness_begin(struct witness *witness)
{
	witness_tasks_free(&witness->first.tasks);
	read_all(witness->cpu, &witness->first);
}

void witness_end(struct witness *witness, struct witness_seen *ret_seen)
{
	const struct witness_reading *first = &witness->first;
	struct witness_seen seen = {0};
	struct witness_reading last;
	struct witness_work work;
	uint64_t gone, irqs;
	double window;

	read_all(witness->cpu, &last);
	witness_tasks_between(&first->tasks, &last.tasks, witness->cpu, &work);
	window = (double)(last.at_ns - first->at_ns);
	gone = last.forks - first->forks;
	gone -= gone < work.born ? gone : work.born;
	irqs = last.irqs - first->irqs;
	seen.nr_gone = gone > witness->limits.own_forks ? gone - witness->limits.own_forks : 0;
	seen.nr_irqs = irqs > witness->limits.own_irqs ? irqs - witness->limits.own_irqs : 0;
	seen.seconds = window / 1e9;
	seen.others = (double)work.others_ns / window;
	/*
	 * On PREEMPT_RT, kernel threads run the timers of the test, so kernel threads do not count
	 * as disturbance.
	 */
	seen.threads = live_realtime() ? 0.0 : (double)work.threads_ns / window;
	/* The steal counter in /proc/stat may decrease after a core went offline. */
	if (last.steal_ns > first->steal_ns)
		seen.steal = (double)(last.steal_ns - first->steal_ns) / window;
	seen.irqs = (double)seen.nr_irqs * WITNESS_IRQ_NS / window;
	seen.own = (double)(work.own_ns + last.children_ns - first->children_ns) / window;
	seen.gone = fmax((double)(seen.nr_gone * WITNESS_GONE_NS + work.died * WITNESS_DIED_NS) /
				 window,
			 unseen(witness, &last, &work, &seen));
	seen.taken = seen.others + seen.threads + seen.steal + seen.irqs + seen.gone;
	if (!first->online || !last.online)
		seen.taken = fmax(1.0, seen.taken);
	seen.waited = (double)work.waited_ns / window;
	witness_tasks_free(&last.tasks);
	*ret_seen = seen;
}

void witness_close(struct witness *witness)
{
	witness_tasks_free(&witness->first.tasks);
}

static void __attribute__((format(printf, 3, 4)))
append(char *text, size_t size, const char *fmt, ...)
{
	size_t len = strlen(text);
	va_list ap;

	if (len && len + 2 < size) {
		strcpy(text + len, ", ");
		len += 2;
	}
	va_start(ap, fmt);
	vsnprintf(text + len, size - len, fmt, ap);
	va_end(ap);
}

void witness_format(const struct witness_seen *seen, char *ret_text, size_t size)
{
	snprintf(ret_text, size,
		 "%.2f s: %.2f %% of the core taken (other programs %.2f, kernel threads %.2f, "
		 "steal %.2f, %llu interrupts %.2f, exited tasks %.2f), the test itself waited "
		 "%.2f %%, own tasks %.2f %%, idle %.2f %%",
		 seen->seconds, seen->taken * 100.0, seen->others * 100.0, seen->threads * 100.0,
		 seen->steal * 100.0, (unsigned long long)seen->nr_irqs, seen->irqs * 100.0,
		 seen->gone * 100.0, seen->waited * 100.0, seen->own * 100.0, seen->idle * 100.0);
}

bool witness_disturbed(const struct witness_limits *limits, const struct witness_seen *seen,
		       char *ret_why, size_t size)
{
	bool taken = seen->taken > limits->taken;
	bool waited = limits->waited >= 0.0 && seen->waited > limits->waited;

	ret_why[0] = '\0';
	if (taken)
		append(ret_why, size, "%.2f %% of the core was taken, %.2f is allowed",
		       seen->taken * 100.0, limits->taken * 100.0);
	if (waited)
		append(ret_why, size, "the test itself waited %.2f %% of the time, %.2f is allowed",
		       seen->waited * 100.0, limits->waited * 100.0);
	return taken || waited;
}
