/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares the HTML of all sample reports with a reviewed file; UPDATE_GOLDEN=1 rewrites it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/read_json.h"
#include "sample.h"
#include "view/html/html.h"

#define MAX_REPORTS 32

/* Reads reports that no sample builds, as --from does. Returns how many, or -errno. */
static int read_reports(const char *path, struct report **reports, size_t room)
{
	FILE *file = fopen(path, "r");
	static char text[1 << 18];
	size_t size = file ? fread(text, 1, sizeof(text), file) : 0, at = 0, used, nr = 0;
	struct err err = {0};
	int rc = file && size && size < sizeof(text) ? 0 : -ENODATA;

	if (file)
		fclose(file);
	while (!rc && nr < room &&
	       !(rc = report_read_json(text + at, size - at, &reports[nr], &used, &err))) {
		at += used;
		nr++;
	}
	if (rc != -ENODATA || !nr)
		printf("# %s: %s\n", path, err.what);
	return rc == -ENODATA && nr ? (int)nr : -EINVAL;
}

static int render(const char *folder, char **ret_text, size_t *ret_size)
{
	struct report *reports[MAX_REPORTS] = {sample_load(), sample_compare(), sample_doctor(),
					       sample_runq(), sample_edges()};
	const struct html_missing missing[] = {{"crit", "no \"module\" & <no> reason\n\xff"}};
	struct html_doc doc = {
		.machine = "host<b>, a machine",
		.reports = (const struct report *const *)reports,
		.nr_reports = 5,
		.missing = missing,
		.nr_missing = 1,
	};
	FILE *out = open_memstream(ret_text, ret_size);
	char path[4096];
	int rc;

	snprintf(path, sizeof(path), "%s/report-in.jsonl", folder);
	rc = read_reports(path, reports + doc.nr_reports, MAX_REPORTS - doc.nr_reports);
	if (rc > 0) {
		doc.nr_reports += rc;
		rc = out ? html_write(out, &doc) : -errno;
	}
	for (size_t i = 0; i < doc.nr_reports; i++)
		report_free(reports[i]);
	return out && fclose(out) ? -errno : rc;
}

/* A full disk is an error. */
static bool full_disk_fails(void)
{
	struct report *report = sample_load();
	const struct report *reports[] = {report};
	struct html_doc doc = {.reports = reports, .nr_reports = 1};
	FILE *out = fopen("/dev/full", "w");
	int rc = out ? html_write(out, &doc) : 0;

	report_free(report);
	if (out)
		fclose(out);
	return rc == -ENOSPC;
}

static bool same(const char *path, const char *text, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t line = 1, at = 0;
	int c = EOF;

	while (file && (c = fgetc(file)) != EOF && at < size && c == (unsigned char)text[at])
		line += text[at++] == '\n';
	if (!file || c != EOF || at != size)
		printf("# %s differs in line %zu\n", path, line);
	if (file)
		fclose(file);
	return file && c == EOF && at == size;
}

int main(int argc, char **argv)
{
	bool rewrite = getenv("UPDATE_GOLDEN") && !strcmp(getenv("UPDATE_GOLDEN"), "1");
	char path[4096], *text = NULL;
	bool ok, full;
	size_t size = 0;
	FILE *file;

	if (argc != 2)
		return 64;
	snprintf(path, sizeof(path), "%s/report.html", argv[1]);
	ok = !render(argv[1], &text, &size);
	if (ok && rewrite) {
		file = fopen(path, "w");
		ok = file && fwrite(text, 1, size, file) == size && !fclose(file);
	} else if (ok) {
		ok = same(path, text, size);
	}
	full = full_disk_fails();
	printf("1..3\n%sok 1 - report.html\n", ok ? "" : "not ");
	printf("%sok 2 - no byte of a name is markup\n",
	       text && !strstr(text, "<b>") && !strstr(text, "<no>") ? "" : "not ");
	printf("%sok 3 - a full disk is an error\n", full ? "" : "not ");
	ok = ok && full && !strstr(text, "<b>") && !strstr(text, "<no>");
	free(text);
	return !ok;
}
