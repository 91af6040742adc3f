/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Source remote: a sender on another core wakes the measured core at an unpredictable time. */
#include "measure/wake/worker.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "host/cpu.h"

/* The sender wakes up this long before the launch, and spins until the launch. */
#define SPIN_NS (60 * NSEC_PER_USEC)
/* Interval at which a sender without requests checks whether its core is online. */
#define LOOK_NS (100 * NSEC_PER_MSEC)
#define LOST_NS (500 * NSEC_PER_MSEC)

static void change_word(atomic_uint *word)
{
	atomic_fetch_add(word, 1);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/*
 * Wakes the sender only if it would sleep beyond the launch time, because a wake-up costs an IPI.
 */
static void ask(struct wake_sender *sender, uint64_t due_ns)
{
	if (atomic_load(&sender->until_ns) > due_ns - SPIN_NS)
		change_word(&sender->asked);
}

static long futex_wait(atomic_uint *word, unsigned int value, uint64_t timeout_ns)
{
	struct timespec timeout = clock_timespec(timeout_ns);

	return syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &timeout, NULL, 0);
}

void wake_remote_point(struct wake_worker *worker, uint64_t distance_ns,
		       struct wake_point *ret_point)
{
	struct wake_kpoint k;
	struct wake_raw raw = wake_raw_of(worker, WAKE_REMOTE, distance_ns, &k);
	unsigned int word = atomic_load(&worker->word);
	uint64_t due_ns;

	wake_arm(worker, 0);
	worker->launch->how = WAKE_HOW_NONE;
	due_ns = clock_mono_ns() + distance_ns;
	atomic_store(&worker->due_ns, due_ns);
	ask(worker->sender, due_ns);
	while (atomic_load(&worker->word) == word)
		if (futex_wait(&worker->word, word, distance_ns + LOST_NS) && errno == ETIMEDOUT)
			break;
	raw.user_ns = clock_mono_ns();
	/* wait until the sender clears due_ns: until then it may write to worker->launch */
	while (atomic_load(&worker->due_ns) && !atomic_load(worker->stop))
		;
	raw.launch_ns = *(volatile __u64 *)&worker->launch->launch_ns;
	raw.how = worker->launch->how;
	wake_disarm(worker, &k);
	wake_judge(&raw, ret_point);
	/* if the sender sent no IPI, the measured core was not idle */
	if (!raw.launch_ns)
		ret_point->reject = WAKE_REJ_BEFORE_IDLE;
}

static struct wake_worker *earliest(struct wake_sender *sender, uint64_t *ret_due)
{
	struct wake_worker *found = NULL;

	array_for_each(w, sender->workers, sender->nr_workers) {
		uint64_t due = atomic_load(&w->due_ns);

		if (!due || !cpuset_has(sender->targets, w->cpu) || (found && due >= *ret_due))
			continue;
		found = w;
		*ret_due = due;
	}
	return found;
}

static void fire(struct wake_worker *w, unsigned int self)
{
	w->launch->sender = self;
	change_word(&w->word);
	w->launch->sender = 0;
	atomic_store(&w->due_ns, 0);
}

/*
 * Sleeps until shortly before the earliest launch, without missing a request. The second call of
 * earliest() finds all requests that were stored before until_ns was set. After that, ask() reads
 * until_ns and wakes the sender.
 */
static void wait_for_due(struct wake_sender *sender)
{
	unsigned int asked = atomic_load(&sender->asked);
	uint64_t due = 0, again = 0, until = clock_mono_ns() + LOOK_NS;
	struct timespec timeout;

	if (earliest(sender, &due) && due - SPIN_NS < until)
		until = due - SPIN_NS;
	atomic_store(&sender->until_ns, until);
	timeout = clock_timespec(until);
	if (!earliest(sender, &again) || again - SPIN_NS >= until)
		syscall(SYS_futex, &sender->asked, FUTEX_WAIT_BITSET_PRIVATE, asked, &timeout, NULL,
			FUTEX_BITSET_MATCH_ANY);
	atomic_store(&sender->until_ns, 0);
}

static void *sender_main(void *arg)
{
	struct wake_sender *sender = arg;
	unsigned int self = syscall(SYS_gettid);

	if (wake_pin(sender->cpu, &sender->err)) {
		atomic_store(sender->run_stop, true);
		return NULL;
	}
	while (!atomic_load(&sender->stop)) {
		uint64_t due = 0, now = clock_mono_ns();
		struct wake_worker *w = earliest(sender, &due);

		/* after CPU hotplug the kernel may have moved the sender to a measured core */
		if (sched_getcpu() != (int)sender->cpu) {
			sender->moved = true;
			atomic_store(sender->run_stop, true);
			break;
		}
		if (!w || due > now + SPIN_NS) {
			if (!atomic_load(&sender->stop))
				wait_for_due(sender);
			continue;
		}
		while (clock_mono_ns() < due)
			;
		fire(w, self);
	}
	return NULL;
}

bool wake_sender_shares_package(const char *root, unsigned int cpu, const struct cpuset *measured)
{
	int package = cpu_package(root, cpu);

	if (package < 0)
		return true;
	cpuset_for_each(other, measured)
		if (cpu_package(root, other) == package || cpu_package(root, other) < 0)
			return true;
	return false;
}

unsigned int wake_sender_choose(const char *root, const struct cpuset *online,
				const struct cpuset *measured)
{
	unsigned int found = CPUSET_MAX;

	cpuset_for_each(cpu, online) {
		if (cpuset_has(measured, cpu))
			continue;
		if (!wake_sender_shares_package(root, cpu, measured))
			return cpu;
		if (found == CPUSET_MAX)
			found = cpu;
	}
	return found;
}

int wake_sender_start(struct wake_sender *sender, struct err *err)
{
	int rc = pthread_create(&sender->thread, NULL, sender_main, sender);

	return rc ? err_set(err, -rc, "cannot start the sender: %s", strerror(rc)) : 0;
}

void wake_sender_stop(struct wake_sender *sender)
{
	atomic_store(&sender->stop, true);
	change_word(&sender->asked);
	pthread_join(sender->thread, NULL);
}
