/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick trace: records every context change of a core until a timeout or an event. */
#include "commands.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "measure/trace/trace.h"
#include "opts.h"
#include "output.h"
#include "present/trace.h"
#include "run.h"
#include "tracefile/tracefile.h"
#include "view/view.h"

/* Maximum numbers of slices and of waits in the HTML page, which limit the page to about 3 MB. */
#define MAX_SLICES 200000
#define MAX_WAITS  200

struct trace_cmd {
	struct trace_opts trace;
	uint64_t for_ns;
	uint32_t top;
	const char *file;
};

/* Words that option --on accepts, in the order of events[]; the last word is a percentile. */
static const char *const event_words[] = {"wait=", "wake=", "noise=", "p99=", NULL};
static const enum trace_event events[] = {TRACE_EVENT_WAIT, TRACE_EVENT_WAKE, TRACE_EVENT_NOISE};

static bool parse_time(const char *value, struct trace_opts *trace)
{
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		size_t len = strlen(event_words[i]);

		if (strncmp(value, event_words[i], len) ||
		    !duration_parse(value + len, 1, 3600 * NSEC_PER_SEC, &trace->on_ns))
			continue;
		trace->on = events[i];
		return true;
	}
	return false;
}

/* Parses an event such as "p99=5ms:/web". Refuses p100: the event "wait" checks the maximum. */
static bool parse_percentile(const char *value, struct trace_opts *trace)
{
	double percent;
	const char *limit = opts_percentile(value, &percent), *colon = limit ? strchr(limit, ':') : NULL;
	char time[32];

	if (!colon || !colon[1] || colon - limit >= (long)sizeof(time))
		return false;
	snprintf(time, sizeof(time), "%.*s", (int)(colon - limit), limit);
	trace->above_ppm = (uint32_t)lround((100.0 - percent) * 1e4);
	trace->on = TRACE_EVENT_PERCENTILE;
	trace->on_cgroup = colon + 1;
	return trace->above_ppm && duration_parse(time, 1, 3600 * NSEC_PER_SEC, &trace->on_ns);
}

static int set_on(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct trace_opts *trace = &((struct trace_cmd *)base)->trace;

	return parse_time(value, trace) || parse_percentile(value, trace) ? 0 : -EINVAL;
}

static tracefile_writer *writer_of(const char *path)
{
	static const struct {
		const char *end;
		tracefile_writer *write;
	} writers[] = {
		{".html", tracefile_html},
		{".json", tracefile_chrome},
		{".jsonl", tracefile_lines},
		{".pftrace", tracefile_perfetto},
	};
	const char *dot = strrchr(path, '.') ?: "";

	array_for_each(writer, writers, ARRAY_SIZE(writers))
		if (!strcmp(dot, writer->end))
			return writer->write;
	return NULL;
}

static int set_file(const struct opt *opt, const char *value, void *base, struct err *err)
{
	return writer_of(value) ? opt_text(opt, value, base, err) : -EINVAL;
}

static const struct opt options[] = {
	{"cpu", 'C', "LIST", "only these CPUs, such as 0,2-5", .parse = opts_cpus,
	 OPT_AT(struct trace_cmd, trace.cpus)},
	{"for", 0, "TIME", "record for TIME; default 1s, with --on until the event",
	 OPT_DURATION(struct trace_cmd, for_ns, 1e6, 86400e9)},
	{"on", 0, "EVENT", "record until wait=TIME, wake=TIME, noise=TIME or pN=TIME:CGROUP",
	 .parse = set_on, .words = event_words,
	 .expected = "wait=TIME, wake=TIME, noise=TIME or pN=TIME:CGROUP, such as wait=5ms or "
		     "p99=5ms:/system.slice"},
	{"over", 0, "TIME", "with --on pN: percentile of the waits of the last TIME; default 1s",
	 OPT_DURATION(struct trace_cmd, trace.over_ns, 100e6, 3600e9)},
	{"after", 0, "TIME", "with --on: record for at most TIME after the event; default 100ms",
	 OPT_DURATION(struct trace_cmd, trace.after_ns, 0, 3600e9)},
	{"frequency", 0, NULL, "also when the kernel sets the frequency of a CPU",
	 OPT_STORE(struct trace_cmd, trace.frequency)},
	{"tick", 0, NULL, "also mark the timer interrupts that are the tick",
	 OPT_STORE(struct trace_cmd, trace.tick)},
	{"edges", 0, "NUMBER",
	 "edges in the ring of each core; default 65536, less on large machines",
	 OPT_NUMBER(struct trace_cmd, trace.ring_edges, 64, 1 << 20)},
	{"top", 0, "NUMBER", "the NUMBER longest waits and tasks; default 10, 0: all",
	 OPT_NUMBER(struct trace_cmd, top, 0, 1000000000)},
	{"output", 'o', "FILE",
	 "also write a file: .html page, .json Chrome, .pftrace Perfetto, .jsonl lines",
	 .parse = set_file, OPT_AT(struct trace_cmd, file),
	 .expected = "a name that ends in .html, .json, .jsonl or .pftrace"},
	{0},
};

static int write_file(const struct trace_window *window, const char *path, struct err *err)
{
	char machine[512];
	struct tracefile file = {.window = window,
				 .machine = machine,
				 .max_slices = MAX_SLICES,
				 .max_waits = MAX_WAITS};
	struct output_file output;

	output_machine(machine, sizeof(machine));
	return output_open(&output, path, err)
		       ?: output_close(&output, writer_of(path)(output.out, &file), err);
}

static int record(const struct trace_cmd *cmd, struct trace *trace, struct err *err)
{
	uint64_t now = clock_mono_ns(), end = cmd->for_ns ? now + cmd->for_ns : UINT64_MAX;
	uint64_t step = trace_poll_ns(&cmd->trace);
	bool done = false;
	int rc = 0;

	while (!rc && !done && now < end) {
		if (run_wait(step < end - now ? now + step : end))
			break;
		rc = trace_poll(trace, &done, err);
		now = clock_mono_ns();
	}
	return rc;
}

static int run(const struct trace_cmd *cmd, struct view *view)
{
	const struct trace_window *window;
	struct report *report;
	struct trace *trace = NULL;
	struct err err = {0};
	int rc = output_check(cmd->file, &err) ?: trace_open(&cmd->trace, &trace, &err);

	if (!rc) {
		trace_start(trace);
		rc = record(cmd, trace, &err) ?: trace_stop(trace, &window, &err);
	}
	if (!rc && cmd->file)
		rc = write_file(window, cmd->file, &err);
	if (!rc && (rc = trace_report(window, cmd->top, &report)))
		err_set(&err, rc, "out of memory");
	if (!rc)
		output_report(view, report, &err);
	trace_close(trace);
	return err.code ? opts_fail("trace", &err) : EXIT_SUCCESS;
}

int cmd_trace(int argc, char **argv)
{
	struct trace_cmd cmd = {
		.trace = {.after_ns = 100 * NSEC_PER_MSEC, .over_ns = NSEC_PER_SEC}, .top = 10};
	struct view view;
	struct opts_state state = {
		.command = "trace",
		.synopsis = "trace [options]",
		.summary = "Every context change of each core, for a time or until an event.",
		.own = options,
		.view = &view,
		.tables = trace_tables,
	};
	int code = opts_walk(&state, argc, argv, &cmd);

	if (code != OPTS_PARSED)
		return code;
	if (opts_given(&state, "over") && cmd.trace.on != TRACE_EVENT_PERCENTILE)
		return opts_usage(&state, "--over needs --on pN=TIME:CGROUP");
	if (!cmd.for_ns && !cmd.trace.on)
		cmd.for_ns = NSEC_PER_SEC;
	run_signals();
	run_avoid(&cmd.trace.cpus);
	return run(&cmd, &view);
}
