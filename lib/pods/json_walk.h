/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Walks over the strings of a JSON text without building a tree: no memory, whatever the text. */
#ifndef SUBTICK_PODS_JSON_WALK_H
#define SUBTICK_PODS_JSON_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Deeper nesting is refused. */
#define JSON_WALK_DEPTH 32

/* A string as it is in the text: between its quotes, with its escapes; no NUL at the end. */
struct json_string {
	const char *at;
	size_t len;
};

/* Where a value is: the keys of the objects around it, the outermost first. */
struct json_place {
	struct json_string key[JSON_WALK_DEPTH]; /* .at is NULL for an array */
	size_t index[JSON_WALK_DEPTH];		 /* which member of the array or object it is in */
	size_t depth;
};

/* Called for each string that is a value. */
typedef void (*json_visit)(void *arg, const struct json_place *place, struct json_string value);

/*
 * 0, or -EINVAL if the text is not one whole JSON value: what was visited until then is not to be
 * trusted. Control characters in strings and invalid UTF-8 are refused. @visit may be NULL.
 */
int json_walk(const char *text, size_t len, json_visit visit, void *arg);
/* Whether the key at that depth is @name; keys with escapes are never equal. */
bool json_key_is(const struct json_place *place, size_t depth, const char *name);
/*
 * The string without its escapes, with a NUL. Its length, or -EINVAL: a NUL or half of a surrogate
 * pair inside, or no room.
 */
int json_unescape(struct json_string string, char *ret_text, size_t size);

#endif
