/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lists and sends trace recordings of one directory. Recordings are opened as an unprivileged user
 * without following links. Recordings are sent as attachments, so that a browser does not show
 * recordings as pages of the exporter.
 */
#include "serve/web/http.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "report/columns.h"

#define MAX_LISTED 200
/* Maximum number of directory entries per request. Reading 4,000 entries takes 8 ms. */
#define MAX_FILES 4000
/* Maximum size of a trace recording. A recording with 200,000 slices has about 3 MB. */
#define MAX_BYTES (16u << 20)
#define ENDING	  ".html"
#define UNREADABLE "the user of the exporter may not read it: chmod a+r FILE, a+x DIRECTORY"

struct trace_file {
	char *name;
	/* modification time and size of the file; both UINT64_MAX if the file is unreadable */
	uint64_t written_ns, bytes;
	const char *detail; /* reason why the file is unreadable, or NULL */
};

static const struct column_spec file_columns[] = {
	COLUMN(struct trace_file, M_FILE, name),
	COLUMN(struct trace_file, M_WRITTEN_UNIX_NS, written_ns),
	COLUMN(struct trace_file, M_SIZE_BYTES, bytes),
	COLUMN(struct trace_file, M_DETAIL, detail),
};
static const struct table_spec files_table =
	TABLE("traces", "recordings, newest first", file_columns);

struct trace_files {
	struct trace_file *list;
	size_t nr;
	bool cut; /* true if the directory has more than MAX_FILES entries */
};

int traces_open(struct server *server, struct err *err)
{
	const char *path = server->config.traces;

	if (!path)
		return 0;
	server->traces_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (server->traces_fd < 0)
		return err_set(err, -errno, "traces: cannot open the directory %s: %s", path,
			       strerror(errno));
	return 0;
}

static bool is_name(const char *name)
{
	size_t len = strlen(name), end = sizeof(ENDING) - 1;

	return name[0] != '.' && !strchr(name, '/') && len > end &&
	       !strcmp(name + len - end, ENDING);
}

/* Opens a file, but no link. Returns the descriptor or -errno; -ENOENT: not a regular file. */
static int open_file(const struct server *server, const char *name, struct stat *ret_st)
{
	/* Without O_NONBLOCK, open() of a FIFO would wait for a writer. */
	int fd = openat(server->traces_fd, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return errno == ELOOP || errno == ENXIO ? -ENOENT : -errno;
	if (fstat(fd, ret_st) || !S_ISREG(ret_st->st_mode)) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

static int add_file(const struct server *server, struct trace_files *files, const char *name)
{
	struct trace_file file;
	struct stat st = {0};

	/* EACCES: the directory has no search permission. List the file as unreadable. */
	if (fstatat(server->traces_fd, name, &st, AT_SYMLINK_NOFOLLOW) ? errno != EACCES :
									 !S_ISREG(st.st_mode))
		return 0;
	file = (struct trace_file){.name = strdup(name),
				   .written_ns = (uint64_t)st.st_mtim.tv_sec * NSEC_PER_SEC +
						 (uint64_t)st.st_mtim.tv_nsec,
				   .bytes = (uint64_t)st.st_size};
	if (file.name && !array_push(files->list, files->nr, file))
		return 0;
	free(file.name);
	return -ENOMEM;
}

static int newest_first(const void *left, const void *right)
{
	const struct trace_file *a = left, *b = right;

	return CMP(b->written_ns, a->written_ns) ?: strcmp(a->name, b->name);
}

static int read_dir(const struct server *server, struct trace_files *files)
{
	/* The trace directory was opened with privileges, so listing it needs no permission. */
	int fd = fcntl(server->traces_fd, F_DUPFD_CLOEXEC, 0), rc = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	size_t seen = 0;

	if (!dir) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	rewinddir(dir);
	while (!rc && !files->cut && (entry = readdir(dir))) {
		files->cut = ++seen > MAX_FILES;
		if (!files->cut && is_name(entry->d_name))
			rc = add_file(server, files, entry->d_name);
	}
	closedir(dir);
	if (files->nr)
		qsort(files->list, files->nr, sizeof(*files->list), newest_first);
	return rc;
}

static void free_files(struct trace_files *files)
{
	while (files->nr)
		free(files->list[--files->nr].name);
	free(files->list);
}

/* Unreadable files are listed, so that the administrator can change their permissions. */
static bool is_readable(const struct server *server, const char *name)
{
	struct stat st;
	int fd = open_file(server, name, &st);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static struct report *make_report(const struct server *server, const struct trace_files *files)
{
	struct report *report = report_begin("traces", clock_unix_ns(), 0, NULL);
	size_t nr = files->nr < MAX_LISTED ? files->nr : MAX_LISTED;
	struct table *table;

	if (!report)
		return NULL;
	value_u64(report_field(report, M_LEFT_OUT_TOTAL), files->nr - nr);
	table = columns_table(report, &files_table, 0);
	for (size_t i = 0; i < nr; i++) {
		struct trace_file row = files->list[i];

		if (!is_readable(server, row.name))
			row = (struct trace_file){row.name, UINT64_MAX, UINT64_MAX, UNREADABLE};
		columns_row(table, &row);
	}
	return report_finish(report, &report) ? NULL : report;
}

void traces_list(struct server *server, struct request *request)
{
	struct trace_files files = {0};
	struct report *report = NULL;
	struct body *body = NULL;
	int rc = server->traces_fd < 0 ? 0 : read_dir(server, &files);

	if (!rc)
		report = make_report(server, &files);
	if (report && server->traces_fd < 0)
		report_note(report, "this exporter was started without --traces DIR, so it has no recordings to show");
	if (report && files.cut)
		report_note(report, "the directory has more than 4,000 entries, of which 4,000 were looked at: remove old recordings");
	if (report)
		body = api_render(report, request_accepts_gzip(request->accept_encoding));
	answer_body(server, request, "application/json", body,
		    rc && rc != -ENOMEM ? "cannot read the directory of recordings"
					: "out of memory");
	body_put(body);
	report_free(report);
	free_files(&files);
}

static struct body *read_body(int fd, bool gzip, size_t size)
{
	struct body *body = body_new(gzip, gzip ? size / 4 : size);
	char part[32 * 1024];
	ssize_t got = 0;

	for (size_t sum = 0; body && sum < MAX_BYTES && (got = read(fd, part, sizeof(part))) > 0;
	     sum += (size_t)got)
		body_append(body, part, (size_t)got);
	if (got >= 0)
		return body_finish(body);
	body_put(body);
	return NULL;
}

static void send_file(struct server *server, struct request *request, int fd, size_t size)
{
	struct body *body = read_body(fd, request_accepts_gzip(request->accept_encoding), size);

	/* The file name is fixed, because the name of a recording may contain any byte. */
	if (body)
		request->extra =
			"Content-Disposition: attachment; filename=\"subtick-trace.html\"\r\n";
	answer_body(server, request, "application/octet-stream", body, "cannot read the recording");
	body_put(body);
}

void traces_answer(struct server *server, struct request *request)
{
	const char *name = request->path + sizeof(TRACES_PATH) - 1;
	char plain[NAME_MAX + 1];
	struct stat st;
	int fd = -ENOENT;

	if (server->traces_fd >= 0 && request_decode(name, plain, sizeof(plain)) && is_name(plain))
		fd = open_file(server, plain, &st);
	if (fd == -EACCES)
		answer_text(server, request, HTTP_FORBIDDEN, UNREADABLE);
	else if (fd < 0)
		answer_text(server, request, HTTP_NOTFOUND, "no recording has this name");
	else if (st.st_size > MAX_BYTES)
		answer_text(server, request, HTTP_ENTITYTOOLARGE,
			    "larger than 16 MiB: not a recording");
	else
		send_file(server, request, fd, (size_t)st.st_size);
	if (fd >= 0)
		close(fd);
}
