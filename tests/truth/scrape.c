/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A minimal HTTP client that reads the counters of an exporter. */
#include "scrape.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "live.h"

/* Largest size of a metrics page in bytes. A metrics page with 3,000 cgroups is 14 MB large. */
#define ANSWER_MAX (32 << 20)

static int dial(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		return -1;
	}
	return fd;
}

void scrape_wait(int port)
{
	int fd = -1;

	/* On an emulated machine, subtick needs half a minute to load its BPF programs. */
	for (int i = 0; i < 1200 && fd < 0; i++) {
		live_sleep_ms(100);
		fd = dial(port);
	}
	if (fd < 0)
		live_fail_all("nobody listens on port %d", port);
	close(fd);
}

static int end_of(char *answer, size_t length, int error, uint64_t begin_ns, char *why, size_t size)
{
	double seconds = (double)(clock_mono_ns() - begin_ns) / 1e9;

	if (length && !strncmp(answer, "HTTP/1.1 200 ", 13) && strstr(answer, "\r\n\r\n") && !error)
		return 0;
	snprintf(why, size, "%s after %.3f s and %zu bytes: %.60s",
		 error ? strerror(error) : "closed", seconds, length, answer);
	return -1;
}

char *scrape_try(int port, const char *path, char *why, size_t size)
{
	char *answer = calloc(1, ANSWER_MAX + 1), *body, request[256];
	uint64_t begin_ns = clock_mono_ns();
	size_t length = 0;
	ssize_t got = -1;
	int fd = dial(port);

	if (!answer || fd < 0) {
		snprintf(why, size, "cannot connect to port %d: %s", port, strerror(errno));
		free(answer);
		return NULL;
	}
	snprintf(request, sizeof(request),
		 "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
	errno = 0;
	if (write(fd, request, strlen(request)) == (ssize_t)strlen(request))
		while ((got = read(fd, answer + length, ANSWER_MAX - length)) > 0)
			length += got;
	if (end_of(answer, length, got < 0 ? errno : 0, begin_ns, why, size)) {
		close(fd);
		free(answer);
		return NULL;
	}
	close(fd);
	body = strstr(answer, "\r\n\r\n");
	memmove(answer, body + 4, strlen(body + 4) + 1);
	return answer;
}

char *scrape(int port, const char *path)
{
	char why[256], *body = scrape_try(port, path, why, sizeof(why));

	if (!body)
		live_fail_all("%s: %s", path, why);
	return body;
}

/* True if the line that ends at @end is a sample of a counter. */
static bool is_counter(const char *line, const char *end)
{
	static const char *const suffixes[] = {"_total", "_count", "_sum", "_bucket"};
	size_t name = strcspn(line, "{ \n");

	if (*line == '#' || line + name > end)
		return false;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t len = strlen(suffixes[i]);

		if (name > len && !strncmp(line + name - len, suffixes[i], len))
			return true;
	}
	return false;
}

size_t scrape_fell(const char *was, const char *now, size_t *ret_counters)
{
	size_t fell = 0, nr = 0;

	while (*was) {
		const char *end = was + strcspn(was, "\n"), *value = end;

		/*
		 * The value of a sample follows the last blank of the line, because labels may
		 * contain blanks.
		 */
		while (value > was && *value != ' ')
			value--;
		if (is_counter(was, end)) {
			double old = strtod(value, NULL);
			double fresh = scrape_value(now, "%.*s", (int)(value - was), was);

			nr++;
			if (fresh < old) {
				printf("# fell from %g to %g: %.*s\n", old, fresh,
				       (int)(value - was), was);
				fell++;
			}
		}
		was = *end ? end + 1 : end;
	}
	*ret_counters = nr;
	return fell;
}

double scrape_value(const char *text, const char *series, ...)
{
	char wanted[512];
	va_list ap;

	va_start(ap, series);
	vsnprintf(wanted, sizeof(wanted), series, ap);
	va_end(ap);
	while (text && *text) {
		if (!strncmp(text, wanted, strlen(wanted)) && text[strlen(wanted)] == ' ')
			return strtod(text + strlen(wanted), NULL);
		text = strchr(text, '\n');
		text += !!text;
	}
	return 0.0;
}
