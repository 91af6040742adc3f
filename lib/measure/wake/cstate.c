/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds and reads the cstate_core and cstate_pkg PMUs. */
#include "measure/wake/cstate.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/file.h"

#define PMU_DIR "/sys/bus/event_source/devices"

/* The file contains "event=0x02". */
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
	char path[96];
	int nr = 0;

	snprintf(path, sizeof(path), PMU_DIR "/%s/type", pmu);
	if (sys_read_u64(root, path, &type))
		return 0;
	for (int state = 0; state <= 10 && nr < CSTATE_MAX; state++) {
		snprintf(path, sizeof(path), PMU_DIR "/%s/events/c%d-residency", pmu, state);
		if (read_config(root, path, &config))
			continue;
		events[nr] = (struct perf_event){.type = type, .config = config};
		snprintf(events[nr++].name, sizeof(events[0].name), "%sC%d", package ? "P" : "",
			 state);
	}
	return nr;
}

int cstate_number(const char *driver, const char *name, const char *desc)
{
	/* By the upper half of the MWAIT hint, plus 1, of Intel's Core and Xeon families. */
	static const signed char of_hint[] = {1, 3, 6, 7, 8, 9, 10};
	const char *hint = strstr(desc, "MWAIT 0x");
	unsigned long value;

	if (!strcmp(driver, "intel_idle") && name[0] == 'C' && isdigit((unsigned char)name[1]) &&
	    !strstr(name, "ACPI"))
		return atoi(name + 1);
	/* The firmware's C1, C2 and C3 are numbers of its own; the hint is the processor's. */
	if (!hint)
		return -1;
	value = strtoul(hint + strlen("MWAIT "), NULL, 16) >> 4;
	return value < sizeof(of_hint) ? of_hint[value] : -1;
}

static void open_counters(struct cstate_set *set, const char *root, unsigned int cpu, bool package)
{
	struct perf_event events[CSTATE_MAX];
	struct perf_count count;
	int nr = cstate_list(root, package, events);

	for (int i = 0; i < nr; i++) {
		int fd = perf_open_cpu(&events[i], cpu, true);

		if (fd == -EMFILE && sys_more_descriptors())
			fd = perf_open_cpu(&events[i], cpu, true);
		if (fd < 0)
			continue;
		if (perf_read(fd, &count)) {
			close(fd);
			continue;
		}
		snprintf(set->name[set->nr], sizeof(set->name[0]), "%.7s", events[i].name);
		set->number[set->nr] = atoi(events[i].name + (package ? 2 : 1));
		set->package[set->nr] = package;
		set->fd[set->nr++] = fd;
	}
}

void cstate_open(struct cstate_set *set, const char *root, unsigned int cpu)
{
	memset(set, 0, sizeof(*set));
	open_counters(set, root, cpu, false);
	open_counters(set, root, cpu, true);
}

int cstate_read(const struct cstate_set *set, uint64_t ret_cycles[CSTATE_COUNTERS])
{
	struct perf_count count;
	int rc = 0;

	for (int i = 0; i < set->nr && !rc; i++) {
		rc = perf_read(set->fd[i], &count);
		if (!rc)
			ret_cycles[i] = count.value;
	}
	return rc;
}

void cstate_close(struct cstate_set *set)
{
	for (int i = 0; i < set->nr; i++)
		close(set->fd[i]);
	set->nr = 0;
}

int cstate_counter(const struct cstate_set *set, int number)
{
	int deepest = -1;

	for (int i = 0; i < set->nr; i++) {
		if (set->package[i])
			continue;
		if (set->number[i] == number)
			return i;
		/* The core's deepest counter also runs in the states below it: C7's in C8 to C10. */
		if (number > 7 && set->number[i] >= 6)
			deepest = i;
	}
	return deepest;
}
