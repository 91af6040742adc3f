/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests that the embedded web page equals the files of lib/view/html and describes every metric. */
#include "test.h"

#include "report/metrics.h"
#include "view/html/html.h"

static const char *folder;

static const struct web_asset *find(const char *path)
{
	for (const struct web_asset *asset = web_assets; asset->path; asset++)
		if (!strcmp(asset->path, path))
			return asset;
	return NULL;
}

static void test_own_files(void **state)
{
	static const char *const files[][3] = {
		{"/", "index.html", "text/html; charset=utf-8"},
		{"/app.css", "app.css", "text/css; charset=utf-8"},
		{"/icon.svg", "icon.svg", "image/svg+xml"},
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const struct web_asset *asset = find(files[i][0]);
		char path[4096], *text;
		FILE *file;

		assert_non_null(asset);
		assert_string_equal(asset->type, files[i][2]);
		snprintf(path, sizeof(path), "%s/%s", folder, files[i][1]);
		file = fopen(path, "r");
		assert_non_null(file);
		text = malloc(asset->size + 1);
		assert_non_null(text);
		assert_int_equal(fread(text, 1, asset->size + 1, file), asset->size);
		assert_memory_equal(text, asset->data, asset->size);
		free(text);
		fclose(file);
	}
}

/* The program `subtick` embeds every file that the web page loads. */
static void test_closed(void **state)
{
	static const char *const attributes[] = {"src=\"", "href=\""};
	const struct web_asset *page = find("/");

	assert_non_null(page);
	for (size_t i = 0; i < 2; i++) {
		const char *p = page->data, *end = p + page->size;

		while ((p = memmem(p, end - p, attributes[i], strlen(attributes[i])))) {
			char path[128];

			p += strlen(attributes[i]);
			snprintf(path, sizeof(path), "/%.*s", (int)strcspn(p, "\""), p);
			if (path[1] != '#' && strncmp(path, "/api/", 5) && strcmp(path, "/metrics"))
				assert_non_null(find(path));
		}
	}
}

/* embed.py writes titles and help texts of all metrics into the page as JSON. */
static void test_metrics(void **state)
{
	for (unsigned int id = 0; id < METRIC_NR; id++) {
		const struct metric *metric = metric_get(id);
		char entry[1024];

		/* Titles need no escapes in JSON. */
		assert_null(strpbrk(metric->title, "\"\\"));
		snprintf(entry, sizeof(entry), "\"%s\":[[\"", metric->key);
		assert_non_null(strstr(web_script, entry));
		if (strpbrk(metric->help, "\"\\"))
			continue;
		snprintf(entry, sizeof(entry), "\",\"%s\"]", metric->help);
		assert_non_null(strstr(web_script, entry));
	}
}

/* A file:// page cannot import modules, so an HTML report has a single script. */
static void test_one_script(void **state)
{
	assert_null(strstr(web_script, "\nimport "));
	assert_null(strstr(web_script, "\nexport "));
	assert_null(strstr(web_script, "</script"));
	assert_null(strstr(web_script, "<!--"));
	assert_null(strstr(web_timeline_script, "</script"));
	assert_null(strstr(web_style, "</style"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_files),
		cmocka_unit_test(test_closed),
		cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_one_script),
	};

	folder = argc > 1 ? argv[1] : "lib/view/html";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
