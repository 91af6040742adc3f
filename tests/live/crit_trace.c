/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests that `subtick crit --tracepoints` reports the cost of trace events and always disables the
 * events again.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crit_module.h"
#include "live.h"
#include "host/mountinfo.h"

#define TRACEFS "/sys/kernel/tracing/"

static bool events_on(void)
{
	char text[16] = "";

	file_read(TRACEFS "events/preemptirq/enable", text, sizeof(text));
	return text[0] != '0';
}

/*
 * True if a trace instance of subtick exists. @ret_on is true if trace events are enabled in the
 * instance.
 */
static bool instance_left(bool *ret_on)
{
	DIR *dir = opendir(TRACEFS "instances");
	struct dirent *entry;
	bool found = false;

	*ret_on = false;
	while (dir && (entry = readdir(dir))) {
		char path[512], text[16] = "";

		if (strncmp(entry->d_name, "subtick-", 8))
			continue;
		found = true;
		snprintf(path, sizeof(path), TRACEFS "instances/%s/events/preemptirq/enable",
			 entry->d_name);
		file_read(path, text, sizeof(text));
		*ret_on = *ret_on || text[0] == '1';
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Kills subtick while trace events are enabled. subtick's guard process must disable the events. */
static void check_guard(void)
{
	const char *program = getenv("SUBTICK");
	bool on = false, left = true;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
			_exit(1);
		execlp(program ? program : SUBTICK_PATH, "subtick", "crit", "--tracepoints", "-r",
		       "1", "-n", "100000", NULL);
		_exit(127);
	}
	for (int i = 0; i < 6000 && !on; i++) {
		live_sleep_ms(5);
		instance_left(&on);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 1000 && left; i++) {
		bool still_on;

		live_sleep_ms(10);
		left = instance_left(&still_on);
	}
	live_ok(on && !left && !events_on(),
		"killed with the events on: they are off and the instance is gone");
}

/* Creates a private mount namespace, in which the test mounts and unmounts tracefs. */
static void own_mounts(void)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		live_skip_all("no mount namespace of its own: %s", strerror(errno));
}

/*
 * Unmounts tracefs, and mounts a tmpfs over the tracing directory of debugfs. Debugfs stays
 * mounted, because it has the files of module tracerbench.
 */
static void hide_tracefs(void)
{
	const char *below_debugfs = "/sys/kernel/debug/tracing";
	struct mount tracefs;

	while (!mountinfo_find(NULL, "tracefs", NULL, &tracefs))
		if (umount2(tracefs.point, MNT_DETACH))
			live_fail_all("cannot unmount %s: %s", tracefs.point, strerror(errno));
	if (!access(below_debugfs, F_OK) && mount("tmpfs", below_debugfs, "tmpfs", 0, NULL))
		live_fail_all("cannot cover %s: %s", below_debugfs, strerror(errno));
}

/* True if the kernel's configuration is in one of the files that subtick reads. */
static bool config_readable(void)
{
	static const char *const places[][2] = {
		{"/boot/config-", ""},
		{"/lib/modules/", "/config"},
		{"/usr/lib/modules/", "/config"},
		{"/lib/modules/", "/build/.config"},
	};
	char path[512];
	struct utsname name;

	if (!access("/proc/config.gz", R_OK))
		return true;
	uname(&name);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), "%s%s%s", places[i][0], name.release, places[i][1]);
		if (!access(path, R_OK))
			return true;
	}
	return false;
}

/* The error message must suggest to mount tracefs only if the kernel has the preemptirq events. */
static void check_unmounted(bool have_events)
{
	if (have_events || !config_readable())
		live_refused("tracefs not mounted", ARGS("crit", "--tracepoints"), 77,
			     "mount -t tracefs");
	else
		live_refused("tracefs not mounted, no preemptirq events",
			     ARGS("crit", "--tracepoints"), 77, "CONFIG_PREEMPT_TRACER=y");
}

/*
 * The median time of five rounds with trace events is above the median time without trace events on
 * any machine. tests/bench/crit-cost counts the instructions.
 */
static void check_cost(void)
{
	int above = 0, rows = 0;
	json_t *root, *row;
	size_t i;

	root = live_json(ARGS("crit", "--json", "--tracepoints", "-r", "5", "-n", "3000"));
	json_array_foreach(json_object_get(root, "tracepoints"), i, row)
	{
		if (isnan(live_number(row, "on")))
			continue;
		rows++;
		above += live_number(row, "cost") > 0;
		live_note("%s: off %g on %g off %g, cost %g (%g…%g)",
			  json_string_value(json_object_get(row, "op")),
			  live_number(row, "off_before"), live_number(row, "on"),
			  live_number(row, "off_after"), live_number(row, "cost"),
			  live_number(row, "cost_low"), live_number(row, "cost_high"));
	}
	live_ok(rows >= 1 && above == rows, "enabling the tracepoints has a cost for %d of %d",
		above, rows);
	json_decref(root);
}

static void check_tracepoints(void)
{
	bool on;

	check_cost();
	live_ok(!events_on() && !instance_left(&on), "the events are as they were");

	file_write(TRACEFS "events/preemptirq/enable", "1");
	live_refused("events in use", ARGS("crit", "--tracepoints"), 1, "already enabled");
	live_ok(events_on(), "somebody else's events stay on");
	file_write(TRACEFS "events/preemptirq/enable", "0");
	check_guard();
}

int main(void)
{
	int loaded = -ENOENT;
	struct live_run run;
	bool have_events;

	if (geteuid())
		live_skip_all("only root can enable trace events");
	own_mounts();
	if (access(TREE, F_OK) && !access(MODULE_IN_GUEST, R_OK))
		loaded = module_load(MODULE_IN_GUEST);
	live_run(ARGS("crit", "-n", "10", "-r", "1"), &run);
	if (run.exit_code == 77)
		live_skip_all("%s", strtok(run.err, "\n") ?: "no engine works here");
	live_ok(!run.exit_code, "crit runs");
	live_run_free(&run);
	hide_tracefs();
	if (mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL))
		live_skip_all("cannot mount tracefs: %s", strerror(errno));
	have_events = !access(TRACEFS "events/preemptirq", F_OK);
	if (have_events)
		check_tracepoints();
	else
		live_refused("no preemptirq events", ARGS("crit", "--tracepoints"), 77,
			     "CONFIG_PREEMPT_TRACER=y");
	hide_tracefs();
	check_unmounted(have_events);
	if (!loaded)
		live_ok(!module_unload(), "the module can be unloaded again");
	return live_done();
}
