/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts the instructions of an idle exporter without scrapes and almost without waits, with few
 * cgroups and with many cgroups.
 */
#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "measured.h"
#include "scrape.h"
#include "truth.h"

#define PORT 7828
/*
 * Time in ms until every array of the exporter has its final size and all pages of the exporter are
 * resident.
 */
#define WARM_MS 10000
/*
 * Measured time in seconds. The exporter compares waits with schedstat every 10 s, so 60 s contain
 * six or seven comparisons. The seventh adds less than 2 % of the instructions, which is the margin
 * of the limits.
 */
#define SECONDS 60
#define PODS	   1000
#define CONTAINERS 3
/*
 * Limits for the instructions of the exporter per window of 1 s: the measured number of
 * instructions plus 2 %. The design targets of the exporter are one million instructions with few
 * cgroups, and three million instructions with 3,000 containers. One million instructions are 0.1 %
 * of a core that executes one instruction per ns.
 */
static const struct limit {
	const char *machine;
	uint64_t most, most_pods;
} limits[] = {{"aarch64", 885000, 1561000}, {"x86_64", 1647000, 3000000}};

#define SERVE "serve", "--config", "/dev/null", "--listen", "127.0.0.1:7828", "--collect", "load,runq,wake"

static const char *const serve_args[] = {SERVE, NULL};
static const char *const pods_args[] = {SERVE, "--cgroup-limit", "5000", NULL};

/*
 * Returns the run time of all threads of the process by the kernel's accounting. In the guest an
 * instruction takes one nanosecond.
 */
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

static const char *const collectors[] = {"load", "runq", "wake"};

/* Reads the number of windows of each collector, and returns the number of cgroups with series. */
static double windows(double ret_windows[3])
{
	char *text = scrape(PORT, "/metrics");
	double cgroups = scrape_value(text, "subtick_runqueue_cgroups");

	for (int i = 0; i < 3; i++)
		ret_windows[i] = scrape_value(
			text, "subtick_collector_updates_total{collector=\"%s\"}", collectors[i]);
	free(text);
	return cgroups;
}

static const struct limit *limit_here(void)
{
	struct utsname name;

	if (uname(&name))
		live_fail_all("no uname");
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (!strcmp(limits[i].machine, name.machine))
			return &limits[i];
	live_skip_all("no limit for %s", name.machine);
}

/*
 * Creates cgroups as kubelet does. A task of each cgroup waits once for a core, so that each
 * cgroup has counters, also of blame.
 */
static void enter_pods(void)
{
	char path[160];

	cgroups_mkdir("/kubepods");
	for (unsigned int pod = 0; pod < PODS; pod++) {
		snprintf(path, sizeof(path), "/kubepods/pod%08x-0000-4000-8000-000000000000", pod);
		cgroups_mkdir(path);
		for (unsigned int i = 0; i < CONTAINERS; i++) {
			snprintf(path, sizeof(path),
				 "/kubepods/pod%08x-0000-4000-8000-000000000000/%08x%056x", pod, pod, i);
			if (!cgroups_mkdir(path) || !cgroups_enter(path, 0))
				live_fail_all("cannot make and enter %s", path);
			live_sleep_ms(1);
		}
	}
	if (!cgroups_enter("", 0))
		live_fail_all("cannot leave the last cgroup");
}

/* Measures the idle exporter. Returns the number of cgroups with series. */
static double judge_rest(pid_t pid, const char *what, uint64_t most)
{
	uint64_t began_ns, ended_ns;
	double was[3], now[3], cgroups;

	live_sleep_ms(WARM_MS);
	windows(was);
	/* windows() scrapes the exporter. Wait 2 s, so that the scrape is not measured. */
	live_sleep_ms(2000);
	began_ns = ran_ns(pid);
	live_sleep_ms(SECONDS * 1000);
	ended_ns = ran_ns(pid);
	cgroups = windows(now);
	/* The number of instructions is valid only if each collector has a window per second. */
	for (int i = 0; i < 3; i++)
		live_ok(now[i] - was[i] >= SECONDS && now[i] - was[i] <= SECONDS + 4,
			"%s: %.0f windows in %d s", collectors[i], now[i] - was[i], SECONDS + 2);
	live_ok((ended_ns - began_ns) / SECONDS <= most,
		"%s: %" PRIu64 " instructions per window of 1 s at rest, at most %" PRIu64, what,
		(ended_ns - began_ns) / SECONDS, most);
	return cgroups;
}

static struct measured serve_begins(const char *const args[])
{
	struct measured serve;

	measured_start(&serve, args);
	scrape_wait(PORT);
	return serve;
}

static void serve_ends(const struct measured *serve)
{
	char output[4096];

	live_ok(live_stop(serve->pid, SIGTERM, serve->fd, output, sizeof(output)) == 0, "ends cleanly");
}

int main(void)
{
	const struct limit *limit;
	struct measured serve;
	double cgroups;

	truth_begin(1);
	limit = limit_here();
	cgroups_open();
	serve = serve_begins(serve_args);
	judge_rest(serve.pid, "few cgroups", limit->most);
	serve_ends(&serve);
	serve = serve_begins(pods_args);
	enter_pods();
	cgroups = judge_rest(serve.pid, "3,000 containers", limit->most_pods);
	live_ok(cgroups >= PODS * CONTAINERS, "%.0f cgroups have series", cgroups);
	serve_ends(&serve);
	return live_done();
}
