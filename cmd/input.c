/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads files with saved output. */
#include "input.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "report/read_json.h"
#include "sys/file.h"

char *input_read(const char *path, size_t *ret_size, struct err *err)
{
	return sys_read_all(path, 256 << 20, ret_size, err);
}

/* Reads up to @most reports. */
static int read_some(const char *path, size_t most, struct report ***ret_reports, size_t *ret_nr,
		     struct err *err)
{
	size_t size, used, at = 0, nr = 0;
	struct report **reports = NULL, **more;
	char *text = input_read(path, &size, err);
	int rc = 0;

	if (!text)
		return err->code;
	while (!rc && nr < most) {
		more = grow(reports, nr, sizeof(*reports));
		if (more)
			reports = more;
		rc = more ? report_read_json(text + at, size - at, &reports[nr], &used, err)
			  : err_set(err, -ENOMEM, "out of memory");
		at += rc ? 0 : used;
		nr += !rc;
	}
	free(text);
	if (rc == -ENODATA && nr)
		rc = 0;
	if (!rc) {
		*ret_reports = reports;
		*ret_nr = nr;
		return 0;
	}
	input_reports_free(reports, nr);
	if (rc == -ENODATA)
		return err_set(err, rc, "%s is empty", path);
	return err_prefix(err, "%s", path);
}

int input_reports(const char *path, struct report ***ret_reports, size_t *ret_nr, struct err *err)
{
	return read_some(path, SIZE_MAX, ret_reports, ret_nr, err);
}

void input_reports_free(struct report **reports, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		report_free(reports[i]);
	free(reports);
}

int input_report(const char *path, struct report **ret_report, struct err *err)
{
	struct report **reports;
	size_t nr;
	int rc = read_some(path, 1, &reports, &nr, err);

	if (rc)
		return rc;
	*ret_report = reports[0];
	free(reports);
	return 0;
}

int input_against(const char *path, const char *command, struct diff_side *ret_side,
		  struct err *err)
{
	struct diff_side side = {.file = path};
	int rc = input_reports(path, &side.windows, &side.nr, err);
	size_t length = strlen(command);
	const char *own;

	if (rc)
		return err_prefix(err, "--against");
	own = side.windows[0]->command;
	if (!strncmp(own, command, length) && (!own[length] || !strcmp(own + length, ".points"))) {
		*ret_side = side;
		return 0;
	}
	err_set(err, -EINVAL, "--against %s: output of subtick %s, not of %s", path, own, command);
	input_reports_free(side.windows, side.nr);
	return -EINVAL;
}
