/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes points and plots of `subtick wake`, and reads the points of an earlier run. */
#include "wake_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "measure/wake/wake.h"
#include "output.h"
#include "present/wake.h"
#include "view/svg/wake.h"
#include "view/view.h"

int wake_file_check(const char *path, struct err *err)
{
	struct stat st;
	int fd;

	if (!path)
		return 0;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd >= 0) {
		close(fd);
		unlink(path);
		return 0;
	}
	if (errno == EEXIST && !access(path, W_OK) && !stat(path, &st)) {
		if (!S_ISDIR(st.st_mode))
			return 0;
		errno = EISDIR;
	}
	return err_set(err, -errno, "cannot write %s: %s", path, strerror(errno));
}

int wake_file_read(const char *path, struct report **ret_points, struct err *err)
{
	struct report *report;
	int rc = input_report(path, &report, err);

	if (rc)
		return rc;
	if (!strcmp(report->command, "wake.points") && report_find(report, "points")) {
		*ret_points = report;
		return 0;
	}
	report_free(report);
	return err_set(err, -EINVAL,
		       "%s has no points: save those of the earlier run with --points FILE.json",
		       path);
}

/* Lists the points in @ret_points and opens the file for them. */
static FILE *open_points(struct meter *meter, const char *path, bool distribution,
			 struct report **ret_points, struct err *err)
{
	FILE *out;
	int rc = wake_report_points(wake_window(meter), distribution, ret_points);

	if (rc) {
		err_set(err, rc, "cannot list the points: %s", strerror(-rc));
		return NULL;
	}
	out = output_open(path, err);
	if (!out)
		report_free(*ret_points);
	return out;
}

int wake_file_points(struct meter *meter, const char *path, struct err *err)
{
	const char *dot = strrchr(path, '.');
	struct view view = {.format = dot && !strcmp(dot, ".json") ? VIEW_JSON : VIEW_CSV};
	struct report *points;
	int rc;

	view.out = open_points(meter, path, false, &points, err);
	if (!view.out)
		return err->code;
	rc = output_close(view.out, path, view_write(&view, points), err);
	report_free(points);
	return rc;
}

int wake_file_plot(struct meter *meter, const char *path, const struct report *earlier,
		   struct err *err)
{
	struct report *points;
	FILE *out = open_points(meter, path, true, &points, err);
	int rc;

	if (!out)
		return err->code;
	rc = output_close(out, path, wake_plot(out, points, earlier), err);
	report_free(points);
	return rc;
}
