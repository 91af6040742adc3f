/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds and reads the cstate_core PMU. */
#include "sys/cstate.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/file.h"

#define PMU_DIR "/sys/bus/event_source/devices/cstate_core"

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

int cstate_list(const char *root, struct perf_event events[CSTATE_MAX])
{
	uint64_t type, config;
	int nr = 0;

	if (sys_read_u64(root, PMU_DIR "/type", &type))
		return 0;
	for (int state = 0; state <= 10 && nr < CSTATE_MAX; state++) {
		char path[96];

		snprintf(path, sizeof(path), PMU_DIR "/events/c%d-residency", state);
		if (read_config(root, path, &config))
			continue;
		events[nr] = (struct perf_event){.type = type, .config = config};
		snprintf(events[nr++].name, sizeof(events[0].name), "C%d", state);
	}
	return nr;
}

void cstate_begin(struct cstate_set *set, const char *root, unsigned int cpu)
{
	struct perf_event events[CSTATE_MAX];
	struct perf_count count;
	int nr = cstate_list(root, events);

	memset(set, 0, sizeof(*set));
	for (int i = 0; i < nr; i++) {
		int fd = perf_open_cpu(&events[i], cpu, true);

		if (fd < 0)
			continue;
		if (perf_read(fd, &count)) {
			close(fd);
			continue;
		}
		snprintf(set->name[set->nr], sizeof(set->name[0]), "%.7s", events[i].name);
		set->begin[set->nr] = count.value;
		set->fd[set->nr++] = fd;
	}
}

void cstate_end(struct cstate_set *set)
{
	struct perf_count count;

	for (int i = 0; i < set->nr; i++) {
		if (!perf_read(set->fd[i], &count))
			set->cycles[i] = count.value - set->begin[i];
		close(set->fd[i]);
	}
}
