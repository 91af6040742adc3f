/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads files with saved output. */
#include "input.h"

#include <errno.h>
#include <stdlib.h>

#include "report/read_json.h"
#include "sys/file.h"

char *input_read(const char *path, size_t *ret_size, struct err *err)
{
	return sys_read_all(path, 256 << 20, ret_size, err);
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
