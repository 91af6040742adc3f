/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implements the public functions of the load measurement. */
#include "subtick/load.h"

#include <errno.h>
#include <string.h>

#include "api/api.h"
#include "measure/load/load.h"

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

#define LOSS_ROW(member, key, ...) {#key "_total", offsetof(struct load_window, losses.member), 0},
static const struct loss_row losses[] = {LOAD_LOSSES(LOSS_ROW)};

static uint64_t source_number(const char *name)
{
	uint64_t number = SUBTICK_LOAD_AUTO + 1;

	for (const struct load_source_ops *const *ops = load_sources(); *ops; ops++, number++)
		if (!strcmp((*ops)->name, name))
			return number;
	return UINT64_MAX;
}

API_GET(get_window)
{
	if (key == SUBTICK_SOURCE)
		figure_u64(ret, source_number(ret->text));
}

API_GET(get_cpu)
{
	const struct load_window *w = window;
	const struct load_cpu_window *c = row;
	unsigned int cpu = c - w->cpu, part = key - SUBTICK_TASK_RATIO;
	bool requested = cpuset_has(&w->cpus, cpu);

	if (key == SUBTICK_CPU)
		return figure_u64(ret, cpu);
	if (key >= SUBTICK_TASK_RATIO && key <= SUBTICK_IDLE_RATIO) {
		ret->type = FIGURE_REAL;
		ret->real = w->parts >> part & 1 ? load_part_ratio(c, part) : NAN;
	}
	if (!requested || (c->flags & LOAD_NO_FIGURE && key != SUBTICK_FLAGS) ||
	    (key == SUBTICK_CLOSURE_ERROR_RATIO && !w->parts))
		figure_unavailable(ret);
}

#define WINDOW(key, member) COLUMN(SUBTICK_WINDOW, struct load_window, key, member)
#define CPU(key, member)    COLUMN(SUBTICK_CPUS, struct load_cpu_window, key, member)

static const struct api_column columns[] = {
	WINDOW(SUBTICK_WINDOW_NS, window_ns),
	WINDOW(SUBTICK_TIME_UNIX_NS, time_unix_ns),
	WINDOW(SUBTICK_SOURCE, source),
	CPU(SUBTICK_FLAGS, flags),
	CPU(SUBTICK_WINDOW_NS, window_ns),
	CPU(SUBTICK_BUSY_RATIO, busy_ratio),
	CPU(SUBTICK_CLOSURE_ERROR_RATIO, closure_error_ratio),
};

static const struct api_list lists[] = {
	{SUBTICK_WINDOW, get_window, 0, 0, 0},
	API_LIST(struct load_window, SUBTICK_CPUS, cpu, end_cpu, get_cpu),
};

static int open_meter(const void *opts, struct meter **ret_meter, struct err *err)
{
	return load_open(opts, ret_meter, err);
}

static const void *window_of(const struct meter *meter)
{
	return load_window(meter);
}

static const struct api_view view = API_VIEW(open_meter, window_of);

int subtick_load_open(struct subtick **ret, const struct subtick_load_opts *opts)
{
	struct err *err = api_err();
	struct subtick_load_opts own;
	struct load_opts load = {0};
	int rc = api_copy_opts(ret, &own, sizeof(own), opts, API_OPTS_LEAST(own, cpus), err);

	if (!rc)
		rc = api_cpus(own.cpus, &load.cpus, err);
	if (rc)
		return rc;
	if (own.source > SUBTICK_LOAD_PROCSTAT)
		return err_set(err, -EINVAL, "unknown source %u", own.source);
	load.source = own.source ? load_sources()[own.source - 1]->name : NULL;
	load.event = own.event;
	return api_open(api_new(&view, err), 0, &load, ret, err);
}
