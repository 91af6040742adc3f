/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public functions of load. */
#include "subtick/load.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "api/api.h"
#include "measure/load/load.h"
#include "host/bpf.h"

_Static_assert((int)SUBTICK_MULTIPLEXED == (int)LOAD_MULTIPLEXED &&
		       (int)SUBTICK_OFFLINE == (int)LOAD_OFFLINE &&
		       (int)SUBTICK_NO_TIME == (int)LOAD_NO_TIME &&
		       (int)SUBTICK_CLAMPED == (int)LOAD_CLAMPED &&
		       (int)SUBTICK_RESTARTED == (int)LOAD_RESTARTED,
	       "the public flags are the internal flags");
_Static_assert(SUBTICK_IDLE_RATIO - SUBTICK_TASK_RATIO == LOAD_PART_IDLE &&
		       SUBTICK_STEAL_RATIO - SUBTICK_TASK_RATIO == LOAD_PART_STEAL &&
		       SUBTICK_UNKNOWN_RATIO - SUBTICK_TASK_RATIO == LOAD_PART_UNKNOWN,
	       "the keys of parts are in the order of enum load_part");

#define LOSS_ROW(member, key, ...) {#key "_total", offsetof(struct load_window, losses.member)},
static const struct loss_row losses[] = {LOAD_LOSSES(LOSS_ROW)};

static const void *window_of(const struct meter *meter)
{
	return load_window(meter);
}

static size_t rows(const void *window, enum subtick_list list)
{
	const struct load_window *w = window;

	switch (list) {
	case SUBTICK_WINDOW: return 1;
	case SUBTICK_LOSSES: return sizeof(losses) / sizeof(losses[0]);
	case SUBTICK_CPUS: return cpuset_end(&w->cpus);
	default: return 0;
	}
}

static uint64_t source_number(const char *name)
{
	uint64_t number = SUBTICK_LOAD_AUTO + 1;

	for (const struct load_source_ops *const *ops = load_sources(); *ops; ops++, number++)
		if (!strcmp((*ops)->name, name))
			return number;
	return UINT64_MAX;
}

static void get_window(const struct load_window *w, enum subtick_key key, struct figure *ret)
{
	switch (key) {
	case SUBTICK_WINDOW_NS: return figure_u64(ret, w->window_ns);
	case SUBTICK_TIME_UNIX_NS: return figure_u64(ret, w->time_unix_ns);
	case SUBTICK_SOURCE:
		ret->text = w->source;
		return figure_u64(ret, source_number(w->source));
	default: return;
	}
}

static void get_cpu(const struct load_window *w, unsigned int cpu, enum subtick_key key,
		    struct figure *ret)
{
	const struct load_cpu_window *c = &w->cpu[cpu];
	bool asked = cpuset_has(&w->cpus, cpu);
	bool figure = asked && !(c->flags & LOAD_NO_FIGURE);

	if (key >= SUBTICK_TASK_RATIO && key <= SUBTICK_IDLE_RATIO) {
		enum load_part part = key - SUBTICK_TASK_RATIO;

		return figure_real(ret, figure && w->parts >> part & 1 ? load_part_ratio(c, part) : NAN);
	}
	switch (key) {
	case SUBTICK_CPU: return figure_u64(ret, cpu);
	case SUBTICK_FLAGS: return figure_u64(ret, asked ? c->flags : UINT64_MAX);
	case SUBTICK_WINDOW_NS: return figure_u64(ret, figure ? c->window_ns : UINT64_MAX);
	case SUBTICK_BUSY_RATIO: return figure_real(ret, figure ? c->busy_ratio : NAN);
	case SUBTICK_CLOSURE_ERROR_RATIO:
		return figure_real(ret, figure && w->parts ? c->closure_error_ratio : NAN);
	default: return;
	}
}

static void get(const void *window, enum subtick_list list, size_t row, enum subtick_key key,
		struct figure *ret)
{
	if (list == SUBTICK_WINDOW)
		get_window(window, key, ret);
	else if (list == SUBTICK_LOSSES)
		figure_loss(window, &losses[row], key, ret);
	else
		get_cpu(window, row, key, ret);
}

static const struct api_view view = {window_of, rows, get};

int subtick_load_open(struct subtick **ret, const struct subtick_load_opts *opts)
{
	struct err *err = api_err();
	struct subtick_load_opts own;
	struct load_opts load = {0};
	struct subtick *ctx;
	int rc;

	if (!ret)
		return err_set(err, -EINVAL, "a pointer is NULL");
	rc = api_copy_opts(&own, sizeof(own), opts, API_OPTS_LEAST(own, cpus), err);
	if (!rc)
		rc = api_cpus(own.cpus, &load.cpus, err);
	if (rc)
		return rc;
	if (own.source > SUBTICK_LOAD_PROCSTAT)
		return err_set(err, -EINVAL, "unknown source %u", own.source);
	load.source = own.source ? load_sources()[own.source - 1]->name : NULL;
	load.event = own.event;
	ctx = api_new(&view, err);
	if (!ctx)
		return -ENOMEM;
	sys_bpf_log_hold();
	rc = api_start(ctx, load_open(&load, &ctx->meter, err), ret, err);
	sys_bpf_log_release();
	return rc;
}
