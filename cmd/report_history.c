/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the windows of a time span from the history files of the exporter. */
#include "report_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "serve/config.h"
#include "serve/history_file.h"

/* Two blocks of windows belong to one time span if the gap between them is below GAP_S seconds. */
#define GAP_S 60
#define NR_COLLECTORS CONFIG_NR_COLLECTORS

struct reading {
	struct gathered *g;
	uint64_t from_ns, to_ns;
	char names[NR_COLLECTORS][9];
	uint64_t covered_ns[NR_COLLECTORS], longest_ns;
	size_t nr, damaged;
	struct err *err;
};

/* The two newest time spans for which the history has windows; the older time span is first. */
struct spans {
	struct {
		uint64_t first_s, last_s;
	} list[2];
	/* number of all time spans with windows, including time spans that are not in @list */
	size_t nr;
};

int report_history_time(const struct opt *opt, const char *value, void *base, struct err *err)
{
	static const char *const formats[] = {"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M",
					      "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M"};

	array_for_each(format, formats, ARRAY_SIZE(formats)) {
		struct tm tm = {.tm_isdst = -1};
		const char *end = strptime(value, *format, &tm);
		time_t seconds;

		if (!end || (*end && strcmp(end, "Z")))
			continue;
		seconds = *end ? timegm(&tm) : mktime(&tm);
		if (seconds <= 0)
			return -EINVAL;
		*(uint64_t *)((char *)base + opt->offset) = (uint64_t)seconds * NSEC_PER_SEC;
		return 0;
	}
	return -EINVAL;
}

static const char *utc(uint64_t unix_s, char *buf, size_t size)
{
	time_t seconds = (time_t)unix_s;
	struct tm tm = {0};

	gmtime_r(&seconds, &tm);
	strftime(buf, size, "%F %TZ", &tm);
	return buf;
}

static uint64_t *covered(struct reading *r, const char *collector)
{
	size_t i = 0;

	while (i < r->nr && strcmp(r->names[i], collector))
		i++;
	if (i == NR_COLLECTORS)
		return NULL;
	if (i == r->nr)
		strcpy(r->names[r->nr++], collector);
	return &r->covered_ns[i];
}

static int add_block(void *arg, int fd, const struct history_member *member)
{
	struct reading *r = arg;
	uint64_t *sum = covered(r, member->collector);
	size_t len;
	char *text = history_unpack(fd, member, &len), *rest = text, *line;
	int rc = 0;

	r->damaged += !text;
	while (!rc && (line = strsep(&rest, "\n")) && *line) {
		uint64_t window_ns, end_ns = history_line_time(line, &window_ns);

		if (!sum || end_ns <= r->from_ns || end_ns > r->to_ns)
			continue;
		*sum += window_ns;
		r->longest_ns = window_ns > r->longest_ns ? window_ns : r->longest_ns;
		rc = gathered_read(r->g, line, strlen(line), r->err);
	}
	free(text);
	return rc;
}

static int add_span(void *arg, int fd, const struct history_member *member)
{
	struct spans *s = arg;

	if (!s->nr || member->first_s > s->list[1].last_s + GAP_S) {
		s->list[0] = s->list[1];
		s->list[1].first_s = member->first_s;
		s->nr++;
	}
	s->list[1].last_s = member->last_s;
	return 0;
}

static int nothing_found(const struct reading *r, int dir, const char *path)
{
	char from[32], to[32], list[160] = "";
	struct spans s = {0};

	history_walk(dir, 0, UINT32_MAX, add_span, &s);
	for (size_t i = s.nr > 1 ? 0 : 1; s.nr && i < 2; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s to %s",
			 i && s.nr > 1 ? ", " : "", utc(s.list[i].first_s, from, sizeof(from)),
			 utc(s.list[i].last_s, to, sizeof(to)));
	return err_set(r->err, -ENODATA, "no windows from %s to %s; %s has %s%s",
		       utc(r->from_ns / NSEC_PER_SEC, from, sizeof(from)),
		       utc(r->to_ns / NSEC_PER_SEC, to, sizeof(to)), path,
		       s.nr ? list : "none at all", s.nr > 2 ? " and earlier ones" : "");
}

/*
 * Adds a note for each collector whose windows do not cover the time span. A time span may begin
 * and end inside a window, so up to twice the length of the longest window may be missing.
 */
static int add_missing(struct reading *r)
{
	uint64_t all_ns = r->to_ns - r->from_ns;
	char list[200] = "";
	size_t len = 0;
	int rc = 0;

	for (size_t i = 0; i < r->nr && len < sizeof(list); i++)
		if (r->covered_ns[i] + 2 * r->longest_ns < all_ns)
			len += snprintf(list + len, sizeof(list) - len, "%s%.0f of %.0f s of %s",
					len ? ", " : "", (double)r->covered_ns[i] / 1e9,
					(double)all_ns / 1e9, r->names[i]);
	if (len)
		rc = gathered_miss(r->g, "part of the time", "windows cover %s", list);
	if (!rc && r->damaged)
		rc = gathered_miss(r->g, "part of the history", "%zu blocks are damaged", r->damaged);
	return rc;
}

static int settings_dir(char **ret_path, struct err *err)
{
	struct config config;
	int rc = config_init(&config) ? err_set(err, -ENOMEM, "out of memory")
				      : config_read(&config, NULL, err);

	*ret_path = rc ? NULL : strdup(config.history ? config.history : HISTORY_DIR);
	config_free(&config);
	return rc ? rc : *ret_path ? 0 : err_set(err, -ENOMEM, "out of memory");
}

int report_history(struct gathered *g, const char *path, uint64_t at_ns, uint64_t for_ns,
		   struct err *err)
{
	struct reading r = {.g = g, .from_ns = at_ns, .to_ns = at_ns + for_ns, .err = err};
	char *own = NULL;
	int rc = path ? 0 : settings_dir(&own, err), dir;

	if (rc)
		return rc;
	path = path ?: own;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0) {
		rc = err_set(err, -errno,
			     "cannot open %s: %s; the directory of subtick serve --history is needed",
			     path, strerror(errno));
	} else {
		rc = history_walk(dir, at_ns / NSEC_PER_SEC, r.to_ns / NSEC_PER_SEC, add_block, &r);
		if (rc && !err->code)
			err_set(err, rc, "cannot read %s: %s", path, strerror(-rc));
		if (!rc && !g->nr_windows)
			rc = nothing_found(&r, dir, path);
		if (!rc && add_missing(&r))
			rc = err_set(err, -ENOMEM, "out of memory");
		close(dir);
	}
	free(own);
	return rc;
}
