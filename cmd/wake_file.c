/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the points of `subtick wake`, or their plots, to a file, and reads those of an earlier run. */
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
#include "present/wake.h"
#include "report/find.h"
#include "report/read_json.h"
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
	size_t size, used;
	char *text = input_read(path, &size, err);
	int rc;

	if (!text)
		return err->code;
	rc = report_read_json(text, size, &report, &used, err);
	free(text);
	if (rc)
		return rc == -ENODATA ? err_set(err, rc, "%s is empty", path)
				      : err_prefix(err, "%s", path);
	if (!strcmp(report->command, "wake.points") && report_find(report, "points")) {
		*ret_points = report;
		return 0;
	}
	report_free(report);
	return err_set(err, -EINVAL,
		       "%s has no points: save those of the earlier run with --points FILE.json",
		       path);
}

/* @write: puts @points to @out as the caller wants. */
static int write_file(struct meter *meter, const char *path, bool distribution,
		      int (*write)(FILE *out, const struct report *points, const void *arg),
		      const void *arg, struct err *err)
{
	struct report *points;
	FILE *out;
	int rc;

	rc = wake_report_points(wake_window(meter), distribution, &points);
	if (rc)
		return err_set(err, rc, "cannot list the points: %s", strerror(-rc));
	out = fopen(path, "we");
	if (!out) {
		rc = err_set(err, -errno, "cannot write %s: %s", path, strerror(errno));
		goto out;
	}
	rc = write(out, points, arg);
	if (fclose(out) && !rc)
		rc = -errno;
	if (rc)
		err_set(err, rc, "cannot write %s: %s", path, strerror(-rc));
out:
	report_free(points);
	return rc;
}

static int write_points(FILE *out, const struct report *points, const void *arg)
{
	const char *path = arg, *dot = strrchr(path, '.');
	struct view view = {.format = dot && !strcmp(dot, ".json") ? VIEW_JSON : VIEW_CSV,
			    .out = out};

	return view_write(&view, points);
}

int wake_file_points(struct meter *meter, const char *path, struct err *err)
{
	return write_file(meter, path, false, write_points, path, err);
}

static int write_plot(FILE *out, const struct report *points, const void *arg)
{
	return wake_plot(out, points, arg);
}

int wake_file_plot(struct meter *meter, const char *path, const struct report *earlier,
		   struct err *err)
{
	return write_file(meter, path, true, write_plot, earlier, err);
}
