/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures workloads without a command, with each command of a list, and with empty BPF programs on the same
 * tracepoints as each command. This program runs in a guest in virtual time. tests/bench/cost boots the guest and reads
 * the output.
 */
#include "cost.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/arch.h"
#include "base/clock.h"

/* Time after boot at which the kernel has chosen and calibrated its clocks. */
#define SETTLE_MS 10000
#define MAX_SETS  32

static const char *chosen;
bool cost_long = true;

static bool no_empty; /* true to skip the measurements with empty BPF programs */
static struct cost_events sets[MAX_SETS];
static size_t nr_sets;

static bool is_chosen(const char *name)
{
	size_t len = strlen(name);

	for (const char *at = chosen; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, name, len) && (!at[len] || at[len] == ','))
			return true;
	}
	return !strcmp(chosen, "all");
}

static bool is_rest(void)
{
	return !strcmp(chosen, "rest");
}

/*
 * Measures each workload of the command line. Prints a line with @name, @kind, the workload and the figures, or with
 * "why" and the reason of a failure.
 */
static void measure(const char *name, const char *kind)
{
	for (size_t i = 0; i < cost_nr_workloads; i++) {
		struct cost_figure figure;
		int rc;

		if (!is_chosen(cost_workloads[i].name))
			continue;
		/*
		 * Wait until the kernel's timers have expired. The console sets a timer of half a
		 * second. The scheduler's fair server sets a timer of two seconds when a task has
		 * run on a core.
		 */
		cost_sleep_ms(3000);
		rc = cost_workloads[i].run(&figure);
		if (rc)
			printf("cost\t%s\twhy\t%s: %s\n", name, cost_workloads[i].name,
			       strerror(-rc));
		else
			printf("cost\t%s\t%s\t%s\t%.0f\t%.3f\t%.0f\t%.0f\t%zu\t%.1f\t%.1f\n", name,
			       kind, cost_workloads[i].name, figure.typical, figure.share,
			       figure.low, figure.high, figure.nr, figure.mean, figure.error);
		fflush(stdout);
	}
}

/*
 * Returns the index of a set of tracepoints in sets[]. Adds the set of tracepoints to sets[] if
 * sets[] does not contain the set.
 */
static size_t find_set(const struct cost_events *events, bool *ret_new)
{
	for (size_t i = 0; i < nr_sets; i++)
		if (cost_events_equal(&sets[i], events)) {
			*ret_new = false;
			return i;
		}
	if (nr_sets == MAX_SETS)
		abort();
	sets[nr_sets] = *events;
	*ret_new = true;
	return nr_sets++;
}

static void say_events(const char *name, const char *set, const struct cost_events *events)
{
	printf("cost\t%s\tset\t%s\t", name, set);
	for (size_t i = 0; i < events->nr; i++)
		printf("%s%s", i ? " " : "", events->names[i]);
	printf("\t%zu\n", events->nr_other);
}

static void measure_rest(const char *name, const char *line)
{
	struct cost_attached attached = {0};
	double mean;
	char why[256];
	int rc = cost_attached_start(&attached, line, why, sizeof(why));

	if (rc) {
		printf("cost\t%s\twhy\t%s\n", name, why);
		return;
	}
	rc = cost_rest(attached.pids[0], &mean);
	cost_attached_stop(&attached);
	if (rc)
		printf("cost\t%s\twhy\trest: %s\n", name, strerror(-rc));
	else
		printf("cost\t%s\trest\t%ld\t%.0f\n", name, sysconf(_SC_NPROCESSORS_ONLN), mean);
}

static void measure_command(const char *name, const char *line)
{
	struct cost_events events;
	struct cost_attached attached = {0};
	char why[256], set[24];
	bool is_new = false;
	int rc = cost_attached_start(&attached, line, why, sizeof(why));

	if (rc) {
		printf("cost\t%s\twhy\t%s\n", name, why);
		return;
	}
	cost_events_now(&events);
	cost_long = strstr(line, "--sample");
	measure(name, "command");
	cost_long = false;
	cost_attached_stop(&attached);
	if (no_empty)
		return;
	if (!events.nr) {
		printf("cost\t%s\tset\t-\t\t%zu\n", name, events.nr_other);
		return;
	}
	snprintf(set, sizeof(set), "%zu", find_set(&events, &is_new));
	say_events(name, set, &events);
	if (!is_new)
		return;
	rc = cost_empty_attach(&events);
	if (rc)
		printf("cost\tempty %s\twhy\tcannot attach empty programs: %s\n", set,
		       strerror(-rc));
	else
		measure(set, "empty");
	cost_empty_detach();
}

/*
 * True if this machine has virtual time. In virtual time the cycle counter and the monotonic clock advance at the same
 * rate.
 */
static bool is_virtual_time(void)
{
	const char *text = getenv("SUBTICK_VIRTUAL_TIME");
	uint64_t mono = clock_mono_ns(), cycles = arch_cycles();

	for (volatile int i = 0; i < 1000000; i++)
		;
	mono = clock_mono_ns() - mono;
	cycles = arch_cycles() - cycles;
	return text && !strcmp(text, "1") && sysconf(_SC_NPROCESSORS_ONLN) >= 2 &&
	       llabs((long long)(mono - cycles)) < (long long)mono / 1000;
}

/*
 * Removes tasks and timers from CPU 1. Each queued timer of the watchdog or of the shell would add 8 to 15 instructions
 * whenever CPU 1 sets a timer.
 */
static void clear_cpu1(void)
{
	FILE *watchdog = fopen("/proc/sys/kernel/watchdog", "we");
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	cpu_set_t one;

	if (watchdog) {
		fputs("0", watchdog);
		fclose(watchdog);
	}
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	/* Per-CPU kernel threads cannot be moved to another CPU. */
	while (proc && (entry = readdir(proc)))
		if (atoi(entry->d_name) > 0)
			sched_setaffinity(atoi(entry->d_name), sizeof(one), &one);
	if (proc)
		closedir(proc);
}

int main(int argc, char **argv)
{
	char line[1024];
	FILE *list;

	no_empty = argc == 4 && !strcmp(argv[3], "--no-empty");
	if (argc != 3 + no_empty || !(list = fopen(argv[2], "re"))) {
		fprintf(stderr, "usage: bench-cost WORKLOAD,...|all LIST [--no-empty]\n"
				"LIST has a name, a tab and a command per line\n"
				"--no-empty: not also with empty programs on the same events\n");
		return 64;
	}
	chosen = argv[1];
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (getenv("SUBTICK_VIRTUAL_TIME")) {
		clear_cpu1();
		cost_sleep_ms(SETTLE_MS);
	}
	if (!is_virtual_time()) {
		fprintf(stderr,
			"not a guest in virtual time with 2 or more processors and a clock of 1 GHz: "
			"tests/bench/cost boots one\n");
		return 77;
	}
	if (is_rest())
		cost_pin(0);
	else
		measure("nothing", "command");
	while (fgets(line, sizeof(line), list)) {
		char *command = strchr(line, '\t');

		line[strcspn(line, "\n")] = '\0';
		if (!command)
			continue;
		*command++ = '\0';
		if (is_rest())
			measure_rest(line, command);
		else
			measure_command(line, command);
	}
	fclose(list);
	cost_long = true;
	/*
	 * Measure the workloads without a command again, after all commands. An operation takes
	 * more instructions in the second measurement than in the first if a command left BPF
	 * programs attached.
	 */
	if (!is_rest())
		measure("nothing again", "command");
	return 0;
}
