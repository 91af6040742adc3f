/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the checks of `subtick doctor` and judges which commands work. */
#include "doctor/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "report/report.h"
#include "host/bpf.h"
#include "host/file.h"
#include "host/kbtf.h"

#define CHECK_ENTRY(id, name, check, commands) {name, doctor_check_##check, commands},
static const struct {
	const char *name;
	doctor_check *run;
	const char *commands;
} checks[] = {DOCTOR_CHECKS(CHECK_ENTRY)};

#define END	  DOC_NR
/* Checks for `subtick wake`, whose BPF programs do not call bpf_probe_read_kernel(). */
#define WAKE_NEEDS DOC_BTF, DOC_BPF, DOC_EV_SWITCH
#define BPF_NEEDS  WAKE_NEEDS, DOC_BPF_READS

struct doctor_want {
	enum doctor_id id;
	const char *lost;
	/* without a minor feature, the status of the command is still "full" */
	bool minor;
};

/*
 * Requirements of each command. A list of checks ends at 0 (DOC_KERNEL), because no command
 * requires DOC_KERNEL.
 */
static const struct doctor_command {
	const char *name;
	/* required checks: if one fails, the status is "part" or "no" */
	enum doctor_id needs[10];
	/* if a required check fails, one passed check of fallback[] makes the status "part" */
	enum doctor_id fallback[4];
	const char *fallback_what;
	/* if a check of wants[] fails that is not minor, the status is "part" */
	struct doctor_want wants[8];
} command_table[] = {
	{
		.name = "load",
		.needs = {BPF_NEEDS, DOC_EV_IDLE, DOC_EV_IRQ, DOC_EV_SOFTIRQ},
		.fallback = {DOC_PROC_STAT, DOC_PMU},
		.fallback_what =
			"only with --source procstat or a counter source: busy time, no split "
			"by context",
		.wants = {{.id = DOC_EV_VECTORS,
			   .lost = "time in some interrupts is charged to the interrupted context"},
			  {.id = DOC_EV_HOTPLUG, .lost = "CPU hotplug is noticed late"},
			  {.id = DOC_PMU,
			   .lost = "the sources perf-tsc, perf-calibrated and bpf-pmu do not work",
			   .minor = true},
			  {.id = DOC_SCHEDSTAT,
			   .lost = "source schedstat does not work",
			   .minor = true}},
	},
	{
		.name = "runq",
		.needs = {BPF_NEEDS, DOC_EV_WAKEUP},
		.wants = {{.id = DOC_CGROUP, .lost = "cgroups are shown by number, not by path"},
			  {.id = DOC_SCHED_INFO,
			   .lost = "source wakeup replaces sched_info, at a higher cost"},
			  {.id = DOC_BANDWIDTH,
			   .lost = "no cause \"throttled\": this kernel has no CPU quota"}},
	},
	{
		.name = "noise",
		.needs = {BPF_NEEDS, DOC_EV_IDLE, DOC_EV_IRQ, DOC_EV_SOFTIRQ},
		.wants = {{.id = DOC_EV_VECTORS,
			   .lost = "some interrupts have no line, and their time is charged to the "
				   "interrupted context"},
			  {.id = DOC_EV_NMI, .lost = "NMIs are not measured", .minor = true},
			  {.id = DOC_EV_SENDERS, .lost = "--senders does not work"},
			  {.id = DOC_EV_CALLS,
			   .lost = "--senders does not say which functions are called"},
			  {.id = DOC_CGROUP, .lost = "cgroups are shown by number, not by path"}},
	},
	{
		.name = "wake",
		.needs = {WAKE_NEEDS, DOC_EV_IDLE, DOC_EV_IRQ},
		.wants = {{.id = DOC_EV_TIMER, .lost = "the sources timer and passive do not work"},
			  {.id = DOC_EV_IPI,
			   .lost = "source remote takes the launch time at the start of the "
				   "wake-up, not when the IPI is sent"},
			  {.id = DOC_HRTIMERS, .lost = "timers are as coarse as the tick"},
			  {.id = DOC_ETF, .lost = "source nic does not work"}},
	},
	{
		.name = "trace",
		.needs = {BPF_NEEDS, DOC_EV_IDLE, DOC_EV_IRQ, DOC_EV_SOFTIRQ, DOC_EV_WAKEUP},
		.wants =
			{{.id = DOC_EV_VECTORS,
			  .lost = "time in some interrupts is charged to the interrupted context"}},
	},
	{
		.name = "audit",
		.needs = {DOC_PROC_STAT, BPF_NEEDS, DOC_EV_IDLE, DOC_EV_IRQ, DOC_EV_SOFTIRQ},
		.fallback = {DOC_PROC_STAT},
		.fallback_what =
			"only ticks, delays and precision work, without the true load of the core",
		.wants = {{.id = DOC_NET_ADMIN,
			   .lost = "the softirq loads of sources are left out"},
			  {.id = DOC_VETH, .lost = "the softirq loads of sources are left out"},
			  {.id = DOC_NET_NS, .lost = "the softirq loads of sources are left out"},
			  {.id = DOC_RPS, .lost = "the softirq loads of sources are left out"}},
	},
	{
		.name = "crit",
		.needs = {DOC_CRIT_ENGINE, DOC_PRIVILEGES},
		.wants = {{.id = DOC_EV_PREEMPTIRQ, .lost = "--tracepoints does not work"},
			  {.id = DOC_TRACEFS, .lost = "--tracepoints does not work"}},
	},
	{
		.name = "serve",
		.needs = {BPF_NEEDS, DOC_EV_IDLE, DOC_EV_IRQ, DOC_EV_SOFTIRQ},
		.wants = {{.id = DOC_EV_WAKEUP, .lost = "run-queue latency is not measured"},
			  {.id = DOC_EV_TIMER, .lost = "wake latency is not measured"},
			  {.id = DOC_CGROUP, .lost = "cgroups are shown by number, not by path"}},
	},
	{
		.name = "report",
		.needs = {BPF_NEEDS, DOC_EV_IDLE, DOC_EV_IRQ, DOC_EV_SOFTIRQ},
		.fallback = {DOC_PROC_STAT},
		.fallback_what = "only ticks and delays of audit work",
		.wants = {{.id = DOC_EV_WAKEUP, .lost = "run-queue latency is not measured"},
			  {.id = DOC_EV_TIMER, .lost = "wake latency is not measured"},
			  {.id = DOC_CRIT_ENGINE,
			   .lost = "the cost of critical sections is not measured"},
			  {.id = DOC_NET_ADMIN, .lost = "the softirq loads of audit are left out"}},
	},
};

static bool in_build(const char *const *build, const char *commands)
{
	size_t len;

	if (!commands)
		return true;
	for (; *commands; commands += len + strspn(commands + len, " ")) {
		len = strcspn(commands, " ");
		for (const char *const *c = build; *c; c++)
			if (strlen(*c) == len && !strncmp(*c, commands, len))
				return true;
	}
	return false;
}

static int read_stat(struct doctor *d)
{
	struct sys_text stat;
	int rc = procstat_open(&stat, d->root, &d->stat_err);

	if (rc)
		return rc;
	rc = procstat_read(&stat, d->stat, CPUSET_MAX);
	sys_text_close(&stat);
	return rc ? err_set(&d->stat_err, rc, "cannot parse /proc/stat: %s", strerror(-rc)) : 0;
}

static void doctor_gather(struct doctor *d)
{
	const char *machine = d->probe->machine;

	d->x86 = !strcmp(machine, "x86_64") || !strcmp(machine, "i686");
	d->arm64 = !strcmp(machine, "aarch64");
	d->config_rc = kconfig_open(&d->config, d->root, d->probe->release);
	d->caps_rc = caps_read(d->root, &d->caps);
	if (kbtf_open(d->root, &d->btf, &d->btf_err))
		d->btf = NULL;
	d->stat_rc = read_stat(d);
	virt_read(d->root, machine, &d->virt);
	if (sys_read_file(d->root, "/proc/cmdline", d->cmdline, sizeof(d->cmdline)) < 0)
		d->cmdline[0] = '\0';
	if (sys_read_file(d->root,
			  "/sys/devices/system/clocksource/clocksource0/available_clocksource",
			  d->clocksources, sizeof(d->clocksources)) < 0)
		d->clocksources[0] = '\0';
}

struct check_row {
	const char *what, *status, *detail, *fix; /* table cells; each may be NULL */
};

static const struct column_spec check_columns[] = {
	COLUMN(struct check_row, M_CHECK, what),
	COLUMN(struct check_row, M_STATUS, status),
	COLUMN(struct check_row, M_DETAIL, detail),
	COLUMN(struct check_row, M_FIX, fix),
};
static const struct table_spec checks_table = TABLE("checks", NULL, check_columns);

static const struct column_spec command_columns[] = {
	COLUMN(struct check_row, M_COMMAND, what),
	COLUMN(struct check_row, M_STATUS, status),
	COLUMN(struct check_row, M_DETAIL, detail),
	COLUMN(struct check_row, M_FIX, fix),
};
static const struct table_spec commands_table = TABLE("commands", "commands", command_columns);

const struct table_spec *const doctor_tables[] = {&checks_table, &commands_table, NULL};

static void doctor_fill_checks(struct doctor *d, const char *const *build, struct report *report)
{
	static const char *const words[] = {
		[DOCTOR_OK] = "ok",
		[DOCTOR_WARN] = "warn",
		[DOCTOR_NO] = "no",
	};
	struct table *table = columns_table(report, &checks_table, 0);

	for (enum doctor_id id = 0; id < DOC_NR; id++) {
		struct doctor_row *r = &d->rows[id];

		/* All checks run, because the status of commands depends on them. */
		checks[id].run(d, id, r);
		if (in_build(build, checks[id].commands))
			columns_row(table,
				    &(struct check_row){checks[id].name, words[r->status],
							r->detail, r->fix[0] ? r->fix : NULL});
	}
}

/* Finds the first check of @ids that failed, or END. */
static enum doctor_id first_missing(const struct doctor *d, const enum doctor_id *ids, size_t max)
{
	for (size_t i = 0; i < max && ids[i]; i++)
		if (d->rows[ids[i]].status == DOCTOR_NO)
			return ids[i];
	return END;
}

static bool any_present(const struct doctor *d, const enum doctor_id *ids, size_t max)
{
	for (size_t i = 0; i < max && ids[i]; i++)
		if (d->rows[ids[i]].status != DOCTOR_NO)
			return true;
	return false;
}

/* Writes all missing features to @detail. Returns the check to fix first, or END. */
static enum doctor_id wants_missing(const struct doctor *d, const struct doctor_command *c,
				    char *detail, size_t size, bool *ret_whole)
{
	enum doctor_id first = END;
	size_t len = 0;

	*ret_whole = true;
	for (size_t i = 0; i < ARRAY_SIZE(c->wants) && c->wants[i].lost; i++) {
		const struct doctor_want *want = &c->wants[i];

		if (d->rows[want->id].status != DOCTOR_NO)
			continue;
		/* A minor feature is the first to fix only if all other features are present. */
		if (first == END || (*ret_whole && !want->minor))
			first = want->id;
		if (!want->minor)
			*ret_whole = false;
		if (len < size && !(len && strstr(detail, want->lost)))
			len += snprintf(detail + len, size - len, "%s%s (%s)", len ? "; " : "",
					want->lost, checks[want->id].name);
	}
	return first;
}

/* Judges a command: "full", "part" or "no". @ret_fix is the check to fix first, or END. */
static const char *command_judge(const struct doctor *d, const struct doctor_command *c,
				 char *detail, size_t size, enum doctor_id *ret_fix)
{
	enum doctor_id missing = first_missing(d, c->needs, ARRAY_SIZE(c->needs));
	bool whole;

	detail[0] = '\0';
	if (missing == END) {
		missing = wants_missing(d, c, detail, size, &whole);
		*ret_fix = whole ? END : missing;
		return whole ? "full" : "part";
	}
	*ret_fix = missing;
	if (any_present(d, c->fallback, ARRAY_SIZE(c->fallback))) {
		snprintf(detail, size, "%s; the rest needs %s: %s", c->fallback_what,
			 checks[missing].name, d->rows[missing].detail);
		return "part";
	}
	snprintf(detail, size, "needs %s: %s", checks[missing].name, d->rows[missing].detail);
	return "no";
}

static void doctor_fill_commands(const struct doctor *d, const char *const *build,
				 struct report *report)
{
	struct table *table = columns_table(report, &commands_table, 0);
	char text[640];

	for (size_t i = 0; i < ARRAY_SIZE(command_table); i++) {
		const struct doctor_command *c = &command_table[i];
		enum doctor_id fix_id;
		struct check_row row = {.what = c->name};

		if (!in_build(build, c->name))
			continue;
		row.status = command_judge(d, c, text, sizeof(text), &fix_id);
		row.detail = text[0] ? text : NULL;
		row.fix = fix_id != END && d->rows[fix_id].fix[0] ? d->rows[fix_id].fix : NULL;
		columns_row(table, &row);
	}
}

int doctor_report(const struct doctor_opts *opts, struct report **ret_report, struct err *err)
{
	struct doctor *d = calloc(1, sizeof(*d));
	struct report *report = report_begin("doctor", clock_unix_ns(), 0, NULL);
	struct probe probe;
	int rc = -ENOMEM;

	if (!d || !report)
		goto out;
	if (!opts->probe)
		probe_run(&probe);
	d->root = opts->root;
	d->probe = opts->probe ? opts->probe : &probe;
	doctor_gather(d);
	doctor_fill_checks(d, opts->commands, report);
	doctor_fill_commands(d, opts->commands, report);
	rc = report_finish(report, ret_report);
	report = NULL;
	kconfig_close(&d->config);
	kbtf_close(d->btf);
out:
	free(d);
	report_free(report);
	return rc ? err_set(err, rc, "out of memory") : 0;
}

const char *doctor_command_status(const struct report *report, const char *command)
{
	const struct table *table = report_find(report, "commands");

	for (size_t row = 0; table && row < table->nr_rows; row++)
		if (!strcmp(table_str(table, row, "command"), command))
			return table_str(table, row, "status");
	return NULL;
}
