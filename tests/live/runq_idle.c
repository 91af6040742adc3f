/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Wakes a task on an idle core. Each wait that subtick reports must be at most the time from the
 * waker's timestamp to the timestamp of the woken task.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"

#define WAKES 300

struct shared {
	uint64_t after_ns[WAKES];
	unsigned int nr;
};

static int cpu, other;
static char cpu_text[16];

static void sleeper(struct shared *shared, int fd)
{
	uint64_t token;

	live_pin(cpu);
	for (;;) {
		if (read(fd, &token, sizeof(token)) != sizeof(token))
			_exit(1);
		if (shared->nr == WAKES)
			continue;
		shared->after_ns[shared->nr] = clock_mono_ns();
		/*
		 * Publish the count after the timestamp: the waker reads the timestamp once the
		 * count has changed.
		 */
		__atomic_store_n(&shared->nr, shared->nr + 1, __ATOMIC_RELEASE);
	}
}

/* Wakes the sleeping task WAKES times. Returns the sum of the wake-up latencies. */
static uint64_t wake_it(struct shared *shared, int fd)
{
	uint64_t token = 1, sum_ns = 0;

	for (unsigned int i = 0; i < WAKES; i++) {
		uint64_t before = clock_mono_ns();

		if (write(fd, &token, sizeof(token)) != sizeof(token))
			live_fail_all("cannot write to the eventfd");
		live_sleep_ms(3);
		for (int n = 0; __atomic_load_n(&shared->nr, __ATOMIC_ACQUIRE) <= i && n < 1000;
		     n++)
			live_sleep_ms(1);
		if (shared->nr <= i)
			live_fail_all("the sleeper does not wake up");
		sum_ns += shared->after_ns[i] - before;
	}
	return sum_ns;
}

static void judge_rows(json_t *root, const char *path, uint64_t sum_ns)
{
	json_t *row, *rows = json_object_get(root, "idle_states");
	double count = 0, wait_ns = 0;
	bool named = true;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const char *cgroup = json_string_value(json_object_get(row, "cgroup"));

		if (!cgroup || strcmp(cgroup, path))
			continue;
		count += live_number(row, "count");
		wait_ns += live_number(row, "wait_ns");
		named &= json_is_string(json_object_get(row, "name"));
	}
	live_note("%.0f waits of %.0f ns; from before the wake-up until it ran: %d times, %llu ns",
		  count, wait_ns, WAKES, (unsigned long long)sum_ns);
	live_ok(json_is_array(rows), "there is a table of idle states");
	live_ok(live_number(root, "quality.idle_states_full_total") == 0, "nothing was lost");
	/*
	 * The sleeping task started before the window, so wake_it() causes all wake-ups of the
	 * sleeping task in the window.
	 */
	live_ok(count <= WAKES, "no more waits than wake-ups (%.0f of %d)", count, WAKES);
	live_ok(wait_ns <= (double)sum_ns, "and no longer than from wake-up to user code");
	live_ok(named, "each state has its name");
	live_idle_ok(cpu, count >= WAKES / 2, "most wake-ups find the core idle (%.0f of %d)",
		     count, WAKES);
}

static void check(const char *path)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	static char text[1 << 20];
	int fd = eventfd(0, 0), out, code;
	json_error_t error;
	uint64_t sum_ns;
	pid_t child, pid;
	json_t *root;

	if (shared == MAP_FAILED || fd < 0)
		live_fail_all("no shared memory or eventfd");
	child = fork();
	if (!child)
		sleeper(shared, fd);
	if (child < 0 || !cgroups_enter(path, child))
		live_fail_all("cannot put the sleeper into its cgroup");
	live_sleep_ms(100);
	pid = live_start(
		ARGS("runq", "--idle-states", "-c", path, "-C", cpu_text, "--json", "30", "1"),
		&out);
	live_sleep_ms(live_emulated() ? 8000 : 1500);
	sum_ns = wake_it(shared, fd);
	code = live_stop(pid, SIGINT, out, text, sizeof(text));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(fd);
	munmap(shared, sizeof(*shared));
	root = json_loads(text, JSON_DISABLE_EOF_CHECK, &error);
	live_ok(root != NULL, "runq says what it counted when it is stopped (%d)", code);
	judge_rows(root, path, sum_ns);
	json_decref(root);
}

int main(void)
{
	if (geteuid())
		live_skip_all("needs root");
	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	cgroups_open();
	snprintf(cpu_text, sizeof(cpu_text), "%d", cpu);
	live_needs(ARGS("runq", "--idle-states", "0.1", "1"));
	live_pin(other);
	check(cgroups_make("idle"));
	return live_done();
}
