/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Creates the files and the results of system calls of the simulated machines in machines.h. */
#include "machines.h"

#include <bpf/btf.h>

#include "test.h"

#define COMMON_TRACES                                                                         \
	"cpu_idle", "sched_switch", "irq_handler_entry", "irq_handler_exit", "softirq_entry", \
		"softirq_exit", "cpuhp_enter", "cpuhp_exit", "sched_waking", "sched_wakeup",  \
		"sched_wakeup_new", "hrtimer_start", "hrtimer_expire_entry",                  \
		"hrtimer_expire_exit", "sched_wake_idle_without_ipi"

const char *const machine_x86_traces[] = {
	COMMON_TRACES,
	"local_timer_entry",
	"local_timer_exit",
	"reschedule_entry",
	"reschedule_exit",
	"call_function_entry",
	"call_function_exit",
	"call_function_single_entry",
	"call_function_single_exit",
	"irq_work_entry",
	"irq_work_exit",
	NULL,
};

const char *const machine_arm64_traces[] = {
	COMMON_TRACES, "ipi_entry", "ipi_exit", "ipi_raise", "ipi_send_cpu", "csd_queue_cpu", NULL,
};

void machine_btf(const struct tree *tree, const char *const *traces, const char *const *funcs)
{
	struct btf *btf = btf__new_empty();
	char name[96];
	const void *raw;
	__u32 size;
	int proto;

	assert_non_null(btf);
	proto = btf__add_func_proto(btf, 0);
	assert_true(proto > 0);
	for (; *traces; traces++) {
		snprintf(name, sizeof(name), "btf_trace_%s", *traces);
		assert_true(btf__add_typedef(btf, name, proto) > 0);
	}
	for (; *funcs; funcs++)
		assert_true(btf__add_func(btf, *funcs, BTF_FUNC_STATIC, proto) > 0);
	raw = btf__raw_data(btf, &size);
	assert_non_null(raw);
	tree_bytes(tree, "/sys/kernel/btf/vmlinux", raw, size);
	btf__free(btf);
}

static void machine_common(const struct tree *tree, struct probe *probe)
{
	memset(probe, 0, sizeof(*probe));
	probe->user_hz = 100;
	tree_file(tree, "/proc/self/status", "Name:\tsubtick\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n");
	tree_file(tree, "/proc/self/uid_map", "         0          0 4294967295\n");
	tree_file(tree, "/proc/self/schedstat", "1 2 3\n");
	tree_file(tree, "/proc/sys/net/core/bpf_jit_enable", "1\n");
	tree_file(tree, "/proc/sys/kernel/unprivileged_bpf_disabled", "2\n");
	tree_file(tree, "/proc/sys/kernel/bpf_stats_enabled", "0\n");
	tree_file(tree, "/proc/modules", "");
	tree_link(tree, "/proc/self/ns/pid", "pid:[4026531836]");
	tree_link(tree, "/proc/self/ns/cgroup", "cgroup:[4026531835]");
	/* In a real /proc, ns/net is a link whose target is no file. */
	tree_file(tree, "/proc/self/ns/net", "");
}

static void idle_states(const struct tree *tree, unsigned int cpu)
{
	static const char *const states[][3] = {
		{"POLL", "0", "0"}, {"C1", "2", "0"}, {"C1E", "10", "0"}, {"C6", "133", "1"}};
	char path[128];

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		const char *const files[][2] = {
			{"name", states[i][0]},
			{"latency", states[i][1]},
			{"disable", states[i][2]},
			{"usage", "1"},
			{"time", "1"},
			{"desc", "x"},
			{"residency", states[i][1]},
		};

		for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
			snprintf(path, sizeof(path),
				 "/sys/devices/system/cpu/cpu%u/cpuidle/state%zu/%s", cpu, i,
				 files[f][0]);
			tree_file(tree, path, files[f][1]);
		}
	}
}

void machine_laptop(const struct tree *tree, struct probe *probe)
{
	static const char *const none[] = {NULL};

	machine_common(tree, probe);
	strcpy(probe->release, "6.1.0-13-amd64");
	strcpy(probe->machine, "x86_64");
	strcpy(probe->event, "ref-cycles");
	machine_btf(tree, machine_x86_traces, none);
	tree_file(tree, "/boot/config-6.1.0-13-amd64",
		  "CONFIG_HZ=250\nCONFIG_NO_HZ_COMMON=y\nCONFIG_NO_HZ_FULL=y\n"
		  "CONFIG_VIRT_CPU_ACCOUNTING_GEN=y\nCONFIG_PARAVIRT=y\nCONFIG_HIGH_RES_TIMERS=y\n"
		  "CONFIG_CFS_BANDWIDTH=y\nCONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_PREEMPT_DYNAMIC=y\n"
		  "CONFIG_VETH=m\nCONFIG_RPS=y\nCONFIG_NET_NS=y\nCONFIG_NET_SCH_ETF=m\n"
		  "CONFIG_PTP_1588_CLOCK=m\nCONFIG_PSI=y\n# CONFIG_OSNOISE_TRACER is not set\n");
	tree_file(tree, "/proc/cmdline", "BOOT_IMAGE=/vmlinuz ro quiet\n");
	tree_file(tree, "/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc constant_tsc\n");
	tree_file(tree, "/proc/stat",
		  "cpu  2 0 0 2 0 0 0 0 0 0\ncpu0 1 0 0 1 0 0 0 0 0 0\n"
		  "cpu1 1 0 0 1 0 0 0 0 0 0\nintr 0\n");
	tree_file(tree, "/proc/schedstat", "version 15\ntimestamp 1\ncpu0 0 0 0 0 0 0 1 2 3\n");
	tree_file(tree, "/proc/pressure/cpu", "some\n");
	tree_file(tree, "/proc/sys/kernel/perf_event_paranoid", "3\n");
	tree_file(tree, "/proc/self/mountinfo",
		  "1 2 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
		  "1 2 0:2 / /sys/kernel/tracing rw - tracefs tracefs rw\n");
	tree_file(tree, "/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
	tree_file(tree, "/sys/devices/system/cpu/online", "0-1\n");
	tree_file(tree, "/sys/devices/system/cpu/possible", "0-3\n");
	tree_file(tree, "/sys/devices/system/cpu/nohz_full", "(null)\n");
	tree_file(tree, "/sys/devices/system/cpu/cpuidle/current_driver", "intel_idle\n");
	tree_file(tree, "/sys/devices/system/cpu/cpuidle/current_governor", "menu\n");
	idle_states(tree, 0);
	idle_states(tree, 1);
	tree_file(tree, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
		  "tsc\n");
	tree_file(tree, "/sys/devices/system/clocksource/clocksource0/available_clocksource",
		  "tsc hpet acpi_pm \n");
	tree_file(tree, "/sys/bus/event_source/devices/cpu/type", "4\n");
	tree_file(tree, "/sys/bus/event_source/devices/software/type", "1\n");
	tree_file(tree, "/sys/bus/event_source/devices/msr/type", "10\n");
}

void machine_guest(const struct tree *tree, struct probe *probe)
{
	static const char *const kfuncs[] = {
		"bpf_local_irq_save",
		"bpf_local_irq_restore",
		"bpf_preempt_disable",
		"bpf_preempt_enable",
		"bpf_iter_num_new",
		NULL,
	};

	machine_common(tree, probe);
	strcpy(probe->release, "6.18.0");
	strcpy(probe->machine, "aarch64");
	probe->event_rc = err_unsupported(&probe->event_err, -ENODEV, "use --source bpf",
					  "no hardware counter for cnt_cycles");
	machine_btf(tree, machine_arm64_traces, kfuncs);
	tree_file(tree, "/lib/modules/6.18.0/config",
		  "CONFIG_HZ=1000\nCONFIG_NO_HZ_COMMON=y\nCONFIG_TICK_CPU_ACCOUNTING=y\n"
		  "CONFIG_PARAVIRT=y\nCONFIG_HIGH_RES_TIMERS=y\nCONFIG_PREEMPT=y\n");
	tree_file(tree, "/proc/cmdline", "console=ttyAMA0\n");
	tree_bytes(tree, "/proc/device-tree/compatible", "linux,dummy-virt", 17);
	tree_file(tree, "/proc/stat",
		  "cpu  2 0 0 2 0 0 0 0 0 0\ncpu0 1 0 0 1 0 0 0 0 0 0\nintr 0\n");
	tree_file(tree, "/proc/sys/kernel/perf_event_paranoid", "2\n");
	tree_file(tree, "/proc/self/mountinfo",
		  "1 2 0:1 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
		  "1 2 0:2 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
	tree_file(tree, "/sys/kernel/tracing/README", "");
	tree_file(tree, "/sys/devices/system/cpu/online", "0\n");
	tree_file(tree, "/sys/devices/system/cpu/possible", "0\n");
	tree_file(tree, "/sys/devices/system/cpu/cpuidle/current_driver", "none\n");
	tree_file(tree, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
		  "arch_sys_counter\n");
	tree_file(tree, "/sys/bus/event_source/devices/software/type", "1\n");
}

void machine_unprivileged(const struct tree *tree, struct probe *probe)
{
	tree_file(tree, "/proc/self/status", "Name:\tsubtick\nCapEff:\t0000000000000000\nSeccomp:\t0\n");
	probe->bpf_map_rc = probe->bpf_prog_rc = probe->bpf_read_rc = -EPERM;
	probe->event_rc =
		err_unsupported(&probe->event_err, -EACCES, "run as root", "not permitted");
}
