/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests `subtick doctor` on simulated machines: the result of each check, and which commands will
 * work.
 */
#include "doctor/doctor.h"
#include "host/kbtf.h"

#include "machines.h"
#include "test.h"
#include "tree.h"

static const char *const all[] = {"load", "runq",  "noise",  "wake", "audit",
				  "crit", "serve", "report", NULL};

static struct report *look(const struct tree *tree, const struct probe *probe,
			   const char *const *commands)
{
	const struct doctor_opts opts = {.root = tree->root, .probe = probe, .commands = commands};
	struct report *report = NULL;
	struct err err = {0};

	assert_int_equal(doctor_report(&opts, &report, &err), 0);
	assert_int_equal(report->nr_tables, 2);
	return report;
}

static const char *cell(const struct report *report, int t, const char *row_key, const char *name,
			const char *key)
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

static void expect(const struct report *report, const char *check, const char *status,
		   const char *detail_part, const char *fix_part)
{
	const char *is = cell(report, 0, "check", check, "status");

	if (!is || strcmp(is, status))
		fail_msg("%s is %s, not %s: %s", check, is ? is : "absent", status,
			 is ? cell(report, 0, "check", check, "detail") : "");
	if (!strstr(cell(report, 0, "check", check, "detail"), detail_part))
		fail_msg("%s: \"%s\" lacks \"%s\"", check,
			 cell(report, 0, "check", check, "detail"), detail_part);
	if (!strstr(cell(report, 0, "check", check, "fix"), fix_part))
		fail_msg("%s: fix \"%s\" lacks \"%s\"", check,
			 cell(report, 0, "check", check, "fix"), fix_part);
}

static void expect_command(const struct report *report, const char *command, const char *status,
			   const char *detail_part)
{
	const char *is = doctor_command_status(report, command);

	if (!is || strcmp(is, status))
		fail_msg("%s is %s, not %s: %s", command, is ? is : "absent", status,
			 is ? cell(report, 1, "command", command, "detail") : "");
	if (!strstr(cell(report, 1, "command", command, "detail"), detail_part))
		fail_msg("%s: \"%s\" lacks \"%s\"", command,
			 cell(report, 1, "command", command, "detail"), detail_part);
}

#define MACHINE_TEST(test) TEST_WITH(test, tree_setup, tree_teardown)

MACHINE_TEST(test_laptop)
{
	const struct tree *tree = *state;
	struct report *report;
	struct probe probe;

	machine_laptop(tree, &probe);
	report = look(tree, &probe, all);
	expect(report, "kernel", "ok", "2 of 4 possible CPUs", "");
	expect(report, "kernel config", "ok", "/boot/config-6.1.0-13-amd64", "");
	expect(report, "privileges", "ok", "CAP_SYS_ADMIN", "");
	expect(report, "lockdown", "ok", "none", "");
	expect(report, "BPF reads", "ok", "", "");
	expect(report, "BTF", "ok", "", "");
	expect(report, "BPF", "ok", "", "");
	expect(report, "events: vectors", "ok", "local_timer_entry", "");
	expect(report, "events: IPIs", "no", "ipi_send_cpu", "6.4");
	expect(report, "events: IPI senders", "no", "lacks ipi_send_cpu, ipi_send_cpumask", "6.4");
	expect(report, "events: function calls", "no", "lacks csd_queue_cpu", "6.5");
	expect(report, "events: preemptirq", "no", "preempt_enable", "CONFIG_PREEMPT_TRACER");
	expect(report, "perf_event_paranoid", "ok", "3", "");
	expect(report, "PMU", "ok", "ref-cycles", "");
	expect(report, "PMU", "ok", "cpu msr", "");
	expect(report, "tracefs", "ok", "/sys/kernel/tracing", "");
	expect(report, "cgroups", "ok", "v2 on /sys/fs/cgroup", "");
	expect(report, "clocksource", "ok", "tsc", "");
	expect(report, "accounting", "warn", "tick (VIRT_CPU_ACCOUNTING_GEN is inactive",
	       "subtick load");
	expect(report, "HZ", "ok", "250: a tick every 4 ms", "");
	expect(report, "USER_HZ", "ok", "windows of 10 s", "");
	expect(report, "NO_HZ", "ok", "NO_HZ_FULL is inactive", "");
	expect(report, "preemption", "ok", "voluntary, unless changed", "");
	expect(report, "cpuidle", "ok",
	       "intel_idle, governor menu: POLL 0 us, C1 2 us, C1E 10 us, C6 133 us (off)", "");
	expect(report, "virtualisation", "ok", "bare metal", "");
	expect(report, "steal", "ok", "bare metal", "");
	expect(report, "container", "ok", "none", "");
	expect(report, "VETH", "ok", "as a module", "");
	expect(report, "crit engine", "no", "neither", "apt install linux-headers-6.1.0-13-amd64; in the source "
	       "tree: make -C kmod/tracerbench && insmod kmod/tracerbench/tracerbench.ko");
	expect_command(report, "load", "full", "");
	expect_command(report, "runq", "full", "");
	expect_command(report, "noise", "part", "no --senders (events: IPI senders); --senders does not");
	expect_command(report, "wake", "part", "stamps the launch");
	expect_command(report, "audit", "full", "");
	expect_command(report, "crit", "no", "needs crit engine");
	expect_command(report, "report", "part", "no cost of critical sections");
	report_free(report);

	/* The machine has kernel headers and the DKMS package. */
	tree_file(tree, "/lib/modules/6.1.0-13-amd64/build/Makefile", "");
	report = look(tree, &probe, all);
	expect(report, "crit engine", "no", "neither", "make -C kmod/tracerbench "
	       "KDIR=/lib/modules/6.1.0-13-amd64/build && insmod");
	report_free(report);
	tree_file(tree, "/usr/src/tracerbench-" SUBTICK_VERSION "/dkms.conf", "");
	report = look(tree, &probe, all);
	expect(report, "crit engine", "no", "neither", "dkms install tracerbench/" SUBTICK_VERSION " -k 6.1.0-13-amd64");
	report_free(report);

	tree_file(tree, "/lib/modules/6.1.0-13-amd64/modules.dep",
		  "updates/dkms/tracerbench.ko.xz:\n");
	report = look(tree, &probe, all);
	expect(report, "crit engine", "ok", "installed", "");
	expect_command(report, "crit", "part", "no --tracepoints");
	report_free(report);
}

MACHINE_TEST(test_guest)
{
	const struct tree *tree = *state;
	struct report *report;
	struct probe probe;

	machine_guest(tree, &probe);
	report = look(tree, &probe, all);
	expect(report, "kernel config", "ok", "/lib/modules/6.18.0/config", "");
	expect(report, "lockdown", "ok", "not in this kernel", "");
	expect(report, "events: vectors", "ok", "ipi_entry", "");
	expect(report, "events: IPIs", "ok", "", "");
	expect(report, "events: IPI senders", "ok", "ipi_raise", "");
	expect(report, "events: function calls", "ok", "csd_queue_cpu", "");
	expect(report, "events: NMIs", "warn", "has no event for NMIs", "");
	expect(report, "crit engine", "ok", "kfuncs", "");
	expect(report, "PMU", "no", "has no hardware PMU", "--source bpf");
	expect(report, "tracefs", "no", "not mounted", "mount -t tracefs");
	expect(report, "/proc/schedstat", "no", "CONFIG_SCHEDSTATS", "CONFIG_SCHEDSTATS=y");
	expect(report, "cgroups", "ok", "hybrid", "");
	expect(report, "HZ", "ok", "1000: a tick every 1 ms", "");
	expect(report, "cpuidle", "warn", "WFI", "");
	expect(report, "virtualisation", "warn", "dummy-virt", "");
	expect(report, "steal", "warn", "does not report it", "");
	expect(report, "CFS_BANDWIDTH", "no", "not set", "CONFIG_CFS_BANDWIDTH=y");
	expect(report, "sched_ext", "ok", "no BPF schedulers", "");
	expect_command(report, "load", "full", "perf-tsc");
	expect_command(report, "runq", "part", "throttled");
	expect_command(report, "noise", "full", "");
	expect_command(report, "crit", "part", "no --tracepoints");
	report_free(report);

	tree_file(tree, "/sys/kernel/sched_ext/state", "enabled\n");
	tree_file(tree, "/sys/kernel/sched_ext/switch_all", "0\n");
	tree_file(tree, "/sys/kernel/sched_ext/root/ops", "lavd\n");
	report = look(tree, &probe, all);
	expect(report, "sched_ext", "ok", "lavd schedules tasks with policy SCHED_EXT", "");
	report_free(report);
	tree_file(tree, "/sys/kernel/sched_ext/switch_all", "1\n");
	report = look(tree, &probe, all);
	expect(report, "sched_ext", "warn", "lavd schedules all ordinary tasks", "");
	report_free(report);
	tree_file(tree, "/sys/kernel/sched_ext/state", "disabled\n");
	/* A steal column above 0 proves that the kernel accounts stolen time. */
	tree_file(tree, "/proc/stat", "cpu 1 0 0 1 0 0 0 7 0 0\ncpu0 1 0 0 1 0 0 0 7 0 0\n");
	report = look(tree, &probe, all);
	expect(report, "steal", "ok", "accounted", "");
	expect(report, "sched_ext", "ok", "no BPF scheduler is enabled", "");
	report_free(report);
	tree_file(tree, "/proc/stat", "cpu 1 0 0 1\ncpu0 1 0 0 1\n");
	report = look(tree, &probe, all);
	expect(report, "steal", "no", "no usable steal column", "");
	expect(report, "/proc/stat", "ok", "4 columns", "");
	report_free(report);
}

/*
 * On kernels that lack IPI events, doctor suggests a separate fix for each missing figure of noise.
 */
MACHINE_TEST(test_senders)
{
	static const char *const none[] = {NULL};
	static const char *const needed[] = {"cpu_idle", "sched_switch", "irq_handler_entry",
					     "irq_handler_exit", "softirq_entry", "softirq_exit",
					     "ipi_entry", "ipi_exit", "ipi_raise", NULL};
	static const char *const without_raise[] = {"cpu_idle", "sched_switch", "irq_handler_entry",
						    "irq_handler_exit", "softirq_entry", "softirq_exit",
						    "ipi_entry", "ipi_exit", "ipi_send_cpu",
						    "ipi_send_cpumask", "csd_queue_cpu", NULL};
	const struct tree *tree = *state;
	struct report *report;
	struct probe probe;

	machine_guest(tree, &probe);
	machine_btf(tree, needed, none);
	report = look(tree, &probe, all);
	expect(report, "events: IPI senders", "ok", "ipi_raise", "");
	expect(report, "events: function calls", "no", "lacks csd_queue_cpu", "6.5");
	expect_command(report, "noise", "part", "does not say which functions are called");
	assert_string_equal(cell(report, 1, "command", "noise", "fix"), "use Linux 6.5 or newer");
	report_free(report);

	/*
	 * The generic IPI events do not name the reason of an IPI, so arm64 needs its own event
	 * ipi_raise.
	 */
	machine_btf(tree, without_raise, none);
	report = look(tree, &probe, all);
	expect(report, "events: IPI senders", "no", "lacks ipi_raise", "CONFIG_TRACING");
	expect_command(report, "noise", "part", "no --senders");
	report_free(report);

	/* On riscv64 the generic IPI events are enough. */
	snprintf(probe.machine, sizeof(probe.machine), "riscv64");
	report = look(tree, &probe, all);
	expect(report, "events: IPI senders", "ok", "ipi_send_cpu", "");
	expect_command(report, "noise", "full", "");
	report_free(report);
}

MACHINE_TEST(test_varying_tsc)
{
	const struct tree *tree = *state;
	struct report *report;
	struct probe probe;

	machine_laptop(tree, &probe);
	report = look(tree, &probe, all);
	expect(report, "PMU", "ok", "counts unhalted time", "");
	report_free(report);
	probe.cycles_vary = true;
	report = look(tree, &probe, all);
	expect(report, "PMU", "warn", "invariant TSC", "--source bpf");
	report_free(report);
}

MACHINE_TEST(test_without_btf)
{
	const struct tree *tree = *state;
	struct report *report;
	struct probe probe;

	machine_laptop(tree, &probe);
	tree_remove(tree, "/sys/kernel/btf/vmlinux");
	probe.bpf_prog_rc = probe.bpf_read_rc = -ENOENT;
	report = look(tree, &probe, all);
	expect(report, "BTF", "no", "no BTF", "CONFIG_DEBUG_INFO_BTF=y");
	expect(report, "BPF", "no", "need BTF", "CONFIG_DEBUG_INFO_BTF=y");
	expect(report, "events: idle", "no", "without BTF", "CONFIG_DEBUG_INFO_BTF=y");
	/*
	 * Without --source, load would fail on this machine, so the user must name a source that
	 * works.
	 */
	expect_command(report, "load", "part", "only with --source procstat");
	expect_command(report, "serve", "no", "needs BTF");
	expect_command(report, "report", "part", "only ticks and delays");
	expect_command(report, "runq", "no", "needs BTF");
	expect_command(report, "audit", "part", "ticks, delays and precision");
	report_free(report);

	/* Without BPF, /proc/stat and hardware counters, load does not work at all. */
	tree_remove(tree, "/proc/stat");
	probe.event_rc = -ENODEV;
	report = look(tree, &probe, all);
	expect_command(report, "load", "no", "needs BTF");
	expect_command(report, "audit", "no", "needs /proc/stat");
	report_free(report);

	tree_file(tree, "/sys/kernel/btf/vmlinux", "this is no BTF");
	report = look(tree, &probe, all);
	expect(report, "BTF", "no", "no BTF", "");
	report_free(report);
}

/* The BTF of Linux 5.4 describes structs and functions, but no tracepoints. */
MACHINE_TEST(test_btf_without_tracepoints)
{
	static const char *const none[] = {NULL}, *const needed[] = {"cpu_idle"};
	const struct tree *tree = *state;
	struct report *report;
	struct probe probe;
	struct err err = {0};
	struct btf *btf;

	machine_laptop(tree, &probe);
	machine_btf(tree, none, none);
	report = look(tree, &probe, all);
	expect(report, "events: idle", "no", "BTF describes no tracepoints", "Linux 5.10");
	expect(report, "events: IPI senders", "no", "BTF describes no tracepoints", "Linux 5.10");
	expect_command(report, "runq", "no", "BTF describes no tracepoints");
	report_free(report);

	assert_int_equal(kbtf_open(tree->root, &btf, &err), 0);
	assert_int_equal(kbtf_need_tracepoints(btf, needed, 1, &err), -EOPNOTSUPP);
	assert_true(err.unsupported);
	assert_string_equal(err.what, "the kernel's BTF describes no tracepoints");
	assert_string_equal(err.fix, "use Linux 5.10 or later, built with CONFIG_TRACEPOINTS=y");
	kbtf_close(btf);
}

MACHINE_TEST(test_confidentiality)
{
	const struct tree *tree = *state;
	struct report *report;
	struct probe probe;

	machine_laptop(tree, &probe);
	tree_file(tree, "/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	probe.bpf_read_rc = -EINVAL;
	report = look(tree, &probe, all);
	expect(report, "lockdown", "no", "confidentiality", "boot without");
	expect(report, "BPF", "ok", "", "");
	expect(report, "BPF reads", "no", "forbids programs to read kernel memory",
	       "lockdown=confidentiality");
	expect_command(report, "load", "part", "lockdown");
	expect_command(report, "runq", "no", "lockdown");
	/* Source remote of wake works, because its BPF programs read no kernel memory. */
	expect_command(report, "wake", "part", "source remote");
	report_free(report);

	tree_file(tree, "/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	probe.bpf_read_rc = 0;
	report = look(tree, &probe, all);
	expect(report, "lockdown", "warn", "signed", "Secure Boot");
	expect_command(report, "load", "full", "");
	report_free(report);
}

MACHINE_TEST(test_unprivileged)
{
	const struct tree *tree = *state;
	struct report *report;
	struct probe probe;

	machine_laptop(tree, &probe);
	machine_unprivileged(tree, &probe);
	report = look(tree, &probe, all);
	expect(report, "privileges", "no", "CAP_BPF and CAP_PERFMON are missing", "sudo");
	expect(report, "network privileges", "no", "CAP_NET_ADMIN", "sudo");
	expect(report, "BPF", "no", "not permitted", "sudo");
	expect(report, "perf_event_paranoid", "no", "3", "sysctl -w kernel.perf_event_paranoid=0");
	expect_command(report, "load", "part", "not permitted");
	expect_command(report, "runq", "no", "not permitted");
	expect_command(report, "crit", "no", "");
	report_free(report);

	/*
	 * CAP_BPF and CAP_PERFMON are enough to load BPF programs, except inside a user namespace,
	 * where no capability is enough.
	 */
	machine_laptop(tree, &probe);
	tree_file(tree, "/proc/self/status", "Name:\tsubtick\nCapEff:\t000000c000000000\nSeccomp:\t2\n");
	report = look(tree, &probe, all);
	expect(report, "privileges", "ok", "CAP_BPF and CAP_PERFMON", "");
	expect(report, "container", "warn", "seccomp", "");
	expect_command(report, "audit", "part", "no softirq loads");
	report_free(report);
	tree_file(tree, "/proc/self/uid_map", "0 1000 1\n");
	report = look(tree, &probe, all);
	expect(report, "privileges", "no", "user namespace", "initial");
	report_free(report);
}

MACHINE_TEST(test_cgroups)
{
	static const struct {
		const char *mounts, *status, *detail;
	} cases[] = {
		{"1 2 0:1 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n", "ok",
		 "v1, cpu (v1) on"},
		{"1 2 0:1 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", "no", "without"},
		{"1 2 0:1 / / rw - ext4 /dev/sda rw\n", "no", "no hierarchy"},
		{"1 2 0:1 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "warn", "a part"},
		{"nonsense\n", "warn", "mountinfo"},
	};
	const struct tree *tree = *state;
	struct report *report;
	struct probe probe;

	machine_laptop(tree, &probe);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tree_file(tree, "/proc/self/mountinfo", cases[i].mounts);
		report = look(tree, &probe, all);
		expect(report, "cgroups", cases[i].status, cases[i].detail, "");
		expect_command(report, "runq", strcmp(cases[i].status, "no") ? "full" : "part", "");
		report_free(report);
	}
}

MACHINE_TEST(test_config_missing)
{
	const struct tree *tree = *state;
	struct report *report;
	struct probe probe;

	machine_laptop(tree, &probe);
	tree_remove(tree, "/boot/config-6.1.0-13-amd64");
	tree_remove(tree, "/sys/kernel/security/lockdown");
	report = look(tree, &probe, all);
	expect(report, "lockdown", "warn", "unknown", "mount -t securityfs");
	expect(report, "kernel config", "warn", "not found", "/boot/config-6.1.0-13-amd64");
	expect(report, "HZ", "warn", "unknown", "CONFIG_HZ");
	expect(report, "NO_HZ", "warn", "unknown", "");
	expect(report, "preemption", "warn", "unknown", "");
	expect(report, "accounting", "warn", "unknown", "");
	expect(report, "VETH", "warn", "unknown", "");
	/*
	 * If doctor cannot determine a property of the machine, it does not report that a command
	 * fails.
	 */
	expect_command(report, "load", "full", "");
	expect_command(report, "audit", "full", "");
	report_free(report);
}

/*
 * The kernel mounts tracefs below debugfs at the first access. Until then mountinfo has no line for
 * tracefs.
 */
MACHINE_TEST(test_tracefs_places)
{
	const struct tree *tree = *state;
	struct report *report;
	struct probe probe;

	machine_guest(tree, &probe);
	tree_file(tree, "/sys/kernel/debug/tracing/events/enable", "0\n");
	report = look(tree, &probe, all);
	expect(report, "tracefs", "ok", "mounted on /sys/kernel/debug/tracing", "");
	report_free(report);
	tree_remove(tree, "/sys/kernel/debug/tracing/events/enable");
	tree_remove(tree, "/sys/kernel/debug/tracing/events");
	tree_file(tree, "/proc/self/mountinfo", "1 2 0:2 / /mnt/trace rw - tracefs tracefs rw\n");
	report = look(tree, &probe, all);
	expect(report, "tracefs", "ok", "mounted on /mnt/trace", "");
	report_free(report);
}

MACHINE_TEST(test_times)
{
	const struct tree *tree = *state;
	struct report *report;
	struct probe probe;

	machine_laptop(tree, &probe);
	tree_file(tree, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
		  "hpet\n");
	tree_file(tree, "/sys/devices/system/cpu/nohz_full", "1-3\n");
	tree_file(tree, "/proc/cmdline", "nohz_full=1-3 preempt=full\n");
	tree_file(tree, "/proc/sys/net/core/bpf_jit_enable", "0\n");
	tree_file(tree, "/proc/sys/kernel/bpf_stats_enabled", "1\n");
	tree_file(tree, "/sys/devices/system/cpu/cpu1/cpuidle/state1/latency", "3\n");
	report = look(tree, &probe, all);
	expect(report, "clocksource", "warn", "hpet: slow", "dmesg");
	expect(report, "NO_HZ", "ok", "full on CPUs 1-3", "");
	expect(report, "accounting", "warn", "VIRT_GEN (booted with nohz_full=)", "");
	expect(report, "preemption", "ok", "full, set by the kernel command line", "");
	expect(report, "BPF JIT", "warn", "interpreted", "sysctl -w net.core.bpf_jit_enable=1");
	expect(report, "BPF statistics", "warn", "adds", "sysctl -w kernel.bpf_stats_enabled=0");
	expect(report, "cpuidle", "ok", "on CPU 0; CPU 1 differs", "");
	report_free(report);

	tree_file(tree, "/sys/devices/system/cpu/nohz_full", "\n");
	tree_file(tree, "/proc/cmdline", "nohz=off\n");
	tree_file(tree, "/sys/devices/system/cpu/cpuidle/current_driver", "haltpoll\n");
	tree_file(tree, "/sys/kernel/debug/sched/preempt", "none voluntary (lazy)\n");
	report = look(tree, &probe, all);
	expect(report, "preemption", "ok", "lazy", "");
	report_free(report);
	tree_file(tree, "/sys/kernel/realtime", "1\n");
	report = look(tree, &probe, all);
	expect(report, "NO_HZ", "warn", "nohz=off", "boot without");
	expect(report, "cpuidle", "warn", "polls before it halts", "");
	expect(report, "preemption", "ok", "PREEMPT_RT", "");
	report_free(report);
}

MACHINE_TEST(test_only_this_build)
{
	static const char *const build[] = {"load", "doctor", NULL};
	const struct tree *tree = *state;
	struct report *report;
	struct probe probe;

	machine_laptop(tree, &probe);
	report = look(tree, &probe, build);
	assert_int_equal(report->tables[1]->nr_rows, 1);
	assert_string_equal(doctor_command_status(report, "load"), "full");
	assert_null(doctor_command_status(report, "runq"));
	assert_null(cell(report, 0, "check", "NET_SCH_ETF", "status"));
	assert_null(cell(report, 0, "check", "crit engine", "status"));
	assert_non_null(cell(report, 0, "check", "BTF", "status"));
	report_free(report);
}

/*
 * On a machine without any files, every check returns a result, and no check returns ok without
 * evidence.
 */
MACHINE_TEST(test_empty_machine)
{
	const struct tree *tree = *state;
	struct probe probe = {.bpf_map_rc = -ENOSYS,
			      .bpf_prog_rc = -ENOSYS,
			      .bpf_read_rc = -ENOSYS,
			      .event_rc = -ENODEV};
	struct report *report = look(tree, &probe, all);
	const struct table *table = report->tables[0];

	expect(report, "kernel", "no", "missing", "mount -t sysfs");
	expect(report, "BPF", "no", "no bpf(2)", "CONFIG_BPF_SYSCALL=y");
	expect(report, "perf_event_paranoid", "no", "", "CONFIG_PERF_EVENTS=y");
	for (size_t i = 0; all[i]; i++)
		expect_command(report, all[i], "no", "needs");
	for (size_t row = 0; row < table->nr_rows; row++)
		for (size_t col = 0; col < 3; col++)
			assert_int_equal(table_cell(table, row, col)->kind, VALUE_STR);
	report_free(report);
}

TEST_MAIN()
