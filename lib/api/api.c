/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens contexts of libsubtick, reads windows, and returns figures and errors. */
#include "api/api.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/runq.h"
#include "measure/runq/window.h"
#include "host/bpf.h"

/* Maximum size of an options struct in bytes. */
#define OPTS_MAX 4096

static __thread struct err last_err;

static const char *const list_names[] = {
	[SUBTICK_WINDOW] = "window",
	[SUBTICK_LOSSES] = "losses",
	[SUBTICK_CPUS] = "cpus",
	[SUBTICK_GROUPS] = "groups",
	[SUBTICK_BLAME] = "blame",
	[SUBTICK_BLAME_BY] = "blame_by",
	[SUBTICK_PRESSURE] = "pressure",
	[SUBTICK_IDLE_STATES] = "idle_states",
	[SUBTICK_LONG_WAITS] = "long_waits",
	[SUBTICK_LONG_WAITS_BY] = "long_waits_by",
	[SUBTICK_SOURCES] = "sources",
	[SUBTICK_VICTIMS] = "victims",
	[SUBTICK_DELAYS] = "delays",
	[SUBTICK_FUNCTIONS] = "functions",
	[SUBTICK_SENDERS] = "senders",
	[SUBTICK_CALLS] = "calls",
};

static const char *const key_names[] = {
	[SUBTICK_WINDOW_NS] = "window_ns",
	[SUBTICK_TIME_UNIX_NS] = "time_unix_ns",
	[SUBTICK_SOURCE] = "source",
	[SUBTICK_HIERARCHY] = "hierarchy",
	[SUBTICK_SAMPLE_RATIO] = "sample_ratio",
	[SUBTICK_SCHEDSTAT_RATIO] = "schedstat_ratio",
	[SUBTICK_CPU] = "cpu",
	[SUBTICK_FLAGS] = "flags",
	[SUBTICK_WHO] = "who",
	[SUBTICK_CGROUP] = "cgroup",
	[SUBTICK_CGROUP_ID] = "cgroup_id",
	[SUBTICK_POD_UID] = "pod_uid",
	[SUBTICK_CONTAINER_ID] = "container_id",
	[SUBTICK_QOS] = "qos",
	[SUBTICK_NAMESPACE] = "namespace",
	[SUBTICK_POD] = "pod",
	[SUBTICK_CONTAINER] = "container",
	[SUBTICK_IMAGE] = "image",
	[SUBTICK_PID] = "pid",
	[SUBTICK_TGID] = "tgid",
	[SUBTICK_COMM] = "comm",
	[SUBTICK_ENDED] = "ended",
	[SUBTICK_NAME] = "name",
	[SUBTICK_COUNT] = "count",
	[SUBTICK_SUM_NS] = "sum_ns",
	[SUBTICK_AVG_NS] = "avg_ns",
	[SUBTICK_MAX_NS] = "max_ns",
	[SUBTICK_P99_NS] = "p99_ns",
	[SUBTICK_WAIT_NS] = "wait_ns",
	[SUBTICK_END_NS] = "end_ns",
	[SUBTICK_COUNT_STDERR_RATIO] = "count_stderr_ratio",
	[SUBTICK_SUM_STDERR_RATIO] = "sum_stderr_ratio",
	[SUBTICK_IDLE_EXIT_NS] = "idle_exit_ns",
	[SUBTICK_SAME_GROUP_NS] = "same_group_ns",
	[SUBTICK_OTHER_GROUP_NS] = "other_group_ns",
	[SUBTICK_KERNEL_THREAD_NS] = "kernel_thread_ns",
	[SUBTICK_PREEMPTED_NS] = "preempted_ns",
	[SUBTICK_THROTTLED_NS] = "throttled_ns",
	[SUBTICK_MIGRATED_NS] = "migrated_ns",
	[SUBTICK_UNKNOWN_NS] = "unknown_ns",
	[SUBTICK_WAITING_NS] = "waiting_ns",
	[SUBTICK_WAITING_CONTENTION_NS] = "waiting_contention_ns",
	[SUBTICK_WAITING_KERNEL_THREAD_NS] = "waiting_kernel_thread_ns",
	[SUBTICK_WAITING_IDLE_EXIT_NS] = "waiting_idle_exit_ns",
	[SUBTICK_WAITING_QUOTA_NS] = "waiting_quota_ns",
	[SUBTICK_STALLED_NS] = "stalled_ns",
	[SUBTICK_STALLED_CONTENTION_NS] = "stalled_contention_ns",
	[SUBTICK_STALLED_KERNEL_THREAD_NS] = "stalled_kernel_thread_ns",
	[SUBTICK_STALLED_IDLE_EXIT_NS] = "stalled_idle_exit_ns",
	[SUBTICK_STALLED_QUOTA_NS] = "stalled_quota_ns",
	[SUBTICK_PSI_WAITING_NS] = "psi_waiting_ns",
	[SUBTICK_PSI_STALLED_NS] = "psi_stalled_ns",
	[SUBTICK_STATE] = "state",
	[SUBTICK_CLAIMED_NS] = "claimed_ns",
	[SUBTICK_BUSY_RATIO] = "busy_ratio",
	[SUBTICK_TASK_RATIO] = "task_ratio",
	[SUBTICK_HARDIRQ_RATIO] = "hardirq_ratio",
	[SUBTICK_SOFTIRQ_ON_IDLE_RATIO] = "softirq_on_idle_ratio",
	[SUBTICK_SOFTIRQ_ON_TASK_RATIO] = "softirq_on_task_ratio",
	[SUBTICK_KSOFTIRQD_RATIO] = "ksoftirqd_ratio",
	[SUBTICK_IDLE_LOOP_RATIO] = "idle_loop_ratio",
	[SUBTICK_STEAL_RATIO] = "steal_ratio",
	[SUBTICK_UNKNOWN_RATIO] = "unknown_ratio",
	[SUBTICK_POLL_IDLE_RATIO] = "poll_idle_ratio",
	[SUBTICK_IDLE_RATIO] = "idle_ratio",
	[SUBTICK_CLOSURE_ERROR_RATIO] = "closure_error_ratio",
	[SUBTICK_KIND] = "kind",
	[SUBTICK_IRQ] = "irq",
	[SUBTICK_ADVICE] = "advice",
	[SUBTICK_HARDIRQ_NS] = "hardirq_ns",
	[SUBTICK_SOFTIRQ_NS] = "softirq_ns",
	[SUBTICK_KTHREAD_NS] = "kthread_ns",
	[SUBTICK_TASK_NS] = "task_ns",
	[SUBTICK_STEAL_NS] = "steal_ns",
	[SUBTICK_DELAY_COUNT] = "delay_count",
	[SUBTICK_DELAY_SUM_NS] = "delay_sum_ns",
	[SUBTICK_DELAY_MAX_NS] = "delay_max_ns",
	[SUBTICK_FROM_CPU] = "from_cpu",
	[SUBTICK_AVOIDABLE_NS] = "avoidable_ns",
	[SUBTICK_AVOIDABLE_MOST_NS] = "avoidable_most_ns",
	[SUBTICK_EXCLUDED_NS] = "excluded_ns",
};

#define NAME_AT(names, index) ((size_t)(index) < ARRAY_SIZE(names) ? (names)[index] : NULL)

const char *subtick_list_name(enum subtick_list list)
{
	return NAME_AT(list_names, list);
}

const char *subtick_key_name(enum subtick_key key)
{
	return NAME_AT(key_names, key);
}

struct err *api_err(void)
{
	last_err = (struct err){0};
	return &last_err;
}

const char *subtick_error(void)
{
	return last_err.what;
}

const char *subtick_error_fix(void)
{
	return last_err.fix;
}

int api_copy_opts(struct subtick **ret, void *to, size_t size, const void *from, size_t least,
		  struct err *err)
{
	uint32_t has = size;

	if (!ret)
		return err_set(err, -EINVAL, "a pointer is NULL");
	memset(to, 0, size);
	if (from)
		memcpy(&has, from, sizeof(has));
	if (has < least || has > OPTS_MAX)
		return err_set(err, has < least ? -EINVAL : -E2BIG,
			       "the member size of the options is %u: set it to sizeof the struct",
			       has);
	for (size_t i = size; i < has; i++)
		if (((const char *)from)[i])
			return err_set(err, -E2BIG,
				       "the options have members that this version of libsubtick lacks");
	if (from)
		memcpy(to, from, has < size ? has : size);
	return 0;
}

int api_cpus(const char *text, struct cpuset *ret_set, struct err *err)
{
	if (!text)
		return 0;
	if (cpuset_parse(text, ret_set) || !cpuset_count(ret_set))
		return err_set(err, -EINVAL, "expected a list of CPUs such as 0,2-5, found \"%s\"",
			       text);
	return 0;
}

struct subtick *api_new(const struct api_view *view, struct err *err)
{
	struct subtick *ctx = calloc(1, sizeof(*ctx));

	if (!ctx)
		err_set(err, -ENOMEM, "out of memory");
	else
		ctx->window.view = view;
	return ctx;
}

int api_open(struct subtick *ctx, int rc, const void *opts, struct subtick **ret, struct err *err)
{
	if (!ctx)
		return -ENOMEM;
	sys_bpf_log_hold();
	if (!rc)
		rc = ctx->window.view->open(opts, &ctx->meter, err);
	if (!rc) {
		rc = ctx->meter->ops->start(ctx->meter, err);
		ctx->window.data = ctx->window.view->window(ctx->meter);
	}
	if (rc)
		subtick_close(ctx);
	else
		*ret = ctx;
	sys_bpf_log_release();
	return rc;
}

int subtick_read(struct subtick *ctx, const struct subtick_window **ret_window)
{
	struct err *err = api_err();
	int rc;

	if (!ctx || !ret_window)
		return err_set(err, -EINVAL, "a pointer is NULL");
	sys_bpf_log_hold();
	rc = ctx->meter->ops->read(ctx->meter, err);
	sys_bpf_log_release();
	ctx->window.ended = !rc;
	if (!rc)
		*ret_window = &ctx->window;
	return rc;
}

int subtick_fd(const struct subtick *ctx)
{
	struct err *err = api_err();

	if (!ctx)
		return err_set(err, -EINVAL, "a pointer is NULL");
	if (!ctx->meter->ops->event_fd)
		return err_set(err, -EOPNOTSUPP,
			       "only contexts of subtick_runq_open() have a file descriptor");
	return ctx->meter->ops->event_fd(ctx->meter);
}

int subtick_service(struct subtick *ctx, const struct subtick_window **ret_window)
{
	int rc = subtick_fd(ctx);

	if (rc < 0)
		return rc;
	sys_bpf_log_hold();
	rc = ctx->meter->ops->event(ctx->meter, &last_err);
	sys_bpf_log_release();
	if (!rc && ret_window)
		*ret_window = &ctx->window;
	return rc;
}

void subtick_close(struct subtick *ctx)
{
	if (!ctx)
		return;
	sys_bpf_log_hold();
	if (ctx->meter)
		ctx->meter->ops->close(ctx->meter);
	sys_bpf_log_release();
	runq_rules_free(&ctx->rules);
	free(ctx);
}

static const void *at(const void *base, size_t offset)
{
	return (const char *)base + offset;
}

/* Returns loss counter @row of @window, or NULL. Loss counters of disabled options have no row. */
static const struct loss_row *loss_at(const struct subtick_window *window, size_t row)
{
	array_for_each(loss, window->view->losses, window->view->nr_losses)
		if ((!loss->when_at || *(const bool *)at(window->data, loss->when_at)) && !row--)
			return loss;
	return NULL;
}

static const struct api_list *list_at(const struct api_view *view, enum subtick_list list)
{
	array_for_each(l, view->lists, view->nr_lists)
		if (l->list == list)
			return l;
	return NULL;
}

size_t subtick_rows(const struct subtick_window *window, enum subtick_list list)
{
	bool events = list == SUBTICK_LONG_WAITS || list == SUBTICK_LONG_WAITS_BY;
	const struct api_list *l;
	size_t nr = 0;

	if (!window || !(window->ended || events))
		return 0;
	if (list == SUBTICK_LOSSES) {
		while (loss_at(window, nr))
			nr++;
		return nr;
	}
	l = list_at(window->view, list);
	if (!l)
		return 0;
	return l->row_size ? *(const size_t *)at(window->data, l->nr_at) : 1;
}

void api_column(const struct api_column *columns, size_t nr, const void *row, enum subtick_list list,
		enum subtick_key key, struct figure *ret)
{
	const struct api_column *column = columns, *end = columns + nr;
	const void *member;
	uint64_t value;

	while (column < end && (column->list != list || column->key != key))
		column++;
	if (column == end)
		return;
	member = at(row, column->offset);
	switch (column->type) {
	case COLUMN_CHARS: ret->text = member; return;
	case COLUMN_STRING: ret->text = *(const char *const *)member; return;
	case COLUMN_DOUBLE:
		ret->type = FIGURE_REAL;
		ret->real = *(const double *)member;
		return;
	case COLUMN_BOOL: value = *(const bool *)member; break;
	case COLUMN_U32:
		value = *(const uint32_t *)member;
		value = value == UINT32_MAX ? UINT64_MAX : value;
		break;
	default: value = *(const uint64_t *)member;
	}
	figure_u64(ret, !value && column->zero_unknown ? UINT64_MAX : value);
}

static struct figure get(const struct subtick_window *window, enum subtick_list list, size_t row,
			 enum subtick_key key)
{
	struct figure figure = {0};
	const struct api_list *l;
	const void *data;

	if (row >= subtick_rows(window, list))
		return figure;
	if (list == SUBTICK_LOSSES) {
		const struct loss_row *loss = loss_at(window, row);

		if (key == SUBTICK_NAME)
			figure.text = loss->name;
		else if (key == SUBTICK_COUNT)
			figure_u64(&figure, *(const uint64_t *)at(window->data, loss->offset));
		return figure;
	}
	l = list_at(window->view, list);
	data = window->data;
	if (l->row_size)
		data = at(*(const void *const *)at(data, l->rows_at), row * l->row_size);
	api_column(window->view->columns, window->view->nr_columns, data, list, key, &figure);
	if (l->get)
		l->get(window->data, data, list, key, &figure);
	return figure;
}

int subtick_u64(const struct subtick_window *window, enum subtick_list list, size_t row,
		enum subtick_key key, uint64_t *ret_value)
{
	struct figure figure = get(window, list, row, key);

	if (!ret_value || figure.type != FIGURE_U64)
		return -EINVAL;
	if (figure.u64 == UINT64_MAX)
		return -ENODATA;
	*ret_value = figure.u64;
	return 0;
}

int subtick_double(const struct subtick_window *window, enum subtick_list list, size_t row,
		   enum subtick_key key, double *ret_value)
{
	struct figure figure = get(window, list, row, key);

	if (!ret_value || figure.type == FIGURE_NONE)
		return -EINVAL;
	if (figure.type == FIGURE_U64 ? figure.u64 == UINT64_MAX : isnan(figure.real))
		return -ENODATA;
	*ret_value = figure.type == FIGURE_U64 ? (double)figure.u64 : figure.real;
	return 0;
}

const char *subtick_text(const struct subtick_window *window, enum subtick_list list, size_t row,
			 enum subtick_key key)
{
	const char *text = get(window, list, row, key).text;

	return text && text[0] ? text : NULL;
}

/*
 * Returns row @row of SUBTICK_GROUPS, or NULL if @list is another list or the row does not exist.
 */
static const struct runq_group_window *group_at(const struct subtick_window *window,
						enum subtick_list list, size_t row)
{
	if (list != SUBTICK_GROUPS || row >= subtick_rows(window, list))
		return NULL;
	return &((const struct runq_window *)window->data)->groups[row];
}

int subtick_percentile(const struct subtick_window *window, enum subtick_list list, size_t row,
		       double percent, double *ret_ns)
{
	const struct runq_group_window *group = group_at(window, list, row);

	if (!group || !ret_ns || !(percent >= 0.0 && percent <= 100.0))
		return -EINVAL;
	if (!group->count)
		return -ENODATA;
	*ret_ns = hist_value_at(&hist_fine, &group->hist, group->max_ns, percent);
	return 0;
}

int subtick_bucket(const struct subtick_window *window, enum subtick_list list, size_t row,
		   size_t bucket, uint64_t *ret_le_ns, uint64_t *ret_count)
{
	const struct runq_group_window *group = group_at(window, list, row);
	const struct runq_window *w = window ? window->data : NULL;

	if (!group || !ret_le_ns || !ret_count)
		return -EINVAL;
	if (bucket >= w->nr_le)
		return -ERANGE;
	*ret_le_ns = w->le_ns[bucket];
	*ret_count = group->le_count[bucket];
	return 0;
}
