/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Doctor on this machine: its word agrees with what the commands then do, and nothing stays. */
#include "live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

static const char *row_text(json_t *root, const char *list, const char *key, const char *name,
			    const char *member)
{
	size_t i;
	json_t *row;

	json_array_foreach(json_object_get(root, list), i, row)
	{
		const char *is = json_string_value(json_object_get(row, key));

		if (is && !strcmp(is, name))
			return json_string_value(json_object_get(row, member));
	}
	return NULL;
}

static const char *check_status(json_t *root, const char *name)
{
	const char *status = row_text(root, "checks", "check", name, "status");

	return status ? status : "absent";
}

static void test_shape(json_t *root)
{
	size_t i, bad = 0;
	json_t *row;

	json_array_foreach(json_object_get(root, "checks"), i, row)
	{
		const char *status = json_string_value(json_object_get(row, "status"));
		const char *detail = json_string_value(json_object_get(row, "detail"));

		if (!status ||
		    (strcmp(status, "ok") && strcmp(status, "warn") && strcmp(status, "no")) ||
		    !detail || !detail[0])
			bad++;
	}
	live_ok(json_array_size(json_object_get(root, "checks")) > 20 && !bad,
		"every check says ok, warn or no, and why");
}

/* The exit code of a short measurement with one source: 0, or 77 where it cannot work. */
static void test_agrees(const char *source, bool expected, const char *why)
{
	const char *const args[] = {"load", "--json", "--source", source, "0.05", "1", NULL};
	struct live_run run;

	live_run(args, &run);
	live_ok(run.exit_code == (expected ? 0 : 77), "%s: load --source %s %s", why, source,
		expected ? "works" : "is refused with 77");
	if (run.exit_code != (expected ? 0 : 77))
		live_note("exit code %d: %s", run.exit_code, run.err);
	live_run_free(&run);
}

static bool left_behind(void)
{
	struct bpf_prog_info prog;
	struct bpf_map_info map;
	bool found = false;
	__u32 id, len;
	int fd;

	for (id = 0; !bpf_prog_get_next_id(id, &id);) {
		len = sizeof(prog);
		memset(&prog, 0, len);
		fd = bpf_prog_get_fd_by_id(id);
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &prog, &len))
			found |= !strncmp(prog.name, "subtick_probe", 13);
		if (fd >= 0)
			close(fd);
	}
	for (id = 0; !bpf_map_get_next_id(id, &id);) {
		len = sizeof(map);
		memset(&map, 0, len);
		fd = bpf_map_get_fd_by_id(id);
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &map, &len))
			found |= !strncmp(map.name, "subtick_probe", 13);
		if (fd >= 0)
			close(fd);
	}
	return found;
}

static void test_nothing_stays(json_t *root)
{
	int tries = 0;

	if (strcmp(check_status(root, "BPF"), "ok")) {
		live_skip("no probe stays in the kernel", "BPF does not work here");
		return;
	}
	/* The kernel frees programs a grace period later; another doctor may be running. */
	while (left_behind() && ++tries < 50)
		live_sleep_ms(100);
	live_ok(tries < 50, "no probe stays in the kernel");
}

/* Without any capability, yet still the owner of its files. */
static void test_without_capabilities(void)
{
	static const char *const args[] = {"doctor", "--json", NULL};
	json_t *root;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		for (int cap = 0; cap < 64; cap++)
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
		root = live_json(args);
		if (!root)
			_exit(2);
		if (strcmp(check_status(root, "privileges"), "no"))
			_exit(3);
		if (strcmp(check_status(root, "BPF"), "no"))
			_exit(4);
		/* /proc/stat is open to everybody: less, but not nothing. */
		if (strcmp(row_text(root, "commands", "command", "load", "status"), "part"))
			_exit(5);
		_exit(0);
	}
	status = -1;
	waitpid(pid, &status, 0);
	live_ok(WIFEXITED(status) && !WEXITSTATUS(status),
		"without capabilities: privileges and BPF no, load part (step %d)",
		WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

int main(void)
{
	static const char *const args[] = {"doctor", "--json", NULL};
	static const char *const bad[] = {"doctor", "nosuch", NULL};
	struct live_run run;
	const char *load;
	json_t *root = live_json(args);

	if (!live_ok(root != NULL, "doctor gives JSON"))
		return live_done();
	test_shape(root);
	load = row_text(root, "commands", "command", "load", "status");
	live_ok(load && (!strcmp(load, "full") || !strcmp(load, "part") || !strcmp(load, "no")),
		"load is called full, part or no: %s", load ? load : "absent");
	test_agrees("bpf",
		    !strcmp(check_status(root, "BPF"), "ok") &&
			    !strcmp(check_status(root, "events: idle"), "ok"),
		    "BPF");
	test_agrees("perf-tsc", !strcmp(check_status(root, "PMU"), "ok"), "PMU");
	test_agrees("schedstat", !strcmp(check_status(root, "/proc/schedstat"), "ok"),
		    "/proc/schedstat");
	test_agrees("procidle", !strcmp(check_status(root, "/proc/stat"), "ok"), "/proc/stat");
	test_nothing_stays(root);
	if (geteuid())
		live_skip("without capabilities", "already not root");
	else
		test_without_capabilities();
	live_run(bad, &run);
	live_ok(run.exit_code == 64, "a command that does not exist is a usage error");
	live_run_free(&run);
	json_decref(root);
	return live_done();
}
