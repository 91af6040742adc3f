/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens and reads residency counters, and derives which idle states were entered. */
#include "measure/wake/depth.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "host/cpu.h"
#include "host/file.h"

#define PMU_DIR "/sys/bus/event_source/devices"
/*
 * First package C-state that counts as sleep. PC2 does not count, because caches and memory are
 * still powered in PC2.
 */
#define PACKAGE_SLEEPS 3

/* Parses a file of a PMU event, such as "event=0x02". */
static int read_config(const char *root, const char *path, uint64_t *ret_config)
{
	char text[32], *end;
	int rc = sys_read_file(root, path, text, sizeof(text));

	if (rc < 0 || strncmp(text, "event=", 6) || !isxdigit((unsigned char)text[6]))
		return rc < 0 ? rc : -1;
	*ret_config = strtoull(text + 6, &end, 0);
	return *end ? -1 : 0;
}

int cstate_list(const char *root, bool package, struct perf_event events[CSTATE_MAX])
{
	const char *pmu = package ? "cstate_pkg" : "cstate_core";
	uint64_t type, config;
	int nr = 0;

	if (sys_read_u64(root, SYS_PATH(PMU_DIR "/%s/type", pmu), &type))
		return 0;
	for (int state = 0; state <= 10 && nr < CSTATE_MAX; state++) {
		if (read_config(root, SYS_PATH(PMU_DIR "/%s/events/c%d-residency", pmu, state),
				&config))
			continue;
		events[nr] = (struct perf_event){.types = {type}, .nr_types = 1, .config = config};
		snprintf(events[nr++].name, sizeof(events[0].name), "%sC%d", package ? "P" : "",
			 state);
	}
	return nr;
}

int cstate_number(const char *driver, const char *name, const char *desc)
{
	/* C-state numbers of Intel processors, by the upper four bits of the MWAIT hint */
	static const signed char of_hint[] = {1, 3, 6, 7, 8, 9, 10};
	const char *hint = strstr(desc, "MWAIT 0x");
	unsigned long value;

	if (!strcmp(driver, "intel_idle") && name[0] == 'C' && isdigit((unsigned char)name[1]) &&
	    !strstr(name, "ACPI"))
		return atoi(name + 1);
	/* the processor defines MWAIT hints, but the firmware chooses ACPI names of states */
	if (!hint)
		return -1;
	value = strtoul(hint + strlen("MWAIT "), NULL, 16) >> 4;
	return value < sizeof(of_hint) ? of_hint[value] : -1;
}

/*
 * Opens the available residency counters. Since Linux 6.12, reading the counters on the measured
 * CPU sends no IPI. Before Linux 6.12, a read may send an IPI to the sibling hyperthread. Before
 * Linux 6.7, perf assigns package counters to one CPU of each die (docs/methods/wake.md).
 */
static void open_hw(struct wake_depth *d, const char *root, unsigned int cpu, bool package)
{
	struct cstate_set *set = &d->hw;
	struct perf_event events[CSTATE_MAX];
	struct perf_count count;
	int nr = cstate_list(root, package, events);

	array_for_each(event, events, nr) {
		int fd = perf_open_cpu(event, cpu, true);

		if (fd == -EMFILE && sys_more_descriptors())
			fd = perf_open_cpu(event, cpu, true);
		if (fd < 0)
			continue;
		if (perf_read(fd, &count)) {
			close(fd);
			continue;
		}
		snprintf(d->name[set->nr], sizeof(d->name[0]), "%.7s", event->name);
		set->number[set->nr] = atoi(event->name + (package ? 2 : 1));
		set->package[set->nr] = package;
		set->fd[set->nr++] = fd;
	}
}

int cstate_counter(const struct cstate_set *set, int number)
{
	int deepest = -1;

	for (int i = 0; i < set->nr; i++) {
		if (set->package[i])
			continue;
		if (set->number[i] == number)
			return i;
		/* the counter of C7 also counts in deeper C-states, such as C8 */
		if (number > 7 && set->number[i] >= 6)
			deepest = i;
	}
	return deepest;
}

static void map_states(struct wake_depth *d, const char *root, unsigned int cpu)
{
	struct cpuidle_state states[CPUIDLE_MAX_STATES];
	struct cpuidle idle = {0};
	int nr = cpuidle_states(root, cpu, states);

	array_for_each(counter, d->counter_of, CPUIDLE_MAX_STATES)
		*counter = -1;
	if (cpuidle_read(root, &idle))
		return;
	for (int i = 0; i < nr; i++) {
		int number = cstate_number(idle.driver, states[i].name, states[i].desc);

		if (number < 0 || states[i].polls)
			continue;
		d->counter_of[i] = cstate_counter(&d->hw, number);
		d->package_can[i] = number >= PACKAGE_SLEEPS;
	}
}

static int open_counters(struct wake_depth *d, const char *root, unsigned int cpu,
			 size_t max_points)
{
	double hz = (double)cycles_hz();

	open_hw(d, root, cpu, false);
	open_hw(d, root, cpu, true);
	cpuidle_watch_open(&d->idle, root, cpu, false);
	map_states(d, root, cpu);
	d->opened = true;
	d->ns_per_cycle = hz > 0 ? 1e9 / hz : 0.0;
	d->nr_columns = d->hw.nr;
	if (d->idle.nr)
		strcpy(d->name[d->nr_columns++], "cpuidle");
	if (!d->nr_columns)
		return 0;
	d->ns = calloc(max_points, d->nr_columns * sizeof(*d->ns));
	if (!d->ns)
		return -ENOMEM;
	/* write to the array d->ns now, to avoid page faults during the measurement */
	memset(d->ns, 0xff, max_points * d->nr_columns * sizeof(*d->ns));
	d->max_points = max_points;
	return 0;
}

/* Reads all residency counters. After the first read error, returns false without reading. */
static bool read_all(struct wake_depth *d, uint64_t ret_cycles[CSTATE_COUNTERS],
		     struct cpuidle_count ret_idle[CPUIDLE_MAX_STATES])
{
	struct perf_count count = {0};

	for (int i = 0; i < d->hw.nr && !d->broken; i++) {
		d->broken = perf_read(d->hw.fd[i], &count);
		ret_cycles[i] = count.value;
	}
	d->broken = d->broken || cpuidle_watch_read(&d->idle, ret_idle);
	return !d->broken;
}

int wake_depth_begin(struct wake_depth *d, const char *root, unsigned int cpu, size_t max_points)
{
	int rc = d->opened ? 0 : open_counters(d, root, cpu, max_points);

	if (!rc)
		read_all(d, d->last, d->idle_last);
	return rc;
}

/*
 * Converts a time in an idle state to an integer below UINT32_MAX, because UINT32_MAX is the value
 * for an unknown time.
 */
static uint32_t clamp_ns(double ns)
{
	return ns < UINT32_MAX - 1 ? (uint32_t)ns : UINT32_MAX - 1;
}

static enum wake_entered entered(bool yes)
{
	return yes ? WAKE_ENTERED_YES : WAKE_ENTERED_NO;
}

static enum wake_entered package_slept(const struct wake_depth *d, const uint64_t *cycles)
{
	enum wake_entered found = WAKE_ENTERED_UNKNOWN;

	for (int i = 0; i < d->hw.nr; i++)
		if (d->hw.package[i] && d->hw.number[i] >= PACKAGE_SLEEPS &&
		    found != WAKE_ENTERED_YES)
			found = entered(cycles[i]);
	return found;
}

void wake_depth_point(struct wake_depth *d, size_t index, struct wake_point *point)
{
	uint64_t now[CSTATE_COUNTERS], cycles[CSTATE_COUNTERS];
	struct cpuidle_count idle[CPUIDLE_MAX_STATES];
	uint32_t *ns = d->ns + index * d->nr_columns;
	unsigned int state = point->state;

	if (!d->nr_columns || index >= d->max_points || !read_all(d, now, idle))
		return;
	for (int i = 0; i < d->hw.nr; i++) {
		cycles[i] = now[i] - d->last[i];
		d->sum[i] += cycles[i];
		ns[i] = clamp_ns((double)cycles[i] * d->ns_per_cycle);
	}
	if (state < (unsigned int)d->idle.nr) {
		ns[d->hw.nr] =
			clamp_ns((double)(idle[state].time_ns - d->idle_last[state].time_ns));
		point->entered = entered(idle[state].usage != d->idle_last[state].usage);
	}
	/* the hardware may enter another idle state than cpuidle requested */
	if (state < CPUIDLE_MAX_STATES && d->counter_of[state] >= 0)
		point->entered = entered(cycles[d->counter_of[state]]);
	point->package = package_slept(d, cycles);
	memcpy(d->last, now, sizeof(d->last));
	memcpy(d->idle_last, idle, sizeof(d->idle_last));
}

const char *wake_depth_by(const struct wake_depth *d, unsigned int state)
{
	if (state < CPUIDLE_MAX_STATES && d->opened && d->counter_of[state] >= 0)
		return "cstate_core";
	return state < (unsigned int)d->idle.nr ? "cpuidle" : NULL;
}

void wake_depth_close(struct wake_depth *d)
{
	array_for_each(fd, d->hw.fd, d->hw.nr)
		close(*fd);
	cpuidle_watch_close(&d->idle);
	free(d->ns);
	*d = (struct wake_depth){0};
}
