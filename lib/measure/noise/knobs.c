/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names the setting that moves a noise source to another CPU. The first rule that matches the noise
 * source applies.
 */
#include "measure/noise/cells.h"

#include <string.h>

#include "base/array.h"

struct rule {
	enum noise_kind kind;
	const char *begins; /* prefix of the names of noise sources; "" matches all names */
	const char *knob;
};

#define TICK \
	"boot with nohz_full=CPUS and keep one runnable task per core; timers of that task stay"

static const struct rule rules[] = {
	{NOISE_KIND_IRQ, "arch_timer", TICK},
	{NOISE_KIND_IRQ, "timer", TICK},
	{NOISE_KIND_IRQ, "arm-pmu", "stop perf; boot with nowatchdog"},
	{NOISE_KIND_IRQ, "",
	 "/proc/irq/IRQ/smp_affinity_list and irqbalance's banned CPUs; "
	 "managed queues: isolcpus=managed_irq,CPUS"},
	{NOISE_KIND_VECTOR, "Local timer", TICK},
	{NOISE_KIND_VECTOR, "Timer broadcast", "allow no idle state that stops the local timer"},
	{NOISE_KIND_VECTOR, "Rescheduling",
	 "wake-ups by other cores: keep those who wake tasks of this core on it, or let them not "
	 "sleep"},
	{NOISE_KIND_VECTOR, "Function call",
	 "TLB flushes, membarrier, cache maintenance by other cores: keep the threads of a process "
	 "off this core"},
	{NOISE_KIND_VECTOR, "IRQ work", "perf and tracing sessions; boot with nohz_full=CPUS"},
	{NOISE_KIND_VECTOR, "Thermal", "cooling, power limits"},
	{NOISE_KIND_SOFTIRQ, "TIMER", "/proc/sys/kernel/timer_migration 1 and nohz_full=CPUS"},
	{NOISE_KIND_SOFTIRQ, "RCU", "boot with rcu_nocbs=CPUS, and pin the rcuo threads elsewhere"},
	{NOISE_KIND_SOFTIRQ, "SCHED",
	 "no load balancing: isolcpus=domain,CPUS or cpuset.cpus.partition isolated"},
	{NOISE_KIND_SOFTIRQ, "NET_RX",
	 "affinity of the card's interrupts, and rps_cpus of its receive queues"},
	{NOISE_KIND_SOFTIRQ, "NET_TX", "xps_cpus of the card's transmit queues; senders elsewhere"},
	{NOISE_KIND_SOFTIRQ, "BLOCK", "rq_affinity of the disk's queue; its interrupts elsewhere"},
	{NOISE_KIND_SOFTIRQ, "IRQ_POLL", "affinity of the disk's interrupts"},
	{NOISE_KIND_SOFTIRQ, "HRTIMER", "timers of the tasks on this core: move the tasks"},
	{NOISE_KIND_SOFTIRQ, "", "affinity of the interrupts that raise it"},
	{NOISE_KIND_THREAD, "kworker/u", "/sys/devices/virtual/workqueue/cpumask"},
	{NOISE_KIND_THREAD, "kworker/",
	 "bound work is queued by what runs on this core: move that; boot with "
	 "workqueue.power_efficient=1 for work that may move"},
	{NOISE_KIND_THREAD, "ksoftirqd/", "the softirqs that it runs: subtick load --softirq"},
	{NOISE_KIND_THREAD, "napi/",
	 "pin the thread elsewhere, or the affinity of the card's interrupts"},
	{NOISE_KIND_THREAD, "irq/", "affinity of the interrupt: its thread follows"},
	{NOISE_KIND_THREAD, "rcuo", "pin the thread elsewhere"},
	{NOISE_KIND_THREAD, "rcuc/", "boot with rcu_nocbs=CPUS"},
	{NOISE_KIND_THREAD, "migration/",
	 "tasks that are moved to or from this core: set affinities once, before the work begins"},
	{NOISE_KIND_THREAD, "watchdog/", "boot with nowatchdog"},
	{NOISE_KIND_THREAD, "ktimers/", "timers of the tasks on this core: move the tasks"},
	{NOISE_KIND_THREAD, "",
	 "pin the thread elsewhere: taskset -p; isolcpus=domain,CPUS keeps "
	 "unbound threads away"},
	{NOISE_KIND_NMI, "", "stop perf; boot with nowatchdog"},
};

const char *noise_knob(const struct noise_source *source)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].kind == source->kind &&
		    !strncmp(source->name, rules[i].begins, strlen(rules[i].begins)))
			return rules[i].knob;
	return NULL;
}
