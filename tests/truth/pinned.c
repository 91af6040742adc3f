/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Starts tasks that are pinned to a core, and wakes them. */
#include "pinned.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroups.h"
#include "live.h"

void *pinned_share(size_t size)
{
	void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (shared == MAP_FAILED)
		live_fail_all("no memory: %s", strerror(errno));
	return shared;
}

static int enter_place(const struct pinned_task *task)
{
	struct sched_param param = {.sched_priority = task->priority > 0 ? task->priority : 0};
	int policy = task->priority > 0	   ? SCHED_FIFO
		     : task->priority == 0 ? SCHED_OTHER
					   : SCHED_BATCH;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* With a timer slack of 1 ns the kernel does not delay timers to combine wake-ups. */
	prctl(PR_SET_TIMERSLACK, 1UL);
	live_pin(task->cpu);
	if (task->cgroup && !cgroups_enter(task->cgroup, 0))
		return -errno;
	/*
	 * Locks all pages in memory, because a page fault during a busy loop would add unplanned
	 * time.
	 */
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return -errno;
	return sched_setscheduler(0, policy, &param) ? -errno : 0;
}

pid_t pinned_start(const struct pinned_task *task, void *shared)
{
	int ready[2], rc = -EIO;
	pid_t pid;

	fflush(stdout);
	if (pipe(ready))
		live_fail_all("no pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		rc = enter_place(task);
		if (write(ready[1], &rc, sizeof(rc)) != sizeof(rc) || rc)
			_exit(1);
		task->run(shared);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (pid < 0 || read(ready[0], &rc, sizeof(rc)) != sizeof(rc) || rc)
		live_fail_all("cannot start a task in %s: %s",
			      task->cgroup ? task->cgroup : "place", strerror(-rc));
	close(ready[0]);
	/* Waits until the task is asleep, before the measurement begins. */
	live_sleep_ms(5);
	return pid;
}

void pinned_stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void pinned_wait(uint32_t *word, uint32_t value)
{
	uint32_t is;

	while ((int32_t)((is = __atomic_load_n(word, __ATOMIC_SEQ_CST)) - value) < 0)
		syscall(SYS_futex, word, FUTEX_WAIT, is, NULL, NULL, 0);
}

void pinned_wake(uint32_t *word)
{
	__atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

struct live_schedstat pinned_schedstat(pid_t pid)
{
	struct live_schedstat stat;

	if (!live_schedstat(pid, &stat))
		live_fail_all("cannot read schedstat of %d", pid);
	return stat;
}
