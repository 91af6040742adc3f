/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests how VM names and vCPU numbers are found: command lines, thread names, cgroups. */
#include "test.h"

#include "base/array.h"
#include "measure/runq/filter.h"
#include "measure/runq/rollup.h"
#include "measure/runq/window.h"
#include "pods/name.h"
#include "pods/vm.h"
#include "present/runq.h"
#include "report/report.h"
#include "tree.h"

/* Copies @args to @text, with NUL bytes instead of blanks, as in /proc. */
static size_t cmdline(const char *args, char *text, size_t size)
{
	size_t len = snprintf(text, size, "%s", args) + 1;

	for (size_t i = 0; i < len; i++)
		text[i] = text[i] == ' ' ? '\0' : text[i];
	return len;
}

static void check_name(const char *args, const char *want)
{
	char text[1024], name[VM_NAME] = "untouched";
	size_t len = cmdline(args, text, sizeof(text));

	assert_int_equal(vm_name_parse(text, len, name), want != NULL);
	assert_string_equal(name, want ? want : "untouched");
}

TEST(names_of_command_lines)
{
	check_name("/usr/bin/qemu-system-x86_64 -name guest=web-1,debug-threads=on -S", "web-1");
	check_name("/usr/libexec/qemu-kvm -name guest=shop_db,debug-threads=on", "shop_db");
	check_name("/usr/bin/kvm -id 100 -name web,debug-threads=on -no-shutdown", "web");
	check_name("qemu-system-aarch64 -m 64 -name debug-threads=on,guest=a", "a");
	check_name("qemu-system-aarch64 --name web -nographic", "web");
	check_name("qemu-system-x86_64 -name a,,b,process=c", "a,b");
	check_name("qemu-system-x86_64 -name process=a,,guest=b,guest=c", "c");
	check_name("/opt/firecracker-v1.7.0 --id web --api-sock /run/f.socket", "web");
	check_name("/firecracker --id=web --start-time-us 1", "web");
	check_name("cloud-hypervisor --api-socket /run/ch/web.sock --cpus boot=2", "web");
	check_name("cloud-hypervisor --api-socket=path=/run/ch/web/clh-api.sock,x", "web");
	check_name("cloud-hypervisor --api-socket web", "web");
	check_name("qemu-system-x86_64 -nographic", "");
	check_name("qemu-system-x86_64 -name debug-threads=on", "");
	check_name("qemu-system-x86_64 -name", "");
	check_name("qemu-system-x86_64 -name ", "");
	check_name("firecracker --id", "");
	check_name("cloud-hypervisor --api-socket", "");
	check_name("cloud-hypervisor --api-socket fd=", "fd=");
	check_name("cloud-hypervisor --api-socket /", "");
	check_name("", NULL);
	check_name("/usr/bin/qemu-img -name guest=web", NULL);
	check_name("qemu-x86_64 -name guest=web", NULL);
	check_name("kvmtool -name web", NULL);
	check_name("grep qemu-system-x86_64 -name web", NULL);
}

TEST(long_and_hostile_names)
{
	char text[512], name[VM_NAME];
	size_t len;

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	memcpy(text, "kvm\0-name\0", 10);
	assert_true(vm_name_parse(text, sizeof(text), name));
	assert_int_equal(strlen(name), VM_NAME - 1);
	memcpy(text, "firecracker\0--id\0", 17);
	assert_true(vm_name_parse(text, sizeof(text), name));
	assert_int_equal(strlen(name), VM_NAME - 1);
	/* Control characters stay in the name of a VM, because views escape control characters. */
	len = cmdline("kvm -name \033[2J\n/x", text, sizeof(text));
	assert_true(vm_name_parse(text, len, name));
	assert_string_equal(name, "\033[2J\n/x");
}

TEST(numbers_of_vcpus)
{
	static const struct {
		const char *comm;
		uint32_t vcpu;
	} cases[] = {
		{"CPU 0/KVM", 0}, {"CPU 17/TCG", 17}, {"vcpu3", 3}, {"fc_vcpu 12", 12},
		{"CPU 255/KV", 255}, {"CPU 0", UINT32_MAX}, {"CPU /KVM", UINT32_MAX},
		{"CPU -1/KVM", UINT32_MAX}, {"vcpu", UINT32_MAX}, {"vcpu3x", UINT32_MAX},
		{"fc_vcpu", UINT32_MAX}, {"ALL CPUs/TCG", UINT32_MAX}, {"", UINT32_MAX},
		{"CPU 99999999/KV", UINT32_MAX}, {"vcpu99999999999", UINT32_MAX},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(vm_vcpu_parse(cases[i].comm), cases[i].vcpu);
}

static void process(const struct tree *tree, uint32_t tgid, const char *args)
{
	char path[64], text[256];
	size_t len = cmdline(args, text, sizeof(text));

	snprintf(path, sizeof(path), "/proc/%u/cmdline", tgid);
	tree_bytes(tree, path, text, len);
}

static void thread_named(const struct tree *tree, uint32_t tgid, uint32_t pid, const char *comm)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", tgid, pid);
	tree_file(tree, path, comm);
}

static void check_thread(const struct tree *tree, uint32_t tgid, const char *cgroup,
			 const char *name, uint32_t vcpu)
{
	struct vm_thread thread;

	assert_true(vm_thread_find(tree->root, tgid, tgid + 1, "CPU 9/KVM", cgroup, &thread));
	assert_string_equal(thread.name, name);
	assert_int_equal(thread.vcpu, vcpu);
}

TREE_TEST(threads_of_processes)
{
	struct vm_thread thread;

	process(tree, 10, "kvm -name web");
	thread_named(tree, 10, 11, "CPU 1/KVM\n");
	check_thread(tree, 10, "/", "web", 1);
	/* The thread has ended, so its name is the name that was stored at the first wait. */
	check_thread(tree, 10 + 10, "/machine.slice/machine-qemu\\x2d1\\x2da\\x2db.scope", "a-b", 9);
	process(tree, 30, "cloud-hypervisor --cpus boot=1");
	thread_named(tree, 30, 31, "vmm\n");
	check_thread(tree, 30, "/system.slice/vm\\x2dweb.service", "vm-web", UINT32_MAX);
	check_thread(tree, 30, "/user.slice/session-1.scope", "pid-30", UINT32_MAX);
	check_thread(tree, 30, "/", "pid-30", UINT32_MAX);
	process(tree, 40, "/usr/bin/sleep 1");
	assert_false(vm_thread_find(tree->root, 40, 41, "CPU 0/KVM", "/", &thread));
	assert_false(vm_thread_find(tree->root, 50, 51, "CPU 0/KVM", "/a", &thread));
}

static void check_cgroup(const char *path, const char *pod, const char *want)
{
	char name[VM_NAME] = "untouched";
	struct cgroup_name parsed;

	cgroup_name_parse(path, &parsed);
	assert_int_equal(vm_of_cgroup(parsed.runtime, parsed.container_id, pod, name), want != NULL);
	assert_string_equal(name, want ? want : "untouched");
}

#define SCOPE "/machine.slice/machine-qemu\\x2d3\\x2dmy\\x2dweb.scope"

TEST(names_of_cgroups)
{
	check_cgroup(SCOPE "/libvirt/vcpu0", NULL, "my-web");
	check_cgroup("/qemu.slice/101.scope", NULL, "101");
	check_cgroup("/kubepods/x", "virt-launcher-shop-db-x7k2p", "shop-db");
	check_cgroup("/kubepods/x", "virt-launcher-x7k2p", NULL);
	check_cgroup("/kubepods/x", "virt-launcher--x7k2p", NULL);
	check_cgroup("/kubepods/x", "web", NULL);
	check_cgroup("/lxc.payload.web", NULL, NULL);
	check_cgroup("/system.slice/a.service", NULL, NULL);
}

static void check_command(const char *path, bool any, const char *want)
{
	char command[128] = "untouched";

	vm_quota_command(path, strlen(path), any, command, sizeof(command));
	assert_string_equal(command, want);
}

TEST(commands_for_quotas)
{
	check_command(SCOPE "/libvirt/vcpu12", false, "virsh schedinfo 3 --live vcpu_quota=-1");
	check_command(SCOPE "/libvirt/emulator", false, "virsh schedinfo 3 --live emulator_quota=-1");
	check_command(SCOPE "/iothread1", false, "virsh schedinfo 3 --live iothread_quota=-1");
	check_command(SCOPE "/libvirt", false, "virsh schedinfo 3 --live global_quota=-1");
	check_command(SCOPE, false, "virsh schedinfo 3 --live global_quota=-1");
	check_command(SCOPE, true, "virsh schedinfo 3 --live global_quota=-1");
	check_command(SCOPE "/libvirt/vcpu12", true,
		      "virsh schedinfo 3 --live vcpu_quota=-1 global_quota=-1");
	check_command("/qemu.slice/101.scope", false, "qm set 101 --cpulimit 0");
	/* A slice limits several VMs, so no command for a single VM removes the slice's quota. */
	check_command("/machine.slice", false, "");
	check_command("/qemu.slice", false, "");
	check_command("/kubepods/pod1", false, "");
	check_command("", false, "");
	/* The cgroup with the quota is SCOPE, which is only the first part of the path. */
	char command[128];

	vm_quota_command(SCOPE "/libvirt/vcpu0", strlen(SCOPE), false, command, sizeof(command));
	assert_string_equal(command, "virsh schedinfo 3 --live global_quota=-1");
}

static struct runq_group *groups[8];
static size_t nr_groups;
static struct runq_waits_list waits;

static void waited(uint32_t tgid, uint32_t pid, const char *path, uint64_t ns)
{
	struct runq_group task = {.key = pid, .pid = pid, .tgid = tgid, .comm = "qemu"};
	struct hist_entry entry[3] = {{.bucket = hist_index(ns), .count = 1}};
	struct runq_group_window row = {.count = 1, .sum_ns = ns, .max_ns = ns};
	struct hist hist = {entry, 1};
	struct err err = {0};
	size_t i = 0;

	while (i < nr_groups && groups[i]->pid != pid)
		i++;
	if (i == nr_groups)
		groups[nr_groups++] = runq_group_new(&task, path);
	row.party = runq_party_of(pid, groups[i]);
	row.cause_ns[RUNQ_OTHER] = ns;
	assert_int_equal(hist_set(&row.hist, &hist), 0);
	assert_int_equal(runq_waits_append(&waits, row, &err), 0);
}

/* Returns the rows of the window as text: "NAME=ns " for each row, sorted by name. */
static const char *sums(struct runq_rollup *rollup)
{
	static char text[512];
	struct err err = {0};

	text[0] = '\0';
	assert_int_equal(runq_rollup_window(rollup, &waits, groups, nr_groups, &err), 0);
	for (size_t i = 0; i < rollup->waits.nr; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s=%llu ",
			 runq_party_path(&rollup->waits.rows[i].party),
			 (unsigned long long)rollup->waits.rows[i].sum_ns);
	runq_waits_clear(&waits);
	return text;
}

static void forget(struct runq_rollup *rollup)
{
	runq_rollup_close(rollup);
	while (nr_groups)
		runq_group_put(groups[--nr_groups]);
}

static void two_vms(const struct tree *tree)
{
	process(tree, 100, "kvm -name web");
	thread_named(tree, 100, 101, "CPU 0/KVM\n");
	thread_named(tree, 100, 102, "CPU 1/KVM\n");
	thread_named(tree, 100, 103, "worker\n");
	/* Two VMs have the same name. The name of a third VM looks like the path of a cgroup. */
	process(tree, 200, "kvm -name web");
	thread_named(tree, 200, 201, "CPU 0/KVM\n");
	process(tree, 300, "kvm -name /a");
	thread_named(tree, 300, 301, "CPU 0/KVM\n");
	process(tree, 400, "/usr/sbin/sshd");
	waited(100, 101, "/vms", 9000);
	waited(100, 102, "/vms", 800);
	waited(100, 103, "/vms", 70);
	waited(200, 201, "/vms", 600);
	waited(300, 301, "/vms", 50);
	waited(400, 400, "/a", 4);
	waited(400, 401, "/a", 3);
}

TREE_TEST(rows_of_vms)
{
	static const struct runq_filter all;
	struct runq_rollup rollup = {.what = ROLLUP_VM, .filter = &all, .root = tree->root};

	two_vms(tree);
	assert_string_equal(sums(&rollup), "web=9800 web=600 web/other=70 /a=50 /a=7 ");
	assert_int_equal(rollup.waits.rows[0].party.group->tgid, 100);
	assert_int_equal(rollup.waits.rows[0].party.group->vcpu, UINT32_MAX);
	assert_int_equal(rollup.waits.rows[3].party.group->vm_len, 2);
	assert_int_equal(rollup.waits.rows[4].party.group->vm_len, 0);
	forget(&rollup);
	rollup = (struct runq_rollup){.what = ROLLUP_VCPU, .filter = &all, .root = tree->root};
	two_vms(tree);
	assert_string_equal(sums(&rollup), "web/vcpu0=9000 web/vcpu1=800 web/vcpu0=600 web/other=70 "
					   "/a/vcpu0=50 /a=7 ");
	assert_int_equal(rollup.waits.rows[1].party.group->vcpu, 1);
	forget(&rollup);
}

/*
 * A thread may set its name after its first wait, so the next window reads the name again. Later
 * windows do not.
 */
TREE_TEST(new_threads_are_looked_up_twice)
{
	static const struct runq_filter all;
	struct runq_rollup rollup = {.what = ROLLUP_VCPU, .filter = &all, .root = tree->root};

	process(tree, 100, "kvm -name web");
	thread_named(tree, 100, 101, "kvm\n");
	waited(100, 101, "/", 5);
	assert_string_equal(sums(&rollup), "web/other=5 ");
	thread_named(tree, 100, 101, "CPU 0/KVM\n");
	waited(100, 101, "/", 6);
	assert_string_equal(sums(&rollup), "web/vcpu0=6 ");
	thread_named(tree, 100, 101, "kvm\n");
	waited(100, 101, "/", 7);
	assert_string_equal(sums(&rollup), "web/vcpu0=7 ");
	forget(&rollup);
}

static const struct value *number(const struct table *table, size_t row, const char *key)
{
	int col = table_find(table, key);

	assert_true(col >= 0);
	return table_cell(table, row, col);
}

TREE_TEST(report_of_vcpus)
{
	static const struct runq_filter all;
	struct runq_rollup rollup = {.what = ROLLUP_VCPU, .filter = &all, .root = tree->root};
	struct runq_window window = {.per = RUNQ_PER_TASK,
				     .sum = ROLLUP_VCPU,
				     .sample_ratio = 1.0,
				     .has_names = true,
				     .window_ns = 100000,
				     .steal_ns = 30000};
	const struct table *table;
	struct report *report;
	struct err err = {0};

	two_vms(tree);
	sums(&rollup);
	assert_int_equal(runq_window_groups(&window, &waits, &all, &rollup, &err), 0);
	assert_int_equal(runq_report(&window, NULL, &report), 0);
	table = report_find(report, "groups");
	assert_string_equal(table_str(table, 1, "vm"), "web");
	assert_int_equal(number(table, 1, "vcpu")->u64, 1);
	assert_int_equal(number(table, 1, "tgid")->u64, 100);
	assert_string_equal(table_str(table, 1, "name"), "web/vcpu1");
	assert_null(table_str(table, 1, "cgroup"));
	assert_string_equal(table_str(table, 4, "vm"), "/a");
	assert_null(table_str(table, 5, "vm"));
	assert_int_equal(number(table, 5, "vcpu")->kind, VALUE_NULL);
	assert_int_equal(number(table, 5, "tgid")->kind, VALUE_NULL);
	assert_string_equal(table_str(table, 5, "cgroup"), "/a");
	table = report_find(report, "findings");
	assert_string_equal(table_str(table, 0, "rule"), "steal");
	assert_int_equal(number(table, 0, "lost_ns")->u64, 30000);
	assert_non_null(strstr(table_str(table, 0, "finding"), "took 0.03 ms"));
	assert_non_null(strstr(table_str(table, 0, "finding"), "waited 0.0105 ms"));
	assert_non_null(strstr(table_str(table, 0, "next"), "subtick runq --per vm"));
	report_free(report);
	runq_window_clear(&window);
	forget(&rollup);
}

static const char *quota_finding(const struct tree *tree, const char *cgroup, const char *key)
{
	static const struct runq_filter all;
	static char text[256];
	struct runq_rollup rollup = {.what = ROLLUP_VM, .filter = &all, .root = tree->root};
	struct runq_window window = {.per = RUNQ_PER_TASK,
				     .sum = ROLLUP_VM,
				     .sample_ratio = 1.0,
				     .has_causes = true,
				     .causes_known = (1u << RUNQ_NR_CAUSES) - 1,
				     .window_ns = 10000,
				     .steal_ns = UINT64_MAX};
	const struct table *table;
	struct report *report;
	struct err err = {0};

	waited(100, 101, cgroup, 4000);
	waits.rows[0].cause_ns[RUNQ_OTHER] = 1000;
	waits.rows[0].cause_ns[RUNQ_THROTTLED] = 3000;
	assert_int_equal(runq_rollup_window(&rollup, &waits, groups, nr_groups, &err), 0);
	assert_int_equal(runq_window_groups(&window, &waits, &all, &rollup, &err), 0);
	assert_int_equal(runq_report(&window, NULL, &report), 0);
	table = report_find(report, "findings");
	assert_string_equal(table_str(table, 0, "rule"), "quota");
	snprintf(text, sizeof(text), "%s", table_str(table, 0, key));
	report_free(report);
	runq_window_clear(&window);
	runq_waits_clear(&waits);
	forget(&rollup);
	return text;
}

/* The advised command depends on the program that manages the VM. */
TREE_TEST(quota_of_vm)
{
	process(tree, 100, "kvm -name guest=my-web");
	thread_named(tree, 100, 101, "CPU 0/KVM\n");
	assert_string_equal(quota_finding(tree, SCOPE "/libvirt/vcpu0", "finding"),
			    "VM my-web waits for its CPU quota: 300 ms per second, 75 % of its waiting");
	assert_string_equal(quota_finding(tree, SCOPE "/libvirt/vcpu0", "next_command"),
			    "virsh schedinfo 3 --live vcpu_quota=-1 global_quota=-1");
	assert_string_equal(quota_finding(tree, "/qemu.slice/101.scope", "next"),
			    "qm set 101 --cpulimit 0");
	assert_string_equal(quota_finding(tree, "/kubepods/pod0a1b2c3d-4e5f-6789-abcd-ef0123456789/c", "next"),
			    "spec.template.spec.domain.resources.limits.cpu of the VirtualMachine, or "
			    "/kubepods/pod0a1b2c3d-4e5f-6789-abcd-ef0123456789/c/cpu.max");
	assert_string_equal(quota_finding(tree, "/vms/web", "next"),
			    "cpu.max of /vms/web or of a cgroup above it");
}

/*
 * Steal time is known only as the sum over all CPUs. If the sum is unknown, the report has no
 * finding about steal.
 */
TEST(unknown_steal)
{
	struct runq_window window = {.sample_ratio = 1.0, .window_ns = 1000, .steal_ns = UINT64_MAX};
	struct report *report;

	assert_int_equal(runq_report(&window, NULL, &report), 0);
	assert_int_equal(report_find(report, "findings")->nr_rows, 0);
	assert_int_equal(number(report->fields, 0, "steal_ns")->kind, VALUE_NULL);
	report_free(report);
}

TEST_MAIN()
