/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks kernel, privileges, BPF and trace events for `subtick doctor`. */
#include "doctor/doctor.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cpuset.h"
#include "measure/crit/module.h"
#include "host/cpu.h"
#include "host/file.h"
#include "host/kbtf.h"

#define FIX_ROOT "run as root: sudo subtick …"

void doctor_check_kernel(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	struct cpuset online, possible;
	struct err err;

	if (cpu_set(d->root, CPU_ONLINE, &online, &err) ||
	    cpu_set(d->root, CPU_POSSIBLE, &possible, &err))
		return doctor_set(row, DOCTOR_NO, err.fix, "Linux %s, %s: %s", d->probe->release,
				  d->probe->machine, err.what);
	doctor_set(row, DOCTOR_OK, NULL, "Linux %s, %s, %u of %u possible CPUs online",
		   d->probe->release, d->probe->machine, cpuset_count(&online),
		   cpuset_count(&possible));
}

void doctor_check_config(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	char fix[sizeof(row->fix)];

	if (!d->config_rc)
		return doctor_set(row, DOCTOR_OK, NULL, "read from %s", d->config.source);
	snprintf(fix, sizeof(fix),
		 "modprobe configs, or install the kernel package that has /boot/config-%s",
		 d->probe->release);
	doctor_set(row, DOCTOR_WARN, fix,
		   "%s: properties that only the configuration shows are unknown",
		   d->config_rc == -ENOENT ? "not found" : "not readable");
}

void doctor_check_privileges(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	if (d->caps_rc)
		return doctor_set(row, DOCTOR_WARN, NULL, "cannot read the capabilities: %s",
				  strerror(-d->caps_rc));
	if (!caps_bpf(&d->caps) || !caps_perfmon(&d->caps))
		return doctor_set(row, DOCTOR_NO, FIX_ROOT,
				  "%s: BPF and per-CPU counters need CAP_BPF and CAP_PERFMON "
				  "(CAP_SYS_ADMIN before Linux 5.8)",
				  caps_bpf(&d->caps)	   ? "CAP_PERFMON is missing"
				  : caps_perfmon(&d->caps) ? "CAP_BPF is missing"
							   : "CAP_BPF and CAP_PERFMON are missing");
	if (d->caps.user_ns)
		return doctor_set(
			row, DOCTOR_NO, "run in the initial user namespace, as its root",
			"in a user namespace: BPF and counters need capabilities of the initial "
			"one");
	doctor_set(row, DOCTOR_OK, NULL, "%s",
		   caps_has(&d->caps, CAP_NR_SYS_ADMIN) ? "CAP_SYS_ADMIN"
							: "CAP_BPF and CAP_PERFMON");
}

void doctor_check_net_admin(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	if (!d->caps_rc && caps_has(&d->caps, CAP_NR_NET_ADMIN) &&
	    caps_has(&d->caps, CAP_NR_SYS_ADMIN))
		doctor_set(row, DOCTOR_OK, NULL, "CAP_NET_ADMIN and CAP_SYS_ADMIN");
	else
		doctor_set(row, DOCTOR_NO, FIX_ROOT,
			   "network namespaces, veth pairs and qdiscs need CAP_NET_ADMIN and "
			   "CAP_SYS_ADMIN");
}

void doctor_check_lockdown(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	static const char fix[] = "boot without lockdown=, or turn Secure Boot off";
	enum lockdown level;
	int rc = lockdown_read(d->root, &level);

	if (rc)
		return doctor_set(row, DOCTOR_WARN, NULL,
				  "cannot parse /sys/kernel/security/lockdown: %s", strerror(-rc));
	switch (level) {
	case LOCKDOWN_ABSENT:
		if (kconfig_get(&d->config, "SECURITY_LOCKDOWN_LSM") == KCONFIG_NO)
			return doctor_set(row, DOCTOR_OK, NULL, "not in this kernel");
		return doctor_set(row, DOCTOR_WARN,
				  "mount -t securityfs securityfs /sys/kernel/security",
				  "unknown: /sys/kernel/security/lockdown is missing");
	case LOCKDOWN_NONE:
		return doctor_set(row, DOCTOR_OK, NULL, "none");
	case LOCKDOWN_INTEGRITY:
		return doctor_set(row, DOCTOR_WARN, fix, "integrity: modules must be signed");
	case LOCKDOWN_CONFIDENTIALITY:
		return doctor_set(
			row, DOCTOR_NO, fix,
			"confidentiality: BPF must not read kernel memory, tracefs is not "
			"accessible, modules must be signed");
	}
}

void doctor_check_btf(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	if (d->btf)
		doctor_set(row, DOCTOR_OK, NULL, "/sys/kernel/btf/vmlinux");
	else
		doctor_set(row, DOCTOR_NO, d->btf_err.fix, "%s", d->btf_err.what);
}

static const char *fix_refused(const struct doctor *d)
{
	if (d->caps.user_ns)
		return "run in the initial user namespace, as its root";
	if (d->caps.seccomp)
		return "run outside the container, or with a seccomp profile that allows bpf(2)";
	return FIX_ROOT;
}

static void bpf_refused(const struct doctor *d, int code, const char *what, struct doctor_row *row)
{
	if (code == -EPERM || code == -EACCES)
		doctor_set(row, DOCTOR_NO, fix_refused(d), "%s: not permitted", what);
	else if (code == -ENOSYS)
		doctor_set(row, DOCTOR_NO, "use a kernel built with CONFIG_BPF_SYSCALL=y",
			   "%s: the kernel has no bpf(2)", what);
	else
		doctor_set(
			row, DOCTOR_NO,
			"use a kernel built with CONFIG_BPF_EVENTS=y and CONFIG_DEBUG_INFO_BTF=y",
			"%s: %s", what, strerror(-code));
}

void doctor_check_bpf(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	const struct probe *p = d->probe;

	if (p->bpf_map_rc)
		bpf_refused(d, p->bpf_map_rc, "creating a map", row);
	else if (!d->btf)
		doctor_set(row, DOCTOR_NO, d->btf_err.fix,
			   "a map can be created, but tp_btf programs need BTF");
	else if (p->bpf_prog_rc)
		bpf_refused(d, p->bpf_prog_rc, "loading a tp_btf program", row);
	else
		doctor_set(row, DOCTOR_OK, NULL,
			   "creating a map and loading tp_btf programs works");
}

void doctor_check_bpf_reads(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	enum lockdown level;

	if (!d->probe->bpf_read_rc)
		doctor_set(row, DOCTOR_OK, NULL, "programs can read kernel memory");
	else if (!lockdown_read(d->root, &level) && level == LOCKDOWN_CONFIDENTIALITY)
		doctor_set(row, DOCTOR_NO, "boot without lockdown=confidentiality",
			   "lockdown forbids programs to read kernel memory");
	else
		bpf_refused(d, d->probe->bpf_read_rc, "loading a program that reads kernel memory",
			    row);
}

void doctor_check_jit(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	static const char fix[] = "sysctl -w net.core.bpf_jit_enable=1";
	uint64_t value;
	int rc = sys_read_u64(d->root, "/proc/sys/net/core/bpf_jit_enable", &value);

	if (rc && kconfig_get(&d->config, "BPF_JIT_ALWAYS_ON") == KCONFIG_YES)
		doctor_set(row, DOCTOR_OK, NULL, "always on in this kernel");
	else if (rc && kconfig_get(&d->config, "BPF_JIT") == KCONFIG_NO)
		doctor_set(
			row, DOCTOR_WARN, "use a kernel built with CONFIG_BPF_JIT=y",
			"not in this kernel: BPF programs are interpreted, several times slower");
	else if (rc)
		doctor_set(row, DOCTOR_WARN, NULL,
			   "unknown: net.core.bpf_jit_enable is not readable (%s)", strerror(-rc));
	else if (!value)
		doctor_set(row, DOCTOR_WARN, fix,
			   "off: BPF programs are interpreted, several times slower");
	else if (value == 1)
		doctor_set(row, DOCTOR_OK, NULL, "on");
	else
		doctor_set(row, DOCTOR_WARN, fix,
			   "on, in debug mode: the kernel writes all programs to its log");
}

void doctor_check_unprivileged(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	uint64_t value;
	int rc = sys_read_u64(d->root, "/proc/sys/kernel/unprivileged_bpf_disabled", &value);

	if (rc)
		doctor_set(row, DOCTOR_WARN, NULL,
			   "unknown: kernel.unprivileged_bpf_disabled is not readable (%s)",
			   strerror(-rc));
	else
		doctor_set(row, DOCTOR_OK, NULL,
			   "kernel.unprivileged_bpf_disabled=%llu; tracing always needs "
			   "capabilities",
			   (unsigned long long)value);
}

void doctor_check_bpf_stats(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	uint64_t value;
	int rc = sys_read_u64(d->root, "/proc/sys/kernel/bpf_stats_enabled", &value);

	if (rc)
		doctor_set(row, DOCTOR_WARN, NULL,
			   "unknown: kernel.bpf_stats_enabled is not readable (%s)", strerror(-rc));
	else if (value)
		doctor_set(row, DOCTOR_WARN, "sysctl -w kernel.bpf_stats_enabled=0",
			   "on: the kernel times every run of a BPF program, which adds to the "
			   "cost of "
			   "each event");
	else
		doctor_set(row, DOCTOR_OK, NULL, "off");
}

struct doctor_events {
	const char *names[16];
	const char *what; /* subject of the trace events, such as "wake-ups" */
	const char *fix;
};

static const char fix_tracing[] =
	"use a kernel built with CONFIG_TRACING=y, such as any distribution's";

static const struct doctor_events events[DOC_NR] = {
	[DOC_EV_IDLE] = {{"cpu_idle"}, "idle entry and exit", fix_tracing},
	[DOC_EV_SWITCH] = {{"sched_switch"}, "task switches", fix_tracing},
	[DOC_EV_IRQ] = {{"irq_handler_entry", "irq_handler_exit"},
			"interrupt handlers",
			fix_tracing},
	[DOC_EV_SOFTIRQ] = {{"softirq_entry", "softirq_exit"}, "softirqs", fix_tracing},
	[DOC_EV_HOTPLUG] = {{"cpuhp_enter", "cpuhp_exit"}, "CPU hotplug", fix_tracing},
	[DOC_EV_WAKEUP] = {{"sched_waking", "sched_wakeup", "sched_wakeup_new"},
			   "wake-ups",
			   fix_tracing},
	[DOC_EV_IPI] = {{"ipi_send_cpu", "sched_wake_idle_without_ipi"},
			"the time at which a core sends an IPI",
			"use Linux 6.4 or newer"},
	[DOC_EV_TIMER] = {{"hrtimer_start", "hrtimer_expire_entry", "hrtimer_expire_exit"},
			  "when timers are due and when they run",
			  fix_tracing},
	[DOC_EV_NMI] = {{"nmi_handler"}, "NMIs", fix_tracing},
	[DOC_EV_SENDERS] = {{"ipi_send_cpu", "ipi_send_cpumask"},
			    "which core sends an IPI",
			    "use Linux 6.4 or newer"},
	[DOC_EV_CALLS] = {{"csd_queue_cpu"},
			  "which function a core calls on another",
			  "use Linux 6.5 or newer"},
	[DOC_EV_PREEMPTIRQ] =
		{{"irq_disable", "irq_enable", "preempt_disable", "preempt_enable"},
		 "the cost of the irq/preempt tracepoints",
		 "use a kernel built with CONFIG_IRQSOFF_TRACER=y and CONFIG_PREEMPT_TRACER=y"},
};

/* Trace events of frequent x86 interrupt vectors that cause no irq_handler_entry event. */
static const struct doctor_events vectors_x86 = {
	{"local_timer_entry", "local_timer_exit", "reschedule_entry", "reschedule_exit",
	 "call_function_entry", "call_function_exit", "call_function_single_entry",
	 "call_function_single_exit", "irq_work_entry", "irq_work_exit"},
	"timer and inter-processor interrupts",
	fix_tracing,
};

static const struct doctor_events vectors_arm64 = {
	{"ipi_entry", "ipi_exit"},
	"inter-processor interrupts",
	fix_tracing,
};

/* The trace event on arm64 that reports the name of an IPI. */
static const struct doctor_events senders_arm64 = {
	{"ipi_raise"},
	"which core sends an IPI",
	fix_tracing,
};

/* Trace events of a check, or NULL if they are unknown for this architecture. */
static const struct doctor_events *events_of(const struct doctor *d, enum doctor_id id)
{
	if (id == DOC_EV_VECTORS)
		return d->x86 ? &vectors_x86 : d->arm64 ? &vectors_arm64 : NULL;
	return id == DOC_EV_SENDERS && d->arm64 ? &senders_arm64 : &events[id];
}

void doctor_check_events(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	const struct doctor_events *ev = events_of(d, id);
	char missing[200];
	int nr;

	if (!ev)
		return doctor_set(
			row, DOCTOR_WARN, NULL,
			"unknown for %s: time in interrupts without irq_handler events is "
			"charged to the interrupted context",
			d->probe->machine);
	if (id == DOC_EV_NMI && !d->x86)
		return doctor_set(row, DOCTOR_WARN, NULL,
				  "not reported by this kernel: %s has no event for NMIs, so NMI "
				  "time is charged to the interrupted context",
				  d->probe->machine);
	if (!d->btf)
		return doctor_set(row, DOCTOR_NO, d->btf_err.fix, "%s: unavailable without BTF",
				  ev->what);
	nr = kbtf_missing_traces(d->btf, ev->names, missing, sizeof(missing));
	if (nr && !kbtf_has_tracepoints(d->btf))
		doctor_set(row, DOCTOR_NO, KBTF_FIX_TRACEPOINTS, "%s: " KBTF_NO_TRACEPOINTS, ev->what);
	else if (nr)
		doctor_set(row, DOCTOR_NO, ev->fix, "%s: the kernel lacks %s", ev->what, missing);
	else
		doctor_set(row, DOCTOR_OK, NULL, "%s: %s%s", ev->what, ev->names[0],
			   ev->names[1] ? " …" : "");
}

/* True if modules.dep lists the module tracerbench for the running kernel. */
static bool crit_module_installed(const struct doctor *d)
{
	char path[160];
	struct sys_text text;
	bool found;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", d->probe->release);
	if (sys_text_open(&text, d->root, path, 1 << 20))
		return false;
	found = !sys_text_read(&text, false) && memmem(text.buf, text.len, "/tracerbench.ko", 15);
	sys_text_close(&text);
	return found;
}

/* True if the kernel has the kfuncs @disable, @enable and the cheap bpf_iter_num_new(). */
static bool crit_kfuncs(const struct doctor *d, const char *disable, const char *enable)
{
	return d->btf && kbtf_has_func(d->btf, disable) && kbtf_has_func(d->btf, enable) &&
	       kbtf_has_func(d->btf, "bpf_iter_num_new");
}

void doctor_check_crit(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	bool preempt = crit_kfuncs(d, "bpf_preempt_disable", "bpf_preempt_enable");
	bool irq_save = crit_kfuncs(d, "bpf_local_irq_save", "bpf_local_irq_restore");
	char line[MODULE_LINE_SIZE];
	const char *too = preempt && irq_save ? "; the kernel has the BPF kfuncs, too" : "";

	module_build_line(d->root, d->probe->release, line);
	if (sys_exists(d->root, "/sys/module/tracerbench"))
		doctor_set(row, DOCTOR_OK, NULL, "module tracerbench is loaded%s", too);
	else if (crit_module_installed(d))
		doctor_set(row, DOCTOR_OK, NULL, "module tracerbench is installed%s", too);
	else if (preempt && irq_save)
		doctor_set(row, DOCTOR_OK, NULL,
			   "engine bpf works: the kernel has its kfuncs; module tracerbench is not "
			   "installed");
	else if (preempt || irq_save)
		doctor_set(row, DOCTOR_WARN, line,
			   "the kernel has BPF kfuncs for %s only; module tracerbench is not "
			   "installed",
			   preempt ? "preempt" : "irq_save");
	else
		doctor_set(row, DOCTOR_NO, line,
			   "none: neither module tracerbench nor the BPF kfuncs for irq and preempt "
			   "(Linux 6.14)");
}
