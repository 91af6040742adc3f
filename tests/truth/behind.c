/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A hog and its victim. */
#include "behind.h"

#include "base/clock.h"
#include "crew.h"
#include "truth.h"

static void hog_run(void *shared)
{
	struct behind *b = shared;

	for (int i = 0; i < b->rounds; i++) {
		truth_sleep_until(b->begin_ns + i * b->period_ns);
		b->stamp[i].wake_ns = clock_mono_ns();
		crew_wake(&b->word);
		b->stamp[i].woken_ns = clock_mono_ns();
		truth_burn(b->burn_ns[i]);
		b->stamp[i].sleep_ns = clock_mono_ns();
	}
}

static void victim_run(void *shared)
{
	struct behind *b = shared;

	for (int i = 0; i < b->rounds; i++) {
		crew_wait(&b->word, i + 1);
		b->stamp[i].run_ns = clock_mono_ns();
	}
}

struct behind *behind_make(void)
{
	return crew_share(sizeof(struct behind));
}

void behind_start(struct behind *b)
{
	struct crew_task hog = {.cgroup = b->hog, .cpu = b->cpu, .priority = 20, .run = hog_run};
	struct crew_task victim = {
		.cgroup = b->victim, .cpu = b->cpu, .priority = 10, .run = victim_run};

	b->hog_pid = crew_start(&hog, b);
	b->victim_pid = crew_start(&victim, b);
}

void behind_stop(struct behind *b)
{
	crew_stop(b->hog_pid);
	crew_stop(b->victim_pid);
}

uint64_t behind_end_ns(const struct behind *b)
{
	return b->begin_ns + b->rounds * b->period_ns;
}

void behind_victims(const struct behind *b, struct wait_known *waits)
{
	for (int i = 0; i < b->rounds; i++) {
		waits[i].low_ns = b->stamp[i].sleep_ns - b->stamp[i].woken_ns;
		waits[i].high_ns = b->stamp[i].run_ns - b->stamp[i].wake_ns;
	}
}

void behind_hogs(const struct behind *b, struct wait_known *waits)
{
	for (int i = 0; i < b->rounds; i++) {
		waits[i].low_ns = 0;
		waits[i].high_ns = b->stamp[i].wake_ns - (b->begin_ns + i * b->period_ns);
	}
}
