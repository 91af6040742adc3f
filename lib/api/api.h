/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of the public functions that all measurements share. */
#ifndef SUBTICK_API_H
#define SUBTICK_API_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cpuset.h"
#include "measure/meter.h"
#include "measure/runq/rules.h"
#include "subtick/subtick.h"

/* One figure. UINT64_MAX and NAN mean unavailable. A key can have both a number and a text. */
struct figure {
	enum {
		FIGURE_NONE, /* the list lacks the key, or the key has only a text */
		FIGURE_U64,
		FIGURE_REAL,
	} type;
	uint64_t u64;
	double real;
	const char *text;
};

/* Reads the window type of one measurement. */
struct api_view {
	const void *(*window)(const struct meter *meter);
	size_t (*rows)(const void *window, enum subtick_list list);
	/* Gets one figure. @row is less than rows(). @ret is zeroed by the caller. */
	void (*get)(const void *window, enum subtick_list list, size_t row, enum subtick_key key,
		    struct figure *ret);
};

struct subtick_window {
	const struct api_view *view;
	const void *data; /* struct load_window, runq_window or noise_window */
	bool ended;	  /* false before the first read */
};

struct subtick {
	struct meter *meter;
	struct subtick_window window;
	struct runq_rules rules; /* must outlive the meter of runq, which keeps a pointer */
};

/* Begins a public call: clears and returns the error of this thread. */
struct err *api_err(void);
/*
 * Copies the options of a caller by the rules of copy_struct_from_user(): members beyond the
 * caller's size are set to 0, and the caller's bytes beyond @size must be 0. Both structs start
 * with their size. @from may be NULL. Returns 0, -EINVAL for a size below @least, or -E2BIG.
 */
int api_copy_opts(void *to, size_t size, const void *from, size_t least, struct err *err);
/* Size of the first version of @opts, whose last member was @last. */
#define API_OPTS_LEAST(opts, last) (offsetof(__typeof__(opts), last) + sizeof((opts).last))
/* Parses a list of CPUs. @ret_set is empty if @text is NULL. */
int api_cpus(const char *text, struct cpuset *ret_set, struct err *err);
/* Allocates a context without a meter. NULL with @err set if out of memory. */
struct subtick *api_new(const struct api_view *view, struct err *err);
/* Ends an open: starts the meter if @rc is 0, and closes @ctx on failure. */
int api_start(struct subtick *ctx, int rc, struct subtick **ret, struct err *err);

static inline void figure_u64(struct figure *ret, uint64_t value)
{
	ret->type = FIGURE_U64;
	ret->u64 = value;
}

static inline void figure_real(struct figure *ret, double value)
{
	ret->type = FIGURE_REAL;
	ret->real = value;
}

/*
 * Row of SUBTICK_LOSSES, made by LOSS_ROW from the lists in base/losses.h. UINT64_MAX if not
 * counted.
 */
struct loss_row {
	const char *name;
	size_t offset;
};

static inline void figure_loss(const void *window, const struct loss_row *row, enum subtick_key key,
			       struct figure *ret)
{
	if (key == SUBTICK_NAME)
		ret->text = row->name;
	if (key == SUBTICK_COUNT)
		figure_u64(ret, *(const uint64_t *)((const char *)window + row->offset));
}

#endif
