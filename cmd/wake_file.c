/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes points and plots of `subtick wake`. */
#include "wake_file.h"

#include <errno.h>
#include <string.h>

#include "measure/wake/wake.h"
#include "output.h"
#include "present/wake.h"
#include "view/svg/wake.h"
#include "view/view.h"

int wake_file_list(struct meter *meter, bool distribution, struct report **ret_points,
		   struct err *err)
{
	int rc = wake_report_points(wake_window(meter), distribution, ret_points);

	return rc ? err_set(err, rc, "cannot list the points: %s", strerror(-rc)) : 0;
}

int wake_file_points(struct meter *meter, const char *path, struct err *err)
{
	const char *dot = strrchr(path, '.');
	struct view view = {.format = dot && !strcmp(dot, ".json") ? VIEW_JSON : VIEW_CSV};
	struct output_file file;
	struct report *points;
	int rc = wake_file_list(meter, false, &points, err);

	if (rc)
		return rc;
	rc = output_open(&file, path, err);
	view.out = file.out;
	if (!rc)
		rc = output_close(&file, view_write(&view, points), err);
	report_free(points);
	return rc;
}

int wake_file_plot(struct meter *meter, const char *path, const struct report *earlier,
		   struct err *err)
{
	struct output_file file;
	struct report *points;
	int rc = wake_file_list(meter, true, &points, err);

	if (rc)
		return rc;
	rc = output_open(&file, path, err);
	if (!rc)
		rc = output_close(&file, wake_plot(file.out, points, earlier), err);
	report_free(points);
	return rc;
}
