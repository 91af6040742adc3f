/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the token and compares tokens in constant time. */
#include "serve/http/auth.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/file.h"

#define TOKEN_MIN 16

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

int auth_parse(struct auth *auth, const char *text, size_t len, struct err *err)
{
	const char *end = memchr(text, '\n', len);

	if (end)
		len = end - text;
	while (len && blank(*text)) {
		text++;
		len--;
	}
	while (len && blank(text[len - 1]))
		len--;
	if (len < TOKEN_MIN || len > AUTH_TOKEN_MAX)
		return err_set(err, -EINVAL, "the token has %zu characters, it must have %d to %d",
			       len, TOKEN_MIN, AUTH_TOKEN_MAX);
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return err_set(err, -EINVAL,
				       "the token must be printable ASCII without blanks");
	if (!auth->needed || len != auth->len || memcmp(auth->token, text, len))
		auth->changes++;
	memset(auth->token, 0, sizeof(auth->token));
	memcpy(auth->token, text, len);
	auth->len = len;
	auth->needed = true;
	return 0;
}

/* True if auth->fd refers to a deleted file, or to another file than @path. */
static bool replaced(const struct auth *auth, const char *path)
{
	struct stat held, named;

	if (fstat(auth->fd, &held) || !held.st_nlink)
		return true;
	return !stat(path, &named) && (named.st_dev != held.st_dev || named.st_ino != held.st_ino);
}

static int open_token(const struct auth *auth, const char *path, int *ret_fd, struct err *err)
{
	/* open() of a FIFO blocks until another process opens the FIFO for writing. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0 && errno == EACCES && auth->fd >= 0 && !strcmp(path, auth->path)) {
		if (replaced(auth, path))
			return err_set(
				err, -EACCES,
				"%s was replaced, and opening it needs the privileges that were "
				"dropped: restart, or write to the old file in place",
				path);
		fd = auth->fd;
	}
	if (fd < 0)
		return err_set(err, -errno, "cannot open %s: %s", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		if (fd != auth->fd)
			close(fd);
		return err_set(err, -EINVAL, "%s is not a regular file", path);
	}
	*ret_fd = fd;
	return 0;
}

static int read_token(struct auth *auth, const char *path, int fd, struct err *err)
{
	char text[AUTH_TOKEN_MAX + 64];
	ssize_t len = pread(fd, text, sizeof(text), 0);
	int rc = len < 0 ? err_set(err, -errno, "cannot read the token: %s", strerror(errno))
			 : auth_parse(auth, text, len, err);

	explicit_bzero(text, sizeof(text));
	if (rc)
		err_prefix(err, "%s", path);
	return rc;
}

int auth_read(struct auth *auth, const char *path, struct err *err)
{
	char *own;
	int fd = -1, rc;

	if (!path && auth->needed)
		return err_set(err, -EPERM, "token-file is no longer set: restart to serve without "
					    "a token");
	if (!path)
		return 0;
	rc = open_token(auth, path, &fd, err);
	if (rc)
		return rc;
	own = strdup(path);
	rc = own ? read_token(auth, path, fd, err) : err_set(err, -ENOMEM, "out of memory");
	if (rc || fd == auth->fd) {
		if (fd != auth->fd)
			close(fd);
		free(own);
		return rc;
	}
	auth_close(auth);
	auth->fd = fd;
	auth->path = own;
	return 0;
}

void auth_close(struct auth *auth)
{
	fd_close(&auth->fd);
	free(auth->path);
	auth->path = NULL;
}

bool auth_allows(const struct auth *auth, const char *header)
{
	static const char scheme[] = "Bearer ";
	char given[AUTH_TOKEN_MAX] = {0};
	volatile unsigned char differ = 0;
	size_t len;

	if (!auth->needed)
		return true;
	if (!header || strncasecmp(header, scheme, sizeof(scheme) - 1))
		return false;
	header += sizeof(scheme) - 1;
	header += strspn(header, " ");
	len = strlen(header);
	while (len && blank(header[len - 1]))
		len--;
	differ |= len != auth->len;
	memcpy(given, header, len < sizeof(given) ? len : sizeof(given));
	for (size_t i = 0; i < sizeof(given); i++)
		differ |= (unsigned char)(given[i] ^ auth->token[i]);
	return !differ;
}
