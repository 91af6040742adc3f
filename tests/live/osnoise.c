/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether the kernel has the tracers osnoise and timerlat, what they do, and what noise counted. */
#include "osnoise.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live.h"
#include "host/file.h"
#include "host/mountinfo.h"
#include "host/procstat.h"

void osnoise_needed(char *root, size_t size)
{
	char path[2 * TRACEFS_PATH], text[512];
	struct err err = {0};

	if (tracefs_root(root, size, &err))
		live_skip_all("%s", err.what);
	snprintf(path, sizeof(path), "%s/available_tracers", root);
	if (sys_read_file(NULL, path, text, sizeof(text)) < 0 || !strstr(text, "osnoise") ||
	    !strstr(text, "timerlat"))
		live_skip_all("this kernel has no tracers osnoise and timerlat");
}

pid_t osnoise_thread(const char *tool, int cpu)
{
	char wanted[32], path[300], name[64];
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	pid_t pid = 0;

	snprintf(wanted, sizeof(wanted), "%s/%d", tool, cpu);
	while (dir && !pid && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		if (atoi(entry->d_name) && sys_read_file(NULL, path, name, sizeof(name)) > 0 &&
		    !strcmp(name, wanted))
			pid = atoi(entry->d_name);
	}
	if (dir)
		closedir(dir);
	return pid;
}

bool osnoise_look(pid_t pid, struct osnoise_look *ret_look)
{
	char path[32], text[1024], *rest;
	struct pidstat stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (sys_read_file(NULL, path, text, sizeof(text)) < 0 || pidstat_parse(text, &stat))
		return false;
	rest = strrchr(text, ')');
	*ret_look = (struct osnoise_look){rest[2], stat.system_ticks + stat.user_ticks};
	return true;
}

uint64_t osnoise_counted(const struct noise_window *w, uint32_t cpu, enum noise_kind first,
			 enum noise_kind last, const char *name)
{
	uint64_t count = 0;

	for (size_t i = 0; i < w->nr_sources; i++) {
		const struct noise_source *source = &w->sources[i];

		if (source->cpu == cpu && source->kind >= first && source->kind <= last &&
		    (!name || !strcmp(source->name, name)))
			count += source->count;
	}
	return count;
}
