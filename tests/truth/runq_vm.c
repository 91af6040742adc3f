/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process named like a virtual machine, whose cgroup has a quota. vCPUs 0 and 1 are busy, and
 * both wait each time the cgroup is throttled. vCPU 2 first sleeps, and later waits behind a task
 * of another cgroup (the hog).
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "measured.h"
#include "pinned.h"
#include "truth.h"

#define QUOTA_US  2000
#define PERIOD_US 10000
#define LENGTH_NS (100 * NSEC_PER_MSEC)
/* Longest time for which the cgroup is throttled, in ns. */
#define LAST_HOLD_NS ((PERIOD_US - QUOTA_US) * 1000.0)
#define HOG_NS	  (3 * NSEC_PER_MSEC)
/*
 * Time in ns from the hog's last timestamp to the switch: the rest of clock_gettime(), and pause().
 */
#define LAST_NS 5000
/* Allowed distance between the bounds of vCPU 2's wait: LAST_NS plus the time of the wake-up. */
#define APART_NS 20000

/* Memory that the test, the VM and the hog share. */
struct shared {
	uint64_t begin_ns;
	uint32_t wake;
	/*
	 * The hog's timestamps before and after the wake-up of vCPU 2, and at the end of the hog's
	 * run.
	 */
	uint64_t before_ns, woken_ns, end_ns;
};

static void name_thread(unsigned int vcpu)
{
	char name[16];

	snprintf(name, sizeof(name), "CPU %u/KVM", vcpu);
	prctl(PR_SET_NAME, name);
}

static void run_busy(const struct shared *shared, unsigned int vcpu)
{
	name_thread(vcpu);
	truth_sleep_until(shared->begin_ns);
	while (clock_mono_ns() < shared->begin_ns + LENGTH_NS)
		truth_burn(1000);
	pause();
}

static void *run_vcpu0(void *shared)
{
	run_busy(shared, 0);
	return NULL;
}

static void *run_vcpu1(void *shared)
{
	run_busy(shared, 1);
	return NULL;
}

/*
 * vCPU 2 runs once before the cgroup is first throttled. At this dispatch subtick records that the
 * cgroup has never been throttled.
 */
static void *run_vcpu2(void *arg)
{
	struct shared *shared = arg;

	name_thread(2);
	truth_sleep_until(shared->begin_ns - 10 * NSEC_PER_MSEC);
	pinned_wait(&shared->wake, 1);
	pause();
	return NULL;
}

/* Overwrites the arguments of this process, which subtick reads from /proc/PID/cmdline. */
static void become_vm(void)
{
	static const char args[] = "kvm\0-name\0web";
	unsigned long begin = 0, end = 0;
	FILE *file = fopen("/proc/self/stat", "re");
	char text[1024], *at;

	if (file && fgets(text, sizeof(text), file) && (at = strrchr(text, ')')))
		for (int field = 3; (at = strchr(at, ' ')); field++, at++) {
			if (field == 48)
				begin = strtoul(at, NULL, 10);
			if (field == 49)
				end = strtoul(at, NULL, 10);
		}
	if (!begin || end < begin + sizeof(args))
		_exit(1);
	memset((char *)begin, 0, end - begin);
	memcpy((char *)begin, args, sizeof(args));
	fclose(file);
}

static void run_vm(void *shared)
{
	pthread_t thread;

	become_vm();
	if (pthread_create(&thread, NULL, run_vcpu0, shared) ||
	    pthread_create(&thread, NULL, run_vcpu1, shared) ||
	    pthread_create(&thread, NULL, run_vcpu2, shared))
		_exit(1);
}

static void run_hog(void *arg)
{
	struct shared *shared = arg;

	truth_sleep_until(shared->begin_ns + LENGTH_NS + 20 * NSEC_PER_MSEC);
	shared->before_ns = clock_mono_ns();
	pinned_wake(&shared->wake);
	shared->woken_ns = clock_mono_ns();
	truth_burn(HOG_NS);
	shared->end_ns = clock_mono_ns();
}

/* Throttled time of a cgroup by the kernel's accounting. */
struct throttled {
	double times, ns;
};

static struct throttled throttled_of(const char *cgroup)
{
	return (struct throttled){cgroups_stat(cgroup, "cpu.stat", "nr_throttled"),
				  1e3 * cgroups_stat(cgroup, "cpu.stat", "throttled_usec")};
}

/*
 * @was is the throttled time before the busy vCPUs started. Both busy vCPUs wait each time the
 * cgroup is throttled, but a vCPU that has already finished misses the last time.
 */
static void judge_quota(json_t *root, const char *name, const char *cgroup, struct throttled was)
{
	json_t *row = live_row(root, "groups", "name", name);
	double sum = live_number(row, "sum_ns"), held = live_number(row, "causes.throttled_ns");
	struct throttled now = throttled_of(cgroup);
	double throttled = now.ns - was.ns, times = now.times - was.times;

	live_ok(times >= 5, "throttled %.0f times", times);
	/*
	 * The switch to the task comes up to 5 us after the cgroup is unthrottled, as in
	 * runq_quota.c.
	 */
	live_ok(held <= throttled + times * 5000.0 && held >= throttled - LAST_HOLD_NS - times * 5000.0,
		"%s: %.0f ns held, %.0f by cpu.stat", name, held, throttled);
	live_ok(measured_blame(root, name, "(quota)") == held && measured_causes(row) == sum,
		"%s: blamed on the quota", name);
}

static void judge_sleeper(json_t *root, const struct shared *shared, const char *hog)
{
	json_t *row = live_row(root, "groups", "name", "web/vcpu2");
	double behind = measured_blame(root, "web/vcpu2", hog);
	double low = (double)(shared->end_ns - shared->woken_ns);
	double high = (double)(shared->end_ns - shared->before_ns) + LAST_NS;

	measured_note_blame(root);
	live_ok(high - low <= APART_NS, "the hog's stamps are %.0f ns apart", high - low);
	live_ok(live_number(row, "causes.throttled_ns") == 0, "web/vcpu2: %.0f ns held",
		live_number(row, "causes.throttled_ns"));
	live_ok(behind >= low && behind <= high,
		"web/vcpu2: %.0f ns behind %s, by stamps %.0f to %.0f", behind, hog, low, high);
}

static void judge_finding(json_t *root, const char *cgroup)
{
	static const char begins[] = "VM web/vcpu0 waits for its CPU quota";
	json_t *row, *found = NULL;
	char next[512];
	size_t i;

	json_array_foreach(json_object_get(root, "findings"), i, row)
		if (!strncmp(json_string_value(json_object_get(row, "finding")), begins, strlen(begins)))
			found = row;
	snprintf(next, sizeof(next), "cpu.max of %s or of a cgroup above it", cgroup);
	live_ok(found && !strcmp(json_string_value(json_object_get(found, "rule")), "quota"),
		"the finding names the VM");
	live_ok(found && !strcmp(json_string_value(json_object_get(found, "next")), next), "next: %s",
		found ? json_string_value(json_object_get(found, "next")) : "");
}

int main(void)
{
	const char *const args[] = {"runq", "--json", "--per", "vcpu", "--blame", "4", "1", NULL};
	struct pinned_task vm = {.run = run_vm}, hog = {.priority = 10, .run = run_hog};
	struct shared *shared = pinned_share(sizeof(*shared));
	struct throttled was;
	struct measured measured;
	pid_t vm_pid, hog_pid;
	json_t *root;

	truth_begin(1);
	cgroups_open();
	vm.cgroup = cgroups_make("vm");
	hog.cgroup = cgroups_make("hog");
	if (!cgroups_quota(vm.cgroup, QUOTA_US, PERIOD_US))
		live_fail_all("no CPU quota in this guest");
	shared->begin_ns = clock_mono_ns() + 2 * MEASURED_LEAD_NS;
	vm_pid = pinned_start(&vm, shared);
	hog_pid = pinned_start(&hog, shared);
	measured_start(&measured, args);
	truth_sleep_until(shared->begin_ns - 20 * NSEC_PER_MSEC);
	was = throttled_of(vm.cgroup);
	root = measured_end(&measured, shared->begin_ns - 20 * NSEC_PER_MSEC,
			    shared->begin_ns + LENGTH_NS + 30 * NSEC_PER_MSEC);
	judge_quota(root, "web/vcpu0", vm.cgroup, was);
	judge_quota(root, "web/vcpu1", vm.cgroup, was);
	judge_sleeper(root, shared, hog.cgroup);
	judge_finding(root, vm.cgroup);
	json_decref(root);
	pinned_stop(vm_pid);
	pinned_stop(hog_pid);
	return live_done();
}
