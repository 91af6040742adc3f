/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The page as data, embedded at build time by embed.py: for the exporter, for reports and for timelines. */
#ifndef SUBTICK_VIEW_HTML_ASSETS_H
#define SUBTICK_VIEW_HTML_ASSETS_H

struct web_asset {
	const char *path; /* "/", "/app.js" */
	const char *type; /* Content-Type */
	const char *data;
	unsigned int size;
};

/* The files of the live page. The last entry has no path. */
extern const struct web_asset web_assets[];
/* The data of /app.css and /app.js. */
extern const char *const web_style, *const web_script;

/*
 * index.html of a report, in two pieces: up to the style sheet, and from </head> to the end of the
 * static content. Its Content-Security-Policy allows web_style and web_script by their hashes.
 */
extern const char web_report_head[], web_report_body[];

/* timeline.js and timeline_file.js as one script, and hashes for a Content-Security-Policy. */
extern const char web_timeline_script[], web_timeline_hash[], web_style_hash[];

/*
 * Content-Security-Policy of the live page, sent with each of its files: no inline script or style,
 * no other origin, no frames.
 */
#define WEB_CSP                                                                         \
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " \
	"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

#endif
