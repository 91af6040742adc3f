/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs scripts on the simulated core. A script is a list of events: "NS WORD [NUMBER …]; NS WORD
 * …". NS is the time of the event in ns.
 */
#ifndef SUBTICK_TESTS_UNIT_LOAD_SCRIPT_H
#define SUBTICK_TESTS_UNIT_LOAD_SCRIPT_H

#include "load_core.h"

struct script_word {
	const char *word;
	void (*run)(u64 ns, const u64 *arg); /* @arg: the numbers after the word, else 0 */
	struct task_struct *task; /* task to switch to; if it is set, @run is not called */
	bool preempts;
};

static u64 script_start; /* time of the script's start, added to the time of each event */
static bool script_preempts; /* true while a task preempts another task */
static void (*script_switch)(u64 ns, struct task_struct *next) = to_task;

/* The array script_words of a test program ends with {0}. */
#define play(script) play_words(script_words, script)
static inline void play_words(const struct script_word *words, const char *script)
{
	char *copy = strdup(script), *rest = copy, *event;

	while ((event = strsep(&rest, ";"))) {
		const struct script_word *known = words;
		unsigned long long ns, arg[3] = {0};
		char word[16];

		if (sscanf(event, "%llu %15s %llu %llu %llu", &ns, word, &arg[0], &arg[1], &arg[2]) < 2)
			fail_msg("no event: %s", event);
		while (known->word && strcmp(known->word, word))
			known++;
		script_preempts = known->preempts;
		if (known->task)
			script_switch(script_start + ns, known->task);
		else if (known->run)
			known->run(script_start + ns, (const u64[]){arg[0], arg[1], arg[2]});
		else
			fail_msg("no word: %s", event);
	}
	free(copy);
}

static inline void script_idle(u64 ns, const u64 *arg)
{
	go_idle(ns, arg[0]);
}

static inline void script_exit(u64 ns, const u64 *arg)
{
	leave_idle(ns);
}

static inline void script_irq_begins(u64 ns, const u64 *arg)
{
	at(ns);
	load_irq_enter(NULL, 0, &one_handler);
}

static inline void script_irq_ends(u64 ns, const u64 *arg)
{
	at(ns);
	load_irq_leave(NULL);
}

static inline void script_irq(u64 ns, const u64 *arg)
{
	irq(ns, script_start + arg[0]);
}

static inline void script_softirq_begins(u64 ns, const u64 *arg)
{
	at(ns);
	load_softirq_entry(NULL, arg[0]);
}

static inline void script_softirq_ends(u64 ns, const u64 *arg)
{
	at(ns);
	want_noise ? load_softirq_exit_noise(NULL, arg[0]) : load_softirq_exit(NULL, arg[0]);
}

static inline void script_softirq(u64 ns, const u64 *arg)
{
	script_softirq_begins(ns, arg);
	script_softirq_ends(script_start + arg[1], arg);
}

/*
 * Words of scripts: "idle STATE", "exit", "irq END", "softirq VECTOR END". Words for only the start
 * (+) or the end (-): "irq+", "irq-", "softirq+ VECTOR", "softirq- VECTOR".
 */
#define LOAD_WORDS                                                                                 \
	{"idle", .run = script_idle}, {"exit", .run = script_exit}, {"irq", .run = script_irq},    \
		{"irq+", .run = script_irq_begins}, {"irq-", .run = script_irq_ends},             \
		{"softirq", .run = script_softirq}, {"softirq+", .run = script_softirq_begins}, \
		{"softirq-", .run = script_softirq_ends}, {"swapper", .task = &idle},            \
		{"task", .task = &task}, {"other", .task = &other}, {"ksoftirqd", .task = &ksoftirqd}

#endif
