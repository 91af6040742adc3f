/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests times of noise sources and victims, with the BPF programs and the reader. */
#include "noise_core.h"

#include "measure/noise/names.h"

static struct irqaction ipi = {.name = "IPI"};
static char reason[] = "Rescheduling interrupts";

/* Simulated cgroups: two cgroups with user tasks, and the root cgroup with the kernel threads. */
static struct kernfs_node nodes[] = {{.id = 1}, {.id = 100}, {.id = 200}};
static struct cgroup groups[] = {{.kn = &nodes[0]}, {.kn = &nodes[1]}, {.kn = &nodes[2]}};
static struct css_set sets[] = {
	{.dfl_cgrp = &groups[0]}, {.dfl_cgrp = &groups[1]}, {.dfl_cgrp = &groups[2]}};

static struct task_struct worker = {
	.pid = 31, .flags = PF_KTHREAD, .comm = "kworker/0:1", .cgroups = &sets[0]};

static const struct script_word script_words[] = {NOISE_WORDS,
						  {"worker", .task = &worker},
						  {"worker!", .task = &worker, .preempts = true},
						  {"other!", .task = &other, .preempts = true},
						  {"task!", .task = &task, .preempts = true},
						  {0}};

static int begin(void **state)
{
	task.cgroups = &sets[1];
	other.cgroups = &sets[2];
	ksoftirqd.cgroups = idle.cgroups = &sets[0];
	return noise_begin(state);
}

static const struct noise_source *source(const char *name)
{
	for (size_t i = 0; i < lists.nr_sources; i++)
		if (!strcmp(lists.sources[i].name, name))
			return &lists.sources[i];
	return NULL;
}

static const struct noise_hit *hit(u64 key)
{
	for (size_t i = 0; i < lists.nr_hits; i++)
		if (lists.hits[i].key == key)
			return &lists.hits[i];
	return NULL;
}

/*
 * Checks the times in ns that the victim @key lost to hardirqs, softirqs and kernel threads, and
 * its longest loss.
 */
static void expect_hit(u64 key, u64 hardirq, u64 softirq, u64 thread, u64 longest)
{
	const struct noise_hit *h = hit(key);

	assert_non_null(h);
	assert_int_equal(h->ns[NOISE_HARDIRQ], hardirq);
	assert_int_equal(h->ns[NOISE_SOFTIRQ], softirq);
	assert_int_equal(h->ns[NOISE_THREAD], thread);
	assert_int_equal(h->longest_ns, longest);
}

static void expect(const char *name, enum noise_kind kind, u64 count, u64 ns, u64 longest)
{
	const struct noise_source *s = source(name);

	assert_non_null(s);
	assert_int_equal(s->kind, kind);
	assert_int_equal(s->count, count);
	assert_int_equal(s->ns, ns);
	assert_int_equal(s->longest_ns, longest);
}

/*
 * The times of interrupt lines, of an IPI inside a handler, and of softirqs add up to the hardirq
 * and softirq times of `subtick load`.
 */
TEST_WITH(interrupts, begin, end)
{
	struct load_sample s;

	play("1000 task; 2000 nvme 2300; 2400 eth 2450; 2450 softirq 3 2650; 3000 nvme 3100");
	/*
	 * On arm64 the event with an IPI's reason occurs inside the handler of the IPI's interrupt
	 * line.
	 */
	at(3500);
	load_irq_enter_line(NULL, 2, &ipi);
	load_ipi_name_line(NULL, reason);
	at(3520);
	load_irq_leave_line(NULL);
	play("3600 eth 3600");
	s = window(5000);
	expect("nvme0q1", NOISE_KIND_IRQ, 2, 400, 300);
	expect("eth0-rx-0", NOISE_KIND_IRQ, 2, 50, 50);
	expect("NET_RX", NOISE_KIND_SOFTIRQ, 1, 200, 200);
	expect(reason, NOISE_KIND_VECTOR, 1, 20, 20);
	assert_int_equal(source("nvme0q1")->irq, 40);
	assert_int_equal(source(reason)->irq, UINT32_MAX);
	assert_int_equal(s.part_ns[LOAD_PART_HARDIRQ], 400 + 50 + 20);
	assert_int_equal(lists.nr_sources, 4);
	/*
	 * A window has only its own interrupts. The longest interrupt of the previous window is
	 * reset.
	 */
	play("5100 nvme 5110");
	window(6000);
	assert_int_equal(lists.nr_sources, 1);
	expect("nvme0q1", NOISE_KIND_IRQ, 1, 10, 10);
	play("6100 nvme 6105");
	window(7000);
	expect("nvme0q1", NOISE_KIND_IRQ, 1, 5, 5);
}

/* On x86 each vector has its own tracepoint. */
TEST_WITH(vectors, begin, end)
{
	play("1000 task");
	at(2000);
	load_local_timer_enter_line(NULL);
	at(2100);
	load_local_timer_leave_line(NULL);
	load_nmi_noise(NULL, NULL, 700, 1);
	load_nmi_noise(NULL, NULL, 10, 0);
	window(3000);
	expect("Local timer interrupts", NOISE_KIND_VECTOR, 1, 100, 100);
	expect("NMI", NOISE_KIND_NMI, 1, 700, 700);
}

/* The victim of an interrupt is the task's cgroup, the idle task or a kernel thread. */
TEST_WITH(victims, begin, end)
{
	play("1000 task; 2000 nvme 2300; 2300 softirq 1 2400; 3000 other; 3100 nvme 3150; "
	     "4000 worker; 4100 nvme 4120; 5000 swapper; 5010 idle 1; 6000 eth 6200; "
	     "6200 softirq 3 6240; 6300 softirq+ 3; 6310 eth 6320; 6330 softirq- 3");
	window(7000);
	assert_int_equal(lists.nr_hits, 4);
	expect_hit(100, 300, 100, 0, 300);
	assert_int_equal(hit(100)->count[NOISE_SOFTIRQ], 1);
	assert_int_equal(hit(100)->pid, 10);
	assert_string_equal(hit(100)->comm, "work");
	/* The kernel thread took no time from the task, because the task slept. */
	expect_hit(200, 50, 0, 0, 50);
	assert_int_equal(hit(200)->count[NOISE_THREAD], 0);
	expect_hit(NOISE_ON_THREAD, 20, 0, 0, 20);
	expect_hit(NOISE_ON_IDLE, 200 + 10, 40 + 20, 0, 200);
}

/* On cgroup v1 the victim is the task's cgroup of the cpu controller, also before Linux 5.11. */
TEST_WITH(victims_v1, begin, end)
{
	static struct kernfs_node node = {.id = 300};
	static struct cgroup group = {.kn = &node};
	static struct cgroup_subsys_state css = {.cgroup = &group};
	static struct css_set set = {.subsys = {&css}, .dfl_cgrp = &groups[1]};

	noise_v1 = true;
	task.cgroups = &set;
	play("1000 task; 2000 nvme 2300");
	shim_fields = " BPF_FUNC_get_current_task_btf ";
	play("2300 softirq 1 2400");
	shim_fields = "";
	play("3000 worker!; 3500 task");
	window(4000);
	noise_v1 = false;
	assert_int_equal(lists.nr_hits, 1);
	expect_hit(300, 300, 100, 500, 500);
}

static const struct noise_sender *sender(u32 from, u32 to, const char *name)
{
	for (size_t i = 0; i < lists.senders.nr; i++)
		if (lists.senders.list[i].cpu == to && lists.senders.list[i].from_cpu == from &&
		    !strcmp(lists.senders.list[i].name, name))
			return &lists.senders.list[i];
	fail_msg("no %s from %u to %u", name, from, to);
	return NULL;
}

/*
 * An IPI is identified by its name or by the called function. Each bit set in a CPU mask counts as
 * one IPI.
 */
TEST_WITH(senders, begin, end)
{
	const struct cpuset all = {{~0UL, ~0UL}};
	struct cpuset one = {{1UL << 3}};
	struct cpumask mask = {{1UL << 1, 1UL << 2}}, none = {0};
	struct noise_senders senders;

	send_words = 2;
	noise_senders_open(&senders, &lists, &memory, send_counts, 2);
	load_raise_senders(NULL, &mask, reason);
	load_raise_senders(NULL, &none, reason);
	shim_cpu = 1;
	load_send_cpu_senders(NULL, 0, 0, NULL);
	load_send_cpu_senders(NULL, 0, 0, NULL);
	load_send_cpu_senders(NULL, 3, 0, &mask);
	load_send_mask_senders(NULL, &mask, 0, &mask);
	load_send_mask_senders(NULL, &mask, 0, NULL);
	load_send_cpu_senders(NULL, 1, 0, NULL);
	load_send_cpu_senders(NULL, 1, 0, &mask);
	shim_cpu = 0;
	noise_senders_read(&senders, &all, turn);
	assert_int_equal(lists.senders.nr, 9);
	assert_int_equal(sender(0, 1, "Rescheduling interrupts")->count, 1);
	assert_int_equal(sender(0, 66, "Rescheduling interrupts")->count, 1);
	assert_int_equal(sender(1, 0, "Rescheduling interrupts")->count, 2);
	assert_int_equal(sender(1, 3, "Function call interrupts")->count, 1);
	assert_int_equal(sender(1, 66, "Function call interrupts")->count, 1);
	/* Two BPF programs run for the same IPI, but the IPI is counted once. */
	assert_int_equal(sender(1, 1, "Rescheduling interrupts")->count, 2);
	/* An IPI from a core to itself is IRQ work, not a function call. */
	assert_int_equal(sender(1, 1, "IRQ work interrupts")->count, 1);
	assert_int_equal(lists.senders.list[0].cpu, 0);
	assert_int_equal(lists.senders.list[1].cpu, 1);
	assert_int_equal(lists.senders.list[1].count, 2);
	assert_int_equal(lists.senders.list[8].cpu, 66);
	/* A window contains only IPIs sent to the requested cores since the last window. */
	shim_cpu = 1;
	load_send_cpu_senders(NULL, 3, 0, &mask);
	load_send_cpu_senders(NULL, 0, 0, NULL);
	shim_cpu = 0;
	noise_senders_read(&senders, &one, turn);
	assert_int_equal(lists.senders.nr, 1);
	assert_int_equal(sender(1, 3, "Function call interrupts")->count, 1);
	noise_senders_read(&senders, &all, turn);
	assert_int_equal(lists.senders.nr, 0);
}

/*
 * A process that sent more than half of the IPIs is named, with a lower bound of its IPIs. IPIs
 * sent by interrupt handlers are not charged to the interrupted process.
 */
TEST_WITH(sending_process, begin, end)
{
	const struct cpuset all = {{~0UL, ~0UL}};
	struct noise_senders senders;
	const struct noise_sender *s;

	task.tgid = 10;
	other.tgid = 20;
	noise_senders_open(&senders, &lists, &memory, send_counts, 1);
	shim_current = &other;
	load_send_cpu_senders(NULL, 1, 0, NULL);
	load_send_cpu_senders(NULL, 1, 0, NULL);
	shim_current = &task;
	for (int i = 0; i < 5; i++)
		load_send_cpu_senders(NULL, 1, 0, NULL);
	at(1000);
	load_irq_enter_line(NULL, 40, &disk);
	load_send_cpu_senders(NULL, 2, 0, NULL);
	at(1100);
	load_irq_leave_line(NULL);
	noise_window_seq += 1ULL << NOISE_WINDOW_SHIFT;
	/*
	 * The process `other` sends an IPI after the end of the window and before the window is
	 * read.
	 */
	shim_current = &other;
	load_send_cpu_senders(NULL, 1, 0, NULL);
	noise_senders_read(&senders, &all, turn);
	s = sender(0, 1, "Rescheduling interrupts");
	assert_int_equal(s->count, 8);
	assert_int_equal(s->by_process, 3);
	assert_int_equal(s->pid, 10);
	assert_string_equal(s->comm, "work");
	s = sender(0, 2, "Rescheduling interrupts");
	assert_int_equal(s->by_process, 1);
	assert_int_equal(s->pid, NOISE_BY_INTERRUPT);
	task.tgid = other.tgid = 0;
}

/* If the table of pairs (sender, receiver) is full, IPIs of further pairs are counted as lost. */
TEST_WITH(senders_lost, begin, end)
{
	const struct cpuset all = {{~0UL, ~0UL, ~0UL, ~0UL}};
	struct noise_senders senders;
	u64 counted = 0;

	noise_senders_open(&senders, &lists, &memory, send_counts, 1);
	for (u32 cpu = 0; cpu < 2 * NOISE_NR_SENDS; cpu++)
		load_send_cpu_senders(NULL, cpu, 0, NULL);
	noise_senders_read(&senders, &all, turn);
	for (size_t i = 0; i < lists.senders.nr; i++)
		counted += lists.senders.list[i].count;
	assert_true(lists.senders.lost > 0);
	assert_int_equal(counted + lists.senders.lost, 2 * NOISE_NR_SENDS);
}

static const char *symbol(u64 address)
{
	switch (address) {
	case 0x1010:
		return "ipi_mb";
	case 0x1020:
		return "a_function_whose_name_is_longer_than_what_an_entry_has_room_for [module]";
	default:
		return address < 0x2000 ? "0xffff800080001234" : "later";
	}
}

static void call(u32 from, u32 to, u64 function)
{
	u64 args[] = {to, 0, function, 0};

	shim_cpu = from;
	load_call_senders(args);
	shim_cpu = 0;
}

static u64 called(u32 from, u32 to, const char *name)
{
	u64 count = 0;

	for (size_t i = 0; i < lists.calls.nr; i++)
		if (lists.calls.list[i].cpu == to && lists.calls.list[i].from_cpu == from &&
		    !strcmp(lists.calls.list[i].name, name))
			count += lists.calls.list[i].count;
	return count;
}

/* A function called on another core is named by its symbol, or has no name. */
TEST_WITH(calls, begin, end)
{
	const struct cpuset all = {{~0UL}};
	struct noise_senders senders;

	shim_symbol = symbol;
	noise_senders_open(&senders, &lists, &memory, send_counts, 2);
	call(0, 1, 0x1010);
	call(0, 1, 0x1010);
	call(1, 0, 0x1010);
	call(0, 1, 0x1020);
	call(0, 1, 0x1030);
	call(0, 1, 0x1040);
	noise_senders_read(&senders, &all, turn);
	assert_int_equal(lists.senders.nr, 0);
	assert_int_equal(lists.calls.nr, 4);
	assert_int_equal(called(0, 1, "ipi_mb"), 2);
	assert_int_equal(called(1, 0, "ipi_mb"), 1);
	assert_int_equal(called(0, 1, ""), 2);
	assert_int_equal(
		called(0, 1, "a_function_whose_name_is_longer_than_what_an_entry_has_room_for"), 1);
	assert_int_equal(lists.calls.list[0].cpu, 0);
	assert_int_equal(lists.calls.list[3].count, 1);
	call(0, 1, 0x1010);
	noise_senders_read(&senders, &all, turn);
	assert_int_equal(lists.calls.nr, 1);
	assert_int_equal(called(0, 1, "ipi_mb"), 1);
	assert_int_equal(lists.senders.lost + lists.calls.lost, 0);
	/*
	 * Table entries unused for two windows are reused for other functions, whose names are
	 * looked up.
	 */
	noise_window_seq += 3ULL << NOISE_WINDOW_SHIFT;
	for (u64 i = 0; i < NOISE_NR_SENDS; i++)
		call(0, 1, 0x2000 + i * 16);
	noise_senders_read(&senders, &all, turn);
	assert_int_equal(lists.calls.nr, 1);
	assert_int_equal(called(0, 1, "later") + lists.calls.lost, NOISE_NR_SENDS);
}

/*
 * If the table of called functions is full, calls of further functions are counted as lost. The
 * table of senders loses no IPIs of these calls.
 */
TEST_WITH(calls_lost, begin, end)
{
	const struct cpuset all = {{~0UL}};
	struct noise_senders senders;
	u64 counted = 0;

	shim_symbol = symbol;
	noise_senders_open(&senders, &lists, &memory, send_counts, 1);
	for (u64 i = 1; i <= 2 * NOISE_NR_SENDS; i++)
		call(0, 1, i * 16);
	noise_senders_read(&senders, &all, turn);
	for (size_t i = 0; i < lists.calls.nr; i++)
		counted += lists.calls.list[i].count;
	assert_true(lists.calls.lost > 0);
	assert_int_equal(counted + lists.calls.lost, 2 * NOISE_NR_SENDS);
	assert_int_equal(lists.senders.lost, 0);
}

/*
 * The time of a kernel thread excludes interrupts. The task that the thread preempted is its
 * victim.
 */
TEST_WITH(threads, begin, end)
{
	play("1000 task; 2000 worker!; 2100 nvme 2400; 2400 softirq 1 2500; 3000 ksoftirqd; "
	     "3200 task; "
	     /* If a kernel thread is woken on an idle core, no task loses time. */
	     "4000 swapper; 5000 worker; 5500 swapper");
	window(6000);
	expect("kworker/0:1", NOISE_KIND_THREAD, 2, 600 + 500, 600);
	expect("ksoftirqd/0", NOISE_KIND_THREAD, 1, 200, 200);
	expect_hit(100, 0, 0, 600 + 200, 600);
	assert_int_equal(hit(100)->count[NOISE_THREAD], 2);
	assert_int_equal(hit(100)->pid, 10);
}

/* Softirqs inside ksoftirqd count only as time of the thread ksoftirqd. */
TEST_WITH(in_ksoftirqd, begin, end)
{
	play("1000 ksoftirqd; 1100 softirq 3 1900; 2000 task");
	window(3000);
	assert_null(source("NET_RX"));
	expect("ksoftirqd/0", NOISE_KIND_THREAD, 1, 1000, 1000);
}

/* The time of a kernel thread that runs during several windows is divided among these windows. */
TEST_WITH(open_thread, begin, end)
{
	play("1000 worker");
	window(3000);
	expect("kworker/0:1", NOISE_KIND_THREAD, 0, 2000, 2000);
	window(6000);
	expect("kworker/0:1", NOISE_KIND_THREAD, 0, 3000, 5000);
	play("6500 task; 7000 worker");
	window(7100);
	expect("kworker/0:1", NOISE_KIND_THREAD, 1, 500 + 100, 5500);
	play("7300 task");
	window(8000);
	expect("kworker/0:1", NOISE_KIND_THREAD, 1, 200, 300);
	window(9000);
	assert_int_equal(lists.nr_sources, 0);
}

/* On PREEMPT_RT the time of a softirq excludes the time for which the softirq was preempted. */
TEST_WITH(preempted_softirq, begin, end)
{
	struct load_sample s;

	shim_fields = " softirq_disable_cnt ";
	play("1000 task; 2000 softirq+ 3; 2300 other!; 4000 task; 4100 softirq- 3");
	s = window(5000);
	expect("NET_RX", NOISE_KIND_SOFTIRQ, 2, 400, 300);
	assert_int_equal(s.part_ns[LOAD_PART_SOFTIRQ_ON_TASK], 400);
}

/*
 * At a switch between two user tasks, the BPF program neither ends the interval of the load part
 * nor reads the clock.
 */
TEST_WITH(task_to_task, begin, end)
{
	u64 base;

	play("1000 task");
	base = slot->base;
	play("2000 other; 2500 task!");
	assert_int_equal(slot->base, base);
	window(3000);
	assert_int_equal(lists.nr_sources, 0);
}

/*
 * If the table of interrupt lines is full, interrupts of further lines are counted as lost. Entries
 * unused for two windows are free again.
 */
TEST_WITH(full, begin, end)
{
	static struct irqaction actions[NOISE_NR_LINES + 1];
	static char names[NOISE_NR_LINES + 1][8];
	u64 ns = 0, lost = 0;
	struct noise_losses losses;

	play("1000 task");
	for (int i = 0; i <= NOISE_NR_LINES; i++) {
		snprintf(names[i], sizeof(names[i]), "dev%d", i);
		actions[i].name = names[i];
		device(2000 + i * 100, 2010 + i * 100, 50 + i, &actions[i]);
	}
	window(9000);
	for (size_t i = 0; i < lists.nr_sources; i++)
		ns += lists.sources[i].ns;
	noise_cells_losses(&cells, &losses);
	lost = losses.source_ns;
	assert_true(lost >= 10);
	assert_int_equal(losses.sources, lost / 10);
	assert_int_equal(ns + lost, 10 * (NOISE_NR_LINES + 1));
	/* The table of victims was not full, so victims have all interrupts. */
	assert_int_equal(hit(100)->count[NOISE_HARDIRQ], NOISE_NR_LINES + 1);
	window(10000);
	window(11000);
	for (int i = 0; i < NOISE_NR_LINES; i++) {
		device(11100 + i * 10, 11105 + i * 10, 500, &net);
		device(11105 + i * 10, 11106 + i * 10, 501, &disk);
	}
	window(12000);
	noise_cells_losses(&cells, &losses);
	assert_int_equal(losses.source_ns, lost);
	expect("eth0-rx-0", NOISE_KIND_IRQ, NOISE_NR_LINES, 5 * NOISE_NR_LINES, 5);
	expect("nvme0q1", NOISE_KIND_IRQ, NOISE_NR_LINES, NOISE_NR_LINES, 1);
	assert_int_equal(lists.nr_sources, 2);
}

/* A table entry that was used in the previous window is not reused for another interrupt line. */
TEST_WITH(kept, begin, end)
{
	struct noise_cell *cell = NULL;

	play("1000 task; 2000 nvme 2100");
	for (int i = 0; i < NOISE_NR_LINES; i++)
		if (noise_counts.lines[i].sum.key)
			cell = &noise_counts.lines[i];
	assert_non_null(cell);
	window(3000);
	assert_false(sum_unused(&cell->sum));
	window(4000);
	assert_true(sum_unused(&cell->sum));
}

/* A lookup finds a key behind unused table entries. */
TEST_WITH(behind_unused, begin, end)
{
	struct noise_cell *threads = noise_counts.threads;

	assert_ptr_equal(sum_probe((char *)threads, sizeof(*threads), 63, NOISE_PROBES, 1, 0), &threads[1].sum);
	threads[3].sum.key = 1;
	assert_ptr_equal(sum_probe((char *)threads, sizeof(*threads), 63, NOISE_PROBES, 1, 0), &threads[3].sum);
}

/* An event after the end of a window and before its reading is counted in this window. */
TEST_WITH(late_event, begin, end)
{
	play("1000 task; 2000 nvme 2300");
	window(3000);
	window(4000);
	noise_window_seq += 1ULL << NOISE_WINDOW_SHIFT;
	play("5000 nvme 5100");
	noise_window_seq -= 1ULL << NOISE_WINDOW_SHIFT;
	read_cells(&(struct load_sample){0});
	expect("nvme0q1", NOISE_KIND_IRQ, 1, 100, 100);
	assert_int_equal(hit(100)->longest_ns, 100);
	assert_int_equal(hit(100)->pid, task.pid);
	/*
	 * After the late event the longest time of the next window is unknown (0), until a longer
	 * interrupt occurs.
	 */
	device(6000, 6050, 40, &disk);
	window(7000);
	expect("nvme0q1", NOISE_KIND_IRQ, 1, 50, 0);
	assert_int_equal(hit(100)->longest_ns, 0);
	device(8000, 8070, 40, &disk);
	window(9000);
	expect("nvme0q1", NOISE_KIND_IRQ, 1, 70, 70);
	assert_int_equal(hit(100)->longest_ns, 70);
}

/* Percentiles are computed from histogram buckets, four per power of two. */
TEST_WITH(percentile, begin, end)
{
	u64 ns = 2000;

	play("1000 task");
	for (int i = 0; i < 200; i++, ns += 10000)
		device(ns, ns + (i < 190 ? 1000 : 8000), 40, &disk);
	window(ns);
	assert_int_equal(source("nvme0q1")->longest_ns, 8000);
	assert_true(source("nvme0q1")->p99_ns >= 8000 * 3 / 4 && source("nvme0q1")->p99_ns <= 8000);
}

TEST_MAIN()
