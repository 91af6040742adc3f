/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of `subtick try`: settings, effects, causes, blame, rounds, verdicts. */
#include "present/try.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "present/runq.h"

#define OTHERS_NAMED 4 /* maximum number of other cgroups that a verdict names */

static const char *const arm_names[] = {[TRY_ORIGINAL] = "original", [TRY_CHANGED] = "changed"};
static const char *const figure_names[] = {
	[TRY_WAIT] = "wait", [TRY_P99] = "p99", [TRY_CPU] = "cpu"};

static const struct column_spec setting_columns[] = {
	COLUMN(struct try_setting, M_TRY_SETTING, name),
	COLUMN(struct try_setting, M_TRY_WAS, was),
	COLUMN(struct try_setting, M_TRY_NOW, now),
};
static const struct table_spec settings_table = TABLE("settings", NULL, setting_columns);

struct effect_row {
	const char *cgroup, *figure;
	bool watched;
	int8_t found;
	struct paired effect, control;
};

#define EFFECT(id, member, ...) COLUMN(struct effect_row, id, member, __VA_ARGS__)
#define DATA_ONLY		.flags = COLUMN_DATA_ONLY
static const struct column_spec effect_columns[] = {
	EFFECT(M_CGROUP, cgroup),
	EFFECT(M_TRY_WATCHED, watched, DATA_ONLY),
	EFFECT(M_TRY_FIGURE, figure),
	EFFECT(M_TRY_ORIGINAL_NS, effect.original),
	EFFECT(M_TRY_CHANGED_NS, effect.changed),
	EFFECT(M_TRY_EFFECT_RATIO, effect.ratio),
	EFFECT(M_TRY_LOW_RATIO, effect.low),
	EFFECT(M_TRY_HIGH_RATIO, effect.high),
	EFFECT(M_TRY_P_RATIO, effect.p),
	EFFECT(M_TRY_FOUND, found),
	EFFECT(M_TRY_DETECTABLE_RATIO, effect.detectable),
	EFFECT(M_TRY_USED, effect.nr, DATA_ONLY),
	EFFECT(M_TRY_CONTROL_RATIO, control.ratio),
	EFFECT(M_TRY_CONTROL_RATIO, control.low, .key = "control_low_ratio", DATA_ONLY),
	EFFECT(M_TRY_CONTROL_RATIO, control.high, .key = "control_high_ratio", DATA_ONLY),
};
static const struct table_spec effects_table = TABLE("effects", "effects", effect_columns);

/* True if @figure changes enough to report the cgroup without option --watch. */
static bool is_affected(const struct try_group *group, enum try_figure figure)
{
	return group->effect[figure].found && fabs(group->effect[figure].ratio) > TRY_OTHER_RATIO;
}

static bool is_listed(const struct try_group *group)
{
	return group->watched || is_affected(group, TRY_WAIT) || is_affected(group, TRY_P99) ||
	       is_affected(group, TRY_CPU);
}

static void add_effects(const struct try_window *w, struct report *report)
{
	struct table *table = columns_table(report, &effects_table, 0);

	array_for_each(group, w->groups.groups, w->groups.nr)
		for (int f = 0; f < TRY_NR_FIGURES; f++) {
			const struct paired *effect = &group->effect[f];
			int8_t found = effect->nr < PAIRED_MIN ? -1 : effect->found;

			if (group->watched || is_affected(group, f))
				columns_row(table,
					    &(struct effect_row){group->path, figure_names[f],
								 group->watched, found, *effect,
								 group->control[f]});
		}
}

struct cause_row {
	const char *cgroup, *arm;
	uint64_t sum_ns, ns[RUNQ_NR_CAUSES];
};

#define CAUSE(id, cause) COLUMN(struct cause_row, id, ns[cause]),
static const struct column_spec cause_columns[] = {
	COLUMN(struct cause_row, M_CGROUP, cgroup), COLUMN(struct cause_row, M_TRY_DURING, arm),
	COLUMN(struct cause_row, M_SUM_NS, sum_ns), RUNQ_CAUSE_COLUMNS(CAUSE)};
static const struct table_spec causes_table =
	TABLE("causes", "what the watched cgroups waited for, all rounds", cause_columns);

static void add_causes(const struct try_window *w, struct report *report)
{
	struct table *table = columns_table(report, &causes_table, 0);

	for (size_t i = 0; i < w->groups.nr_watched * TRY_NR_ARMS; i++) {
		const struct try_group *group = &w->groups.groups[i / TRY_NR_ARMS];
		int arm = i % TRY_NR_ARMS;
		struct cause_row row = {.cgroup = group->path, .arm = arm_names[arm]};

		for (int cause = 0; cause < RUNQ_NR_CAUSES; cause++) {
			bool known = w->runq->causes_known >> cause & 1;

			row.ns[cause] = known ? group->cause_ns[arm][cause] : UINT64_MAX;
			row.sum_ns += group->cause_ns[arm][cause];
		}
		columns_row(table, &row);
	}
}

static const struct column_spec blame_columns[] = {
	COLUMN(struct try_blame, M_VICTIM, victim),
	COLUMN(struct try_blame, M_CULPRIT, culprit),
	COLUMN(struct try_blame, M_WAIT_NS, wait_ns[TRY_ORIGINAL], .key = "original_wait_ns",
	       .title = "original"),
	COLUMN(struct try_blame, M_WAIT_NS, wait_ns[TRY_CHANGED], .key = "changed_wait_ns",
	       .title = "changed"),
};
static const struct table_spec blame_table =
	TABLE("blame", "who had the core while they waited, all rounds", blame_columns);

struct pair_row {
	uint32_t pair;
	const char *cgroup, *first;
	uint64_t count[TRY_NR_ARMS];
	double value[TRY_NR_FIGURES][TRY_NR_ARMS];
};

#define PAIR(id, member, ...) COLUMN(struct pair_row, id, member, __VA_ARGS__)
#define PAIR_FIGURE(figure, name)                                                                \
	PAIR(M_TRY_ORIGINAL_NS, value[figure][TRY_ORIGINAL], .key = "original_" name "_ns",      \
	     .title = "original " name),                                                         \
		PAIR(M_TRY_CHANGED_NS, value[figure][TRY_CHANGED], .key = "changed_" name "_ns", \
		     .title = "changed " name)
static const struct column_spec pair_columns[] = {
	PAIR(M_TRY_PAIR, pair),
	PAIR(M_CGROUP, cgroup),
	PAIR(M_TRY_FIRST, first),
	PAIR(M_COUNT, count[TRY_ORIGINAL], .key = "original_count", .title = "original count"),
	PAIR(M_COUNT, count[TRY_CHANGED], .key = "changed_count", .title = "changed count"),
	PAIR_FIGURE(TRY_WAIT, "wait"),
	PAIR_FIGURE(TRY_P99, "p99"),
	PAIR_FIGURE(TRY_CPU, "cpu"),
};
static const struct table_spec pairs_table =
	TABLE("pairs", "every pair of rounds", pair_columns, .text_hidden = true);

static void add_pairs(const struct try_window *w, struct report *report)
{
	struct table *table = columns_table(report, &pairs_table, 0);

	for (unsigned int pair = 0; pair < w->nr_pairs; pair++)
		array_for_each(group, w->groups.groups, w->groups.nr) {
			struct pair_row row = {.pair = pair + 1,
					       .cgroup = group->path,
					       .first = arm_names[w->first[pair]]};

			if (!is_listed(group))
				continue;
			memcpy(row.count, group->count[pair], sizeof(row.count));
			for (int f = 0; f < TRY_NR_FIGURES; f++)
				memcpy(row.value[f], group->value[f][pair], sizeof(row.value[f]));
			columns_row(table, &row);
		}
}

/* Formats a percentage as "61 %" or "4.2 %". */
static const char *percent(double ratio, char buf[24])
{
	double value = fabs(ratio) * 100.0;

	snprintf(buf, 24, "%.*f %%", value < 9.95, value);
	return buf;
}

/* Formats an effect as "61 % less (55 to 66 %)". */
static const char *change(const struct paired *effect, const char *less, const char *more,
			  char buf[128])
{
	char size[24], near[24], far[24];
	bool fell = effect->ratio < 0.0;

	percent(effect->ratio, size);
	percent(fell ? effect->high : effect->low, near);
	percent(fell ? effect->low : effect->high, far);
	near[strlen(near) - 2] = '\0';
	snprintf(buf, 128, "%s %s (%s to %s)", size, fell ? less : more, near, far);
	return buf;
}

/* Formats a time with three digits, "14.2 ms". */
static const char *rounded(double ns, char buf[32])
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%.3g", ns);
	duration_format((uint64_t)strtod(digits, NULL), buf, 32);
	return buf;
}

/* Lists affected cgroups as "; /batch gets 4.0 % less CPU time (3.1 to 4.9 %)". */
static void name_others(const struct try_window *w, FILE *out)
{
	unsigned int named = 0;
	char text[128];

	for (size_t i = w->groups.nr_watched; i < w->groups.nr; i++) {
		const struct try_group *group = &w->groups.groups[i];

		if (!is_listed(group) || named++ >= OTHERS_NAMED)
			continue;
		if (is_affected(group, TRY_CPU))
			fprintf(out, "; %s gets %s", group->path,
				change(&group->effect[TRY_CPU], "less CPU time", "more CPU time",
				       text));
		if (is_affected(group, TRY_WAIT))
			fprintf(out, "; %s waits %s", group->path,
				change(&group->effect[TRY_WAIT], "less", "longer", text));
	}
	if (named > OTHERS_NAMED)
		fprintf(out, "; %u more cgroups are affected", named - OTHERS_NAMED);
}

static void conclude(const struct try_group *group, const char *name, FILE *out)
{
	const struct paired *wait = &group->effect[TRY_WAIT], *p99 = &group->effect[TRY_P99];
	char text[128], low[24], high[24], from[32], to[32];

	if (wait->nr < PAIRED_MIN)
		fprintf(out,
			"no verdict on %s: %u pairs of rounds have waits, at least %d are needed",
			group->path, wait->nr, PAIRED_MIN);
	else if (!wait->found)
		fprintf(out,
			"with %s no effect on the waits of %s found (%s%s to %s%s, p %.2g); %s or "
			"more would have been seen",
			name, group->path, wait->low < 0 ? "−" : "", percent(wait->low, low),
			wait->high < 0 ? "−" : "", percent(wait->high, high), wait->p,
			percent(wait->detectable, text));
	else
		fprintf(out, "with %s %s waits %s, p99 %s → %s", name, group->path,
			change(wait, "less", "longer", text), rounded(p99->original, from),
			rounded(p99->changed, to));
}

static void note_control(const struct try_group *group, struct report *report)
{
	const struct paired *control = &group->control[TRY_WAIT];
	char size[24];

	if (control->low > 0.0 || control->high < 0.0)
		report_note(report,
			    "control: original rounds of %s differ from each other by %s: the load "
			    "changed during the experiment; repeat it with more --rounds",
			    group->path, percent(control->ratio, size));
}

static void add_verdicts(const struct try_opts *opts, const struct try_window *w,
			 struct report *report)
{
	char name[512];

	try_name(opts, name, sizeof(name));
	array_for_each(group, w->groups.groups, w->groups.nr_watched) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		if (!out) {
			report->failed = true;
			return;
		}
		conclude(group, name, out);
		if (group == w->groups.groups)
			name_others(w, out);
		if (fclose(out))
			report->failed = true;
		else
			report_note(report, "%s", text);
		free(text);
		note_control(group, report);
	}
}

static void add_notes(const struct try_window *w, struct report *report)
{
	if (!w->groups.usage_mount[0])
		report_note(report,
			    "CPU time is unavailable: no cgroup v1 hierarchy with controller "
			    "cpuacct is mounted");
	if (w->groups.full)
		report_note(report, "only %d cgroups were compared; there are more",
			    TRY_MAX_GROUPS);
	if (w->ended.code)
		report_note(report, "ended early: %s", w->ended.what);
	report_note(report, w->foreign	  ? "all other settings are restored"
			    : w->restored ? "restored"
					  : "not restored: see /run/subtick/restore");
}

struct field_row {
	const char *a, *b;
	uint64_t rounds, planned, each_ns, settle_ns, seed;
	bool restored;
	const char *ended;
};

#define FIELD(id, member, ...) COLUMN(struct field_row, id, member, __VA_ARGS__)
static const struct column_spec field_columns[] = {
	FIELD(M_TRY_A, a, DATA_ONLY),
	FIELD(M_TRY_B, b, DATA_ONLY),
	FIELD(M_TRY_ROUNDS, rounds),
	FIELD(M_TRY_PLANNED, planned),
	FIELD(M_TRY_EACH_NS, each_ns),
	FIELD(M_TRY_SETTLE_NS, settle_ns),
	FIELD(M_TRY_SEED, seed),
	FIELD(M_TRY_RESTORED, restored, DATA_ONLY),
	FIELD(M_TRY_ENDED, ended, DATA_ONLY),
};
static const struct table_spec fields_table = TABLE("", NULL, field_columns);

const struct table_spec *const try_tables[] = {
	&fields_table, &settings_table, &effects_table,	     &causes_table,
	&blame_table,  &pairs_table,	&runq_quality_table, NULL,
};

int try_report(const struct try_opts *opts, const struct try_window *w, struct report **ret_report)
{
	struct report *report = report_begin("try", w->time_unix_ns, w->window_ns,
					     runq_source_names[w->runq->source]);
	struct field_row row = {
		.a = opts->a,
		.b = opts->b,
		.rounds = w->nr_pairs,
		.planned = opts->rounds,
		.each_ns = opts->each_ns,
		.settle_ns = opts->settle_ns,
		.seed = opts->seed,
		.restored = w->restored && !w->foreign,
		.ended = w->ended.code ? w->ended.what : NULL,
	};

	if (!report)
		return -ENOMEM;
	columns_set(report, &fields_table, 0, &row);
	columns_rows(report, &settings_table, opts->settings, opts->nr_settings,
		     sizeof(*opts->settings));
	add_effects(w, report);
	add_causes(w, report);
	columns_rows(report, &blame_table, w->groups.blame, w->groups.nr_blame,
		     sizeof(*w->groups.blame));
	add_pairs(w, report);
	runq_report_quality(w->runq, report);
	add_verdicts(opts, w, report);
	add_notes(w, report);
	return report_finish(report, ret_report);
}
