/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implements the public functions of the run-queue measurement (runq). */
#include "subtick/runq.h"

#include <errno.h>
#include <string.h>

#include "api/api.h"
#include "measure/runq/runq.h"

_Static_assert((int)SUBTICK_RUNQ_WAKEUP == (int)RUNQ_SOURCE_WAKEUP &&
		       (int)SUBTICK_PER_CPU == (int)RUNQ_PER_CPU &&
		       SUBTICK_PER_VCPU - SUBTICK_PER_POD == ROLLUP_VCPU - ROLLUP_POD &&
		       (int)SUBTICK_WHO_EXCLUDED == (int)RUNQ_PARTY_EXCLUDED &&
		       (int)SUBTICK_WHO_QUOTA == (int)RUNQ_PARTY_QUOTA &&
		       SUBTICK_UNKNOWN_NS - SUBTICK_IDLE_EXIT_NS == RUNQ_UNKNOWN &&
		       SUBTICK_THROTTLED_NS - SUBTICK_IDLE_EXIT_NS == RUNQ_THROTTLED,
	       "the public numbers are the internal numbers");

#define ALL_FLAGS \
	(SUBTICK_RUNQ_TREE | SUBTICK_RUNQ_CAUSES | SUBTICK_RUNQ_PRESSURE | SUBTICK_RUNQ_IDLE_STATES | \
	 SUBTICK_RUNQ_AVOIDABLE)

/* Loss counters of disabled options have no row in the list of losses. */
#define AT(member) offsetof(struct runq_window, member)
#define ALWAYS_ROW(member, key, ...) {#key "_total", AT(losses.member), 0},
#define IDLE_ROW(member, key, ...) {#key "_total", AT(member), AT(has_idle_states)},
#define PRESSURE_ROW(member, key, ...) \
	{#key "_total", AT(pressure_losses.member), AT(has_pressure)},
static const struct loss_row losses[] = {RUNQ_LOSSES(ALWAYS_ROW) RUNQ_IDLE_LOSSES(IDLE_ROW)
						 RUNQ_PRESSURE_LOSSES(PRESSURE_ROW)};

API_GET(get_window)
{
	if (key == SUBTICK_SOURCE)
		ret->text = runq_source_names[ret->u64];
	if (key == SUBTICK_HIERARCHY)
		ret->text = runq_hierarchy_names[ret->u64];
}

#define GROUP(key, ...) COLUMN(SUBTICK_GROUPS, struct runq_group, key, __VA_ARGS__)
static const struct api_column group_columns[] = {
	GROUP(SUBTICK_CGROUP_ID, cgroup_id, .zero_unknown = true),
	GROUP(SUBTICK_PID, pid, .zero_unknown = true),
	GROUP(SUBTICK_TGID, tgid, .zero_unknown = true),
	GROUP(SUBTICK_POD_UID, pod_uid),
	GROUP(SUBTICK_CONTAINER_ID, container_id),
	GROUP(SUBTICK_QOS, qos),
	GROUP(SUBTICK_COMM, comm),
};

#define NAMES(key, member) COLUMN(SUBTICK_GROUPS, struct runq_group_names, key, member)
static const struct api_column names_columns[] = {
	NAMES(SUBTICK_NAMESPACE, namespace),
	NAMES(SUBTICK_POD, pod),
	NAMES(SUBTICK_CONTAINER, container),
	NAMES(SUBTICK_IMAGE, image),
};

/*
 * Gets @key of a victim or culprit, unless @ret already has a value. A culprit that is not a group
 * has the values of an empty group.
 */
static void get_party(const struct runq_party *party, enum subtick_key key, struct figure *ret)
{
	static const struct runq_group_names no_names;
	static const struct runq_group no_group;
	const struct runq_group *group = party->group ?: &no_group;

	if (ret->type != FIGURE_NONE || ret->text)
		return;
	api_column(group_columns, ARRAY_SIZE(group_columns), group, SUBTICK_GROUPS, key, ret);
	api_column(names_columns, ARRAY_SIZE(names_columns), group->names ?: &no_names, SUBTICK_GROUPS, key,
		   ret);
	if (key == SUBTICK_WHO)
		figure_u64(ret, party->kind);
	if (key == SUBTICK_WHO || key == SUBTICK_CGROUP)
		ret->text = runq_party_path(party);
}

API_GET(get_group)
{
	const struct runq_window *w = window;
	const struct runq_group_window *g = row;
	unsigned int cause = key - SUBTICK_IDLE_EXIT_NS;

	if (key >= SUBTICK_IDLE_EXIT_NS && key <= SUBTICK_UNKNOWN_NS)
		return figure_u64(ret, w->causes_known >> cause & 1 ? g->cause_ns[cause] : UINT64_MAX);
	if (key == SUBTICK_CPU)
		return figure_u64(ret, w->per == RUNQ_PER_CPU && g->party.group ? g->party.group->cpu
										: UINT64_MAX);
	if ((key >= SUBTICK_AVOIDABLE_NS && key <= SUBTICK_EXCLUDED_NS && !w->has_avoidable) ||
	    (key == SUBTICK_MAX_NS && !g->count))
		figure_unavailable(ret);
	get_party(&g->party, key, ret);
}

API_GET(get_pressure)
{
	const struct runq_pressed *p = row;

	if (key == SUBTICK_WAITING_NS)
		figure_u64(ret, runq_pressure_sum(p->times.waiting_ns));
	if (key == SUBTICK_STALLED_NS)
		figure_u64(ret, runq_pressure_sum(p->times.stalled_ns));
	get_party(&(struct runq_party){RUNQ_PARTY_GROUP, p->group}, key, ret);
}

API_GET(get_blame)
{
	const struct runq_blame *b = row;

	get_party(list == SUBTICK_BLAME ? &b->victim : &b->culprit, key, ret);
}

API_GET(get_idle_state)
{
	const struct runq_idle_state *s = row;

	if (key == SUBTICK_STATE)
		ret->text = s->name;
	get_party(&s->party, key, ret);
}

API_GET(get_long_wait)
{
	const struct runq_long_wait *wait = row;
	bool culprit = list == SUBTICK_LONG_WAITS_BY;

	if (culprit && key == SUBTICK_TGID)
		figure_u64(ret, UINT64_MAX);
	get_party(culprit ? &wait->culprit : &wait->victim, key, ret);
}

#define WINDOW(key, member)	COLUMN(SUBTICK_WINDOW, struct runq_window, key, member)
#define WAITS(key, member)	COLUMN(SUBTICK_GROUPS, struct runq_group_window, key, member)
#define BLAME(list, key, member) COLUMN(list, struct runq_blame, key, member)
#define PRESSED(key, member)	COLUMN(SUBTICK_PRESSURE, struct runq_pressed, key, member)
#define PRESSED_CAUSE(key, cause)                                                     \
	PRESSED(SUBTICK_WAITING_##key##_NS, times.waiting_ns[RUNQ_PRESSURE_##cause]), \
	PRESSED(SUBTICK_STALLED_##key##_NS, times.stalled_ns[RUNQ_PRESSURE_##cause])
#define STATE(key, member)     COLUMN(SUBTICK_IDLE_STATES, struct runq_idle_state, key, member)
#define LONG_WAIT(key, member) COLUMN(SUBTICK_LONG_WAITS, struct runq_long_wait, key, member)
#define LONG_WAIT_BY(key, ...) COLUMN(SUBTICK_LONG_WAITS_BY, struct runq_long_wait, key, __VA_ARGS__)

static const struct api_column columns[] = {
	WINDOW(SUBTICK_WINDOW_NS, window_ns),
	WINDOW(SUBTICK_TIME_UNIX_NS, time_unix_ns),
	WINDOW(SUBTICK_SOURCE, source),
	WINDOW(SUBTICK_HIERARCHY, hierarchy),
	WINDOW(SUBTICK_SAMPLE_RATIO, sample_ratio),
	WINDOW(SUBTICK_SCHEDSTAT_RATIO, schedstat_ratio),
	WAITS(SUBTICK_ENDED, ended),
	WAITS(SUBTICK_COUNT, count),
	WAITS(SUBTICK_SUM_NS, sum_ns),
	WAITS(SUBTICK_AVG_NS, avg_ns),
	WAITS(SUBTICK_MAX_NS, max_ns),
	WAITS(SUBTICK_COUNT_STDERR_RATIO, count_stderr_ratio),
	WAITS(SUBTICK_SUM_STDERR_RATIO, sum_stderr_ratio),
	WAITS(SUBTICK_AVOIDABLE_NS, avoidable_ns),
	WAITS(SUBTICK_AVOIDABLE_MOST_NS, avoidable_most_ns),
	WAITS(SUBTICK_EXCLUDED_NS, excluded_ns),
	BLAME(SUBTICK_BLAME, SUBTICK_WAIT_NS, wait_ns),
	BLAME(SUBTICK_BLAME, SUBTICK_COUNT, count),
	BLAME(SUBTICK_BLAME_BY, SUBTICK_WAIT_NS, wait_ns),
	BLAME(SUBTICK_BLAME_BY, SUBTICK_COUNT, count),
	PRESSED_CAUSE(CONTENTION, CONTENTION),
	PRESSED_CAUSE(KERNEL_THREAD, KTHREAD),
	PRESSED_CAUSE(IDLE_EXIT, IDLE),
	PRESSED_CAUSE(QUOTA, QUOTA),
	PRESSED(SUBTICK_PSI_WAITING_NS, psi_waiting_ns),
	PRESSED(SUBTICK_PSI_STALLED_NS, psi_stalled_ns),
	STATE(SUBTICK_STATE, index),
	STATE(SUBTICK_CLAIMED_NS, claimed_ns),
	STATE(SUBTICK_COUNT, count),
	STATE(SUBTICK_WAIT_NS, wait_ns),
	LONG_WAIT(SUBTICK_CPU, cpu),
	LONG_WAIT(SUBTICK_PID, pid),
	LONG_WAIT(SUBTICK_TGID, tgid),
	LONG_WAIT(SUBTICK_COMM, comm),
	LONG_WAIT(SUBTICK_WAIT_NS, wait_ns),
	LONG_WAIT(SUBTICK_END_NS, end_ns),
	/*
	 * Culprits of a long wait: the task that ran before the waiting task, and the group that
	 * ran longest during the wait.
	 */
	LONG_WAIT_BY(SUBTICK_CPU, cpu),
	LONG_WAIT_BY(SUBTICK_PID, prev_pid),
	LONG_WAIT_BY(SUBTICK_COMM, prev_comm),
	LONG_WAIT_BY(SUBTICK_WAIT_NS, culprit_ns, .zero_unknown = true),
	LONG_WAIT_BY(SUBTICK_END_NS, end_ns),
};

#define LIST(...) API_LIST(struct runq_window, __VA_ARGS__)
static const struct api_list lists[] = {
	{SUBTICK_WINDOW, get_window, 0, 0, 0},
	LIST(SUBTICK_GROUPS, groups, nr_groups, get_group),
	LIST(SUBTICK_BLAME, blame, nr_blame, get_blame),
	LIST(SUBTICK_BLAME_BY, blame, nr_blame, get_blame),
	LIST(SUBTICK_PRESSURE, pressed, nr_pressed, get_pressure),
	LIST(SUBTICK_IDLE_STATES, idle_states, nr_idle_states, get_idle_state),
	LIST(SUBTICK_LONG_WAITS, long_waits, nr_long_waits, get_long_wait),
	LIST(SUBTICK_LONG_WAITS_BY, long_waits, nr_long_waits, get_long_wait),
};

static int open_meter(const void *opts, struct meter **ret_meter, struct err *err)
{
	return runq_open(opts, ret_meter, err);
}

static const void *window_of(const struct meter *meter)
{
	return runq_window(meter);
}

static const struct api_view view = API_VIEW(open_meter, window_of);

/* Checks that none of the @nr strings of @list is NULL. */
static int check_list(const char *const *list, size_t nr, const char *what, struct err *err)
{
	for (size_t i = 0; i < nr; i++)
		if (!list || !list[i])
			return err_set(err, -EINVAL, "%s %zu is NULL", what, i);
	return 0;
}

static int convert_rules(const struct subtick_runq_opts *from, struct runq_rules *rules,
			 struct err *err)
{
	int rc = check_list(from->rules, from->nr_rules, "rule", err);

	for (size_t i = 0; i < from->nr_rules && !rc; i++) {
		const char *rule = from->rules[i];

		rc = rule[0] == '+' || rule[0] == '-'
			     ? runq_rules_add(rules, rule[0] == '+', rule + 1, err)
			     : err_set(err, -EINVAL, "a rule begins with + or -");
		if (rc)
			err_prefix(err, "rule \"%s\"", rule);
	}
	return rc;
}

static int convert_opts(const struct subtick_runq_opts *from, struct runq_opts *to, struct err *err)
{
	bool named = from->nr_cgroups || from->depth || from->per;
	int rc;

	if (from->source > SUBTICK_RUNQ_WAKEUP || from->hierarchy > RUNQ_HIERARCHY_V2 ||
	    from->per > SUBTICK_PER_VCPU || from->flags & ~(uint32_t)ALL_FLAGS || from->reserved)
		return err_set(err, -EINVAL,
			       "unknown value in flags, source, hierarchy, per or reserved");
	rc = check_list(from->cgroups, from->nr_cgroups, "cgroup", err);
	if (rc)
		return rc;
	if (from->nr_le > RUNQ_NR_LE || (from->nr_le && !from->le_ns))
		return err_set(err, -EINVAL, "le_ns is NULL, or nr_le is above %d", RUNQ_NR_LE);
	*to = (struct runq_opts){
		.source = from->source,
		.hierarchy = from->hierarchy,
		.cgroups = from->cgroups,
		.nr_cgroups = from->nr_cgroups,
		/*
		 * If no cgroups are selected or merged, every cgroup is a group even without the
		 * flag.
		 */
		.tree = from->flags & SUBTICK_RUNQ_TREE && named,
		.nr_le = from->nr_le,
		.sample_ratio = from->sample_ratio,
		.depth = from->depth,
		.pressure = from->flags & SUBTICK_RUNQ_PRESSURE,
		.idle_states = from->flags & SUBTICK_RUNQ_IDLE_STATES,
		.avoidable = from->flags & SUBTICK_RUNQ_AVOIDABLE,
		.blame = from->blame,
		.blame_rows = from->blame,
		.causes = from->flags & SUBTICK_RUNQ_CAUSES || from->blame,
		.threshold_ns = from->threshold_ns,
	};
	if (from->nr_le)
		memcpy(to->le_ns, from->le_ns, from->nr_le * sizeof(*to->le_ns));
	runq_opts_per(to, from->per);
	return api_cpus(from->cpus, &to->cpus, err);
}

int subtick_runq_open(struct subtick **ret, const struct subtick_runq_opts *opts)
{
	struct err *err = api_err();
	struct subtick_runq_opts own;
	struct runq_opts runq;
	struct subtick *ctx;
	int rc = api_copy_opts(ret, &own, sizeof(own), opts, API_OPTS_LEAST(own, threshold_ns), err);

	if (!rc)
		rc = convert_opts(&own, &runq, err);
	if (rc)
		return rc;
	ctx = api_new(&view, err);
	if (!ctx)
		return -ENOMEM;
	rc = convert_rules(&own, &ctx->rules, err);
	runq.rules = ctx->rules.nr ? &ctx->rules : NULL;
	if (!rc)
		rc = runq_opts_check(&runq, err);
	rc = api_open(ctx, rc, &runq, ret, err);
	if (rc)
		opt_plain(err);
	return rc;
}
