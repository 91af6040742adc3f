/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares output with reviewed files. UPDATE_GOLDEN=1 rewrites the files. */
#ifndef SUBTICK_TESTS_GOLDEN_GOLDEN_H
#define SUBTICK_TESTS_GOLDEN_GOLDEN_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* True if the file @name in @folder contains exactly @text. UPDATE_GOLDEN=1 writes the file. */
static inline bool golden_same(const char *folder, const char *name, const char *text, size_t size)
{
	const char *update = getenv("UPDATE_GOLDEN");
	bool rewrite = update && !strcmp(update, "1"), same;
	size_t at = 0, line = 1;
	char path[4096];
	FILE *file;
	int c;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = text ? fopen(path, rewrite ? "w" : "r") : NULL;
	if (!file) {
		printf("# cannot make or open %s\n", path);
		return false;
	}
	if (rewrite) {
		same = fwrite(text, 1, size, file) == size;
		return !fclose(file) && same;
	}
	while ((c = fgetc(file)) != EOF && at < size && c == (unsigned char)text[at])
		line += text[at++] == '\n';
	same = c == EOF && at == size;
	if (!same)
		printf("# %s differs in line %zu, byte %zu\n", path, line, at);
	fclose(file);
	return same;
}

/* Prints the result of a test as TAP. Returns 0 if @ok, else 1. */
static inline int golden_tap(size_t number, bool ok, const char *name)
{
	printf("%sok %zu - %s\n", ok ? "" : "not ", number, name);
	return !ok;
}

#endif
