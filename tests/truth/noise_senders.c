/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests that a known number of wake-ups from one core to another causes the same number of IPIs
 * with the right sender.
 */
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "gen/loads.h"
#include "live.h"
#include "measure/noise/noise.h"
#include "truth.h"

#define SENDER	  0
#define RECEIVER  1
#define NR_CPUS	  2
#define WAKE_UPS  100
#define PERIOD_NS (2 * NSEC_PER_MSEC)
/* Allowed number of IPIs that the kernel sends itself, for example for an RCU grace period. */
#define OTHERS 5
#define MORE_WINDOWS 3

/* Runs a task that repeatedly sleeps until it is woken. The core of the sleeping task is idle. */
static void sleeper(void *shared, void *arg)
{
	volatile uint64_t *woken = shared;
	uint64_t count;

	while (read(*(int *)arg, &count, sizeof(count)) == sizeof(count))
		++*woken;
}

/*
 * Returns the number of IPIs from CPU @from to the receiver. If @name is not NULL, only IPIs that
 * call function @name count.
 */
static uint64_t sum_of(const struct noise_sender *list, size_t nr, unsigned int from, const char *name)
{
	uint64_t count = 0;

	for (size_t i = 0; i < nr; i++)
		if (list[i].cpu == RECEIVER && list[i].from_cpu == from &&
		    (!name || !strcmp(list[i].name, name)))
			count += list[i].count;
	return count;
}

static uint64_t sent(const struct noise_window *w, unsigned int from, const char *name)
{
	return sum_of(w->senders.list, w->senders.nr, from, name);
}

static uint64_t called(const struct noise_window *w, unsigned int from, const char *function)
{
	return sum_of(w->calls.list, w->calls.nr, from, function);
}

static uint64_t received(const struct noise_window *w, const char *name)
{
	uint64_t count = 0;

	for (size_t i = 0; i < w->nr_sources; i++)
		if (w->sources[i].cpu == RECEIVER && !strcmp(w->sources[i].name, name))
			count += w->sources[i].count;
	return count;
}

static const struct noise_window *end(struct meter *meter)
{
	struct err err = {0};

	if (meter->ops->read(meter, &err))
		live_fail_all("%s", err.what);
	return noise_window(meter);
}

static const char *const names[] = {"Rescheduling interrupts", "Function call interrupts"};

/*
 * Sums up IPIs until as many were received as sent, in @w (unless NULL) and in at most MORE_WINDOWS
 * windows after @w. An IPI that is sent just before the end of a window is received in the next
 * window.
 */
static void sum_up(struct meter *meter, const struct noise_window *w, uint64_t all_sent[2],
		   uint64_t all_received[2])
{
	for (int nr = 0; nr <= MORE_WINDOWS; nr++) {
		bool equal = true;

		if (nr || !w) {
			truth_settle();
			w = end(meter);
		}
		for (int i = 0; i < 2; i++) {
			all_sent[i] += sent(w, SENDER, names[i]) + sent(w, RECEIVER, names[i]);
			all_received[i] += received(w, names[i]);
			equal = equal && all_sent[i] == all_received[i];
		}
		if (equal)
			break;
	}
}

/* Checks that every received IPI has one sender. */
static void check_received(struct meter *meter, const struct noise_window *w)
{
	uint64_t all_sent[2] = {0}, all_received[2] = {0};

	sum_up(meter, w, all_sent, all_received);
	for (int i = 0; i < 2; i++)
		live_ok(all_sent[i] == all_received[i], "%s: %llu sent, %llu received", names[i],
			(unsigned long long)all_sent[i], (unsigned long long)all_received[i]);
}

/* Checks that each function-call IPI calls a function, and that no sender and no call is lost. */
static void check_calls(const struct noise_window *w)
{
	uint64_t calls = called(w, SENDER, NULL),
		 ipis = sent(w, SENDER, "Function call interrupts");

	live_ok(calls >= ipis, "%llu functions called by %llu IPIs", (unsigned long long)calls,
		(unsigned long long)ipis);
	live_ok(!w->noise_losses.sends && !w->noise_losses.calls, "%llu senders and %llu calls lost",
		(unsigned long long)w->noise_losses.sends,
		(unsigned long long)w->noise_losses.calls);
}

static void check_wake_ups(const struct noise_window *w, uint64_t woken)
{
	uint64_t from_sender = sent(w, SENDER, NULL), from_self = sent(w, RECEIVER, NULL);

	live_ok(woken == WAKE_UPS, "woken %llu times, %d were asked for", (unsigned long long)woken,
		WAKE_UPS);
	live_ok(from_sender >= WAKE_UPS && from_sender <= WAKE_UPS + OTHERS,
		"%llu IPIs from CPU %d to CPU %d", (unsigned long long)from_sender, SENDER, RECEIVER);
	live_ok(from_self <= OTHERS, "%llu from CPU %d to itself", (unsigned long long)from_self,
		RECEIVER);
	check_calls(w);
}

static void start(struct meter *meter)
{
	struct err err = {0};

	if (meter->ops->start(meter, &err))
		live_fail_all("%s", err.what);
}

static void wake_ups(struct meter *meter)
{
	struct gen_child child = {0};
	const struct noise_window *w;
	const uint64_t one = 1;
	struct err err = {0};
	uint64_t begin, all_sent[2] = {0}, all_received[2] = {0};
	int fd;

	fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	if (fd < 0 || gen_child_start(&child, RECEIVER, 64, sleeper, &fd, &err))
		live_fail_all("%s", err.what);
	begin = clock_mono_ns() + 100 * NSEC_PER_MSEC;
	truth_sleep_until(begin - 60 * NSEC_PER_MSEC);
	truth_settle();
	start(meter);
	/*
	 * subtick reads the counters of senders and of receivers one after the other. Begin the
	 * window at a read without an IPI in between, which would be counted on one side only.
	 */
	sum_up(meter, NULL, all_sent, all_received);
	for (int i = 0; i < WAKE_UPS; i++) {
		truth_sleep_until(begin + i * PERIOD_NS);
		if (write(fd, &one, sizeof(one)) != sizeof(one))
			live_fail_all("cannot wake the sleeper");
	}
	truth_sleep_until(begin + (WAKE_UPS + 5) * PERIOD_NS);
	truth_settle();
	w = end(meter);
	check_wake_ups(w, *(volatile uint64_t *)child.shared);
	check_received(meter, w);
	gen_child_stop(&child);
	close(fd);
}

int main(void)
{
	struct noise_opts opts = {.senders = true};
	struct meter *meter;
	struct err err = {0};

	truth_begin(NR_CPUS);
	if (noise_open(&opts, &meter, &err))
		live_fail_all("%s", err.what);
	wake_ups(meter);
	meter->ops->close(meter);
	return live_done();
}
