/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick load: busy time of each core, split by context. */
#include "commands.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "measure/load/load.h"
#include "measure/load/sources.h"
#include "opts.h"
#include "run.h"
#include "present/load.h"
#include "host/perf.h"

struct load_cmd {
	struct load_opts load;
	struct opts_interval interval;
	struct view view;
};

#define SOURCES                                                                             \
	"auto, bpf, bpf-pmu, perf-tsc, perf-calibrated, procidle, schedstat, taskclock or " \
	"procstat"

static const char *const source_words[] = {"auto",	"bpf",	     "bpf-pmu",
					   "perf-tsc",	"perf-calibrated", "procidle",
					   "schedstat", "taskclock",   "procstat",
					   NULL};

static int set_event(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct perf_event event;

	if (perf_event_find(NULL, value, &event, NULL))
		return -EINVAL;
	return opt_text(opt, value, base, err);
}

static const struct opt options[] = {
	{"cpu", 'C', "LIST", "only these CPUs, such as 0,2-5", .parse = opts_cpus,
	 OPT_AT(struct load_cmd, load.cpus)},
	{"source", 's', "NAME", SOURCES, .words = source_words,
	 OPT_STORE(struct load_cmd, load.source)},
	{"compare", 0, NULL, "all sources that work on this machine, side by side",
	 OPT_STORE(struct load_cmd, load.compare)},
	{"softirq", 0, NULL, "also time in softirqs by vector",
	 OPT_STORE(struct load_cmd, load.softirq)},
	{"irq", 0, NULL, "also time in interrupts by line and device",
	 OPT_STORE(struct load_cmd, load.irq)},
	{"tasks", 0, "NUMBER", "also the NUMBER tasks with most time on each core",
	 OPT_NUMBER(struct load_cmd, load.top, 1, 1000)},
	{"cores", 0, NULL,
	 "also how many hyperthreads of each physical core are busy at the same time",
	 OPT_STORE(struct load_cmd, load.cores)},
	{"cgroups", 0, NULL, "with --cores: also which cgroups share a physical core",
	 OPT_STORE(struct load_cmd, load.cgroups)},
	{"by", 0, "LEVEL",
	 "also sums by cpu, core, llc, node or package; text then has no row per CPU",
	 OPT_CHOICE(struct load_cmd, load.by, topology_names)},
	{"bursts", 0, NULL, "also the distribution of busy bursts",
	 OPT_STORE(struct load_cmd, load.bursts)},
	{"histogram", 'H', NULL, "with --bursts: draw the distribution",
	 OPT_STORE(struct load_cmd, view.all)},
	{"event", 0, "NAME", "counter sources: cycles, ref-cycles or a raw code such as r11",
	 .parse = set_event, OPT_AT(struct load_cmd, load.event),
	 .expected = "cycles, ref-cycles or a raw code such as r11"},
	{0},
};

static int check(const struct opts_state *state, void *base, struct err *err)
{
	const struct load_opts *load = &((struct load_cmd *)base)->load;
	const struct load_source_ops *const *ops = load_sources();

	while (*ops && load->source && strcmp((*ops)->name, load->source))
		ops++;
	if (load->event && !load->compare && !(load->source && *ops && (*ops)->counts))
		return err_set(err, -EINVAL,
			       "--event %.80s: source %s counts no events; use --source bpf-pmu, "
			       "perf-tsc or perf-calibrated",
			       load->event, load->source ? load->source : "auto");
	if (opts_given(state, "histogram") && !load->bursts)
		return err_set(err, -EINVAL, "--histogram needs --bursts");
	if (load->cgroups && !load->cores)
		return err_set(err, -EINVAL, "--cgroups needs --cores");
	return 0;
}

int cmd_load(int argc, char **argv)
{
	struct load_cmd cmd = {.interval = {.interval_ns = NSEC_PER_SEC, .count = 1}};
	struct opts_state state = {
		.command = "load",
		.synopsis = "load [options] [interval [count]]",
		.summary = "Busy time of each core, split by context. Default: one window of one "
			   "second.",
		.own = options,
		.view = &cmd.view,
		.tables = load_tables,
		.interval = &cmd.interval,
		.check = check,
	};
	struct meter *meter;
	struct err err = {0};
	int code = opts_walk(&state, argc, argv, &cmd);

	if (code != OPTS_PARSED)
		return code;
	run_signals();
	run_avoid(&cmd.load.cpus);
	if (load_open(&cmd.load, &meter, &err))
		return opts_fail("load", &err);
	return run_meter("load", meter, &cmd.interval, &cmd.view, NULL);
}
