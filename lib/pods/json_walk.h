/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Visits the strings of a JSON text without building a tree and without allocating memory. */
#ifndef SUBTICK_PODS_JSON_WALK_H
#define SUBTICK_PODS_JSON_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "pods/name.h"

/* Maximum nesting of objects and arrays. */
#define JSON_WALK_DEPTH 32

/* Position of a value: keys and indexes of all enclosing objects and arrays, outermost first. */
struct json_path {
	struct pod_text key[JSON_WALK_DEPTH]; /* key of the value; key.at is NULL in an array */
	size_t index[JSON_WALK_DEPTH];	      /* position of the value in its array or object */
	size_t depth;
};

/* Callback for each string value. @value points into the JSON text; escapes are not decoded. */
typedef void (*json_visit)(void *arg, const struct json_path *place, struct pod_text value);

/*
 * Visits the strings of one JSON value. For invalid JSON or UTF-8, calls @visit for the strings
 * before the error and returns -EINVAL. @visit may be NULL.
 */
int json_walk(const char *text, size_t len, json_visit visit, void *arg);
/* True if the key at nesting depth @depth of @place is @name and has no escapes. */
bool json_key_is(const struct json_path *place, size_t depth, const char *name);

#endif
