/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the token and compares without telling by time how much of it was right. */
#include "auth.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

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
		return err_set(err, -EINVAL, "a token has %d to %d characters, this one %zu",
			       TOKEN_MIN, AUTH_TOKEN_MAX, len);
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return err_set(err, -EINVAL,
				       "a token is made of printable ASCII without blanks");
	memset(auth->token, 0, sizeof(auth->token));
	memcpy(auth->token, text, len);
	auth->len = len;
	auth->needed = true;
	return 0;
}

int auth_read(struct auth *auth, const char *path, struct err *err)
{
	char text[AUTH_TOKEN_MAX + 64];
	ssize_t len;
	int fd, rc;

	if (!path) {
		auth->needed = false;
		return 0;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	/* Privileges may be gone: what was opened with them still shows changes made in place. */
	if (fd < 0 && errno == EACCES && auth->fd >= 0)
		fd = auth->fd;
	if (fd < 0)
		return err_set(err, -errno, "cannot open %s: %s", path, strerror(errno));
	len = pread(fd, text, sizeof(text), 0);
	rc = len < 0 ? err_set(err, -errno, "cannot read %s: %s", path, strerror(errno)) :
		       auth_parse(auth, text, len, err);
	explicit_bzero(text, sizeof(text));
	if (rc) {
		err_prefix(err, "%s", path);
		if (fd != auth->fd)
			close(fd);
		return rc;
	}
	if (fd != auth->fd) {
		auth_close(auth);
		auth->fd = fd;
	}
	return 0;
}

void auth_close(struct auth *auth)
{
	if (auth->fd >= 0)
		close(auth->fd);
	auth->fd = -1;
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
