/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the times of interrupt lines and tasks, with the BPF programs and the reader. */
#include "load_core.h"

#include "measure/load/lines.h"
#include "measure/load/tasks.h"

static struct blocks memory;

#define FD_LINES 70
#define FD_EVEN	 71
#define FD_ODD	 72

static int copy_out(struct small_map *map, void *keys, size_t key, void *values, size_t value,
		    __u32 *count)
{
	assert_true(*count >= map->nr);
	for (size_t i = 0; i < map->nr; i++) {
		memcpy((char *)keys + i * key, &map->pairs[i].key, key);
		memcpy((char *)values + i * value, &map->pairs[i].sum, value);
	}
	*count = map->nr;
	errno = ENOENT;
	return -1;
}

int __wrap_bpf_map_lookup_batch(int fd, void *in, void *out, void *keys, void *values,
				__u32 *count, const void *opts)
{
	assert_int_equal(fd, FD_LINES);
	return copy_out(&small_lines, keys, sizeof(struct load_line_key), values,
			sizeof(struct load_line_sum), count);
}

int __wrap_bpf_map_lookup_and_delete_batch(int fd, void *in, void *out, void *keys, void *values,
					   __u32 *count, const void *opts)
{
	struct small_map *map = fd == FD_ODD ? &small_odd : &small_even;
	int rc = copy_out(map, keys, sizeof(struct load_task_key), values,
			  sizeof(struct load_task_sum), count);

	map->nr = 0;
	return rc;
}

static struct irqaction disk = {.name = "nvme0q1"}, net = {.name = "eth0-rx-0"};
static struct irqaction ipi = {.name = "IPI"};

static const struct load_line *find_line(const struct load_lines *l, const char *name)
{
	for (size_t i = 0; i < l->nr_list; i++)
		if (!strcmp(l->list[i].name, name))
			return &l->list[i];
	return NULL;
}

TEST_WITH(lines_close, reset, NULL)
{
	char reason[] = "Function call interrupts";
	struct load_lines l;
	struct load_sample s;
	u64 sum = 0;

	load_lines_open(&l, &memory, FD_LINES, 1);
	to_task(1000, &task);
	device(2000, 2300, 40, &disk);
	device(3000, 3100, 41, &net);
	device(4000, 4050, 41, &net);
	assert_int_equal(load_lines_read(&l), 0);
	assert_int_equal(l.nr_list, 2);
	assert_string_equal(l.list[0].name, "nvme0q1");
	assert_int_equal(l.list[0].irq, 40);
	assert_int_equal(l.list[0].ns, 300);
	assert_int_equal(l.list[1].ns, 150);
	assert_int_equal(l.list[1].count, 2);

	/* A window contains only interrupts that occurred after the end of the previous window. */
	device(5000, 5070, 41, &net);
	assert_int_equal(load_lines_read(&l), 0);
	assert_int_equal(l.nr_list, 1);
	assert_int_equal(l.list[0].ns, 70);
	assert_int_equal(l.list[0].count, 1);

	/*
	 * On arm64 the event with an IPI's reason occurs inside the interrupt handler. The whole
	 * time of the handler is charged to the IPI's reason.
	 */
	at(6000);
	load_irq_enter_line(NULL, 7, &ipi);
	at(6010);
	load_ipi_name_line(NULL, reason);
	at(6420);
	load_irq_leave_line(NULL);
	at(7000);
	load_local_timer_enter_line(NULL);
	at(7009);
	load_local_timer_leave_line(NULL);
	assert_int_equal(load_lines_read(&l), 0);
	assert_int_equal(l.nr_list, 1);
	assert_int_equal(find_line(&l, "Function call interrupts")->ns, 420);
	assert_int_equal(l.list[0].irq, UINT32_MAX);
	assert_int_equal(lines_lost, 1);
	assert_int_equal(lines_lost_ns, 9);

	s = see(8000);
	for (size_t i = 0; i < small_lines.nr; i++)
		sum += small_lines.pairs[i].sum.line.ns;
	assert_int_equal(s.part_ns[LOAD_PART_HARDIRQ], sum + lines_lost_ns);
	blocks_free(&memory);
}

/* The reader names the vectors of x86. An interrupt from before the start has no name. */
TEST_WITH(line_kinds, reset, NULL)
{
	struct load_lines l;

	load_lines_open(&l, &memory, FD_LINES, 1);
	shim_current = &task;
	at(500);
	load_local_timer_leave_line(NULL);
	at(1000);
	load_local_timer_enter_line(NULL);
	at(1200);
	load_local_timer_leave_line(NULL);
	assert_int_equal(load_lines_read(&l), 0);
	assert_int_equal(find_line(&l, "Local timer interrupts")->ns, 200);
	assert_int_equal(find_line(&l, "(began before the measurement)")->ns, 500);
	assert_int_equal(see(2000).part_ns[LOAD_PART_HARDIRQ], 700);
	blocks_free(&memory);
}

static void to(u64 ns, struct task_struct *next)
{
	u64 args[3] = {0, (unsigned long)shim_current, (unsigned long)next};

	at(ns);
	want_tasks = true;
	load_switch(args);
	shim_current = next;
}

/* Ends a window at @ns in the same order of calls as the source `bpf`. */
static struct load_sample turn(struct load_tasks *t, u64 ns)
{
	struct load_sample s;

	load_tasks_note(t);
	task_window_seq++;
	s = see(ns);
	load_tasks_sample(t, 0, &s);
	assert_int_equal(load_tasks_read(t, task_window_seq - 1), 0);
	return s;
}

static u64 time_of(const struct load_tasks *t, const struct task_struct *of)
{
	for (size_t i = 0; i < t->nr_list; i++)
		if (t->list[i].pid == (u32)of->pid)
			return t->list[i].ns;
	return 0;
}

TEST_WITH(tasks_of_a_window, reset, NULL)
{
	struct load_tasks t;

	load_tasks_open(&t, &memory, FD_EVEN, FD_ODD, &task_now, 1);
	to(1000, &task);
	irq(1500, 1600);
	to(3000, &other);
	/* The time of the running task until the end of the window is counted exactly once. */
	turn(&t, 4000);
	assert_int_equal(time_of(&t, &task), 1900);
	assert_int_equal(time_of(&t, &other), 1000);
	assert_string_equal(t.list[0].comm, "work");
	turn(&t, 9000);
	assert_int_equal(time_of(&t, &other), 5000);
	assert_int_equal(time_of(&t, &task), 0);
	to(9500, &ksoftirqd);
	to(9600, &other);
	to(9700, &idle);
	turn(&t, 12000);
	assert_int_equal(time_of(&t, &other), 500 + 100);
	assert_int_equal(time_of(&t, &ksoftirqd), 100);
	turn(&t, 13000);
	assert_int_equal(t.nr_list, 0);
	blocks_free(&memory);
}

/* A task that leaves the core and is not runnable is counted as sleeping. */
TEST_WITH(sleeps_and_parent, reset, NULL)
{
	struct task_struct parent = {.tgid = 40};
	struct load_tasks t;

	load_tasks_open(&t, &memory, FD_EVEN, FD_ODD, &task_now, 1);
	other.real_parent = &parent;
	for (int i = 0; i < 3; i++) {
		to(1000 + 100 * i, &other);
		other.state = i > 0;
		to(1050 + 100 * i, &idle);
	}
	other.state = 0;
	other.real_parent = NULL;
	turn(&t, 2000);
	assert_int_equal(t.nr_list, 1);
	assert_int_equal(t.list[0].count, 3);
	assert_int_equal(t.list[0].sleeps, 2);
	assert_int_equal(t.list[0].parent, 40);
	blocks_free(&memory);
}

/* A core without a context switch still runs the task that ran at the start. */
TEST_WITH(tasks_without_a_switch, reset, NULL)
{
	struct bpf_iter__task walk = {.task = &task};
	struct load_sample s = {.part_ns[LOAD_PART_TASK] = 5000};
	struct load_tasks t;

	load_tasks_open(&t, &memory, FD_EVEN, FD_ODD, &task_now, 1);
	task.on_cpu = 1;
	want_tasks = true;
	load_seed(&walk);
	task.on_cpu = 0;
	load_tasks_note(&t);
	load_tasks_sample(&t, 0, &s);
	assert_int_equal(load_tasks_read(&t, task_window_seq), 0);
	assert_int_equal(time_of(&t, &task), 5000);
	blocks_free(&memory);
}

TEST_WITH(tasks_without_room, reset, NULL)
{
	static struct task_struct many[ROOM + 2];
	struct load_tasks t;

	load_tasks_open(&t, &memory, FD_EVEN, FD_ODD, &task_now, 1);
	for (int i = 0; i < ROOM + 2; i++) {
		many[i].pid = 100 + i;
		to(1000 * (i + 1), &many[i]);
	}
	to(1000 * (ROOM + 3), &idle);
	turn(&t, 1000 * (ROOM + 3));
	assert_int_equal(t.nr_list, ROOM + 1);
	assert_int_equal(time_of(&t, &many[0]), 1000);
	assert_int_equal(time_of(&t, &many[ROOM]), 0);
	assert_string_equal(t.list[0].comm, "(no room)");
	assert_int_equal(t.list[0].ns, 2000);
	blocks_free(&memory);
}

static u64 sum_of(const struct load_tasks *t)
{
	u64 sum = 0;

	for (size_t i = 0; i < t->nr_list; i++)
		sum += t->list[i].ns;
	return sum;
}

/* Run time between the switch to the next map and the sample is counted in exactly one window. */
TEST_WITH(tasks_at_the_end, reset, NULL)
{
	struct load_tasks t;
	struct load_sample s;

	load_tasks_open(&t, &memory, FD_EVEN, FD_ODD, &task_now, 1);
	to(1000, &task);
	to(2000, &idle);
	load_tasks_note(&t);
	task_window_seq++;
	to(2100, &other);
	to(2150, &idle);
	s = see(2200);
	load_tasks_sample(&t, 0, &s);
	assert_int_equal(load_tasks_read(&t, task_window_seq - 1), 0);
	assert_int_equal(sum_of(&t), 1050);
	assert_int_equal(time_of(&t, &task), 1000);
	assert_string_equal(t.list[1].comm, "(at the end)");
	/*
	 * The map of the new window has 1,050 ns of the task `other`. The previous window already
	 * counted 50 ns of this time.
	 */
	to(3000, &other);
	to(4000, &idle);
	turn(&t, 5000);
	assert_int_equal(time_of(&t, &other), 1000);
	assert_int_equal(sum_of(&t), 1000);

	/* The BPF programs switch to the map of the next window while a task runs. */
	to(5100, &task);
	load_tasks_note(&t);
	task_window_seq++;
	to(5200, &other);
	s = see(5260);
	load_tasks_sample(&t, 0, &s);
	assert_int_equal(load_tasks_read(&t, task_window_seq - 1), 0);
	assert_int_equal(sum_of(&t), 160);
	to(6000, &idle);
	turn(&t, 7000);
	assert_int_equal(sum_of(&t), 740);
	assert_int_equal(time_of(&t, &other), 740);
	blocks_free(&memory);
}

/* With random switches, interrupts and windows each task has its simulated time. */
TEST_WITH(tasks_at_random, reset, NULL)
{
	struct task_struct *const some[] = {&idle, &task, &other, &ksoftirqd};
	u64 truth[4] = {0}, seen[4] = {0}, now = 0, before = 0;
	struct load_tasks t;

	load_tasks_open(&t, &memory, FD_EVEN, FD_ODD, &task_now, 1);
	srandom(18);
	for (int step = 0, runs = 0; step < 20000; step++) {
		u64 ns = 1 + random() % 2000;

		now += ns;
		truth[runs] += ns;
		if (random() % 8 == 0) {
			struct load_sample s = turn(&t, now);
			u64 sum = 0, all = s.part_ns[LOAD_PART_TASK] +
					   s.part_ns[LOAD_PART_KSOFTIRQD];

			for (size_t i = 0; i < t.nr_list; i++)
				sum += t.list[i].ns;
			assert_int_equal(sum, all - before);
			before = all;
			for (int i = 1; i < 4; i++)
				seen[i] += time_of(&t, some[i]);
		} else if (random() % 4 == 0 && runs) {
			irq(now, now + 10);
			now += 10;
		} else {
			runs = random() % 4;
			to(now, some[runs]);
		}
	}
	turn(&t, now);
	for (int i = 1; i < 4; i++)
		assert_int_equal(seen[i] + time_of(&t, some[i]), truth[i]);
	blocks_free(&memory);
}

TEST_MAIN()
