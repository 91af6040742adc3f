// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel module for tests/truth/incidents that uses CPU time in the kernel: interrupts of QEMU's
 * PCI device `edu`, a tasklet, a workqueue item, RCU callbacks, sections without preemption,
 * stop_machine(), and stolen time.
 *
 * A timer on CPU 0 starts work that takes burn_us, once in each period of a *_period_us parameter.
 * For the tasklet, the timer runs on the CPU of parameter cpu.
 */
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/rcupdate.h>
#include <linux/stop_machine.h>
#include <linux/workqueue.h>

#ifdef CONFIG_X86
#include <asm/apic.h>
#include <asm/nmi.h>
#include <asm/paravirt.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#endif

/* Registers of the PCI device edu, see docs/specs/edu of QEMU. */
#define EDU_VENDOR     0x1234
#define EDU_DEVICE     0x11e8
#define EDU_IRQ_STATUS 0x24
#define EDU_IRQ_RAISE  0x60
#define EDU_IRQ_ACK    0x64

#define CALLBACKS 32

static unsigned int irq_period_us, tasklet_period_us, work_period_us, rcu_period_us;
static unsigned int steal_period_us, burn_us = 100, cpu = 1;
module_param(irq_period_us, uint, 0444);
module_param(tasklet_period_us, uint, 0444);
module_param(work_period_us, uint, 0444);
module_param(rcu_period_us, uint, 0444);
module_param(steal_period_us, uint, 0444);
module_param(burn_us, uint, 0444);
module_param(cpu, uint, 0444);

static unsigned int passes_per_us, period_us;
static struct pci_dev *pci;
static void __iomem *registers;
static struct workqueue_struct *queue;
static struct hrtimer timer;
static struct rcu_head callbacks[CALLBACKS];
static atomic_t nr_callbacks;

/* Keeps the CPU busy without a clock, unlike udelay(): clock reads are slow to emulate. */
static noinline void burn(unsigned int us)
{
	for (; us; us--) {
		for (unsigned int i = 0; i < passes_per_us; i++)
			barrier();
		/*
		 * cpu_relax() makes QEMU switch to the other CPU of the guest, see truth_burn_in_turns().
		 */
		if (us % 20 == 0)
			cpu_relax();
	}
}

static void calibrate(void)
{
	ktime_t begin;

	passes_per_us = 100;
	preempt_disable();
	begin = ktime_get();
	burn(10);
	passes_per_us = max(1U, (unsigned int)(1000 * NSEC_PER_USEC / ktime_to_ns(ktime_sub(ktime_get(), begin))));
	preempt_enable();
}

static irqreturn_t trouble_interrupt(int irq, void *arg)
{
	u32 status = readl(registers + EDU_IRQ_STATUS);

	if (!status)
		return IRQ_NONE;
	writel(status, registers + EDU_IRQ_ACK);
	burn(burn_us);
	return IRQ_HANDLED;
}

static void trouble_tasklet(struct tasklet_struct *unused)
{
	burn(burn_us);
}
static DECLARE_TASKLET(tasklet, trouble_tasklet);

static void trouble_work(struct work_struct *unused)
{
	for (unsigned int us = 0; us < burn_us; us += 100) {
		burn(100);
		cond_resched();
	}
}
static DECLARE_WORK(work, trouble_work);

static void trouble_callback(struct rcu_head *unused)
{
	burn(burn_us);
	atomic_dec(&nr_callbacks);
}

#ifdef CONFIG_X86
/*
 * Takes the core from the running task as a hypervisor does: an NMI stops the task, its interrupts
 * and its timers for burn_us, and no tracepoint of the scheduler or of interrupts reports the NMI.
 * The module is the steal clock of the kernel, and reports exactly the time in the NMI. A
 * hypervisor has no reason to stop a halted core, so the NMI does nothing on an idle core.
 */
static DEFINE_PER_CPU(u64, stolen_ns);
static struct static_call_key *steal_key;
static struct static_key *steal_enabled;
static void *steal_trampoline, *steal_native;
static atomic_t steal_due;

static u64 steal_clock(int of)
{
	return per_cpu(stolen_ns, of);
}

static int steal_nmi(unsigned int type, struct pt_regs *regs)
{
	u64 begin_ns = ktime_get_mono_fast_ns();

	if (!atomic_xchg(&steal_due, 0))
		return NMI_DONE;
	if (!is_idle_task(current)) {
		burn(burn_us);
		this_cpu_add(stolen_ns, ktime_get_mono_fast_ns() - begin_ns);
	}
	return NMI_HANDLED;
}

static void steal_core(void)
{
	atomic_set(&steal_due, 1);
	apic->send_IPI(cpu, NMI_VECTOR);
}

static int steal_begin(void)
{
	struct kprobe probe = {.symbol_name = "kallsyms_lookup_name"};
	unsigned long (*lookup)(const char *name);
	int err = register_kprobe(&probe);

	if (err)
		return err;
	lookup = (void *)probe.addr;
	unregister_kprobe(&probe);
	steal_key = (void *)lookup("__SCK__pv_steal_clock");
	steal_trampoline = (void *)lookup("__SCT__pv_steal_clock");
	steal_enabled = (void *)lookup("paravirt_steal_enabled");
	if (!steal_key || !steal_trampoline || !steal_enabled)
		return -ENOENT;
	steal_native = steal_key->func;
	__static_call_update(steal_key, steal_trampoline, steal_clock);
	static_key_slow_inc(steal_enabled);
	return register_nmi_handler(NMI_LOCAL, steal_nmi, 0, "trouble");
}

static void steal_end(void)
{
	unregister_nmi_handler(NMI_LOCAL, "trouble");
	static_key_slow_dec(steal_enabled);
	__static_call_update(steal_key, steal_trampoline, steal_native);
}
#else
static void steal_core(void)
{
}

static int steal_begin(void)
{
	return -EOPNOTSUPP;
}

static void steal_end(void)
{
}
#endif

static enum hrtimer_restart trouble_timer(struct hrtimer *t)
{
	if (irq_period_us)
		writel(1, registers + EDU_IRQ_RAISE);
	if (steal_period_us)
		steal_core();
	if (tasklet_period_us)
		tasklet_schedule(&tasklet);
	if (work_period_us)
		queue_work_on(cpu, queue, &work);
	/* Queue many RCU callbacks, as if many objects were freed at the same time. */
	if (rcu_period_us && atomic_cmpxchg(&nr_callbacks, 0, CALLBACKS) == 0)
		for (int i = 0; i < CALLBACKS; i++)
			call_rcu(&callbacks[i], trouble_callback);
	hrtimer_forward_now(t, ns_to_ktime(period_us * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

static long trouble_arm(void *unused)
{
	hrtimer_start(&timer, ms_to_ktime(1), HRTIMER_MODE_REL_PINNED);
	return 0;
}

static int trouble_stop(void *us)
{
	burn(*(unsigned int *)us);
	return 0;
}

static int stall_set(const char *text, const struct kernel_param *param)
{
	unsigned int us;
	int err = kstrtouint(text, 0, &us);

	if (err)
		return err;
	if (param->arg)
		return stop_machine(trouble_stop, &us, cpumask_of(cpu));
	preempt_disable();
	burn(us);
	preempt_enable();
	return 0;
}
static const struct kernel_param_ops stall_ops = {.set = stall_set};
module_param_cb(stall_us, &stall_ops, NULL, 0200);
module_param_cb(stop_us, &stall_ops, &timer, 0200);

static int trouble_edu(void)
{
	int irq, err;

	pci = pci_get_device(EDU_VENDOR, EDU_DEVICE, NULL);
	if (!pci)
		return -ENODEV;
	err = pci_enable_device(pci);
	if (err)
		return err;
	pci_set_master(pci);
	registers = pci_iomap(pci, 0, 0);
	if (!registers)
		return -ENOMEM;
	err = pci_alloc_irq_vectors(pci, 1, 1, PCI_IRQ_MSI);
	if (err < 0)
		return err;
	irq = pci_irq_vector(pci, 0);
	err = request_irq(irq, trouble_interrupt, 0, "trouble", pci);
	if (err)
		return err;
	return irq_set_affinity(irq, cpumask_of(cpu));
}

static int __init trouble_init(void)
{
	int err;

	calibrate();
	err = irq_period_us ? trouble_edu() : steal_period_us ? steal_begin() : 0;
	if (err)
		return err;
	queue = alloc_workqueue("trouble", 0, 0);
	if (!queue)
		return -ENOMEM;
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED);
	timer.function = trouble_timer;
	period_us = irq_period_us ?: tasklet_period_us ?: work_period_us ?: rcu_period_us ?: steal_period_us;
	if (period_us)
		work_on_cpu(tasklet_period_us ? cpu : 0, trouble_arm, NULL);
	return 0;
}

static void __exit trouble_exit(void)
{
	hrtimer_cancel(&timer);
	if (steal_period_us)
		steal_end();
	rcu_barrier();
	tasklet_kill(&tasklet);
	destroy_workqueue(queue);
	if (pci) {
		free_irq(pci_irq_vector(pci, 0), pci);
		pci_free_irq_vectors(pci);
		pci_iounmap(pci, registers);
		pci_disable_device(pci);
		pci_dev_put(pci);
	}
}

module_init(trouble_init);
module_exit(trouble_exit);
MODULE_DESCRIPTION("Time that the kernel takes from a CPU, for tests");
MODULE_LICENSE("GPL");
