/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes reports and files; turns failed writes into errors. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/columns.h"

int output_report(struct view *view, struct report *report, struct err *err)
{
	int rc;

	if (report && view->top)
		columns_top(report, view->top);
	rc = report ? view_write(view, report) : 0;
	report_free(report);
	if (rc && rc != -EPIPE)
		err_set(err, rc, "cannot write: %s", strerror(-rc));
	return rc;
}

int output_against(struct view *view, struct report *report, const struct diff_side *before,
		   struct report *now, struct err *err)
{
	struct diff_side sides[2] = {*before, {"this run", &now, 1}};
	struct report *diff = NULL;
	int failed = before->nr ? diff_report(sides, true, &diff, err) : 0;
	int rc = output_report(view, report, err);

	if (rc) {
		report_free(diff);
		return rc;
	}
	return failed ? err_prefix(err, "--against") : output_report(view, diff, err);
}

int output_check(const char *path, struct err *err)
{
	struct stat st;
	int fd;

	if (!path || !strcmp(path, "-"))
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

/* A link is no file: the rename would replace the link, such as /dev/stdout, and not its target. */
static bool is_file(const char *path)
{
	struct stat st;

	return lstat(path, &st) ? errno == ENOENT : S_ISREG(st.st_mode);
}

static FILE *open_part(struct output_file *file)
{
	mode_t mask = umask(0);
	FILE *out = NULL;
	int fd = -1;

	umask(mask);
	if (snprintf(file->part, sizeof(file->part), "%s.XXXXXX", file->path) <
	    (int)sizeof(file->part))
		fd = mkostemp(file->part, O_CLOEXEC);
	if (fd >= 0) {
		/* The mode that open() would give; mkostemp() gives the owner access only. */
		fchmod(fd, 0666 & ~mask);
		out = fdopen(fd, "w");
	}
	if (out)
		return out;
	if (fd >= 0) {
		close(fd);
		unlink(file->part);
	}
	file->part[0] = '\0';
	return NULL;
}

/* A signal ends the wait for the reader of a named pipe. */
static FILE *open_direct(const char *path)
{
	sigset_t stop, before;
	FILE *out;

	sigemptyset(&stop);
	sigaddset(&stop, SIGINT);
	sigaddset(&stop, SIGTERM);
	sigprocmask(SIG_UNBLOCK, &stop, &before);
	out = fopen(path, "we");
	sigprocmask(SIG_SETMASK, &before, NULL);
	return out;
}

int output_open(struct output_file *file, const char *path, struct err *err)
{
	*file = (struct output_file){.path = path};
	if (!strcmp(path, "-"))
		file->out = stdout;
	else if (is_file(path))
		file->out = open_part(file);
	/* The directory may be read-only although the file is not. */
	if (!file->out)
		file->out = open_direct(path);
	return file->out ? 0
			 : err_set(err, -errno, "cannot write %s: %s", path, strerror(errno));
}

/* Removes what a failed write left. The target of a link stays, but empty. */
static void discard(const struct output_file *file)
{
	if (file->part[0])
		unlink(file->part);
	else if (file->out != stdout)
		(void)!truncate(file->path, 0); /* fails for devices and pipes */
}

int output_close(struct output_file *file, int rc, struct err *err)
{
	if (!rc && (fflush(file->out) || (file->part[0] && fsync(fileno(file->out)))))
		rc = -errno;
	if (file->out != stdout && fclose(file->out) && !rc)
		rc = -errno;
	if (!rc && file->part[0] && rename(file->part, file->path))
		rc = -errno;
	if (!rc)
		return 0;
	discard(file);
	return rc == -EPIPE ? rc
			    : err_set(err, rc, "cannot write %s: %s", file->path, strerror(-rc));
}
