/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens output files and reads recorded reports. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "report/columns.h"
#include "report/report.h"
#include "host/file.h"

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

/*
 * True if @path is a regular file or does not exist. rename() must not replace other files, such as
 * the link /dev/stdout.
 */
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
		/* mkostemp() creates the file with mode 0600; open() would use the umask. */
		fchmod(fd, 0666 & ~mask);
		out = fdopen(fd, "w");
	}
	if (fd >= 0 && !out) {
		close(fd);
		unlink(file->part);
	}
	if (!out)
		file->part[0] = '\0';
	return out;
}

/* SIGINT and SIGTERM are unblocked, because opening a named pipe waits for a reader. */
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
	/* Write the file directly if no temporary file can be created in its directory. */
	if (!file->out)
		file->out = open_direct(path);
	return file->out ? 0
			 : err_set(err, -errno, "cannot write %s: %s", path, strerror(errno));
}

/* After a failed write, removes the temporary file, or truncates a directly written file. */
static void discard(const struct output_file *file)
{
	if (file->part[0])
		unlink(file->part);
	else if (file->out != stdout)
		/* an error is ignored, because truncate() always fails for devices and pipes */
		(void)!truncate(file->path, 0);
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

int output_view(const char *path, enum view_format format, const struct report *report,
		struct err *err)
{
	struct output_file file;
	int rc = output_open(&file, path, err);

	return rc ?: output_close(&file,
				  view_write(&(struct view){.format = format, .out = file.out}, report),
				  err);
}

void output_machine(char *buf, size_t size)
{
	struct utsname name;

	if (uname(&name))
		snprintf(buf, size, "unknown machine");
	else
		snprintf(buf, size, "%s, %s %s, %s, %ld CPUs online; measured by subtick %s",
			 name.nodename, name.sysname, name.release, name.machine,
			 sysconf(_SC_NPROCESSORS_ONLN), SUBTICK_VERSION);
}

char *input_read(const char *path, size_t *ret_size, struct err *err)
{
	return sys_read_all(path, 256 << 20, ret_size, err);
}

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
	array_for_each(report, reports, nr)
		report_free(*report);
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
