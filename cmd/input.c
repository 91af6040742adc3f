/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads files with saved output. */
#include "input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/read_json.h"

#define MAX_INPUT    (256L << 20)

char *input_read(const char *path, size_t *ret_size, struct err *err)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;
	struct stat st;

	if (!file || fstat(fileno(file), &st)) {
		err_set(err, -errno, "cannot read %s: %s", path, strerror(errno));
	} else if (S_ISDIR(st.st_mode) || st.st_size > MAX_INPUT) {
		err_set(err, -EFBIG, "cannot read %s: %s", path,
			S_ISDIR(st.st_mode) ? "it is a directory" : "it is larger than 256 MiB");
	} else {
		/* Pipes and /proc files have no size, so grow the buffer while reading. */
		do {
			char *more = realloc(text, size + (1 << 16) + 1);

			if (!more) {
				err_set(err, -ENOMEM, "out of memory");
				break;
			}
			text = more;
			size += fread(text + size, 1, 1 << 16, file);
		} while (!feof(file) && !ferror(file) && size < MAX_INPUT);
		if (ferror(file))
			err_set(err, -EIO, "cannot read %s: %s", path, strerror(errno));
	}
	if (file)
		fclose(file);
	*ret_size = size;
	if (!err->code)
		return text;
	free(text);
	return NULL;
}

int input_report(const char *path, struct report **ret_report, struct err *err)
{
	size_t size, used;
	char *text = input_read(path, &size, err);
	int rc;

	if (!text)
		return err->code;
	rc = report_read_json(text, size, ret_report, &used, err);
	free(text);
	if (rc == -ENODATA)
		return err_set(err, rc, "%s is empty", path);
	return rc ? err_prefix(err, "%s", path) : 0;
}
