/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick load: how busy each core is, and with what. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "measure/load/load.h"
#include "measure/load/sources.h"
#include "opts.h"
#include "run.h"
#include "sys/perf.h"

enum {
	ID_SOURCE = OPT_OWN,
	ID_EVENT,
};

struct load_cmd {
	struct load_opts load;
	struct opts_interval interval;
};

#define SOURCES                                                                             \
	"auto, bpf, bpf-pmu, perf-tsc, perf-calibrated, procidle, schedstat, taskclock or " \
	"procstat"

static const char *const source_words[] = {"auto",	"bpf",	     "bpf-pmu",
					   "perf-tsc",	"perf-calibrated", "procidle",
					   "schedstat", "taskclock",   "procstat",
					   NULL};

static const struct opt options[] = {
	{"cpu", 'C', "LIST", "only these CPUs, such as 0,2-5",
	 OPT_STORE(struct load_cmd, load.cpus)},
	{"source", 's', "NAME", SOURCES, .id = ID_SOURCE, .words = source_words},
	{"compare", 0, NULL, "every source that works here, side by side",
	 OPT_STORE(struct load_cmd, load.compare)},
	{"softirq", 0, NULL, "also time in softirqs by vector",
	 OPT_STORE(struct load_cmd, load.softirq)},
	{"irq", 0, NULL, "also time in interrupts by line and device",
	 OPT_STORE(struct load_cmd, load.irq)},
	{"tasks", 0, "NUMBER", "also the tasks with most time of each core: so many of each",
	 OPT_NUMBER(struct load_cmd, load.top, 1, 1000)},
	{"bursts", 0, NULL, "also the distribution of busy bursts",
	 OPT_STORE(struct load_cmd, load.bursts)},
	{"histogram", 'H', NULL, "with --bursts: draw the distribution", .kind = OPT_ALL},
	{"event", 0, "NAME", "counter sources: cycles, ref-cycles or a raw code such as r11",
	 .id = ID_EVENT},
	{0},
};

static bool source_known(const char *name)
{
	if (!strcmp(name, "auto"))
		return true;
	for (const struct load_source_ops *const *ops = load_sources(); *ops; ops++)
		if (!strcmp((*ops)->name, name))
			return true;
	return false;
}

/* An event that nothing would count: better refused than ignored. */
static bool event_used(struct opts_state *state, const struct load_opts *load)
{
	const struct load_source_ops *const *ops = load_sources();

	while (*ops && load->source && strcmp((*ops)->name, load->source))
		ops++;
	if (!load->event || load->compare || (load->source && *ops && (*ops)->counts))
		return true;
	opts_usage(state,
		   "--event %s: source %s counts no events; use --source bpf-pmu, perf-tsc or "
		   "perf-calibrated",
		   load->event, load->source ? load->source : "auto");
	return false;
}

static bool parse_option(struct opts_state *state, int id, void *arg)
{
	struct load_cmd *cmd = arg;
	struct load_opts *load = &cmd->load;
	struct perf_event event;

	switch (id) {
	case OPT_OPERAND:
		return opts_interval(state, state->value, &cmd->interval);
	case ID_SOURCE:
		load->source = state->value;
		if (source_known(load->source))
			return true;
		opts_usage(state, "--source %s: expected " SOURCES, state->value);
		return false;
	default:
		load->event = state->value;
		if (!perf_event_find(NULL, load->event, &event, NULL))
			return true;
		opts_usage(state,
			   "--event %s: expected cycles, ref-cycles or a raw code such as r11",
			   state->value);
		return false;
	}
}

int cmd_load(int argc, char **argv)
{
	struct load_cmd cmd = {.interval = {.interval_ns = NSEC_PER_SEC, .count = 1}};
	struct view view;
	struct opts_state state = {
		.command = "load",
		.synopsis = "load [options] [interval [count]]",
		.summary =
			"How busy each core is, and with what. Default: one window of one second.",
		.own = options,
		.view = &view,
	};
	struct meter *meter;
	struct err err = {0};
	int code;

	code = opts_walk(&state, argc, argv, parse_option, &cmd);
	if (code != OPTS_PARSED)
		return code;
	if (!opts_cpus_exist(&state, &cmd.load.cpus) || !event_used(&state, &cmd.load))
		return EXIT_USAGE;
	if (opts_given(&state, "histogram") && !cmd.load.bursts)
		return opts_usage(&state, "--histogram draws the bursts: it needs --bursts");
	run_signals();
	run_avoid(&cmd.load.cpus);
	if (load_open(&cmd.load, &meter, &err))
		return opts_fail("load", &err);
	return run_meter("load", meter, &cmd.interval, &view);
}
