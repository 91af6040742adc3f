/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Settings that move noise sources to another CPU. The first element of `rules` that matches the
 * kind and name of the noise source applies.
 */
#include "measure/noise/cells.h"

#include <string.h>

#include "base/array.h"

struct rule {
	enum noise_kind kind;
	const char *begins; /* prefix of the names that match the rule; "" matches all names */
	const char *knob;
};

#define TICK \
	"boot with nohz_full=CPUS, and run at most one task per CPU; timers of this task still interrupt"

static const struct rule rules[] = {
	{NOISE_KIND_IRQ, "arch_timer", TICK},
	{NOISE_KIND_IRQ, "timer", TICK},
	{NOISE_KIND_IRQ, "arm-pmu", "stop perf, and boot with nowatchdog"},
	{NOISE_KIND_IRQ, "",
	 "write other CPUs to /proc/irq/IRQ/smp_affinity_list, and exclude the interrupt from "
	 "irqbalance; for managed queues boot with isolcpus=managed_irq,CPUS"},
	{NOISE_KIND_VECTOR, "Local timer", TICK},
	{NOISE_KIND_VECTOR, "Timer broadcast", "disable idle states that stop the local timer"},
	{NOISE_KIND_VECTOR, "Rescheduling",
	 "other CPUs wake tasks of this CPU: run the waking tasks on this CPU, or let the woken "
	 "tasks poll instead of sleep"},
	{NOISE_KIND_VECTOR, "Function call",
	 "other CPUs call functions on this CPU, for TLB flushes, membarrier or cache maintenance: "
	 "do not run threads of one process both on this CPU and on other CPUs"},
	{NOISE_KIND_VECTOR, "IRQ work", "stop perf and tracing, or boot with nohz_full=CPUS"},
	{NOISE_KIND_VECTOR, "Thermal", "check the cooling and the power limits"},
	{NOISE_KIND_SOFTIRQ, "TIMER",
	 "write 1 to /proc/sys/kernel/timer_migration, and boot with nohz_full=CPUS"},
	{NOISE_KIND_SOFTIRQ, "RCU",
	 "boot with rcu_nocbs=CPUS, and pin the rcuo threads to other CPUs"},
	{NOISE_KIND_SOFTIRQ, "SCHED",
	 "exclude the CPU from load balancing: boot with isolcpus=domain,CPUS, or write isolated to "
	 "cpuset.cpus.partition"},
	{NOISE_KIND_SOFTIRQ, "NET_RX",
	 "move the interrupts of the network card to other CPUs, and remove this CPU from rps_cpus "
	 "of the receive queues"},
	{NOISE_KIND_SOFTIRQ, "NET_TX",
	 "remove this CPU from xps_cpus of the transmit queues, and run the sending tasks on other "
	 "CPUs"},
	{NOISE_KIND_SOFTIRQ, "BLOCK",
	 "move the interrupts of the disk to other CPUs, and write 0 to rq_affinity of its queue"},
	{NOISE_KIND_SOFTIRQ, "IRQ_POLL", "move the interrupts of the disk to other CPUs"},
	{NOISE_KIND_SOFTIRQ, "HRTIMER", "move the tasks that set timers on this CPU to other CPUs"},
	{NOISE_KIND_SOFTIRQ, "", "move the interrupts that raise this softirq to other CPUs"},
	{NOISE_KIND_THREAD, "kworker/u",
	 "write the mask of other CPUs to /sys/devices/virtual/workqueue/cpumask"},
	{NOISE_KIND_THREAD, "kworker/",
	 "this worker runs the work of tasks on this CPU: move these tasks to other CPUs, or boot "
	 "with workqueue.power_efficient=1, which lets some work run on other CPUs"},
	{NOISE_KIND_THREAD, "ksoftirqd/",
	 "ksoftirqd runs delayed softirqs: find them with subtick load --softirq"},
	{NOISE_KIND_THREAD, "napi/",
	 "pin this thread to other CPUs, or move the interrupts of the network card to other CPUs"},
	{NOISE_KIND_THREAD, "irq/",
	 "move the interrupt to other CPUs; its thread moves to the same CPUs"},
	{NOISE_KIND_THREAD, "rcuo", "pin this thread to other CPUs"},
	{NOISE_KIND_THREAD, "rcuc/", "boot with rcu_nocbs=CPUS"},
	{NOISE_KIND_THREAD, "migration/",
	 "set the affinity of tasks once, before the work begins: each later change stops this CPU"},
	{NOISE_KIND_THREAD, "watchdog/", "boot with nowatchdog"},
	{NOISE_KIND_THREAD, "ktimers/",
	 "move the tasks that set timers on this CPU to other CPUs"},
	{NOISE_KIND_THREAD, "",
	 "pin this thread to other CPUs with taskset -p; isolcpus=domain,CPUS keeps unbound threads "
	 "off this CPU"},
	{NOISE_KIND_NMI, "", "stop perf, and boot with nowatchdog"},
};

const char *noise_knob(const struct noise_source *source)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].kind == source->kind &&
		    !strncmp(source->name, rules[i].begins, strlen(rules[i].begins)))
			return rules[i].knob;
	return NULL;
}
