/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the properties of kernel and machine that subtick reads. */
#include "test.h"

#include <zlib.h>

#include "host/kernel.h"
#include "doctor/doctor.h"
#include "host/cpuidle.h"
#include "host/machine.h"
#include "tree.h"

TEST(test_cmdline)
{
	static const char line[] = "ro nohz_full=1-3 quiet tsc=reliable tsc=noirqtime "
				   "dyndbg=\"file x +p; y=z\" no-steal-acc -- preempt=full";
	char buf[32];

	assert_true(cmdline_get(line, "nohz_full", buf, sizeof(buf)));
	assert_string_equal(buf, "1-3");
	assert_true(cmdline_get(line, "nohz-full", NULL, 0));
	assert_true(cmdline_get(line, "tsc", buf, sizeof(buf)));
	assert_string_equal(buf, "noirqtime");
	assert_true(cmdline_get(line, "quiet", buf, sizeof(buf)));
	assert_string_equal(buf, "");
	assert_true(cmdline_get(line, "no_steal_acc", NULL, 0));
	assert_false(cmdline_get(line, "nohz", NULL, 0));
	assert_false(cmdline_get(line, "y", NULL, 0));
	assert_false(cmdline_get(line, "preempt", NULL, 0));
	assert_false(cmdline_get("", "quiet", NULL, 0));
	assert_false(cmdline_get("qui", "quiet", NULL, 0));
}

TREE_TEST(test_lockdown)
{
	static const struct {
		const char *text;
		enum lockdown level;
	} cases[] = {
		{"[none] integrity confidentiality\n", LOCKDOWN_NONE},
		{"none [integrity] confidentiality\n", LOCKDOWN_INTEGRITY},
		{"none integrity [confidentiality]\n", LOCKDOWN_CONFIDENTIALITY},
	};
	enum lockdown level;

	assert_int_equal(lockdown_read(tree->root, &level), 0);
	assert_int_equal(level, LOCKDOWN_ABSENT);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tree_file(tree, "/sys/kernel/security/lockdown", cases[i].text);
		assert_int_equal(lockdown_read(tree->root, &level), 0);
		assert_int_equal(level, cases[i].level);
	}
	tree_file(tree, "/sys/kernel/security/lockdown", "none [total]\n");
	assert_int_equal(lockdown_read(tree->root, &level), -EINVAL);
}

TREE_TEST(test_sched_ext)
{
	struct sched_ext ext;

	assert_int_equal(sched_ext_read(tree->root, &ext), -ENOENT);
	tree_file(tree, "/sys/kernel/sched_ext/state", "disabled\n");
	tree_file(tree, "/sys/kernel/sched_ext/switch_all", "0\n");
	tree_file(tree, "/sys/kernel/sched_ext/enable_seq", "2\n");
	assert_int_equal(sched_ext_read(tree->root, &ext), 0);
	assert_string_equal(ext.name, "");
	assert_false(ext.partial);
	assert_int_equal(ext.enabled_total, 2);
	tree_file(tree, "/sys/kernel/sched_ext/root/ops", "lavd_1.0.5\n");
	tree_file(tree, "/sys/kernel/sched_ext/state", "disabling\n");
	assert_int_equal(sched_ext_read(tree->root, &ext), 0);
	assert_string_equal(ext.name, "");
	tree_file(tree, "/sys/kernel/sched_ext/state", "enabled\n");
	assert_int_equal(sched_ext_read(tree->root, &ext), 0);
	assert_string_equal(ext.name, "lavd_1.0.5");
	assert_true(ext.partial);
	tree_file(tree, "/sys/kernel/sched_ext/switch_all", "1\n");
	assert_int_equal(sched_ext_read(tree->root, &ext), 0);
	assert_false(ext.partial);
}

TEST(test_accounting)
{
	static const char debian[] = "CONFIG_VIRT_CPU_ACCOUNTING_GEN=y\n";
	static const char irqtime[] = "CONFIG_IRQ_TIME_ACCOUNTING=y\n";
	static const struct {
		const char *config, *cmdline, *machine, *clocksources;
		enum accounting regime;
	} cases[] = {
		{"CONFIG_TICK_CPU_ACCOUNTING=y\n", "", "x86_64", "tsc hpet", ACCT_TICK},
		{debian, "quiet", "x86_64", "tsc hpet", ACCT_TICK},
		{debian, "nohz_full=2-3", "x86_64", "tsc hpet", ACCT_VIRT_GEN},
		{"CONFIG_VIRT_CPU_ACCOUNTING_GEN=y\nCONFIG_CONTEXT_TRACKING_USER_FORCE=y\n", "",
		 "x86_64", "tsc", ACCT_VIRT_GEN},
		{"CONFIG_VIRT_CPU_ACCOUNTING_NATIVE=y\n", "", "s390x", "", ACCT_VIRT_NATIVE},
		{irqtime, "", "x86_64", "tsc hpet acpi_pm", ACCT_IRQTIME},
		{irqtime, "", "x86_64", "kvm-clock tsc acpi_pm", ACCT_IRQTIME},
		{irqtime, "", "x86_64", "hpet acpi_pm", ACCT_TICK},
		{irqtime, "tsc=noirqtime", "x86_64", "tsc", ACCT_TICK},
		{irqtime, "notsc", "x86_64", "tsc", ACCT_TICK},
		{irqtime, "", "aarch64", "arch_sys_counter", ACCT_IRQTIME},
		{NULL, "nohz_full=1", "x86_64", "tsc", ACCT_UNKNOWN},
	};
	const char *why;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kconfig config = {
			.text = (char *)cases[i].config,
			.len = cases[i].config ? strlen(cases[i].config) : 0,
		};
		struct accounting_facts facts = {&config, cases[i].cmdline, cases[i].machine,
						 cases[i].clocksources};

		if (accounting_regime(&facts, &why) != cases[i].regime)
			fail_msg("case %zu: %s", i, why);
		assert_string_not_equal(why, "");
	}
}

TREE_TEST(test_caps)
{
	struct caps caps;

	assert_int_equal(caps_read(tree->root, &caps), -ENOENT);
	tree_file(tree, "/proc/self/status",
		  "Name:\tCapEff: x\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n"
		  "CapPrm:\t000001ffffffffff\nCapEff:\t000000c000001000\n");
	assert_int_equal(caps_read(tree->root, &caps), 0);
	assert_true(caps_bpf(&caps) && caps_perfmon(&caps));
	assert_true(caps_has(&caps, CAP_NR_NET_ADMIN));
	assert_false(caps_has(&caps, CAP_NR_SYS_ADMIN));
	assert_true(caps.seccomp);
	assert_false(caps.user_ns);
	tree_file(tree, "/proc/self/uid_map", "         0          0 4294967295\n");
	tree_file(tree, "/proc/self/status", "Name:\tsubtick\nCapEff:\t0000000000200000\nSeccomp:\t0\n");
	assert_int_equal(caps_read(tree->root, &caps), 0);
	assert_true(caps_bpf(&caps) && caps_perfmon(&caps));
	assert_true(!caps.user_ns);
	tree_file(tree, "/proc/self/uid_map", "         0       1000          1\n");
	assert_int_equal(caps_read(tree->root, &caps), 0);
	assert_true(caps.user_ns);
	tree_file(tree, "/proc/self/status", "Name:\tsubtick\nCapEff:\tnothing\n");
	assert_int_equal(caps_read(tree->root, &caps), -EINVAL);
	tree_file(tree, "/proc/self/status", "Name:\tsubtick\nCapPrm:\t0000000000000000\n");
	assert_int_equal(caps_read(tree->root, &caps), -EINVAL);
}

static void idle_state(const struct tree *tree, int index, const char *name, const char *latency,
		       const char *disable)
{
	const char *const files[][2] = {{"name", name},	      {"desc", "some state\n"},
					{"latency", latency}, {"disable", disable},
					{"usage", "17\n"},    {"time", "1000\n"},
					{"residency", "20\n"}};
	char path[96];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cpuidle/state%d/%s",
			 index, files[i][0]);
		tree_file(tree, path, files[i][1]);
	}
}

TREE_TEST(test_cpuidle)
{
	struct cpuidle_state states[CPUIDLE_MAX_STATES];
	struct cpuidle_count counts[CPUIDLE_MAX_STATES];
	struct cpuidle_watch watch;
	struct cpuidle idle;

	assert_int_equal(cpuidle_read(tree->root, &idle), -ENOENT);
	assert_int_equal(cpuidle_states(tree->root, 0, states), 0);
	tree_file(tree, "/sys/devices/system/cpu/cpuidle/current_driver", "intel_idle\n");
	tree_file(tree, "/sys/devices/system/cpu/cpuidle/current_governor_ro", "menu\n");
	assert_int_equal(cpuidle_read(tree->root, &idle), 0);
	assert_string_equal(idle.driver, "intel_idle");
	assert_string_equal(idle.governor, "menu");
	idle_state(tree, 0, "POLL\n", "0\n", "0\n");
	idle_state(tree, 1, "C1\n", "2\n", "0\n");
	idle_state(tree, 2, "C6\n", "133\n", "1\n");
	assert_int_equal(cpuidle_states(tree->root, 0, states), 3);
	assert_true(states[0].polls);
	assert_false(states[1].polls);
	assert_int_equal(states[2].latency_ns, 133000);
	assert_true(states[2].disabled);
	cpuidle_watch_open(&watch, tree->root, 0, true);
	assert_int_equal(watch.nr, 3);
	assert_int_equal(cpuidle_watch_read(&watch, counts), 0);
	assert_int_equal(counts[1].usage, 17);
	assert_int_equal(counts[1].time_ns, 1000000);
	/* Kernels before 5.0 lack the file "above" of an idle state. */
	assert_int_equal(counts[1].above, CPUIDLE_UNKNOWN);
	cpuidle_watch_close(&watch);
	tree_file(tree, "/sys/devices/system/cpu/cpu0/cpuidle/state1/above", "4\n");
	cpuidle_watch_open(&watch, tree->root, 0, true);
	assert_int_equal(cpuidle_watch_read(&watch, counts), 0);
	assert_int_equal(counts[1].above, 4);
	assert_int_equal(counts[1].below, CPUIDLE_UNKNOWN);
	cpuidle_watch_close(&watch);
	/* The driver sets bit 1 of the file "disable", and users only bit 0. */
	idle_state(tree, 2, "C6\n", "133\n", "2\n");
	assert_int_equal(cpuidle_states(tree->root, 0, states), 3);
	assert_false(states[2].disabled);
	idle_state(tree, 2, "C6\n", "133\n", "3\n");
	assert_int_equal(cpuidle_states(tree->root, 0, states), 3);
	assert_true(states[2].disabled);
	tree_file(tree, "/sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "soon\n");
	assert_int_equal(cpuidle_states(tree->root, 0, states), -EINVAL);
}

TREE_TEST(test_virt_x86)
{
	struct virt virt;

	virt_read(tree->root, "x86_64", &virt);
	assert_int_equal(virt.kind, VIRT_UNKNOWN);
	tree_file(tree, "/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc nohypervisor\n");
	virt_read(tree->root, "x86_64", &virt);
	assert_int_equal(virt.kind, VIRT_NONE);
	/* The name of a cloud provider alone does not prove that the machine has a hypervisor. */
	tree_file(tree, "/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
	virt_read(tree->root, "x86_64", &virt);
	assert_int_equal(virt.kind, VIRT_NONE);
	tree_file(tree, "/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor tsc\n");
	virt_read(tree->root, "x86_64", &virt);
	assert_int_equal(virt.kind, VIRT_GUEST);
	assert_string_equal(virt.name, "Amazon EC2");
	tree_file(tree, "/sys/class/dmi/id/sys_vendor", "QEMU\n");
	virt_read(tree->root, "x86_64", &virt);
	assert_string_equal(virt.name, "QEMU");
	tree_remove(tree, "/sys/class/dmi/id/sys_vendor");
	virt_read(tree->root, "x86_64", &virt);
	assert_int_equal(virt.kind, VIRT_GUEST);
	assert_string_equal(virt.name, "");
	tree_file(tree, "/sys/hypervisor/type", "xen\n");
	virt_read(tree->root, "x86_64", &virt);
	assert_string_equal(virt.name, "Xen");
}

TREE_TEST(test_virt_arm64)
{
	struct virt virt;

	tree_bytes(tree, "/proc/device-tree/psci/method", "smc", 4);
	tree_file(tree, "/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
	virt_read(tree->root, "aarch64", &virt);
	assert_int_equal(virt.kind, VIRT_UNKNOWN);
	tree_bytes(tree, "/proc/device-tree/psci/method", "hvc", 4);
	virt_read(tree->root, "aarch64", &virt);
	assert_int_equal(virt.kind, VIRT_GUEST);
	tree_bytes(tree, "/proc/device-tree/compatible", "linux,dummy-virt", 17);
	virt_read(tree->root, "aarch64", &virt);
	assert_non_null(strstr(virt.evidence, "dummy-virt"));
}

TREE_TEST(test_container)
{
	struct virt virt;

	tree_link(tree, "/proc/self/ns/pid", "pid:[4026531836]");
	tree_link(tree, "/proc/self/ns/cgroup", "cgroup:[4026531835]");
	virt_read(tree->root, "aarch64", &virt);
	assert_false(virt.own_pid_ns || virt.own_cgroup_ns);
	assert_string_equal(virt.container, "");
	tree_file(tree, "/.dockerenv", "");
	tree_remove(tree, "/proc/self/ns/pid");
	tree_link(tree, "/proc/self/ns/pid", "pid:[4026532281]");
	virt_read(tree->root, "aarch64", &virt);
	assert_true(virt.own_pid_ns && !virt.own_cgroup_ns);
	assert_string_equal(virt.container, "docker");
	tree_file(tree, "/run/systemd/container", "lxc\n");
	virt_read(tree->root, "aarch64", &virt);
	assert_string_equal(virt.container, "lxc");
}

static const char sample[] = "#\n# Automatically generated file; DO NOT EDIT.\n#\n"
			     "CONFIG_HZ_250=y\n# CONFIG_HZ_100 is not set\nCONFIG_HZ=250\n"
			     "CONFIG_VETH=m\nCONFIG_LOCALVERSION=\"-rt\"\nCONFIG_EMPTY=\"\"\n"
			     "CONFIG_ODD=n\nCONFIG_LAST=0x10";

TEST(test_parse)
{
	char buf[8];

#define CONFIG(sample) (&(struct kconfig){.text = (char *)(sample), .len = strlen(sample)})
#define GET(symbol)    kconfig_value(CONFIG(sample), symbol, buf, sizeof(buf))
	assert_int_equal(GET("HZ_250"), KCONFIG_YES);
	assert_int_equal(GET("HZ_100"), KCONFIG_NO);
	assert_int_equal(GET("VETH"), KCONFIG_MODULE);
	assert_int_equal(GET("ODD"), KCONFIG_NO);
	assert_int_equal(GET("NEVER_HEARD"), KCONFIG_NO);
	assert_int_equal(GET("HZ"), KCONFIG_VALUE);
	assert_string_equal(buf, "250");
	assert_int_equal(GET("LOCALVERSION"), KCONFIG_VALUE);
	assert_string_equal(buf, "-rt");
	assert_int_equal(GET("EMPTY"), KCONFIG_VALUE);
	assert_string_equal(buf, "");
	assert_int_equal(GET("LAST"), KCONFIG_VALUE);
	assert_string_equal(buf, "0x10");
	assert_int_equal(GET("H"), KCONFIG_NO);
	assert_int_equal(GET("HZ_25"), KCONFIG_NO);
	assert_int_equal(kconfig_value(CONFIG(sample), "HZ", buf, 3), KCONFIG_UNKNOWN);
	assert_int_equal(kconfig_value(CONFIG(""), "HZ", buf, sizeof(buf)), KCONFIG_NO);
	assert_int_equal(kconfig_value(CONFIG("CONFIG_HZ="), "HZ", buf, sizeof(buf)),
			 KCONFIG_VALUE);
	assert_string_equal(buf, "");
	assert_int_equal(kconfig_value(CONFIG("CONFIG_HZ=\""), "HZ", buf, sizeof(buf)),
			 KCONFIG_VALUE);
	assert_string_equal(buf, "\"");
#undef GET
#undef CONFIG
}

static size_t deflate_gz(const char *text, size_t len, unsigned char *out, size_t size)
{
	z_stream z = {0};

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (unsigned char *)text;
	z.avail_in = len;
	z.next_out = out;
	z.avail_out = size;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return size - z.avail_out;
}

TREE_TEST(test_places)
{
	unsigned char gz[1024];
	struct kconfig config;
	size_t len;

	assert_int_equal(kconfig_open(&config, tree->root, "6.1.0"), -ENOENT);
	assert_int_equal(kconfig_get(&config, "HZ_250"), KCONFIG_UNKNOWN);
	kconfig_close(&config);
	tree_file(tree, "/boot/config-6.1.1", sample);
	assert_int_equal(kconfig_open(&config, tree->root, "6.1.0"), -ENOENT);
	tree_file(tree, "/lib/modules/6.1.0/config", sample);
	assert_int_equal(kconfig_open(&config, tree->root, "6.1.0"), 0);
	assert_string_equal(config.source, "/lib/modules/6.1.0/config");
	kconfig_close(&config);
	tree_file(tree, "/boot/config-6.1.0", "CONFIG_HZ_250=y\n");
	assert_int_equal(kconfig_open(&config, tree->root, "6.1.0"), 0);
	assert_string_equal(config.source, "/boot/config-6.1.0");
	kconfig_close(&config);
	len = deflate_gz(sample, strlen(sample), gz, sizeof(gz));
	tree_bytes(tree, "/proc/config.gz", gz, len);
	assert_int_equal(kconfig_open(&config, tree->root, "6.1.0"), 0);
	assert_string_equal(config.source, "/proc/config.gz");
	assert_int_equal(config.len, strlen(sample));
	assert_int_equal(kconfig_get(&config, "VETH"), KCONFIG_MODULE);
	kconfig_close(&config);
	/* If /proc/config.gz is truncated or corrupt, the next configuration file is tried. */
	for (size_t cut = 1; cut < len; cut += 7) {
		tree_bytes(tree, "/proc/config.gz", gz, cut);
		assert_int_equal(kconfig_open(&config, tree->root, "6.1.0"), 0);
		assert_string_equal(config.source, "/boot/config-6.1.0");
		kconfig_close(&config);
	}
}

TREE_TEST(test_no_config)
{
	char *zeros = calloc(1, 1 << 20);
	struct kconfig config;
	gzFile file;
	char path[128];

	tree_file(tree, "/proc/config.gz", "this is no configuration\n");
	assert_int_equal(kconfig_open(&config, tree->root, "x"), -EINVAL);
	assert_int_equal(kconfig_get(&config, "HZ"), KCONFIG_UNKNOWN);
	/* The compressed file of 32 KiB expands to 32 MiB of zeros (a decompression bomb). */
	snprintf(path, sizeof(path), "%s/proc/config.gz", tree->root);
	file = gzopen(path, "wb");
	for (int i = 0; i < 32; i++)
		assert_int_equal(gzwrite(file, zeros, 1 << 20), 1 << 20);
	gzclose(file);
	assert_int_equal(kconfig_open(&config, tree->root, "x"), -EFBIG);
	free(zeros);
}

static const char xeon[] = "processor\t: 0\n"
			   "vendor_id\t: GenuineIntel\n"
			   "model\t\t: 85\n"
			   "model name\t: Intel(R) Xeon(R) Platinum 8170M CPU @ 2.10GHz\n"
			   "microcode\t: 0x2006e05\n"
			   "\n"
			   "processor\t: 1\n"
			   "model name\t: another\n";

static const char arm[] = "processor\t: 0\n"
			  "CPU implementer\t: 0x41\n"
			  "CPU architecture: 8\n"
			  "CPU variant\t: 0x3\n"
			  "CPU part\t: 0xd0c\n"
			  "CPU revision\t: 1\n";

static struct cpuset two(void)
{
	struct cpuset cpus = {0};

	cpuset_add(&cpus, 0);
	cpuset_add(&cpus, 5);
	return cpus;
}

TREE_TEST(test_machine_x86)
{
	struct cpuset cpus = two();
	struct machine m;

	tree_file(tree, "/proc/cpuinfo", xeon);
	tree_file(tree, "/sys/devices/system/cpu/cpu0/power/energy_perf_bias", "6\n");
	tree_file(tree, "/sys/devices/system/cpu/cpu5/power/energy_perf_bias", "6\n");
	tree_file(tree, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
	tree_file(tree, "/sys/devices/system/cpu/cpu5/cpufreq/scaling_governor", "performance\n");
	tree_file(tree, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "intel_pstate\n");
	/* The machine has three online CPUs in two packages. CPU 1 is a hyperthread of CPU 0. */
	tree_file(tree, "/sys/devices/system/cpu/online", "0-1,5\n");
	tree_file(tree, "/sys/devices/system/cpu/cpu0/topology/core_siblings_list", "0-1\n");
	tree_file(tree, "/sys/devices/system/cpu/cpu1/topology/core_siblings_list", "0-1\n");
	tree_file(tree, "/sys/devices/system/cpu/cpu5/topology/core_siblings_list", "5\n");
	tree_file(tree, "/sys/devices/system/cpu/smt/active", "1\n");
	machine_read(tree->root, &cpus, &m);
	assert_int_equal(m.sockets, 2);
	assert_int_equal(m.smt, 1);
	assert_string_equal(m.cpu_model, "Intel(R) Xeon(R) Platinum 8170M CPU @ 2.10GHz");
	assert_string_equal(m.microcode, "0x2006e05");
	assert_string_equal(m.energy_perf_bias, "6");
	assert_string_equal(m.cpufreq_governor, "mixed");
	assert_string_equal(m.cpufreq_driver, "mixed");
	assert_string_equal(m.energy_perf_preference, "");
	assert_true(m.kernel[0] && m.host[0]);
}

TREE_TEST(test_machine_arm64)
{
	struct cpuset cpus = two();
	struct machine m;

	machine_read(tree->root, &cpus, &m);
	assert_string_equal(m.cpu_model, "");
	assert_int_equal(m.sockets, UINT32_MAX);
	assert_int_equal(m.smt, -1);
	tree_file(tree, "/proc/cpuinfo", arm);
	machine_read(tree->root, &cpus, &m);
	assert_string_equal(m.cpu_model, "implementer 0x41 part 0xd0c variant 0x3 revision 1");
	assert_string_equal(m.microcode, "");
}

TEST_MAIN()
