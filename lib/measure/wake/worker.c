/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pins a thread to its core, arms a launch there and copies the stamps of the programs. */
#include "measure/wake/worker.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>

int wake_pin(unsigned int cpu, struct err *err)
{
	struct sched_param priority = {.sched_priority = 1};
	cpu_set_t *one = CPU_ALLOC(cpu + 1);
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	int rc = 0;

	if (!one)
		return err_set(err, -ENOMEM, "out of memory");
	CPU_ZERO_S(size, one);
	CPU_SET_S(cpu, size, one);
	if (sched_setaffinity(0, size, one))
		rc = err_set(err, -errno, "cannot run on CPU %u: %s", cpu, strerror(errno));
	CPU_FREE(one);
	prctl(PR_SET_TIMERSLACK, 1UL);
	/* So that no other task runs between wake-up and user code; best effort. */
	sched_setscheduler(0, SCHED_FIFO, &priority);
	return rc;
}

void wake_arm(struct wake_worker *worker, uint64_t launch_ns)
{
	volatile __u64 *launch = &worker->launch->launch_ns;

	*launch = 0;
	/* The BPF programs that could interrupt this run on the same core: program order is enough. */
	atomic_signal_fence(memory_order_seq_cst);
	memset(&worker->slot->point, 0, sizeof(worker->slot->point));
	atomic_signal_fence(memory_order_seq_cst);
	*launch = launch_ns;
}

void wake_disarm(struct wake_worker *worker, struct wake_kpoint *ret_point)
{
	volatile __u64 *launch = &worker->launch->launch_ns;

	*launch = 0;
	atomic_signal_fence(memory_order_seq_cst);
	memcpy(ret_point, &worker->slot->point, sizeof(*ret_point));
}
