/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests `subtick doctor` on simulated machines: every check, and which commands will work. */
#include "doctor/doctor.h"
#include "host/kbtf.h"

#include "machines.h"
#include "test.h"
#include "tree.h"

static const char *const all[] = {"load", "runq",  "noise",  "wake", "audit",
				  "crit", "serve", "report", NULL};

/* The simulated machine of the current test, and the last doctor report about this machine. */
static const struct tree *tree;
static struct probe probe;
static struct report *report;

static void look(const char *const *commands)
{
	const struct doctor_opts opts = {.root = tree->root, .probe = &probe, .commands = commands};
	struct err err = {0};

	report_free(report);
	assert_int_equal(doctor_report(&opts, &report, &err), 0);
	assert_int_equal(report->nr_tables, 2);
}

static int teardown(void **state)
{
	report_free(report);
	report = NULL;
	return tree_teardown(state);
}

static const char *cell(int t, const char *row_key, const char *name, const char *key)
{
	const struct table *table = report->tables[t];
	int row_col = table_find(table, row_key), col = table_find(table, key);

	assert_true(row_col >= 0 && col >= 0);
	for (size_t row = 0; row < table->nr_rows; row++)
		if (!strcmp(table_cell(table, row, row_col)->str, name)) {
			const struct value *value = table_cell(table, row, col);

			return value->kind == VALUE_STR ? value->str : "";
		}
	return NULL;
}

static void expect_row(int t, const char *row_key, const char *name, const char *status,
		       const char *detail_part, const char *fix_part)
{
	const char *is = cell(t, row_key, name, "status");
	const char *detail = is ? cell(t, row_key, name, "detail") : "";

	if (!is || strcmp(is, status))
		fail_msg("%s is %s, not %s: %s", name, is ? is : "absent", status, detail);
	if (!strstr(detail, detail_part))
		fail_msg("%s: \"%s\" lacks \"%s\"", name, detail, detail_part);
	if (!strstr(cell(t, row_key, name, "fix"), fix_part))
		fail_msg("%s: fix \"%s\" lacks \"%s\"", name, cell(t, row_key, name, "fix"), fix_part);
}

static void expect(const char *check, const char *status, const char *detail_part,
		   const char *fix_part)
{
	expect_row(0, "check", check, status, detail_part, fix_part);
}

static void expect_command(const char *command, const char *status, const char *detail_part)
{
	expect_row(1, "command", command, status, detail_part, "");
	assert_string_equal(doctor_command_status(report, command), status);
}

/* Defines a test on a machine that @make simulates. */
#define MACHINE_TEST(test, make)                      \
	static void test##_body(void);                \
	TEST_WITH(test, tree_setup, teardown)         \
	{                                             \
		tree = *state;                        \
		make(tree, &probe);                   \
		test##_body();                        \
	}                                             \
	static void test##_body(void)

MACHINE_TEST(test_laptop, machine_laptop)
{
	look(all);
	expect("kernel", "ok", "2 of 4 possible CPUs", "");
	expect("kernel config", "ok", "/boot/config-6.1.0-13-amd64", "");
	expect("privileges", "ok", "CAP_SYS_ADMIN", "");
	expect("lockdown", "ok", "none", "");
	expect("BPF reads", "ok", "", "");
	expect("BTF", "ok", "", "");
	expect("BPF", "ok", "", "");
	expect("events: vectors", "ok", "local_timer_entry", "");
	expect("events: IPIs", "no", "ipi_send_cpu", "6.4");
	expect("events: IPI senders", "no", "lacks ipi_send_cpu, ipi_send_cpumask", "6.4");
	expect("events: function calls", "no", "lacks csd_queue_cpu", "6.5");
	expect("events: preemptirq", "no", "preempt_enable", "CONFIG_PREEMPT_TRACER");
	expect("perf_event_paranoid", "ok", "3", "");
	expect("PMU", "ok", "ref-cycles", "");
	expect("PMU", "ok", "cpu msr", "");
	expect("tracefs", "ok", "/sys/kernel/tracing", "");
	expect("cgroups", "ok", "v2 on /sys/fs/cgroup", "");
	expect("clocksource", "ok", "tsc", "");
	expect("accounting", "warn", "tick (VIRT_CPU_ACCOUNTING_GEN is inactive", "subtick load");
	expect("HZ", "ok", "250: a tick every 4 ms", "");
	expect("USER_HZ", "ok", "windows of 10 s", "");
	expect("NO_HZ", "ok", "NO_HZ_FULL is inactive", "");
	expect("preemption", "ok", "voluntary, unless changed", "");
	expect("cpuidle", "ok",
	       "intel_idle, governor menu: POLL 0 us, C1 2 us, C1E 10 us, C6 133 us (off)", "");
	expect("virtualisation", "ok", "bare metal", "");
	expect("steal", "ok", "bare metal", "");
	expect("container", "ok", "none", "");
	expect("VETH", "ok", "as a module", "");
	expect("crit engine", "no", "neither", "apt install linux-headers-6.1.0-13-amd64; in the source "
	       "tree: make -C kmod/tracerbench && insmod kmod/tracerbench/tracerbench.ko");
	expect_command("load", "full", "");
	expect_command("runq", "full", "");
	expect_command("noise", "part",
		       "--senders does not work (events: IPI senders); --senders does not");
	expect_command("wake", "part", "takes the launch time");
	expect_command("audit", "full", "");
	expect_command("crit", "no", "needs crit engine");
	expect_command("report", "part", "the cost of critical sections is not measured");

	tree_file(tree, "/lib/modules/6.1.0-13-amd64/build/Makefile", "");
	look(all);
	expect("crit engine", "no", "neither", "make -C kmod/tracerbench "
	       "KDIR=/lib/modules/6.1.0-13-amd64/build && insmod");
	tree_file(tree, "/usr/src/tracerbench-" SUBTICK_VERSION "/dkms.conf", "");
	look(all);
	expect("crit engine", "no", "neither", "dkms install tracerbench/" SUBTICK_VERSION " -k 6.1.0-13-amd64");

	tree_file(tree, "/lib/modules/6.1.0-13-amd64/modules.dep",
		  "updates/dkms/tracerbench.ko.xz:\n");
	look(all);
	expect("crit engine", "ok", "installed", "");
	expect_command("crit", "part", "--tracepoints does not work");
}

MACHINE_TEST(test_guest, machine_guest)
{
	look(all);
	expect("kernel config", "ok", "/lib/modules/6.18.0/config", "");
	expect("lockdown", "ok", "not in this kernel", "");
	expect("events: vectors", "ok", "ipi_entry", "");
	expect("events: IPIs", "ok", "", "");
	expect("events: IPI senders", "ok", "ipi_raise", "");
	expect("events: function calls", "ok", "csd_queue_cpu", "");
	expect("events: NMIs", "warn", "has no event for NMIs", "");
	expect("crit engine", "ok", "kfuncs", "");
	expect("PMU", "no", "has no hardware PMU", "--source bpf");
	expect("tracefs", "no", "not mounted", "mount -t tracefs");
	expect("/proc/schedstat", "no", "CONFIG_SCHEDSTATS", "CONFIG_SCHEDSTATS=y");
	expect("cgroups", "ok", "hybrid", "");
	expect("HZ", "ok", "1000: a tick every 1 ms", "");
	expect("cpuidle", "warn", "WFI", "");
	expect("virtualisation", "warn", "dummy-virt", "");
	expect("steal", "warn", "does not report it", "");
	expect("CFS_BANDWIDTH", "no", "not set", "CONFIG_CFS_BANDWIDTH=y");
	expect("sched_ext", "ok", "no BPF schedulers", "");
	expect_command("load", "full", "perf-tsc");
	expect_command("runq", "part", "throttled");
	expect_command("noise", "full", "");
	expect_command("crit", "part", "--tracepoints does not work");

	tree_file(tree, "/sys/kernel/sched_ext/state", "enabled\n");
	tree_file(tree, "/sys/kernel/sched_ext/switch_all", "0\n");
	tree_file(tree, "/sys/kernel/sched_ext/root/ops", "lavd\n");
	look(all);
	expect("sched_ext", "ok", "lavd schedules tasks with policy SCHED_EXT", "");
	tree_file(tree, "/sys/kernel/sched_ext/switch_all", "1\n");
	look(all);
	expect("sched_ext", "warn", "lavd schedules all ordinary tasks", "");
	tree_file(tree, "/sys/kernel/sched_ext/state", "disabled\n");
	/* A steal column above 0 proves that the kernel accounts stolen time. */
	tree_file(tree, "/proc/stat", "cpu 1 0 0 1 0 0 0 7 0 0\ncpu0 1 0 0 1 0 0 0 7 0 0\n");
	look(all);
	expect("steal", "ok", "accounted", "");
	expect("sched_ext", "ok", "no BPF scheduler is enabled", "");
	tree_file(tree, "/proc/stat", "cpu 1 0 0 1\ncpu0 1 0 0 1\n");
	look(all);
	expect("steal", "no", "no usable steal column", "");
	expect("/proc/stat", "ok", "4 columns", "");
}

/* Without IPI events doctor suggests a fix for each value that `noise` lacks. */
MACHINE_TEST(test_senders, machine_guest)
{
	static const char *const none[] = {NULL};
	static const char *const needed[] = {"cpu_idle", "sched_switch", "irq_handler_entry",
					     "irq_handler_exit", "softirq_entry", "softirq_exit",
					     "ipi_entry", "ipi_exit", "ipi_raise", NULL};
	static const char *const without_raise[] = {"cpu_idle", "sched_switch", "irq_handler_entry",
						    "irq_handler_exit", "softirq_entry", "softirq_exit",
						    "ipi_entry", "ipi_exit", "ipi_send_cpu",
						    "ipi_send_cpumask", "csd_queue_cpu", NULL};

	machine_btf(tree, needed, none);
	look(all);
	expect("events: IPI senders", "ok", "ipi_raise", "");
	expect("events: function calls", "no", "lacks csd_queue_cpu", "6.5");
	expect_command("noise", "part", "does not say which functions are called");
	assert_string_equal(cell(1, "command", "noise", "fix"), "use Linux 6.5 or newer");

	/* The generic IPI events lack the reason of an IPI, so arm64 needs the event ipi_raise. */
	machine_btf(tree, without_raise, none);
	look(all);
	expect("events: IPI senders", "no", "lacks ipi_raise", "CONFIG_TRACING");
	expect_command("noise", "part", "--senders does not work");

	/* On riscv64 the generic IPI events are sufficient for `subtick noise --senders`. */
	snprintf(probe.machine, sizeof(probe.machine), "riscv64");
	look(all);
	expect("events: IPI senders", "ok", "ipi_send_cpu", "");
	expect_command("noise", "full", "");
}

MACHINE_TEST(test_varying_tsc, machine_laptop)
{
	look(all);
	expect("PMU", "ok", "counts unhalted time", "");
	probe.cycles_vary = true;
	look(all);
	expect("PMU", "warn", "invariant TSC", "--source bpf");
}

MACHINE_TEST(test_without_btf, machine_laptop)
{
	tree_remove(tree, "/sys/kernel/btf/vmlinux");
	probe.bpf_prog_rc = probe.bpf_read_rc = -ENOENT;
	look(all);
	expect("BTF", "no", "no BTF", "CONFIG_DEBUG_INFO_BTF=y");
	expect("BPF", "no", "need BTF", "CONFIG_DEBUG_INFO_BTF=y");
	expect("events: idle", "no", "without BTF", "CONFIG_DEBUG_INFO_BTF=y");
	/* On this machine `subtick load` fails without --source procstat. */
	expect_command("load", "part", "only with --source procstat");
	expect_command("serve", "no", "needs BTF");
	expect_command("report", "part", "only ticks and delays");
	expect_command("runq", "no", "needs BTF");
	expect_command("audit", "part", "ticks, delays and precision");

	tree_remove(tree, "/proc/stat");
	probe.event_rc = -ENODEV;
	look(all);
	expect_command("load", "no", "needs BTF");
	expect_command("audit", "no", "needs /proc/stat");

	tree_file(tree, "/sys/kernel/btf/vmlinux", "this is no BTF");
	look(all);
	expect("BTF", "no", "no BTF", "");
}

/* The BTF of Linux 5.4 contains structs and functions, but no tracepoints. */
MACHINE_TEST(test_btf_without_tracepoints, machine_laptop)
{
	static const char *const none[] = {NULL}, *const needed[] = {"cpu_idle"};
	struct err err = {0};
	struct btf *btf;

	machine_btf(tree, none, none);
	look(all);
	expect("events: idle", "no", "BTF describes no tracepoints", "Linux 5.10");
	expect("events: IPI senders", "no", "BTF describes no tracepoints", "Linux 5.10");
	expect_command("runq", "no", "BTF describes no tracepoints");

	assert_int_equal(kbtf_open(tree->root, &btf, &err), 0);
	assert_int_equal(kbtf_need_tracepoints(btf, needed, 1, &err), -EOPNOTSUPP);
	assert_true(err.unsupported);
	assert_string_equal(err.what, "the kernel's BTF describes no tracepoints");
	assert_string_equal(err.fix, "use Linux 5.10 or later, built with CONFIG_TRACEPOINTS=y");
	kbtf_close(btf);
}

MACHINE_TEST(test_confidentiality, machine_laptop)
{
	tree_file(tree, "/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	probe.bpf_read_rc = -EINVAL;
	look(all);
	expect("lockdown", "no", "confidentiality", "boot without");
	expect("BPF", "ok", "", "");
	expect("BPF reads", "no", "forbids programs to read kernel memory",
	       "lockdown=confidentiality");
	expect_command("load", "part", "lockdown");
	expect_command("runq", "no", "lockdown");
	/* BPF programs of the source remote read no kernel memory. */
	expect_command("wake", "part", "source remote");

	tree_file(tree, "/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	probe.bpf_read_rc = 0;
	look(all);
	expect("lockdown", "warn", "signed", "Secure Boot");
	expect_command("load", "full", "");
}

MACHINE_TEST(test_unprivileged, machine_laptop)
{
	machine_unprivileged(tree, &probe);
	look(all);
	expect("privileges", "no", "CAP_BPF and CAP_PERFMON are missing", "sudo");
	expect("network privileges", "no", "CAP_NET_ADMIN", "sudo");
	expect("BPF", "no", "not permitted", "sudo");
	expect("perf_event_paranoid", "no", "3", "sysctl -w kernel.perf_event_paranoid=0");
	expect_command("load", "part", "not permitted");
	expect_command("runq", "no", "not permitted");
	expect_command("crit", "no", "");

	/* CAP_BPF and CAP_PERFMON suffice, except inside a user namespace. */
	machine_laptop(tree, &probe);
	tree_file(tree, "/proc/self/status", "Name:\tsubtick\nCapEff:\t000000c000000000\nSeccomp:\t2\n");
	look(all);
	expect("privileges", "ok", "CAP_BPF and CAP_PERFMON", "");
	expect("container", "warn", "seccomp", "");
	expect_command("audit", "part", "the softirq loads of sources are left out");
	tree_file(tree, "/proc/self/uid_map", "0 1000 1\n");
	look(all);
	expect("privileges", "no", "user namespace", "initial");
}

MACHINE_TEST(test_cgroups, machine_laptop)
{
	static const struct {
		const char *mounts, *status, *detail;
	} cases[] = {
		{"1 2 0:1 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n", "ok",
		 "v1, cpu (v1) on"},
		{"1 2 0:1 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", "no", "without"},
		{"1 2 0:1 / / rw - ext4 /dev/sda rw\n", "no", "no hierarchy"},
		{"1 2 0:1 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "warn", "a subtree"},
		{"nonsense\n", "warn", "mountinfo"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tree_file(tree, "/proc/self/mountinfo", cases[i].mounts);
		look(all);
		expect("cgroups", cases[i].status, cases[i].detail, "");
		expect_command("runq", strcmp(cases[i].status, "no") ? "full" : "part", "");
		}
}

MACHINE_TEST(test_config_missing, machine_laptop)
{
	tree_remove(tree, "/boot/config-6.1.0-13-amd64");
	tree_remove(tree, "/sys/kernel/security/lockdown");
	look(all);
	expect("lockdown", "warn", "unknown", "mount -t securityfs");
	expect("kernel config", "warn", "not found", "/boot/config-6.1.0-13-amd64");
	expect("HZ", "warn", "unknown", "CONFIG_HZ");
	expect("NO_HZ", "warn", "unknown", "");
	expect("preemption", "warn", "unknown", "");
	expect("accounting", "warn", "unknown", "");
	expect("VETH", "warn", "unknown", "");
	/* Commands are reported as working although properties are unknown. */
	expect_command("load", "full", "");
	expect_command("audit", "full", "");
}

/*
 * The kernel mounts tracefs below debugfs at the first access. Before this access mountinfo has no
 * line for tracefs.
 */
MACHINE_TEST(test_tracefs_places, machine_guest)
{
	tree_file(tree, "/sys/kernel/debug/tracing/events/enable", "0\n");
	look(all);
	expect("tracefs", "ok", "mounted on /sys/kernel/debug/tracing", "");
	tree_remove(tree, "/sys/kernel/debug/tracing/events/enable");
	tree_remove(tree, "/sys/kernel/debug/tracing/events");
	tree_file(tree, "/proc/self/mountinfo", "1 2 0:2 / /mnt/trace rw - tracefs tracefs rw\n");
	look(all);
	expect("tracefs", "ok", "mounted on /mnt/trace", "");
}

MACHINE_TEST(test_times, machine_laptop)
{
	tree_file(tree, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
		  "hpet\n");
	tree_file(tree, "/sys/devices/system/cpu/nohz_full", "1-3\n");
	tree_file(tree, "/proc/cmdline", "nohz_full=1-3 preempt=full\n");
	tree_file(tree, "/proc/sys/net/core/bpf_jit_enable", "0\n");
	tree_file(tree, "/proc/sys/kernel/bpf_stats_enabled", "1\n");
	tree_file(tree, "/sys/devices/system/cpu/cpu1/cpuidle/state1/latency", "3\n");
	look(all);
	expect("clocksource", "warn", "hpet: slow", "dmesg");
	expect("NO_HZ", "ok", "full on CPUs 1-3", "");
	expect("accounting", "warn", "VIRT_GEN (booted with nohz_full=)", "");
	expect("preemption", "ok", "full, set by the kernel command line", "");
	expect("BPF JIT", "warn", "interpreted", "sysctl -w net.core.bpf_jit_enable=1");
	expect("BPF statistics", "warn", "adds", "sysctl -w kernel.bpf_stats_enabled=0");
	expect("cpuidle", "ok", "on CPU 0; CPU 1 differs", "");

	tree_file(tree, "/sys/devices/system/cpu/nohz_full", "\n");
	tree_file(tree, "/proc/cmdline", "nohz=off\n");
	tree_file(tree, "/sys/devices/system/cpu/cpuidle/current_driver", "haltpoll\n");
	tree_file(tree, "/sys/kernel/debug/sched/preempt", "none voluntary (lazy)\n");
	look(all);
	expect("preemption", "ok", "lazy", "");
	tree_file(tree, "/sys/kernel/realtime", "1\n");
	look(all);
	expect("NO_HZ", "warn", "nohz=off", "boot without");
	expect("cpuidle", "warn", "polls before it halts", "");
	expect("preemption", "ok", "PREEMPT_RT", "");
}

MACHINE_TEST(test_only_this_build, machine_laptop)
{
	static const char *const build[] = {"load", "doctor", NULL};

	look(build);
	assert_int_equal(report->tables[1]->nr_rows, 1);
	assert_string_equal(doctor_command_status(report, "load"), "full");
	assert_null(doctor_command_status(report, "runq"));
	assert_null(cell(0, "check", "NET_SCH_ETF", "status"));
	assert_null(cell(0, "check", "crit engine", "status"));
	assert_non_null(cell(0, "check", "BTF", "status"));
}

static void machine_empty(const struct tree *root, struct probe *ret_probe)
{
	*ret_probe = (struct probe){.bpf_map_rc = -ENOSYS,
				.bpf_prog_rc = -ENOSYS,
				.bpf_read_rc = -ENOSYS,
				.event_rc = -ENODEV};
}

/* Without any files every check has a result and no command works. */
MACHINE_TEST(test_empty_machine, machine_empty)
{
	const struct table *table;

	look(all);
	table = report->tables[0];
	expect("kernel", "no", "missing", "mount -t sysfs");
	expect("BPF", "no", "no bpf(2)", "CONFIG_BPF_SYSCALL=y");
	expect("perf_event_paranoid", "no", "", "CONFIG_PERF_EVENTS=y");
	for (size_t i = 0; all[i]; i++)
		expect_command(all[i], "no", "needs");
	for (size_t row = 0; row < table->nr_rows; row++)
		for (size_t col = 0; col < 3; col++)
			assert_int_equal(table_cell(table, row, col)->kind, VALUE_STR);
}

TEST_MAIN()
