/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public functions of runq. */
#include "subtick/runq.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "api/api.h"
#include "measure/runq/runq.h"
#include "host/bpf.h"

_Static_assert((int)SUBTICK_RUNQ_WAKEUP == (int)RUNQ_SOURCE_WAKEUP &&
		       (int)SUBTICK_PER_CPU == (int)RUNQ_PER_CPU &&
		       SUBTICK_PER_VCPU - SUBTICK_PER_POD == ROLLUP_VCPU - ROLLUP_POD &&
		       (int)SUBTICK_PARTY_EXCLUDED == (int)RUNQ_PARTY_EXCLUDED &&
		       (int)SUBTICK_PARTY_QUOTA == (int)RUNQ_PARTY_QUOTA &&
		       SUBTICK_UNKNOWN_NS - SUBTICK_IDLE_EXIT_NS == RUNQ_UNKNOWN &&
		       SUBTICK_THROTTLED_NS - SUBTICK_IDLE_EXIT_NS == RUNQ_THROTTLED,
	       "the public numbers are the internal numbers");

#define ALL_FLAGS \
	(SUBTICK_RUNQ_TREE | SUBTICK_RUNQ_CAUSES | SUBTICK_RUNQ_PRESSURE | SUBTICK_RUNQ_IDLE_STATES | \
	 SUBTICK_RUNQ_AVOIDABLE)

/* Losses. Counters of disabled options have no row. */
#define AT(member) offsetof(struct runq_window, member)
#define ALWAYS_ROW(member, key, ...) {#key "_total", AT(losses.member)},
#define IDLE_ROW(member, key, ...) {#key "_total", AT(member)},
#define PRESSURE_ROW(member, key, ...) {#key "_total", AT(pressure_losses.member)},
static const struct loss_row always_losses[] = {RUNQ_LOSSES(ALWAYS_ROW)};
static const struct loss_row idle_losses[] = {RUNQ_IDLE_LOSSES(IDLE_ROW)};
static const struct loss_row pressure_losses[] = {RUNQ_PRESSURE_LOSSES(PRESSURE_ROW)};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static const void *window_of(const struct meter *meter)
{
	return runq_window(meter);
}

static size_t rows(const void *window, enum subtick_list list)
{
	const struct runq_window *w = window;

	switch (list) {
	case SUBTICK_WINDOW: return 1;
	case SUBTICK_LOSSES:
		return NR(always_losses) + (w->has_idle_states ? NR(idle_losses) : 0) +
		       (w->has_pressure ? NR(pressure_losses) : 0);
	case SUBTICK_GROUPS: return w->nr_groups;
	case SUBTICK_BLAME:
	case SUBTICK_BLAME_BY: return w->nr_blame;
	case SUBTICK_PRESSURE: return w->nr_pressed;
	case SUBTICK_IDLE_STATES: return w->nr_idle_states;
	case SUBTICK_LONG_WAITS:
	case SUBTICK_LONG_WAITS_BY: return w->nr_long_waits;
	default: return 0;
	}
}

static void get_loss(const struct runq_window *w, size_t row, enum subtick_key key,
		     struct figure *ret)
{
	if (row < NR(always_losses))
		return figure_loss(w, &always_losses[row], key, ret);
	row -= NR(always_losses);
	if (w->has_idle_states && row < NR(idle_losses))
		return figure_loss(w, &idle_losses[row], key, ret);
	row -= w->has_idle_states ? NR(idle_losses) : 0;
	figure_loss(w, &pressure_losses[row], key, ret);
}

static void get_window(const struct runq_window *w, enum subtick_key key, struct figure *ret)
{
	switch (key) {
	case SUBTICK_WINDOW_NS: return figure_u64(ret, w->window_ns);
	case SUBTICK_TIME_UNIX_NS: return figure_u64(ret, w->time_unix_ns);
	case SUBTICK_SOURCE:
		ret->text = runq_source_names[w->source];
		return figure_u64(ret, w->source);
	case SUBTICK_HIERARCHY:
		ret->text = runq_hierarchy_names[w->hierarchy];
		return figure_u64(ret, w->hierarchy);
	case SUBTICK_SAMPLE_RATIO: return figure_real(ret, w->sample_ratio);
	case SUBTICK_SCHEDSTAT_RATIO: return figure_real(ret, w->schedstat_ratio);
	default: return;
	}
}

static void get_party(const struct runq_party *party, enum subtick_key key, struct figure *ret)
{
	static const struct runq_group_names no_names;
	const struct runq_group *group = party->group;
	const struct runq_group_names *names = group && group->names ? group->names : &no_names;

	if (key == SUBTICK_PARTY)
		figure_u64(ret, party->kind);
	if (key == SUBTICK_PARTY || key == SUBTICK_CGROUP)
		ret->text = runq_party_path(party);
	switch (key) {
	case SUBTICK_CGROUP_ID:
		return figure_u64(ret, group && group->cgroup_id ? group->cgroup_id : UINT64_MAX);
	case SUBTICK_PID: return figure_u64(ret, group && group->pid ? group->pid : UINT64_MAX);
	case SUBTICK_TGID: return figure_u64(ret, group && group->tgid ? group->tgid : UINT64_MAX);
	case SUBTICK_POD_UID: ret->text = group ? group->pod_uid : NULL; return;
	case SUBTICK_CONTAINER_ID: ret->text = group ? group->container_id : NULL; return;
	case SUBTICK_QOS: ret->text = group ? group->qos : NULL; return;
	case SUBTICK_COMM: ret->text = group ? group->comm : NULL; return;
	case SUBTICK_NAMESPACE: ret->text = names->namespace; return;
	case SUBTICK_POD: ret->text = names->pod; return;
	case SUBTICK_CONTAINER: ret->text = names->container; return;
	case SUBTICK_IMAGE: ret->text = names->image; return;
	default: return;
	}
}

static void get_group(const struct runq_window *w, const struct runq_group_window *g,
		      enum subtick_key key, struct figure *ret)
{
	if (key >= SUBTICK_IDLE_EXIT_NS && key <= SUBTICK_UNKNOWN_NS) {
		unsigned int cause = key - SUBTICK_IDLE_EXIT_NS;

		return figure_u64(ret, w->causes_known >> cause & 1 ? g->cause_ns[cause] : UINT64_MAX);
	}
	switch (key) {
	case SUBTICK_CPU:
		return figure_u64(ret, w->per == RUNQ_PER_CPU && g->party.group ? g->party.group->cpu
										: UINT64_MAX);
	case SUBTICK_ENDED: return figure_u64(ret, g->ended);
	case SUBTICK_COUNT: return figure_u64(ret, g->count);
	case SUBTICK_SUM_NS: return figure_u64(ret, g->sum_ns);
	case SUBTICK_AVG_NS: return figure_real(ret, g->avg_ns);
	case SUBTICK_MAX_NS: return figure_u64(ret, g->count ? g->max_ns : UINT64_MAX);
	case SUBTICK_COUNT_STDERR_RATIO: return figure_real(ret, g->count_stderr_ratio);
	case SUBTICK_SUM_STDERR_RATIO: return figure_real(ret, g->sum_stderr_ratio);
	case SUBTICK_AVOIDABLE_NS:
		return figure_u64(ret, w->has_avoidable ? g->avoidable_ns : UINT64_MAX);
	case SUBTICK_AVOIDABLE_MOST_NS:
		return figure_u64(ret, w->has_avoidable ? g->avoidable_most_ns : UINT64_MAX);
	case SUBTICK_EXCLUDED_NS:
		return figure_u64(ret, w->has_avoidable ? g->excluded_ns : UINT64_MAX);
	default: return get_party(&g->party, key, ret);
	}
}

static void get_pressure(const struct runq_pressed *p, enum subtick_key key, struct figure *ret)
{
	static const enum runq_pressure_cause causes[] = {
		RUNQ_PRESSURE_CONTENTION, RUNQ_PRESSURE_KTHREAD, RUNQ_PRESSURE_IDLE,
		RUNQ_PRESSURE_QUOTA};

	if (key > SUBTICK_WAITING_NS && key < SUBTICK_STALLED_NS)
		return figure_u64(ret, p->times.waiting_ns[causes[key - SUBTICK_WAITING_NS - 1]]);
	if (key > SUBTICK_STALLED_NS && key < SUBTICK_PSI_WAITING_NS)
		return figure_u64(ret, p->times.stalled_ns[causes[key - SUBTICK_STALLED_NS - 1]]);
	switch (key) {
	case SUBTICK_WAITING_NS: return figure_u64(ret, runq_pressure_sum(p->times.waiting_ns));
	case SUBTICK_STALLED_NS: return figure_u64(ret, runq_pressure_sum(p->times.stalled_ns));
	case SUBTICK_PSI_WAITING_NS: return figure_u64(ret, p->psi_waiting_ns);
	case SUBTICK_PSI_STALLED_NS: return figure_u64(ret, p->psi_stalled_ns);
	default:
		return get_party(&(struct runq_party){RUNQ_PARTY_GROUP, p->group}, key, ret);
	}
}

static void get_blame(const struct runq_blame *b, bool culprit, enum subtick_key key,
		      struct figure *ret)
{
	switch (key) {
	case SUBTICK_WAIT_NS: return figure_u64(ret, b->wait_ns);
	case SUBTICK_COUNT: return figure_u64(ret, b->count);
	default: return get_party(culprit ? &b->culprit : &b->victim, key, ret);
	}
}

static void get_idle_state(const struct runq_idle_state *s, enum subtick_key key, struct figure *ret)
{
	switch (key) {
	case SUBTICK_STATE: ret->text = s->name; return figure_u64(ret, s->index);
	case SUBTICK_CLAIMED_NS: return figure_u64(ret, s->claimed_ns);
	case SUBTICK_COUNT: return figure_u64(ret, s->count);
	case SUBTICK_WAIT_NS: return figure_u64(ret, s->wait_ns);
	default: return get_party(&s->party, key, ret);
	}
}

/*
 * Gets the victim of a long wait, or its culprit: the previous task, and the group that ran longest
 * during the wait.
 */
static void get_long_wait(const struct runq_long_wait *wait, bool culprit, enum subtick_key key,
			  struct figure *ret)
{
	switch (key) {
	case SUBTICK_CPU: return figure_u64(ret, wait->cpu);
	case SUBTICK_PID: return figure_u64(ret, culprit ? wait->prev_pid : wait->pid);
	case SUBTICK_TGID: return figure_u64(ret, culprit ? UINT64_MAX : wait->tgid);
	case SUBTICK_COMM: ret->text = culprit ? wait->prev_comm : wait->comm; return;
	case SUBTICK_WAIT_NS:
		return figure_u64(ret, !culprit		 ? wait->wait_ns
				       : wait->culprit_ns ? wait->culprit_ns
							  : UINT64_MAX);
	case SUBTICK_END_NS: return figure_u64(ret, wait->end_ns);
	default: return get_party(culprit ? &wait->culprit : &wait->victim, key, ret);
	}
}

static void get(const void *window, enum subtick_list list, size_t row, enum subtick_key key,
		struct figure *ret)
{
	const struct runq_window *w = window;

	switch (list) {
	case SUBTICK_WINDOW: return get_window(w, key, ret);
	case SUBTICK_LOSSES: return get_loss(w, row, key, ret);
	case SUBTICK_GROUPS: return get_group(w, &w->groups[row], key, ret);
	case SUBTICK_BLAME:
	case SUBTICK_BLAME_BY: return get_blame(&w->blame[row], list == SUBTICK_BLAME_BY, key, ret);
	case SUBTICK_PRESSURE: return get_pressure(&w->pressed[row], key, ret);
	case SUBTICK_IDLE_STATES: return get_idle_state(&w->idle_states[row], key, ret);
	case SUBTICK_LONG_WAITS:
	case SUBTICK_LONG_WAITS_BY:
		return get_long_wait(&w->long_waits[row], list == SUBTICK_LONG_WAITS_BY, key, ret);
	default: return;
	}
}

static const struct api_view view = {window_of, rows, get};

/* Checks a list of @nr strings. A NULL string is an error. */
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
		return err_set(err, -EINVAL, "boundaries are NULL, or more than %d", RUNQ_NR_LE);
	*to = (struct runq_opts){
		.source = from->source,
		.hierarchy = from->hierarchy,
		.cgroups = from->cgroups,
		.nr_cgroups = from->nr_cgroups,
		/* Without named or summed cgroups every cgroup has its own group already. */
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
	int rc;

	if (!ret)
		return err_set(err, -EINVAL, "a pointer is NULL");
	rc = api_copy_opts(&own, sizeof(own), opts, API_OPTS_LEAST(own, threshold_ns), err);
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
	sys_bpf_log_hold();
	if (!rc)
		rc = runq_open(&runq, &ctx->meter, err);
	rc = api_start(ctx, rc, ret, err);
	sys_bpf_log_release();
	if (rc)
		opt_plain(err);
	return rc;
}
