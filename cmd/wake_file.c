/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the points of `subtick wake`, or their plots, to a file. */
#include "wake_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/wake/wake.h"
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

int wake_file_write(struct meter *meter, const char *path, bool plot, struct err *err)
{
	const char *dot = strrchr(path, '.');
	struct view view = {.format = dot && !strcmp(dot, ".json") ? VIEW_JSON : VIEW_CSV};
	struct report *points;
	int rc;

	rc = wake_points(meter, plot, &points, err);
	if (rc)
		return rc;
	view.out = fopen(path, "we");
	if (!view.out) {
		rc = err_set(err, -errno, "cannot write %s: %s", path, strerror(errno));
		goto out;
	}
	rc = plot ? wake_plot(view.out, points) : view_write(&view, points);
	if (fclose(view.out) && !rc)
		rc = -errno;
	if (rc)
		err_set(err, rc, "cannot write %s: %s", path, strerror(-rc));
out:
	report_free(points);
	return rc;
}
