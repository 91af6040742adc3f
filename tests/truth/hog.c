/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A task that occupies a core (the hog), and a task that waits for that core (the victim). */
#include "hog.h"

#include "base/clock.h"
#include "pinned.h"
#include "truth.h"

static void hog_run(void *shared)
{
	struct hog *b = shared;

	for (int i = 0; i < b->rounds; i++) {
		truth_sleep_until(b->begin_ns + i * b->period_ns);
		b->stamp[i].wake_ns = clock_mono_ns();
		pinned_wake(&b->word);
		b->stamp[i].woken_ns = clock_mono_ns();
		truth_burn(b->burn_ns[i]);
		b->stamp[i].sleep_ns = clock_mono_ns();
	}
}

static void victim_run(void *shared)
{
	struct hog *b = shared;

	for (int i = 0; i < b->rounds; i++) {
		pinned_wait(&b->word, i + 1);
		b->stamp[i].run_ns = clock_mono_ns();
	}
}

struct hog *hog_make(void)
{
	return pinned_share(sizeof(struct hog));
}

void hog_start(struct hog *b)
{
	struct pinned_task hog = {.cgroup = b->hog, .cpu = b->cpu, .priority = 20, .run = hog_run};
	struct pinned_task victim = {
		.cgroup = b->victim, .cpu = b->cpu, .priority = 10, .run = victim_run};

	b->hog_pid = pinned_start(&hog, b);
	b->victim_pid = pinned_start(&victim, b);
}

void hog_stop(struct hog *b)
{
	pinned_stop(b->hog_pid);
	pinned_stop(b->victim_pid);
}

uint64_t hog_end_ns(const struct hog *b)
{
	return b->begin_ns + b->rounds * b->period_ns;
}

void hog_victim_waits(const struct hog *b, struct wait_known *waits)
{
	for (int i = 0; i < b->rounds; i++) {
		waits[i].low_ns = b->stamp[i].sleep_ns - b->stamp[i].woken_ns;
		waits[i].high_ns = b->stamp[i].run_ns - b->stamp[i].wake_ns;
	}
}

void hog_own_waits(const struct hog *b, struct wait_known *waits)
{
	for (int i = 0; i < b->rounds; i++) {
		waits[i].low_ns = 0;
		waits[i].high_ns = b->stamp[i].wake_ns - (b->begin_ns + i * b->period_ns);
	}
}
