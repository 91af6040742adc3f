/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the exporter itself executes where nobody asks it and next to nothing waits. */
#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "live.h"
#include "measured.h"
#include "scrape.h"
#include "truth.h"

#define PORT 7828
/* Until every array has its size and the pages of the program are there. */
#define WARM_MS 10000
#define SECONDS 20
/*
 * Instructions per window of 1 s, measured with the kernel of the list, and 2 % more. They only fall: the
 * target is a million, which is 0.1 % of a core that executes one per nanosecond.
 */
static const struct limit {
	const char *machine;
	uint64_t most;
} limits[] = {{"aarch64", 1353000}, {"x86_64", 1647000}};

static const char *const serve_args[] = {"serve",	   "--config", "/dev/null", "--listen",
					 "127.0.0.1:7828", NULL};

/* Run time of all threads by the kernel's accounting: an instruction is a nanosecond. */
static uint64_t ran_ns(pid_t pid)
{
	char path[64], file_path[384];
	const struct dirent *entry;
	uint64_t sum = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		uint64_t ran = 0;
		FILE *file;

		snprintf(file_path, sizeof(file_path), "%s/%s/schedstat", path, entry->d_name);
		file = *entry->d_name == '.' ? NULL : fopen(file_path, "re");
		if (!file)
			continue;
		if (fscanf(file, "%" SCNu64, &ran) != 1)
			live_fail_all("no figure in %s", file_path);
		sum += ran;
		fclose(file);
	}
	if (!dir || !sum)
		live_fail_all("no threads in %s", path);
	closedir(dir);
	return sum;
}

static double windows(const char *collector)
{
	char *text = scrape(PORT, "/metrics");
	double nr = scrape_value(text, "subtick_collector_updates_total{collector=\"%s\"}",
				 collector);

	free(text);
	return nr;
}

static uint64_t most_per_window(void)
{
	struct utsname name;

	if (uname(&name))
		live_fail_all("no uname");
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (!strcmp(limits[i].machine, name.machine))
			return limits[i].most;
	live_skip_all("no limit for %s", name.machine);
}

int main(void)
{
	static const char *const collectors[] = {"load", "runq", "wake"};
	double was[3];
	struct measured serve;
	uint64_t began_ns, ended_ns, most;
	char output[4096];

	truth_begin(1);
	most = most_per_window();
	measured_start(&serve, serve_args);
	scrape_wait(PORT);
	live_sleep_ms(WARM_MS);
	for (int i = 0; i < 3; i++)
		was[i] = windows(collectors[i]);
	/* Two windows later nothing is left of these scrapes. */
	live_sleep_ms(2000);
	began_ns = ran_ns(serve.pid);
	live_sleep_ms(SECONDS * 1000);
	ended_ns = ran_ns(serve.pid);
	for (int i = 0; i < 3; i++) {
		double more = windows(collectors[i]) - was[i];

		/* The figure is that of an exporter which measures. */
		live_ok(more >= SECONDS && more <= SECONDS + 4, "%s: %.0f windows in %d s",
			collectors[i], more, SECONDS + 2);
	}
	live_ok((ended_ns - began_ns) / SECONDS <= most,
		"%" PRIu64 " instructions per window of 1 s at rest, at most %" PRIu64,
		(ended_ns - began_ns) / SECONDS, most);
	live_ok(live_stop(serve.pid, SIGTERM, serve.fd, output, sizeof(output)) == 0,
		"ends cleanly");
	return live_done();
}
