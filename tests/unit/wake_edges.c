/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests every way to wake a core: recorded timestamps, and reasons to reject. */
#include "wake_core.h"

#define SENDER 50

static struct task_struct sender = {.pid = SENDER, .tgid = SENDER}, other = {.pid = 60, .tgid = 60};

/* Evaluates the recorded wake-up as the worker thread does, with a calibrated overhead of 0. */
static struct wake_point judge_point(enum wake_source source)
{
	struct wake_raw raw = {.source = source,
			       .k = &slot[HERE].point,
			       .launch_ns = order[HERE].launch_ns,
			       .how = order[HERE].how,
			       .irq_ours = true};
	struct wake_point point;

	wake_judge(&raw, &point);
	return point;
}

static void arm(u64 launch_ns)
{
	memset(&slot[HERE].point, 0, sizeof(slot[HERE].point));
	order[HERE] = (struct wake_launch){.launch_ns = launch_ns, .worker = WORKER};
}

/*
 * On arm64, and on x86 in idle states left with interrupts disabled, the events are: idle exit,
 * interrupt handler, timer, worker thread.
 */
TEST_WITH(timer_exit_first, reset, NULL)
{
	struct wake_point p;

	arm(10000);
	to_task(1000, &worker);
	to_task(1500, &idle);
	go_idle(2000, 2);
	leave_idle(10700);
	irq(10900, 27);
	expire(11200, 10000, 50, &monotonic);
	irq_ends(11300);
	to_task(11900, &other);
	to_task(12000, &worker);
	to_task(12500, &other);
	to_task(12600, &worker);
	p = judge_point(WAKE_TIMER);
	assert_int_equal(p.reject, WAKE_TAKEN);
	assert_int_equal(p.latency_ns, 700);
	assert_int_equal(p.silent_ns, 8000);
	assert_int_equal(p.irq_ns, 900);
	assert_int_equal(p.expire_ns, 1200);
	assert_int_equal(p.switch_ns, 2000);
	assert_int_equal(p.state, 2);
	assert_int_equal(p.order, WAKE_EXIT_FIRST);
	assert_int_equal(slot[HERE].point.irq, 27);
	assert_int_equal(slot[HERE].point.irq_kind, WAKE_IRQ_DEVICE);
	assert_false(slot[HERE].point.inside);
}

/* With x86 `sti; hlt` the interrupt handler runs before the idle exit event. */
TEST_WITH(timer_irq_first, reset, NULL)
{
	struct wake_point p;

	arm(10000);
	go_idle(2000, 1);
	shim_now = 10400;
	wake_local_timer(NULL);
	expire(10600, 10000, 0, &realtime);
	shim_now = 10800;
	wake_reschedule(NULL);
	leave_idle(11000);
	to_task(12000, &worker);
	p = judge_point(WAKE_TIMER);
	assert_int_equal(p.reject, WAKE_TAKEN);
	assert_int_equal(p.latency_ns, 400);
	assert_int_equal(p.irq_ns, 400);
	assert_int_equal(p.expire_ns, 600);
	assert_int_equal(p.order, WAKE_IRQ_FIRST);
	assert_true(slot[HERE].point.inside);
	assert_int_equal(slot[HERE].point.irq_kind, WAKE_IRQ_TIMER);
	assert_int_equal(slot[HERE].point.irqs, 2);
}

TEST_WITH(before_the_launch, reset, NULL)
{
	arm(10000);
	go_idle(2000, 1);
	irq(5000, 3);
	leave_idle(5100);
	irq_ends(5200);
	assert_int_equal(slot[HERE].point.early_exits, 1);
	assert_int_equal(slot[HERE].point.irqs, 0);
		/* An idle period that begins after the trigger is no part of the wake-up. */
	timer_irq(10200, 10000);
	go_idle(10500, 1);
	leave_idle(11000);
	assert_int_equal(slot[HERE].point.tai_ns, 0);
	assert_int_equal(judge_point(WAKE_TIMER).reject, WAKE_REJ_WOKEN_EARLY);
}

TEST_WITH(later_windows, reset, NULL)
{
	arm(10000);
	go_idle(2000, 1);
	leave_idle(10300);
	timer_irq(10500, 10000);
	go_idle(11000, 2);
	leave_idle(20000);
	assert_int_equal(slot[HERE].point.tai_ns, 10300);
	assert_int_equal(slot[HERE].point.tbi_ns, 2000);
	assert_int_equal(slot[HERE].point.state, 1);
	expire(20100, 10000, 0, &monotonic);
	assert_int_equal(slot[HERE].point.expire_ns, 10600);
}

/* Another timer or interrupt came before the test's timer. */
TEST_WITH(due_before, reset, NULL)
{
	static const struct {
		bool irq;
		u64 soft, slack; /* another timer; 0: none */
		enum wake_reject reject;
	} rows[] = {
		{.soft = 9000, .slack = 500, .reject = WAKE_REJ_OTHER_FIRST},
		/* This timer was due after the test's timer, so it did not wake the core. */
		{.soft = 9000, .slack = 1000, .reject = WAKE_TAKEN},
		{.irq = true, .reject = WAKE_REJ_OTHER_FIRST},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		reset(state);
		arm(10000);
		go_idle(2000, 1);
		leave_idle(10300);
		if (rows[i].irq) {
			irq(10400, 5);
			irq_ends(10450);
		}
		irq(10500, 27);
		if (rows[i].soft)
			expire(10550, rows[i].soft, rows[i].slack, &monotonic);
		expire(10600, 10000, 0, &monotonic);
		assert_int_equal(judge_point(WAKE_TIMER).reject, rows[i].reject);
	}
	/* expire_irqs does not count interrupts after the timer. */
	irq_ends(10650);
	irq(10700, 5);
	assert_int_equal(slot[HERE].point.expire_irqs, 2);
}

TEST_WITH(nmi_is_reported, reset, NULL)
{
	arm(10000);
	go_idle(2000, 1);
	wake_nmi(NULL);
	leave_idle(10300);
	irq(10500, 27);
	expire(10600, 10000, 0, &monotonic);
	assert_int_equal(judge_point(WAKE_TIMER).reject, WAKE_REJ_NMI);
}

static void ask_sender(void)
{
	memset(&slot[HERE].point, 0, sizeof(slot[HERE].point));
	order[HERE] = (struct wake_launch){.sender = SENDER, .worker = WORKER};
}

/* Simulates an IPI that the sender sends from its own core. */
static void send(u64 ns, struct task_struct *who, u32 cpu)
{
	shim_cpu = 0;
	shim_current = who;
	shim_now = ns;
	wake_ipi_send(NULL, cpu);
	shim_cpu = HERE;
	shim_current = &idle;
}

/* Only the first IPI of the sender to the measured core triggers the wake-up. */
TEST_WITH(remote, reset, NULL)
{
	struct wake_point p;

	ask_sender();
	go_idle(2000, 2);
	/* An interrupt before the IPI is not part of the wake-up. */
	leave_idle(3000);
	irq(3100, 5);
	irq_ends(3200);
	expire(3300, 3000, 0, &monotonic);
	to_task(3400, &worker);
	assert_memory_equal(&slot[HERE].point, &(struct wake_kpoint){0},
			    sizeof(struct wake_kpoint));
	shim_current = &idle;
	go_idle(4000, 2);
	send(9000, &other, HERE);
	send(9500, &sender, HERE + 1);
	assert_int_equal(order[HERE].launch_ns, 0);
	assert_int_equal(order[HERE + 1].launch_ns, 0);
	send(10000, &sender, HERE);
	send(10100, &sender, HERE);
	leave_idle(10900);
	/* On arm64 an IPI event after the interrupt entry shows that the interrupt is an IPI. */
	irq(11000, 5);
	shim_now = 11050;
	wake_ipi(NULL);
	irq_ends(11200);
	to_task(12000, &worker);
	irq(12100, 6);
	wake_irq_work(NULL);
	irq_ends(12200);
	assert_int_equal(slot[HERE].point.irq_kind, WAKE_IRQ_IPI);
	assert_int_equal(slot[HERE].point.irqs, 2);
	p = judge_point(WAKE_REMOTE);
	assert_int_equal(p.reject, WAKE_TAKEN);
	assert_int_equal(p.how, WAKE_HOW_IPI);
	assert_int_equal(p.launch_ns, 10000);
	assert_int_equal(p.latency_ns, 900);
	assert_int_equal(p.irq_ns, 1000);
}

/*
 * Several devices share a line, so one interrupt runs several handlers. Each run of the first
 * handler counts as an interrupt.
 */
TEST_WITH(shared_line, reset, NULL)
{
	struct irqaction third = {0}, second = {.next = &third}, first = {.next = &second}, alone = {0};

	want_passive = true;
	ask_sender();
	go_idle(5000, 1);
	send(10000, &sender, HERE);
	leave_idle(10900);
	for (u32 i = 0; i < 2; i++) {
		shim_now = 11000 + 1000 * i;
		wake_irq(NULL, 9, &first);
		irq_ends(shim_now + 10);
		wake_irq(NULL, 9, &second);
		irq_ends(shim_now + 20);
		wake_irq(NULL, 9, &third);
		irq_ends(shim_now + 30);
		assert_int_equal(slot[HERE].point.irqs, i + 1);
		assert_int_equal(slot[HERE].win.irqs, i + 1);
		assert_int_equal(slot[HERE].point.ti_ns, 11000);
	}
	/* Interrupt 10 has one handler, so each run of the handler counts as an interrupt. */
	wake_irq(NULL, 10, &alone);
	irq_ends(13000);
	wake_irq(NULL, 10, &alone);
	irq_ends(14000);
	assert_int_equal(slot[HERE].point.irqs, 4);
}

/*
 * Besides an IPI to one CPU, three events trigger a wake-up: setting the polling flag, an IPI to a
 * CPU mask, and sched_waking.
 */
TEST_WITH(remote_how, reset, NULL)
{
	struct cpumask mask = {{0}};

	ask_sender();
	shim_current = &sender;
	shim_now = 10000;
	wake_flag(NULL, HERE);
	assert_int_equal(order[HERE].how, WAKE_HOW_FLAG);
	assert_int_equal(order[HERE].launch_ns, 10000);

	order[129] = (struct wake_launch){.sender = SENDER, .worker = WORKER};
	mask.bits[2] = 1UL << 1;
	shim_now = 10500;
	wake_ipi_raise(NULL, &mask);
	assert_int_equal(order[129].launch_ns, 10500);
	assert_int_equal(order[129].how, WAKE_HOW_IPI);
	/* An IPI to several cores does not count as the trigger of a wake-up. */
	order[129].launch_ns = 0;
	mask.bits[2] |= 1;
	wake_ipi_raise(NULL, &mask);
	assert_int_equal(order[129].launch_ns, 0);
	mask = (struct cpumask){{1UL << 63}};
	order[63] = order[129];
	wake_ipi_raise(NULL, &mask);
	assert_int_equal(order[63].launch_ns, 10500);
	mask = (struct cpumask){.bits[16] = 1UL << 5};
	order[1029] = order[129];
	wake_ipi_raise(NULL, &mask);
	assert_int_equal(order[1029].launch_ns, 10500);

	ask_sender();
	worker.thread_info.cpu = other.thread_info.cpu = HERE;
	wake_waking(NULL, &other);
	assert_int_equal(order[HERE].launch_ns, 0);
	shim_current = &other;
	wake_waking(NULL, &worker);
	assert_int_equal(order[HERE].launch_ns, 0);
	shim_current = &sender;
	shim_now = 11000;
	wake_waking(NULL, &worker);
	assert_int_equal(order[HERE].launch_ns, 11000);
	assert_int_equal(order[HERE].how, WAKE_HOW_WAKING);
	/* On x86 before Linux 5.16 the CPU number of a task is in another struct. */
	shim_fields = " cpu ";
	worker.cpu = 64;
	order[64] = order[129];
	shim_now = 12000;
	wake_waking(NULL, &worker);
	assert_int_equal(order[64].launch_ns, 12000);
	assert_int_equal(order[HERE].launch_ns, 11000);
}

/* Measures the time between the timestamps that two BPF programs take at the same event. */
TEST_WITH(cost_of_a_stamp, reset, NULL)
{
	shim_now = 1000;
	wake_calibrate1(NULL, 1, HERE);
	wake_calibrate2(NULL, 1, HERE);
	assert_int_equal(slot[HERE].win.calibrate_cost_ns, 0);
	wake_calibrate1(NULL, PWR_EVENT_EXIT, HERE);
	shim_now = 1042;
	wake_calibrate2(NULL, PWR_EVENT_EXIT, HERE);
	assert_int_equal(slot[HERE].win.calibrate_cost_ns, 42);
}

TEST_MAIN()
