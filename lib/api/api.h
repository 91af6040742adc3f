/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions and types that the public functions of all measurements use. */
#ifndef SUBTICK_API_H
#define SUBTICK_API_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"
#include "base/cpuset.h"
#include "measure/meter.h"
#include "measure/runq/rules.h"
#include "subtick/subtick.h"

/* Value of a key: a number, a text or both. UINT64_MAX and NAN mean "unavailable". */
struct figure {
	enum {
		FIGURE_NONE, /* the list does not have the key, or the key has only a text */
		FIGURE_U64,
		FIGURE_REAL,
	} type;
	uint64_t u64;
	double real;
	const char *text;
};

/* Maps a key of a list to the member of the row's struct that holds the value. */
struct api_column {
	enum subtick_list list;
	enum subtick_key key;
	enum {
		COLUMN_U64,
		COLUMN_U32, /* UINT32_MAX means that the value is unavailable */
		COLUMN_BOOL,
		COLUMN_DOUBLE,
		COLUMN_CHARS,  /* array of char */
		COLUMN_STRING, /* pointer to char */
	} type;
	size_t offset;
	bool zero_unknown; /* true if 0 means that the value is unavailable */
};

#define COLUMN(list_id, row, id, member, ...)                                                     \
	{.list = list_id, .key = id, .offset = offsetof(row, member),                             \
	 .type = _Generic(((row *)0)->member, uint64_t: COLUMN_U64, uint32_t: COLUMN_U32,         \
			  bool: COLUMN_BOOL, double: COLUMN_DOUBLE, char *: COLUMN_CHARS,         \
			  const char *: COLUMN_STRING), __VA_ARGS__}

/* Declares a function that computes the values of keys that no struct member holds. */
#define API_GET(name)                                                                             \
	static void name(const void *window, const void *row, enum subtick_list list,             \
			 enum subtick_key key, struct figure *ret)

/* A list of rows in a window. The list SUBTICK_WINDOW has a single row, the whole window. */
struct api_list {
	enum subtick_list list;
	/* function declared with API_GET(), or NULL */
	void (*get)(const void *window, const void *row, enum subtick_list list,
		    enum subtick_key key, struct figure *ret);
	/* offsets in the window struct: of the pointer to the rows, of the number of rows */
	size_t rows_at, nr_at;
	size_t row_size;
};

#define API_LIST(window, id, rows, nr, list_get)                                             \
	{id, list_get, offsetof(window, rows), offsetof(window, nr), sizeof(*((window *)0)->rows)}

/*
 * Row of the list SUBTICK_LOSSES: a loss counter in a uint64_t member of the window. UINT64_MAX
 * means that losses were not counted.
 */
struct loss_row {
	const char *name;
	size_t offset;
	/* offset of a bool in the window: the row exists if the bool is true; 0: always exists */
	size_t when_at;
};

struct api_view {
	int (*open)(const void *opts, struct meter **ret_meter, struct err *err);
	const void *(*window)(const struct meter *meter);
	const struct api_column *columns;
	size_t nr_columns;
	const struct api_list *lists;
	size_t nr_lists;
	const struct loss_row *losses;
	size_t nr_losses;
};

/* Initializes a struct api_view with the arrays columns, lists and losses of the calling C file. */
#define API_VIEW(open, window) \
	{open, window, columns, ARRAY_SIZE(columns), lists, ARRAY_SIZE(lists), losses, ARRAY_SIZE(losses)}

struct subtick_window {
	const struct api_view *view;
	const void *data; /* last window: struct load_window, runq_window or noise_window */
	bool ended;	  /* true after the end of the context's first window */
};

struct subtick {
	struct meter *meter;
	struct subtick_window window;
	/* The runq meter keeps a pointer to the rules, so the rules must outlive the meter. */
	struct runq_rules rules;
};

/* Clears and returns the error of this thread, at the start of a public call. */
struct err *api_err(void);
/*
 * Copies the options of a caller by the rules of copy_struct_from_user(). The first member of *@to
 * and *@from is the size of the struct. If @from is NULL, all members of *@to become 0. Returns
 * -EINVAL if @ret is NULL or the caller's size is below @least. Returns -E2BIG if the caller's size
 * is above OPTS_MAX or a byte beyond @size is not 0.
 */
int api_copy_opts(struct subtick **ret, void *to, size_t size, const void *from, size_t least,
		  struct err *err);
/* Size of the first version of the options struct @opts, up to and including its member @last. */
#define API_OPTS_LEAST(opts, last) (offsetof(__typeof__(opts), last) + sizeof((opts).last))
/* Parses a list of CPUs. If @text is NULL, @ret_set is empty. */
int api_cpus(const char *text, struct cpuset *ret_set, struct err *err);
/* Allocates a context without a meter. If out of memory, sets @err and returns NULL. */
struct subtick *api_new(const struct api_view *view, struct err *err);
/*
 * Last step of each public open function: opens and starts the meter if @rc is 0, else returns @rc.
 * Closes @ctx after a failure. @ctx may be NULL.
 */
int api_open(struct subtick *ctx, int rc, const void *opts, struct subtick **ret, struct err *err);
/* Gets the value of @key from a row of @list. Leaves *@ret unchanged if no column has @key. */
void api_column(const struct api_column *columns, size_t nr, const void *row, enum subtick_list list,
		enum subtick_key key, struct figure *ret);

static inline void figure_u64(struct figure *ret, uint64_t value)
{
	ret->type = FIGURE_U64;
	ret->u64 = value;
}

/* Marks a value as unavailable: UINT64_MAX or NAN. */
static inline void figure_unavailable(struct figure *ret)
{
	ret->u64 = UINT64_MAX;
	ret->real = NAN;
	ret->text = NULL;
}

#endif
